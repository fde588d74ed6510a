"""Prints a whole small store as annotated hex, by the tables of FORMAT.md, and rebuilds the files from it.

A file is a line `FILE name length`, followed by lines that give each of its bytes once, in order:

    00000008  01 00                    format major = 1
    000000a8  (3924 zero bytes)  reserved

Lines that begin with `    | ` show, under the stored bytes of an LZ4 block, their decoded content.
"""

import os
import re

from strata_codecs import Malformed, varint
from strata_json import as_line, payload_value, text_or_bytes, time_text
from strata_payloads import Unsupported, decode_block, footer_entry, raw_payload
from strata_segment import EVENTS, FOOTER, RECOVERY, Place, judge_block, judge_segment_header
from strata_store import SLOT_LENGTH, SLOT_OFFSETS, read_slot, segment_path, segments_of

BYTES_PER_LINE = 16
ZEROS = re.compile(rb"\0{%d,}" % (BYTES_PER_LINE + 1))
FILE_LINE = re.compile(r"FILE (HEAD|log/[0-9]{20}\.seg) ([0-9]+)", re.ASCII)
HEX_LINE = re.compile(r"([0-9a-f]{8})  ((?:[0-9a-f]{2} ?)+)  .*", re.ASCII)
ZERO_LINE = re.compile(r"([0-9a-f]{8})  \(([0-9]+) zero bytes\)  .*", re.ASCII)
TEXT_MAX = 100
FILE_LENGTH_MAX = 1 << 30


# --- Values as text -------------------------------------------------------------------------------


def number(data):
    return str(int.from_bytes(data, "little"))


def hexadecimal(data):
    return "%0*x" % (2 * len(data), int.from_bytes(data, "little"))


def time(data):
    return time_text(int.from_bytes(data, "little", signed=True)) or "none"


def text(data):
    return as_line(text_or_bytes(data))


def uuid(data):
    return "%s-%s-%s-%s-%s" % tuple(data[a:b].hex() for a, b in ((0, 4), (4, 6), (6, 8), (8, 10), (10, 16)))


def bits(data):
    value = int.from_bytes(data, "little")
    return "none" if value == 0 else "bits " + ", ".join(str(bit) for bit in range(64) if value >> bit & 1)


def one_of(**names):
    """A number with its name; the name of the number 1 is passed as `n1`, and so on."""

    def told(data):
        return " = ".join(filter(None, (number(data), names.get("n" + number(data)))))

    return told


# --- The tables of fields: (size, name, formatter of the value) ------------------------------------

SEGMENT_FIELDS = [
    (8, "magic", text), (2, "format major", number), (2, "format minor", number), (4, "header length", number),
    (16, "store UUID", uuid), (8, "first sequence of this segment", number), (8, "incompatible features", bits),
    (8, "read-only compatible features", bits), (8, "compatible features", bits),
    (8, "previous segment: first sequence", number), (8, "previous segment: last sequence", number),
    (8, "previous segment: chain after its last event", hexadecimal),
    (8, "previous segment: commit time of its last append", time),
    (8, "appends in the store before this segment", number), (8, "writer epoch that created the segment", number),
    (8, "time at which the segment was created", time), (4, "revision", number),
    (1, "algorithm of the chain", one_of(n1="XXH64")), (3, "reserved", None), (8, "rewritten: offset of the footer", number),
    (8, "rewritten: last sequence", number), (8, "rewritten: chain after the last event", hexadecimal),
    (8, "rewritten: offset of the end of the last block", number),
    (8, "rewritten: mark of what is erased", hexadecimal), (3924, "reserved", None),
    (4, "CRC32C of bytes 0 to 4091", hexadecimal),
]  # fmt: skip

BLOCK_FIELDS = [
    (4, "magic", text), (2, "header length", number), (1, "kind", one_of(n1="events", n2="RECOVERY", n3="FOOTER")),
    (1, "codec of the payload", one_of(n0="stored as it is", n1="LZ4")), (4, "flags", bits),
    (4, "CRC32C of the header", hexadecimal), (4, "stored length", number), (4, "raw length", number),
    (4, "CRC32C of the stored payload", hexadecimal), (4, "event count", number), (4, "append count", number),
    (4, "reserved", None), (8, "span", number), (8, "own offset in the segment", number), (8, "first sequence", number),
    (8, "appends in the store before this block", number), (8, "identity: first sequence of the segment", number),
    (16, "identity: store UUID", uuid), (8, "writer epoch", number), (8, "synced through", number),
    (8, "commit time of the first append", time), (8, "commit time of the last append", time),
    (8, "chain before", hexadecimal), (8, "chain after", hexadecimal), (32, "reserved", None),
]  # fmt: skip

SLOT_FIELDS = [
    (8, "magic", text), (2, "format major", number), (2, "format minor", number), (4, "slot length", number),
    (16, "store UUID", uuid), (8, "generation", number), (8, "segment", number), (8, "writer epoch", number),
    (4, "flags", one_of(n1="closed cleanly")),
    (4, "durability of the writer", one_of(n1="paranoid", n2="synced", n3="buffered")),
    (8, "visible mark: offset in the segment", number), (8, "visible mark: sequence of the last event before it", number),
    (8, "visible mark: chain after that event", hexadecimal), (8, "durable mark: offset in the segment", number),
    (8, "durable mark: sequence of the last event before it", number),
    (8, "durable mark: chain after that event", hexadecimal),
    (8, "commit time of the last append before the visible mark", time),
    (8, "first sequence of the first segment", number), (380, "reserved", None),
    (4, "CRC32C of bytes 0 to 507", hexadecimal),
]  # fmt: skip

RECOVERY_FIELDS = [
    (8, "offset at which the tail was cut", number), (8, "bytes that were cut", number),
    (8, "time of the recovery", time), (4, "CRC32C of the bytes that were cut", hexadecimal),
    (2, "reason", one_of(n1="torn tail")), (2, "length of the path", number),
]  # fmt: skip

ENTRY_FIELDS = [
    (8, "entry: first sequence", number), (8, "entry: commit time of the first append", time),
    (8, "entry: appends before", number), (8, "entry: offset", number),
]  # fmt: skip


# --- Bytes as lines -------------------------------------------------------------------------------


class Lines:
    """Describes bytes from the first to the last; `at` is the offset of the next byte to describe."""

    def __init__(self, data, prefix=""):
        self.data, self.prefix, self.at, self.lines = data, prefix, 0, []

    def tell(self, size, name, value=None):
        """Describes the next bytes as one field. A field that is longer than a line continues after `...`."""
        end = min(self.at + size, len(self.data))
        told = name if value is None else "%s = %s" % (name, shortened(value(self.data[self.at : end])))
        while self.at < end:
            zeros = ZEROS.search(self.data, self.at, end)
            if zeros and zeros.start() == self.at:
                self.line(zeros.end(), "(%d zero bytes)" % (zeros.end() - self.at), told)
            else:
                stop = min(end, self.at + BYTES_PER_LINE, zeros.start() if zeros else end)
                self.line(stop, self.data[self.at : stop].hex(" "), told)
            told = "..."

    def line(self, end, column, told):
        self.lines.append("%s%08x  %-23s  %s" % (self.prefix, self.at, column, told))
        self.at = end

    def table(self, fields):
        for size, name, value in fields:
            self.tell(size, name, value)

    def rest(self, name):
        self.tell(len(self.data) - self.at, name)

    def varint(self, name):
        value, after = varint(self.data, self.at, len(self.data))
        self.tell(after - self.at, name, lambda data: str(value))
        return value

    def sized(self, name, value):
        """Describes a varint and that many bytes."""
        length = self.varint(name + ": length")
        self.tell(length, name, value)


def shortened(told):
    return told if len(told) <= TEXT_MAX else told[:TEXT_MAX] + "..."


# --- Payloads that are known to decode ------------------------------------------------------------


def tell_payload(lines, block):
    """Describes a raw payload, field by field."""
    if block.kind == EVENTS:
        while lines.at < len(lines.data):
            tell_append(lines)
    elif block.kind == RECOVERY:
        lines.table(RECOVERY_FIELDS)
        lines.tell(len(lines.data) - lines.at, "path of the copy", text)
    elif block.kind == FOOTER:
        lines.tell(4, "number of entries", number)
        lines.tell(4, "reserved")
        while lines.at < len(lines.data):
            lines.table(ENTRY_FIELDS)
    else:
        lines.rest("payload of a kind that 1.0 does not know")


def tell_append(lines):
    lines.varint("append: length")
    flags = lines.varint("flags")
    count = lines.varint("event count")
    lines.tell(8, "commit time", time)
    if flags & 1:
        lines.tell(8, "given time", time)
    if flags & 2:
        lines.sized("append id", text)
    for _ in range(count):
        tell_event(lines)


def tell_event(lines):
    end = lines.varint("event: length") + lines.at
    kind = lines.data[lines.at]
    lines.tell(1, "kind", one_of(n1="event", n2="erased"))
    lines.varint("flags")
    lines.tell(8, "revision", number)
    lines.sized("stream", text)
    lines.sized("type", text)
    if kind == 1:
        codec, after = varint(lines.data, lines.at, end)
        names = {1: "1 = CBOR", 2: "2 = JSON", 3: "3 = bytes"}
        lines.tell(after - lines.at, "codec of the payload", lambda data: names.get(codec, str(codec)))
        lines.sized("salt", bytes.hex)
        lines.sized("metadata", lambda data: as_line(payload_value(1, data)))
        lines.sized("payload", lambda data: as_line(payload_value(codec, data)))
        return
    lines.tell(8, "H(content)", hexadecimal)
    if kind == 2:
        lines.varint("length of the content before it was erased")
    else:
        lines.tell(end - lines.at, "the rest, which 1.0 cannot read")


# --- Files ----------------------------------------------------------------------------------------


def annotate_block(data, block, header, index):
    """Describes a valid block; `index` holds the footer entries of the events blocks before it."""
    lines = Lines(data[: block.own_offset + block.span])
    lines.at = block.own_offset
    lines.table(BLOCK_FIELDS)
    lines.tell(block.own_offset + block.length - lines.at, "fields that 1.0 does not know")
    start, end = lines.at, lines.at + block.stored
    try:
        decode_block(data, block, header, index)
        trouble = None
    except (Malformed, Unsupported) as error:
        trouble = "%s: %s" % (type(error).__name__.lower(), error)
    if trouble is not None or block.kind >= 128:
        lines.tell(block.stored, "stored payload, " + (trouble or "of a kind that 1.0 does not know"))
    elif block.codec == 0:
        inner = Lines(data[:end])
        inner.at = start
        tell_payload(inner, block)
        lines.lines += inner.lines
        lines.at = end
    else:
        lines.tell(block.stored, "stored payload, an LZ4 block of %d bytes" % block.raw)
        inner = Lines(raw_payload(data, block), "    | ")
        tell_payload(inner, block)
        lines.lines += inner.lines
    lines.rest("zeros up to the next block")
    return lines.lines


def annotate_segment(data):
    lines = Lines(data)
    trouble, header = judge_segment_header(data, is_first=True)
    if header is None:
        lines.rest("not a segment header")
        return lines.lines
    lines.table(SEGMENT_FIELDS)
    place, index = Place(header), []
    while trouble is None:
        trouble, block = judge_block(data, place.offset, place)
        if trouble is None:
            lines.lines += annotate_block(data, block, header, index)
            if block.kind == EVENTS:
                index.append(footer_entry(block))
            place.pass_over(block)
            lines.at = place.offset
    rest = data[lines.at :]
    lines.rest("not a valid block" if rest.strip(b"\0") else "zeros after the last block")
    return lines.lines


def annotate_head(data):
    lines = Lines(data)
    for at in SLOT_OFFSETS:
        lines.tell(at - lines.at, "between the slots")
        if read_slot(data, at) is None:
            lines.tell(SLOT_LENGTH, "a slot that does not verify")
        else:
            lines.table(SLOT_FIELDS)
    lines.rest("after the slots")
    return lines.lines


def annotate(store):
    """All lines of a store: HEAD, if there is one, and the segments in order."""
    lines = []
    names = [segment_path(first) for first in segments_of(store)]
    for name in (["HEAD"] if store.has("HEAD") else []) + names:
        data = bytes(store.read(name))
        lines.append("FILE %s %d" % (name, len(data)))
        lines += annotate_head(data) if name == "HEAD" else annotate_segment(data)
    return lines


# --- Rebuilding -----------------------------------------------------------------------------------


class BadSection(Exception):
    """Raised for lines that do not give every byte of their files exactly once."""


def files_of(lines):
    """{name: bytes} of annotated lines; other lines between them are skipped."""
    files, lengths, name = {}, {}, None
    for line in lines:
        line = line.rstrip("\r\n")
        begun = FILE_LINE.fullmatch(line)
        if begun:
            name = begun.group(1)
            if name in files or int(begun.group(2)) > FILE_LENGTH_MAX:
                raise BadSection("%s occurs twice, or is too long" % name)
            files[name], lengths[name] = bytearray(), int(begun.group(2))
            continue
        given = ZERO_LINE.fullmatch(line) or HEX_LINE.fullmatch(line)
        if given is None:
            continue
        if name is None or int(given.group(1), 16) != len(files[name]):
            raise BadSection("bytes out of order: %s" % line)
        count = given.group(2)
        more = bytes.fromhex(count) if given.re is HEX_LINE else None
        size = int(count) if more is None else len(more)
        if size > lengths[name] - len(files[name]):
            raise BadSection("bytes past the end of %s: %s" % (name, line))
        files[name] += bytes(size) if more is None else more
    for name, data in files.items():
        if len(data) != lengths[name]:
            raise BadSection("%s has %d bytes of %d" % (name, len(data), lengths[name]))
    return {name: bytes(data) for name, data in files.items()}


def rebuild(lines, folder):
    """Writes the files of annotated lines into a folder. Does not overwrite existing files."""
    files = files_of(lines)
    os.makedirs(os.path.join(folder, "log"), exist_ok=True)
    for name, data in files.items():
        with open(os.path.join(folder, name), "xb") as file:
            file.write(data)
    return sorted(files)
