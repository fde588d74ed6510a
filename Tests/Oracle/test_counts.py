"""Tests of the lists of counts and of instructions, with programs that are scripts.

    python3 -m unittest discover -s Tests/Oracle
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import tempfile
import unittest
import unittest.mock

SUPPORT = pathlib.Path(__file__).resolve().parents[2] / "Tools" / "support"


def load(name):
    """A script without an ending as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(SUPPORT / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class ListTests(unittest.TestCase):
    """A folder with a program and a list, for a script that compares the two."""

    script = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.module = load(self.script)
        self.list = self.folder / "list.txt"
        self.replace("LIST", self.list)
        self.replace("ROOT", self.folder)

    def replace(self, name, value):
        patch = unittest.mock.patch.object(self.module, name, value)
        self.addCleanup(patch.stop)
        patch.start()

    def program(self, *lines):
        path = self.folder / "stratabench"
        path.write_text("#!/bin/sh\ncat <<'END'\n" + "".join(line + "\n" for line in lines) + "END\n")
        os.chmod(path, 0o755)

    def main(self, *words):
        """The script's code, and what it printed."""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            return self.module.main([str(self.folder), *words]), out.getvalue()


class CountTests(ListTests):
    script = "counts"

    def setUp(self):
        super().setUp()
        self.replace("compiler", lambda: "Swift 6.3.1")
        self.replace("lz4", lambda: "liblz4 1.9.4")
        self.replace("counter", lambda folder: None)
        self.program("appends, syncs: 300", "replay, allocations: 45")
        self.assertEqual(self.main("--update")[0], 0)

    def test_the_same_counts_pass(self):
        self.assertEqual(self.main(), (0, "2 counts are as listed\n"))

    def test_one_sync_more_is_seen_and_accepted_by_an_update(self):
        self.program("appends, syncs: 301", "replay, allocations: 45")
        code, out = self.main()
        self.assertEqual(code, 1)
        self.assertIn("+appends, syncs: 301", out)
        self.main("--update")
        self.assertEqual(self.main()[0], 0)

    def test_a_count_that_is_gone_is_seen(self):
        self.program("replay, allocations: 45")
        self.assertEqual(self.main()[0], 1)

    def test_allocations_are_compared_with_the_same_compiler_only(self):
        self.program("appends, syncs: 300", "replay, allocations: 48")
        self.assertEqual(self.main()[0], 1)
        self.replace("compiler", lambda: "Swift 6.4")
        self.assertEqual(self.main()[0], 0)
        self.program("appends, syncs: 301", "replay, allocations: 45")
        self.assertEqual(self.main()[0], 1)

    def test_syncs_are_compared_where_allocations_are_not_counted(self):
        self.program("appends, syncs: 300")
        self.assertEqual(self.main()[0], 0)
        self.program("appends, syncs: 301")
        self.assertEqual(self.main()[0], 1)

    def test_a_twentieth_more_or_fewer_allocations_are_inside(self):
        for count, code in ((47, 0), (43, 0), (48, 1), (42, 1)):
            self.program("appends, syncs: 300", f"replay, allocations: {count}")
            self.assertEqual(self.main()[0], code, count)

    def test_the_bytes_of_an_open_are_left_out(self):
        self.program("the first open, bytes written: 5224", "appends, syncs: 300", "replay, allocations: 45")
        self.assertEqual(self.main()[0], 0)

    def test_bytes_are_compared_with_the_same_lz4_only(self):
        lines = ["appends, syncs: 300", "replay, allocations: 45"]
        self.program("appends, bytes written: 512", *lines)
        self.main("--update")
        self.program("appends, bytes written: 513", *lines)
        self.assertEqual(self.main()[0], 1)
        self.replace("lz4", lambda: "liblz4 1.10.0")
        self.assertEqual(self.main()[0], 0)

    def test_a_list_without_allocations_is_not_written(self):
        self.program("appends, syncs: 300")
        self.assertRaises(SystemExit, self.main, "--update")


class InstructionTests(ListTests):
    script = "instructions"

    def setUp(self):
        super().setUp()
        self.counts = {"fold": 200_000, "replay": 100_000}
        self.program(*self.counts)
        self.replace("instructions", lambda program, kernel, folder: self.counts[kernel])
        self.replace("stripped", lambda program, folder: program)
        self.assertEqual(self.main("--update")[0], 0)

    def test_half_a_percent_is_inside_and_more_is_not(self):
        for count, code in ((100_500, 0), (99_500, 0), (100_501, 1), (99_499, 1)):
            self.counts["replay"] = count
            self.assertEqual(self.main()[0], code, count)

    def test_a_kernel_that_is_not_listed_and_one_that_is_gone_fail(self):
        self.counts["new"] = 1
        self.program(*self.counts)
        self.assertEqual(self.main()[0], 1)
        self.program("fold")
        self.assertEqual(self.main()[0], 1)


# The base has no test of its own.
del ListTests

if __name__ == "__main__":
    unittest.main()
