"""Tests of the oracle: codecs with published vectors, the reader with forged and damaged stores.

    python3 -m unittest discover -s Tests/Oracle

ORACLE_SEED repeats a random run.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import strata_annotate as annotate  # noqa: E402
import strata_codecs as codecs  # noqa: E402
import strata_forge as forge  # noqa: E402
from strata_check import read_events, verify  # noqa: E402
from strata_index import fingerprint, meaning, passes, ranges_kept, read_index  # noqa: E402
from strata_json import as_line, event_object, time_text, verify_object  # noqa: E402
from strata_store import FolderStore, MemoryStore, segment_path, segments_of  # noqa: E402

SEED = int(os.environ.get("ORACLE_SEED", "20240229"))


def judged(files):
    """(classes of the findings, what a reader delivers) of a store in memory."""
    store = MemoryStore(files)
    events, _ = read_events(store)
    return [finding.kind for finding in verify(store).findings], events


def small_store():
    """A store of two small segments; HEAD's older slot lags by one group."""
    closed = forge.Segment().events(forge.incident(1, id=b"one"))
    active = closed.next().events(forge.incident(2, second=1), codec=forge.LZ4).events(forge.incident(3, second=2))
    return forge.store([closed, active], forge.head(forge.slot(active, 1, 1), forge.slot(active, 2)))


class Indexes(unittest.TestCase):
    """The small index of IndexFormat.md, read by the rules of the page."""

    def example(self):
        page = os.path.join(HERE, "..", "..", "Sources/StrataLog/StrataLog.docc/IndexFormat.md")
        with open(page, encoding="utf-8") as file:
            part = file.read().split("### A small index", 1)[1]
        rows = re.findall(r"^    ([0-9a-f]{3})   ((?:[0-9a-f]{2} ?){1,16})$", part, re.MULTILINE)
        self.assertEqual([int(row[0], 16) for row in rows], list(range(0, 368, 16)))
        return bytes.fromhex("".join(row[1] for row in rows))

    def test_the_example_holds_what_the_page_says(self):
        index = read_index(self.example())
        streams, names = meaning(index)
        self.assertEqual(streams, {b"notes": (0, [1003]), b"incident/1": (7, [1001, 1130]), b"incident/2": (0, [1002])})
        category, kind = (3, [(1001, 1002), (1130, 1130)]), (4, [(1001, 1003), (1130, 1130)])
        self.assertEqual(names, {(b"c", b"incident"): category, (b"t", b"$put"): kind})
        trailer = index.trailer
        self.assertEqual((trailer.uuid, trailer.first, trailer.last), (bytes(range(16)), 1001, 2000))
        self.assertEqual((trailer.chain, trailer.chunks), (0xFEEDFACECAFEBEEF, 2))
        ids = [fingerprint(b"import:1", 1001, trailer), fingerprint(b"import:2", 1003, trailer)]
        self.assertEqual(index.ids, sorted(ids))

    def test_a_changed_bit_anywhere_is_noticed(self):
        whole = self.example()
        for at in range(len(whole)):
            damaged = bytearray(whole)
            damaged[at] ^= 1 << at % 8
            with self.assertRaises(codecs.Malformed, msg="byte %d" % at):
                read_index(bytes(damaged))

    def test_the_filter_refuses_most_keys_that_are_not_there(self):
        data = self.example()
        bloom = data[0x55 : 0x55 + 64]
        passed = sum(passes(bloom, b"absent/%d" % number) for number in range(1000))
        self.assertLess(passed, 30)

    def test_values_are_of_streams_and_of_names_by_their_first_byte(self):
        index = read_index(self.example())
        entries = [(b"ca", b"\x01\x00\x00\x00\x00"), (b"sa/1", b"\x0e\x00\x03"), (b"sa/2", b"\x05\x07\x00\x80\x01")]
        streams, names = meaning(index._replace(entries=entries))
        self.assertEqual(streams, {b"a/1": (0, [1001, 1002, 1003, 1004]), b"a/2": (7, [1001, 1130])})
        self.assertEqual(names, {(b"c", b"a"): (2, [(1001, 1001), (1003, 1003)])})
        wrong = [
            (b"x", b"\x00\x00"),
            (b"ba/1", b"\x00\x00"),
            (b"sa", b"\x00\x00"),
            (b"sa/1", b""),
            (b"sa/1", b"\x04\x00"),
            (b"sa/1", b"\x01\x00\x00"),
            (b"sa/1", b"\x0e\x00\x02"),
            (b"sa/1", b"\x02\x00\x00"),
            (b"sa/1", b"\x00\x87\x08"),
            (b"ta", b"\x00"),
            (b"ta", b"\x00\x00"),
            (b"ta", b"\x00\x00\x87\x08"),
        ]
        for entry in wrong:
            with self.assertRaises(codecs.Malformed, msg=entry):
                meaning(index._replace(entries=[entry]))

    def test_the_ranges_of_a_name_are_as_few_as_the_page_says(self):
        self.assertEqual(ranges_kept([1, 2, 3, 70]), [(1, 3), (70, 70)])
        sparse = [1 + 100 * number for number in range(256)]
        self.assertEqual(len(ranges_kept(sparse)), 256)
        self.assertEqual(ranges_kept(sparse + [sparse[-1] + 100]), [(1, 25601)])
        self.assertEqual(len(ranges_kept([1 + 40 * number for number in range(300)])), 1)


class WithoutHead(unittest.TestCase):
    """Missing segments that cannot be detected without HEAD, as the page describes."""

    def three(self, keeps_head):
        one = forge.Segment().events(forge.incident(1, id=b"one"))
        two = one.next().events(forge.incident(2, second=1))
        three = two.next().events(forge.incident(3, second=2))
        return forge.store([one, two, three], None if keeps_head else b"").files

    def test_segments_that_are_missing_at_either_end_are_seen_only_with_head(self):
        for keeps_head in (True, False):
            files = self.three(keeps_head)
            paths = sorted(path for path in files if path.startswith("log/"))
            for missing in (paths[2:], paths[1:], paths[:1]):
                rest = {path: data for path, data in files.items() if path not in missing}
                kinds, events = judged(rest)
                self.assertEqual(kinds, ["missing"] if keeps_head else [], (keeps_head, missing))
            kinds, _ = judged({path: data for path, data in files.items() if path != paths[1]})
            self.assertEqual(kinds, ["missing"], "one in the middle is always detected")


class ChecksumsAndVarints(unittest.TestCase):
    def test_crc32c_gives_the_published_values(self):
        # RFC 3720, appendix B.4, and the check value of FORMAT.md.
        vectors = [
            (b"123456789", 0xE3069283),
            (b"", 0),
            (bytes(32), 0x8A9136AA),
            (b"\xff" * 32, 0x62A8AB43),
            (bytes(range(32)), 0x46DD794E),
            (bytes(range(31, -1, -1)), 0x113FDB5C),
        ]
        for data, crc in vectors:
            self.assertEqual(codecs.crc32c(data), crc, data)

    def test_crc32c_agrees_with_a_bitwise_one_at_every_length(self):
        def bitwise(data):
            crc = 0xFFFFFFFF
            for byte in data:
                crc ^= byte
                for _ in range(8):
                    crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
            return crc ^ 0xFFFFFFFF

        for length in range(70):
            data = bytes((i * 37 + length) & 255 for i in range(length))
            self.assertEqual(codecs.crc32c(data), bitwise(data))

    def test_xxh64_gives_the_published_values(self):
        vectors = [
            (b"", 0xEF46DB3751D8E999),
            (b"a", 0xD24EC4F1A98C6E5B),
            (b"abc", 0x44BC2CF5AD770999),
            (b"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1),
        ]
        for data, value in vectors:
            self.assertEqual(codecs.xxh64(data), value, data)

    def test_xxh64_agrees_with_the_sanity_buffer_of_its_author(self):
        # The generator and the values of xxhsum's self-test for seed 0.
        buffer, state = bytearray(), 2654435761
        for _ in range(222):
            buffer.append(state >> 56)
            state = state * 11400714785074694797 & (1 << 64) - 1
        for length, value in [(0, 0xEF46DB3751D8E999), (1, 0xE934A84ADB052768), (4, 0x9136A0DCA57457EE),
                              (14, 0x8282DCC4994E35C8), (222, 0xB641AE8CB691C174)]:  # fmt: skip
            self.assertEqual(codecs.xxh64(bytes(buffer[:length])), value, length)

    def test_varints_come_back_and_only_the_shortest_form_is_read(self):
        for value in [0, 1, 127, 128, 300, 16383, 16384, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]:
            data = forge.varint(value)
            self.assertEqual(codecs.varint(data, 0, len(data)), (value, len(data)))
            for cut in range(len(data)):
                with self.assertRaises(codecs.Malformed):
                    codecs.varint(data, 0, cut)
            if len(data) < 10:
                longer = data[:-1] + bytes([data[-1] | 128, 0])
                with self.assertRaises(codecs.Malformed):
                    codecs.varint(longer, 0, len(longer))
        for bad in (b"\xff" * 9 + b"\x02", b"\xff" * 10 + b"\x00", b"\xff" * 11):
            with self.assertRaises(codecs.Malformed):
                codecs.varint(bad, 0, len(bad))


class LZ4Blocks(unittest.TestCase):
    def test_what_the_forge_compresses_comes_back(self):
        chance = random.Random(SEED)
        words = [b"incident/", b"abc", bytes(9), b"\xff" * 300, b"xyz" * 40]
        for _ in range(200):
            raw = b"".join(chance.choice(words) for _ in range(chance.randrange(30)))
            self.assertEqual(codecs.lz4_decode(forge.lz4(raw), len(raw)), raw)

    def test_known_blocks(self):
        self.assertEqual(codecs.lz4_decode(b"\x00", 0), b"")
        self.assertEqual(codecs.lz4_decode(b"\x30abc", 3), b"abc")
        self.assertEqual(codecs.lz4_decode(b"\x1fa\x01\x00\x05\x50aaaaa", 30), b"a" * 30)

    def test_lies_are_malformed_and_never_more_than_promised(self):
        bad = [
            (b"", 0), (b"", 5), (b"\x30ab", 3), (b"\x30abc", 2), (b"\x30abc", 4), (b"\x10a\x00\x00", 6),
            (b"\x10a\x02\x00\x50aaaaa", 10), (b"\x10a\x01\x00", 5), (b"\xf0\xff\xff", 600), (b"\x1fa\x01\x00\xff\xff", 999),
            (b"\x10a\x01\x00\x10a", 6), (b"\x00", 1 << 40),
        ]  # fmt: skip
        for data, raw_length in bad:
            with self.assertRaises(codecs.Malformed, msg=data):
                codecs.lz4_decode(data, raw_length)

    def test_random_bytes_raise_nothing_else(self):
        chance = random.Random(SEED)
        for _ in range(3000):
            data = bytes(chance.choice((0, 1, 15, 16, 31, 240, 255, chance.randrange(256))) for _ in range(chance.randrange(40)))
            try:
                self.assertLessEqual(len(codecs.lz4_decode(data, chance.randrange(400))), 400)
            except codecs.Malformed:
                pass


class CBORItems(unittest.TestCase):
    def test_the_examples_of_rfc_8949_appendix_a(self):
        vectors = [
            ("00", 0), ("01", 1), ("0a", 10), ("17", 23), ("1818", 24), ("1819", 25), ("1864", 100), ("1903e8", 1000),
            ("1a000f4240", 1000000), ("1b000000e8d4a51000", 1000000000000), ("1bffffffffffffffff", 18446744073709551615),
            ("c249010000000000000000", 18446744073709551616), ("3bffffffffffffffff", -18446744073709551616),
            ("c349010000000000000000", -18446744073709551617), ("20", -1), ("29", -10), ("3863", -100), ("3903e7", -1000),
            ("f90000", 0.0), ("f93c00", 1.0), ("fb3ff199999999999a", 1.1), ("f93e00", 1.5), ("f97bff", 65504.0),
            ("fa47c35000", 100000.0), ("fa7f7fffff", 3.4028234663852886e38), ("fb7e37e43c8800759c", 1.0e300),
            ("f90001", 5.960464477539063e-8), ("f90400", 0.00006103515625), ("f9c400", -4.0), ("fbc010666666666666", -4.1),
            ("f97c00", None), ("f97e00", None), ("fa7f800000", None), ("fbfff0000000000000", None),
            ("f4", False), ("f5", True), ("f6", None), ("f7", None), ("f0", None), ("f8ff", None),
            ("c074323031332d30332d32315432303a30343a30305a", "2013-03-21T20:04:00Z"), ("c11a514b67b0", 1363896240),
            ("c1fb41d452d9ec200000", 1363896240.5), ("d74401020304", {"b64": "AQIDBA=="}), ("40", {"b64": ""}),
            ("d818456449455446", {"b64": "ZElFVEY="}), ("60", ""), ("6161", "a"), ("6449455446", "IETF"), ("62225c", '"\\'),
            ("62c3bc", "ü"), ("63e6b0b4", "水"), ("64f0908591", "\U00010151"), ("80", []), ("83010203", [1, 2, 3]),
            ("8301820203820405", [1, [2, 3], [4, 5]]),
            ("98190102030405060708090a0b0c0d0e0f101112131415161718181819", list(range(1, 26))),
            ("a0", {}), ("a201020304", {"1": 2, "3": 4}), ("a26161016162820203", {"a": 1, "b": [2, 3]}),
            ("826161a161626163", ["a", {"b": "c"}]),
            ("a56161614161626142616361436164614461656145", {"a": "A", "b": "B", "c": "C", "d": "D", "e": "E"}),
            ("5f42010243030405ff", {"b64": "AQIDBAU="}), ("7f657374726561646d696e67ff", "streaming"), ("9fff", []),
            ("9f018202039f0405ffff", [1, [2, 3], [4, 5]]), ("83018202039f0405ff", [1, [2, 3], [4, 5]]),
            ("bf61610161629f0203ffff", {"a": 1, "b": [2, 3]}), ("bf6346756ef563416d7421ff", {"Fun": True, "Amt": -2}),
        ]  # fmt: skip
        for text, value in vectors:
            got = codecs.cbor_to_json(bytes.fromhex(text))
            self.assertEqual((type(got), got), (type(value), value), text)

    def test_what_is_not_well_formed_is_malformed(self):
        # RFC 8949, appendix F, and a few more.
        texts = (
            "18 19 1a 1b 1901 1a0102 1b01020304050607 38 58 78 98 9a01ff00 b8 d8 f8 f900 fa0000 fb000000 41 61 5affffffff00 "
            "5bffffffffffffffff010203 7affffffff00 81 818181818181818181 8200 a1 a20102 a100 a2000000 c0 5f4100 7f6100 9f 9f0102 "
            "bf bf01020102 819f 9f8000 9f9f9f9f9fffffffff 1c 1d 1e 3c 5c 7c 9c bc dc fc fd fe f800 f801 f818 f81f 5f00ff 5f21ff "
            "5f6100ff 5f80ff 5fa0ff 5fc000ff 5fe0ff 7f4100ff 5f5f4100ffff 7f7f6100ffff ff 81ff 8200ff a1ff a1ff00 a100ff a20000ff "
            "9f81ff 9f829f819f9fffffffff bf00ff bf000000ff 1f 3f df c2 c200 c261ff 61ff 62c328 63eda080 0000"
        ).split()
        for text in texts + [""]:
            with self.assertRaises(codecs.Malformed, msg=text):
                codecs.cbor_to_json(bytes.fromhex(text))

    def test_depth_and_sizes_are_bounded(self):
        for bad in (b"\x81" * 100_000, b"\x9b" + b"\xff" * 8, b"\xbb" + b"\xff" * 8, b"\xc2\x5a" + b"\x7f" * 4):
            with self.assertRaises(codecs.Malformed):
                codecs.cbor_to_json(bad)

    def test_what_the_forge_encodes_comes_back(self):
        value = {"a": [1, -1, 1 << 70, -(1 << 70), 0.1, None, True, "ü", {}], "": 65536}
        self.assertEqual(codecs.cbor_to_json(forge.cbor(value)), value)


class ForgedStores(unittest.TestCase):
    maxDiff = None

    def test_the_reader_says_of_every_recipe_what_the_recipe_expects(self):
        self.assertEqual(forge.check(), [])

    def test_every_line_of_the_log_is_an_object_with_the_keys_of_the_command_line(self):
        keys = {"schema", "sequence", "append", "time", "stream", "version", "type", "id", "metadata", "codec", "payload"}
        for name in forge.RECIPES:
            events, _ = read_events(MemoryStore(forge.forge(name).files))
            for event in events:
                line = json.loads(as_line(event_object(event)))
                self.assertEqual(set(line) - {"given", "erased", "opaque"}, keys)

    def test_a_plain_store_reads_as_it_was_written(self):
        events, _ = read_events(MemoryStore(forge.forge("plain").files))
        second = event_object(events[1])
        self.assertEqual(second["payload"]["big"], 1 << 70)
        self.assertEqual(second["payload"]["raw"], {"b64": "AP8="})
        self.assertEqual(second["metadata"], {"user": "dispatcher", "shift": 3})
        self.assertEqual((second["append"], second["id"]), ([2, 4], "import-1"))
        self.assertEqual(second["time"], "2023-11-14T22:13:21.000000000Z")

    def test_no_finding_names_a_sequence_past_64_bits(self):
        segment = forge.Segment().events(forge.incident(1))
        segment.events(forge.incident(2, second=1), first=(1 << 64) - 1, events=1 << 31)
        (finding,) = verify(MemoryStore(forge.store([segment]).files)).findings
        self.assertEqual((finding.kind, finding.first, finding.last), ("corrupt", 2, (1 << 64) - 1))

    def test_expected_json_says_everything_that_a_check_reports(self):
        with tempfile.TemporaryDirectory() as folder:
            forge.main(["--all", folder])
            with open(os.path.join(folder, "expected.json")) as file:
                expected = json.load(file)
            self.assertEqual(list(expected), list(forge.RECIPES))
            for name, wanted in expected.items():
                answer = verify_object(verify(FolderStore(os.path.join(folder, name))))
                self.assertEqual(answer["findings"], wanted["findings"], name)

    def test_a_folder_is_a_store_as_soon_as_somebody_began_to_create_one(self):
        head = forge.forge("only-head").files["HEAD"]
        for files in ({"LOCK": b""}, {"log/notes.txt": b""}, {"LOCK": b"", "HEAD": b"garbage"}):
            self.assertEqual(judged(files), ([], []))
        for files in ({}, {"HEAD": b"garbage"}, {"notes.txt": b""}):
            with self.assertRaises(FileNotFoundError):
                judged(files)
        self.assertEqual(judged({"HEAD": head}), (["missing"], []))
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(FileNotFoundError):
                verify(FolderStore(folder))
            os.mkdir(os.path.join(folder, "log"))
            self.assertEqual(verify(FolderStore(folder)).findings, [])
            os.rmdir(os.path.join(folder, "log"))
            open(os.path.join(folder, "LOCK"), "w").close()
            self.assertEqual(verify(FolderStore(folder)).findings, [])

    def test_a_segment_or_head_that_is_no_file_is_one_without_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            forge.write(forge.Forged({}, [], 0, []), folder)
            for name in ("HEAD", forge.Segment().path):
                os.mkdir(os.path.join(folder, name))
            findings = verify(FolderStore(folder)).findings
            self.assertEqual([(f.kind, f.file, f.offset) for f in findings], [("corrupt", forge.Segment().path, 0)])

    def test_times_are_text_over_the_whole_range(self):
        self.assertEqual(time_text(-(1 << 63) + 1), "1677-09-21T00:12:43.145224193Z")
        self.assertEqual(time_text((1 << 63) - 1), "2262-04-11T23:47:16.854775807Z")
        self.assertIsNone(time_text(-(1 << 63)))


class DamagedStores(unittest.TestCase):
    """Damage is detected, or is harmless: it never silently changes what is read."""

    def setUp(self):
        forged = small_store()
        self.files = forged.files
        kinds, self.events = judged(self.files)
        self.assertEqual((kinds, len(self.events)), ([], 3))

    def test_a_flipped_bit_in_a_segment_is_always_found(self):
        for path in [path for path in self.files if path.startswith("log/")]:
            data = self.files[path]
            # The reserved part of the header is under one checksum: one bit in some of its bytes is enough.
            # Elsewhere only every other bit is flipped, the even ones in even bytes, to keep the suite short.
            for at in [*range(168), *range(168, 4088, 7), *range(4088, len(data))]:
                for bit in (at % 8,) if 168 <= at < 4088 else range(at % 2, 8, 2):
                    kinds, events = judged(dict(self.files, **{path: forge.flipped(data, at, bit)}))
                    self.assertTrue(kinds, "%s: bit %d of byte %d is ignored" % (path, bit, at))
                    self.assertEqual(events, self.events[: len(events)])

    def test_a_flipped_bit_in_head_never_changes_what_is_read(self):
        data = self.files["HEAD"]
        # The reserved part of each slot is under one checksum: one bit of each byte is enough.
        for at in [*range(520), *range(4080, 4608)]:
            for bit in (at % 8,) if 128 <= at % 4096 < 504 else range(8):
                kinds, events = judged(dict(self.files, HEAD=forge.flipped(data, at, bit)))
                self.assertEqual((kinds, events), ([], self.events), at)

    def test_a_cut_of_the_active_segment_is_found_wherever_head_promises_more(self):
        path = max(path for path in self.files if path.startswith("log/"))
        for size in range(len(self.files[path])):
            kinds, events = judged(dict(self.files, **{path: self.files[path][:size]}))
            self.assertIn(kinds, (["corrupt"], ["missing"]), size)
            self.assertEqual(events, self.events[: len(events)])

    def test_a_cut_without_head_is_torn_or_ends_at_a_block(self):
        path = max(path for path in self.files if path.startswith("log/"))
        files = {name: data for name, data in self.files.items() if name != "HEAD"}
        clean = []
        for size in range(4096, len(files[path])):
            kinds, events = judged(dict(files, **{path: files[path][:size]}))
            self.assertIn(kinds, ([], ["torn"]), size)
            clean += [size] if not kinds else []
            self.assertEqual(events, self.events[: len(events)])
        self.assertEqual(len(clean), 2, "one for the end of the header, one for the first block")

    def test_a_cut_of_a_closed_segment_or_of_head_is_never_a_silent_loss(self):
        path = min(path for path in self.files if path.startswith("log/"))
        for size in list(range(0, 4096, 17)) + list(range(4096, len(self.files[path]))):
            kinds, _ = judged(dict(self.files, **{path: self.files[path][:size]}))
            self.assertIn(kinds, (["corrupt"], ["missing"]), size)
        for size in range(0, 4608, 7):
            self.assertEqual(judged(dict(self.files, HEAD=self.files["HEAD"][:size])), ([], self.events))

    def test_bytes_of_a_sector_that_vanish_are_found(self):
        for path in [path for path in self.files if path.startswith("log/")]:
            data = self.files[path]
            for at in range(0, len(data), 512):
                wiped = data[:at] + bytes(len(data[at : at + 512])) + data[at + 512 :]
                if wiped != data:
                    self.assertTrue(judged(dict(self.files, **{path: wiped}))[0], at)

    def test_random_damage_to_any_recipe_raises_nothing_and_delivers_a_prefix(self):
        chance = random.Random(SEED)
        names = list(forge.RECIPES)
        begun = time.monotonic()
        for _ in range(2500):
            if time.monotonic() - begun > 8:
                break
            name = chance.choice(names)
            forged = forge.forge(name)
            whole = [event for event in judged(forged.files)[1]]
            path = chance.choice(sorted(path for path, data in forged.files.items() if data))
            damaged = damage(chance, forged.files[path])
            _, events = judged(dict(forged.files, **{path: damaged}))
            if "HEAD" != path and not forged.findings:
                self.assertEqual(events, whole[: len(events)], "%s, seed %d" % (name, SEED))

    def test_random_bytes_as_every_file_raise_nothing(self):
        chance = random.Random(SEED)
        for _ in range(50):
            data = bytes(chance.randrange(256) for _ in range(chance.choice((0, 1, 4095, 4096, 5000))))
            judged({"HEAD": data, forge.Segment().path: data, "log/%s.seg" % ("9" * 20): data, "log/%s.seg" % ("0" * 20): data})

    def test_random_payloads_under_valid_checksums_raise_nothing(self):
        chance = random.Random(SEED)
        for _ in range(1500):
            append = forge.incident(1, id=b"i", given=7)
            raw = damage(chance, append.encoded(), limit=3)
            segment = forge.Segment().events(append, raw=raw, codec=chance.choice((0, 0, 1)))
            judged(forge.store([segment], b"").files)


def damage(chance, data, limit=6):
    """Some bytes flipped, set, moved, cut or inserted."""
    data = bytearray(data)
    for _ in range(chance.randrange(1, limit + 1)):
        at = chance.randrange(len(data)) if data else 0
        kind = chance.randrange(5)
        if kind == 0 and data:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1 and data:
            data[at] = chance.choice((0, 1, 127, 128, 255))
        elif kind == 2:
            del data[at : at + chance.choice((1, 8, 100))]
        elif kind == 3:
            data[at:at] = bytes(chance.choice((1, 8, 512)))
        else:
            other = chance.randrange(len(data)) if data else 0
            data[at : at + 64] = data[other : other + 64]
    return bytes(data)


class AnnotatedStores(unittest.TestCase):
    """The annotated hex of a store rebuilds its files, byte by byte."""

    HEX = re.compile(r"^[0-9a-f]{8}  ((?:[0-9a-f]{2} ?)+)  .*$")
    ZEROS = re.compile(r"^[0-9a-f]{8}  \([0-9]+ zero bytes\)  .*$")

    def told(self, files):
        """The annotated lines, and the files of the store that they must rebuild."""
        store = MemoryStore(files)
        names = [name for name in map(segment_path, segments_of(store))] + ["HEAD"]
        return annotate.annotate(store), {name: files[name] for name in names if name in files}

    def test_every_recipe_comes_back_from_its_hex(self):
        for name in forge.RECIPES:
            lines, files = self.told(forge.forge(name).files)
            self.assertTrue(annotate.files_of(lines) == files, name)
            for line in lines:
                forms = (line.startswith("FILE "), line.startswith("    | "), self.HEX.match(line), self.ZEROS.match(line))
                self.assertEqual(sum(map(bool, forms)), 1, "%s: %s" % (name, line))
                self.assertTrue(line.isascii() and line.isprintable() and line == line.rstrip(), line)

    def test_damaged_stores_come_back_from_their_hex(self):
        chance = random.Random(SEED)
        files = forge.forge("plain").files
        for _ in range(200):
            path = chance.choice(["HEAD", forge.Segment().path])
            lines, damaged = self.told(dict(files, **{path: damage(chance, files[path])}))
            self.assertTrue(annotate.files_of(lines) == damaged, "seed %d" % SEED)

    def test_random_payloads_under_valid_checksums_come_back(self):
        chance = random.Random(SEED)
        for _ in range(300):
            append = forge.incident(1, id=b"i", given=7)
            segment = forge.Segment().events(append, raw=damage(chance, append.encoded(), limit=3))
            lines, files = self.told(forge.store([segment], b"").files)
            self.assertTrue(annotate.files_of(lines) == files, "seed %d" % SEED)

    def test_the_fields_are_those_of_the_tables_of_format_md(self):
        with open(os.path.join(HERE, "..", "..", "FORMAT.md"), encoding="utf-8") as file:
            text = file.read()
        tables = {
            "segment header": annotate.SEGMENT_FIELDS, "block header": annotate.BLOCK_FIELDS, "slot": annotate.SLOT_FIELDS,
            "payload": annotate.RECOVERY_FIELDS, "entry": annotate.ENTRY_FIELDS,
        }  # fmt: skip
        for title, fields in tables.items():
            rows = re.search(r"^\| offset \| size \| %s \|\n\|--:\|--:\|---\|\n((?:\|.*\n)+)" % title, text, re.MULTILINE)
            wanted = re.findall(r"^\| (\d+) \| (\d+) \| ([a-zA-Z]*)", rows.group(1), re.MULTILINE)
            offset = 0
            self.assertEqual(len(wanted), len(fields), title)
            for (at, size, word), (length, name, _) in zip(wanted, fields):
                self.assertEqual((offset, length), (int(at), int(size)), "%s: %s" % (title, name))
                self.assertIn(word.lower(), name.lower(), title)
                offset += length

    def test_what_an_lz4_block_decodes_to_is_told_under_it(self):
        lines, _ = self.told(forge.forge("rewritten").files)
        self.assertIn('    | 00000022  24 70 75 74              type = "$put"', lines)
        self.assertIn("    | 00000000  02 00 00 00              number of entries = 2", lines)
        self.assertIn("00001007  01                       codec of the payload = 1 = LZ4", lines)
        self.assertIn("00000080  (380 zero bytes)         reserved", lines)

    def test_a_line_that_is_lost_doubled_or_moved_is_noticed(self):
        lines, _ = self.told(small_store().files)
        for at, line in enumerate(lines):
            if line.startswith("    | "):
                continue
            moved = lines[:at] + lines[at + 1 : at + 2] + [line] + lines[at + 2 :]
            changed = [lines[:at] + lines[at + 1 :], lines[: at + 1] + lines[at:]]
            if at + 1 < len(lines) and not lines[at + 1].startswith("    | "):
                changed.append(moved)
            for section in changed:
                with self.assertRaises(annotate.BadSection, msg=line):
                    annotate.files_of(section)

    def test_other_text_around_the_lines_is_passed_over(self):
        lines, files = self.told(small_store().files)
        self.assertEqual(annotate.files_of(["# A store", "", "```"] + lines + ["```", "And so on."]), files)
        with self.assertRaises(annotate.BadSection):
            annotate.files_of(["FILE HEAD 99999999999"])
        self.assertEqual(annotate.files_of(["FILE log/../../x.seg 0", "FILE /HEAD 0"]), {})


class Commands(unittest.TestCase):
    def run_reader(self, *arguments, given=None):
        command = [sys.executable, os.path.join(HERE, "strata_reader.py"), *arguments]
        done = subprocess.run(command, input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        return done.returncode, done.stdout.decode("utf-8")

    def test_commands_exit_as_they_say_and_print_json(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = {}
            for name in ("plain", "torn", "swapped-blocks", "empty"):
                paths[name] = os.path.join(folder, name)
                forge.write(forge.forge(name), paths[name])
            for name, code in [("plain", 0), ("torn", 2), ("swapped-blocks", 65), ("empty", 0)]:
                status, text = self.run_reader("verify", paths[name])
                self.assertEqual((status, json.loads(text)["ok"]), (code, code == 0), name)
            status, text = self.run_reader("log", paths["plain"])
            self.assertEqual((status, [json.loads(line)["sequence"] for line in text.splitlines()]), (0, list(range(1, 8))))
            status, text = self.run_reader("payloads", paths["plain"], os.path.join(folder, "out"))
            self.assertEqual((status, len(os.listdir(os.path.join(folder, "out")))), (0, 2))
            lines = "\n".join([paths["torn"], os.path.join(folder, "nothing"), paths["plain"]]).encode("utf-8")
            status, text = self.run_reader("verify-many", given=lines)
            answers = [json.loads(line) for line in text.splitlines()]
            self.assertEqual([answer.get("ok") for answer in answers], [False, None, True])
            self.assertEqual(self.run_reader("verify", os.path.join(folder, "nothing"))[0], 66)
            self.assertEqual(self.run_reader("fly")[0], 64)

    def test_annotate_and_rebuild_give_the_same_files(self):
        with tempfile.TemporaryDirectory() as folder:
            forge.write(forge.forge("rewritten"), os.path.join(folder, "store"))
            status, text = self.run_reader("annotate", os.path.join(folder, "store"))
            self.assertEqual(status, 0)
            section, copy = os.path.join(folder, "section.txt"), os.path.join(folder, "copy")
            with open(section, "w") as file:
                file.write(text)
            status, names = self.run_reader("rebuild", section, copy)
            self.assertEqual((status, names.split()), (0, sorted(set(forge.forge("rewritten").files) - {"LOCK"})))
            for name in names.split():
                with open(os.path.join(copy, name), "rb") as file:
                    self.assertEqual(file.read(), forge.forge("rewritten").files[name])
            self.assertEqual(self.run_reader("rebuild", section, copy)[0], 66, "no file is overwritten")
            with open(section, "w") as file:
                file.write("\n".join(text.splitlines()[:-1]))
            self.assertEqual(self.run_reader("rebuild", section, os.path.join(folder, "other"))[0], 65)

    def test_a_store_of_30_kib_is_checked_quickly(self):
        segment = forge.Segment()
        for number in range(40):
            segment.events(*(forge.incident(number * 3 + n + 1) for n in range(3)))
        files = forge.store([segment]).files
        self.assertGreater(len(files[segment.path]), 20_000)
        best = 1.0
        for at in range(5000, 5010):
            store = MemoryStore(dict(files, **{segment.path: forge.flipped(files[segment.path], at)}))
            begun = time.perf_counter()
            verify(store)
            verify(MemoryStore(files))
            best = min(best, time.perf_counter() - begun)
        self.assertLess(best, 0.1, "two checks take longer than a limit that is generous for shared machines")


if __name__ == "__main__":
    print("ORACLE_SEED=%d" % SEED)
    unittest.main()
