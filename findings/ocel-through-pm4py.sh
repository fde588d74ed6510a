#!/usr/bin/env bash
# pm4py 2.7.23.11 with pandas 3.1.1 on Python 3.11: a log of OCEL 2.0 in JSON that is read and written again.
#
# The value of an attribute that is listed first becomes what the object had from the beginning, 1970, whatever time
# the log gives it. As JSON, the times of events are written in whole seconds, while those of attributes keep
# microseconds: two events of one second have one time then, and the object is changed after the event that changed
# it. In SQLite, the times of events keep their microseconds. An integer attribute that an event of another type lacks
# comes out as a float, also in what the log says of its type, and is rounded beyond 2^53. No call warns of any of
# these.
#
# Seen:
#     opened: 2024-05-01T10:00:00.100000000Z -> 2024-05-01T10:00:00Z, number 9007199254740993 -> 9007199254740992.0
#     closed: 2024-05-01T10:00:00.900000000Z -> 2024-05-01T10:00:00Z
#     status open: 2024-05-01T10:00:00.100000000Z -> 1970-01-01T00:00:00Z
#     status closed: 2024-05-01T10:00:00.900000000Z -> 2024-05-01T10:00:00.900000+00:00
#     number has the type integer -> float
#     in SQLite, opened has the time 2024-05-01 10:00:00.100000+00:00
set -euo pipefail
python3 -m pip --version > /dev/null || { echo "this needs Python 3 with pip" >&2; exit 69; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# Of what pm4py names as needed, that which draws and solves equations is not used here.
python3 -m pip install --quiet --disable-pip-version-check --no-compile --target packages \
  --no-deps pm4py==2.7.23.11 pandas==3.1.1 numpy==2.4.6 python-dateutil==4.0.0 networkx==3.6.1 lxml==6.1.3 \
  pytz==2026.6 tqdm==4.70.1 packaging==26.4 \
  > pip.log 2>&1 || { cat pip.log >&2; exit 69; }
cat > log.json <<'JSON'
{"eventTypes": [{"name": "opened", "attributes": [{"name": "number", "type": "integer"}]},
                {"name": "closed", "attributes": []}],
 "objectTypes": [{"name": "ticket", "attributes": [{"name": "status", "type": "string"}]}],
 "events": [
   {"id": "1", "type": "opened", "time": "2024-05-01T10:00:00.100000000Z",
    "attributes": [{"name": "number", "value": 9007199254740993}],
    "relationships": [{"objectId": "ticket/1", "qualifier": "about"}]},
   {"id": "2", "type": "closed", "time": "2024-05-01T10:00:00.900000000Z", "attributes": [],
    "relationships": [{"objectId": "ticket/1", "qualifier": "about"}]}],
 "objects": [
   {"id": "ticket/1", "type": "ticket", "relationships": [], "attributes": [
     {"name": "status", "time": "2024-05-01T10:00:00.100000000Z", "value": "open"},
     {"name": "status", "time": "2024-05-01T10:00:00.900000000Z", "value": "closed"}]}]}
JSON
cat > finding.py <<'PYTHON'
import json
import sqlite3

import pm4py

log = pm4py.read_ocel2_json("log.json")
pm4py.write_ocel2_json(log, "again.json")
pm4py.write_ocel2_sqlite(log, "again.sqlite")
with open("log.json") as old, open("again.json") as new:
    before, after = json.load(old), json.load(new)


def of(events, kind):
    return next(event for event in events if event["type"] == kind)


def number(event):
    return event["attributes"][0]["value"]


old, new = (of(log["events"], "opened") for log in (before, after))
print(f"opened: {old['time']} -> {new['time']}, number {number(old)} -> {number(new)}")
old, new = (of(log["events"], "closed") for log in (before, after))
print(f"closed: {old['time']} -> {new['time']}")
for old in before["objects"][0]["attributes"]:
    new = next(value for value in after["objects"][0]["attributes"] if value["value"] == old["value"])
    print(f"status {old['value']}: {old['time']} -> {new['time']}")
types = [next(kind for kind in log["eventTypes"] if kind["name"] == "opened") for log in (before, after)]
print("number has the type", " -> ".join(kind["attributes"][0]["type"] for kind in types))
time, = sqlite3.connect("again.sqlite").execute("SELECT ocel_time FROM event_Opened").fetchone()
print("in SQLite, opened has the time", time)
PYTHON
expected='opened: 2024-05-01T10:00:00.100000000Z -> 2024-05-01T10:00:00Z, number 9007199254740993 -> 9007199254740992.0
closed: 2024-05-01T10:00:00.900000000Z -> 2024-05-01T10:00:00Z
status open: 2024-05-01T10:00:00.100000000Z -> 1970-01-01T00:00:00Z
status closed: 2024-05-01T10:00:00.900000000Z -> 2024-05-01T10:00:00.900000+00:00
number has the type integer -> float
in SQLite, opened has the time 2024-05-01 10:00:00.100000+00:00'
seen=$(PYTHONPATH=packages timeout 60 python3 -S finding.py 2> log) || { cat log >&2; exit 1; }
echo "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; python3 --version >&2; exit 1; }
