"""Tests of the reader of manifests, segments and notes in carriers, with files encoded here by FORMAT.md alone."""

import os
import re
import struct
import sys
import tempfile
import unittest
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import strata_build as build  # noqa: E402
import strata_carrier as carrier  # noqa: E402
import strata_carrier_files as files_of  # noqa: E402
import strata_carrier_members as members  # noqa: E402
import strata_carrier_segments as segments  # noqa: E402
from strata_carrier_build import (  # noqa: E402
    A, B, FOLLOWER, OTHER_STORE, STORE, Shipped, append, event, manifest, note, page, rows_in, rows_of, run_reader,
    with_segments, write,
)  # fmt: skip
from strata_codecs import xxh64  # noqa: E402

APPENDS = [
    append(event(1), event(2), id=b"one"), append(event(1, "unit/1"), second=1), append(event(3), second=1),
    append(event(2, "unit/1"), event(4), second=3), append(event(5), second=4), append(event(6), second=5),
    append(event(7), second=6),
]  # fmt: skip
# The last sequence of each append.
LASTS = [2, 3, 4, 6, 7, 8, 9]
ONE, TWO = "segments/%020d-%020d-00000007" % (1, 1), "segments/%020d-%020d-00000007" % (2, 4)


def segment(begin, stop, after=None, **fields):
    """A segment of some of the appends, which is like a rewritten one unless fields say something else."""
    fields = dict(dict(revision=1, epoch=3), **fields)
    new = build.Segment(after.sequence if after else 1, after, **fields)
    for one in APPENDS[begin:stop]:
        new.events(one, codec=build.LZ4 if one.events[0].revision > 1 else build.STORED, epoch=2)
    return new.footer(codec=build.LZ4, is_marked=True)


def two(stop=5, **fields):
    """(since, segment) of two segments that hold the appends before one."""
    one = segment(0, 2)
    return [(1, one), (2, segment(2, stop, one, **dict(dict(revision=2), **fields)))]


def shipped(*bounds, begin=0, writer=A):
    """A carrier in which each object has the appends from one bound to the next; its first is that of an append."""
    new = Shipped(writer)
    pass_over(new, begin)
    for start, end in zip((begin, *bounds), bounds):
        new.events(*APPENDS[start:end])
    return new


def pass_over(new, begin):
    """Goes on as if all appends before one were there."""
    new.sequence, new.appends, new.chain, new.time = 1, begin, 0, build.NO_TIME
    for one in APPENDS[:begin]:
        new.chain = build.chain_through(one, new.sequence, new.chain)
        new.sequence, new.time = new.sequence + len(one.events), one.time


def whole(objects=(2, 3, 6, 7), first_object=3, **options):
    """A carrier with two segments, the second manifest, and objects, of which the third overlaps with the segments."""
    return with_segments(shipped(*objects).files, two(), **dict(dict(number=2, first_object=first_object), **options))


def read(files):
    """The lines of all that counts, the last line, and what is left."""
    lines = []
    log = carrier.CarrierLog(carrier.MemoryCarrier(files), lambda found: lines.append(found.line())).run()
    return lines, log.line()["end"], [(line["left"], line["what"]) for line in log.left()]


def end_of(files):
    return {key: value for key, value in read(files)[1].items() if key not in ("segments", "objects", "next")}


def changed(data, at, bits=0xFF):
    return data[:at] + bytes([data[at] ^ bits]) + data[at + 1 :]


class Refusing(unittest.TestCase):
    def refused(self, files, *case):
        """(class, name, what) of the file that is refused."""
        with self.assertRaises(carrier.Refused, msg=str(case)) as raised:
            read(files)
        error = raised.exception
        return error.kind, error.name, error.what

    def expect(self, files, kind, name, what="", case=None):
        found = self.refused(files, case)
        self.assertEqual(found[:2], (kind, name), (case, found))
        self.assertIn(what, found[2], case)


# --- Manifests ------------------------------------------------------------------------------------


class Manifests(Refusing):
    NAME = "manifest/%020d" % 2

    def test_what_was_put_is_read_back_with_its_end(self):
        files = whole(erased_through=4)
        lines, end, left = read(files)
        a, b = (closed for _, closed in two())
        self.assertEqual(lines[0], {
            "schema": 1, "number": 2, "kind": "manifest", "writer": str(uuid.UUID(bytes=A)), "segments": 2,
            "firstObject": 3, "erasedThrough": 4,
        })  # fmt: skip
        self.assertEqual(lines[1], {
            "schema": 1, "since": 1, "kind": "segment", "first": 1, "last": 3, "appends": 2, "erased": 0,
            "chain": "%016x" % a.chain, "length": a.end, "revision": 1, "mark": "ef46db3751d8e999",
        })  # fmt: skip
        keys = ("since", "first", "last", "appends", "length", "revision")
        self.assertEqual([lines[2][key] for key in keys], [2, 4, 7, 3, b.end, 2])
        self.assertEqual([(line["number"], line["first"], line["last"]) for line in lines[3:]], [(3, 5, 8), (4, 9, 9)])
        self.assertEqual(end, {
            "segments": 2, "objects": 2, "next": 5, "store": str(uuid.UUID(bytes=STORE)),
            "writer": str(uuid.UUID(bytes=A)), "sequence": 9, "appends": 7, "chain": "%016x" % shipped(7).chain,
        })  # fmt: skip
        self.assertEqual([name for name, _ in left], ["log/%020d" % 1, "log/%020d" % 2])

    def test_the_end_is_that_of_the_objects_alone(self):
        wanted = end_of(shipped(2, 3, 6, 7).files)
        self.assertEqual(end_of(whole()), wanted)
        for bound in range(1, 7):
            self.assertEqual(end_of(whole((bound, 7), first_object=1)), wanted)

    def test_the_fields_are_those_of_the_tables(self):
        rows = rows_of("manifest")
        self.assertEqual([row[:2] for row in rows[:-1]], rows_in(segments.MANIFEST_FORM))
        self.assertEqual(rows[-1][:2], (segments.MANIFEST_FORM.size, 0))
        self.assertEqual(len(rows) - 1, len(segments.Head._fields))
        rows = rows_of("segment in a manifest")
        self.assertEqual([row[:2] for row in rows], rows_in(segments.ENTRY_FORM))
        self.assertEqual([row[2].split(":")[0].split(" ")[0] for row in rows][:3], ["since", "first", "last"])
        self.assertEqual(len(rows), len(segments.Entry._fields))
        self.assertIn("the segments, %d bytes each" % segments.ENTRY_FORM.size, page())
        self.assertIn("at most %d MiB |" % (segments.MANIFEST_LENGTH_MAX >> 20), page())

    def test_the_names_are_those_of_the_table(self):
        part = page().split("### A carrier in a folder", 1)[1]
        rows = re.findall(r"^\| `(\w+/)` \| `([A-Z-]+)` \|", part, re.MULTILINE)
        number, member = "0" * 19 + "7", str(uuid.UUID(bytes=A))
        values = {"NUMBER": number, "SINCE": number, "FIRST": "0" * 19 + "9", "MEMBER": member, "TOKEN": "0000000b"}
        names = [folder + re.sub("[A-Z]+", lambda word: values[word.group()], form) for folder, form in rows]
        made = [files_of.object_name(7), files_of.manifest_name(7), files_of.segment_name(7, 9, 11), "members/" + member]
        self.assertEqual(names, made)

    def test_every_changed_byte_and_every_other_length_is_noticed(self):
        files = whole(reserved=1, reserved_2=2)
        self.assertEqual(end_of(files), end_of(whole()))
        data = files[self.NAME]
        others = [data[:length] for length in range(len(data))] + [data + b"\0", data + bytes(56), data + data]
        others += [changed(data, at, bits) for at in range(len(data)) for bits in (0x01, 0x80, 0xFF)]
        for other in others:
            self.expect(dict(files, **{self.NAME: other}), "corrupt", self.NAME)

    def test_wrong_values_under_a_valid_checksum_are_refused(self):
        for fields, kind, what in [
            (dict(magic=b"STRW"), "corrupt", "magic"), (dict(version=0), "unsupported", "version"),
            (dict(version=2), "unsupported", "version"), (dict(count=0), "corrupt", "count"),
            (dict(count=1), "corrupt", "count"), (dict(count=3), "corrupt", "count"),
            (dict(count=2**32 - 1), "corrupt", "count"), (dict(first_object=0), "corrupt", "first object"),
        ]:  # fmt: skip
            self.expect(whole(**fields), kind, self.NAME, what, fields)
        files = whole()
        files[self.NAME] = manifest([], number=2)
        self.expect(files, "corrupt", self.NAME, "count")
        files[self.NAME] = manifest(two(), number=3)
        self.expect(files, "stale", self.NAME, "number 3")

    def test_entries_that_cannot_be_are_refused(self):
        for at, fields in [
            (0, dict(since=0)), (0, dict(since=3)), (1, dict(since=2**64 - 1)), (0, dict(first=0)), (0, dict(first=2)),
            (0, dict(last=2)), (0, dict(last=0)), (0, dict(last=4)), (1, dict(first=3)), (1, dict(first=5)),
            (1, dict(last=3)), (1, dict(last=2**64 - 1)), (0, dict(length=4096)), (1, dict(length=0)),
            (0, dict(revision=0)),
        ]:  # fmt: skip
            files = whole(edit=lambda entries: entries[at].update(fields))
            self.expect(files, "corrupt", self.NAME, case=(at, fields))
        self.expect(whole(edit=lambda entries: entries.reverse()), "corrupt", self.NAME)
        self.expect(whole(edit=lambda entries: entries.pop(0), count=1), "corrupt", self.NAME)

    def test_the_largest_number_counts(self):
        files = whole()
        files["manifest/%020d" % 3] = b""
        self.expect(files, "corrupt", "manifest/%020d" % 3)
        one, other = two(4)
        files = with_segments(whole(), [one, (3, other[1])], number=3, first_object=2)
        lines, end, left = read(files)
        self.assertEqual((lines[0]["number"], lines[2]["last"], end["objects"]), (3, 6, 3))
        self.assertEqual(left, [
            (TWO, "a segment not named"), ("log/%020d" % 1, "an object before the first that counts"),
        ])  # fmt: skip

    def test_an_earlier_manifest_that_is_not_empty_is_left_over(self):
        files = dict(whole(), **{"manifest/%020d" % 1: manifest(two()[:1])})
        self.assertEqual(read(files)[:2], read(whole())[:2])
        self.assertEqual(read(files)[2][0], ("manifest/%020d" % 1, "an earlier manifest that is not empty"))
        files["manifest/%020d" % 1] = b"anything"
        self.assertEqual(read(files)[:2], read(whole())[:2])

    def test_a_name_that_is_gone_is_missing(self):
        files = whole()
        del files["manifest/%020d" % 1]
        self.expect(files, "missing", "manifest/%020d" % 1, "%020d is there" % 2)

    def test_segments_without_a_manifest_are_for_a_later_one(self):
        files = shipped(2, 3, 6, 7).files
        one = {ONE: two()[0][1].bytes()}
        self.assertEqual(read(dict(files, **one)), read(files)[:2] + ([(ONE, "a segment for a later manifest")],))

    def test_other_names_mean_nothing(self):
        other = {
            "manifest/3": b"", "manifest/" + "0" * 20: b"", "manifest/" + "9" * 20: b"", "manifest/%020d.tmp" % 3: b"",
            "manifest/%021d" % 3: b"", "segments/1-1": b"", "segments/%020d" % 1: b"", ONE + ".tmp": b"", "x": b"",
            "unfinished-large-0123456789abcdef.tmp": b"", "members/x": b"", "segments/x-%020d" % 1: b"",
        }  # fmt: skip
        self.assertEqual(read(dict(whole(), **other)), read(whole()))


# --- Segments -------------------------------------------------------------------------------------


class Segments(Refusing):
    def test_every_changed_byte_is_noticed(self):
        files = whole()
        for name in (ONE, TWO):
            data = files[name]
            # One checksum covers the whole header, so some of its reserved bytes are enough.
            for at in [*range(168), *range(168, 4092, 67), *range(4092, len(data))]:
                self.assertEqual(self.refused(dict(files, **{name: changed(data, at)}), name, at)[1], name)

    def test_a_shorter_or_longer_segment_is_noticed(self):
        files = whole()
        for name in (ONE, TWO):
            data = files[name]
            lengths = [0, 1, 4095, *range(4096, len(data), 8)]
            others = [data[:length] for length in lengths] + [data + bytes(n) for n in (1, 8, 4096)] + [data + data]
            for other in others:
                self.assertEqual(self.refused(dict(files, **{name: other}), name, len(other))[1], name)

    def test_a_missing_segment_is_named(self):
        for name in (ONE, TWO):
            files = whole()
            del files[name]
            self.expect(files, "missing", name, "manifest/%020d" % 2)
            files[name.replace("%020d-" % int(name[9:29]), "%020d-" % 3)] = b""
            self.expect(files, "missing", name)

    def test_another_segment_under_the_name_is_refused(self):
        files = whole()
        swapped = dict(files, **{ONE: files[TWO], TWO: files[ONE]})
        self.expect(swapped, "misplaced", ONE)
        foreign = segment(0, 2, uuid=OTHER_STORE)
        self.expect(dict(files, **{ONE: foreign.bytes()}), "misplaced", ONE)
        with_foreign = with_segments(shipped(7).files, [(1, foreign)], uuid=OTHER_STORE)
        self.expect(with_foreign, "misplaced", "log/%020d" % 1)

    def test_what_the_header_says_is_what_the_manifest_says(self):
        for name, fields in [
            (ONE, dict(revision=2)), (TWO, dict(revision=1)), (ONE, dict(chain=1)), (TWO, dict(chain=2)),
            (TWO, dict(last=8)), (TWO, dict(length=5000)), (ONE, dict(mark=0)), (TWO, dict(mark=7)),
        ]:  # fmt: skip
            field, = fields
            at = (ONE, TWO).index(name)
            files = whole(edit=lambda entries: entries[at].update(fields))
            self.expect(files, "stale", name, "says %s " % field, fields)
        first_written = segment(0, 2, revision=0)
        self.expect(dict(whole(), **{ONE: first_written.bytes()}), "stale", ONE, "revision 0")

    def test_wrong_values_on_which_both_agree_are_refused(self):
        def agreed(**fields):
            """The second segment with another value in its header and in the manifest."""
            names = {"end": "length"}
            said = {names.get(name, name): value for name, value in fields.items()}
            return with_segments(
                shipped(2, 3, 6, 7).files, two(**fields), number=2, first_object=3,
                edit=lambda entries: entries[1].update(said),
            )  # fmt: skip

        end = two()[1][1].end
        self.expect(agreed(chain=1), "stale", TWO)
        self.expect(agreed(last=6), "stale", TWO)
        self.expect(agreed(last=8), "missing", TWO)
        self.expect(agreed(end=end - 8), "stale", TWO)
        self.expect(agreed(end=end + 8), "missing", TWO)
        self.expect(agreed(mark=1), "stale", TWO)
        # Not compared: it was rewritten before there were marks.
        self.assertEqual(read(agreed(mark=0))[1], read(whole())[1])

    def test_a_segment_names_the_one_before_it(self):
        for fields, kind, name in [
            (dict(previous_first=2), "missing", TWO), (dict(previous_first=0), "corrupt", TWO),
            (dict(previous_last=4), "corrupt", TWO), (dict(previous_chain=1), "stale", ONE),
            (dict(previous_time=build.BEGINNING), "stale", ONE), (dict(appends=3), "stale", ONE),
            (dict(incompatible=1), "unsupported", TWO),
            (dict(major=2), "unsupported", TWO), (dict(algorithm=2), "unsupported", TWO),
        ]:  # fmt: skip
            files = with_segments(shipped(2, 3, 6, 7).files, two(**fields), number=2, first_object=3)
            self.expect(files, kind, name, "not listed" if kind == "missing" else "", fields)
        for fields in [dict(previous_first=1), dict(previous_chain=1), dict(previous_time=0), dict(appends=1)]:
            files = with_segments(shipped(7).files, [(1, segment(0, 2, **fields))])
            self.expect(files, "stale", ONE, "before the first sequence", fields)

    def test_a_segment_has_a_footer_and_whole_blocks(self):
        bare = build.Segment(revision=1).events(*APPENDS[:2])
        bare.fields.update(footer=4096, last=3, chain=bare.chain, end=bare.end, mark=xxh64(b""))
        self.expect(with_segments(shipped(7).files, [(1, bare)]), "corrupt", ONE)
        for fields, kind in [
            (dict(chain_after=1), "corrupt"), (dict(flags=1), "unsupported"), (dict(synced=0), "stale"),
        ]:  # fmt: skip
            wrong = build.Segment(revision=1).events(*APPENDS[:2], **fields).footer(is_marked=True)
            self.expect(with_segments(shipped(7).files, [(1, wrong)]), kind, ONE, case=fields)

    def test_times_do_not_go_back_to_the_objects(self):
        late = Shipped()
        pass_over(late, 5)
        self.expect(with_segments(late.events(append(event(6), second=3)).files, two(), number=2), "diverged",
                    "log/%020d" % 1, "earlier")  # fmt: skip


# --- Objects after segments -----------------------------------------------------------------------


class Removed(Refusing):
    def test_the_first_object_may_overlap_with_the_segments(self):
        wanted = [end_of(shipped(end).files) for end in range(1, 8)]
        for last in range(3, 6):
            for begin in range(last + 1):
                for end in range(begin + 1, 8):
                    files = with_segments(shipped(end, begin=begin).files, two(last), number=2)
                    self.assertEqual(end_of(files), wanted[max(last, end) - 1], (last, begin, end))
        for begin in (6, 7):
            new = shipped(begin=begin)
            new.events(append(event(9), second=9))
            self.expect(with_segments(new.files, two(), number=2), "missing", "log/%020d" % 1, "begins at sequence")

    def test_an_object_that_has_something_else_than_the_segments_is_refused(self):
        other = Shipped()
        pass_over(other, 3)
        other.events(append(event(2, "unit/1"), event(4, payload=b"other"), second=3), *APPENDS[4:6])
        self.expect(with_segments(other.files, two(), number=2), "diverged", "log/%020d" % 1, "other events")
        inside = Shipped()
        pass_over(inside, 3)
        inside.sequence += 1
        self.expect(with_segments(inside.events(append(event(4), second=3)).files, two(), number=2), "diverged",
                    "log/%020d" % 1, "no append ends")  # fmt: skip
        for fields in [dict(chain=1), dict(appends=4), dict(appends=6)]:
            wrong = Shipped()
            pass_over(wrong, 5)
            for name, value in fields.items():
                setattr(wrong, name, value)
            files = with_segments(wrong.events(*APPENDS[5:]).files, two(), number=2)
            self.expect(files, "diverged", "log/%020d" % 1, case=fields)

    def test_objects_before_the_first_may_be_there_or_not_and_mean_nothing(self):
        wanted = read(whole())[:2]
        foreign = Shipped(B).events(append(event(1, payload=b"of a writer that slept"))).files["log/%020d" % 1]
        for first in (b"", b"STRW", foreign, None):
            for second in (b"\0" * 500, foreign, None):
                files = whole()
                for number, data in ((1, first), (2, second)):
                    files["log/%020d" % number] = data
                files = {name: data for name, data in files.items() if data is not None}
                found = read(files)
                self.assertEqual(found[:2], wanted)
                what = "an object before the first that counts"
                left = [("log/%020d" % number, what) for number, data in ((1, first), (2, second)) if data is not None]
                self.assertEqual(found[2], left)

    def test_a_missing_object_is_named_if_it_counts(self):
        files = whole((2, 3, 6, 7), first_object=2)
        del files["log/%020d" % 1]
        self.assertEqual(read(files)[1]["objects"], 3)
        for number in (2, 3):
            less = dict(files)
            del less["log/%020d" % number]
            self.expect(less, "missing", "log/%020d" % number, "log/%020d is there" % (number + 1))
        del files["log/%020d" % 4]
        self.assertEqual((read(files)[1]["sequence"], read(files)[1]["next"]), (8, 4))

    def test_the_first_object_is_there(self):
        for objects in ({}, shipped(2, 3, 5).files):
            files = with_segments(objects, two(), number=2, first_object=4)
            self.expect(files, "missing", "log/%020d" % 4, "manifest/%020d" % 2)
        files = with_segments(shipped(2, 3, 4, 5).files, two(), number=2, first_object=4)
        self.assertEqual([read(files)[1][key] for key in ("objects", "next", "sequence")], [1, 5, 7])

    def test_a_takeover_may_be_the_first_object(self):
        def taken(begin=5, **fields):
            new = shipped(begin=begin, writer=A)
            new.number = 4
            new.takeover(B, **fields).events(*APPENDS[begin:])
            return with_segments(new.files, two(), number=2, first_object=4)

        for begin in (2, 4, 5):
            end = read(taken(begin))[1]
            self.assertEqual((end["writer"], end["sequence"], end["objects"]), (str(uuid.UUID(bytes=B)), 9, 2))
        time = dict(first_time=build.BEGINNING * 2, last_time=build.BEGINNING * 2)
        self.expect(taken(**time), "diverged", "log/%020d" % 4, "another time")

    def test_another_writer_takes_over_after_the_first_object(self):
        new = shipped(6, begin=5)
        files = with_segments(new.events(APPENDS[6], writer=B).files, two(), number=2, writer=B)
        self.expect(files, "stale", "log/%020d" % 2, "has not taken over")

    def test_replaced_objects_are_those_that_count_now(self):
        def count(before, now):
            return carrier.count_replaced(carrier.MemoryCarrier(before), carrier.MemoryCarrier(now))

        all_of_them, later = shipped(2, 3, 6, 7).files, whole()
        self.assertEqual((count(all_of_them, later), count(later, later)), (0, 0))
        gone = {name: data for name, data in later.items() if not name.startswith("log/%019d" % 0)}
        gone.update((name, later[name]) for name in ("log/%020d" % 3, "log/%020d" % 4))
        self.assertEqual(count(later, gone), 0)
        for before, now, kind, name in [
            (later, all_of_them, "missing", "manifest/%020d" % 2),
            (whole(first_object=4), later, "diverged", "manifest/%020d" % 2),
            (whole(first_object=1), {name: later[name] for name in later if name != "log/%020d" % 3}, "missing",
             "log/%020d" % 3),
        ]:  # fmt: skip
            with self.assertRaises(carrier.Refused) as raised:
                count(before, now)
            self.assertEqual((raised.exception.kind, raised.exception.name), (kind, name))


class Erased(Refusing):
    """Orders that a manifest calls carried out."""

    def order(self, streams=(), ranges=()):
        said = {"streams": list(streams), "sequences": [list(one) for one in ranges], "reason": "asked for"}
        return append(build.Event("$erasures", 1, "$erase", build.cbor(said)), second=9)

    def files(self, order, erased, in_segment=False, **options):
        """A carrier with one segment of three events, of which some are erased, and an order."""
        events = [event(1), event(1, "unit/1"), event(2)]
        for number in erased:
            events[number - 1].erased()
        closed = build.Segment(revision=2)
        for number, one in enumerate(events):
            closed.events(append(one, second=number))
        new = Shipped()
        for number, one in enumerate([event(1), event(1, "unit/1"), event(2)]):
            new.chain = build.chain_through(append(one, second=number), number + 1, new.chain)
        new.sequence, new.appends, new.time = 4, 3, build.BEGINNING + 2 * build.SECOND
        if in_segment:
            closed.events(order)
        new.events(order)
        return with_segments(new.files, [(1, closed.footer(is_marked=True))], **options)

    def test_what_is_erased_is_counted_and_marked(self):
        lines = read(self.files(self.order(["ticket/1"]), [1, 3], erased_through=4))[0]
        mark = xxh64(struct.pack("<QQ", xxh64(struct.pack("<QQ", xxh64(b""), 1)), 3))
        self.assertEqual((lines[1]["erased"], lines[1]["mark"]), (2, "%016x" % mark))

    def test_what_only_looks_like_an_order_is_none(self):
        said = build.cbor({"streams": ["ticket/1"], "sequences": [], "reason": ""})
        nothing = build.cbor({"streams": 1, "sequences": []})
        for one in [
            build.Event("$erasures", 1, "$erasing", said), build.Event("a", 1, "$erase", said),
            build.Event("$erasures", 1, "$erase", b"\xff"), build.Event("$erasures", 1, "$erase", nothing),
            build.Event("$erasures", 1, "$erase", said).erased(),
        ]:  # fmt: skip
            files = self.files(append(one, second=9), [], erased_through=9)
            self.assertEqual(read(files)[1]["sequence"], 4)

    def test_an_order_may_be_there_before_any_manifest_is(self):
        self.assertEqual(read(Shipped().events(self.order(["ticket/1"])).files)[1]["sequence"], 1)

    def test_an_order_that_is_not_carried_out_is_named(self):
        for streams, ranges, needed in [
            (["ticket/1"], [], [1, 3]), (["unit/1"], [], [2]), ([], [[2, 3]], [2, 3]), ([], [], []),
            (["unit/1"], [[1, 9]], [1, 2, 3]), (["$erasures", "other"], [[4, 9]], []),
        ]:  # fmt: skip
            for in_segment in (False, True):
                order = self.order(streams, ranges)
                for left_out in needed:
                    files = self.files(order, [n for n in needed if n != left_out], in_segment, erased_through=4)
                    self.expect(files, "stale", "manifest/%020d" % 1, "the order at 4", (streams, ranges))
                    files = self.files(order, [], in_segment, erased_through=3)
                    self.assertEqual(read(files)[1]["sequence"], 4)
                files = self.files(order, needed, in_segment, erased_through=2**64 - 1)
                self.assertEqual(read(files)[1]["sequence"], 4)


# --- Notes of members -----------------------------------------------------------------------------


def name_of(member):
    return "members/" + str(uuid.UUID(bytes=member))


def listed(files):
    return list(members.members_of(carrier.CarrierLog(carrier.MemoryCarrier(files)).run()))


class Members(unittest.TestCase):
    def differs(self, data, files=None, member=A):
        line, = listed(dict(whole() if files is None else files, **{name_of(member): data}))
        return line["differs"]

    def chain(self, end):
        return shipped(end).chain

    def test_notes_are_read_back(self):
        files = dict(whole(), **{
            name_of(B): note(FOLLOWER, B, 3, self.chain(2), erased_through=2, time=build.BEGINNING),
            name_of(A): note(sequence=9, chain=self.chain(7), reserved=1, reserved_2=2, erased_through=9),
        })  # fmt: skip
        one, other = listed(files)
        self.assertEqual(other, {
            "schema": 1, "member": str(uuid.UUID(bytes=B)), "part": "follower", "sequence": 3,
            "chain": "%016x" % self.chain(2), "erasedThrough": 2, "time": "2023-11-14T22:13:20.000000000Z",
            "differs": None,
        })  # fmt: skip
        self.assertEqual((one["member"], one["part"], one["differs"]), (str(uuid.UUID(bytes=A)), "writer", None))
        self.assertEqual(read(files), read(whole()))

    def test_the_fields_are_those_of_the_table(self):
        rows = rows_of("note of a member")
        self.assertEqual([row[:2] for row in rows], rows_in(members.NOTE_FORM))
        self.assertEqual(len(rows), len(members.Note._fields))
        self.assertIn("A note has %d bytes." % members.NOTE_FORM.size, page())

    def test_every_changed_byte_and_every_other_length_is_noticed(self):
        data, files = note(sequence=9, chain=self.chain(7)), whole()
        log = carrier.CarrierLog(carrier.MemoryCarrier(files)).run()
        others = [data[:length] for length in range(len(data))] + [data + b"\0", data + data]
        others += [changed(data, at, bits) for at in range(len(data)) for bits in (0x01, 0x80, 0xFF)]
        for other in others:
            files[name_of(A)] = other
            line, = members.members_of(log)
            self.assertRegex(line["differs"], "^corrupt: ")
            self.assertEqual((line["member"], line["part"]), (str(uuid.UUID(bytes=A)), None))

    def test_wrong_values_under_a_valid_checksum_are_refused(self):
        for fields, kind in [
            (dict(magic=b"STRR"), "corrupt"), (dict(version=0), "unsupported"), (dict(version=2), "unsupported"),
            (dict(part=0), "unsupported"), (dict(part=3), "unsupported"), (dict(uuid=OTHER_STORE), "misplaced"),
            (dict(member=B), "misplaced"),
        ]:  # fmt: skip
            self.assertRegex(self.differs(note(**fields)), "^%s: " % kind, fields)
        # Nothing says which store it is.
        self.assertIsNone(self.differs(note(uuid=OTHER_STORE), {}))

    def test_a_note_says_what_the_carrier_has(self):
        for part in (1, 2):
            self.assertIsNone(self.differs(note(part)))
            for end in range(1, 8):
                right = dict(sequence=LASTS[end - 1], chain=self.chain(end))
                self.assertIsNone(self.differs(note(part, **right)))
                self.assertIn("not the chain", self.differs(note(part, **dict(right, chain=1))))
            self.assertIn("not the chain", self.differs(note(part, chain=1)))
            self.assertIn("no append ends", self.differs(note(part, sequence=5)))
        # The writer has what it has not put yet, a follower has not.
        self.assertIsNone(self.differs(note(1, sequence=10, chain=1)))
        self.assertIn("not there", self.differs(note(2, sequence=10, chain=1)))

    def test_other_names_mean_nothing(self):
        text = str(uuid.UUID(bytes=A))
        for name in (text.upper(), text.replace("-", ""), text + ".tmp", "x", "{%s}" % text, "unfinished-%s" % text):
            self.assertEqual(listed({"members/" + name: b""}), [], name)


# --- The command line -----------------------------------------------------------------------------


class Commands(unittest.TestCase):
    def test_carriers_with_segments(self):
        with tempfile.TemporaryDirectory() as folder:
            path = write(whole(), os.path.join(folder, "carrier"))
            status, lines, _ = run_reader("carrier", path)
            kinds = [line.get("kind", "end" if "end" in line else line.get("left")) for line in lines]
            objects = ["events"] * 2
            self.assertEqual((status, kinds), (0, [
                "manifest", "segment", "segment", *objects, "end", "log/%020d" % 1, "log/%020d" % 2,
            ]))  # fmt: skip
            keys = ("segments", "objects", "next", "sequence")
            self.assertEqual([lines[5]["end"][key] for key in keys], [2, 2, 5, 9])
            self.assertEqual(run_reader("replaced", path, path)[:2], (0, [{"schema": 1, "replaced": 0}]))
            os.remove(os.path.join(path, TWO))
            status, lines, error = run_reader("carrier", path)
            self.assertEqual((status, len(lines)), (65, 1))
            self.assertIn(TWO, error)
            os.mkdir(os.path.join(path, TWO))
            self.assertIn("not a regular file", run_reader("carrier", path)[2])

    def test_members(self):
        with tempfile.TemporaryDirectory() as folder:
            path = write(dict(whole(), **{name_of(A): note()}), os.path.join(folder, "carrier"))
            status, lines, _ = run_reader("members", path)
            self.assertEqual((status, [line["part"] for line in lines]), (0, ["writer"]))
            with open(os.path.join(path, name_of(B)), "wb") as file:
                file.write(note())
            status, lines, _ = run_reader("members", path)
            self.assertEqual((status, [line["part"] for line in lines]), (65, ["writer", None]))
            self.assertIn("misplaced", lines[1]["differs"])
            os.remove(os.path.join(path, "log/%020d" % 3))
            status, lines, error = run_reader("members", path)
            self.assertEqual((status, lines), (65, []))
            self.assertIn("log/%020d" % 3, error)
            self.assertEqual(run_reader("members", os.path.join(folder, "nothing"))[0], 66)


if __name__ == "__main__":
    unittest.main()
