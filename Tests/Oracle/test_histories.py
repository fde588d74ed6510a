"""Tests of the reader of histories: the kept store, and a byte of their files changed."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "Golden")]

from golden_text import from_text  # noqa: E402
from strata_history import compare, keys_of  # noqa: E402
from strata_store import MemoryStore  # noqa: E402

GOLDEN = os.path.join(HERE, "..", "Golden", "history-3.0")
FOLDER = "derived/history/$documents-1"


def kept(name):
    with open(os.path.join(GOLDEN, name), encoding="utf-8") as file:
        return from_text(file.read())[1]


class KeptHistory(unittest.TestCase):
    def test_a_kept_history_holds_what_the_log_says_at_every_event(self):
        (answer,) = compare(MemoryStore(kept("keys.store")))
        self.assertEqual(answer["folder"], FOLDER)
        self.assertIsNone(answer["differs"])
        self.assertIn("base", answer["runs"])
        self.assertIn("delta", answer["runs"])
        self.assertGreater(answer["end"], 65)

    def test_the_kept_keys_are_those_of_all_rows_and_of_a_list_at_every_event(self):
        answers = list(keys_of(MemoryStore(kept("keys.store")), "$documents-1"))
        self.assertEqual(len({answer["owner"] for answer in answers}), 2)
        kinds = {kind for answer in answers for kind, keys in answer["keys"].items() if keys}
        self.assertEqual(kinds, {"0", "1", "2", "3", "4"})

    def test_a_changed_byte_is_noticed(self):
        files = kept("keys.store")
        for path in [path for path in files if path.startswith(FOLDER)]:
            for at in range(0, len(files[path]), 41):
                changed = dict(files)
                content = bytearray(files[path])
                content[at] ^= 1 << at % 8
                changed[path] = bytes(content)
                (answer,) = compare(MemoryStore(changed))
                # The filters of runs are read by no answer of this reader.
                if answer["differs"] is None:
                    self.assertTrue(path.endswith(".run"), "%s at %d" % (path, at))


if __name__ == "__main__":
    unittest.main()
