"""The building blocks of hand-made stores: encoders, events, blocks, segments and HEAD, written from FORMAT.md alone.

Everything follows the format unless a keyword argument overrides it. Such a value is set before the checksums are
computed, so a store can contain wrong values under valid checksums, which flipping bits cannot produce.
"""

import struct
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
ERASED = 2
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
    """The CBOR encoding of simple values, with shortest heads."""
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
    """A raw LZ4 block: greedy matches of at least four bytes, with literals between them."""
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
    """One event; `erased` and `opaque` turn it into what a rewrite or a newer version would write."""

    def __init__(self, stream, revision, type="$put", payload=b"\xf6", codec=CBOR, metadata=b"", salt=b""):
        self.stream, self.revision, self.type = stream, revision, type
        self.payload = payload
        self.kind = 1
        self.flags = 0
        self.names = sized(stream.encode("utf-8")) + sized(type.encode("utf-8"))
        self.content = varint(codec) + sized(salt) + sized(metadata) + sized(payload)
        self.content_hash = xxh64(self.content)

    def erased(self):
        """The same event after its content was erased; the chain stays the same."""
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
    """One append. `flags` overrides the flags that follow from the other values."""

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
        self.erasures = xxh64(b"")
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
        """Adds an events block of some appends; `raw` or `stored` replaces the correct payload."""
        chain, sequence = self.chain, self.sequence
        for append in appends:
            chain = chain_through(append, sequence, chain)
            for number, event in enumerate(append.events, sequence):
                self.written.append((number, event.stream, event.revision, event.type, event.payload))
                if event.kind == ERASED:
                    self.erasures = xxh64(struct.pack("<QQ", self.erasures, number))
            sequence += len(append.events)
        if raw is None:
            raw = b"".join(append.encoded() for append in appends)
        self.index.append(struct.pack("<QqQQ", self.sequence, appends[0].time, self.appends, self.end))
        times = (appends[0].time, appends[-1].time)
        self.block(EVENTS, raw, codec, stored, sequence - self.sequence, len(appends), times, chain, in_group, fields)
        self.time = appends[-1].time
        return self

    def control(self, kind, payload=b"", codec=STORED, stored_as=None, **fields):
        times = (self.time, self.time)
        return self.block(kind, payload, codec, stored_as, 0, 0, times, self.chain, False, fields)

    def recovery(self, cut, name="quarantine/tail-1"):
        path = name.encode("utf-8")
        payload = struct.pack("<QQqIHH", self.end, len(cut), self.time, crc32c(cut), 1, len(path))
        return self.control(RECOVERY, payload + path)

    def footer(self, codec=STORED, is_marked=False):
        at = self.end
        self.control(FOOTER, struct.pack("<II", len(self.index), self.reserved) + b"".join(self.index), codec)
        mark = self.erasures if is_marked else 0
        ends = dict(footer=at, last=self.sequence - 1, chain=self.chain, end=self.end, mark=mark)
        self.fields = dict(ends, **self.fields)
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
            mark=0 if self.revision else int.from_bytes(bytes([self.reserved & 255]) * 8, "little"),
        )  # fmt: skip
        values.update(self.fields)
        data = struct.pack("<8sHHI16sQQQQQQQqQQqIB3sQQQQQ", *values.values())
        data += bytes([self.reserved & 255]) * (4092 - len(data))
        return data + struct.pack("<I", crc32c(data))

    def bytes(self):
        return self.header() + bytes(self.body)


# --- HEAD and stores ------------------------------------------------------------------------------


def slot(written, generation, mark=-1, first=1, clean=False, reserved=0, **fields):
    """One slot of HEAD with both marks after a block of a segment."""
    offset, sequence, chain = written.marks[mark]
    values = dict(
        magic=b"STRATAHD", major=1, minor=0, length=512, uuid=written.uuid, generation=generation,
        segment=written.first, epoch=written.epoch, flags=int(clean), durability=2, visible_offset=offset,
        visible_sequence=sequence, visible_chain=chain, durable_offset=offset, durable_sequence=sequence,
        durable_chain=chain, time=written.time if mark == -1 else BEGINNING, first=first,
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
    """A store of segments. Without `head_data`, HEAD's marks are at the end of the last segment."""
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
