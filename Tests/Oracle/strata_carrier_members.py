"""The notes of members in a carrier, by "Members in a carrier" of FORMAT.md."""

import re
import struct
from collections import namedtuple

from strata_carrier_files import Refused, uuid_text
from strata_codecs import crc32c
from strata_json import time_text

CHECKSUM_AT = 8
WRITER, FOLLOWER = 1, 2
PARTS = {WRITER: "writer", FOLLOWER: "follower"}

NOTE_FORM = struct.Struct("<4sHBBII16s16sQQQq")
Note = namedtuple(
    "Note", "magic version part reserved crc reserved_2 uuid member sequence chain erased_through time"
)
MEMBER_NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)


def read_note(data, member, uuid):
    """The note of a member, which is the name of its file. Raises Refused. `uuid` is that of the store, None if any
    is right."""

    def refuse(kind, what):
        raise Refused(kind, "members/" + member, what)

    if len(data) != NOTE_FORM.size:
        refuse("corrupt", "its length")
    note = Note._make(NOTE_FORM.unpack(data))
    if note.magic != b"STRM":
        refuse("corrupt", "the magic")
    if note.crc != crc32c(data[:CHECKSUM_AT] + bytes(4) + data[CHECKSUM_AT + 4 :]):
        refuse("corrupt", "the checksum")
    if note.version != 1:
        refuse("unsupported", "version %d" % note.version)
    if note.part not in PARTS:
        refuse("unsupported", "part %d" % note.part)
    if uuid is not None and note.uuid != uuid:
        refuse("misplaced", "it is of the store %s" % uuid_text(note.uuid))
    if uuid_text(note.member) != member:
        refuse("misplaced", "it is of the member %s" % uuid_text(note.member))
    return note


def members_of(log):
    """What the note of each member of a carrier says, by their names, and how it differs from the carrier's log.

    A note that cannot be read is listed, too: its member may hold everything.
    """
    for member in log.carrier.names_in("members"):
        if MEMBER_NAME.fullmatch(member):
            try:
                note = read_note(log.carrier.read("members/" + member, NOTE_FORM.size + 1), member, log.uuid)
            except Refused as error:
                yield member_object(member, None, "%s: %s" % (error.kind, error.what))
            else:
                yield member_object(member, note, difference(note, log))


def difference(note, log):
    """How a note differs from the log of its carrier, else None; a writer may have more than the carrier."""
    if note.sequence > log.end.sequence:
        return None if note.part == WRITER else "a follower has sequence %d, which is not there" % note.sequence
    if note.sequence not in log.ends:
        return "no append ends at sequence %d" % note.sequence
    if note.chain != log.ends[note.sequence].chain:
        return "its chain is not the chain after sequence %d" % note.sequence
    return None


def member_object(member, note, differs):
    line = dict.fromkeys(("schema", "member", "part", "sequence", "chain", "erasedThrough", "time"))
    line.update(schema=1, member=member, differs=differs)
    if note:
        line.update(part=PARTS[note.part], sequence=note.sequence, chain="%016x" % note.chain)
        line.update(erasedThrough=note.erased_through, time=time_text(note.time))
    return line
