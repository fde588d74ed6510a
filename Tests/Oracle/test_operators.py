"""The changes that the generator of mutants makes, on small Swift texts.

    python3 -m unittest discover -s Tests/Oracle
"""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "Tools", "mutants"))

import operators  # noqa: E402


def made(text, operator):
    """What one operator makes of a function with these statements, as pairs of what is replaced and by what."""
    whole = f"func f() {{\n{text}\n}}\n"
    return [
        (whole[found.start : found.end], found.new)
        for found in operators.candidates("F.swift", whole) if found.operator == operator]


class OperatorTests(unittest.TestCase):
    def test_each_condition_that_binds_nothing_is_negated(self):
        self.assertEqual(made("if a, let b, c == d { e }", "negated"), [("a", "!(a)"), ("c == d", "!(c == d)")])
        self.assertEqual(made("guard a(b, { c }) else { return }", "negated"), [("a(b, { c })", "!(a(b, { c }))")])
        self.assertEqual(made("if case .a = b { }\nif #available(macOS 15, *) { }", "negated"), [])

    def test_bounds_are_operators_and_no_brackets_of_types(self):
        self.assertEqual(made("let a: Array<Int> = b\nreturn a < b && a >= c", "bound"), [("<", "<="), (">=", ">")])

    def test_calls_are_dropped_that_are_statements(self):
        text = "a.b(c)\nlet d = e()\ntry f?.g(h) { i }\ntry await j()\n  .k()\nreturn l()"
        self.assertEqual(made(text, "dropped"), [("a.b(c)", "_ = ()"), ("try await j()\n  .k()", "_ = ()")])
        self.assertEqual(made("if a { b() }\nc { d() }\ne()", "dropped"), [("b()", "_ = ()"), ("e()", "_ = ()")])
        self.assertEqual(made("assert(a)\nb.reserveCapacity(3)\nsuper.init()", "dropped"), [])

    def test_a_value_is_not_dropped(self):
        found = operators.candidates("F.swift", "func f() -> Int { g(1) }\nvar h: Int { i() }\n")
        self.assertEqual([candidate.operator for candidate in found], ["constant"])

    def test_constants_are_one_more_and_steps_none(self):
        self.assertEqual(made("a = b + 1\nc.0 = d[2]\ne &-= 1", "off by one"), [("1", "0"), ("1", "0")])
        self.assertEqual(made("a = b + 1\nc.0 = d[2]\ne &-= 1", "constant"), [("2", "3")])

    def test_early_exits_are_those_of_an_if_with_more_after_it(self):
        self.assertEqual(made("if a { return }\nguard b else { return }\nif c { return d }", "goes on"), [("return", "_ = ()")])
        self.assertEqual(made("if a { throw .b(c) } else { d() }\nif e { f(); throw .g }\nh()", "goes on"), [("throw .g", "_ = ()")])

    def test_what_is_conditional_or_said_is_left_alone(self):
        self.assertEqual(made('#if A\na(1)\n#endif\nprecondition(b < 2, "\\(c + 1)")\n// d(3)', "constant"), [])

    def test_a_key_says_which_function_and_not_which_line(self):
        text = "func f() {\n  if a { b() }\n}\n"
        keys = [[found.key for found in operators.candidates("F.swift", prefix + text)] for prefix in ("", "\n// more\n\n")]
        self.assertEqual(keys[0], keys[1])
        self.assertTrue(keys[0][0].startswith("F.swift | func f | negated 1 | "))
        changed = operators.candidates("F.swift", text.replace("b()", "c()"))
        self.assertNotEqual(keys[0][0], changed[0].key)


if __name__ == "__main__":
    unittest.main()
