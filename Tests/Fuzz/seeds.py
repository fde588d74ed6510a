#!/usr/bin/env python3
"""The first inputs of each fuzzed decoder, from the forged stores and from what the texts may say.

    seeds.py FOLDER     writes FOLDER/<target>/<name>; the same bytes every time

`Tools/support/corpus pack Tests/Fuzz/Corpus/<target>.corpus FOLDER/<target>/*` adds them to what is kept.

A segment or HEAD is packed as Tests/Fuzz/Targets/PackedStore.swift unpacks it: what is reserved and what can be computed
is left out.
"""

import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Oracle"))

from strata_build import BEGINNING, Append, Event, Segment, cbor, slot  # noqa: E402
from strata_forge import RECIPES, forge  # noqa: E402

BLOCK = {"repairs": 1, "payload": 2, "compressed": 4, "stored": 8}
SEGMENT = {"repairs": 1, "head": 2, "closed": 4, "relinks": 8}
HEAD = {"first": 1, "second": 2, "own": 4, "log": 8}
LENGTH_MAX = 6000


def segments_of(forged):
    return sorted((path, data) for path, data in forged.files.items() if path.endswith(".seg"))


def segment_seeds():
    for name in RECIPES:
        forged = forge(name)
        front = forged.files.get("HEAD", b"")[:128]
        for number, (_, data) in enumerate(segments_of(forged)):
            if len(data) < 4096 or len(data) > LENGTH_MAX:
                continue
            body = data[:160] + data[4096:]
            is_last = number == len(segments_of(forged)) - 1
            if is_last and front:
                yield "%s-%d" % (name, number), bytes([SEGMENT["head"]]) + front + body
            elif is_last:
                yield "%s-%d" % (name, number), b"\0" + body
            else:
                yield "%s-%d-closed" % (name, number), bytes([SEGMENT["closed"]]) + body
            if number == 0:
                yield "%s-%d-relinked" % (name, number), bytes([SEGMENT["relinks"] | SEGMENT["repairs"]]) + body


def blocks_of(data):
    at = 4096
    while at + 176 <= len(data) and data[at : at + 4] == b"STRB":
        length, stored = struct.unpack_from("<H", data, at + 4)[0], struct.unpack_from("<I", data, at + 16)[0]
        span = struct.unpack_from("<Q", data, at + 40)[0]
        yield data[at : at + span], data[at + length : at + length + stored], data[at + 7]
        if span < 176 or span % 8:
            return
        at += span


def block_seeds():
    for name in RECIPES:
        for _, data in segments_of(forge(name)):
            for number, (block, stored, codec) in enumerate(blocks_of(data)):
                if len(block) > LENGTH_MAX:
                    continue
                yield "%s-%d" % (name, number), bytes([BLOCK["repairs"]]) + block
                if codec == 0:
                    yield "%s-%d-payload" % (name, number), bytes([BLOCK["payload"]]) + stored
                    yield "%s-%d-packed" % (name, number), bytes([BLOCK["payload"] | BLOCK["compressed"]]) + stored
                else:
                    yield "%s-%d-stored" % (name, number), bytes([BLOCK["stored"]]) + stored


def head_seeds():
    every = HEAD["first"] | HEAD["second"] | HEAD["own"]
    for name in RECIPES:
        data = forge(name).files.get("HEAD", b"").ljust(4608, b"\0")
        fronts = data[:128] + data[4096:4224]
        if any(fronts):
            yield name, bytes([every]) + fronts
            yield name + "-log", bytes([every | HEAD["log"]]) + fronts
    segment = Segment().events(Append(BEGINNING, [Event("a", 1)]))
    most = (1 << 64) - 1
    for field in ("generation", "epoch", "segment", "durable_offset", "durable_sequence", "visible_offset", "visible_sequence"):
        for value in (0, most - 1, most):
            fields = {"generation": 3, field: value}
            fronts = slot(segment, fields.pop("generation"), **fields)[:128] + bytes(128)
            yield "%s-%x" % (field, value), bytes([every | HEAD["log"]]) + fronts


DOCUMENTS = [
    None, True, 0, 23, 24, 255, 256, 65536, 1 << 32, (1 << 64) - 1, 1 << 64, -1, -(1 << 63), -(1 << 64) - 1, 0.5, 1e300,
    "", "é漢🪨", b"", b"\0\xff", [], {}, [1, [2, [3, []]]], {"a": {"b": [1.5, None, {"c": "x"}]}},
    {"a": 1, "b": 2.5, "c": "x", "d": [{"a": 2}], "e": {"k": True}, "f": [1, 2], "g": 3, "h": {"z": None}, "i": 1.5, "j": [None, 7]},
]  # fmt: skip
ENCODED = [
    "1800", "190000", "f90000", "f97e00", "fa7fc00000", "fb7ff8000000000000", "f97c00", "f0", "f7", "ff", "f820", "5f42010243030405ff",
    "7f657374726561646d696e67ff", "9f018202039f0405ffff", "bf61610161629f0203ffff", "c074323031332d30332d32315432303a30343a30305a",
    "c249010000000000000000", "c349010000000000000000", "d818456449455446", "a2616101616102", "a201020304", "1c", "62c328", "d9d9f7a0",
    "81" * 130, "bf" * 200, "c0" * 128 + "80", "81" * 128 + "a0", "81" * 127 + "80",
]  # fmt: skip
JSON = [
    "null", " true\n", "-0", "1e400", "1E+2", "18446744073709551616", "-9223372036854775809", "0.1", "2.2250738585072011e-308",
    '"\\u00e9\\ud83e\\udea8"', '"\\ud800"', '{"b":[1,{"c":null}],"a":"x"}', '{"é":1,"e\\u0301":2}', '{"a":1,"a":2}', "[1 2]", "[1,]",
    "[" * 130, '{"b64":"AQI="}', '{"f64":"NaN"}', '{"tag":32,"value":"x"}', "01", "1.", '"\\x"', '"a\nb"', "\ufeff1",
]  # fmt: skip
FILTERS = [
    "impact == 'High' && $time > @'2026-11-20T18:00+01:00'", "a=1", "(((a == 1)))", 'a=="it\'s"', "a in [1,'b']", "a in {}", "a in b.d",
    "NOT a == 1 AND b == 2 Or c == 3", "!!a==1", "a BEGINSWITH[C]'x'", "`a`.b == `in`", "a == -0", "a == 1e3", "'x' in tags",
    "a ==[c] 18446744073709551616", "1 = 1&&!(2=2)", "a matches '[a-z]+(x|y)*'", "$id contains 'row'", "$section endsWith[c] 'N'",
    "$revision >= 7", "a == '\\u{e9}\\d'", "when < @'2026-11-20T18:00:00.5Z'", "b.c != null", "a == true || t == FALSE", "(" * 70,
    "a == 'x", "a === 1", "a[0] == 1", "@'2026-02-30' == a", "a == 9007199254740993", "z == null && b.d contains 2.5", "a == 1e999",
]  # fmt: skip
POINTS = [
    "18234", "seq:1", "head", "head~3", "first", "id:import-7", "mark:before/now", "cursor:12@ffddbbac3950ed1a", "now", "today",
    "yesterday", "@1732130000", "@-1.5", "@1.123456789123", "2h30m ago", "90 s ago", "1 day 4 hours.ago", "-2h", "+30m",
    "2026-11-20 18:17:16", "2026-11-20T18:17:16.25", "2026-11-20", "2026-02-29", "2026-11-20T18:17:16+01:00", "1677-09-21",
    "2262-04-12", "0000-00-00", "9999-12-31 23:59:60", "1..head", "..5", "5..", "..", "...", "a..b..c", "1\nhead", "1\n2\n3",
    "head~18446744073709551616", "99999999999999999999", "9223372036854775807 s ago", "µs", "1µs ago", "seq:", "id:a..b",
]  # fmt: skip


def numbered(texts):
    return (("%03d" % number, text) for number, text in enumerate(texts))


def filter_seeds():
    rows = [cbor({"a": 1, "b": {"c": "x"}, "tags": ["x", None]}), cbor({"a": "High", "t": False, "when": "2026-11-20T17:00:00Z"}), b"\xa1\x61a\x9b"]
    for name, text in numbered(FILTERS):
        yield name, text.encode() + b"\0" + rows[int(name) % len(rows)]


TARGETS = {
    "block": block_seeds,
    "segment": segment_seeds,
    "head": head_seeds,
    "cbor": lambda: numbered([cbor(value) for value in DOCUMENTS] + [bytes.fromhex(text) for text in ENCODED]),
    "json": lambda: numbered([text.encode() for text in JSON]),
    "filter": filter_seeds,
    "point": lambda: numbered([text.encode() for text in POINTS]),
}


def main(arguments):
    if len(arguments) != 1:
        sys.stderr.write(__doc__)
        return 64
    for target, seeds in TARGETS.items():
        folder = os.path.join(arguments[0], target)
        os.makedirs(folder, exist_ok=True)
        seen = set()
        for name, data in seeds():
            if data not in seen:
                seen.add(data)
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(data)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
