"""Tests of the reader of carriers and of REPLICA, with objects and files that are encoded here by FORMAT.md alone."""

import json
import os
import re
import struct
import sys
import tempfile
import unittest
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import strata_annotate as annotate  # noqa: E402
import strata_build as build  # noqa: E402
import strata_carrier as carrier  # noqa: E402
import strata_forge as forge  # noqa: E402
import strata_replica as replica  # noqa: E402
from strata_carrier_build import A, B, OTHER_STORE, STORE, Shipped, append, event, page, rows_in, rows_of  # noqa: E402
from strata_carrier_build import run_reader, write  # noqa: E402
from strata_codecs import Malformed, crc32c  # noqa: E402
from strata_payloads import Unsupported  # noqa: E402
from strata_recipes import incident  # noqa: E402
from strata_store import MemoryStore  # noqa: E402

# --- Objects --------------------------------------------------------------------------------------


def some():
    """Four objects: two of the member A, a takeover, and one of B."""
    shipped = Shipped()
    shipped.events(append(event(1), event(2), id=b"one"), append(event(3), second=1, given=build.BEGINNING))
    shipped.events(incident(1, second=1), incident(2, second=2), codec=build.LZ4)
    return shipped.takeover(B).events(append(event(4), second=2))


def read(files):
    """The lines of all objects, and the last line."""
    lines = []
    log = carrier.CarrierLog(carrier.MemoryCarrier(files), lambda found: lines.append(found.line())).run()
    return lines, log.line()["end"]


class Objects(unittest.TestCase):
    def refused(self, files, *case):
        """(class, name, what) of the object that is refused."""
        with self.assertRaises(carrier.Refused, msg=str(case)) as raised:
            read(files)
        error = raised.exception
        self.assertIn(error.name, str(error))
        return error.kind, error.name, error.what

    def expect(self, files, kind, number, what="", case=None):
        found = self.refused(files, case)
        self.assertEqual(found[:2], (kind, "log/%020d" % number), (case, found))
        self.assertIn(what, found[2])

    def test_what_was_put_is_read_back_with_its_end(self):
        shipped = some()
        lines, end = read(shipped.files)
        told = [tuple(line[key] for key in ("number", "kind", "writer", "first", "last", "appends")) for line in lines]
        a, b = str(uuid.UUID(bytes=A)), str(uuid.UUID(bytes=B))
        self.assertEqual(told, [
            (1, "events", a, 1, 3, 2), (2, "events", a, 4, 5, 2),
            (3, "takeover", b, 6, 5, 0), (4, "events", b, 6, 6, 1),
        ])  # fmt: skip
        self.assertEqual(lines[1]["chain"], lines[2]["chain"])
        self.assertEqual(end, {
            "segments": 0, "objects": 4, "next": 5, "store": str(uuid.UUID(bytes=STORE)), "writer": b,
            "sequence": 6, "appends": 5, "chain": "%016x" % shipped.chain,
        })  # fmt: skip

    def test_an_empty_carrier_has_an_end_before_all_events(self):
        none = {"segments": 0, "objects": 0, "next": 1, "store": None, "writer": None}
        none.update(sequence=0, appends=0, chain="0" * 16)
        self.assertEqual(read({}), ([], none))

    def test_the_fields_are_those_of_the_table(self):
        rows = rows_of("object header")
        fields = carrier.Header._fields
        self.assertEqual(len(rows), len(fields))
        self.assertEqual([row[:2] for row in rows], rows_in(carrier.OBJECT_FORM))
        self.assertEqual(carrier.OBJECT_FORM.size, carrier.HEADER_LENGTH)

    def test_the_small_object_of_the_page_is_the_second_block_of_its_store(self):
        part = page().split("### A small object", 1)[1].split("\n## ", 1)[0]
        header = bytes.fromhex("".join(re.findall(r"^    [0-9a-f]{2}  ((?:[0-9a-f]{2} ?){16})$", part, re.MULTILINE)))
        segment = annotate.files_of(page().split("\n"))["log/00000000000000000001.seg"]
        found = carrier.Object(header + segment[0x11E8 : 0x11E8 + 110], 2, header[40:56])
        self.assertEqual((found.header.first, found.last, found.header.appends_before), (2, 3, 1))
        self.assertEqual([event.type for event in found.events], ["opened", "note"])
        self.assertEqual(carrier.uuid_text(header[40:56]), "11223344-5566-7788-99aa-bbccddeeff00")
        self.assertEqual(found.header.writer, A)

    def test_every_changed_byte_is_noticed(self):
        shipped = some()
        for name, data in shipped.files.items():
            for at in range(len(data)):
                for bits in (0x01, 0x80, 0xFF):
                    changed = data[:at] + bytes([data[at] ^ bits]) + data[at + 1 :]
                    self.assertEqual(self.refused(dict(shipped.files, **{name: changed}), name, at, bits)[1], name)

    def test_a_changed_byte_of_what_1_0_does_not_know_is_noticed(self):
        files = Shipped().events(append(event(1)), length=160, reserved=0x5A5A5A5A, flags=0x10000).files
        (name, data), = files.items()
        self.assertEqual(read(files)[1]["sequence"], 1)
        for at in [*range(36, 40), *range(128, 160)]:
            changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
            self.expect({name: changed}, "corrupt", 1, "checksum")

    def test_a_shorter_or_longer_object_is_noticed(self):
        shipped = some()
        for name, data in shipped.files.items():
            for changed in [data[:length] for length in range(len(data))] + [data + b"\0", data + data]:
                self.assertEqual(self.refused(dict(shipped.files, **{name: changed}))[1], name)

    def test_a_moved_or_doubled_object_is_refused_by_its_number(self):
        files = some().files
        names = sorted(files)
        for one, other in [(0, 1), (1, 2), (2, 3), (0, 3)]:
            swapped = dict(files, **{names[one]: files[names[other]], names[other]: files[names[one]]})
            self.expect(swapped, "stale", one + 1, "has the number %d" % (other + 1))
        self.expect(dict(files, **{"log/%020d" % 5: files[names[3]]}), "stale", 5, "has the number 4")

    def test_a_missing_number_is_named(self):
        for number in (1, 2, 3):
            files = some().files
            del files["log/%020d" % number]
            self.expect(files, "missing", number, "log/%020d is there" % (number + 1))
        # Nothing says that there was a later one.
        files = some().files
        del files["log/%020d" % 4]
        self.assertEqual(read(files)[1]["sequence"], 5)

    def test_a_gap_between_events_is_refused_although_the_numbers_are_dense(self):
        shipped = Shipped().events(append(event(1)))
        shipped.sequence += 1
        self.expect(shipped.events(append(event(3), second=1)).files, "missing", 2, "begins at sequence 3")
        self.expect(Shipped().events(append(event(1)), first=2).files, "corrupt", 1)

    def test_another_stores_object_is_refused(self):
        files = some().events(append(event(5), second=3), uuid=OTHER_STORE).files
        self.expect(files, "misplaced", 5, str(uuid.UUID(bytes=OTHER_STORE)))

    def test_a_writer_that_has_not_taken_over_is_refused(self):
        self.expect(some().events(append(event(5), second=3), writer=A).files, "stale", 5, "has not taken over")
        self.expect(Shipped().takeover(A).events(append(event(1)), writer=B).files, "stale", 2)
        self.assertEqual(read(some().takeover(A).events(append(event(5), second=3)).files)[1]["sequence"], 7)

    def test_wrong_values_under_valid_checksums_are_refused(self):
        def last(**fields):
            return some().events(append(event(5), second=3), append(event(6), second=4), **fields).files

        self.assertEqual(read(last())[1]["appends"], 7)
        right = some()
        for fields, kind in [
            (dict(chain_before=1), "corrupt"),
            (dict(chain_after=1), "corrupt"),
            (dict(events=1), "corrupt"), (dict(events=3), "corrupt"), (dict(events=0), "corrupt"),
            (dict(appends=1), "corrupt"), (dict(appends=3), "corrupt"), (dict(appends=0), "corrupt"),
            (dict(first_time=build.BEGINNING), "corrupt"), (dict(last_time=build.BEGINNING), "corrupt"),
            (dict(appends_before=right.appends + 1), "diverged"), (dict(appends_before=0), "diverged"),
            (dict(appends_before=2**64 - 2), "corrupt"), (dict(first=2**64 - 2), "corrupt"), (dict(first=0), "corrupt"),
            (dict(first=2**64 - 3), "corrupt"),
            (dict(raw=1), "corrupt"), (dict(raw=(64 << 20) + 1, said=1), "corrupt"), (dict(stored=1), "corrupt"),
            (dict(payload_crc=0), "corrupt"), (dict(length=127), "corrupt"), (dict(length=4097), "corrupt"),
            (dict(magic=b"STRB"), "corrupt"), (dict(number=6), "stale"), (dict(said=1), "corrupt"),
            (dict(said=2), "unsupported"), (dict(kind=0), "unsupported"), (dict(kind=3), "unsupported"),
            (dict(kind=128), "unsupported"), (dict(flags=1), "unsupported"), (dict(flags=0x18000), "unsupported"),
        ]:  # fmt: skip
            self.expect(last(**fields), kind, 5, case=fields)

    def test_sequences_and_lengths_that_cannot_be_are_refused_in_an_object_that_agrees_with_itself(self):
        for sequence in (0, 2**64 - 1):
            shipped = some()
            shipped.sequence = sequence
            self.expect(shipped.events(append(event(5), second=3)).files, "corrupt", 5, "sequences")
        for fields, what in [(dict(codec=1, stored=1), "stored length"), (dict(said=1, raw=1 << 20), "raw length")]:
            self.expect(some().events(incident(3, second=3), **fields).files, "corrupt", 5, what)

    def test_another_chain_under_valid_checksums_is_refused(self):
        shipped = some()
        shipped.chain ^= 1
        self.expect(shipped.events(append(event(5), second=3)).files, "diverged", 5, "chain before")

    def test_a_time_that_goes_back_is_refused(self):
        self.expect(some().events(append(event(5), second=1)).files, "diverged", 5, "earlier")
        self.assertEqual(read(some().events(append(event(5), second=2)).files)[1]["sequence"], 7)

    def test_a_payload_that_is_no_events_payload_is_refused(self):
        for stored in (b"\x00", b"\xff" * 12, append(event(1)).encoded()[:-1], append(event(1)).encoded() + b"\x01"):
            files = Shipped().events(append(event(1)), stored_as=stored, raw=len(stored)).files
            self.expect(files, "corrupt", 1)
        unknown = append(event(1), flags=8).encoded()
        files = Shipped().events(append(event(1)), stored_as=unknown, raw=len(unknown)).files
        self.expect(files, "unsupported", 1, "append flags")

    def test_a_takeover_has_no_payload_and_changes_nothing(self):
        for fields, kind in [
            (dict(stored_as=b"\x00", said=1, raw=0), "corrupt"), (dict(stored_as=b"\x00", raw=1), "corrupt"),
            (dict(raw=5, said=1), "corrupt"), (dict(said=1), "corrupt"),
            (dict(events=1), "corrupt"), (dict(appends=1), "corrupt"),
            (dict(chain_after=1), "corrupt"), (dict(chain_before=1, chain_after=1), "diverged"),
            (dict(first_time=build.BEGINNING), "corrupt"), (dict(payload_crc=1), "corrupt"),
            (dict(first_time=build.BEGINNING * 2, last_time=build.BEGINNING * 2), "diverged"),
            (dict(first=8), "missing"), (dict(first=6), "diverged"), (dict(appends_before=4), "diverged"),
        ]:  # fmt: skip
            self.expect(some().takeover(A, **fields).files, kind, 5, case=fields)

    def test_an_object_may_overlap_with_what_is_there_if_it_has_the_same_events(self):
        appends = [append(event(n + 1), second=n) for n in range(6)]
        for begin in range(4):
            for end in range(begin + 1, 7):
                shipped = Shipped()
                for one in appends[:begin]:
                    shipped.events(one)
                back = (shipped.sequence, shipped.appends, shipped.chain)
                shipped.events(*appends[begin:4])
                shipped.sequence, shipped.appends, shipped.chain = back
                shipped.events(*appends[begin:end])
                self.assertEqual(read(shipped.files)[1]["sequence"], max(4, end))
        thrice = Shipped().events(*appends[:2])
        for begin, end in ((0, 4), (1, 5), (2, 3)):
            thrice.sequence, thrice.appends, thrice.chain = begin + 1, begin, 0
            for number, one in enumerate(appends[:begin], 1):
                thrice.chain = build.chain_through(one, number, thrice.chain)
            thrice.events(*appends[begin:end])
        self.assertEqual(read(thrice.files)[1]["sequence"], 5)
        other = Shipped().events(*appends[:3])
        other.sequence, other.appends, other.chain = 1, 0, 0
        changed = append(event(2, payload=b"other"), second=1)
        self.expect(other.events(appends[0], changed, *appends[2:]).files, "diverged", 2, "other events")
        inside = Shipped().events(append(event(1), event(2)))
        inside.sequence, inside.appends, inside.chain = 2, 0, 0
        self.expect(inside.events(append(event(2))).files, "diverged", 2, "no append ends")

    def test_other_names_mean_nothing(self):
        files = some().files
        other = {
            "unfinished-5-0123456789abcdef.tmp": b"", "log/5": b"", "log/%020d.tmp" % 5: b"", "log/" + "0" * 20: b"",
            "log/" + "9" * 20: b"", "log/%021d" % 5: b"", "members/x": b"",
        }  # fmt: skip
        self.assertEqual(read(dict(files, **other)), read(files))


class Replacements(unittest.TestCase):
    def count(self, before, after):
        return carrier.count_replaced(carrier.MemoryCarrier(before), carrier.MemoryCarrier(after))

    def shipped(self, second, codec=build.STORED, **fields):
        shipped = Shipped().events(append(event(1), event(2, payload=b"secret" * 9)), codec=codec)
        return shipped.events(append(second, second=1), **fields).files

    def test_erased_events_take_the_place_of_what_they_were(self):
        before = self.shipped(event(3, payload=b"secret"))
        after = self.shipped(event(3, payload=b"secret").erased())
        self.assertEqual(read(before)[1], read(after)[1])
        self.assertEqual((self.count(before, before), self.count(before, after)), (0, 1))
        self.assertEqual(self.count(before, self.shipped(event(3, payload=b"secret").erased(), codec=build.LZ4)), 2)

    def test_nothing_else_does(self):
        before = self.shipped(event(3, payload=b"secret"))
        gone = {"log/%020d" % 1: before["log/%020d" % 1]}
        erased = self.shipped(event(3, payload=b"secret").erased())
        longer = event(3, payload=b"secret").erased()
        longer.content = longer.content[:8] + build.varint(200)
        for one, other, kind in [
            (before, gone, "missing"),
            (before, self.shipped(event(3, payload=b"other")), "diverged"),
            (before, self.shipped(event(3, payload=b"secret"), writer=B), "diverged"),
            (before, self.shipped(longer), "diverged"),
            (erased, before, "diverged"),
        ]:
            with self.assertRaises(carrier.Refused) as raised:
                self.count(one, other)
            self.assertEqual((raised.exception.kind, raised.exception.name), (kind, "log/%020d" % 2))


# --- REPLICA --------------------------------------------------------------------------------------


def replica_file(role=1, carrier="file:/backup/désk", reason="", origin=bytes(16), **fields):
    texts = [carrier.encode("utf-8"), reason.encode("utf-8")]
    values = dict(
        magic=b"STRR", version=1, role=role, flags=0, crc=0, reserved_2=0, uuid=STORE, member=A, origin=origin,
        origin_sequence=0, origin_chain=0, erased=7, carrier_length=len(texts[0]), reason_length=len(texts[1]),
        reserved_3=0,
    )  # fmt: skip
    values.update(fields)
    data = struct.pack("<4sHBBII16s16s16sQQQIIQ", *values.values()) + b"".join(texts)
    return data[:8] + struct.pack("<I", crc32c(data)) + data[12:]


class ReplicaFiles(unittest.TestCase):
    def test_every_role_is_read_back(self):
        lines = [replica.replica_object(replica.read_replica(replica_file(role))) for role in (1, 2, 3, 4)]
        self.assertEqual([line["role"] for line in lines], ["writer", "follower", "fenced", "fork"])
        self.assertEqual(lines[0], {
            "schema": 1, "role": "writer", "store": str(uuid.UUID(bytes=STORE)), "member": str(uuid.UUID(bytes=A)),
            "origin": None, "erasedThrough": 7, "hasShipped": False, "isUnfinished": False,
            "carrier": "file:/backup/désk", "reason": "",
        })  # fmt: skip
        data = replica_file(4, "s3://b/c", "why", OTHER_STORE, origin_sequence=9, origin_chain=255)
        line = replica.replica_object(replica.read_replica(data))
        origin = {"store": str(uuid.UUID(bytes=OTHER_STORE)), "sequence": 9, "chain": "%016x" % 255}
        self.assertEqual(line["origin"], origin)
        for flags in range(4):
            told = replica.replica_object(replica.read_replica(replica_file(flags=flags)))
            self.assertEqual((told["hasShipped"], told["isUnfinished"]), (flags & 1 == 1, flags & 2 == 2))
        self.assertEqual((line["carrier"], line["reason"]), ("s3://b/c", "why"))

    def test_the_fields_are_those_of_the_table(self):
        rows = rows_of("REPLICA")
        self.assertEqual([row[:2] for row in rows[:-1]], rows_in(replica.REPLICA_FORM))
        self.assertEqual(rows[-1][:2], (replica.REPLICA_FORM.size, 0))

    def test_every_changed_byte_and_every_other_length_is_noticed(self):
        data = replica_file(3, reason="overtaken", flags=255, reserved_2=2, reserved_3=3)
        replica.read_replica(data)
        changed = [data[:length] for length in range(len(data))] + [data + b"\0"]
        for at in range(len(data)):
            changed += [data[:at] + bytes([data[at] ^ bits]) + data[at + 1 :] for bits in (1, 128, 255)]
        for other in changed:
            with self.assertRaises(Malformed):
                replica.read_replica(other)

    def test_wrong_values_under_a_valid_checksum_are_refused(self):
        for fields in [
            dict(magic=b"STRW"), dict(carrier_length=3), dict(reason_length=1), dict(carrier_length=2**32 - 1),
            dict(carrier="x" * 4097), dict(reason="x" * 4097), dict(carrier="é", carrier_length=1, reason_length=1),
        ]:  # fmt: skip
            with self.assertRaises(Malformed, msg=str(fields)):
                replica.read_replica(replica_file(**fields))
        for fields in [dict(version=0), dict(version=2), dict(role=0), dict(role=5)]:
            with self.assertRaises(Unsupported):
                replica.read_replica(replica_file(**fields))

    def test_the_file_is_of_the_store_that_it_is_in(self):
        files = forge.forge("plain").files
        self.assertIsNone(replica.replica_of(MemoryStore(files)))
        for without in ((), ("HEAD",)):
            store = {name: data for name, data in files.items() if name not in without}
            self.assertEqual(replica.replica_of(MemoryStore(dict(store, REPLICA=replica_file()))).head.role, 1)
            with self.assertRaises(Malformed):
                replica.replica_of(MemoryStore(dict(store, REPLICA=replica_file(uuid=OTHER_STORE))))


# --- The command line -----------------------------------------------------------------------------


class Commands(unittest.TestCase):
    def test_carriers(self):
        with tempfile.TemporaryDirectory() as folder:
            path = write(some().files, os.path.join(folder, "carrier"))
            status, lines, _ = run_reader("carrier", path)
            self.assertEqual((status, [line.get("number") for line in lines]), (0, [1, 2, 3, 4, None]))
            self.assertEqual(lines[-1]["end"]["sequence"], 6)
            self.assertEqual(run_reader("replaced", path, path)[:2], (0, [{"schema": 1, "replaced": 0}]))
            os.rename(os.path.join(path, "log/%020d" % 2), os.path.join(path, "log/%020d" % 9))
            for arguments in (["carrier", path], ["replaced", path, path]):
                status, lines, error = run_reader(*arguments)
                self.assertEqual(status, 65)
                self.assertEqual(json.loads(error)["error"]["where"], "log/%020d" % 2)
            self.assertEqual([line["number"] for line in run_reader("carrier", path)[1]], [1])
            os.mkdir(os.path.join(path, "log/%020d" % 2))
            self.assertIn("not a regular file", run_reader("carrier", path)[2])
            self.assertEqual(run_reader("carrier", os.path.join(folder, "nothing"))[0], 66)
            empty = write({}, os.path.join(folder, "empty"))
            self.assertEqual(run_reader("carrier", empty)[1][0]["end"]["objects"], 0)

    def test_replica(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "store")
            forge.write(forge.forge("plain"), path)
            self.assertEqual(run_reader("replica", path)[:2], (0, [{"schema": 1, "role": None}]))
            for data, status, what in [
                (replica_file(2), 0, ""), (replica_file(9), 65, "unsupported"), (b"STRR", 65, "corrupt"),
                (replica_file(uuid=OTHER_STORE), 65, "corrupt"),
            ]:  # fmt: skip
                with open(os.path.join(path, "REPLICA"), "wb") as file:
                    file.write(data)
                code, lines, error = run_reader("replica", path)
                self.assertEqual((code, [line["role"] for line in lines]), (status, [] if status else ["follower"]))
                self.assertIn(what, error)


if __name__ == "__main__":
    unittest.main()
