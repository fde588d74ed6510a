#!/usr/bin/env python3
"""Lists which rules of lists a test run has covered (rule, cases, result, test), from the event stream of the run.

    swift test --event-stream-output-path REPORT --event-stream-version 0
    Tools/support/rules.py REPORT            # a table; exits with 1 if a rule has no test, or one that did not pass
    Tools/support/rules.py REPORT --summary  # only what is missing; exits with 0

A test belongs to the rules that its display name begins with: `R44 A window holds …`, `S4 and S6 …`, `R23, R36: …`.
Only tests that ran count: a test that was skipped, or that had no cases, covers nothing.
"""

import argparse
import json
import re
import sys
from collections import namedtuple

# Not part of lists yet: trees of items, flexible windows, dependent neighbours, and undo.
LATER = {"R14", "R48", "R68", "R73"}
FAMILIES = {"R": 78, "S": 12, "D": 14}
EXPECTED = [f"{family}{number}" for family, last in FAMILIES.items() for number in range(1, last + 1)
            if f"{family}{number}" not in LATER]

CODE = r"[RSD]\d+"
HEAD = re.compile(rf"({CODE}(?:(?:, | and | to ){CODE})*)[: ]")

# The result of one test in a run: its rules, its name, its suite, how many cases ran, and how it ended.
Shown = namedtuple("Shown", "rules name suite cases result")


def rules_of(name):
    """The rules that a display name begins with; empty if it begins otherwise."""
    head = HEAD.match(name)
    if not head:
        return []
    rules = []
    for separator, family, number in re.findall(r"(^|, | and | to )([RSD])(\d+)", head.group(1)):
        first = int(number)
        if separator == " to " and rules and rules[-1][0] == family:
            first = int(rules[-1][1:]) + 1
        rules += [f"{family}{place}" for place in range(first, int(number) + 1)]
    return rules


def order(rule):
    return list(FAMILIES).index(rule[0]), int(rule[1:])


def read_report(lines):
    """The result of every test whose name begins with a rule, from the records of an event stream."""
    tests, cases, results = {}, {}, {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            # A run that was killed leaves half a line; its unfinished tests are reported below with "no end".
            print(f"line {number} of the report is not JSON", file=sys.stderr)
            continue
        payload = record["payload"]
        if record["kind"] == "test":
            if payload["kind"] == "function":
                tests[payload["id"]] = payload
        elif record["kind"] == "event":
            test = payload.get("testID")
            if payload["kind"] == "testCaseEnded":
                cases[test] = cases.get(test, 0) + 1
            elif payload["kind"] == "testSkipped":
                results[test] = "skipped"
            elif payload["kind"] == "testEnded":
                symbols = {message.get("symbol") for message in payload.get("messages", [])}
                results[test] = ("failed" if "fail" in symbols
                                 else "known issue" if "passWithKnownIssue" in symbols else "passed")
    shown = []
    for id, test in tests.items():
        name = test.get("displayName", test["name"])
        rules = rules_of(name)
        if not rules:
            continue
        count, result = 1, results.get(id, "no end")
        if test.get("isParameterized"):
            count = cases.get(id, 0)
            if result == "passed" and count == 0:
                result = "no cases"
        elif result in ("skipped", "no end"):
            count = 0
        suite = id.split("/")[0].split(".", 1)[-1]
        shown.append(Shown(rules, name, suite, count, result))
    return shown


def verdict(shown):
    """(rules without a test that ran, rules with a test that did not pass, rules that are not expected)."""
    ran, bad, seen = set(), set(), set()
    for test in shown:
        seen.update(test.rules)
        if test.result not in ("skipped", "no cases"):
            ran.update(test.rules)
        if test.result not in ("passed", "skipped", "no cases"):
            bad.update(test.rules)
    return ([rule for rule in EXPECTED if rule not in ran], sorted(bad, key=order),
            sorted(seen - set(EXPECTED) - LATER, key=order))


def table(shown):
    lines = [f"{'rule':<5} {'cases':>5}  {'result':<11} test"]
    rows = [(order(rule), test.name, rule, test) for test in shown for rule in test.rules]
    for _, name, rule, test in sorted(rows, key=lambda row: row[:2]):
        lines.append(f"{rule:<5} {test.cases:>5}  {test.result:<11} {name} ({test.suite})")
    return lines


def summary(shown):
    missing, bad, unknown = verdict(shown)
    held = len(EXPECTED) - len(set(missing) | set(bad) & set(EXPECTED))
    cases = sum(test.cases for test in shown)
    lines = [f"{held} of {len(EXPECTED)} rules hold, by {len(shown)} tests with {cases} cases"]
    for title, rules in (("no test ran for", missing), ("not passed", bad), ("no such rule", unknown)):
        if rules:
            lines.append(f"{title}: {', '.join(rules)}")
    return lines


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", help="the event stream of a test run, version 0")
    parser.add_argument("--summary", action="store_true", help="print only what is missing, and exit with 0")
    options = parser.parse_args(words)
    with open(options.report, encoding="utf-8") as report:
        shown = read_report(report)
    lines = summary(shown)
    if not options.summary:
        lines = table(shown) + [""] + lines
    print("\n".join(lines))
    return 1 if not options.summary and any(verdict(shown)) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
