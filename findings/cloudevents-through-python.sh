#!/usr/bin/env bash
# cloudevents 2.2.0, the CloudEvents SDK for Python: events that are read and written again, as a relay does.
#
# In the JSON format, an event without a time gets that of its reading, a different one at each. Data of null are no
# data afterwards, and a time keeps its microseconds only. In the binary mode of HTTP, a JSON text is sent without its
# quotes, so that "7" arrives as the number 7. `true` as an attribute is sent as the text `True`, where CloudEvents
# say `true`. Bytes arrive as a text if they happen to be UTF-8, so that one source gives `data` for some and
# `data_base64` for others.
#
# Seen:
#     no time, read twice: two times
#     "data": null: no data
#     "time": "2024-05-01T10:00:00.123456789Z": "2024-05-01T10:00:00.123456Z"
#     through HTTP, "data": "7": 7
#     through HTTP, "urgent": true: "True"
#     through HTTP, "data_base64": "YWJj": "data": "abc"
#     through HTTP, "data_base64": "/w==": "data_base64": "/w=="
set -euo pipefail
python3 -m pip --version > /dev/null || { echo "this needs Python 3 with pip" >&2; exit 69; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --no-compile --target packages \
  cloudevents==2.2.0 \
  > pip.log 2>&1 || { cat pip.log >&2; exit 69; }
cat > finding.py <<'PYTHON'
import json
import time

from cloudevents.core.bindings.http import from_binary, to_binary
from cloudevents.core.formats.json import JSONFormat

json_format = JSONFormat()
whole = {"specversion": "1.0", "id": "1", "source": "https://example.com/desk", "type": "opened",
         "time": "2024-05-01T10:00:00Z"}


def again(event):
    return json.loads(json_format.write(json_format.read(None, json.dumps(event))))


def relayed(**members):
    message = to_binary(json_format.read(None, json.dumps({**whole, **members})), json_format)
    return json.loads(json_format.write(from_binary(message, json_format)))


def data(event):
    return ", ".join(f'"{name}": {json.dumps(event[name])}' for name in ("data", "data_base64") if name in event)


without = {name: value for name, value in whole.items() if name != "time"}
first = again(without)
time.sleep(0.01)
print("no time, read twice:", "two times" if len({first.get("time"), again(without).get("time"), None}) == 3 else "no")
print('"data": null:', data(again({**whole, "data": None})) or "no data")
precise = "2024-05-01T10:00:00.123456789Z"
print(f'"time": "{precise}":', json.dumps(again({**whole, "time": precise})["time"]))
print('through HTTP, "data": "7":', json.dumps(relayed(datacontenttype="application/json", data="7")["data"]))
print('through HTTP, "urgent": true:', json.dumps(relayed(urgent=True)["urgent"]))
for base64 in ("YWJj", "/w=="):
    event = relayed(datacontenttype="application/octet-stream", data_base64=base64)
    print(f'through HTTP, "data_base64": "{base64}":', data(event))
PYTHON
expected='no time, read twice: two times
"data": null: no data
"time": "2024-05-01T10:00:00.123456789Z": "2024-05-01T10:00:00.123456Z"
through HTTP, "data": "7": 7
through HTTP, "urgent": true: "True"
through HTTP, "data_base64": "YWJj": "data": "abc"
through HTTP, "data_base64": "/w==": "data_base64": "/w=="'
seen=$(PYTHONPATH=packages timeout 60 python3 -S finding.py)
echo "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; python3 --version >&2; exit 1; }
