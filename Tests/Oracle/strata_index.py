"""The index files of a store, as IndexFormat.md describes them: reads them whole and compares them with the log."""

import re
import struct
from collections import namedtuple

from strata_check import Check
from strata_codecs import Malformed, crc32c, varint, xxh64
from strata_segment import EVENTS
from strata_store import segments_of

INDEX_NAME = re.compile(r"([0-9]{20})\.idx", re.ASCII)
TRAILER_LENGTH = 128
FENCE_LENGTH = 32
FILTER_BLOCK = 64
IDS_PER_PAGE = 32
IDS_PER_GROUP = 512
RANGES_MAX = 256

Trailer = namedtuple(
    "Trailer",
    "magic version length uuid first last chain entries chunks chunks_length filter_length fences_length "
    "filter_crc fences_crc ids fingerprints_crc least_time",
)
TRAILER_FORM = struct.Struct("<8sII16sQQQQQQQQIIQIq")
SPAN_APPENDS_MAX = 16
SPAN_CONTENT_MAX = 65536
Fence = namedtuple("Fence", "offset key_offset length key_length crc entries")
FENCE_FORM = struct.Struct("<QQIIII")
# `ids` are (page, remainder, distance), in the order of the file.
Index = namedtuple("Index", "trailer entries ids")


def demand(holds, what):
    if not holds:
        raise Malformed(what)


def read_index(data):
    """The trailer, the entries and the ids of an index file, in their order. Raises Malformed."""
    demand(len(data) >= TRAILER_LENGTH, "shorter than a trailer")
    end = data[-TRAILER_LENGTH:]
    trailer = Trailer._make(TRAILER_FORM.unpack_from(end))
    demand(trailer.magic == b"STRATAIX" and trailer.version == 3 and trailer.length == TRAILER_LENGTH, "no trailer")
    demand(int.from_bytes(end[124:], "little") == crc32c(end[:124]), "the trailer's CRC")
    demand(trailer.first <= trailer.last <= trailer.first + 2**32 - 1, "a range of too many sequences")
    lengths = [trailer.chunks_length, places_length(trailer), fingerprints_length(trailer)]
    lengths += [trailer.filter_length, trailer.fences_length, TRAILER_LENGTH]
    demand(sum(lengths) == len(data), "the parts do not fill the file")
    parts, at = [], 0
    for length in lengths:
        parts.append(data[at : at + length])
        at += length
    chunks, places, fingerprints, bloom, fences, _ = parts
    demand(crc32c(bloom) == trailer.filter_crc and crc32c(fences) == trailer.fences_crc, "a CRC in the trailer")
    demand(crc32c(fingerprints) == trailer.fingerprints_crc, "the CRC of the fingerprints")
    demand(len(bloom) == FILTER_BLOCK * -(-10 * trailer.entries // 512), "the filter's length")
    entries = entries_of(chunks, fences, trailer)
    keys = [key for key, _ in entries]
    demand(keys == sorted(set(keys)), "keys do not ascend")
    demand(all(passes(bloom, key) for key in keys), "the filter does not pass a key of the file")
    return Index(trailer, entries, ids_of(places, fingerprints, trailer))


def entries_of(chunks, fences, trailer):
    found, at, key_at = [], 0, 0
    names = fences[FENCE_LENGTH * trailer.chunks :]
    for number in range(trailer.chunks):
        fence = Fence._make(FENCE_FORM.unpack_from(fences, FENCE_LENGTH * number))
        demand((fence.offset, fence.key_offset) == (at, key_at) and fence.entries > 0, "a fence is not where it must be")
        chunk = chunks[at : at + fence.length]
        demand(len(chunk) == fence.length and crc32c(chunk) == fence.crc, "a chunk's CRC")
        inside = entries_of_chunk(chunk)
        demand(len(inside) == fence.entries, "a chunk with other entries than its fence counts")
        demand(inside[0][0] == names[key_at : key_at + fence.key_length], "a chunk's first key")
        demand(len(chunk) <= 4096 or len(inside) == 1, "a chunk that is too long")
        found += inside
        at, key_at = at + fence.length, key_at + fence.key_length
    demand(at == len(chunks) and key_at == len(names) and len(found) == trailer.entries, "the fences do not add up")
    return found


def entries_of_chunk(chunk):
    found, at, before = [], 0, b""
    while at < len(chunk):
        shared, at = varint(chunk, at, len(chunk))
        rest_length, at = varint(chunk, at, len(chunk))
        value_length, at = varint(chunk, at, len(chunk))
        middle, end = at + rest_length, at + rest_length + value_length
        demand(end <= len(chunk), "an entry is longer than its chunk")
        demand(shared == 0 if not found else shared <= len(before), "a key shares what is not there")
        key = before[:shared] + bytes(chunk[at:middle])
        demand(not found or shared == common(before, key), "a key shares more than it says")
        found.append((key, bytes(chunk[middle:end])))
        at, before = end, key
    return found


def common(a, b):
    """How many first bytes two keys have in common."""
    length = 0
    while length < min(len(a), len(b)) and a[length] == b[length]:
        length += 1
    return length


def passes(bloom, key):
    """Whether the filter passes a key."""
    if not bloom:
        return False
    digest = xxh64(key)
    block = (digest * (len(bloom) // FILTER_BLOCK) >> 64) * FILTER_BLOCK
    first = digest & 0xFFFFFFFF
    step = (first >> 17 | first << 15) & 0xFFFFFFFF
    bits = [((first + probe * step) & 0xFFFFFFFF) >> 23 for probe in range(6)]
    return all(bloom[block + bit // 8] >> bit % 8 & 1 for bit in bits)


# --- Append ids -----------------------------------------------------------------------------------


def width(trailer):
    return (trailer.last - trailer.first).bit_length()


def groups(trailer):
    """The number of ids in each group of places."""
    return [min(IDS_PER_GROUP, trailer.ids - start) for start in range(0, trailer.ids, IDS_PER_GROUP)]


def places_length(trailer):
    return sum((count * width(trailer) + 7) // 8 for count in groups(trailer))


def pages(trailer):
    return -(-trailer.ids // IDS_PER_PAGE)


def fingerprints_length(trailer):
    return 4 * (pages(trailer) + 1) + 4 * len(groups(trailer)) + 2 * trailer.ids if trailer.ids else 0


def ids_of(places, fingerprints, trailer):
    if not trailer.ids:
        return []
    bounds = struct.unpack_from("<%dI" % (pages(trailer) + 1), fingerprints)
    demand(bounds[0] == 0 and bounds[-1] == trailer.ids and list(bounds) == sorted(bounds), "pages do not ascend")
    crcs = struct.unpack_from("<%dI" % len(groups(trailer)), fingerprints, 4 * len(bounds))
    remainders = struct.unpack_from("<%dH" % trailer.ids, fingerprints, 4 * len(bounds) + 4 * len(crcs))
    distances, at, bits = [], 0, width(trailer)
    for count, crc in zip(groups(trailer), crcs):
        group = places[at : at + (count * bits + 7) // 8]
        demand(crc32c(group) == crc, "the CRC of a group of places")
        whole = int.from_bytes(group, "little")
        distances += [whole >> number * bits & (1 << bits) - 1 for number in range(count)]
        demand(whole >> count * bits == 0, "bits after the last place of a group")
        at += len(group)
    numbers = [page for page in range(pages(trailer)) for _ in range(bounds[page], bounds[page + 1])]
    found = list(zip(numbers, remainders, distances))
    demand(found == sorted(found), "ids are not in order")
    return found


def fingerprint(id, sequence, trailer):
    """What an index has of an append id."""
    digest = xxh64(id)
    return (digest * pages(trailer) >> 64, digest & 0xFFFF, sequence - trailer.first)


# --- The entries ----------------------------------------------------------------------------------


def numbers_of(value):
    numbers, at = [], 0
    while at < len(value):
        number, at = varint(value, at, len(value))
        numbers.append(number)
    return numbers


def runs_of(numbers, first):
    """The ranges that pairs of numbers stand for."""
    demand(len(numbers) % 2 == 0, "half a range")
    ranges, following = [], first
    for gap, others in zip(numbers[::2], numbers[1::2]):
        ranges.append((following + gap, following + gap + others))
        following = ranges[-1][1] + 2
    return ranges


def stream_of(value, first):
    """(events before, sequences) of a stream's value."""
    numbers = numbers_of(value)
    demand(numbers, "a stream without its events")
    head, rest, before = numbers[0], numbers[1:], 0
    if head & 1:
        demand(rest and rest[0] > 0, "no events before, where there are some")
        before, rest = rest[0], rest[1:]
    count = (head >> 2) + 1
    if head & 2:
        runs = runs_of(rest, first)
        demand(sum(last - begin + 1 for begin, last in runs) == count, "runs of another length")
        return before, [sequence for begin, last in runs for sequence in range(begin, last + 1)]
    demand(len(rest) == count, "another number of sequences")
    sequences, following = [], first
    for gap in rest:
        sequences.append(following + gap)
        following = sequences[-1] + 1
    return before, sequences


def encoded(numbers):
    """The number of bytes that numbers take as varints."""
    return sum(max(1, -(-number.bit_length() // 7)) for number in numbers)


def has_runs(value):
    return bool(numbers_of(value)[0] & 2)


def should_have_runs(sequences, first):
    """Whether runs are shorter than single sequences."""
    singles = [after - before - 1 for before, after in zip([first - 1] + sequences, sequences)]
    pairs, following = [], first
    for begin, last in ranges_of(sequences, 1):
        pairs += [begin - following, last - begin]
        following = last + 2
    return encoded(pairs) < encoded(singles)


def ranges_of(sequences, distance):
    ranges = []
    for sequence in sequences:
        if ranges and sequence - ranges[-1][1] <= distance:
            ranges[-1] = (ranges[-1][0], sequence)
        else:
            ranges.append((sequence, sequence))
    return ranges


def ranges_kept(sequences):
    """The ranges that a writer keeps of a category or a type."""
    ranges, distance = ranges_of(sequences, 1), 32
    while len(ranges) > RANGES_MAX:
        distance *= 2
        ranges = ranges_of(sequences, distance)
    return ranges


def spans_of(value, trailer):
    """[(first, last, appends, least, greatest)] of the times."""
    numbers = numbers_of(value)
    demand(len(numbers) % 4 == 0, "a part of a span")
    spans, following, least = [], trailer.first, 0
    for events, appends, distance, length in zip(*(iter(numbers),) * 4):
        least += distance // 2 if distance % 2 == 0 else -(distance + 1) // 2
        least = (least + 2**63) % 2**64 - 2**63
        spans.append((following, following + events, appends + 1, least, least + length))
        following += events + 1
    demand(following == trailer.last + 1, "spans of another range")
    return spans


def meaning(index):
    """({stream: (events before, sequences)}, {(tag, name): (count, ranges)}) of an index. Raises Malformed."""
    streams, names = {}, {}
    first, last = index.trailer.first, index.trailer.last
    for key, value in index.entries:
        tag, name = key[:1], key[1:]
        if tag == b"a":
            demand(not name, "times with a name")
            continue
        demand(tag in (b"b", b"c", b"s", b"t"), "a key of an unknown kind")
        demand(tag != b"b" or b"/" not in name, "a stream without an id that has one")
        demand(tag != b"s" or b"/" in name, "a stream with an id that has none")
        if tag in (b"b", b"s"):
            streams[name] = stream_of(value, first)
            demand(streams[name][1][-1] <= last, "a sequence after the segment")
            demand(has_runs(value) == should_have_runs(streams[name][1], first), "runs where they are not shorter")
            continue
        numbers = numbers_of(value)
        demand(len(numbers) >= 3, "a name without its events")
        ranges = runs_of(numbers[1:], first)
        demand(ranges[-1][1] <= last, "a range after the segment")
        names[(tag, name)] = (numbers[0] + 1, ranges)
    return streams, names


class Expected:
    """What the log says of the beginning of one segment."""

    def __init__(self):
        self.ends = {}
        self.events = []
        self.ids = {}
        self.appends = []

    def spans(self, last):
        """The spans of the appends up to a sequence."""
        spans, is_open, length = [], False, 0
        for first, end, time, content in self.appends:
            if end > last:
                break
            if not is_open:
                spans.append((first, end, 1, time, time))
                length = 0
            else:
                begin, _, appends, least, greatest = spans[-1]
                spans[-1] = (begin, end, appends + 1, min(least, time), max(greatest, time))
            length += content
            is_open = spans[-1][2] < SPAN_APPENDS_MAX and length < SPAN_CONTENT_MAX
        return spans

    def upto(self, last):
        """({stream: (events before, sequences)}, {(tag, name): (count, ranges)}, {id: sequence}) up to a sequence."""
        streams, names = {}, {}
        for sequence, stream, kind, revision in self.events:
            if sequence > last:
                break
            streams.setdefault(stream, (revision - 1, []))[1].append(sequence)
            names.setdefault((b"t", kind), []).append(sequence)
            if b"/" in stream:
                names.setdefault((b"c", stream.split(b"/")[0]), []).append(sequence)
        kept = {key: (len(sequences), ranges_kept(sequences)) for key, sequences in names.items()}
        return streams, kept, {id: first for id, first in self.ids.items() if first <= last}


def expected(store):
    """What the index of each segment must hold: {first: Expected}, from the log alone."""
    found = {}

    def note(block, file, events):
        if block.kind != EVENTS:
            return
        of = found.setdefault(file.first, Expected())
        of.ends[block.first + block.events - 1] = block.chain_after
        for event in events:
            stream, kind = event.stream.encode("utf-8"), event.type.encode("utf-8")
            of.events.append((event.sequence, stream, kind, event.revision))
            content = min(event.length, SPAN_CONTENT_MAX)
            if event.sequence == event.append_first:
                of.appends.append((event.sequence, event.append_last, event.own_time, content))
            else:
                of.appends[-1] = (*of.appends[-1][:3], of.appends[-1][3] + content)
            if event.id and event.sequence == event.append_first:
                of.ids.setdefault(event.id, event.sequence)

    Check(store, note).run()
    return {first: found[first] for first in segments_of(store) if first in found}


def difference(index, wanted, is_closed):
    """How an index differs from the log, or None."""
    trailer = index.trailer
    if trailer.last not in wanted.ends or (is_closed and trailer.last != max(wanted.ends)):
        return "identity"
    if trailer.chain != wanted.ends[trailer.last]:
        return "identity"
    streams, names = meaning(index)
    log_streams, log_names, log_ids = wanted.upto(trailer.last)
    if streams != log_streams:
        return "streams"
    if names != log_names:
        return "names"
    spans = spans_of(dict(index.entries)[b"a"], trailer) if index.entries[0][0] == b"a" else None
    if spans != wanted.spans(trailer.last) or trailer.least_time != min(span[3] for span in spans):
        return "times"
    if trailer.ids != len(log_ids):
        return "ids"
    if index.ids != sorted(fingerprint(id, first, trailer) for id, first in log_ids.items()):
        return "ids"
    return None


def compare(store, names):
    """One result for each index file, ascending: what it holds, and how it differs from the log."""
    wanted = expected(store)
    for name in sorted(names):
        match = INDEX_NAME.fullmatch(name)
        if not match:
            continue
        first = int(match.group(1))
        answer = {"schema": 1, "file": "derived/" + name, "first": first, "differs": None}
        try:
            index = read_index(store.read("derived/" + name))
            streams, _ = meaning(index)
            answer.update(streams=len(streams), ids=index.trailer.ids)
            if first not in wanted or index.trailer.first != first:
                answer["differs"] = "no segment"
            else:
                answer["differs"] = difference(index, wanted[first], first != segments_of(store)[-1])
        except Malformed as error:
            answer["differs"] = str(error)
        yield answer
