"""Decodes the payloads of valid blocks: events, RECOVERY and FOOTER."""

import struct
from collections import namedtuple

from strata_codecs import Malformed, lz4_decode, varint, xxh64
from strata_segment import EVENTS, FOOTER, RECOVERY

NO_TIME = -(1 << 63)


class Unsupported(Exception):
    """Raised for a valid block that needs a newer reader."""


class Event(
    namedtuple(
        "Event",
        "sequence append_first append_last time given id kind revision stream type codec metadata payload chain length",
    )
):
    """One event; `length` is that of its content, also of one that was erased."""

    @property
    def own_time(self):
        return self.time if self.given is None else min(self.given, self.time)


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
    """The events of a valid block; empty for control blocks. Raises Malformed and Unsupported.

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
    """The entry of an events block in a FOOTER."""
    return struct.pack("<QqQQ", block.first, block.first_time, block.appends_before, block.own_offset)


def check_footer(raw, block, header, index):
    if header.revision == 0 or header.footer != block.own_offset:
        raise Malformed("FOOTER: not at the offset in the segment header")
    if len(raw) != 8 + 32 * len(index) or int.from_bytes(raw[:4], "little") != len(index):
        raise Malformed("FOOTER: number of entries")
    if raw[8:] != b"".join(index):
        raise Malformed("FOOTER: entries")


def decode_events(raw, block):
    """All events of an events block, compared with its header."""
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
        hash_of_content, length_of_content = xxh64(raw[content:at]), at - content
    else:
        hash_of_content, at = u64(raw, at, end)
        if kind == 2:
            length_of_content, at = varint(raw, at, end)
        else:
            length_of_content, at = end - at, end
    if at != end:
        raise Malformed("content does not fill its event")
    first, number, last = numbers
    link = (chain, number, revision, append.hash, xxh64(raw[names:content]), hash_of_content)
    try:
        names = (stream.decode("utf-8"), kind_of_event.decode("utf-8"))
        chain = xxh64(struct.pack("<6Q", *link))
    except (UnicodeDecodeError, struct.error):
        raise Malformed("a name is not UTF-8, or a sequence past 64 bits") from None
    head = (number, first, last, append.time, append.given, append.id, kind, revision, *names)
    event = Event(*head, codec, metadata, payload, chain, length_of_content)
    return event, end


def field(raw, at, end):
    """Reads a varint and that many bytes."""
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
