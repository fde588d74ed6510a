"""The states of a store, as StateFormat.md describes them: reads them whole and compares them with the log."""

import re
import struct
from collections import namedtuple

from strata_check import Check
from strata_codecs import Malformed, cbor_to_json, crc32c, xxh64
from strata_fold import Row, Tables
from strata_pages import Bytes, PageFiles, Place, Root, demand
from strata_segment import judge_segment_header
from strata_state_views import check_view, view_of
from strata_store import SLOT_LENGTH, SLOT_OFFSETS, read_head, segment_path, segments_of

PARENT = "derived/state"
FOLDER = re.compile(r"([0-9a-z_$%]*)-([0-9]+)(-touches)?", re.ASCII)
WHOLE_NAME = re.compile(r"(?:[0-9a-z_$]|%[0-9a-f]{2}){0,120}", re.ASCII)
CUT_NAME = re.compile(r"[0-9a-z_$%]{120}%[0-9a-f]{16}", re.ASCII)
NAME_LENGTH_MAX = 120
PAGE_SIZE = 4096
FAILURES_MAX = 100
ROW_HEAD = struct.Struct("<QQq")
NOTHING_ERASED = xxh64(b"")

Slot = namedtuple(
    "Slot",
    "magic major minor length uuid generation name fingerprint sequence chain appends time erasures flags "
    "total height file offset root_length checksum build",
)
SLOT_FORM = struct.Struct("<8sHHI16sQQQQQQqQIIIIQIIQ")
# `tables` are (name, {id: Row}, {id: problem}) in their order, `failures` (sequence, text).
State = namedtuple("State", "slot tables views failures failure_count page_files")
Name = namedtuple("Name", "name version records_touches")


# --- STATE ----------------------------------------------------------------------------------------


def read_slot(data, at):
    """The slot at an offset of STATE, or None if it does not verify."""
    slot = data[at : at + SLOT_LENGTH]
    if len(slot) < SLOT_LENGTH:
        return None
    state = Slot._make(SLOT_FORM.unpack_from(slot))
    if state.magic != b"STRATAST" or state.major != 1 or state.length != SLOT_LENGTH:
        return None
    if int.from_bytes(slot[508:], "little") != crc32c(slot[:508]):
        return None
    is_root = state.height <= 255 and state.offset < 1 << 62 and (state.total == 0 or state.root_length > 12)
    return state if is_root and state.generation < (1 << 64) - 1 else None


def root_of(slot):
    return Root(slot.total, slot.height, Place(slot.file, slot.offset, slot.root_length, slot.checksum))


def name_of(folder):
    """What a folder's name says; None as the name if it was cut. Raises Malformed."""
    match = FOLDER.fullmatch(folder)
    demand(match, "no folder of a state")
    text, version, touches = match.groups()
    if len(text) > NAME_LENGTH_MAX:
        demand(CUT_NAME.fullmatch(text), "no folder of a state")
        return Name(None, int(version), touches is not None)
    demand(WHOLE_NAME.fullmatch(text), "no folder of a state")
    parts = re.sub(rb"%([0-9a-f]{2})", lambda part: bytes([int(part.group(1), 16)]), text.encode("ascii"))
    return Name(parts.decode("utf-8"), int(version), touches is not None)


def name_hash(name):
    return xxh64(("%d %d %s" % (name.records_touches, name.version, name.name)).encode("utf-8"))


# --- The directory --------------------------------------------------------------------------------


def read_state(store, folder, slot):
    """Everything that one slot names. Raises Malformed."""
    pages = PageFiles(store, "%s/%s" % (PARENT, folder), slot.uuid)
    demand(slot.total > 0, "a state without a directory")
    state = State(slot, [], [], [], 0, [])
    for key, value in pages.tree(root_of(slot), PAGE_SIZE):
        demand(len(key) == 5, "a key of the directory")
        kind, number, fields = key[:1], int.from_bytes(key[1:], "big"), Bytes(value)
        if kind == b"f":
            demand(number == len(state.failures), "a failure is missing")
            state.failures.append((fields.varint(), fields.bytes(fields.rest).decode("utf-8")))
        elif kind == b"n":
            state = state._replace(failure_count=fields.varint())
        elif kind == b"p":
            pages.data(number)
            state.page_files.append(number)
        elif kind == b"t":
            demand(number == len(state.tables), "a table is missing")
            state.tables.append(table_of(fields, pages))
        else:
            demand(kind == b"v" and number == len(state.views), "an unknown entry, or a view is missing")
            state.views.append(view_of(fields, pages))
        fields.ends("an entry of the directory")
    demand(len(state.failures) == min(state.failure_count, FAILURES_MAX), "failures are missing")
    demand(set(pages.usage()) <= set(state.page_files), "a page file that the directory does not name")
    for view in state.views:
        demand(view.table < len(state.tables), "a view of no table")
        demand(view.sequence <= slot.sequence, "a view that is newer than its state")
        check_view(view)
    return state


def table_of(fields, pages):
    name = fields.text()
    rows, reasons = pages.saved_tree(fields, PAGE_SIZE), pages.saved_tree(fields, PAGE_SIZE)
    found = {}
    for id, value in rows:
        demand(len(value) >= ROW_HEAD.size, "a value that is no row")
        found[id.decode("utf-8")] = Row(*ROW_HEAD.unpack_from(value), cbor_to_json(value[ROW_HEAD.size :]))
    return name, found, {id.decode("utf-8"): reason.decode("utf-8") for id, reason in reasons}


# --- Comparing with the log -----------------------------------------------------------------------


class Expected:
    """What the log says at the sequence of a state."""

    def __init__(self, store, sequence, records_touches):
        self.chain, self.appends, self.time, self.end = None, 0, None, 0
        self.folded = Tables(records_touches)

        def note(block, file, events):
            for event in events:
                self.end = event.sequence
                if event.sequence > sequence:
                    return
                self.folded.add(event)
                self.appends += event.sequence == event.append_last
                if event.sequence == sequence:
                    self.chain, self.time = event.chain, event.own_time

        Check(store, note, stops_at_damage=True).run()


def erasures_hash(store, sequence):
    """The hash of the erasures in the segments that begin at or before a sequence."""
    found = b""
    for first in segments_of(store):
        _, header = judge_segment_header(store.read(segment_path(first), 4096), True)
        if first <= sequence and header and header.revision > 0 and header.mark != NOTHING_ERASED:
            found += struct.pack("<QQ", first, header.mark)
    return xxh64(found)


def difference(store, name, state):
    """How a state differs from the log, or None."""
    slot, head = state.slot, read_head(store)
    if head and slot.uuid != head.uuid:
        return "uuid"
    if name.name is not None and slot.name != name_hash(name):
        return "name"
    if name.name == "$documents" and (slot.fingerprint, slot.build) != (xxh64(b"fold 2"), 0):
        return "fingerprint"
    wanted = Expected(store, slot.sequence, name.records_touches)
    if slot.chain != wanted.chain:
        return "chain"
    if slot.appends != wanted.appends or slot.time != wanted.time or slot.flags & 1 == 0:
        return "position"
    if slot.erasures != erasures_hash(store, slot.sequence):
        return "erasures"
    return difference_of_tables(wanted.folded.tables, state.tables) if name.name == "$documents" else None


def difference_of_tables(wanted, tables):
    if [name for name, _, _ in tables] != list(wanted):
        return "tables"
    for name, rows, problems in tables:
        if rows != wanted[name][0]:
            return "rows of %s" % name
        if sorted(problems) != sorted(wanted[name][1]):
            return "problems of %s" % name
        if not all(problems[id].startswith(reason) for id, reason in wanted[name][1].items()):
            return "problems of %s" % name
    return None


def states_of(store):
    """The names of the folders that hold states, ascending."""
    return sorted(name for name in store.names_in(PARENT) if store.has("%s/%s/STATE" % (PARENT, name)))


def compare(store):
    """One result for each slot of each state: what it holds, and how it differs from the log.

    The older slot may name page files that are gone; `isNewest` says which slot counts.
    """
    for folder in states_of(store):
        data = store.read("%s/%s/STATE" % (PARENT, folder), SLOT_OFFSETS[1] + SLOT_LENGTH)
        slots = [read_slot(data, at) for at in SLOT_OFFSETS]
        newest = max((slot.generation for slot in slots if slot), default=None)
        for at, slot in zip(SLOT_OFFSETS, slots):
            if slot is None and not any(data[at : at + SLOT_LENGTH]):
                continue
            answer = {"schema": 1, "folder": "%s/%s" % (PARENT, folder), "slot": at, "differs": None}
            if slot is None:
                yield dict(answer, isNewest=newest is None, differs="the slot does not verify")
                continue
            answer.update(isNewest=slot.generation == newest, sequence=slot.sequence)
            try:
                state = read_state(store, folder, slot)
                answer["tables"] = {name: len(rows) for name, rows, _ in state.tables}
                answer["views"] = [view.name for view in state.views]
                answer["differs"] = difference(store, name_of(folder), state)
            except (Malformed, UnicodeDecodeError) as error:
                answer["differs"] = str(error)
            yield answer
