"""The weaver of mutants, on small Swift texts and patches.

    python3 -m unittest discover -s Tests/Oracle
"""

import contextlib
import io
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "Tools", "mutants"))

import swift_source  # noqa: E402
import weave  # noqa: E402

TWO = """\
struct Pair {
  var first = 1
  var sum: Int { first + second }

  func isLess(_ other: Pair) -> Bool {
    guard first != other.first else { return second < other.second }
    return first < other.first
  }
}
"""


def flat(text):
    """The words of a text, without comments and line ends."""
    return " ".join(token.text for token in swift_source.scan(text))


def woven(text, **changes):
    """What becomes of a text with mutants `m1=(old, new)`, and why some are refused."""
    mutants = {name[1:]: text.replace(*change) for name, change in changes.items()}
    out, _, refused = weave.weave_file(text, mutants)
    return flat(out), refused


class SourceTests(unittest.TestCase):
    def bodies(self, text):
        return [text[body.start : body.end].strip() for body in swift_source.bodies(text)]

    def test_braces_in_strings_and_comments_are_none(self):
        text = 'func f() { /* } /* { */ */ a("}\\(b("{"))") // }\n c(#"}\\(}"#) }'
        self.assertEqual(len(self.bodies(text)), 1)
        text = 'func f() -> String {\n  """\n  } " \\(a { "}" })\n  """\n}\n'
        self.assertEqual(len(self.bodies(text)), 1)

    def test_bodies_are_those_of_functions_initialisers_and_accessors(self):
        self.assertEqual(self.bodies("struct S { init() { a } deinit { b } }"), ["a", "b"])
        self.assertEqual(self.bodies("var x: Int {\n get { 1 }\n set { y = newValue } }"), ["1", "y = newValue"])
        self.assertEqual(self.bodies("var x: Int { didSet { y() } }"), ["y()"])
        self.assertEqual(self.bodies("func f<T>(_ a: () -> Int = { 3 }) throws(E) -> T where T: P { a }"), ["a"])

    def test_closures_blocks_and_types_are_no_bodies(self):
        self.assertEqual(self.bodies("let x = { 1 }\nlet y = a.map { $0 }\nvar z = b.init { 2 }"), [])
        self.assertEqual(self.bodies("func f() { if let a { b } else { c } }"), ["if let a { b } else { c }"])
        self.assertEqual(self.bodies("class C { struct D { } }"), [])

    def test_what_a_body_returns_is_known(self):
        def returns(text):
            return [body.returns for body in swift_source.bodies(text)]

        self.assertEqual(returns("func f() -> (Int, Int) { a }\nfunc g() -> () { b }\nfunc h() -> Void { c }"), [True, False, False])
        self.assertEqual(returns("init(a: (Int) -> Int) { b }\nfunc k(a: (Int) -> Int) { b }"), [False, False])

    def test_one_expression_is_known_over_lines(self):
        for text in ("a", "a\n  .b { c\n d }\n  .e", "a\n  && b", "a ||\n b", "try await f(\n a)", "switch a { case .b: 1 }"):
            self.assertTrue(swift_source.is_expression(text), text)
        for text in ("", "return a", "a\nb", "let a = b", "a = b", "guard a else { }", "if a { return b }", "a\n(b)"):
            self.assertFalse(swift_source.is_expression(text), text)

    def test_what_is_not_understood_is_refused(self):
        for text in ("f() { ", "a ( ]", '"never closed\n', "let r = /a{/"):
            with self.assertRaises(swift_source.SourceError, msg=text):
                swift_source.bodies(text)


class WeaveTests(unittest.TestCase):
    def test_a_body_is_chosen_by_the_number_of_the_mutant(self):
        text, refused = woven(TWO, m7=("return first <", "return first >"), m08=("guard first !=", "guard first =="))
        self.assertEqual(refused, {})
        body = "guard first {} other . first else {{ return second < other . second }} return first {} other . first"
        chain = "if activeMutant == 7 {{ {} }} else if activeMutant == 8 {{ {} }} else {{ {} }} }}"
        self.assertIn(chain.format(body.format("!=", ">"), body.format("==", "<"), body.format("!=", "<")), text)

    def test_an_expression_is_returned_in_words(self):
        text, _ = woven(TWO, m1=("first + second", "first - second"))
        self.assertIn("{ if activeMutant == 1 { return first - second } else { return first + second } }", text)

    def test_a_function_in_a_function_is_woven_inside(self):
        outer = "func f() { func g() { a() }\n g()\n b() }"
        text, _ = woven(outer, m1=("a()", "x()"), m2=("b()", "y()"))
        self.assertEqual(
            text,
            "func f ( ) { if activeMutant == 2 { func g ( ) { a ( ) } g ( ) y ( ) } else { func g ( ) { "
            "if activeMutant == 1 { x ( ) } else { a ( ) } } g ( ) b ( ) } }")

    def test_a_change_outside_of_bodies_is_refused_and_says_where(self):
        text, refused = woven(TWO, m1=("first = 1", "first = 2"), m2=("< other.second", "> other.second"))
        self.assertEqual(refused, {"1": "line 2 is in no body of a function"})
        self.assertNotIn("activeMutant == 1 ", text)
        self.assertIn("activeMutant == 2 ", text)

    def test_a_change_that_moves_a_brace_is_refused(self):
        _, refused = woven("func f() { a() }\n", m1=("a()", "b() }; func g() { c()"))
        self.assertEqual(refused, {"1": "it moves a brace out of the body of a function"})

    def test_a_brace_that_moves_inside_is_woven_around(self):
        text, refused = woven("func f() {\n  func g() {\n    a()\n  }\n}\n", m1=("    a()\n", "    b()\n  }\n  do {\n"))
        self.assertEqual(refused, {})
        self.assertTrue(text.startswith("func f ( ) { if activeMutant == 1 { func g ( ) { b ( ) } do { } } else {"), text)

    def test_the_lines_of_a_mutant_are_known(self):
        mutated = TWO.replace("return first <", "return first >")
        out, marks, _ = weave.weave_file(TWO, {"7-less": mutated})
        line = out.split("\n").index("    return first > other.first") + 1
        self.assertTrue(any(first <= line <= last and names == ["7-less"] for first, last, names in marks))


class TreeTests(unittest.TestCase):
    """The program, on a tree of one module."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.write("tree/Package.swift", '// path: "Tools/tool"\n')
        self.write("tree/Sources/M/Pair.swift", TWO)

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def patch(self, name, old, new, line=7, path="Sources/M/Pair.swift"):
        text = f"what | Tests\n--- a/{path}\n+++ b/{path}\n@@ -{line} +{line} @@\n-{old}\n+{new}\n"
        return self.write(f"{name}.patch", text)

    def run_weave(self, *arguments):
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            code = weave.main(list(arguments))
        return code, out.getvalue().splitlines(), errors.getvalue()

    def weave(self, *patches):
        return self.run_weave(f"{self.root}/tree", f"{self.root}/woven", *patches)

    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def test_a_tree_is_woven_and_the_first_is_left_as_it_is(self):
        good = self.patch("3-less", "    return first < other.first", "    return first > other.first")
        code, lines, _ = self.weave(good)
        self.assertEqual((code, lines), (0, ["woven 3-less"]))
        self.assertIn("if activeMutant == 3 {", self.text("woven/Sources/M/Pair.swift"))
        self.assertIn("STRATA_MUTANT", self.text("woven/Sources/M/ActiveMutant.swift"))
        self.assertEqual(self.text("tree/Sources/M/Pair.swift"), TWO)

    def test_each_refusal_says_why(self):
        _, lines, _ = self.weave(
            self.patch("1-gone", "    return last", "    return first"),
            self.patch("2-none", "a", "b", path="Sources/M/Other.swift"),
            self.patch("4-text", "a", "b", path="README.md"),
            self.patch("5-same", "    return first < other.first", "    return true"),
            self.patch("05-same", "    return first < other.first", "    return false"),
            self.patch("unnumbered", "    return first < other.first", "    return false"))
        self.assertEqual(
            sorted(lines),
            [
                "alone 05-same: 5-same has the same number", "alone 1-gone: it does not apply",
                "alone 2-none: it does not apply: there is no Sources/M/Other.swift",
                "alone 4-text: README.md is not Swift code of a module",
                "alone unnumbered: its name does not begin with a number", "woven 5-same",
            ])

    def test_the_mutant_of_an_error_is_named_and_can_be_left_out(self):
        good = self.patch("3-less", "    return first < other.first", "    return first > other.first")
        bad = self.patch("4-bad", "    return first < other.first", "    return nothing")
        self.weave(good, bad)
        lines = self.text("woven/Sources/M/Pair.swift").split("\n")
        line = lines.index("    return nothing") + 1
        log = self.write("log", f"/x/Sources/M/Pair.swift:{line}:12: error: cannot find 'nothing'\n")
        self.assertEqual(self.run_weave("--blame", f"{self.root}/woven", log)[:2], (0, ["4-bad"]))
        without = self.write("without", "4-bad\n")
        _, lines, _ = self.weave("--without", without, good, bad)
        self.assertEqual(lines, ["woven 3-less", "alone 4-bad: the compiler refuses it where it is woven"])

    def test_an_error_of_no_mutant_is_reported(self):
        self.weave(self.patch("3-less", "    return first < other.first", "    return first > other.first"))
        log = self.write("log", "/x/Sources/M/Pair.swift:2:1: error: what\n")
        code, lines, errors = self.run_weave("--blame", f"{self.root}/woven", log)
        self.assertEqual((code, lines), (1, []))
        self.assertIn("Pair.swift:2 is of no mutant", errors)

    def test_wrong_arguments_are_refused(self):
        self.assertEqual(self.run_weave("--with", "a")[0], 64)


if __name__ == "__main__":
    unittest.main()
