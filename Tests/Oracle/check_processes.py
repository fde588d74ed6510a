#!/usr/bin/env python3
"""Logs of events that logreplay has written, read by pm4py; and an export of events, read by DuckDB.

    check_processes.py LOGREPLAY LINES    LINES: JSON lines of documents with `id`, `status`, `product` and `time`

pm4py's own checks must pass, what it reads must be what the lines say, and what it writes again must come in.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile

import duckdb
import pm4py
from pm4py.objects.ocel.validation import ocel20_rel_validation


def main(tool, lines):
    documents = [json.loads(line) for line in open(lines, encoding="utf-8")]
    follows = collections.Counter()
    last = {}
    for document in documents:
        case, status = document["id"], document["status"]
        if case in last:
            follows[last[case], status] += 1
        last[case] = status

    def run(*arguments):
        done = subprocess.run([tool, *arguments], capture_output=True, text=True)
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout

    run("import", "store", lines, "--table", "incident", "--id", "id", "--time", "time", "--clamp-time")
    with open("map.json", "w", encoding="utf-8") as file:
        json.dump({"activity": "status", "objects": [
            {"type": "incident", "category": "incident"},
            {"type": "product", "field": "product", "qualifier": "is about"}]}, file)
    mapping = ["--events", "--mapping", "map.json"]
    run("export", "store", "log.xes", *mapping)
    run("export", "store", "log.json", *mapping, "--format", "ocel")
    run("export", "store", "log.sqlite", *mapping, "--format", "ocel-sqlite")

    # XES: the directly-follows graph is that of the lines.
    log = pm4py.read_xes("log.xes")
    assert len(log) == len(documents), len(log)
    assert log["case:concept:name"].nunique() == len(last)
    graph, _, _ = pm4py.discover_dfg(log)
    assert dict(graph) == dict(follows), "the process that pm4py finds is not that of the lines"

    # OCEL: both forms are the same log, and pass the constraints of the standard.
    satisfied, unsatisfied = ocel20_rel_validation.apply("log.sqlite")
    assert not unsatisfied, unsatisfied
    for log in (pm4py.read_ocel2_json("log.json"), pm4py.read_ocel2_sqlite("log.sqlite")):
        assert len(log.events) == len(documents), len(log.events)
        objects = collections.Counter(log.objects["ocel:type"])
        assert objects["incident"] == len(last), objects
        assert len(pm4py.discover_ocdfg(log)["activities"]) == len({d["status"] for d in documents})

    # In again: the same events, also of what pm4py has written.
    def events(store):
        found = collections.Counter()
        for line in run("log", store, "-o", "jsonl").splitlines():
            event = json.loads(line)
            if event["type"] != "$put":
                found[event["stream"], event["type"], event["time"]] += 1
        return found

    def without_streams(events):
        found = collections.Counter()
        for (_, kind, time), count in events.items():
            found[kind, time] += count
        return found

    run("import", "from-xes", "log.xes", "--table", "incident")
    wanted = events("from-xes")
    assert sum(wanted.values()) == len(documents)
    pm4py.write_ocel2_json(pm4py.read_ocel2_json("log.json"), "again.json")
    for name, more in [("log.json", ["--format", "ocel"]), ("log.sqlite", ["--format", "ocel"]),
                       ("again.json", ["--format", "ocel"])]:
        run("import", "from-" + name, name, *more)
        found = events("from-" + name)
        if name == "again.json":
            # pm4py writes the objects of an event in an order of its own, and the first one is the stream.
            assert without_streams(found) == without_streams(wanted), name
        else:
            assert found == wanted, name
        report = json.loads(run("import", "from-" + name, name, *more, "-o", "json"))
        assert report["appended"] == 0, report

    # DuckDB: Parquet with the types that the page names.
    run("export", "store", "events.jsonl", "--events")
    duckdb.sql("""COPY (SELECT * FROM read_json('events.jsonl', format='newline_delimited', columns={sequence: 'UBIGINT',
      time: 'TIMESTAMP_NS', stream: 'VARCHAR', type: 'VARCHAR', data: 'JSON'}) WHERE stream IS NOT NULL)
      TO 'events.parquet' (FORMAT parquet)""")
    count, streams, kind = duckdb.sql(
        "SELECT count(*), count(DISTINCT stream), typeof(any_value(time)) FROM 'events.parquet'").fetchall()[0]
    assert (count, streams, kind) == (len(documents), len(last), "TIMESTAMP_NS"), (count, streams, kind)
    print(f"{len(documents)} events of {len(last)} cases: pm4py and DuckDB read what was written")


if __name__ == "__main__":
    tool, lines = (os.path.abspath(path) for path in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main(tool, lines)
