"""The manifests and the segments of a carrier, by "Segments in a carrier" of FORMAT.md: reads and checks all of them.

The page names no class for most of what can be wrong with a manifest. Those here are chosen as for objects: bytes and
values that cannot be are *corrupt*, another number or another file than the one that is named is *stale*.
"""

import re
import struct
from collections import namedtuple

from strata_carrier_files import Refused, manifest_name, numbers_in, object_name, segment_name, uuid_text
from strata_check import ERASED, Check
from strata_codecs import Malformed, cbor_to_json, crc32c
from strata_payloads import NO_TIME
from strata_store import SEQUENCE_MAX, segment_path

MANIFEST_LENGTH_MAX = 16 << 20
SEGMENT_LENGTH_MIN = 4096 + 1
CHECKSUM_AT = 8
ERASURES = "$erasures"

MANIFEST_FORM = struct.Struct("<4sHHII16s16sQQQQ")
Head = namedtuple(
    "Head", "magic version reserved crc count uuid writer number first_object erased_through reserved_2"
)
ENTRY_FORM = struct.Struct("<QQQQQQII")
Entry = namedtuple("Entry", "since first last chain length mark revision token")
# The fields of an entry that the header of its file has under the same or another name.
OF_HEADER = {"last": "last", "chain": "chain", "length": "end", "mark": "mark", "revision": "revision"}

SEGMENT_NAME = re.compile(r"([0-9]{20})-([0-9]{20})-[0-9a-f]{8}", re.ASCII)


# --- Manifests ------------------------------------------------------------------------------------


class Manifest:
    """A manifest that holds for itself. Raises Refused."""

    def __init__(self, data, number):
        self.name = manifest_name(number)
        self.head = self.read_head(data, number)
        self.entries = [Entry._make(fields) for fields in ENTRY_FORM.iter_unpack(data[MANIFEST_FORM.size :])]
        after = 0
        for entry in self.entries:
            self.check_entry(entry, after)
            after = entry.last

    def refuse(self, kind, what):
        raise Refused(kind, self.name, what)

    def read_head(self, data, number):
        if not MANIFEST_FORM.size <= len(data) <= MANIFEST_LENGTH_MAX:
            self.refuse("corrupt", "its length")
        head = Head._make(MANIFEST_FORM.unpack_from(data))
        if head.magic != b"STRL":
            self.refuse("corrupt", "the magic")
        if head.crc != crc32c(data[:CHECKSUM_AT] + bytes(4) + data[CHECKSUM_AT + 4 :]):
            self.refuse("corrupt", "the checksum")
        if head.version != 1:
            self.refuse("unsupported", "version %d" % head.version)
        if head.number != number:
            self.refuse("stale", "it has the number %d" % head.number)
        if head.count == 0 or MANIFEST_FORM.size + ENTRY_FORM.size * head.count != len(data):
            self.refuse("corrupt", "the count of its segments")
        if head.first_object == 0:
            self.refuse("corrupt", "its first object is no object")
        return head

    def check_entry(self, entry, after):
        """`after` is the last sequence of the segment before."""
        if not 1 <= entry.since <= self.head.number:
            self.refuse("corrupt", "the segment at %d is since manifest %d" % (entry.first, entry.since))
        if entry.first != after + 1:
            self.refuse("corrupt", "a segment begins at sequence %d, after %d" % (entry.first, after))
        if not entry.first <= entry.last < SEQUENCE_MAX:
            self.refuse("corrupt", "the segment at %d ends at sequence %d" % (entry.first, entry.last))
        if entry.length < SEGMENT_LENGTH_MIN:
            self.refuse("corrupt", "the segment at %d has %d bytes" % (entry.first, entry.length))
        if entry.revision == 0:
            self.refuse("corrupt", "the segment at %d was never rewritten" % entry.first)

    def line(self):
        return {
            "schema": 1,
            "number": self.head.number,
            "kind": "manifest",
            "writer": uuid_text(self.head.writer),
            "segments": len(self.entries),
            "firstObject": self.head.first_object,
            "erasedThrough": self.head.erased_through,
        }


def read_manifest(carrier):
    """The manifest that counts, None if there is none. Raises Refused."""
    numbers = numbers_in(carrier, "manifest")
    for expected, number in enumerate(numbers, 1):
        if number != expected:
            raise Refused("missing", manifest_name(expected), "%s is there" % manifest_name(number))
    if not numbers:
        return None
    return Manifest(carrier.read(manifest_name(numbers[-1]), MANIFEST_LENGTH_MAX + 1), numbers[-1])


def first_object(manifest):
    """The smallest number of an object that counts."""
    return manifest.head.first_object if manifest else 1


def left_in(carrier, manifest):
    """(name, what it is) of each file that counts no more or not yet: what a writer that ended early may leave."""
    number = manifest.head.number if manifest else 0
    for before in range(1, number):
        if carrier.read(manifest_name(before), 1):
            yield manifest_name(before), "an earlier manifest that is not empty"
    named = {segment_name(entry.since, entry.first, entry.token) for entry in manifest.entries} if manifest else ()
    for found in filter(None, map(SEGMENT_NAME.fullmatch, carrier.names_in("segments"))):
        if "segments/" + found.group() not in named:
            is_later = int(found.group(1)) > number
            yield "segments/" + found.group(), "a segment %s" % ("for a later manifest" if is_later else "not named")
    for before in numbers_in(carrier, "log"):
        if before < first_object(manifest):
            yield object_name(before), "an object before the first that counts"


# --- Segments -------------------------------------------------------------------------------------


class Listed:
    """The segments of a manifest as the log of a store without HEAD."""

    def __init__(self, carrier, manifest):
        self.carrier = carrier
        self.names = {segment_path(entry.first): segment_name(entry.since, entry.first, entry.token) for entry in manifest.entries}

    def names_in_log(self):
        return [path[4:] for path in self.names]

    def was_begun(self):
        return True

    def read(self, path, limit=None):
        return self.carrier.read(self.names[path], limit) if path in self.names else b""


class Segment(namedtuple("Segment", "entry appends erased")):
    """A segment of a carrier that is as the manifest says: its entry, how many appends and erased events it has."""

    def line(self):
        entry = self.entry
        return {
            "schema": 1,
            "since": entry.since,
            "kind": "segment",
            "first": entry.first,
            "last": entry.last,
            "appends": self.appends,
            "erased": self.erased,
            "chain": "%016x" % entry.chain,
            "length": entry.length,
            "revision": entry.revision,
            "mark": "%016x" % entry.mark,
        }


class SegmentsCheck(Check):
    """Checks the segments of a manifest one after another, completely, and stops with Refused at the first finding.

    `take(events, appends before)` is called for each block of events, `done(segment)` for each segment.
    """

    def __init__(self, carrier, manifest, take, done):
        super().__init__(Listed(carrier, manifest), self.take_block)
        self.uuid = manifest.head.uuid
        self.entries = {entry.first: entry for entry in manifest.entries}
        self.take, self.done = take, done
        there = {"segments/" + name for name in carrier.names_in("segments")}
        for name in self.store.names.values():
            if name not in there:
                raise Refused("missing", name, "%s names it" % manifest.name)

    def report(self, kind, file, offset, first, last):
        if file not in self.store.names:
            name = self.store.names[segment_path(last + 1)]
            raise Refused(kind, name, "it names %s before it, which is not listed" % file)
        raise Refused(kind, self.store.names[file], "at offset %d, from sequence %d on" % (offset, first))

    def take_block(self, block, file, events):
        self.erased += sum(event.kind == ERASED for event in events)
        self.take(events, block.appends_before)

    def check_segment(self, file, following):
        if self.header_trouble(file) is None:
            self.compare(file)
        self.erased = 0
        walk = super().check_segment(file, following)
        self.done(Segment(self.entries[file.first], walk.place.appends - file.header.appends, self.erased))
        return walk

    def compare(self, file):
        """What the header of a file says, with the manifest; the links between files are compared by the check."""
        header, entry = file.header, self.entries[file.first]
        for field, of_header in OF_HEADER.items():
            said, found = getattr(entry, field), getattr(header, of_header)
            if said != found:
                what = "its header says %s %d, the manifest %d" % (field, found, said)
                raise Refused("stale", self.store.names[file.path], what)
        before = (header.previous_first, header.previous_chain, header.previous_time, header.appends)
        if file.first == 1 and before != (0, 0, NO_TIME, 0):
            raise Refused("stale", self.store.names[file.path], "it continues something before the first sequence")


# --- Orders to erase ------------------------------------------------------------------------------


class Order(namedtuple("Order", "sequence streams ranges")):
    """An order to erase."""

    def means(self, sequence, stream):
        if sequence >= self.sequence or stream == ERASURES:
            return False
        return stream in self.streams or any(first <= sequence <= last for first, last in self.ranges)


def order_of(event):
    """The order that an event is, else None."""
    if event.stream != ERASURES or event.type != "$erase" or event.payload is None:
        return None
    try:
        said = cbor_to_json(event.payload)
        return Order(event.sequence, frozenset(said["streams"]), [tuple(pair) for pair in said["sequences"]])
    except (Malformed, KeyError, TypeError):
        return None


def check_erased(manifest, orders, kept):
    """Raises Refused if an order that the manifest calls carried out is not. `kept` has (sequence, stream) of each
    event in the segments that has its content."""
    for order in orders:
        if order.sequence > manifest.head.erased_through:
            continue
        for sequence, stream in kept:
            if order.means(sequence, stream):
                manifest.refuse("stale", "the order at %d is not carried out in event %d" % (order.sequence, sequence))
