"""The codecs that FORMAT.md builds on: CRC32C, XXH64, raw LZ4 blocks, varints and CBOR.

Everything is written from the public definitions, in plain Python, so that the oracle shares no
code with the library that it checks. Decoders raise only `Malformed`.
"""

import base64
import math
import struct
from functools import lru_cache

RAW_LENGTH_MAX = 64 << 20
CBOR_DEPTH_MAX = 200
CBOR_BIGNUM_BYTES_MAX = 1024


class Malformed(Exception):
    """Raised for bytes that are not valid in their codec."""


# --- CRC32C ---------------------------------------------------------------------------------------


def _crc_tables():
    """Eight tables: the k-th advances the CRC of a byte by k zero bytes (slicing by eight)."""
    first = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        first.append(value)
    tables = [first]
    for _ in range(7):
        last = tables[-1]
        tables.append([(value >> 8) ^ first[value & 255] for value in last])
    return tables


_T0, _T1, _T2, _T3, _T4, _T5, _T6, _T7 = _crc_tables()


def _crc32c(data):
    crc = 0xFFFFFFFF
    t0, t1, t2, t3, t4, t5, t6, t7 = _T0, _T1, _T2, _T3, _T4, _T5, _T6, _T7
    whole = len(data) >> 3
    for word in struct.unpack_from("<%dQ" % whole, data):
        word ^= crc
        crc = (
            t7[word & 255]
            ^ t6[(word >> 8) & 255]
            ^ t5[(word >> 16) & 255]
            ^ t4[(word >> 24) & 255]
            ^ t3[(word >> 32) & 255]
            ^ t2[(word >> 40) & 255]
            ^ t1[(word >> 48) & 255]
            ^ t0[word >> 56]
        )
    for byte in data[whole << 3 :]:
        crc = (crc >> 8) ^ t0[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


# Copies of one store differ in a few bytes only, so most blocks of a thousand copies have been checked before.
_crc32c_remembered = lru_cache(maxsize=512)(_crc32c)


def crc32c(data):
    """The Castagnoli CRC of `data`."""
    if len(data) > 32768:
        return _crc32c(data)
    return _crc32c_remembered(bytes(data))


# --- XXH64 ----------------------------------------------------------------------------------------

_MASK = 0xFFFFFFFFFFFFFFFF
_P1 = 0x9E3779B185EBCA87
_P2 = 0xC2B2AE3D27D4EB4F
_P3 = 0x165667B19E3779F9
_P4 = 0x85EBCA77C2B2AE63
_P5 = 0x27D4EB2F165667C5


def _rotate(value, by):
    return ((value << by) | (value >> (64 - by))) & _MASK


def _round(lane, word):
    lane = (lane + word * _P2) & _MASK
    return (((lane << 31) | (lane >> 33)) * _P1) & _MASK


def xxh64(data):
    """The 64-bit hash of xxHash with seed 0."""
    length = len(data)
    words = struct.unpack_from("<%dQ" % (length >> 3), data)
    stripes = (length >> 5) << 2
    if stripes:
        a, b, c, d = (_P1 + _P2) & _MASK, _P2, 0, (-_P1) & _MASK
        for i in range(0, stripes, 4):
            a = _round(a, words[i])
            b = _round(b, words[i + 1])
            c = _round(c, words[i + 2])
            d = _round(d, words[i + 3])
        value = (_rotate(a, 1) + _rotate(b, 7) + _rotate(c, 12) + _rotate(d, 18)) & _MASK
        for lane in (a, b, c, d):
            value = ((value ^ _round(0, lane)) * _P1 + _P4) & _MASK
    else:
        value = _P5
    value = (value + length) & _MASK
    for word in words[stripes:]:
        value = (_rotate(value ^ _round(0, word), 27) * _P1 + _P4) & _MASK
    at = (length >> 3) << 3
    if length - at >= 4:
        word = int.from_bytes(data[at : at + 4], "little")
        value = (_rotate(value ^ (word * _P1) & _MASK, 23) * _P2 + _P3) & _MASK
        at += 4
    for byte in data[at:]:
        value = (_rotate(value ^ (byte * _P5) & _MASK, 11) * _P1) & _MASK
    value = ((value ^ (value >> 33)) * _P2) & _MASK
    value = ((value ^ (value >> 29)) * _P3) & _MASK
    return value ^ (value >> 32)


# --- Varints --------------------------------------------------------------------------------------


def varint(data, at, end):
    """Reads an unsigned LEB128 number of at most ten bytes in its shortest form: (value, offset)."""
    if at >= end:
        raise Malformed("a varint is cut off")
    byte = data[at]
    at += 1
    if byte < 128:
        return byte, at
    value, shift = byte & 127, 7
    while True:
        if at >= end:
            raise Malformed("a varint is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
        if shift > 63:
            raise Malformed("a varint has more than ten bytes")
    if byte == 0:
        raise Malformed("a varint is not in its shortest form")
    if value > _MASK:
        raise Malformed("a varint is past 64 bits")
    return value, at


# --- LZ4 ------------------------------------------------------------------------------------------


def lz4_decode(data, raw_length):
    """Decodes one raw LZ4 block, which must result in exactly `raw_length` bytes.

    As the block format requires, the last sequence is literals only, and no match reaches into the
    last five bytes.
    """
    if raw_length > RAW_LENGTH_MAX or raw_length > 255 * len(data) + 64:
        raise Malformed("the raw length is not possible")
    out = bytearray()
    at, end = 0, len(data)
    while True:
        if at >= end:
            raise Malformed("LZ4: cut off before a token")
        token = data[at]
        at += 1
        literals = token >> 4
        if literals == 15:
            literals, at = _lz4_length(data, at, end, literals)
        if literals > end - at or literals > raw_length - len(out):
            raise Malformed("LZ4: literals past the end")
        out += data[at : at + literals]
        at += literals
        if at == end:
            break
        if end - at < 2:
            raise Malformed("LZ4: cut off before a distance")
        distance = data[at] | data[at + 1] << 8
        at += 2
        length = token & 15
        if length == 15:
            length, at = _lz4_length(data, at, end, length)
        length += 4
        start = len(out) - distance
        if distance == 0 or start < 0:
            raise Malformed("LZ4: a distance before the beginning")
        if length > raw_length - 5 - len(out):
            raise Malformed("LZ4: a match reaches into the last five bytes")
        if distance >= length:
            out += out[start : start + length]
        else:
            pattern = bytes(out[start:])
            out += (pattern * (length // distance + 1))[:length]
    if len(out) != raw_length:
        raise Malformed("LZ4: another raw length")
    return bytes(out)


def _lz4_length(data, at, end, length):
    while True:
        if at >= end:
            raise Malformed("LZ4: a length is cut off")
        byte = data[at]
        at += 1
        length += byte
        if byte != 255:
            return length, at


# --- CBOR -----------------------------------------------------------------------------------------


def cbor_to_json(data):
    """Decodes one CBOR item (RFC 8949) that fills `data`, as values that JSON can express.

    Bytes become {"b64": …} and bignums integers; undefined, other simple values and numbers that JSON
    lacks become null; other tags are dropped (RFC 8949, section 6.1). A key that is not text becomes its
    JSON text; of equal keys the last one counts.
    """
    value, at = _cbor_item(data, 0, 0)
    if at != len(data):
        raise Malformed("CBOR: bytes after the item")
    return _to_json(value)


def _cbor_head(data, at):
    if at >= len(data):
        raise Malformed("CBOR: cut off")
    major, extra = data[at] >> 5, data[at] & 31
    at += 1
    if extra < 24:
        return major, extra, extra, at
    if extra == 31:
        return major, extra, None, at
    if extra > 27:
        raise Malformed("CBOR: a reserved length")
    size = 1 << (extra - 24)
    if size > len(data) - at:
        raise Malformed("CBOR: cut off")
    return major, extra, int.from_bytes(data[at : at + size], "big"), at + size


def _cbor_item(data, at, depth):
    if depth > CBOR_DEPTH_MAX:
        raise Malformed("CBOR: nested too deeply")
    major, extra, argument, at = _cbor_head(data, at)
    if major == 7:
        return _cbor_simple(data, extra, argument, at)
    if argument is None and major in (0, 1, 6):
        raise Malformed("CBOR: indefinite length where none is allowed")
    if major == 0:
        return argument, at
    if major == 1:
        return -1 - argument, at
    if major in (2, 3):
        return _cbor_string(data, major, argument, at)
    if major == 4:
        return _cbor_array(data, argument, at, depth)
    if major == 5:
        return _cbor_map(data, argument, at, depth)
    value, at = _cbor_item(data, at, depth + 1)
    if argument in (2, 3):
        if not isinstance(value, bytes) or len(value) > CBOR_BIGNUM_BYTES_MAX:
            raise Malformed("CBOR: not a bignum, or too large a one")
        number = int.from_bytes(value, "big")
        value = number if argument == 2 else -1 - number
    return value, at


def _cbor_simple(data, extra, argument, at):
    if extra == 31:
        raise Malformed("CBOR: a break where none is allowed")
    if extra == 24 and argument < 32:
        raise Malformed("CBOR: a simple value in a longer form")
    if extra in (25, 26, 27):
        form = {25: ">e", 26: ">f", 27: ">d"}[extra]
        return struct.unpack_from(form, data, at - (1 << (extra - 24)))[0], at
    return {20: False, 21: True}.get(argument), at


def _cbor_string(data, major, length, at):
    parts = []
    if length is None:
        while True:
            inner, _, size, at = _cbor_head(data, at)
            if inner == 7 and size is None:
                break
            if inner != major or size is None or size > len(data) - at:
                raise Malformed("CBOR: a bad chunk of a string")
            parts.append(data[at : at + size])
            at += size
    else:
        if length > len(data) - at:
            raise Malformed("CBOR: a string is cut off")
        parts.append(data[at : at + length])
        at += length
    if major == 2:
        return b"".join(parts), at
    try:
        return "".join(part.decode("utf-8") for part in parts), at
    except UnicodeDecodeError:
        raise Malformed("CBOR: a text is not UTF-8") from None


def _cbor_ends(data, at):
    if at >= len(data):
        raise Malformed("CBOR: cut off")
    return data[at] == 0xFF


def _cbor_array(data, count, at, depth):
    items = []
    if count is not None and count > len(data) - at:
        raise Malformed("CBOR: an array is cut off")
    while count is None or len(items) < count:
        if count is None and _cbor_ends(data, at):
            return items, at + 1
        item, at = _cbor_item(data, at, depth + 1)
        items.append(item)
    return items, at


def _cbor_map(data, count, at, depth):
    pairs = []
    if count is not None and count > (len(data) - at) // 2:
        raise Malformed("CBOR: a map is cut off")
    while count is None or len(pairs) < count:
        if count is None and _cbor_ends(data, at):
            return _Pairs(pairs), at + 1
        key, at = _cbor_item(data, at, depth + 1)
        value, at = _cbor_item(data, at, depth + 1)
        pairs.append((key, value))
    return _Pairs(pairs), at


class _Pairs(list):
    """A map before its keys are converted to text."""


def _to_json(value):
    if isinstance(value, _Pairs):
        return {_key(key): _to_json(item) for key, item in value}
    if isinstance(value, list):
        return [_to_json(item) for item in value]
    if isinstance(value, bytes):
        return in_base64(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _key(key):
    if isinstance(key, str):
        return key
    import json

    return json.dumps(_to_json(key), separators=(",", ":"))


def in_base64(data):
    """Bytes as a JSON value."""
    return {"b64": base64.b64encode(data).decode("ascii")}
