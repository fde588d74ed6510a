"""Tests of the report of rules, with event streams like those of a test run.

    python3 -m unittest discover -s Tests/Oracle
"""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "Tools", "support"))

import rules  # noqa: E402


class Run:
    """Writes the records of a test run."""

    def __init__(self):
        self.records = []

    def test(self, name, symbol="pass", cases=None, skipped=False):
        """A test with a display name; `cases` is None if it takes no arguments, `symbol` is None if it never ended."""
        id = f"ListTests.WindowTests/t{len(self.records)}()/WindowTests.swift:3:4"
        self.add("test", kind="function", displayName=name, name="t()", id=id, isParameterized=cases is not None)
        if skipped:
            self.add("event", kind="testSkipped", testID=id, messages=[{"symbol": "skip"}])
            return self
        self.add("event", kind="testStarted", testID=id, messages=[{"symbol": "default"}])
        for _ in range(cases or 0):
            self.add("event", kind="testCaseEnded", testID=id, messages=[])
        if symbol:
            self.add("event", kind="testEnded", testID=id, messages=[{"symbol": symbol}])
        return self

    def everything(self, but=()):
        for rule in rules.EXPECTED:
            if rule not in but:
                self.test(f"{rule} It holds")
        return self

    def add(self, record, **payload):
        self.records.append(json.dumps({"kind": record, "payload": payload, "version": 0}))

    def shown(self):
        return rules.read_report(self.records)

    def report(self, *words):
        """(exit code, printed text)"""
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write("\n".join(self.records) + "\n")
            file.flush()
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                code = rules.main([file.name, *words])
        return code, out.getvalue()


class Names(unittest.TestCase):
    def test_a_name_begins_with_its_rules(self):
        for name, expected in [
            ("R44 A window holds L rows", ["R44"]),
            ("R58: after cancel() nothing is delivered", ["R58"]),
            ("R23, R36: a row that leaves", ["R23", "R36"]),
            ("S4 and S6: a section of one item", ["S4", "S6"]),
            ("S2 to S6 hold in a window", ["S2", "S3", "S4", "S5", "S6"]),
            ("D1, D4 and D6 stay away", ["D1", "D4", "D6"]),
            ("R4 to the last section", ["R4"]),
            ("S3 and then nothing", ["S3"]),
        ]:
            self.assertEqual(rules.rules_of(name), expected, name)

    def test_other_names_have_none(self):
        for name in ["a row of R44", "R", "R44x holds", "Q4 holds", "notNamed()", "r44 holds", "R44"]:
            self.assertEqual(rules.rules_of(name), [], name)

    def test_rules_that_come_later_are_not_expected(self):
        self.assertEqual(len(rules.EXPECTED), 78 - 4 + 12 + 14)
        self.assertTrue(rules.LATER.isdisjoint(rules.EXPECTED))


class Results(unittest.TestCase):
    def only(self, run):
        shown = run.shown()
        self.assertEqual(len(shown), 1)
        return shown[0].cases, shown[0].result

    def test_a_test_without_arguments_is_one_case(self):
        self.assertEqual(self.only(Run().test("R1 It holds")), (1, "passed"))

    def test_cases_are_those_that_ran(self):
        self.assertEqual(self.only(Run().test("R1 It holds", cases=7)), (7, "passed"))

    def test_arguments_without_cases_show_nothing(self):
        self.assertEqual(self.only(Run().test("R1 It holds", cases=0)), (0, "no cases"))

    def test_failures_are_told(self):
        self.assertEqual(self.only(Run().test("R1 It holds", "fail", cases=2)), (2, "failed"))
        self.assertEqual(self.only(Run().test("R1 It holds", "passWithKnownIssue")), (1, "known issue"))

    def test_a_test_that_never_ended_is_no_test_that_passed(self):
        self.assertEqual(self.only(Run().test("R1 It holds", symbol=None)), (0, "no end"))

    def test_half_a_line_ends_no_report(self):
        run = Run().test("R1 It holds", symbol=None)
        run.records.append('{"kind":"event","payl')
        with contextlib.redirect_stderr(io.StringIO()) as told:
            self.assertEqual(self.only(run), (0, "no end"))
        self.assertIn("is not JSON", told.getvalue())

    def test_suites_and_other_names_are_left_out(self):
        run = Run().test("it holds")
        run.add("test", kind="suite", displayName="R2 Windows", name="WindowTests", id="ListTests.WindowTests")
        self.assertEqual(run.shown(), [])


class Reports(unittest.TestCase):
    def test_all_rules_hold(self):
        code, text = Run().everything().report()
        self.assertEqual(code, 0)
        self.assertIn("100 of 100 rules hold, by 100 tests with 100 cases", text)

    def test_the_table_stands_by_rule(self):
        run = Run().test("D1 Nothing is lost").test("R10 Once").test("R9, R2 Both", cases=3).test("S1 Five thousand")
        lines = run.report()[1].splitlines()
        self.assertEqual(lines[0].split(), ["rule", "cases", "result", "test"])
        self.assertEqual([line.split()[0] for line in lines[1:6]], ["R2", "R9", "R10", "S1", "D1"])
        self.assertEqual(lines[1].split(), ["R2", "3", "passed", "R9,", "R2", "Both", "(WindowTests)"])

    def test_what_is_missing_is_a_failure(self):
        code, text = Run().everything(but=["R44", "S7"]).report()
        self.assertEqual(code, 1)
        self.assertIn("no test ran for: R44, S7", text)
        self.assertIn("98 of 100", text)

    def test_what_was_skipped_is_missing(self):
        for spoilt in [{"skipped": True}, {"cases": 0}]:
            code, text = Run().everything(but=["R44"]).test("R44 A window", **spoilt).report()
            self.assertEqual(code, 1)
            self.assertIn("no test ran for: R44\n", text)

    def test_one_test_of_a_rule_that_fails_is_a_failure(self):
        for symbol in ["fail", "passWithKnownIssue", None]:
            code, text = Run().everything().test("R44 A window", symbol).report()
            self.assertEqual(code, 1)
            self.assertIn("not passed: R44\n", text)
            self.assertIn("99 of 100", text)

    def test_a_rule_that_is_none_is_a_slip_of_the_pen(self):
        code, text = Run().everything().test("R444 A window").report()
        self.assertEqual(code, 1)
        self.assertIn("no such rule: R444", text)

    def test_rules_that_come_later_may_have_tests(self):
        self.assertEqual(Run().everything().test("R14 A tree").report()[0], 0)

    def test_a_summary_is_no_failure(self):
        code, text = Run().everything(but=["R44"]).report("--summary")
        self.assertEqual(code, 0)
        self.assertEqual(
            text, "99 of 100 rules hold, by 99 tests with 99 cases\nno test ran for: R44\n")


if __name__ == "__main__":
    unittest.main()
