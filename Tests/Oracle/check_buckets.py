#!/usr/bin/env python3
"""Ships stores with logreplay to object stores that others have written, on this machine.

    check_buckets.py --logreplay PROGRAM --check PROGRAM --servers FOLDER [--seed N]

FOLDER has a virtual environment for each server: moto, which checks signatures and permissions and keeps conditions;
localbucket, which takes an ETag that is no longer right; and nanio, which ignores conditions. All servers are ended,
also after a failure. What is there is read with boto3, Amazon's own client.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import signal
import resource
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import boto3
import botocore.exceptions
from botocore.config import Config
from server_process import Server, free_port

# A prefix that is not signed right by chance.
PREFIX = "a b+c/é&=;~!*'()"
REGION = "eu-central-1"


class Run:
    """Runs logreplay with an access key, and expects how it ends."""

    def __init__(self, program, folder, keys):
        self.program, self.folder, self.keys = program, folder, keys

    def environment(self, keys=None):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return {**kept, "HOME": str(self.folder), **(self.keys if keys is None else keys)}

    def __call__(self, *words, code=0, keys=None, says=(), program=None):
        done = subprocess.run(
            [program or self.program, *map(str, words)], env=self.environment(keys), capture_output=True, text=True,
            timeout=300, check=False)
        text = done.stdout + done.stderr
        assert done.returncode == code, f"{words} ended with {done.returncode}, not {code}:\n{text}"
        for part in says:
            assert part in text, f"{words} does not say {part}:\n{text}"
        for secret in self.environment(keys).get("AWS_SECRET_ACCESS_KEY"), keys and keys.get("AWS_SESSION_TOKEN"):
            assert not secret or secret not in text, f"{words} prints a secret:\n{text}"
        return done.stdout


def client(kind, url, keys):
    return boto3.client(
        kind, endpoint_url=url, region_name=REGION, aws_access_key_id=keys["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=keys["AWS_SECRET_ACCESS_KEY"],
        config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}))


def keys_of(key):
    keys = {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}
    if "SessionToken" in key:
        keys["AWS_SESSION_TOKEN"] = key["SessionToken"]
    return keys


def lines(path, seed, count, first=0):
    """Writes events that do not compress."""
    source = random.Random(f"{seed} {first}")
    with open(path, "w", encoding="utf-8") as file:
        for number in range(first, first + count):
            file.write(json.dumps({
                "stream": f"ticket/{number % 50}", "type": "noted",
                "data": {"number": number, "text": source.randbytes(source.randrange(20, 1500)).hex()}}) + "\n")
    return path


class Good:
    """moto: with a user who may do everything, one who may do less, and a role."""

    def __init__(self, server, program, check, folder, seed):
        self.server, self.check, self.folder, self.seed = server, check, folder, seed
        root = {"AWS_ACCESS_KEY_ID": "root", "AWS_SECRET_ACCESS_KEY": "root"}
        iam, sts = client("iam", server.url, root), client("sts", server.url, root)
        s3 = client("s3", server.url, root)
        for name in ("copies", "versions"):
            s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
        s3.put_bucket_versioning(Bucket="versions", VersioningConfiguration={"Status": "Enabled"})
        self.run = Run(program, folder, self.user(iam, "writer", ["s3:*"]))
        self.blind = self.user(iam, "blind", ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucket"])
        trust = {"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"}]}
        role = iam.create_role(RoleName="role", AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
        iam.put_role_policy(RoleName="role", PolicyName="all", PolicyDocument=self.policy(["s3:*"]))
        self.lent = keys_of(sts.assume_role(RoleArn=role, RoleSessionName="lent")["Credentials"])
        # From here on it checks the signature of every request.
        urllib.request.urlopen(urllib.request.Request(
            f"{server.url}/moto-api/reset-auth", data=b"0", method="POST",
            headers={"Content-Type": "text/plain"})).read()
        self.s3 = client("s3", server.url, self.run.keys)

    @staticmethod
    def policy(actions):
        return json.dumps({"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Action": actions, "Resource": "*"}]})

    def user(self, iam, name, actions):
        iam.create_user(UserName=name)
        iam.put_user_policy(UserName=name, PolicyName="it", PolicyDocument=self.policy(actions))
        return keys_of(iam.create_access_key(UserName=name)["AccessKey"])

    def url(self, part, bucket="copies", more=""):
        return f"s3://{bucket}/{PREFIX.replace('&', '%26')}/{part}?endpoint={self.server.url}&region={REGION}{more}"

    def keys(self, part):
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket="copies", Prefix=f"{PREFIX}/{part}/")
        return [entry["Key"] for page in pages for entry in page.get("Contents", [])]

    def store(self, name, count=3000):
        path = self.folder / name
        self.run("import", path, lines(self.folder / "lines", self.seed, count), "--events")
        return path

    def events(self, store):
        events = [json.loads(line) for line in self.run("export", store, "-", "--events").split("\n")[1:-2]]
        for event in events:
            # Is said where a block ends, which differs from copy to copy.
            event.pop("chain", None)
        return events

    # The checks.

    def signatures(self):
        wrong = {**self.run.keys, "AWS_SECRET_ACCESS_KEY": "wrong/secret+key="}
        self.run("replicate", self.store("signed", 10), self.url("signed"), code=74, keys=wrong,
                 says=["SignatureDoesNotMatch"])
        with_boto = client("s3", self.server.url, wrong)
        try:
            with_boto.list_objects_v2(Bucket="copies")
            sys.exit("the server does not check signatures")
        except botocore.exceptions.ClientError as error:
            assert error.response["Error"]["Code"] == "SignatureDoesNotMatch", error
        assert not self.keys("signed")
        unknown = {"AWS_ACCESS_KEY_ID": "AKIAUNKNOWN", "AWS_SECRET_ACCESS_KEY": "x"}
        self.run("replicate", self.folder / "signed", self.url("signed"), code=74, keys=unknown,
                 says=["InvalidAccessKeyId"])
        self.run("replicate", self.folder / "signed", self.url("signed"), code=74, keys={}, says=["no access keys"])
        self.run("replicate", self.folder / "signed", self.url("signed", "nobucket"), code=74, says=["NoSuchBucket"])
        print("a wrong key, an unknown one, none, and a bucket that is not there are refused with the reason")

    def copies(self):
        store, url = self.store("store"), self.url("desk")
        self.run("replicate", store, url)
        names = [key[len(PREFIX) + len("/desk/log/"):] for key in self.keys("desk") if "/log/" in key]
        assert names == [f"{number:020}" for number in range(1, len(names) + 1)] and len(names) > 2, names
        assert not any("/probe/" in key for key in self.keys("desk"))
        self.run("verify", store, "--against", url)
        self.run("replicate", url, self.folder / "copy")
        self.run("verify", self.folder / "copy", "--against", url)
        self.run("import", store, lines(self.folder / "more", self.seed, 500, first=3000), "--events")
        self.run("replicate", store, url)
        self.run("replicate", url, self.folder / "copy")
        self.run("verify", self.folder / "copy", "--against", url)
        self.run("replicate", url, self.folder / "past", "--until", "head")
        exported = [self.events(self.folder / name) for name in ("store", "copy")]
        assert len(exported[0]) == 3500, len(exported[0])
        for one, other in zip(*exported, strict=True):
            assert one == other, (one, other)
        print(f"a store is in {len(names)} objects, is followed, compared and restored")

    def erasing(self):
        """No object has what was erased, also not before it was uploaded again."""
        store, url = self.folder / "store", self.url("desk")
        secret = "a-secret-that-is-erased"
        with open(self.folder / "secret", "w", encoding="utf-8") as file:
            file.write(json.dumps({"stream": "person/1", "type": "told", "data": {"text": secret}}) + "\n")
        self.run("import", store, self.folder / "secret", "--events")
        self.run("replicate", store, url)
        assert any(secret.encode() in self.body(key) for key in self.keys("desk"))
        self.run("erase", store, "--stream", "person/1", "--reason", "asked for", "--yes")
        self.run("replicate", store, url)
        assert not any(secret.encode() in self.body(key) for key in self.keys("desk"))
        self.run("verify", store, "--against", url)
        print("what is erased is in no object")

    def body(self, key):
        return self.s3.get_object(Bucket="copies", Key=key)["Body"].read()

    def damage(self):
        url, key = self.url("desk"), f"{PREFIX}/desk/log/{2:020}"
        body = self.body(key)
        for bad in (body[:100], body[:-1] + bytes([body[-1] ^ 1]), b"", body + b"\0"):
            self.s3.put_object(Bucket="copies", Key=key, Body=bad)
            self.run("verify", self.folder / "store", "--against", url, code=65, says=[f"log/{2:020}"])
        # A copy begins with segments: the erasure has sealed them.
        segment = next(key for key in self.keys("desk") if "/segments/" in key)
        whole = self.body(segment)
        self.s3.put_object(Bucket="copies", Key=segment, Body=whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:])
        self.run("replicate", url, self.folder / "damaged", code=65, says=["segments/"])
        self.s3.put_object(Bucket="copies", Key=segment, Body=whole)
        self.s3.delete_object(Bucket="copies", Key=key)
        self.run("verify", self.folder / "store", "--against", url, code=65, says=[f"log/{2:020}", "missing"])
        self.s3.put_object(Bucket="copies", Key=key, Body=body)
        self.run("replicate", url, self.folder / "damaged")
        print("an object or a segment that is changed, cut or missing is named")

    def takeover(self):
        self.run("replicate", self.url("desk"), self.folder / "copy")
        self.run("replicate", self.folder / "copy", "--take-over")
        self.run("import", self.folder / "store", lines(self.folder / "late", self.seed, 5, first=9000), "--events")
        self.run("replicate", self.folder / "store", self.url("desk"), code=68)
        self.run("replicate", self.folder / "store", "--rejoin")
        self.run("verify", self.folder / "store", "--against", self.url("desk"))
        print("a copy takes over, and the old writer is refused and follows")

    def races(self):
        """Eight stores that ship to one empty place at the same time."""
        stores = [self.store(f"race{number}", 50) for number in range(8)]
        running = [subprocess.Popen(
            [self.run.program, "replicate", store, self.url("race"), "--within", "60s"], env=self.run.environment(),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for store in stores]
        said = [process.communicate(timeout=120)[0] for process in running]
        winners = [store for store, process in zip(stores, running) if process.returncode == 0]
        assert len(winners) == 1, ([process.returncode for process in running], said)
        self.run("verify", winners[0], "--against", self.url("race"))
        print("of eight stores that ship to one place, one wins")

    def silence(self):
        """A server that does not answer for a while."""
        store = self.store("patient", 200)
        self.server.send(signal.SIGSTOP)
        shipping = subprocess.Popen(
            [self.run.program, "replicate", store, self.url("patient")], env=self.run.environment(),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        time.sleep(3)
        assert shipping.poll() is None, shipping.communicate()
        self.server.send(signal.SIGCONT)
        said = shipping.communicate(timeout=120)
        assert shipping.returncode == 0, said
        self.run("verify", store, "--against", self.url("patient"))
        print("a server that is silent for a while is waited for")

    def keys_of_others(self):
        store = self.store("lent", 100)
        self.run("replicate", store, self.url("lent"), keys=self.lent)
        false = {**self.lent, "AWS_SESSION_TOKEN": self.lent["AWS_SESSION_TOKEN"][:-4] + "AAAA"}
        self.run("replicate", store, self.url("lent"), code=74, keys=false)
        self.run("replicate", self.store("blind", 10), self.url("blind"), code=74, keys=self.blind,
                 says=["AccessDenied", "s3:GetBucketVersioning"])
        self.run("replicate", self.folder / "blind", self.url("blind", more="&allow-versions=yes"), keys=self.blind)
        profile = self.folder / "profiles"
        profile.write_text("[copies]\naws_access_key_id = {AWS_ACCESS_KEY_ID}\n"
                           "aws_secret_access_key = {AWS_SECRET_ACCESS_KEY}\n".format(**self.run.keys))
        self.run("verify", store, "--against", self.url("lent"),
                 keys={"AWS_SHARED_CREDENTIALS_FILE": str(profile), "AWS_PROFILE": "copies"})
        print("keys that are lent, that may do less, and of a profile are used")

    def names_of_hosts(self):
        """The bucket in the name of the host: every name that ends with localhost is this machine."""
        store = self.folder / "lent"
        url = self.url("hosts", more="&style=host").replace("127.0.0.1", "localhost")
        self.run("replicate", store, url)
        self.run("verify", store, "--against", url)
        assert any("/log/" in key for key in self.keys("hosts"))
        print("a bucket is reached by the name of a host")

    def versions(self):
        store = self.store("versions", 10)
        self.run("replicate", store, self.url("v", "versions"), code=69, says=["keeps versions", "allow-versions=yes"])
        self.run("replicate", store, self.url("v", "versions", "&allow-versions=yes"))
        print("a bucket that keeps versions is refused unless that is asked for")

    def calls(self):
        sys.stdout.write(self.run(self.url("calls"), program=self.check))


def refused(run, folder, server, keys, make, name, *says):
    """A server that must not be trusted, with a bucket in it."""
    make()
    store = folder / f"for-{name}"
    run("import", store, lines(folder / "lines", 1, 10), "--events")
    url = f"s3://copies/desk?endpoint={server.url}"
    run("replicate", store, url, code=69, keys=keys, says=["s3://copies/desk", *says])
    print(f"{name} is refused: {', '.join(says)}")


# How each way of answering ends a command.
WAYS = {"endless": 74, "headers": 74, "error": 74, "cut": 74, "nothing": 74, "garbage": 74, "elsewhere": 74, "long": 74}


class Hostile(socketserver.StreamRequestHandler):
    """Answers in ways that no server may."""

    def handle(self):
        # A list names the folder in its query, any other request in its path.
        line = self.rfile.readline().decode("latin1").replace("%2F", "/")
        way = next(way for way in WAYS if f"/{way}/" in line or f"={way}/" in line)
        while self.rfile.readline().strip():
            pass
        with contextlib.suppress(OSError):
            getattr(self, way)()

    def send(self, text):
        self.wfile.write(text.encode("latin1"))

    def endless(self):
        self.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            self.wfile.write(b"x" * 65536)

    def headers(self):
        self.send("HTTP/1.1 200 OK\r\n")
        while True:
            self.send(f"X-More: {'x' * 1000}\r\n")

    def error(self):
        self.send("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n<Error><Code>")
        while True:
            self.wfile.write(b"A" * 65536)

    def cut(self):
        self.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")

    def nothing(self):
        pass

    def garbage(self):
        self.wfile.write(bytes(range(256)) * 10)

    def elsewhere(self):
        self.send("HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")

    def long(self):
        self.send(f"HTTP/1.1 200 OK\r\nContent-Length: {2 ** 62}\r\n\r\n" + "x" * 1000)


def hostile(run, folder):
    """No answer ends the program, fills its memory or is taken for an object."""
    class Threads(socketserver.ThreadingTCPServer):
        daemon_threads = True

    keys = {"AWS_ACCESS_KEY_ID": "someone", "AWS_SECRET_ACCESS_KEY": "secret-of-someone"}
    with Threads(("127.0.0.1", 0), Hostile) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        running = {way: subprocess.Popen(
            [run.program, "replicate", f"s3://copies/{way}?endpoint={url}", folder / f"hostile-{way}", "--within",
             "60s"], env=run.environment(keys), stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for way in WAYS}
        said = {way: process.communicate(timeout=120)[0].decode() for way, process in running.items()}
        server.shutdown()
    for way, process in running.items():
        assert process.returncode == WAYS[way], (way, process.returncode, said[way])
        assert keys["AWS_SECRET_ACCESS_KEY"] not in said[way], said[way]
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    assert most < 500, f"a program took {most} MiB"
    print(f"{len(WAYS)} kinds of answers that no server gives are errors, with at most {most} MiB of memory")


def encrypted(start, run, folder):
    """A server whose certificate nobody has signed, which is trusted if its file is named."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate], check=True, capture_output=True)
    port = free_port()
    words = ["moto_server", "-H", "127.0.0.1", "-p", str(port), "-s", "-c", str(certificate), "-k", str(key)]
    start("moto", words, port)
    url = f"https://127.0.0.1:{port}"
    keys = {"AWS_ACCESS_KEY_ID": "someone", "AWS_SECRET_ACCESS_KEY": "secret-of-someone"}
    boto3.client("s3", endpoint_url=url, region_name="us-east-1", verify=str(certificate), aws_access_key_id="a",
                 aws_secret_access_key="b").create_bucket(Bucket="copies")
    store = folder / "encrypted"
    run("import", store, lines(folder / "lines", 1, 2000), "--events")
    place = f"s3://copies/desk?endpoint={url}"
    run("replicate", store, place, code=74, keys=keys, says=["certificate", "AWS_CA_BUNDLE"])
    trusting = {**keys, "AWS_CA_BUNDLE": str(certificate)}
    run("replicate", store, place, keys=trusting)
    run("verify", store, "--against", place, keys=trusting)
    # The same server, by another name than the certificate's.
    run("verify", store, "--against", place.replace("127.0.0.1", "localhost"), code=74, keys=trusting)
    print("a server is spoken to over TLS, if its certificate is one of those that are trusted")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logreplay", required=True)
    parser.add_argument("--check", required=True)
    parser.add_argument("--servers", required=True, type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    servers = options.servers.resolve()
    # So that `with` ends the servers if this program is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with contextlib.ExitStack() as ending:
        folder = pathlib.Path(ending.enter_context(tempfile.TemporaryDirectory()))

        def start(name, words, port, environment=None):
            server = Server(folder, [str(servers / name / "bin" / words[0]), *words[1:]], port, environment or {})
            ending.callback(server.end)
            return server

        port = free_port()
        moto = start("moto", ["moto_server", "-H", "127.0.0.1", "-p", str(port)], port)
        good = Good(moto, options.logreplay, options.check, folder, options.seed)
        for check in (good.signatures, good.copies, good.erasing, good.damage, good.takeover, good.races, good.silence,
                      good.keys_of_others, good.names_of_hosts, good.versions, good.calls):
            check()
        hostile(good.run, folder)
        encrypted(start, good.run, folder)

        keys = {"AWS_ACCESS_KEY_ID": "someone", "AWS_SECRET_ACCESS_KEY": "secret-of-someone"}
        port = free_port()
        data = folder / "localbucket"
        server = start("localbucket", ["localbucket", str(data), "--port", str(port)], port)
        refused(good.run, folder, server, keys, lambda: (data / "copies").mkdir(parents=True, exist_ok=True),
                "localbucket", "ignores If-Match")

        port = free_port()
        words = ["nanio", "serve", "--host", "127.0.0.1", "--port", str(port), "--data-dir", str(folder / "nanio")]
        names = {"NANIO_ACCESS_KEY": keys["AWS_ACCESS_KEY_ID"], "NANIO_SECRET_KEY": keys["AWS_SECRET_ACCESS_KEY"]}
        server = start("nanio", words, port, names)
        refused(good.run, folder, server, keys,
                lambda: client("s3", server.url, keys).create_bucket(
                    Bucket="copies", CreateBucketConfiguration={"LocationConstraint": REGION}),
                "nanio", "ignores If-None-Match")


if __name__ == "__main__":
    main()
