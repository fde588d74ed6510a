#!/usr/bin/env bash
# curl 7.88.1 (Debian 12), `--aws-sigv4`: headers that are switched off.
#
# A header without a value, such as `-H 'Expect:'`, is how curl is told to leave out one that it would send by itself.
# With `--aws-sigv4` it does leave it out, but signs it as one with an empty value: it is listed in SignedHeaders, and
# does not arrive. A server that checks the signature against what arrives refuses the request, which it accepts with
# the header left on. For an upload that is not to wait for `100 Continue`, `--http1.0` helps, where curl sends no
# Expect by itself. The server here is a few lines that check a signature of version 4. It is issue 11664 of curl;
# libcurl 8.23.0 does not sign such headers.
#
# Seen, with what is listed in SignedHeaders, and whether the header has arrived:
#     200 for -T file, signed host;x-amz-content-sha256;x-amz-date, has Expect
#     403 for -T file -H Expect:, signed expect;host;x-amz-content-sha256;x-amz-date, no Expect, valid with it empty
#     403 for -H Accept:, signed accept;host;x-amz-content-sha256;x-amz-date, no Accept, valid with it empty
#     200 for -T file --http1.0, signed host;x-amz-content-sha256;x-amz-date, no Expect
set -euo pipefail
command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null || { echo "this needs Debian 12" >&2; exit 69; }
command -v python3 > /dev/null || { echo "this needs Python 3" >&2; exit 69; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
{ apt-get download curl=7.88.1-10+deb12u15 libcurl4=7.88.1-10+deb12u15 &&
  for package in *.deb; do dpkg-deb --extract "$package" packages; done; } \
  > apt.log 2>&1 || { cat apt.log >&2; exit 69; }
libraries=$(echo packages/usr/lib/*/libcurl.so.4)
export LD_LIBRARY_PATH=${libraries%/*}
# What libcurl4 depends on is taken from the machine.
packages/usr/bin/curl --version > version 2>&1 || { cat version >&2; exit 69; }
cat > finding.py <<'PYTHON'
import hashlib
import hmac
import http.server
import re
import subprocess
import threading

KEY = "key"


def signature(request, content, signed, headers):
    """The signature of version 4 that a request has to have."""
    digest = hashlib.sha256(content).hexdigest()
    lines = [f"{name}:{headers[name].strip()}\n" for name in signed if name in headers]
    whole = "\n".join([request.command, request.path, "", "".join(lines), ";".join(signed), digest])
    time = headers["x-amz-date"]
    scope = [time[:8], "us-east-1", "s3", "aws4_request"]
    key = ("AWS4" + KEY).encode()
    for part in scope:
        key = hmac.digest(key, part.encode(), "sha256")
    text = "\n".join(["AWS4-HMAC-SHA256", time, "/".join(scope), hashlib.sha256(whole.encode()).hexdigest()])
    return hmac.new(key, text.encode(), "sha256").hexdigest()


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen = []

    def do_PUT(self):
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        signed, given = re.search("SignedHeaders=(.*), *Signature=(.*)", headers["authorization"]).groups()
        names = signed.split(";")
        empty = {**dict.fromkeys(names, ""), **headers}
        valid = signature(self, content, names, headers) == given
        self.seen.append((signed, headers, signature(self, content, names, empty) == given))
        self.send_response(200 if valid else 403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_PUT

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
with open("file", "wb") as file:
    file.write(b"content")
for options, header in [
        (["-T", "file"], "Expect"), (["-T", "file", "-H", "Expect:"], "Expect"), (["-H", "Accept:"], "Accept"),
        (["-T", "file", "--http1.0"], "Expect")]:
    digest = hashlib.sha256(b"content" if "-T" in options else b"").hexdigest()
    answer = subprocess.run(
        ["packages/usr/bin/curl", "-q", "-sS", "--noproxy", "*", "--max-time", "10", "-w", "%{http_code}",
         "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"id:{KEY}", "-H", f"x-amz-content-sha256: {digest}",
         *options, f"http://127.0.0.1:{server.server_port}/copies/one"],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    signed, headers, is_valid_with_empty = Server.seen.pop()
    arrives = ("has " if header.lower() in headers else "no ") + header
    more = ", valid with it empty" if answer != "200" and is_valid_with_empty else ""
    print(f"{answer} for {' '.join(options)}, signed {signed}, {arrives}{more}")
PYTHON
expected='200 for -T file, signed host;x-amz-content-sha256;x-amz-date, has Expect
403 for -T file -H Expect:, signed expect;host;x-amz-content-sha256;x-amz-date, no Expect, valid with it empty
403 for -H Accept:, signed accept;host;x-amz-content-sha256;x-amz-date, no Accept, valid with it empty
200 for -T file --http1.0, signed host;x-amz-content-sha256;x-amz-date, no Expect'
seen=$(timeout 60 python3 -S finding.py)
echo "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; cat version >&2; exit 1; }
