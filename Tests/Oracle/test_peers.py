"""Tests of the comparison with other libraries, with programs that are scripts.

    python3 -m unittest discover -s Tests/Oracle
"""

import contextlib
import io
import json
import os
import stat
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "Tools", "support"))

import peer_plots  # noqa: E402
import peers  # noqa: E402

# Writes two events as an export, makes a file as a store, says what it was called with, and has a rate of its own.
PROGRAM = '''#!/usr/bin/env python3
import json, sys
words, name = sys.argv[1:], "NAME"
with open("LOG", "a") as log:
    log.write(name + " " + " ".join(words) + "\\n")
def value(option):
    return words[words.index(option) + 1]
if "versions" in words:
    print(json.dumps({name: "1.0"}))
elif "export" in words:
    with open(value("--events"), "wb") as file:
        file.write(b"events 1" + 2 * b"\\1\\0\\0\\0\\2\\0\\0\\0abc")
else:
    if "fill" in words:
        with open(value("--store"), "w") as file:
            file.write("x" * 4)
    print(json.dumps({"seconds": SECONDS, "count": 10, "sum": SUM}))
'''


class PeersTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        # No program here writes anything that another one would have to wait for.
        sync = unittest.mock.patch("os.sync")
        self.addCleanup(sync.stop)
        sync.start()
        self.folder = folder.name
        self.log = os.path.join(self.folder, "log")
        self.out = os.path.join(self.folder, "out")
        for name, seconds in (("stratabench", 2), ("peers", 1), ("EventLanes", 4)):
            self.program(name, seconds)

    def program(self, name, seconds, total=7):
        path = os.path.join(self.folder, name)
        text = PROGRAM.replace("NAME", name).replace("LOG", self.log).replace("SECONDS", str(seconds))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("SUM", str(total)))
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)

    def run_peers(self, *words):
        with contextlib.redirect_stdout(io.StringIO()):
            peers.main(["--programs", self.folder, "--out", self.out, "--directory", self.folder, "--events", "10",
                        *words])
        with open(os.path.join(self.out, "results.json"), encoding="utf-8") as file:
            return json.load(file)

    def calls(self, work):
        with open(self.log, encoding="utf-8") as file:
            return [line.split()[0] for line in file if f" {work} " in line]

    def test_ratios_are_of_rates_and_the_first_row_is_one(self):
        rows = self.run_peers("--only", "replay", "--rounds", "3")["groups"][0]["panels"][0]["rows"]
        self.assertEqual([row["name"] for row in rows[:5]], ["Strata", "RocksDB", "LMDB", "SQLite", "GRDB"])
        self.assertEqual([row["ratio"] for row in rows[:5]], [1, 2, 2, 2, 0.5])
        self.assertEqual(rows[0]["median"], 5)

    def test_every_other_round_has_the_opposite_order(self):
        self.run_peers("--only", "replay", "--rounds", "2")
        calls = self.calls("scan")
        self.assertEqual(calls[:5], list(reversed(calls[5:])))
        self.assertNotEqual(calls[0], calls[4])

    def test_events_are_repeated_as_a_whole(self):
        self.assertEqual(self.run_peers("--only", "replay", "--rounds", "1", "--events", "9")["events"], 8)

    def test_a_size_is_of_the_files_and_less_is_a_smaller_ratio(self):
        rows = self.run_peers("--only", "size", "--rounds", "1")["groups"][0]["panels"][0]["rows"]
        self.assertEqual({row["median"] for row in rows}, {0.4})

    def test_libraries_that_read_something_else_end_the_run(self):
        self.program("EventLanes", 4, total=8)
        with self.assertRaises(SystemExit) as failure:
            self.run_peers("--only", "replay", "--rounds", "1")
        self.assertIn("another library", str(failure.exception))

    def test_an_older_program_takes_part_in_the_same_turns(self):
        self.program("older", 1)
        before = os.path.join(self.folder, "older")
        rows = self.run_peers("--only", "reads", "--rounds", "1", "--before", before)["groups"][0]["panels"][0]["rows"]
        self.assertEqual([(row["name"], row["ratio"]) for row in rows[:2]], [("Strata", 1), ("Strata, before", 2)])

    def test_nothing_is_left_beside_the_results(self):
        self.run_peers("--only", "bulk", "--rounds", "1")
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("strata-bench")], [])

    def test_plots_are_well_formed_and_their_bars_have_the_lengths_of_the_figures(self):
        results = self.run_peers("--only", "replay", "--rounds", "1")
        with open(os.path.join(self.out, "peers-replay.svg"), encoding="utf-8") as file:
            drawing = xml.etree.ElementTree.fromstring(file.read())
        space = "{http://www.w3.org/2000/svg}"
        lengths = [float(bar.get("width")) for bar in drawing.iter(space + "rect")][1:]
        medians = [row["median"] for row in results["groups"][0]["panels"][0]["rows"]]
        self.assertEqual(len(lengths), len(medians))
        for length, median in zip(lengths, medians):
            self.assertAlmostEqual(length, median / max(medians) * peer_plots.BARS, delta=0.1)

    def test_a_page_gets_the_figures_and_keeps_the_rest(self):
        page = os.path.join(self.folder, "Peers.md")
        with open(page, "w", encoding="utf-8") as file:
            file.write(f"before\n{peers.FIGURES[0]}\nold\n{peers.FIGURES[1]}\nafter\n")
        self.run_peers("--only", "size", "--rounds", "1", "--page", page)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.startswith("before\n") and text.endswith("\nafter\n"))
        self.assertNotIn("old", text)
        self.assertIn("| Strata | 0.4 | 0.4, 0.4 | 1.00 × |", text)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "Resources", "peers-size.svg")))

    def test_figures_have_three_digits_and_a_unit(self):
        self.assertEqual([peers.text_of(value, "events/s") for value in (1_340_000, 15_040, 812)],
                         ["1.34 M", "15.0 k", "812"])
        self.assertEqual(peers.text_of(28.04, "bytes"), "28.0")
        self.assertEqual([peers.three_digits(value) for value in (302.4, 48.03, 2.321, 0.0029)],
                         ["302", "48.0", "2.32", "0.0029"])


if __name__ == "__main__":
    unittest.main()
