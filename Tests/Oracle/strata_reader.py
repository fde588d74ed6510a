"""A second reader of Strata stores, written from FORMAT.md alone, to judge the first one.

    strata_reader.py log STORE           the events up to X, as `logreplay log -o jsonl` prints them
    strata_reader.py verify STORE        what a check reports, as `logreplay verify -o json` does
    strata_reader.py verify-many         store paths from standard input, one verify object a line
    strata_reader.py payloads STORE DIR  LZ4 payloads as files for `lz4 -dc`, with the bytes expected
    strata_reader.py annotate STORE      HEAD and the segments of a small store as annotated hex
    strata_reader.py rebuild FILE DIR    the files that such hex, perhaps amid other text, gives

`log` and `verify` exit with 0 for a clean store, 2 for a torn one, 65 for any other finding and 66
where there is no store. Nothing is ever written to a store.
"""

import json
import mmap
import os
import re
import stat
import struct
import sys
from collections import namedtuple
from datetime import datetime, timedelta

from strata_codecs import Malformed, RAW_LENGTH_MAX, cbor_to_json, crc32c, in_base64, lz4_decode, varint, xxh64

SEGMENT_HEADER_LENGTH = 4096
BLOCK_HEADER_LENGTH = 176
SLOT_LENGTH = 512
SLOT_OFFSETS = (0, 4096)
NO_TIME = -(1 << 63)
MAPPED_FROM = 64 << 20

EVENTS, RECOVERY, FOOTER = 1, 2, 3
SEGMENT_NAME = re.compile(r"([0-9]{20})\.seg", re.ASCII)
SEQUENCE_MAX = APPENDS_MAX = (1 << 64) - 1


# --- Files ----------------------------------------------------------------------------------------


class FolderStore:
    """A store in a folder."""

    def __init__(self, path):
        if not os.path.isdir(path):
            raise FileNotFoundError("no folder at %s" % path)
        self.path = path

    def names_in_log(self):
        try:
            return os.listdir(os.path.join(self.path, "log"))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def was_begun(self):
        """Whether somebody set out to create a store here."""
        return self.has("LOCK") or os.path.isdir(os.path.join(self.path, "log"))

    def has(self, name):
        return os.path.exists(os.path.join(self.path, name))

    def read(self, name, limit=None):
        """A file's bytes, at most `limit`; empty where it is not a regular file."""
        path = os.path.join(self.path, name)
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                return b""
        except (FileNotFoundError, NotADirectoryError):
            return b""
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if limit is not None:
                return file.read(limit)
            if size >= MAPPED_FROM:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return file.read(MAPPED_FROM)


class MemoryStore:
    """A store of bytes in memory: {path relative to the store: bytes}."""

    def __init__(self, files):
        self.files = files

    def names_in_log(self):
        return [path[4:] for path in self.files if path.startswith("log/")]

    def was_begun(self):
        return any(path == "LOCK" or path.startswith("log/") for path in self.files)

    def has(self, name):
        return name in self.files

    def read(self, name, limit=None):
        return self.files.get(name, b"")[:limit]


def segment_path(first):
    return "log/%020d.seg" % first


def segments_of(store):
    """The first sequences that the names of a store's segments say, ascending."""
    found = filter(None, map(SEGMENT_NAME.fullmatch, store.names_in_log()))
    return sorted(first for first in (int(match.group(1)) for match in found) if 1 <= first <= SEQUENCE_MAX)


def only_zeros(data, start, end):
    """Whether bytes are all zero, without copying a large file at once."""
    for at in range(start, end, 1 << 20):
        if data[at : min(end, at + (1 << 20))].strip(b"\0"):
            return False
    return True


# --- HEAD -----------------------------------------------------------------------------------------

Head = namedtuple(
    "Head",
    "magic major minor length uuid generation segment epoch flags durability visible_offset "
    "visible_sequence visible_chain durable_offset durable_sequence durable_chain time first",
)
HEAD_FORM = struct.Struct("<8sHHI16sQQQIIQQQQQQqQ")


def read_head(store):
    """The slot that counts, or None where no slot verifies."""
    data = store.read("HEAD", SLOT_OFFSETS[1] + SLOT_LENGTH)
    newest = None
    for at in SLOT_OFFSETS:
        head = read_slot(data, at)
        if head and (newest is None or head.generation > newest.generation):
            newest = head
    return newest


def read_slot(data, at):
    """The slot at an offset of HEAD, or None where it does not verify."""
    slot = data[at : at + SLOT_LENGTH]
    if len(slot) < SLOT_LENGTH:
        return None
    head = Head._make(HEAD_FORM.unpack_from(slot))
    if head.magic != b"STRATAHD" or head.major != 1 or head.length != SLOT_LENGTH:
        return None
    return head if int.from_bytes(slot[508:], "little") == crc32c(slot[:508]) else None


# --- Segment headers ------------------------------------------------------------------------------

SegmentHeader = namedtuple(
    "SegmentHeader",
    "magic major minor length uuid first incompatible readonly compatible previous_first "
    "previous_last previous_chain previous_time appends epoch created revision chain_algorithm "
    "reserved footer last chain end",
)
SEGMENT_FORM = struct.Struct("<8sHHI16sQQQQQQQqQQqIB3sQQQQ")


def judge_segment_header(data, is_first):
    """(class of what is wrong or None, header), apart from what the file's name and the store's UUID tell."""
    if len(data) < SEGMENT_HEADER_LENGTH:
        return "corrupt", None
    header = SegmentHeader._make(SEGMENT_FORM.unpack_from(data))
    if header.magic != b"STRATASG" or header.length != SEGMENT_HEADER_LENGTH:
        return "corrupt", None
    if int.from_bytes(data[4092:4096], "little") != crc32c(data[:4092]):
        return "corrupt", None
    if header.major != 1 or header.incompatible != 0 or header.chain_algorithm != 1:
        return "unsupported", header
    if header.previous_last != header.first - 1:
        return "corrupt", None
    if header.previous_first == 0 and not is_first:
        return "corrupt", None
    return None, header


# --- Blocks ---------------------------------------------------------------------------------------

Block = namedtuple(
    "Block",
    "magic length kind codec flags crc stored raw payload_crc events appends reserved span "
    "own_offset first appends_before segment uuid epoch synced first_time last_time chain_before "
    "chain_after",
)
BLOCK_FORM = struct.Struct("<4sHBBIIIIIIIIQQQQQ16sQQqqQQ")


class Place:
    """What the segment demands of the next block: where it stands and what it continues."""

    def __init__(self, header):
        self.uuid = header.uuid
        self.segment = header.first
        self.rewritten = header.revision > 0
        self.offset = SEGMENT_HEADER_LENGTH
        self.sequence = header.first
        self.appends = header.appends
        self.chain = header.previous_chain
        self.time = header.previous_time
        self.epoch = header.epoch
        self.synced = SEGMENT_HEADER_LENGTH

    def pass_over(self, block):
        self.offset += block.span
        self.sequence += block.events
        self.appends += block.appends
        self.chain = block.chain_after
        self.epoch = block.epoch
        self.synced = block.synced
        if block.kind == EVENTS:
            self.time = block.last_time


def block_header(data, at):
    """Point 1: a header whose magic, length and CRC hold, or None."""
    if len(data) - at < BLOCK_HEADER_LENGTH:
        return None
    block = Block._make(BLOCK_FORM.unpack_from(data, at))
    if block.magic != b"STRB" or not header_length_holds(block, len(data) - at):
        return None
    return block if header_crc_holds(data, at, block) else None


def header_length_holds(block, room):
    return block.length % 8 == 0 and BLOCK_HEADER_LENGTH <= block.length <= min(4096, room)


def header_crc_holds(data, at, block):
    return block.crc == crc32c(data[at : at + 12] + b"\0\0\0\0" + data[at + 16 : at + block.length])


def stands_where_it_was_written(block, at, place):
    """Point 2."""
    return block.own_offset == at and block.segment == place.segment and block.uuid == place.uuid


def sizes_hold(block, at, size):
    """Point 3: no length leads out of the file, and no count past 64 bits."""
    if block.span % 8 != 0 or block.span < block.length + block.stored or block.span > size - at:
        return False
    if block.first + block.events > SEQUENCE_MAX or block.appends_before + block.appends > APPENDS_MAX:
        return False
    if block.raw > RAW_LENGTH_MAX or block.raw > 255 * block.stored + 64:
        return False
    return block.codec != 0 or block.raw == block.stored


def payload_holds(data, at, block):
    """Point 4."""
    start = at + block.length
    end = start + block.stored
    if block.payload_crc != crc32c(data[start:end]):
        return False
    return only_zeros(data, end, at + block.span)


def continues(block, place):
    """Points 5 and 6."""
    if place.rewritten:
        if block.synced != block.own_offset:
            return False
    elif block.epoch < place.epoch or not place.synced <= block.synced <= block.own_offset:
        return False
    if (block.first, block.appends_before, block.chain_before) != (place.sequence, place.appends, place.chain):
        return False
    if block.kind == EVENTS:
        return block.first_time >= place.time and 1 <= block.appends <= block.events
    return block.events == 0 and block.appends == 0 and block.chain_after == block.chain_before


def judge_block(data, at, place):
    """(class of what is wrong or None, block) for the block that should stand at an offset."""
    block = block_header(data, at)
    if block is None:
        return "corrupt", None
    if not stands_where_it_was_written(block, at, place):
        return "misplaced", None
    if not sizes_hold(block, at, len(data)) or not payload_holds(data, at, block):
        return "corrupt", None
    if not continues(block, place):
        return "stale", None
    return None, block


def headers_behind(data, place):
    """Every block header at or after X that the rule about torn tails listens to."""
    at = data.find(b"STRB", place.offset)
    while at >= 0 and len(data) - at >= BLOCK_HEADER_LENGTH:
        if at % 8 == 0:
            block = Block._make(BLOCK_FORM.unpack_from(data, at))
            if (
                stands_where_it_was_written(block, at, place)
                and header_length_holds(block, len(data) - at)
                and block.epoch >= place.epoch
                and block.synced <= block.own_offset
                and header_crc_holds(data, at, block)
            ):
                yield block
        at = data.find(b"STRB", at + 1)


# --- Payloads -------------------------------------------------------------------------------------


class Unsupported(Exception):
    """A valid block that needs a newer reader."""


Event = namedtuple(
    "Event",
    "sequence append_first append_last time given id kind revision stream type codec metadata payload chain",
)


def raw_payload(data, block):
    """The decoded payload of a block. Raises Malformed and Unsupported."""
    start = block.own_offset + block.length
    stored = data[start : start + block.stored]
    if block.codec == 0:
        return stored
    if block.codec == 1:
        return lz4_decode(stored, block.raw)
    raise Unsupported("codec %d" % block.codec)


def decode_block(data, block, header, index):
    """The events of a valid block, none for control blocks. Raises Malformed and Unsupported.

    `index` holds the footer entries of the events blocks before it.
    """
    if block.kind >= 128:
        return []
    if block.flags & 0xFFFF:
        raise Unsupported("flags %#x" % block.flags)
    if block.kind == EVENTS:
        return decode_events(raw_payload(data, block), block)
    if block.kind == RECOVERY:
        check_recovery(raw_payload(data, block), block, header)
    elif block.kind == FOOTER:
        check_footer(raw_payload(data, block), block, header, index)
    else:
        raise Unsupported("kind %d" % block.kind)
    return []


def check_recovery(raw, block, header):
    if block.codec != 0 or len(raw) < 32:
        raise Malformed("RECOVERY: codec or length")
    offset, _, _, _, _, path_length = struct.unpack_from("<QQqIHH", raw)
    if offset != block.own_offset and header.revision == 0:
        raise Malformed("RECOVERY: offset")
    if len(raw) != 32 + path_length:
        raise Malformed("RECOVERY: length")
    if not is_utf8(raw[32:]):
        raise Malformed("RECOVERY: path")


def footer_entry(block):
    """What a FOOTER says of an events block."""
    return struct.pack("<QqQQ", block.first, block.first_time, block.appends_before, block.own_offset)


def check_footer(raw, block, header, index):
    if header.revision == 0 or header.footer != block.own_offset:
        raise Malformed("FOOTER: not where the segment header says")
    if len(raw) != 8 + 32 * len(index) or int.from_bytes(raw[:4], "little") != len(index):
        raise Malformed("FOOTER: number of entries")
    if raw[8:] != b"".join(index):
        raise Malformed("FOOTER: entries")


def decode_events(raw, block):
    """All events of an events block, checked against its header."""
    events = []
    sequence, chain, time, appends = block.first, block.chain_before, None, 0
    at = 0
    while at < len(raw):
        length, at = varint(raw, at, len(raw))
        if length > len(raw) - at:
            raise Malformed("an append is cut off")
        end = at + length
        append = append_head(raw, at, end)
        if append.time < (block.first_time if time is None else time):
            raise Malformed("commit times go back")
        if time is None and append.time != block.first_time:
            raise Malformed("first commit time")
        time, appends, at = append.time, appends + 1, append.end
        last = sequence + append.count - 1
        for number in range(sequence, last + 1):
            event, at = decode_event(raw, at, end, append, (sequence, number, last), chain)
            chain = event.chain
            events.append(event)
        if at != end:
            raise Malformed("events do not fill their append")
        sequence = last + 1
    if (len(events), appends, chain) != (block.events, block.appends, block.chain_after):
        raise Malformed("counts or chain differ from the header's")
    if time != block.last_time:
        raise Malformed("last commit time")
    return events


AppendHead = namedtuple("AppendHead", "count time given id hash end")


def append_head(raw, start, end):
    flags, at = varint(raw, start, end)
    if flags > 7:
        raise Unsupported("append flags %#x" % flags)
    count, at = varint(raw, at, end)
    if count == 0:
        raise Malformed("an append without events")
    time, at = i64(raw, at, end)
    if time == NO_TIME:
        raise Malformed("an append without a commit time")
    given = append_id = None
    if flags & 1:
        given, at = i64(raw, at, end)
    if flags & 2:
        append_id, at = field(raw, at, end)
        if not 1 <= len(append_id) <= 64:
            raise Malformed("length of an append id")
    return AppendHead(count, time, given, append_id, xxh64(raw[start:at]), at)


def decode_event(raw, at, limit, append, numbers, chain):
    length, at = varint(raw, at, limit)
    if length > limit - at:
        raise Malformed("an event is cut off")
    end = at + length
    if end == at:
        raise Malformed("an event without bytes")
    kind = raw[at]
    if kind == 0 or 3 <= kind < 128:
        raise Unsupported("event kind %d" % kind)
    flags, at = varint(raw, at + 1, end)
    if flags:
        raise Unsupported("event flags %#x" % flags)
    revision, at = u64(raw, at, end)
    if revision == 0:
        raise Malformed("a revision of 0")
    names = at
    stream, at = field(raw, at, end)
    kind_of_event, at = field(raw, at, end)
    if not 1 <= len(stream) <= 1024 or not 1 <= len(kind_of_event) <= 255:
        raise Malformed("length of a name")
    content = at
    codec = metadata = payload = None
    if kind == 1:
        codec, at = varint(raw, at, end)
        salt, at = field(raw, at, end)
        if len(salt) not in (0, 16):
            raise Malformed("length of a salt")
        metadata, at = field(raw, at, end)
        payload, at = field(raw, at, end)
        hash_of_content = xxh64(raw[content:at])
    else:
        hash_of_content, at = u64(raw, at, end)
        if kind == 2:
            _, at = varint(raw, at, end)
        else:
            at = end
    if at != end:
        raise Malformed("content does not fill its event")
    first, number, last = numbers
    link = (chain, number, revision, append.hash, xxh64(raw[names:content]), hash_of_content)
    try:
        names = (stream.decode("utf-8"), kind_of_event.decode("utf-8"))
        chain = xxh64(struct.pack("<6Q", *link))
    except (UnicodeDecodeError, struct.error):
        raise Malformed("a name is not UTF-8, or a sequence past 64 bits") from None
    event = Event(
        number, first, last, append.time, append.given, append.id, kind, revision, *names, codec, metadata, payload, chain
    )
    return event, end


def field(raw, at, end):
    """A varint and as many bytes."""
    length, at = varint(raw, at, end)
    if length > end - at:
        raise Malformed("a field is cut off")
    return raw[at : at + length], at + length


def u64(raw, at, end):
    if end - at < 8:
        raise Malformed("a number is cut off")
    return int.from_bytes(raw[at : at + 8], "little"), at + 8


def i64(raw, at, end):
    if end - at < 8:
        raise Malformed("a time is cut off")
    return int.from_bytes(raw[at : at + 8], "little", signed=True), at + 8


def is_utf8(data):
    try:
        data.decode("utf-8")
        return True
    except UnicodeDecodeError:
        return False


# --- The check ------------------------------------------------------------------------------------

Finding = namedtuple("Finding", "kind file offset first last")
File = namedtuple("File", "first path trouble header data")


class Check:
    """Looks at a whole store as "What a check reports" says, and collects at most one finding a file.

    `visit(block, file, events)` is called for each valid, decodable block. With `stops_at_damage`
    nothing behind the first finding is visited.
    """

    def __init__(self, store, visit=None, stops_at_damage=False):
        self.store = store
        self.visit = visit
        self.stops_at_damage = stops_at_damage
        self.findings = []
        self.segments = self.blocks = self.events = 0
        self.head = read_head(store)
        self.names = segments_of(store)
        self.uuid = self.head.uuid if self.head else None
        if not self.names and not self.head and not store.was_begun():
            raise FileNotFoundError("no store: neither a segment nor HEAD, LOCK or log/")

    def run(self):
        walk_of_head = following = None
        for index, first in enumerate(self.names):
            file = following or self.open(index)
            following = self.open(index + 1) if index + 1 < len(self.names) else None
            self.segments += 1
            if self.uuid is None and file.trouble is None and file.header.first == first:
                self.uuid = file.header.uuid
            self.check_before(index, file)
            if self.stops_at_damage and self.findings:
                return self
            walk = self.check_segment(file, following)
            if self.head and self.head.segment == first:
                walk_of_head = walk
        if self.head:
            self.check_head(walk_of_head)
        return self

    def open(self, index):
        path = segment_path(self.names[index])
        data = self.store.read(path)
        return File(self.names[index], path, *judge_segment_header(data, is_first=index == 0), data)

    def report(self, kind, file, offset, first, last):
        if all(finding.file != file for finding in self.findings):
            self.findings.append(Finding(kind, file, offset, first, max(last, first - 1)))

    def header_trouble(self, file):
        if file.trouble is not None:
            return file.trouble
        if file.header.first != file.first or file.header.uuid != self.uuid:
            return "misplaced"
        return None

    def check_before(self, index, file):
        """Whether the segment that ought to stand before this one does."""
        named = None
        if index == 0:
            if self.head and self.head.first < file.first:
                named = self.head.first
        elif self.header_trouble(file) is None and file.header.previous_first != self.names[index - 1]:
            named = file.header.previous_first
        if named is not None:
            self.report("missing", segment_path(named), 0, named, file.first - 1)

    def check_segment(self, file, following):
        """The walk through a segment's blocks, or None where its header has a finding."""
        trouble = self.header_trouble(file)
        if trouble is not None:
            self.report(trouble, file.path, 0, file.first, file.first - 1)
            return None
        walk = Walk(self, file)
        if walk.damage is not None:
            kind, block = walk.damage
            self.report(kind, file.path, block.own_offset, block.first, self.range_end(file, following, walk))
        elif following or walk.place.rewritten:
            self.check_closed(file, following, walk)
        else:
            self.check_active(file, walk)
        return walk

    def range_end(self, file, following, walk):
        """The last sequence that a finding in a segment puts in doubt."""
        if following:
            return following.first - 1
        last = walk.place.sequence - 1
        if self.head and self.head.segment == file.first:
            last = max(last, self.counted_by_head())
        if walk.place.rewritten:
            last = max(last, file.header.last)
        for block in headers_behind(file.data, walk.place):
            last = max(last, block.first + block.events - 1)
        return min(last, SEQUENCE_MAX)

    def counted_by_head(self):
        return max(self.head.visible_sequence, self.head.durable_sequence)

    def check_closed(self, file, following, walk):
        """A closed segment, or a rewritten one wherever it stands: every byte must be right."""
        place, header, size = walk.place, file.header, len(file.data)
        kind = None
        if place.offset < size:
            kind, _ = judge_block(file.data, place.offset, place)
        elif place.rewritten and size != header.end:
            kind = "missing" if size < header.end else "stale"
        elif place.rewritten and (walk.last_block is None or walk.last_block.kind != FOOTER):
            kind = "corrupt"
        else:
            if place.rewritten:
                kind = compare_ends(place, header.last, (header.chain,))
            if kind is None and following and self.continues_in(file, following):
                then = following.header
                kind = compare_ends(place, then.previous_last, (then.previous_chain, then.previous_time, then.appends))
        if kind is not None:
            self.report(kind, file.path, place.offset, place.sequence, self.range_end(file, following, walk))

    def continues_in(self, file, following):
        return self.header_trouble(following) is None and following.header.previous_first == file.first

    def check_active(self, file, walk):
        """The rule that tells a torn tail from damage."""
        place, data, size = walk.place, file.data, len(file.data)
        head = self.head if self.head and self.head.segment == file.first else None
        promise = head.durable_offset if head else 0
        for block in headers_behind(data, place):
            promise = max(promise, block.synced)
        is_corrupt = promise > place.offset
        if head and head.flags & 1:
            is_corrupt = is_corrupt or not only_zeros(data, head.durable_offset, size)
        if is_corrupt:
            if place.offset >= size and size < promise:
                kind = "missing"
            else:
                kind, _ = judge_block(data, place.offset, place)
            self.report(kind, file.path, place.offset, place.sequence, self.range_end(file, None, walk))
        elif not only_zeros(data, place.offset, size):
            self.report("torn", file.path, place.offset, place.sequence, place.sequence - 1)

    def check_head(self, walk):
        """What is wrong about HEAD itself; `walk` is that of its segment, if its blocks were looked at."""
        head = self.head
        if head.segment not in self.names:
            self.report("missing", segment_path(head.segment), 0, head.segment, head.durable_sequence)
        elif walk and not walk.place.rewritten and head.durable_offset <= walk.place.offset:
            if walk.at_head_mark != (head.durable_sequence, head.durable_chain):
                self.report("stale", "HEAD", 0, walk.place.sequence, self.counted_by_head())


def compare_ends(place, last, others):
    """What is wrong with where a segment ends; `others` are the chain and perhaps time and appends."""
    if place.sequence - 1 < last:
        return "missing"
    if place.sequence - 1 > last or (place.chain, place.time, place.appends)[: len(others)] != others:
        return "stale"
    return None


class Walk:
    """The longest valid prefix of a segment, and the first block in it that does not decode.

    `place` is where the prefix ends, `damage` the (class, block) of what does not decode,
    `at_head_mark` the (sequence, chain) at HEAD's durable offset, if HEAD means this segment, `last_block` the
    last valid block.
    """

    def __init__(self, check, file):
        self.place = Place(file.header)
        self.damage = None
        self.last_block = None
        self.at_head_mark = None
        mark = check.head.durable_offset if check.head else None
        index = []
        while True:
            place = self.place
            if place.offset == mark:
                self.at_head_mark = (place.sequence - 1, place.chain)
            trouble, block = judge_block(file.data, place.offset, place)
            if trouble is not None:
                return
            if self.damage is None and self.last_block and self.last_block.kind == FOOTER:
                self.damage = ("corrupt", self.last_block)
            if self.damage is None:
                self.decode(check, file, block, index)
            self.last_block = block
            place.pass_over(block)

    def decode(self, check, file, block, index):
        check.blocks += 1
        try:
            events = decode_block(file.data, block, file.header, index)
        except Malformed:
            self.damage = ("corrupt", block)
            return
        except Unsupported:
            self.damage = ("unsupported", block)
            return
        check.events += len(events)
        if block.kind == EVENTS:
            index.append(footer_entry(block))
        if check.visit:
            check.visit(block, file, events)


def exit_code(findings):
    if not findings:
        return 0
    return 2 if all(finding.kind == "torn" for finding in findings) else 65


# --- JSON -----------------------------------------------------------------------------------------


def as_line(value):
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def verify_object(check):
    return {
        "schema": 1,
        "ok": not check.findings,
        "checked": {"segments": check.segments, "blocks": check.blocks, "events": check.events},
        "findings": [
            {"class": f.kind, "file": f.file, "offset": f.offset, "first": f.first, "last": f.last}
            for f in check.findings
        ],
    }


def time_text(time):
    if time is None or time == NO_TIME:
        return None
    seconds, nanoseconds = divmod(time, 1_000_000_000)
    moment = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    return "%s.%09dZ" % (moment.isoformat(), nanoseconds)


def text_or_bytes(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return in_base64(data)


def refuse_constant(text):
    raise ValueError(text)


def bounded_int(digits):
    if len(digits) > 4000:
        raise ValueError("an integer of %d digits" % len(digits))
    return int(digits)


def payload_value(codec, payload):
    """A payload as JSON; one that its own codec refuses is given as bytes."""
    try:
        if codec == 1:
            return cbor_to_json(payload)
        if codec == 2:
            value = json.loads(payload.decode("utf-8"), parse_constant=refuse_constant, parse_int=bounded_int)
            as_line([[value]])
            return value
    except (Malformed, ValueError, RecursionError):
        pass
    return in_base64(payload)


def event_object(event):
    line = {
        "schema": 1,
        "sequence": event.sequence,
        "append": [event.append_first, event.append_last],
        "time": time_text(event.time),
        "stream": event.stream,
        "version": event.revision,
        "type": event.type,
        "id": None if event.id is None else text_or_bytes(event.id),
    }
    if event.given is not None:
        line["given"] = time_text(event.given)
    if event.kind != 1:
        line.update(metadata=None, codec=None, payload=None)
        line["erased" if event.kind == 2 else "opaque"] = True
        return line
    line["metadata"] = payload_value(1, event.metadata) if event.metadata else {}
    line["codec"] = {1: "cbor", 2: "json"}.get(event.codec, "bytes")
    line["payload"] = payload_value(event.codec, event.payload)
    return line


# --- Functions for tests --------------------------------------------------------------------------


def verify(store):
    """Checks a whole store."""
    return Check(store).run()


def read_events(store):
    """(events up to X or the first damage, the check that stopped there)."""
    events = []
    check = Check(store, lambda block, file, found: events.extend(found), stops_at_damage=True)
    return events, check.run()


# --- Commands -------------------------------------------------------------------------------------


def command_log(path):
    def show(block, file, events):
        for event in events:
            sys.stdout.write(as_line(event_object(event)) + "\n")

    check = Check(FolderStore(path), show, stops_at_damage=True).run()
    for f in check.findings:
        sys.stderr.write("%s: %s at %d, sequences %d to %d\n" % (f.file, f.kind, f.offset, f.first, f.last))
    return exit_code(check.findings)


def command_verify(path):
    check = verify(FolderStore(path))
    print(as_line(verify_object(check)))
    return exit_code(check.findings)


def command_verify_many():
    for line in sys.stdin:
        path = line.rstrip("\n")
        try:
            answer = verify_object(verify(FolderStore(path)))
        except OSError as error:
            answer = {"schema": 1, "error": {"code": 66, "what": str(error), "where": path}}
        except Exception as error:  # A defect of this reader: told, so that the other stores are still judged.
            answer = {"schema": 1, "error": {"code": 70, "what": repr(error), "where": path}}
        sys.stdout.write(as_line(answer) + "\n")
        sys.stdout.flush()
    return 0


def command_payloads(path, folder):
    """Writes NAME-OFFSET.lz4, a legacy LZ4 file, and NAME-OFFSET.raw for each LZ4 block."""
    os.makedirs(folder, exist_ok=True)

    def keep(block, file, events):
        if block.codec != 1 or block.kind not in (EVENTS, RECOVERY, FOOTER):
            return
        name = os.path.join(folder, "%020d-%d" % (file.first, block.own_offset))
        start = block.own_offset + block.length
        with open(name + ".lz4", "wb") as out:
            out.write(b"\x02\x21\x4c\x18" + struct.pack("<I", block.stored) + file.data[start : start + block.stored])
        with open(name + ".raw", "wb") as out:
            out.write(raw_payload(file.data, block))
        print(name)

    return exit_code(Check(FolderStore(path), keep).run().findings)


def command_annotate(path):
    from strata_annotate import annotate

    for line in annotate(FolderStore(path)):
        sys.stdout.write(line + "\n")
    return 0


def command_rebuild(path, folder):
    from strata_annotate import BadSection, rebuild

    try:
        with open(path, encoding="utf-8") as file:
            print("\n".join(rebuild(file, folder)))
    except (BadSection, UnicodeDecodeError) as error:
        sys.stderr.write(as_line({"schema": 1, "error": {"code": 65, "what": str(error), "where": path}}) + "\n")
        return 65
    return 0


def main(arguments):
    commands = {
        "log": (command_log, 1),
        "verify": (command_verify, 1),
        "verify-many": (command_verify_many, 0),
        "payloads": (command_payloads, 2),
        "annotate": (command_annotate, 1),
        "rebuild": (command_rebuild, 2),
    }
    command, count = commands.get(arguments[0] if arguments else "", (None, 0))
    if command is None or len(arguments) != count + 1:
        sys.stderr.write(__doc__)
        return 64
    try:
        return command(*arguments[1:])
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        sys.stderr.write(as_line({"schema": 1, "error": {"code": 66, "what": str(error)}}) + "\n")
        return 66
    except Exception as error:  # A defect of this reader must not look like a verdict.
        sys.stderr.write(as_line({"schema": 1, "error": {"code": 70, "what": repr(error)}}) + "\n")
        return 70


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
