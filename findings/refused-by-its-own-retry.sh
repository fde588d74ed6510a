#!/usr/bin/env bash
# boto3 1.44.8: `put_object(IfNoneMatch="*")` where the first answer is lost.
#
# The client sends a request again by itself when a connection ends without an answer. If the first one was carried
# out, the second one is refused, since the object exists now: the caller gets PreconditionFailed for an object that
# it has written itself, and a writer that takes this for "another was first" gives up a lock that it holds. What
# tells it is `RetryAttempts` in the answer, or the object's bytes. With one attempt, the error says that the
# connection was closed. The server here is a few lines that keep the condition and lose one answer, as a network
# does.
#
# Seen:
#     by default: PreconditionFailed, RetryAttempts 1, the object is b'mine', the server answered [200, 412]
#     total_max_attempts 1: ConnectionClosedError, the object is b'mine', the server answered [200]
set -euo pipefail
python3 -m pip --version > /dev/null || { echo "this needs Python 3 with pip" >&2; exit 69; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --no-compile --target packages \
  boto3==1.44.8 botocore==1.44.8 \
  > pip.log 2>&1 || { cat pip.log >&2; exit 69; }
cat > finding.py <<'PYTHON'
import http.server
import threading

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError


class Bucket(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    objects = {}
    answers = []

    def do_PUT(self):
        content = self.rfile.read(int(self.headers["Content-Length"]))
        taken = self.headers["If-None-Match"] == "*" and self.path in self.objects
        self.answers.append(412 if taken else 200)
        if not taken:
            self.objects[self.path] = content
        if len(self.answers) == 1:
            self.close_connection = True  # The answer to the first request is lost.
            return
        body = b"<Error><Code>PreconditionFailed</Code></Error>" if taken else b""
        self.send_response(412 if taken else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
threading.Thread(target=server.serve_forever, daemon=True).start()
for what, retries in [("by default", None), ("total_max_attempts 1", {"total_max_attempts": 1})]:
    Bucket.objects.clear()
    Bucket.answers.clear()
    client = boto3.client(
        "s3", endpoint_url=f"http://127.0.0.1:{server.server_port}", region_name="us-east-1",
        aws_access_key_id="id", aws_secret_access_key="key",
        config=Config(retries=retries, s3={"addressing_style": "path", "payload_signing_enabled": True}))
    try:
        client.put_object(Bucket="copies", Key="log/1", Body=b"mine", IfNoneMatch="*")
        answer = "stored"
    except ClientError as error:
        again = error.response["ResponseMetadata"]["RetryAttempts"]
        answer = f"{error.response['Error']['Code']}, RetryAttempts {again}"
    except ConnectionClosedError as error:
        answer = type(error).__name__
    print(f"{what}: {answer}, the object is {Bucket.objects['/copies/log/1']}, the server answered {Bucket.answers}")
PYTHON
expected="by default: PreconditionFailed, RetryAttempts 1, the object is b'mine', the server answered [200, 412]
total_max_attempts 1: ConnectionClosedError, the object is b'mine', the server answered [200]"
seen=$(env -u AWS_MAX_ATTEMPTS -u AWS_RETRY_MODE -u AWS_PROFILE AWS_CONFIG_FILE=/dev/null NO_PROXY=127.0.0.1 \
  PYTHONPATH=packages timeout 60 python3 -S finding.py)
echo "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; python3 --version >&2; exit 1; }
