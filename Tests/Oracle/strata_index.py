"""The index files of a store, as "Derived indexes" describes them: reads them whole and compares them with the log."""

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

Trailer = namedtuple(
    "Trailer",
    "magic version length uuid first last chain entries chunks filter_offset filter_length fences_length "
    "filter_crc fences_crc",
)
TRAILER_FORM = struct.Struct("<8sII16sQQQQQQQQII")
Fence = namedtuple("Fence", "offset key_offset length key_length crc entries")
FENCE_FORM = struct.Struct("<QQIIII")
Index = namedtuple("Index", "trailer entries")


def demand(holds, what):
    if not holds:
        raise Malformed(what)


def read_index(data):
    """The trailer and the entries of an index file, in their order. Raises Malformed."""
    demand(len(data) >= TRAILER_LENGTH, "shorter than a trailer")
    end = data[-TRAILER_LENGTH:]
    trailer = Trailer._make(TRAILER_FORM.unpack_from(end))
    demand(trailer.magic == b"STRATAIX" and trailer.version == 1 and trailer.length == TRAILER_LENGTH, "no trailer")
    demand(int.from_bytes(end[124:], "little") == crc32c(end[:124]), "the trailer's CRC")
    parts = trailer.filter_offset + trailer.filter_length + trailer.fences_length
    demand(parts + TRAILER_LENGTH == len(data), "the parts do not fill the file")
    chunks = data[: trailer.filter_offset]
    bloom = data[trailer.filter_offset : trailer.filter_offset + trailer.filter_length]
    fences = data[trailer.filter_offset + trailer.filter_length : -TRAILER_LENGTH]
    demand(crc32c(bloom) == trailer.filter_crc and crc32c(fences) == trailer.fences_crc, "a CRC in the trailer")
    demand(len(bloom) == FILTER_BLOCK * -(-10 * trailer.entries // 512), "the filter's length")
    entries = entries_of(chunks, fences, trailer)
    keys = [key for key, _ in entries]
    demand(keys == sorted(set(keys)), "keys do not ascend")
    demand(all(passes(bloom, key) for key in keys), "the filter does not pass a key of the file")
    return Index(trailer, entries)


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
    found, at = [], 0
    while at < len(chunk):
        demand(at + 6 <= len(chunk), "an entry is cut short")
        key_length, value_length = struct.unpack_from("<HI", chunk, at)
        middle, end = at + 6 + key_length, at + 6 + key_length + value_length
        demand(end <= len(chunk), "an entry is longer than its chunk")
        found.append((bytes(chunk[at + 6 : middle]), bytes(chunk[middle:end])))
        at = end
    return found


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


# --- The entries ----------------------------------------------------------------------------------


def meaning(index):
    """({stream: (events before, sequences)}, {append id: first sequence}) of an index. Raises Malformed."""
    streams, ids = {}, {}
    first, last = index.trailer.first, index.trailer.last
    for key, value in index.entries:
        demand(key[:1] in (b"a", b"s"), "a key of an unknown kind")
        numbers, at = [], 0
        while at < len(value):
            number, at = varint(value, at, len(value))
            numbers.append(number)
        if key[:1] == b"a":
            demand(len(numbers) == 1 and first + numbers[0] <= last, "an id without its append")
            ids[key[1:]] = first + numbers[0]
            continue
        demand(len(numbers) >= 3 and len(numbers) == 2 + numbers[1], "a stream without its events")
        sequences, before = [], first
        for distance in numbers[2:]:
            demand(distance > 0 or not sequences, "a sequence twice")
            before += distance
            sequences.append(before)
        demand(before <= last, "a sequence after the segment")
        streams[key[1:]] = (numbers[0], sequences)
    return streams, ids


def expected(store):
    """What the index of each closed segment must hold: {first: (identity, streams, ids)}, from the log alone."""
    found, all_ids = {}, set()

    def note(block, file, events):
        if block.kind != EVENTS:
            return
        identity, streams, ids = found.setdefault(file.first, ([], {}, {}))
        identity[:] = [file.first, block.first + block.events - 1, block.chain_after]
        for event in events:
            stream = event.stream.encode("utf-8")
            streams.setdefault(stream, (event.revision - 1, []))[1].append(event.sequence)
            if event.id and event.sequence == event.append_first and event.id not in all_ids:
                all_ids.add(event.id)
                ids[event.id] = event.sequence

    Check(store, note).run()
    return {first: found[first] for first in segments_of(store)[:-1] if first in found}


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
            streams, ids = meaning(index)
            answer.update(streams=len(streams), ids=len(ids))
            if first not in wanted:
                answer["differs"] = "no closed segment"
            else:
                identity, log_streams, log_ids = wanted[first]
                trailer = index.trailer
                if [trailer.first, trailer.last, trailer.chain] != identity:
                    answer["differs"] = "identity"
                elif streams != log_streams:
                    answer["differs"] = "streams"
                elif ids != log_ids:
                    answer["differs"] = "ids"
        except Malformed as error:
            answer["differs"] = str(error)
        yield answer
