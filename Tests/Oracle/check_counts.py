"""Checks `logreplay count` against a plain program: a fold of the exported events, and the zones of Python's zoneinfo.

    check_counts.py --logreplay BIN --store STORE --table T [--by F,F] [--sum F] [--zone Z]… [--every 1h|1d|1w|1mo]…

Each step of the axis must have the groups, counts and sums of the state after the last append that is dated before the
end of the step, and steps must begin where the clocks of the zone begin them.
"""

import argparse
import json
import subprocess
import sys
from bisect import bisect_left
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

from lists_values import merged
from logreplay_runs import RunFailed, Tool

UTC = timezone.utc


def nanoseconds(text):
    whole, fraction = text[:-1].split(".")
    return int(datetime.fromisoformat(whole + "+00:00").timestamp()) * 10**9 + int(fraction)


def moment(time):
    return int(time.timestamp()) * 10**9


def begin_of(time, every, zone):
    """The begin of the step that holds a time in nanoseconds."""
    local = datetime.fromtimestamp(time // 10**9, zone)
    if every == "1h":
        hour = datetime.fromtimestamp(time // 10**9, UTC)
        return hour - timedelta(minutes=local.minute, seconds=local.second)
    day = local.date()
    if every == "1w":
        day -= timedelta(days=day.weekday())
    if every == "1mo":
        day = day.replace(day=1)
    return midnight(day, zone)


def end_of(begin, every, zone):
    if every == "1h":
        return begin + timedelta(hours=1)
    day = begin.astimezone(zone).date()
    if every == "1mo":
        return midnight((day.replace(day=28) + timedelta(days=4)).replace(day=1), zone)
    return midnight(day + timedelta(days=7 if every == "1w" else 1), zone)


def midnight(day, zone):
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


def order(value):
    if value is None:
        return (0,)
    if isinstance(value, bool):
        return (1, value)
    return (3, value.encode()) if isinstance(value, str) else (2, Fraction(value))


class Log:
    """The events of a table, and the state after any of them."""

    def __init__(self, lines, table, by, summed):
        self.events = [json.loads(line, parse_float=Decimal) for line in lines]
        self.table, self.by, self.summed = table, by, summed
        # For each time at which an append is dated, the last append that is dated then or earlier.
        ends = {}
        for event in self.events:
            time = nanoseconds(event["time"])
            ends[time] = max(ends.get(time, 0), event["append"][1])
        self.times, self.last = sorted(ends), []
        for time in self.times:
            self.last.append(max(ends[time], self.last[-1] if self.last else 0))

    def reached(self, end):
        index = bisect_left(self.times, end)
        return self.last[index - 1] if index else 0

    def states(self, wanted):
        rows, found = {}, {}
        if 0 in wanted:
            found[0] = self.groups(rows)
        for event in self.events:
            category, _, name = event["stream"].partition("/")
            if category == self.table and event["type"] in ("$put", "$merge", "$delete"):
                value = event["payload"]
                if event["type"] == "$merge":
                    value = merged(rows.get(name, {}), value)
                if event["type"] == "$delete" or not isinstance(value, dict):
                    rows.pop(name, None)
                else:
                    rows[name] = value
            if event["sequence"] in wanted:
                found[event["sequence"]] = self.groups(rows)
        return found

    def groups(self, rows):
        found = {}
        for row in rows.values():
            key = tuple(row.get(field) for field in self.by)
            count, total = found.get(key, (0, Fraction(0)))
            value = row.get(self.summed) if self.summed else None
            isnumber = isinstance(value, (int, Decimal)) and not isinstance(value, bool)
            found[key] = (count + 1, total + (Fraction(value) if isnumber else 0))
        return sorted(((key, *rest) for key, rest in found.items()), key=lambda group: [order(v) for v in group[0]])


def check(tool, log, every, name):
    zone = ZoneInfo(name)
    words = ["--table", log.table, "--every", every, "--time-zone", name, "-o", "json"]
    words += ["--by", ",".join(log.by)] if log.by else []
    words += ["--sum", log.summed] if log.summed else []
    axis = json.loads(tool.text("count", *words), parse_float=Decimal)
    begin = begin_of(nanoseconds(log.events[0]["time"]), every, zone)
    spans = [(begin, end_of(begin, every, zone))]
    while moment(spans[-1][1]) <= nanoseconds(log.events[-1]["time"]):
        spans.append((spans[-1][1], end_of(spans[-1][1], every, zone)))
    reached = [log.reached(moment(end)) for _, end in spans]
    states = log.states(set(reached))
    if len(axis["steps"]) != len(spans):
        raise AssertionError("%d steps, and not %d" % (len(axis["steps"]), len(spans)))
    for step, (begin, end), sequence in zip(axis["steps"], spans, reached):
        seen = [(tuple(g["group"]), g["count"], Fraction(g.get("sum", 0))) for g in step["groups"]]
        wanted = [(k, c, s if s.denominator == 1 else Fraction(repr(float(s)))) for k, c, s in states[sequence]]
        facts = (nanoseconds(step["time"]), nanoseconds(step["end"]), step["sequence"], step["local"])
        if facts != (moment(begin), moment(end), sequence, begin.astimezone(zone).isoformat()):
            raise AssertionError("%s in %s: %r" % (every, name, facts))
        if seen != wanted:
            raise AssertionError("%s in %s, step of %s: %r, and not %r" % (every, name, begin, seen, wanted))
    return len(spans)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logreplay", required=True)
    parser.add_argument("--store", required=True)
    parser.add_argument("--table", required=True)
    parser.add_argument("--by", default="")
    parser.add_argument("--sum")
    parser.add_argument("--zone", action="append")
    parser.add_argument("--every", action="append", choices=["1h", "1d", "1w", "1mo"])
    given = parser.parse_args()
    tool = Tool(given.logreplay, given.store)
    lines = tool.text("log", "-o", "jsonl").splitlines()
    log = Log(lines, given.table, [field for field in given.by.split(",") if field], given.sum)
    steps = 0
    for name in given.zone or ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC"]:
        for every in given.every or ["1mo", "1w", "1d", "1h"]:
            steps += check(tool, log, every, name)
    print("%d steps of %d events agree" % (steps, len(lines)))


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, RunFailed, subprocess.SubprocessError) as problem:
        sys.exit("counts differ: %s" % problem)
