"""Tests of the drivers that compare the tool's lists, with a stand-in that answers from the model, rightly and wrongly.

    python3 -m unittest discover -s Tests/Oracle
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import check_git  # noqa: E402
import check_lists  # noqa: E402
from lists import History, difference  # noqa: E402
from lists_values import instant  # noqa: E402
from logreplay_runs import list_options, origin_in  # noqa: E402
from make_repository import LONGEST_PATH, PROGRAM, make  # noqa: E402


class StandIn:
    """Answers like the tool; `spoil` may change its answers."""

    def __init__(self, events, spoil=None):
        self.log, self.history, self.spoil = events, History(events), spoil
        self.appends = {event["id"]: event["append"][1] for event in events}

    def events(self):
        return self.log

    def json(self, command, *words):
        return json.loads(self.text(command, *words, "-o", "json"))

    def text(self, command, *words):
        count = 2 if command == "diff" else 1
        options = list(words[count:-2])
        place = options.index("--table")
        table = options[place + 1]
        del options[place:place + 2]
        answer = [self.at(table, self.sequence(point), list_options(options)) for point in words[:count]]
        answer = difference(*answer) if command == "diff" else answer[0]
        if self.spoil:
            self.spoil(command, answer)
        return json.dumps(answer)

    def at(self, table, sequence, options):
        return {**self.history.at(table, sequence, options), "chain": "%016x" % sequence}

    def sequence(self, point):
        if point.isdigit():
            return int(point)
        if point.startswith("id:"):
            return self.appends[point[3:]]
        return max((last for last, time in self.history.ends if instant(time) <= instant(point)), default=0)


def some_events():
    chance = random.Random(7)
    events = []
    for sequence in range(1, 121):
        fields = {"s": chance.choice("xyz"), "n": chance.randint(0, 9), "m": 1}
        event = {"sequence": sequence, "append": [sequence, sequence], "stream": "t/%d" % chance.randint(1, 25)}
        time = "2024-02-29T00:%02d:%02d.500000000Z" % divmod(sequence // 2, 60)
        kind = chance.choice(("$put", "$put", "$put", "$merge", "$delete"))
        events.append({**event, "id": "i%d" % sequence, "time": time, "type": kind, "payload": fields})
    return events


class ListsDriver(unittest.TestCase):
    words = ["--section-by", "s", "--sort", "n:desc"]

    def run_of(self, spoil=None):
        run = check_lists.Run(StandIn(some_events(), spoil), "t", self.words)
        check_lists.check(run, 20, 3)
        return run

    def test_nothing_is_wrong_with_the_model_and_something_of_everything_was_looked_at(self):
        run = self.run_of()
        self.assertEqual(run.wrong, [])
        ops = {name for name in run.seen if name.startswith("op ")}
        self.assertTrue({"op delete", "op insert", "op move with a changed row", "op update"} <= ops, ops)
        for name in ("points", "points by time", "pairs forwards", "pairs backwards", "batches with an update taken out"):
            self.assertGreater(run.seen[name], 1, name)

    def test_what_is_wrong_is_seen(self):
        for spoil, sentence in (
            (one_revision_more, "not what the model says"),
            (fields_descend, "do not ascend"),
            (floats, "not what the model says"),
            (count_of_another, "not what the model says"),
            (without_updates, "applied to the list"),
            (inserts_first, "the ops are not in the documented order"),
            (says_more, "is not what its change says"),
            (delete_and_insert, "the deletes are not those"),
            (ends_elsewhere, "`to` is not the point"),
        ):
            self.assertIn(sentence, "\n".join(self.run_of(spoil).wrong), spoil.__name__)


def items_of(answer):
    return [item for section in answer.get("sections", ()) for item in section["items"]]


def one_revision_more(command, answer):
    for item in items_of(answer)[-1:]:
        item["revision"] += 1


def fields_descend(command, answer):
    for item in items_of(answer):
        item["fields"] = dict(sorted(item["fields"].items(), reverse=True))


def floats(command, answer):
    for item in items_of(answer):
        item["fields"]["n"] *= 1.0


def count_of_another(command, answer):
    if command == "at":
        answer["count"] += 1


def without_updates(command, answer):
    if command == "diff":
        answer["changes"] = [change for change in answer["changes"] if change["op"] != "update"]


def inserts_first(command, answer):
    if command == "diff":
        answer["changes"].sort(key=lambda change: change["op"] != "insert")


def says_more(command, answer):
    for change in answer.get("changes", ()):
        if change["op"] in ("update", "move"):
            change["fields"]["m"] = {"old": 1, "new": 1}


def delete_and_insert(command, answer):
    """Replaces a move by a delete and an insert."""
    for change in [change for change in answer.get("changes", ()) if change["op"] == "move"]:
        answer["changes"].remove(change)
        answer["changes"].insert(0, {"op": "delete", "id": change["id"], "from": change["from"]})


def ends_elsewhere(command, answer):
    if command == "diff":
        answer["to"]["chain"] = "ffffffffffffffff"


# --- git ------------------------------------------------------------------------------------------


class GitDriver(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.made = make(os.path.join(cls.folder.name, "one"), commits=60, seed=5)
        cls.repository = check_git.Repository(os.path.join(cls.folder.name, "one"), "main")
        cls.events = imported(cls.repository)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_a_seed_makes_one_repository(self):
        other = os.path.join(self.folder.name, "two")
        make(other, commits=60, seed=5)
        tips = [check_git.Repository(path, "main").commits()[-1] for path in (self.repository.folder, other)]
        self.assertEqual(tips[0], tips[1])

    def test_the_repository_is_sound_and_has_the_tree_that_was_meant(self):
        subprocess.run(["git", "-C", self.repository.folder, "fsck", "--strict"], check=True, capture_output=True)
        tree = self.repository.tree("main")
        found = {row["path"]: row["mode"].encode("ascii") for row in tree.values()}
        self.assertEqual(found, {path: mode for path, (mode, _) in self.made.tree.entries.items()})
        self.assertEqual(len(self.repository.commits()), 60)
        self.assertEqual(len(LONGEST_PATH), 1019)

    def test_it_has_a_bit_of_everything(self):
        kinds = check_git.kinds(self.repository)
        for kind in ("merge", "empty", "plain"):
            self.assertGreater(len(kinds[kind]), 1, kind)
        modes = {event["payload"]["mode"] for event in self.events if event["type"] == "$put"}
        self.assertEqual(modes, {"100644", PROGRAM.decode("ascii"), "120000", "160000"})
        self.assertTrue(any(event["payload"].get("quoted") for event in self.events if event["type"] == "$put"))

    def test_nothing_is_wrong_with_the_model(self):
        run = check_git.Run(StandIn(self.events), self.repository)
        check_git.check(run, plan(6))
        self.assertEqual(run.wrong, [])
        for letter in "ADM":
            self.assertGreater(run.seen["changes " + letter], 1)

    def test_commits_at_intervals_and_pairs_are_as_many_as_told(self):
        run = check_git.Run(StandIn(self.events), self.repository)
        check_git.check(run, plan(3, "--every", "20", "--pairs", "4"))
        self.assertEqual(run.wrong, [])
        self.assertEqual((run.seen["points, at intervals"], run.seen["pairs"]), (3, 4))

    def test_an_answer_that_was_replayed_is_wrong_if_the_lists_are_kept(self):
        for origins, sentence in (
            ({check_git.READ: 9}, None),
            ({check_git.READ: 9, "3 events replayed, no history read": 2}, "2 answers: 3 events"),
            ({}, "did not say"),
        ):
            run = check_git.Run(StandIn(self.events), self.repository)
            run.tool.origins = origins
            check_git.check(run, plan(2, "--kept"))
            wrong = "\n".join(run.wrong)
            self.assertEqual(wrong, "") if sentence is None else self.assertIn(sentence, wrong)

    def test_what_the_tool_says_of_an_answer_is_found_among_the_points(self):
        said = "id:1 \u2192 seq 3\nlogreplay: read from the history, no event replayed\n"
        self.assertEqual(origin_in(said), check_git.READ)
        self.assertEqual(origin_in("id:1 \u2192 seq 3\n"), "")

    def test_a_larger_repository_has_more_files(self):
        larger = make(os.path.join(self.folder.name, "larger"), commits=500, seed=5, files=1000)
        self.assertGreater(len(larger.tree.entries), 350)

    def test_what_is_wrong_is_seen(self):
        for spoil, sentence in ((another_mode, "mode"), (one_file_less, "not the paths"), (no_delete, "git sees")):
            run = check_git.Run(StandIn(self.events, spoil), self.repository)
            check_git.check(run, plan(3))
            self.assertIn(sentence, "\n".join(run.wrong), spoil.__name__)


def plan(points, *words):
    """What to compare, as the command line says it."""
    words = ("--logreplay", "", "--repository", "", "--store", "", "--points", str(points), "--seed", "3", *words)
    return check_git.arguments(words)


def imported(repository):
    """Events as an import along first parents writes them, from git's own trees."""
    events, before = [], {}
    for commit, _ in repository.commits():
        tree, first = repository.tree(commit), len(events) + 1
        changes = [("commit/" + commit, "git.commit", {})]
        changes.extend(("file/" + id, "$delete", None) for id in before if id not in tree)
        changes.extend(("file/" + id, "$put", row_of(id, row)) for id, row in tree.items() if before.get(id) != row)
        for stream, type, payload in changes:
            event = {"sequence": len(events) + 1, "append": [first, first + len(changes) - 1], "id": commit}
            event.update(time="2024-02-29T00:00:00.000000000Z", stream=stream, type=type, payload=payload)
            events.append(event)
        before = tree
    return events


def row_of(id, row):
    folder, _, name = row["path"].decode("utf-8", "backslashreplace").rpartition("/")
    fields = {"folder": folder, "name": name, "mode": row["mode"], "blob": row["blob"], "size": row["size"]}
    return fields if id.encode("utf-8") == row["path"] else {**fields, "quoted": True}


def another_mode(command, answer):
    for item in items_of(answer):
        item["fields"]["mode"] = "100664"


def one_file_less(command, answer):
    if command == "at":
        del answer["sections"][0]["items"][-1:]


def no_delete(command, answer):
    if command == "diff":
        answer["changes"] = [change for change in answer["changes"] if change["op"] != "delete"]


if __name__ == "__main__":
    unittest.main()
