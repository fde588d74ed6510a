"""Places for copies, with the faults that befall them: a folder, a bucket, and a stream on three servers.

Each is made in a folder of its own. `disturb` lets one fault begin and end, and counts it; after `calm` nothing is wrong.
"""

import contextlib
import shutil
import signal
import subprocess
import urllib.parse
import urllib.request
import xml.etree.ElementTree
from pathlib import Path

from jetstream_servers import Servers, compare_replicas, new_server
from lossy_proxy import Proxy
from server_process import Server, free_port

ROOT = Path(__file__).resolve().parents[2]


class FolderPlace:
    """A folder of a disk that is unmounted, or that takes nothing, for a while."""

    kind = "folder"
    ship_seconds = 0.1  # About as long as a shipping takes.
    environment = {}

    def __init__(self, folder, chance):
        self.disk = folder / "disk"
        self.disk.mkdir()
        self.path, self.url = self.disk / "desk", f"file:{self.disk / 'desk'}"
        self.gone = folder / "disk-gone"

    def disturb(self, chance, stop, counts):
        if chance.random() < 0.5:
            counts["place gone"] += 1
            self.disk.rename(self.gone)
            stop.wait(chance.uniform(0.2, 6))
            self.gone.rename(self.disk)
        else:
            counts["place read-only"] += 1
            folders = [self.path, *[path for path in self.path.iterdir() if path.is_dir()]]
            some = chance.sample(folders, chance.randint(1, len(folders)))
            for path in some:
                path.chmod(0o555)
            stop.wait(chance.uniform(0.2, 6))
            for path in some:
                path.chmod(0o755)

    def calm(self):
        pass

    def first_object(self):
        return min((path.name for path in (self.path / "log").iterdir() if path.name.isdigit()), default="")

    def names(self):
        """The names of what is data, and no note of a member."""
        return sorted(
            str(path.relative_to(self.path)) for part in ("log", "segments", "manifest")
            for path in (self.path / part).glob("*") if path.stat().st_size > 0)

    @contextlib.contextmanager
    def changed(self, name, change):
        """The URL of a place in which an object is changed."""
        other = self.disk.parent / "changed"
        shutil.copytree(self.path, other)
        (other / name).write_bytes(change((other / name).read_bytes()))
        yield f"file:{other}"
        shutil.rmtree(other)

    def finish(self):
        pass

    def end(self):
        pass


class BucketPlace:
    """moto's server, reached through a proxy. It has everything in its memory, so the proxy is what is killed."""

    kind = "bucket"
    ship_seconds = 0.9  # About as long as a shipping takes.
    environment = {"AWS_ACCESS_KEY_ID": "someone", "AWS_SECRET_ACCESS_KEY": "secret-of-someone"}

    def __init__(self, folder, chance):
        subprocess.run([ROOT / "Tools" / "support" / "bucket-servers", "--moto"], check=True)
        port = free_port()
        moto = ROOT / ".build" / "bucket-servers" / "moto" / "bin" / "moto_server"
        self.server = Server(folder, [str(moto), "-H", "127.0.0.1", "-p", str(port)], port, {})
        self.proxy = Proxy(port, chance)
        self.request("PUT", "")
        self.url = f"s3://copies/desk?endpoint={self.proxy.url}"

    def request(self, method, rest, body=None):
        # Signatures are not checked, and a request without one is nobody's.
        signed = {"Authorization": "AWS4-HMAC-SHA256 Credential=someone/20260101/us-east-1/s3/aws4_request, "
                                   "SignedHeaders=host, Signature=0",
                  "Content-Type": "application/octet-stream"}
        request = urllib.request.Request(f"{self.server.url}/copies{rest}", data=body, method=method, headers=signed)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    def disturb(self, chance, stop, counts):
        self.proxy.is_lossy = True
        # Longer than a request is tried, now and then.
        seconds = chance.uniform(21, 26) if chance.random() < 0.05 else chance.uniform(0.2, 5)
        if chance.random() < 0.5:
            counts["place killed"] += 1
            self.proxy.is_dead = True
            stop.wait(seconds)
            self.proxy.is_dead = False
        else:
            counts["place paused"] += 1
            self.server.send(signal.SIGSTOP)
            stop.wait(seconds)
            self.server.send(signal.SIGCONT)

    def calm(self):
        self.proxy.is_lossy = False
        self.proxy.settle()

    @property
    def counts(self):
        return dict(self.proxy.counts)

    def first_object(self):
        return min((name for name in self.names() if name.startswith("log/")), default="")

    def names(self):
        found, more = [], ""
        while True:
            page = xml.etree.ElementTree.fromstring(self.request("GET", f"?list-type=2&prefix=desk/{more}"))
            space = page.tag.removesuffix("ListBucketResult")
            for entry in page.iter(f"{space}Contents"):
                name = entry.findtext(f"{space}Key").removeprefix("desk/")
                if name.split("/")[0] in ("log", "segments", "manifest") and entry.findtext(f"{space}Size") != "0":
                    found.append(name)
            token = page.findtext(f"{space}NextContinuationToken")
            if not token:
                return sorted(found)
            more = f"&continuation-token={urllib.parse.quote(token, safe='')}"

    @contextlib.contextmanager
    def changed(self, name, change):
        body = self.request("GET", f"/desk/{name}")
        self.request("PUT", f"/desk/{name}", change(body))
        yield self.url
        self.request("PUT", f"/desk/{name}", body)

    def finish(self):
        pass

    def end(self):
        self.proxy.shutdown()
        self.server.end()


class StreamPlace:
    """Three servers of NATS JetStream, of which some are killed or paused."""

    kind = "stream"
    ship_seconds = 0.4  # About as long as a shipping takes.
    environment = {}
    # Not those of Tools/support/jetstream-servers.
    PORT = 15420

    def __init__(self, folder, chance):
        self.servers = Servers(new_server(), folder / "cluster", 3, self.PORT)
        self.servers.start_all()
        self.url = self.servers.url("desk")

    def disturb(self, chance, stop, counts):
        servers, leader = self.servers, self.servers.leader("STRATA_LOG_desk")
        some = chance.sample(range(3), chance.choice([1, 1, 1, 2, 2, 3]))
        if leader is not None and leader not in some and chance.random() < 0.5:
            some[0] = leader
        paused = [index for index in some if chance.random() < 0.5]
        for index in some:
            counts["servers paused" if index in paused else "servers killed"] += 1
            if index in paused:
                servers.signal(index, signal.SIGSTOP)
            else:
                servers.kill(index)
        counts["without a quorum"] += len(some) > 1
        stop.wait(chance.uniform(0.3, 6))
        for index in some:
            if index in paused:
                servers.signal(index, signal.SIGCONT)
            else:
                servers.start(index)

    def calm(self):
        self.servers.wait()
        for kind in ["LOG", "SIDE"]:
            self.servers.wait_for_replicas(f"STRATA_{kind}_desk")

    def first_object(self):
        return ""

    def names(self):
        return []

    def finish(self):
        compare_replicas(self.servers, ["desk"])

    def end(self):
        self.servers.stop()


PLACES = {place.kind: place for place in (FolderPlace, BucketPlace, StreamPlace)}
