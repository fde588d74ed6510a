"""Tests of the reader of states: the kept store, a byte of it changed, and states that do not fit their log."""

import os
import re
import struct
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "Golden")]

import strata_forge as forge  # noqa: E402
from golden_text import from_text  # noqa: E402
from strata_build import cbor, sized, varint  # noqa: E402
from strata_codecs import Malformed, crc32c, xxh64  # noqa: E402
from strata_fold import Tables  # noqa: E402
from strata_pages import Bytes, EMPTY, PageFiles, Place, Root, page_file_header  # noqa: E402
from strata_payloads import Event  # noqa: E402
from strata_state import (  # noqa: E402
    SLOT_FORM,
    compare,
    erasures_hash,
    name_hash,
    name_of,
    read_slot,
    read_state,
    root_of,
)
from strata_state_views import check_view, view_of  # noqa: E402
from strata_store import MemoryStore  # noqa: E402

GOLDEN = os.path.join(HERE, "..", "Golden", "states-1.0", "documents.store")
FOLDER = "$documents-1"
STATE = "derived/state/%s/STATE" % FOLDER
PAGES = "derived/state/%s/0000000001.pages" % FOLDER


def kept():
    with open(GOLDEN, encoding="utf-8") as file:
        return from_text(file.read())[1]


def differences(files):
    """What differs in the older and in the newest slot."""
    answers = sorted(compare(MemoryStore(files)), key=lambda answer: answer["isNewest"])
    return [answer["differs"] for answer in answers]


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]


def with_slot(files, **fields):
    """The files with fields of the newest slot changed, under a right checksum."""
    data = bytearray(files[STATE])
    at = max((0, 4096), key=lambda at: read_slot(bytes(data), at).generation)
    slot = read_slot(bytes(data), at)._replace(**fields)
    SLOT_FORM.pack_into(data, at, *slot)
    struct.pack_into("<I", data, at + 508, crc32c(bytes(data[at : at + 508])))
    return {**files, STATE: bytes(data)}


class KeptStore(unittest.TestCase):
    """The store that Tests/StrataTablesTests/State/GoldenStateTests.swift wrote."""

    def test_both_states_hold_what_the_log_says(self):
        newest, older = sorted(compare(MemoryStore(kept())), key=lambda answer: -answer["sequence"])
        self.assertEqual((newest["isNewest"], newest["differs"], newest["sequence"]), (True, None, 12))
        self.assertEqual((older["isNewest"], older["differs"], older["sequence"]), (False, None, 10))
        self.assertEqual(newest["tables"], {"incident": 3, "note": 2})
        self.assertEqual(older["tables"], {"incident": 4, "note": 2})
        self.assertEqual(newest["views"], ["by status"])

    def test_the_newest_state_has_these_rows_problems_and_items(self):
        files = kept()
        slot = max((read_slot(files[STATE], at) for at in (0, 4096)), key=lambda slot: slot.generation)
        state = read_state(MemoryStore(files), FOLDER, slot)
        (name, incidents, problems), (_, notes, _) = state.tables
        self.assertEqual(name, "incident")
        self.assertEqual({id: (row.revision, row.created) for id, row in incidents.items()}, {
            "a": (11, 1), "c": (3, 3), "e": (10, 10),
        })  # fmt: skip
        self.assertEqual(incidents["a"].document, {"status": "closed", "time": 31})
        self.assertEqual(problems, {"d": "the result of event 9 is not an object"})
        self.assertEqual(len(notes["long"].document["text"]), 2000)
        (view,) = state.views
        self.assertEqual((view.table, view.name, view.fingerprint), (0, "by status", 1))
        self.assertEqual([key[-1:] for key, _ in view.trees["items"]], [b"a", b"c"])
        self.assertEqual([key for key, _ in view.trees["problems"]], [b"e"])
        self.assertNotEqual(slot.erasures, xxh64(b""), "an event of the log was erased")

    def test_a_changed_byte_anywhere_is_noticed(self):
        files, unnoticed = kept(), []
        slots = [read_slot(files[STATE], at) for at in (0, 4096)]
        for at in range(len(files[STATE])):
            state = flipped(files[STATE], at)
            if [read_slot(state, at) for at in (0, 4096)] == slots:
                unnoticed.append(at)
        self.assertEqual(unnoticed, list(range(512, 4096)), "only what is between the slots")
        for at in range(len(files[PAGES])):
            damaged = MemoryStore({**files, PAGES: flipped(files[PAGES], at)})
            with self.assertRaises(Malformed, msg="byte %d" % at):
                for slot in slots:
                    read_state(damaged, FOLDER, slot)
        self.assertEqual(differences({**files, STATE: flipped(files[STATE], 4100)}), ["the slot does not verify", None])
        damaged = {**files, PAGES: flipped(files[PAGES], len(files[PAGES]) - 1)}
        self.assertEqual(differences(damaged)[-1], "the checksum of a record")

    def test_a_file_that_is_cut_or_missing_is_noticed(self):
        files = kept()
        for length in range(0, len(files[PAGES]), 97):
            self.assertIsNotNone(differences({**files, PAGES: files[PAGES][:length]})[-1], length)
        del files[PAGES]
        self.assertEqual(differences(files), ["page file 1 is missing"] * 2)

    def test_a_state_of_another_log_name_or_code_is_noticed(self):
        slot = read_slot(kept()[STATE], 4096)
        wrong = {
            "uuid": dict(uuid=forge.UUID), "name": dict(name=1), "fingerprint": dict(fingerprint=slot.fingerprint + 1),
            "chain": dict(chain=5), "position": dict(appends=slot.appends + 1), "erasures": dict(erasures=xxh64(b"")),
        }  # fmt: skip
        for what, fields in wrong.items():
            found = differences(with_slot(kept(), **fields))[-1]
            self.assertEqual(found, "the header of page file 1" if what == "uuid" else what)
        # Its list is of the sequence that the slot said before.
        found = differences(with_slot(kept(), sequence=slot.sequence - 1))[-1]
        self.assertEqual(found, "a view that is newer than its state")

    def test_rows_of_an_earlier_state_are_noticed(self):
        data = kept()[STATE]
        older, newest = sorted((read_slot(data, at) for at in (0, 4096)), key=lambda slot: slot.generation)
        names = ("total", "height", "file", "offset", "root_length", "checksum")
        fields = {name: getattr(older, name) for name in names}
        self.assertEqual(differences(with_slot(kept(), **fields))[-1], "rows of incident")


class Names(unittest.TestCase):
    def test_folders_say_the_name_the_version_and_touches(self):
        self.assertEqual(name_of("$documents-1"), ("$documents", 1, False))
        self.assertEqual(name_of("%42oard%20of%20tickets-3-touches"), ("Board of tickets", 3, True))
        self.assertEqual(name_of("a" * 120 + "%0123456789abcdef-2").name, None)
        with self.assertRaises(Malformed):
            name_of("Board-1")
        self.assertEqual(name_hash(name_of("t-2")), xxh64(b"0 2 t"))

    def test_the_offsets_of_a_slot_are_those_of_the_page(self):
        page = os.path.join(HERE, "..", "..", "Sources/StrataPast/StrataPast.docc/StateFormat.md")
        with open(page, encoding="utf-8") as file:
            table = file.read().split("| offset | size | slot of STATE |\n", 1)[1].split("\n\n", 1)[0]
        rows = [(int(a), int(b)) for a, b in re.findall(r"^\| (\d+) \| (\d+) \|", table, re.MULTILINE)]
        sizes = [struct.calcsize("<" + form) for form in re.findall(r"\d*[a-zA-Z]", SLOT_FORM.format)]
        offsets = [sum(sizes[:number]) for number in range(len(sizes))]
        self.assertEqual(rows[: len(sizes)], list(zip(offsets, sizes)))

    def test_only_erased_segments_up_to_the_state_count(self):
        first = forge.Segment(revision=1).events(forge.incident(1, id=b"one")).footer(is_marked=True)
        self.assertEqual(erasures_hash(MemoryStore(forge.store([first]).files), 9), xxh64(b""))


class Pages(unittest.TestCase):
    """Trees of hand-made pages."""

    UUID = bytes(range(16))

    def tree(self, *pages, root, page_size=256):
        """Reads a tree of pages, which are given in the order of the file; `root` is (total, height)."""
        data, places = page_file_header(1, self.UUID), []
        for page in pages:
            body = struct.pack("<II", len(page), 0) + page
            places.append(Place(1, len(data), len(body) + 4, crc32c(body)))
            data += struct.pack("<I", crc32c(body)) + body
        files = PageFiles(MemoryStore({"f/0000000001.pages": data}), "f", self.UUID)
        return files.tree(Root(*root, places[-1]), page_size), places

    @staticmethod
    def leaf(*entries, prefix=b""):
        found = bytes([0, len(entries), len(prefix)]) + prefix
        for key, value in entries:
            found += bytes([len(key), len(value)]) + key + value
        return found

    @staticmethod
    def inner(children, separators, height=1):
        found = bytes([height, len(children)])
        for total, place in children:
            found += bytes([total, place.file, place.offset, place.length]) + struct.pack("<I", place.checksum)
        return found + b"".join(bytes([len(key)]) + key for key in separators)

    def test_entries_are_in_order_and_share_the_prefix(self):
        entries, _ = self.tree(self.leaf((b"a", b"1"), (b"b", b""), prefix=b"k"), root=(2, 0))
        self.assertEqual(entries, [(b"ka", b"1"), (b"kb", b"")])
        for wrong in (
            self.leaf((b"b", b""), (b"a", b"")),
            self.leaf((b"a", b""), (b"a", b"")),
            self.leaf((b"a", b""), (b"b", b"")) + b"x",
            self.leaf((b"a", b""), (b"b", b""))[:-1],
            self.leaf((b"a", b""), (b"b", b"x" * 80)),
            self.leaf(*((bytes([number]), b"x" * 60) for number in range(5))),
        ):
            with self.assertRaises(Malformed):
                self.tree(wrong, root=(2, 0))

    def test_a_large_entry_is_alone(self):
        entries, _ = self.tree(self.leaf((b"a", b"x" * 100)), root=(1, 0))
        self.assertEqual(len(entries), 1)
        with self.assertRaises(Malformed):
            self.tree(self.leaf((b"", b"x" * 100), prefix=b"a"), root=(1, 0))

    def test_children_are_bounded_by_their_separators(self):
        low, high = self.leaf((b"a", b"")), self.leaf((b"m", b""), (b"z", b""))
        _, (first, second) = self.tree(high, low, root=(1, 0))[0], self.tree(low, high, root=(2, 0))[1]
        for separator, totals, holds in (
            (b"m", (1, 2), True), (b"b", (1, 2), True), (b"a", (1, 2), False), (b"n", (1, 2), False),
            (b"b", (2, 1), False), (b"b", (1, 1), False),
        ):  # fmt: skip
            page = self.inner([(totals[0], first), (totals[1], second)], [separator])
            if holds:
                self.assertEqual(len(self.tree(low, high, page, root=(3, 1))[0]), 3)
            else:
                with self.assertRaises(Malformed, msg=(separator, totals)):
                    self.tree(low, high, page, root=(3, 1))
        with self.assertRaises(Malformed):
            self.tree(low, high, self.inner([(1, first)], []), root=(1, 1))

    def test_an_empty_tree_has_no_page(self):
        self.assertEqual(Bytes(b"\0").root(), EMPTY)
        self.assertEqual(PageFiles(MemoryStore({}), "f", self.UUID).tree(EMPTY, 256), [])


class Directory(unittest.TestCase):
    """Directories of one hand-made leaf."""

    def state(self, entries):
        page = bytes([0]) + varint(len(entries)) + varint(0)
        for key, value in sorted(entries.items()):
            page += varint(len(key)) + varint(len(value)) + key + value
        body = struct.pack("<II", len(page), 0) + page
        files = {PAGES: page_file_header(1, forge.UUID) + struct.pack("<I", crc32c(body)) + body}
        slot = read_slot(kept()[STATE], 0)._replace(
            uuid=forge.UUID, total=len(entries), height=0, offset=64, root_length=len(body) + 4, checksum=crc32c(body)
        )
        return read_state(MemoryStore(files), FOLDER, slot)

    @staticmethod
    def key(kind, number):
        return kind + struct.pack(">I", number)

    def test_failures_tables_and_page_files_are_read(self):
        entries = {
            self.key(b"f", 0): varint(300) + b"a wrong ticket", self.key(b"n", 0): varint(1),
            self.key(b"p", 1): b"", self.key(b"t", 0): sized(b"ticket") + varint(0) + varint(0),
        }  # fmt: skip
        state = self.state(entries)
        self.assertEqual((state.failures, state.failure_count), ([(300, "a wrong ticket")], 1))
        self.assertEqual((state.tables, state.page_files), ([("ticket", {}, {})], [1]))
        wrong = [
            {self.key(b"n", 0): varint(2)}, {self.key(b"f", 1): varint(301)}, {self.key(b"t", 2): sized(b"u") + b"\0\0"},
            {self.key(b"t", 0): sized(b"ticket") + b"\0\0\0"}, {self.key(b"t", 0): sized(b"\xff") + b"\0\0"},
            {self.key(b"p", 2): b""}, {self.key(b"p", 1): b"\0"}, {self.key(b"x", 0): b""}, {b"t": b""}, {self.key(b"v", 0): b"\0"},
        ]  # fmt: skip
        for change in wrong:
            with self.assertRaises(Malformed, msg=change):
                self.state({**entries, **change})
        del entries[self.key(b"p", 1)]
        with self.assertRaises(Malformed):
            self.state(entries)

    def test_every_cut_of_a_view_is_noticed(self):
        files = kept()
        slot = max((read_slot(files[STATE], at) for at in (0, 4096)), key=lambda slot: slot.generation)
        pages = PageFiles(MemoryStore(files), "derived/state/" + FOLDER, slot.uuid)
        value = dict(pages.tree(root_of(slot), 4096))[self.key(b"v", 0)]
        for length in range(len(value)):
            with self.assertRaises(Malformed, msg=length):
                check_view(view_of(Bytes(value[:length]), pages))


class Folding(unittest.TestCase):
    """What a state of documents is compared with."""

    def fold(self, *events, records_touches=False):
        tables = Tables(records_touches)
        for sequence, (type, stream, value) in enumerate(events, 1):
            tables.add(
                Event(sequence, sequence, sequence, 7, None, None, 1, 1, stream, type, 1, b"", cbor(value), 0, 9)
            )
        return tables.tables

    def test_equal_documents_raise_a_revision_only_where_touches_are_recorded(self):
        events = [("$put", "t/a", {"x": 1}), ("$put", "t/a", {"x": 1}), ("$merge", "t/a", {"y": 2})]
        self.assertEqual(self.fold(*events[:2])["t"][0]["a"][:2], (1, 1))
        self.assertEqual(self.fold(*events[:2], records_touches=True)["t"][0]["a"][:2], (2, 1))
        self.assertEqual(self.fold(*events)["t"][0]["a"], (3, 1, 7, {"x": 1, "y": 2}))

    def test_what_is_no_object_removes_the_row_until_it_is_repaired(self):
        events = [("$put", "t/a", {}), ("$put", "t/a", 5), ("$merge", "t/a", {"y": 2}), ("other", "u/a", {})]
        self.assertEqual(self.fold(*events[:2])["t"], ({}, {"a": "the result of event 2 is not an object"}))
        self.assertEqual(self.fold(*events), {"t": ({"a": (3, 3, 7, {"y": 2})}, {})})
        self.assertEqual(self.fold(("$delete", "t/a", None)), {"t": ({}, {})})


if __name__ == "__main__":
    unittest.main()
