"""Tests of the oracle for lists: fold, order, sections, limits, batches, and the program that applies them.

    python3 -m unittest discover -s Tests/Oracle

ORACLE_SEED repeats a random run.
"""

import copy
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from apply_changes import apply  # noqa: E402
from lists import History, Options, Sort, difference, longest_rising, moved_within  # noqa: E402
from lists_filter import predicate  # noqa: E402
from lists_laws import broken_laws  # noqa: E402
from lists_values import NotAKey, instant, merged, order, same  # noqa: E402

SEED = int(os.environ.get("ORACLE_SEED", "20240229"))


def log(*changes, append=None):
    """Events as `log -o jsonl` prints them, from (type, id, payload); the time of event n is second n."""
    return [
        {
            "sequence": sequence,
            "append": append or [sequence, sequence],
            "time": "2024-02-29T00:00:%02d.000000000Z" % sequence,
            "stream": "t/" + id,
            "type": type,
            "payload": payload,
        }
        for sequence, (type, id, payload) in enumerate(changes, 1)
    ]


def put(id, **document):
    return ("$put", id, document)


def merge(id, **patch):
    return ("$merge", id, patch)


def delete(id):
    return ("$delete", id, None)


def rows(at):
    """{section: [ids]}"""
    return {section["section"]: [item["id"] for item in section["items"]] for section in at["sections"]}


def ids(changes, **options):
    history = History(log(*changes))
    at = history.at("t", history.head, Options(**options))
    return [item["id"] for section in at["sections"] for item in section["items"]]


class Fold(unittest.TestCase):
    def test_a_put_is_the_whole_document_and_a_merge_is_a_patch(self):
        history = History(log(put("a", x=1, y={"p": 1, "q": 2}), merge("a", x=None, y={"q": None, "r": 3}), put("a", z=1)))
        documents = [history.at("t", n)["sections"][0]["items"][0]["fields"] for n in (1, 2, 3)]
        self.assertEqual(documents, [{"x": 1, "y": {"p": 1, "q": 2}}, {"y": {"p": 1, "r": 3}}, {"z": 1}])

    def test_a_merge_into_nothing_begins_with_an_empty_object(self):
        at = History(log(merge("a", x=1, y=None, z={"p": None}))).at("t", 1)
        self.assertEqual(at["sections"][0]["items"], [{"id": "a", "revision": 1, "fields": {"x": 1, "z": {}}}])

    def test_merge_patches_are_those_of_the_rfc(self):
        # RFC 7396, appendix A.
        for target, patch, result in (
            ({"a": "b"}, {"a": "c"}, {"a": "c"}),
            ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
            ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
            ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
            ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
            ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
            ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
            ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ):
            self.assertEqual(merged(target, patch), result)

    def test_an_event_that_leaves_the_document_equal_leaves_the_revision(self):
        history = History(log(put("a", x=1), put("a", x=1), merge("a", x=1), merge("a", y=None), put("a", x=1.0)))
        revisions = [history.at("t", n)["sections"][0]["items"][0]["revision"] for n in range(1, 6)]
        self.assertEqual(revisions, [1, 1, 1, 1, 5])

    def test_without_a_sort_the_order_is_that_of_creation_and_a_new_put_is_a_new_creation(self):
        changes = [put("b", x=1), put("a", x=1), put("b", x=2), put("c", x=1)]
        self.assertEqual(ids(changes), ["b", "a", "c"])
        self.assertEqual(ids([*changes, delete("b"), delete("b"), put("b", x=2)]), ["a", "c", "b"])

    def test_events_of_other_types_and_tables_are_not_of_the_list(self):
        events = log(put("a", x=1), ("git.commit", "b", {"x": 1}), put("c", x=1))
        events[2]["stream"] = "other/c/d"
        history = History(events)
        self.assertEqual(rows(history.at("t", 3)), {None: ["a"]})
        self.assertEqual(rows(history.at("other", 3)), {None: ["c/d"]})

    def test_a_point_inside_an_append_is_partial(self):
        history = History(log(put("a", x=1), put("b", x=1), append=[1, 2]))
        self.assertEqual([history.at("t", n).get("partial") for n in (0, 1, 2)], [None, True, None])

    def test_a_list_is_printed_as_the_page_says(self):
        wanted = (
            '{"schema":1,"table":"t","sequence":1,"time":"2024-02-29T00:00:01.000000000Z","chain":null,"count":1,'
            '"sections":[{"section":"s","count":1,"items":[{"id":"a","revision":1,"fields":{"B":1,"s":"s","é":2}}]}]}'
        )
        at = History(log(put("a", **{"é": 2, "s": "s", "B": 1}))).at("t", 1, Options(section_by="s"))
        self.assertEqual(json.dumps(at, separators=(",", ":"), ensure_ascii=False), wanted)


class Order(unittest.TestCase):
    def test_values_have_one_order(self):
        ascending = [None, False, True, -1e300, -1, 0, 0.5, 1, 2**53, float(2**53) + 2, 2**64]
        ascending += ["", "B", "a", "é", "\uffff", "😀", b"", b"\xff"]
        keys = [order(value) for value in ascending]
        self.assertEqual(keys, sorted(keys))
        self.assertEqual(len(set(keys)), len(keys))
        self.assertEqual(order(1), order(1.0))

    def test_arrays_and_objects_are_no_keys(self):
        for value in ([], {}):
            for options in ({"sorts": ("x",)}, {"section_by": "x"}):
                with self.assertRaisesRegex(NotAKey, "x of row a"):
                    ids([put("a", x=value)], **options)

    def test_documents_are_the_same_only_with_the_same_numbers(self):
        self.assertTrue(same({"a": 1, "b": 2.5}, {"b": 2.5, "a": 1}))
        for a, b in ((1, 1.0), (0.0, -0.0), (True, 1), (None, False), ("1", 1)):
            self.assertFalse(same({"x": a}, {"x": b}))

    def test_ties_are_broken_by_the_id_ascending_even_under_a_descending_sort(self):
        changes = [put(id, x=1) for id in ("c", "é", "a", "B")]
        for sort in ("x", "x:desc", "missing:desc"):
            self.assertEqual(ids(changes, sorts=(sort,)), ["B", "a", "c", "é"])

    def test_null_is_first_unless_asked_to_be_last(self):
        changes = [put("a"), put("b", x=2), put("c", x=None), put("d", x=False)]
        self.assertEqual(ids(changes, sorts=("x",)), ["a", "c", "d", "b"])
        self.assertEqual(ids(changes, sorts=("x:desc",)), ["b", "d", "a", "c"])
        self.assertEqual(ids(changes, sorts=("x:nullslast",)), ["d", "b", "a", "c"])
        self.assertEqual(ids(changes, sorts=("x:desc:nullslast",)), ["b", "d", "a", "c"])

    def test_several_sorts_and_paths(self):
        changes = [put("a", x=1, y={"z": 1}), put("b", x=2, y={"z": 1}), put("c", x=1, y={"z": 2})]
        self.assertEqual(ids(changes, sorts=("y.z:desc", "x:desc")), ["c", "b", "a"])
        self.assertEqual(ids(changes, sorts=(Sort("x"), Sort("y.z", True))), ["c", "a", "b"])

    def test_times_are_compared_as_instants(self):
        times = ("2024-01-01T10:00:00Z", "2024-01-01T10:30:00+01:00", "2024-01-01T09:30:00.5Z")
        changes = [put(id, t=time) for id, time in zip("abc", times)]
        self.assertEqual(ids(changes, sorts=("t:time",)), ["b", "c", "a"])
        self.assertEqual(instant("1970-01-01T00:00:00.50Z"), instant("1970-01-01T01:00:00.5+01:00"))
        leap = [instant("2016-12-31T" + time) for time in ("23:59:59.99Z", "23:59:60Z", "23:59:60.5Z")]
        self.assertTrue(leap[0] < leap[1] < leap[2] < instant("2017-01-01T00:00:00Z"))
        wrong = ("2024-01-01", "2024-13-01T00:00:00Z", "2024-01-01T00:00:00", "2016-12-31T22:59:60Z", None, 1)
        for text in wrong:
            self.assertIsNone(instant(text))

    def test_strings_may_be_read_as_numbers_or_without_case(self):
        changes = [put("a", x="10"), put("b", x="9"), put("c", x=9.5), put("d", x="B"), put("e", x="a")]
        self.assertEqual(ids(changes, sorts=("x",)), ["c", "a", "b", "d", "e"])
        self.assertEqual(ids(changes, sorts=("x:numeric",)), ["b", "c", "a", "d", "e"])
        self.assertEqual(ids(changes, sorts=("x:nocase",)), ["c", "a", "b", "e", "d"])


class Sections(unittest.TestCase):
    changes = [put("a", s="x", n=3), put("b", s="z", n=9), put("c", s="y", n=5), put("d", s="z", n=1), put("e", n=4)]

    def at(self, **options):
        history = History(log(*self.changes))
        return history.at("t", history.head, Options(**options))

    def keys(self, wanted):
        at = self.at(section_by="s", section_order=wanted, sorts=("n:desc",))
        return [section["section"] for section in at["sections"]]

    def test_without_a_section_key_there_is_one_section_even_of_nothing(self):
        self.assertEqual(rows(History([]).at("t", 0)), {None: []})
        self.assertEqual(History([]).at("t", 0, Options(limit=3))["sections"], [{"section": None, "count": 0, "items": []}])
        self.assertEqual(History([]).at("t", 0, Options(section_by="s"))["sections"], [])

    def test_sections_come_in_five_orders(self):
        self.assertEqual(self.keys("key"), [None, "x", "y", "z"])
        self.assertEqual(self.keys("key:desc"), [None, "z", "y", "x"])
        self.assertEqual(self.keys("first"), ["z", "y", None, "x"])
        self.assertEqual(self.keys("count"), ["z", None, "x", "y"])
        self.assertEqual(self.keys(["y", "nowhere", "x"]), ["y", "x", None, "z"])

    def test_numbers_that_are_equal_are_one_section_and_true_is_another(self):
        at = History(log(put("a", s=1.0), put("b", s=1), put("c", s=True))).at("t", 3, Options(section_by="s"))
        self.assertEqual(json.dumps([section["section"] for section in at["sections"]]), "[true, 1]")
        self.assertEqual([section["count"] for section in at["sections"]], [1, 2])

    def test_a_limit_cuts_the_whole_list_and_counts_stay_full(self):
        at = self.at(section_by="s", sorts=("n",), limit=3)
        self.assertEqual(rows(at), {None: ["e"], "x": ["a"], "y": ["c"]})
        at = self.at(section_by="s", section_order="key:desc", sorts=("n",), limit=2)
        self.assertEqual(
            (rows(at), at["count"], at["sections"][1]["count"]), ({None: ["e"], "z": ["d"]}, 5, 2))
        at = self.at(section_by="s", sorts=("n",), limit_per_section=1)
        self.assertEqual(rows(at), {None: ["e"], "x": ["a"], "y": ["c"], "z": ["d"]})

    def test_the_count_is_of_the_rows_that_pass_the_filter(self):
        at = self.at(section_by="s", where="n > 3", sorts=("n",), limit=2, fields=("n",))
        self.assertEqual((rows(at), at["count"]), ({None: ["e"], "y": ["c"]}, 3))
        self.assertEqual(at["sections"][0]["items"][0]["fields"], {"n": 4})


class Filters(unittest.TestCase):
    fields = {"a": 1, "b": "Bear", "c": {"d": True}, "t": "2024-01-01T00:00:00Z"}
    row = {"id": "r", "revision": 7, "section": "s", "fields": fields}

    def test_filters_say_what_the_page_says(self):
        for text, wanted in (
            ("a == 1.0", True),
            ("a = 2 || b == 'Bear' && c.d == true", True),
            ("(a = 2 or b == \"Bear\") and not c.d = true", False),
            ("missing == null && a != null", True),
            ("missing != 'X'", True),
            ("missing < 1 || missing >= 1 || b > 1", False),
            ("a <= 1 && a < 2 && b >= 'Bear'", True),
            ("b contains 'ea' && b contains[c] 'BE' && !(b beginsWith 'b') && b endsWith[c] 'R'", True),
            ("a in {3, 1} && b in ['x'] || $revision == 7 && $id == 'r' && $section != null", True),
            ("t < @'2024-01-01T01:00:00+00:30' && t >= @'2024-01-01T01:00:00+01:00'", True),
            ("a == @'1970-01-01T00:00:00.000000001Z' && a < @'1970-01-01T00:00:00.00000001Z'", True),
            ("`a` == -1", False),
            ("c == 1 || c < 1", False),
        ):
            self.assertEqual(predicate(text)(self.row), wanted, text)

    def test_what_is_no_filter_is_refused(self):
        for text in ("", "a ==", "a == 1 b", "(a == 1", "a ~ 1", "== 1", "a like 1"):
            with self.assertRaises(ValueError, msg=text):
                predicate(text)


class Batches(unittest.TestCase):
    def diff(self, a, b, **options):
        """The changes between two lists of {id: document}, through one log."""
        first = [put(id, **document) for id, document in a.items()]
        gone = [delete(id) for id in a if id not in b]
        second = gone + [put(id, **document) for id, document in b.items()]
        history = History(log(*first, *second))
        return history.diff("t", len(first), history.head, Options(**options))["changes"]

    def test_a_row_that_changed_in_its_place_is_an_update(self):
        self.assertEqual(
            self.diff({"a": {"x": 1, "y": 1}}, {"a": {"x": 2, "z": 1}}),
            [
                {
                    "op": "update", "id": "a", "from": [0, 0], "to": [0, 0], "revision": [1, 2],
                    "fields": {"x": {"old": 1, "new": 2}, "y": {"old": 1}, "z": {"new": 1}},
                }
            ],
        )

    def test_the_only_row_of_a_section_moves_with_from_equal_to_to(self):
        changes = self.diff({"a": {"s": 1}}, {"a": {"s": 2}}, section_by="s")
        self.assertEqual([change["op"] for change in changes], ["deleteSection", "insertSection", "move"])
        self.assertEqual((changes[2]["from"], changes[2]["to"]), ([0, 0], [0, 0]))

    def test_the_ops_come_in_the_order_of_the_page(self):
        before = {"a": {"s": 1, "n": 1}, "b": {"s": 1, "n": 2}, "c": {"s": 2, "n": 1}, "d": {"s": 2, "n": 5}, "g": {"s": 5}}
        after = {"a": {"s": 3, "n": 1}, "b": {"s": 1, "n": 3}, "d": {"s": 2, "n": 0}, "e": {"s": 2, "n": 9}, "f": {"s": 4}}
        changes = self.diff(before, after, section_by="s", sorts=("n",))
        self.assertEqual(
            [(change["op"], change.get("id", change.get("section"))) for change in changes],
            [
                ("delete", "g"), ("delete", "c"), ("deleteSection", 5), ("insertSection", 3), ("insertSection", 4),
                ("insert", "e"), ("move", "a"), ("insert", "f"), ("update", "b"), ("update", "d"), ("updateSection", 1),
            ],
        )

    def test_a_section_whose_rank_changed_moves_and_its_items_do_not(self):
        rows = [put("a", s="x"), put("b", s="x"), put("c", s="y"), put("d", s="y"), put("e", s="y")]
        history = History(log(*rows))
        changes = history.diff("t", 4, 5, Options(section_by="s", section_order="count"))["changes"]
        self.assertEqual([change["op"] for change in changes], ["moveSection", "insert", "updateSection"])

    def test_between_untouched_rows_as_few_others_move_as_can(self):
        self.assertEqual(longest_rising([3, 1, 2, 5, 4], lambda n: n), [1, 2, 4])
        stay_put = {1, 2, 3}
        self.assertEqual(moved_within([1, 9, 2, 4, 5, 3], lambda n: n, stay_put.__contains__), {9, 4, 5})
        self.assertEqual(moved_within([1, 2, 3, 6, 4, 5], lambda n: n, stay_put.__contains__), {6})
        self.assertEqual(moved_within([3, 1, 2], lambda n: n, lambda n: False), {3})


# --- Random lists ---------------------------------------------------------------------------------


def random_log(chance, length):
    changes = []
    for _ in range(length):
        id = chance.choice((*"abcdefghijkmé", '"x"'))
        document = {name: chance.choice(values) for name, values in FIELDS.items() if chance.random() < 0.8}
        kind = chance.choice(("$put", "$put", "$merge", "$delete"))
        changes.append((kind, id, None if kind == "$delete" else document))
    return log(*changes)


FIELDS = {"s": ["x", "y", "z", 1, True], "n": [0, 1, 2, 2.5, "2", None], "m": [{"p": 1}, {"q": 1.0}]}


def random_options(chance):
    return Options(
        section_by=chance.choice((None, "s", "s")),
        section_order=chance.choice(("key", "key:desc", "first", "count", ["y", 1])),
        sorts=chance.choice(((), ("n:desc",), ("n:numeric:nullslast", "s"))),
        where=chance.choice((None, None, "n != 2", "n < 2 || s in {'x', 'y'}")),
        limit=chance.choice((None, None, 1, 3, 6)),
        limit_per_section=chance.choice((None, None, 1, 2)),
        fields=chance.choice((None, ("n", "s"))),
    )


def random_pairs(count):
    """(at A, diff, at B) for random lists; ORACLE_SEED makes them reproducible."""
    chance = random.Random(SEED)
    for _ in range(count):
        events = random_log(chance, 40)
        history, options = History(events), random_options(chance)
        a, b = chance.randint(0, 40), chance.randint(0, 40)
        old, new = history.at("t", a, options), history.at("t", b, options)
        yield old, difference(old, new), new


class Applying(unittest.TestCase):
    def test_what_the_batch_makes_of_the_list_at_a_is_the_list_at_b(self):
        seen = set()
        for old, diff, new in random_pairs(500):
            before = copy.deepcopy((old, diff))
            self.assertEqual(apply(old, diff), new)
            self.assertEqual(broken_laws(old, new, diff), [])
            self.assertEqual(before, (old, diff), "the lists that were passed in are unchanged")
            seen.update(change["op"] for change in diff["changes"])
            seen.update(["revision"] if "revisions" in diff else [])
        self.assertEqual(len(seen), 9, seen)

    def test_a_row_that_was_changed_and_changed_back_is_named_apart_from_the_changes(self):
        history = History(log(put("a", x=1), put("b", x=1), put("a", x=2), put("a", x=1), delete("b"), put("b", x=1)))
        old, new = history.at("t", 2), history.at("t", 6)
        diff = difference(old, new)
        self.assertEqual(diff["changes"], [])
        self.assertEqual(diff["revisions"], [{"id": "a", "revision": [1, 4]}, {"id": "b", "revision": [2, 6]}])
        self.assertEqual(apply(old, diff), new)
        for wrong in (
            [], diff["revisions"][:1], diff["revisions"][::-1], [{"id": "a", "revision": [1, 5]}, diff["revisions"][1]],
        ):
            self.assertTrue(broken_laws(old, new, {**diff, "revisions": wrong}))
        with self.assertRaisesRegex(ValueError, "another revision"):
            apply(old, {**diff, "revisions": [{"id": "a", "revision": [3, 4]}]})

    def test_a_batch_without_one_of_its_changes_is_refused_or_leads_elsewhere(self):
        for old, diff, new in random_pairs(200):
            for left_out in range(len(diff["changes"])):
                less = {**diff, "changes": diff["changes"][:left_out] + diff["changes"][left_out + 1:]}
                self.assertNotEqual(self.result(old, less), new, diff["changes"][left_out])
                self.assertTrue(broken_laws(old, new, less), diff["changes"][left_out])

    def test_a_batch_is_refused_by_another_list(self):
        for old, diff, new in random_pairs(200):
            if diff["changes"] and old["sequence"] != new["sequence"]:
                self.assertIsNone(self.result(new, diff))
                self.assertNotEqual(self.result({**new, "sequence": old["sequence"]}, diff), new)

    def result(self, at, diff):
        try:
            return apply(at, diff)
        except (ValueError, KeyError, IndexError):
            return None

    def test_what_is_named_wrong_is_refused(self):
        for spoil in (spoil_id, spoil_old_value, spoil_old_revision, spoil_section, spoil_index):
            refused = 0
            for old, diff, _ in random_pairs(120):
                changes = copy.deepcopy(diff["changes"])
                if not any([spoil(change) for change in changes]):
                    continue
                with self.assertRaises((ValueError, KeyError), msg=spoil.__name__):
                    apply(old, {**diff, "changes": changes})
                refused += 1
            self.assertGreater(refused, 5, spoil.__name__)

    def test_the_program_prints_the_list_or_ends_with_a_sentence(self):
        old, diff, new = next(pair for pair in random_pairs(50) if len(pair[1]["changes"]) > 3)
        done = self.program(old, diff)
        self.assertEqual((done.returncode, json.loads(done.stdout)), (0, new))
        done = self.program({**old, "sections": []}, diff)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, "^apply_changes: no such index: {")

    def program(self, *values):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("at.json", "diff.json")]
            for path, value in zip(paths, values):
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(value, file)
            words = [sys.executable, os.path.join(HERE, "apply_changes.py"), *paths]
            return subprocess.run(words, capture_output=True, text=True, check=False)


def spoil_id(change):
    if "id" in change and "from" in change:
        change["id"] = "nobody"
    return change.get("id") == "nobody"


def spoil_old_value(change):
    if change["op"] not in ("update", "move") or not change.get("fields"):
        return False
    change["fields"][sorted(change["fields"])[0]]["old"] = "never"
    return True


def spoil_old_revision(change):
    if change["op"] not in ("update", "move") or "revision" not in change:
        return False
    change["revision"][0] += 1
    return True


def spoil_section(change):
    if change["op"] in ("deleteSection", "updateSection"):
        change["section"] = "nowhere"
    return change.get("section") == "nowhere"


def spoil_index(change):
    if change["op"] in ("delete", "update"):
        change["from"] = [change["from"][0], -1]
        return True
    return False


if __name__ == "__main__":
    unittest.main()
