"""The objects of a carrier and the log that they make with its segments, as "Copies on other machines" of FORMAT.md
describes them: reads and checks all of them."""

import struct
from collections import namedtuple

from strata_carrier_files import FolderCarrier, MemoryCarrier, Refused, numbers_in, object_name, uuid_text
from strata_carrier_segments import SegmentsCheck, check_erased, first_object, left_in, order_of, read_manifest
from strata_codecs import RAW_LENGTH_MAX, Malformed, crc32c, lz4_decode
from strata_payloads import NO_TIME, Unsupported, decode_events
from strata_segment import APPENDS_MAX
from strata_store import SEQUENCE_MAX

__all__ = ["CarrierLog", "FolderCarrier", "MemoryCarrier", "Object", "Refused", "count_replaced", "uuid_text"]

HEADER_LENGTH = 128
HEADER_LENGTH_MAX = 4096
LENGTH_MAX = HEADER_LENGTH_MAX + RAW_LENGTH_MAX
EVENTS, TAKEOVER = 1, 2
KINDS = {EVENTS: "events", TAKEOVER: "takeover"}
STORED, LZ4 = 0, 1
REFUSED_FLAGS = 0xFFFF
CHECKSUM_AT = 12
ERASED = 2

OBJECT_FORM = struct.Struct("<4sHBBIIIIIIII16s16sQQQqqQQ")
Header = namedtuple(
    "Header",
    "magic length kind codec flags crc stored raw payload_crc events appends reserved uuid writer number first "
    "appends_before first_time last_time chain_before chain_after",
)
# The log after an append.
End = namedtuple("End", "sequence chain time appends")


# --- Objects --------------------------------------------------------------------------------------


class Object:
    """An object that holds for itself, by points 1 to 6; its `events` have the chain that its header names.

    Raises Refused. `uuid` is that of the store, None if any is right.
    """

    def __init__(self, data, number, uuid):
        self.name = object_name(number)
        self.header = self.read_header(data)
        self.check_place(number, uuid)
        self.check_known()
        self.check_sizes(data)
        self.events = self.decode(data[self.header.length :])

    @property
    def last(self):
        return self.header.first - 1 + self.header.events

    @property
    def end(self):
        header = self.header
        return End(self.last, header.chain_after, header.last_time, header.appends_before + header.appends)

    def refuse(self, kind, what):
        raise Refused(kind, self.name, what)

    def read_header(self, data):
        """Point 1."""
        header = Header._make(OBJECT_FORM.unpack_from(data)) if len(data) >= HEADER_LENGTH else None
        if header is None or header.magic != b"STRW":
            self.refuse("corrupt", "no header")
        if not HEADER_LENGTH <= header.length <= min(HEADER_LENGTH_MAX, len(data)):
            self.refuse("corrupt", "the header's length")
        if header.crc != crc32c(data[:CHECKSUM_AT] + bytes(4) + data[CHECKSUM_AT + 4 : header.length]):
            self.refuse("corrupt", "the header's checksum")
        return header

    def check_place(self, number, uuid):
        """Point 2."""
        if uuid is not None and self.header.uuid != uuid:
            self.refuse("misplaced", "it is of the store %s" % uuid_text(self.header.uuid))
        if self.header.number != number:
            self.refuse("stale", "it has the number %d" % self.header.number)

    def check_known(self):
        """Point 3."""
        header = self.header
        if header.kind not in KINDS:
            self.refuse("unsupported", "object kind %d" % header.kind)
        if header.codec not in (STORED, LZ4):
            self.refuse("unsupported", "payload codec %d" % header.codec)
        if header.flags & REFUSED_FLAGS:
            self.refuse("unsupported", "object flags %d" % (header.flags & REFUSED_FLAGS))

    def check_sizes(self, data):
        """Point 4."""
        header = self.header
        if header.first == 0 or header.first + header.events > SEQUENCE_MAX:
            self.refuse("corrupt", "its sequences are no sequences")
        if header.appends_before + header.appends > APPENDS_MAX:
            self.refuse("corrupt", "it counts appends past 64 bits")
        if header.length + header.stored != len(data):
            self.refuse("corrupt", "the stored length is not that of its payload")
        if header.raw > min(RAW_LENGTH_MAX, 255 * header.stored + 64):
            self.refuse("corrupt", "the raw length is not possible")
        if header.codec == STORED and header.raw != header.stored:
            self.refuse("corrupt", "its lengths differ, and it is not compressed")
        if header.kind == EVENTS:
            if not 1 <= header.appends <= header.events:
                self.refuse("corrupt", "its counts are not possible")
        elif (header.codec, header.stored, header.raw, header.events, header.appends) != (STORED, 0, 0, 0, 0):
            self.refuse("corrupt", "a takeover with a payload or counts")
        elif header.chain_before != header.chain_after or header.first_time != header.last_time:
            self.refuse("corrupt", "a takeover that changes chain or time")

    def decode(self, stored):
        """Points 5 and 6."""
        header = self.header
        if header.payload_crc != crc32c(stored):
            self.refuse("corrupt", "the payload's checksum")
        if header.kind == TAKEOVER:
            return []
        try:
            return decode_events(lz4_decode(stored, header.raw) if header.codec == LZ4 else stored, header)
        except Malformed as error:
            self.refuse("corrupt", str(error))
        except Unsupported as error:
            self.refuse("unsupported", str(error))

    def line(self):
        header = self.header
        return {
            "schema": 1,
            "number": header.number,
            "kind": KINDS[header.kind],
            "writer": uuid_text(header.writer),
            "first": header.first,
            "last": self.last,
            "appends": header.appends,
            "chain": "%016x" % header.chain_after,
        }


# --- The log of a carrier -------------------------------------------------------------------------


class CarrierLog:
    """The segments of a carrier and then its objects, one after another, by points 7 to 10.

    `visit` is called for the manifest, each segment and each object once it holds. `ends` are the ends of all appends
    so far by their last sequence, `chains` the chains after all events.
    """

    def __init__(self, carrier, visit=None):
        self.carrier, self.visit = carrier, visit or (lambda found: None)
        self.manifest = self.uuid = self.writer = None
        self.count, self.next = 0, 1
        self.end = End(0, 0, NO_TIME, 0)
        self.ends = {0: self.end}
        self.chains = [0]
        self.orders, self.kept = [], []

    def run(self):
        """Reads all of them. Raises Refused at the first that is not as FORMAT.md says."""
        self.manifest = read_manifest(self.carrier)
        self.next = first_object(self.manifest)
        if self.manifest:
            self.uuid = self.manifest.head.uuid
            self.visit(self.manifest)
            SegmentsCheck(self.carrier, self.manifest, self.take_block, self.visit).run()
        for number in numbers_in(self.carrier, "log"):
            if number > self.next:
                raise Refused("missing", object_name(self.next), "%s is there" % object_name(number))
            if number == self.next:
                data = self.carrier.read(object_name(number), LENGTH_MAX + 1)
                self.take(Object(data, number, self.uuid))
        if self.manifest:
            if self.count == 0:
                raise Refused("missing", object_name(self.next), "%s names it as the first" % self.manifest.name)
            check_erased(self.manifest, self.orders, self.kept)
        return self

    def left(self):
        """A line for each file that counts no more or not yet."""
        for name, what in left_in(self.carrier, self.manifest):
            yield {"schema": 1, "left": name, "what": what}

    def take_block(self, events, appends):
        """Takes a block of a segment."""
        self.take_events(events, appends)
        self.kept += [(event.sequence, event.stream) for event in events if event.kind != ERASED]
        if events:
            self.end = self.ends[events[-1].sequence]

    def take_events(self, events, appends):
        """Takes whole appends, before which the log has that many."""
        for event in events:
            if event.sequence == event.append_last:
                appends += 1
                self.ends[event.sequence] = End(event.sequence, event.chain, event.time, appends)
            if event.sequence == len(self.chains):
                self.chains.append(event.chain)
                order = order_of(event)
                self.orders += [order] if order else []

    def take(self, found):
        self.check_begin(found)
        self.check_overlap(found)
        header = found.header
        if header.kind == EVENTS and self.writer not in (None, header.writer):
            found.refuse("stale", "its writer %s has not taken over" % uuid_text(header.writer))
        self.count, self.next = self.count + 1, header.number + 1
        self.uuid, self.writer = header.uuid, header.writer
        self.take_events(found.events, header.appends_before)
        if found.last > self.end.sequence:
            self.end = found.end
        self.visit(found)

    def check_begin(self, found):
        """Points 7 and 8."""
        header = found.header
        before = header.first - 1
        if before > self.end.sequence:
            what = "it begins at sequence %d, and what is before it ends at %d" % (header.first, self.end.sequence)
            found.refuse("missing", what)
        known = self.ends.get(before)
        if known is None:
            found.refuse("diverged", "no append ends before its first sequence %d" % header.first)
        if header.chain_before != known.chain:
            found.refuse("diverged", "its chain before is not the chain after sequence %d" % before)
        if header.appends_before != known.appends:
            found.refuse("diverged", "it counts %d appends before, not %d" % (header.appends_before, known.appends))
        if header.first_time < known.time:
            found.refuse("diverged", "it is earlier than what is before it")
        if header.kind == TAKEOVER and header.first_time != known.time:
            found.refuse("diverged", "a takeover with another time than the last append's")

    def check_overlap(self, found):
        """Point 9."""
        common = min(found.last, self.end.sequence)
        if common < found.header.first:
            return
        event = found.events[common - found.header.first]
        if event.chain != self.chains[common] or event.append_last != event.sequence:
            found.refuse("diverged", "it has other events up to sequence %d" % common)

    def line(self):
        return {
            "schema": 1,
            "end": {
                "segments": len(self.manifest.entries) if self.manifest else 0,
                "objects": self.count,
                "next": self.next,
                "store": uuid_text(self.uuid) if self.uuid else None,
                "writer": uuid_text(self.writer) if self.writer else None,
                "sequence": self.end.sequence,
                "appends": self.end.appends,
                "chain": "%016x" % self.end.chain,
            },
        }


# --- Objects that were replaced -------------------------------------------------------------------

# The fields that a replacement may change.
REPLACED = ("length", "codec", "crc", "stored", "raw", "payload_crc")


def count_replaced(before, now):
    """How many objects were replaced since a carrier was as `before`. Raises Refused if one may not have been."""
    first, count = first_now(before, now), 0
    for number in numbers_in(before, "log"):
        if number >= first:
            old, new = (one.read(object_name(number), LENGTH_MAX + 1) for one in (before, now))
            if old != new:
                check_replacement(Object(old, number, None), Object(new, number, None))
                count += 1
    return count


def first_now(before, now):
    """The smallest number of an object that counts now; those before it may be removed."""
    old, new = read_manifest(before), read_manifest(now)
    if old and (not new or new.head.number < old.head.number):
        raise Refused("missing", old.name, "it was there before")
    if first_object(new) < first_object(old):
        new.refuse("diverged", "objects count again that did not before")
    return first_object(new)


def check_replacement(old, new):
    kept = [found.header._replace(**dict.fromkeys(REPLACED)) for found in (old, new)]
    if kept[0] != kept[1] or old.header.kind != EVENTS:
        new.refuse("diverged", "its header is not that of the object that it replaces")
    for one, other in zip(old.events, new.events):
        if one != other and (other.kind != ERASED or other.length != one.length):
            new.refuse("diverged", "event %d is neither as it was nor erased" % other.sequence)
