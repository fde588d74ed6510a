"""Hand-made stores, written from FORMAT.md alone, for what no writer may write and what none writes yet.

    strata_forge.py --list       the recipes, one a line, with what a check must find
    strata_forge.py NAME DIR     forges one store into a new or empty folder
    strata_forge.py --all DIR    forges each store into DIR/NAME, with DIR/expected.json
    strata_forge.py --check      forges all in memory and in a temporary folder, and compares

Every recipe is a function that returns a `Forged`: the files, the findings that a check must report
and the number of events that a reader delivers before them. Same recipe, same bytes, always.
"""

import json
import os
import struct
import sys
import tempfile
from collections import namedtuple

from strata_codecs import crc32c, xxh64

UUID = bytes.fromhex("0f1e2d3c4b5a69788796a5b4c3d2e1f0")
FOREIGN_UUID = bytes.fromhex("ffeeddccbbaa99887766554433221100")
BEGINNING = 1_700_000_000_000_000_000
SECOND = 1_000_000_000
NO_TIME = -(1 << 63)
SALT = bytes(range(0xA0, 0xB0))

CBOR, JSON, BYTES = 1, 2, 3
EVENTS, RECOVERY, FOOTER = 1, 2, 3
STORED, LZ4 = 0, 1

Forged = namedtuple("Forged", "files findings events written")


# --- Encoders -------------------------------------------------------------------------------------


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def sized(data):
    return varint(len(data)) + data


def cbor(value):
    """The CBOR of simple values, with shortest heads."""
    if value is None or isinstance(value, bool):
        return {None: b"\xf6", True: b"\xf5", False: b"\xf4"}[value]
    if isinstance(value, int):
        if not -(1 << 64) <= value < 1 << 64:
            magnitude = value if value >= 0 else -1 - value
            tag = b"\xc2" if value >= 0 else b"\xc3"
            return tag + cbor(magnitude.to_bytes((magnitude.bit_length() + 7) // 8, "big"))
        return _cbor_head(0, value) if value >= 0 else _cbor_head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, bytes):
        return _cbor_head(2, len(value)) + value
    if isinstance(value, str):
        data = value.encode("utf-8")
        return _cbor_head(3, len(data)) + data
    if isinstance(value, list):
        return _cbor_head(4, len(value)) + b"".join(map(cbor, value))
    return _cbor_head(5, len(value)) + b"".join(cbor(key) + cbor(item) for key, item in value.items())


def _cbor_head(major, argument):
    major <<= 5
    if argument < 24:
        return bytes([major | argument])
    for extra, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if argument < 1 << (8 * size):
            return bytes([major | extra]) + argument.to_bytes(size, "big")
    raise ValueError(argument)


def lz4(raw):
    """A raw LZ4 block: greedy matches of four bytes and more, literals between them."""
    out, anchor, at, seen = bytearray(), 0, 0, {}
    while at + 12 < len(raw):
        key = raw[at : at + 4]
        match = seen.get(key)
        seen[key] = at
        if match is None or at - match > 65535:
            at += 1
            continue
        length = 4
        while at + length < len(raw) - 5 and raw[match + length] == raw[at + length]:
            length += 1
        _lz4_sequence(out, raw[anchor:at], at - match, length)
        at += length
        anchor = at
    _lz4_sequence(out, raw[anchor:], None, 4)
    return bytes(out)


def _lz4_sequence(out, literals, distance, length):
    def more(count):
        while count >= 255:
            out.append(255)
            count -= 255
        out.append(count)

    out.append(min(len(literals), 15) << 4 | min(length - 4, 15))
    if len(literals) >= 15:
        more(len(literals) - 15)
    out.extend(literals)
    if distance is not None:
        out.extend(struct.pack("<H", distance))
        if length - 4 >= 15:
            more(length - 4 - 15)


# --- Events and appends ---------------------------------------------------------------------------


class Event:
    """One event; `erased` and `opaque` turn it into what a rewrite or a newer version leaves."""

    def __init__(self, stream, revision, type="$put", payload=b"\xf6", codec=CBOR, metadata=b"", salt=b""):
        self.stream, self.revision, self.type = stream, revision, type
        self.payload = payload
        self.kind = 1
        self.flags = 0
        self.names = sized(stream.encode("utf-8")) + sized(type.encode("utf-8"))
        self.content = varint(codec) + sized(salt) + sized(metadata) + sized(payload)
        self.content_hash = xxh64(self.content)

    def erased(self):
        """The same event after its content was erased: the chain cannot tell."""
        self.content = struct.pack("<Q", self.content_hash) + varint(len(self.content))
        self.kind, self.payload = 2, None
        return self

    def opaque(self, kind, rest):
        self.content_hash = xxh64(rest)
        self.content = struct.pack("<Q", self.content_hash) + rest
        self.kind, self.payload = kind, None
        return self

    def encoded(self):
        body = bytes([self.kind]) + varint(self.flags) + struct.pack("<Q", self.revision) + self.names + self.content
        return sized(body)


class Append:
    """One append. `flags` overrides what follows from the other values."""

    def __init__(self, time, events, given=None, id=None, erasable=False, flags=None):
        self.time, self.events = time, events
        if flags is None:
            flags = (given is not None) | (id is not None) << 1 | erasable << 2
        self.head = varint(flags) + varint(len(events)) + struct.pack("<q", time)
        if given is not None:
            self.head += struct.pack("<q", given)
        if id is not None:
            self.head += sized(id)

    def encoded(self):
        return sized(self.head + b"".join(event.encoded() for event in self.events))


def chain_through(append, sequence, chain):
    """The chain after an append whose first event has `sequence`."""
    for number, event in enumerate(append.events, sequence):
        link = (chain, number, event.revision, xxh64(append.head), xxh64(event.names), event.content_hash)
        chain = xxh64(struct.pack("<6Q", *link))
    return chain


# --- Segments -------------------------------------------------------------------------------------


class Segment:
    """A segment that grows block by block. Keyword arguments override fields before the CRCs."""

    def __init__(self, first=1, after=None, uuid=UUID, epoch=1, revision=0, reserved=0, header_length=176, **fields):
        self.first, self.uuid, self.epoch, self.revision = first, uuid, epoch, revision
        self.reserved, self.header_length = reserved, header_length
        self.fields = dict({"epoch": epoch}, **fields)
        self.sequence = first
        self.chain = after.chain if after else 0
        self.time = after.time if after else NO_TIME
        self.appends = after.appends if after else 0
        self.previous = (after.first, after.sequence - 1, after.chain, after.time) if after else (0, 0, 0, NO_TIME)
        self.appends_before = self.appends
        self.synced = 4096
        self.body = bytearray()
        self.index = []
        self.marks = [(4096, first - 1, self.chain)]
        self.written = list(after.written) if after else []

    def next(self, **fields):
        return Segment(self.sequence, self, self.uuid, self.epoch, reserved=self.reserved, **fields)

    @property
    def end(self):
        return 4096 + len(self.body)

    @property
    def path(self):
        return "log/%020d.seg" % self.first

    def events(self, *appends, raw=None, codec=STORED, stored=None, in_group=False, **fields):
        """An events block of some appends; `raw` or `stored` replace the true payload."""
        chain, sequence = self.chain, self.sequence
        for append in appends:
            chain = chain_through(append, sequence, chain)
            for number, event in enumerate(append.events, sequence):
                self.written.append((number, event.stream, event.revision, event.type, event.payload))
            sequence += len(append.events)
        if raw is None:
            raw = b"".join(append.encoded() for append in appends)
        self.index.append(struct.pack("<QqQQ", self.sequence, appends[0].time, self.appends, self.end))
        times = (appends[0].time, appends[-1].time)
        self.block(EVENTS, raw, codec, stored, sequence - self.sequence, len(appends), times, chain, in_group, fields)
        self.time = appends[-1].time
        return self

    def control(self, kind, payload=b"", codec=STORED, **fields):
        times = (self.time, self.time)
        return self.block(kind, payload, codec, None, 0, 0, times, self.chain, False, fields)

    def recovery(self, cut, name="quarantine/tail-1"):
        path = name.encode("utf-8")
        payload = struct.pack("<QQqIHH", self.end, len(cut), self.time, crc32c(cut), 1, len(path))
        return self.control(RECOVERY, payload + path)

    def footer(self, codec=STORED):
        at = self.end
        self.control(FOOTER, struct.pack("<II", len(self.index), self.reserved) + b"".join(self.index), codec)
        self.fields = dict(dict(footer=at, last=self.sequence - 1, chain=self.chain, end=self.end), **self.fields)
        return self

    def block(self, kind, raw, codec, stored, events, appends, times, chain, in_group, fields):
        if stored is None:
            stored = lz4(raw) if codec == LZ4 else raw
        at, length = self.end, self.header_length
        if not in_group:
            self.synced = at
        values = dict(
            magic=b"STRB", length=length, kind=kind, codec=codec, flags=0, crc=0, stored=len(stored), raw=len(raw),
            payload_crc=crc32c(stored), events=events, appends=appends, reserved=self.reserved,
            span=-(-(length + len(stored)) // 8) * 8, own_offset=at, first=self.sequence,
            appends_before=self.appends, segment=self.first, uuid=self.uuid, epoch=self.epoch,
            synced=at if self.revision else self.synced, first_time=times[0], last_time=times[1],
            chain_before=self.chain, chain_after=chain,
        )  # fmt: skip
        pad_to = fields.pop("pad_to", None)
        if pad_to:
            values["span"] = -(-(at + values["span"]) // pad_to) * pad_to - at
        values.update(fields)
        header = struct.pack("<4sHBBIIIIIIIIQQQQQ16sQQqqQQ", *values.values())
        header += bytes([self.reserved & 255]) * (length - len(header))
        header = header[:12] + struct.pack("<I", crc32c(header)) + header[16:]
        self.body += header + stored
        self.body += bytes(max(0, at + values["span"] - self.end))
        self.sequence += events
        self.appends += appends
        self.chain = values["chain_after"]
        self.marks.append((self.end, self.sequence - 1, self.chain))
        return self

    def header(self):
        values = dict(
            magic=b"STRATASG", major=1, minor=0, length=4096, uuid=self.uuid, first=self.first, incompatible=0,
            readonly=0, compatible=0, previous_first=self.previous[0], previous_last=self.previous[1],
            previous_chain=self.previous[2], previous_time=self.previous[3], appends=self.appends_before,
            epoch=self.epoch, created=BEGINNING, revision=self.revision, algorithm=1,
            reserved=bytes([self.reserved & 255]) * 3, footer=0, last=0, chain=0, end=0,
        )  # fmt: skip
        values.update(self.fields)
        data = struct.pack("<8sHHI16sQQQQQQQqQQqIB3sQQQQ", *values.values())
        data += bytes([self.reserved & 255]) * (4092 - len(data))
        return data + struct.pack("<I", crc32c(data))

    def bytes(self):
        return self.header() + bytes(self.body)


# --- HEAD and stores ------------------------------------------------------------------------------


def slot(segment, generation, mark=-1, first=1, clean=False, reserved=0, **fields):
    """One slot of HEAD with both marks behind a block of a segment."""
    offset, sequence, chain = segment.marks[mark]
    values = dict(
        magic=b"STRATAHD", major=1, minor=0, length=512, uuid=segment.uuid, generation=generation,
        segment=segment.first, epoch=segment.epoch, flags=int(clean), durability=2, visible_offset=offset,
        visible_sequence=sequence, visible_chain=chain, durable_offset=offset, durable_sequence=sequence,
        durable_chain=chain, time=segment.time if mark == -1 else BEGINNING, first=first,
    )  # fmt: skip
    values.update(fields)
    data = struct.pack("<8sHHI16sQQQIIQQQQQQqQ", *values.values())
    data += bytes([reserved & 255]) * (508 - len(data))
    return data + struct.pack("<I", crc32c(data))


def head(*slots):
    """HEAD with one or two slots, the second at offset 4096."""
    data = slots[0]
    if len(slots) == 2:
        data = data.ljust(4096, b"\0") + slots[1]
    return data.ljust(4608, b"\0")


def store(segments, head_data=None, findings=(), events=None, tails=()):
    """A store of segments. Without `head_data`, HEAD's marks stand at the end of the last segment."""
    if head_data is None:
        head_data = head(slot(segments[-1], 1, 0), slot(segments[-1], 2))
    files = {"LOCK": b"", "HEAD": head_data}
    if head_data == b"":
        del files["HEAD"]
    for segment in segments:
        files[segment.path] = segment.bytes()
    for path, tail in tails:
        files[path] += tail
    written = segments[-1].written if segments else []
    return Forged(files, list(findings), len(written) if events is None else events, written)


def edited(forged, path, edit):
    """The store with one file's bytes changed; None removes the file."""
    files = dict(forged.files)
    data = edit(files.pop(path))
    if data is not None:
        files[path] = data
    return forged._replace(files=files)


def flipped(data, at, bit=0):
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


# --- Material -------------------------------------------------------------------------------------


def incident(revision, number=1, second=0, **options):
    """An append of one event on an incident's stream."""
    payload = cbor({"number": number, "revision": revision, "title": "Tree down", "where": [48.137, 11.575]})
    return Append(BEGINNING + second * SECOND, [Event("incident/%d" % number, revision, payload=payload)], **options)


def rich_appends():
    """Several streams, ids, given times, metadata and every payload codec."""
    who = cbor({"user": "dispatcher", "shift": 3})
    repeated = cbor({"log": ["engine 1 on its way"] * 12, "big": 1 << 70, "small": -(1 << 64), "half": 0.5, "raw": b"\0\xff"})
    first = Append(BEGINNING, [Event("incident/1", 1, payload=cbor({"title": "Baum über Straße", "open": True}))])
    second = Append(
        BEGINNING + SECOND,
        [
            Event("incident/1", 2, "$patch", repeated, metadata=who),
            Event("unit/engine-1", 1, "moved", b'{"to": [1, 2.5, null], "note": "\\u00fc"}', JSON),
            Event("camera", 1, "frame", bytes(range(256)), BYTES, who),
        ],
        given=BEGINNING - 5 * SECOND,
        id=b"import-1",
    )
    third = Append(BEGINNING + SECOND, [Event("unit/engine-1", 2, "moved", b"\x01", 9)], id=bytes(range(0x80, 0xC0)))
    return first, second, third


def plain_segment(**fields):
    first, second, third = rich_appends()
    segment = Segment(**fields)
    segment.events(first).events(second, codec=LZ4).events(third)
    return segment.events(incident(1, 2, 2), incident(2, 2, 3, given=BEGINNING), in_group=True)


def pair(**fields):
    """Two segments: a closed one with three appends, an active one with two."""
    closed = Segment().events(incident(1)).events(incident(2, second=1)).events(incident(3, second=2))
    return closed, closed.next(**fields).events(incident(4, second=3)).events(incident(5, second=4))


# --- Recipes: whole stores ------------------------------------------------------------------------

RECIPES = {}


def recipe(function):
    RECIPES[function.__name__.replace("_", "-")] = function
    return function


@recipe
def plain():
    return store([plain_segment()])


@recipe
def no_head():
    return store([plain_segment()], b"")


@recipe
def two_segments():
    return store(pair())


@recipe
def rewritten():
    closed = Segment(revision=1, epoch=3)
    closed.events(incident(1), incident(2, second=1), codec=LZ4, epoch=2)
    closed.events(incident(3, second=2), codec=LZ4, epoch=1).footer(codec=LZ4)
    return store([closed, closed.next().events(incident(4, second=3))])


def erasable_append():
    events = [
        Event("person/7", 1, payload=cbor({"name": "Ada", "phone": "0123"}), salt=SALT),
        Event("person/7", 2, payload=cbor({"name": "Ada L."}), salt=SALT[::-1], metadata=cbor({"by": "desk"})),
    ]
    return Append(BEGINNING, events, erasable=True, id=b"erase-me")


@recipe
def erased():
    original = Segment().events(erasable_append()).events(incident(1, second=1))
    append = erasable_append()
    for event in append.events:
        event.erased()
    closed = Segment(revision=2).events(append, incident(1, second=1)).footer()
    assert closed.chain == original.chain, "erasing must not change the chain"
    return store([closed, closed.next().events(incident(2, second=2))])


@recipe
def control_blocks():
    segment = Segment().events(incident(1)).recovery(b"torn bytes").events(incident(2, second=1))
    segment.control(200, b"whatever a later version keeps here").control(128)
    segment.events(incident(3, second=2)).recovery(b"more")
    return store([segment, segment.next().control(255, b"first").events(incident(4, second=3))])


@recipe
def opaque_event():
    events = [Event("a/1", 1), Event("a/1", 2, "later").opaque(130, b"content of version 1.7"), Event("b", 1).opaque(255, b"")]
    return store([Segment().events(Append(BEGINNING, events)).events(incident(1, second=1))])


@recipe
def reserved_bytes():
    segment = plain_segment(reserved=0x5A5A5A5A, header_length=184, compatible=0xFFFF0001)
    segment.events(incident(3, 2, 9), flags=1 << 20)
    return store([segment], head(slot(segment, 1, 0, reserved=7), slot(segment, 2, reserved=9, flags=2)))


@recipe
def reserved_bytes_rewritten():
    closed = Segment(revision=1, reserved=0x11111111).events(incident(1)).footer()
    return store([closed, closed.next().events(incident(2, second=1))])


@recipe
def zero_tail():
    segment = plain_segment()
    return store([segment], head(slot(segment, 1), slot(segment, 2, clean=True)), tails=[(segment.path, bytes(65536))])


@recipe
def padded():
    segment = Segment().events(incident(1), pad_to=4096).events(incident(2, second=1))
    segment.events(incident(3, second=2), in_group=True, pad_to=4096)
    return store([segment, segment.next().events(incident(4, second=3), pad_to=4096)])


@recipe
def minor_9():
    segment = plain_segment(minor=9)
    return store([segment], head(slot(segment, 1, minor=9)))


@recipe
def readonly_feature():
    return store([plain_segment(readonly=1 << 3)])


@recipe
def trimmed():
    before = Segment(51).events(incident(1))
    before.sequence, before.chain, before.appends, before.written = 101, 0x1122334455667788, 77, []
    segment = before.next().events(incident(2, second=1)).events(incident(3, second=2))
    return store([segment], head(slot(segment, 9, first=101)))


@recipe
def epochs_go_up():
    segment = Segment().events(incident(1))
    segment.epoch = 5
    return store([segment.events(incident(2, second=1))])


@recipe
def large_append():
    events = [Event("bulk/%d" % n, 1, payload=cbor("x" * 40 + str(n))) for n in range(300)]
    return store([Segment().events(Append(BEGINNING, events), codec=LZ4)])


@recipe
def empty():
    segment = Segment()
    return store([segment], head(slot(segment, 1, clean=True)))


@recipe
def unfinished_creation():
    segment = Segment()
    return Forged({"LOCK": b"", segment.path + ".tmp": segment.header()[:2000]}, [], 0, [])


@recipe
def other_names():
    forged = store(pair())
    forged.files.update({"log/7.seg": b"x", "log/00000000000000000009.seg.tmp": b"x", "log/notes.txt": b"x", "derived/a.idx": b"?"})
    return forged


@recipe
def head_of_garbage():
    return store(pair(), b"\xa5" * 4608)


@recipe
def head_one_slot():
    segment = plain_segment()
    return store([segment], head(flipped(slot(segment, 8), 60), slot(segment, 7, 2)))


@recipe
def head_cut():
    segment = plain_segment()
    return store([segment], slot(segment, 8, 1))


@recipe
def rolled_not_named():
    closed, _ = pair()
    fresh = closed.next()
    return store([closed, fresh], head(slot(closed, 3)))


# --- Recipes: newer versions ----------------------------------------------------------------------


def second_block(**options):
    """A good block, one with something odd about it, and a good one behind."""
    segment = Segment().events(incident(1))
    odd = segment.end
    segment.events(incident(2, second=1), **options).events(incident(3, second=2))
    return segment, odd


@recipe
def unsupported_feature():
    segment = plain_segment(incompatible=1 << 5)
    return store([segment], findings=[("unsupported", segment.path, 0)], events=0)


@recipe
def unsupported_algorithm():
    segment = plain_segment(algorithm=2)
    return store([segment], findings=[("unsupported", segment.path, 0)], events=0)


@recipe
def major_2():
    segment = plain_segment(major=2)
    return store([segment], head(slot(segment, 1, major=2)), [("unsupported", segment.path, 0)], 0)


@recipe
def unsupported_kind():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.control(77, b"newer").events(incident(2, second=1))
    return store([segment], findings=[("unsupported", segment.path, at)], events=1)


@recipe
def unsupported_codec():
    segment, at = second_block(codec=2)
    return store([segment], findings=[("unsupported", segment.path, at)], events=1)


@recipe
def unsupported_flag():
    segment, at = second_block(flags=1 << 15)
    return store([segment], findings=[("unsupported", segment.path, at)], events=1)


@recipe
def unsupported_append_flag():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.events(Append(BEGINNING, [Event("a", 1)], flags=8))
    return store([segment], findings=[("unsupported", segment.path, at)], events=1)


@recipe
def unsupported_event_kind():
    event = Event("a", 1)
    event.kind = 3
    segment = Segment().events(incident(1))
    at = segment.end
    segment.events(Append(BEGINNING, [event]))
    return store([segment], findings=[("unsupported", segment.path, at)], events=1)


@recipe
def unsupported_event_flag():
    event = Event("a", 1)
    event.flags = 1
    segment = Segment().events(Append(BEGINNING, [event]))
    return store([segment], findings=[("unsupported", segment.path, 4096)], events=0)


# --- Recipes: torn --------------------------------------------------------------------------------


@recipe
def torn():
    segment = Segment().events(incident(1)).events(incident(2, second=1))
    end = segment.end
    segment.events(incident(3, second=2))
    forged = store([segment], head(slot(segment, 1, 2)), [("torn", segment.path, end)], 2)
    return edited(forged, segment.path, lambda data: data[:-30])


@recipe
def torn_garbage():
    segment = Segment().events(incident(1))
    tail = bytes(range(256)) * 3
    return store([segment], findings=[("torn", segment.path, segment.end)], tails=[(segment.path, tail)])


@recipe
def torn_group():
    segment = Segment().events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1)).events(incident(3, second=2), in_group=True)
    forged = store([segment], head(slot(segment, 1, 1)), [("torn", segment.path, end)], 1)
    return edited(forged, segment.path, lambda data: flipped(data, end + 200))


@recipe
def torn_first_block():
    segment = Segment().events(incident(1))
    forged = store([segment], head(slot(segment, 1, 0)), [("torn", segment.path, 4096)], 0)
    return edited(forged, segment.path, lambda data: data[:4200])


@recipe
def bomb_unpromised():
    segment = Segment().events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1), codec=LZ4, stored=lz4(bytes(40)), raw=bytes(1 << 16))
    return store([segment], head(slot(segment, 1, 1)), [("torn", segment.path, end)], 1)


# --- Recipes: damage ------------------------------------------------------------------------------


@recipe
def torn_then_valid_later():
    segment = Segment().events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1)).events(incident(3, second=2))
    forged = store([segment], head(slot(segment, 1, 1)), [("corrupt", segment.path, end)], 1)
    return edited(forged, segment.path, lambda data: flipped(data, end + 200))


@recipe
def head_clean_with_tail():
    segment = Segment().events(incident(1)).events(incident(2, second=1))
    return store([segment], head(slot(segment, 1, 1, clean=True)), [("corrupt", segment.path, segment.end)])


@recipe
def head_clean_with_garbage():
    segment = Segment().events(incident(1))
    tail = bytes(16) + b"x"
    found = [("corrupt", segment.path, segment.end)]
    return store([segment], head(slot(segment, 1, clean=True)), found, tails=[(segment.path, tail)])


@recipe
def head_ahead():
    segment = Segment().events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1))
    forged = store([segment], findings=[("missing", segment.path, end)], events=1)
    return edited(forged, segment.path, lambda data: data[:end])


@recipe
def head_ahead_of_zeros():
    segment = Segment().events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1))
    forged = store([segment], findings=[("corrupt", segment.path, end)], events=1)
    return edited(forged, segment.path, lambda data: data[:end].ljust(len(data) + 4096, b"\0"))


@recipe
def head_stale_chain():
    segment = plain_segment()
    return store([segment], head(slot(segment, 1, 2, durable_chain=1)), [("stale", "HEAD", 0)])


@recipe
def head_stale_offset():
    segment = plain_segment()
    return store([segment], head(slot(segment, 1, 2, durable_offset=4104)), [("stale", "HEAD", 0)])


@recipe
def head_names_missing():
    closed, active = pair()
    found = [("missing", active.path, 0)]
    return edited(store([closed, active], findings=found, events=3), active.path, lambda data: None)


@recipe
def only_head():
    segment = plain_segment()
    return edited(store([segment], findings=[("missing", segment.path, 0)], events=0), segment.path, lambda data: None)


@recipe
def bad_decode():
    closed = Segment().events(incident(1))
    first = closed.end
    append = incident(2, second=1)
    closed.events(append, raw=append.encoded()[:-1])
    active = closed.next().events(incident(3, second=2))
    second = active.end
    active.events(incident(4, second=3), chain_after=99).events(incident(5, second=4))
    return store([closed, active], findings=[("corrupt", closed.path, first), ("corrupt", active.path, second)], events=1)


@recipe
def bad_counts():
    append = incident(2, second=1)
    segment = Segment().events(incident(1))
    at = segment.end
    segment.events(append, raw=append.encoded() + incident(3, second=1).encoded())
    return store([segment], findings=[("corrupt", segment.path, at)], events=1)


@recipe
def bad_times():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.events(incident(2, second=1), last_time=BEGINNING + 9 * SECOND)
    return store([segment], findings=[("corrupt", segment.path, at)], events=1)


@recipe
def bomb():
    segment, at = second_block(codec=LZ4, stored=lz4(bytes(40)), **{"raw": bytes(1 << 16)})
    return store([segment], findings=[("corrupt", segment.path, at)], events=1)


@recipe
def bomb_in_ratio():
    append = incident(2, second=1)
    segment, at = second_block(codec=LZ4, stored=lz4(append.encoded()), **{"raw": bytes(20000)})
    return store([segment], findings=[("corrupt", segment.path, at)], events=1)


@recipe
def nonshortest_varint():
    append = incident(2, second=1)
    body = append.encoded()
    assert body[0] < 128
    segment, at = second_block(raw=bytes([body[0] | 128, 0]) + body[1:])
    return store([segment], findings=[("corrupt", segment.path, at)], events=1)


@recipe
def wrong_padding():
    segment = Segment().events(incident(1), pad_to=4096)
    at = segment.end - 8
    forged = store([segment], findings=[("corrupt", segment.path, 4096)], events=0)
    return edited(forged, segment.path, lambda data: flipped(data, at))


@recipe
def missing_middle():
    first, second = pair()
    third = second.next().events(incident(6, second=5))
    forged = store([first, second, third], findings=[("missing", second.path, 0)], events=3)
    return edited(forged, second.path, lambda data: None)


@recipe
def missing_first():
    first, second = pair()
    return edited(store([first, second], findings=[("missing", first.path, 0)], events=0), first.path, lambda data: None)


@recipe
def missing_end():
    closed, active = pair()
    end = closed.marks[-2][0]
    forged = store([closed, active], findings=[("missing", closed.path, end)], events=2)
    return edited(forged, closed.path, lambda data: data[:end])


@recipe
def closed_cut_inside_a_block():
    closed, active = pair()
    forged = store([closed, active], findings=[("corrupt", closed.path, closed.marks[-2][0])], events=2)
    return edited(forged, closed.path, lambda data: data[:-8])


@recipe
def closed_with_zeros():
    closed, active = pair()
    return store([closed, active], findings=[("corrupt", closed.path, closed.end)], events=3, tails=[(closed.path, bytes(8))])


@recipe
def closed_goes_beyond():
    closed = Segment().events(incident(1)).events(incident(2, second=1))
    active = closed.next().events(incident(3, second=2))
    closed.events(incident(3, second=2))
    return store([closed, active], findings=[("stale", closed.path, closed.end)], events=3)


@recipe
def swapped_blocks():
    closed, active = pair()
    first, second, third = closed.marks[1][0], closed.marks[2][0], closed.marks[3][0]
    forged = store([closed, active], findings=[("misplaced", closed.path, first)], events=1)
    return edited(forged, closed.path, lambda d: d[:first] + d[second:third] + d[first:second] + d[third:])


@recipe
def swapped_in_active():
    segment = pair()[0]
    first, second = segment.marks[1][0], segment.marks[2][0]
    forged = store([segment], findings=[("misplaced", segment.path, first)], events=1)
    return edited(forged, segment.path, lambda d: d[:first] + d[second:] + d[first:second])


@recipe
def stale_block():
    segment, at = second_block(chain_before=5)
    closed = segment
    return store([closed, closed.next()], findings=[("stale", closed.path, at)], events=1)


@recipe
def stale_epoch():
    segment = Segment(epoch=4).events(incident(1))
    at = segment.end
    segment.events(incident(2, second=1), epoch=3)
    return store([segment], findings=[("stale", segment.path, at)], events=1)


@recipe
def foreign_segment():
    closed, active = pair()
    foreign = Segment(closed.sequence, closed, FOREIGN_UUID).events(incident(4, second=3))
    forged = store([closed, active], findings=[("misplaced", active.path, 0)], events=3)
    return edited(forged, active.path, lambda data: foreign.bytes())


@recipe
def foreign_block():
    segment, at = second_block(uuid=FOREIGN_UUID)
    return store([segment], findings=[("misplaced", segment.path, at)], events=1)


@recipe
def misnamed_segment():
    closed, active = pair()
    forged = store([closed, active], findings=[("misplaced", "log/%020d.seg" % 5, 0), ("missing", active.path, 0)], events=3)
    forged.files["log/%020d.seg" % 5] = forged.files.pop(active.path)
    return forged


@recipe
def bad_segment_header():
    closed, active = pair()
    return edited(
        store([closed, active], findings=[("corrupt", closed.path, 0)], events=0),
        closed.path,
        lambda data: flipped(data, 2000),
    )


@recipe
def short_segment():
    closed, active = pair()
    found = [("corrupt", active.path, 0)]
    return edited(store([closed, active], findings=found, events=3), active.path, lambda data: data[:4095])


@recipe
def footer_cut():
    closed = Segment(revision=1).events(incident(1))
    end = closed.end
    closed.footer()
    active = closed.next().events(incident(2, second=1))
    forged = store([closed, active], findings=[("missing", closed.path, end)], events=1)
    return edited(forged, closed.path, lambda data: data[:end])


@recipe
def footer_lies():
    closed = Segment(revision=1).events(incident(1))
    end = closed.end
    closed.index[0] = closed.index[0][:-8] + struct.pack("<Q", 4104)
    closed.footer()
    active = closed.next().events(incident(2, second=1))
    return store([closed, active], findings=[("corrupt", closed.path, end)], events=1)


# --- Commands -------------------------------------------------------------------------------------


def forge(name):
    """A recipe's store."""
    return RECIPES[name]()


def write(forged, folder):
    """Writes a store into a folder that must not hold anything yet."""
    os.makedirs(folder, exist_ok=True)
    if os.listdir(folder):
        raise FileExistsError("%s is not empty" % folder)
    for inner in ("log", "derived", "quarantine"):
        os.mkdir(os.path.join(folder, inner))
    for path, data in sorted(forged.files.items()):
        with open(os.path.join(folder, path), "wb") as file:
            file.write(data)


def expected(forged):
    findings = [{"class": kind, "file": file, "offset": offset} for kind, file, offset in forged.findings]
    return {"findings": findings, "events": forged.events}


def differences(name, forged, opened):
    """What the reader says about a store that the recipe does not."""
    import strata_reader

    check = strata_reader.verify(opened)
    events, _ = strata_reader.read_events(opened)
    found = [(finding.kind, finding.file, finding.offset) for finding in check.findings]
    read = [(event.sequence, event.stream, event.revision, event.type, event.payload) for event in events]
    if found != forged.findings:
        yield "%s: findings are %r, expected %r" % (name, found, forged.findings)
    if read != forged.written[: forged.events]:
        yield "%s: %d events read, %d expected, or others" % (name, len(read), forged.events)
    for event in events:
        strata_reader.as_line(strata_reader.event_object(event))


def check():
    """Compares the reader with every recipe, in memory and in files."""
    import strata_reader

    wrong = []
    for name in RECIPES:
        forged = forge(name)
        if forge(name) != forged:
            wrong.append("%s: two forgeries differ" % name)
        wrong += differences(name, forged, strata_reader.MemoryStore(forged.files))
        with tempfile.TemporaryDirectory() as folder:
            write(forged, folder)
            wrong += differences(name + " in a folder", forged, strata_reader.FolderStore(folder))
    return wrong


def main(arguments):
    if arguments == ["--list"]:
        for name in RECIPES:
            forged = forge(name)
            found = ", ".join("%s %s@%d" % finding for finding in forged.findings) or "clean"
            print("%-26s %3d events  %s" % (name, forged.events, found))
        return 0
    if arguments == ["--check"]:
        wrong = check()
        print("\n".join(wrong) or "%d recipes hold" % len(RECIPES))
        return 1 if wrong else 0
    if len(arguments) == 2 and arguments[0] == "--all":
        for name in RECIPES:
            write(forge(name), os.path.join(arguments[1], name))
        with open(os.path.join(arguments[1], "expected.json"), "w") as file:
            json.dump({name: expected(forge(name)) for name in RECIPES}, file, indent=1)
        return 0
    if len(arguments) == 2 and arguments[0] in RECIPES:
        write(forge(arguments[0]), arguments[1])
        return 0
    sys.stderr.write(__doc__)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
