"""Checks a segment from its header to the end of its valid blocks, and classifies invalid blocks."""

import struct
from collections import namedtuple

from strata_codecs import RAW_LENGTH_MAX, crc32c
from strata_store import SEQUENCE_MAX, only_zeros

SEGMENT_HEADER_LENGTH = 4096
BLOCK_HEADER_LENGTH = 176
APPENDS_MAX = (1 << 64) - 1

EVENTS, RECOVERY, FOOTER = 1, 2, 3


# --- Segment headers ------------------------------------------------------------------------------

SegmentHeader = namedtuple(
    "SegmentHeader",
    "magic major minor length uuid first incompatible readonly compatible previous_first "
    "previous_last previous_chain previous_time appends epoch created revision chain_algorithm "
    "reserved footer last chain end mark",
)
SEGMENT_FORM = struct.Struct("<8sHHI16sQQQQQQQqQQqIB3sQQQQQ")


def judge_segment_header(data, is_first):
    """(class of the problem or None, header), without comparing the file's name and the store's UUID."""
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
    """What the segment requires of the next block: its offset and what it continues."""

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
    """Point 1: the header if its magic, length and CRC are right, else None."""
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
    """Point 3: no length reaches past the end of the file, and no count past 64 bits."""
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
    """(class of the problem or None, block) for the block that should be at an offset."""
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
    """Every block header at or after X that counts in the rule about torn tails."""
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
