"""The file REPLICA of a store's folder, as "REPLICA" of FORMAT.md describes it."""

import struct
from collections import namedtuple

from strata_carrier import uuid_text
from strata_check import Check
from strata_codecs import Malformed, crc32c
from strata_payloads import Unsupported

NAME = "REPLICA"
TEXT_LENGTH_MAX = 4096
CHECKSUM_AT = 8
WRITER, FOLLOWER, FENCED, FORK = 1, 2, 3, 4
SHIPPED, UNFINISHED = 1, 2
ROLES = {WRITER: "writer", FOLLOWER: "follower", FENCED: "fenced", FORK: "fork"}

REPLICA_FORM = struct.Struct("<4sHBBII16s16s16sQQQIIQ")
LENGTH_MAX = REPLICA_FORM.size + 2 * TEXT_LENGTH_MAX
Head = namedtuple(
    "Head",
    "magic version role flags crc reserved_2 uuid member origin origin_sequence origin_chain erased_through "
    "carrier_length reason_length reserved_3",
)
Replica = namedtuple("Replica", "head carrier reason")


def read_replica(data):
    """The content of the file. Raises Malformed and Unsupported."""
    if len(data) < REPLICA_FORM.size:
        raise Malformed("shorter than its fields")
    head = Head._make(REPLICA_FORM.unpack_from(data))
    if head.magic != b"STRR":
        raise Malformed("the magic")
    if head.crc != crc32c(data[:CHECKSUM_AT] + bytes(4) + data[CHECKSUM_AT + 4 :]):
        raise Malformed("the checksum")
    if head.version != 1:
        raise Unsupported("version %d" % head.version)
    if head.role not in ROLES:
        raise Unsupported("role %d" % head.role)
    lengths = (head.carrier_length, head.reason_length)
    if max(lengths) > TEXT_LENGTH_MAX or REPLICA_FORM.size + sum(lengths) != len(data):
        raise Malformed("the lengths of its texts")
    texts = data[REPLICA_FORM.size :]
    try:
        return Replica(head, texts[: lengths[0]].decode("utf-8"), texts[lengths[0] :].decode("utf-8"))
    except UnicodeDecodeError:
        raise Malformed("a text is not UTF-8") from None


def replica_of(store):
    """What the file of a store says, None if there is none. Raises Malformed and Unsupported."""
    if not store.has(NAME):
        return None
    replica = read_replica(store.read(NAME, LENGTH_MAX + 1))
    check = Check(store)
    uuid = check.uuid or check.run().uuid
    if uuid is not None and replica.head.uuid != uuid:
        raise Malformed("it is of the store %s" % uuid_text(replica.head.uuid))
    return replica


def replica_object(replica):
    """The line that is printed; without a file, its role is null."""
    if replica is None:
        return {"schema": 1, "role": None}
    head = replica.head
    origin = {"store": uuid_text(head.origin), "sequence": head.origin_sequence, "chain": "%016x" % head.origin_chain}
    return {
        "schema": 1,
        "role": ROLES[head.role],
        "store": uuid_text(head.uuid),
        "member": uuid_text(head.member),
        "origin": origin if head.origin != bytes(16) else None,
        "erasedThrough": head.erased_through,
        "hasShipped": bool(head.flags & SHIPPED),
        "isUnfinished": bool(head.flags & UNFINISHED),
        "carrier": replica.carrier,
        "reason": replica.reason,
    }
