"""The histories of a store, as HistoryFormat.md describes them: reads them whole and compares them with the log."""

import struct
from collections import namedtuple

from strata_check import Check
from strata_codecs import Malformed, cbor_to_json, crc32c, lz4_decode, xxh64
from strata_fold import Row, Tables
from strata_index import passes
from strata_keys import check_owner_over_time, difference_of_rows, keys_at, owners_of
from strata_pages import RECORD_HEAD, COMPRESSED, Bytes, demand
from strata_state import difference_of_tables, erasures_hash, name_hash, name_of
from strata_store import read_head

PARENT = "derived/history"
MANIFEST_FORM = struct.Struct("<8sHHI16sQQQII")
RUN_HEAD = struct.Struct("<8sHHI16s")
GONE, DOCUMENT, PROBLEM = 0, 1, 2
HEIGHT_MAX = 40

Entry = namedtuple("Entry", "number level length root begin end chain appends time erasures")
Place = namedtuple("Place", "offset length checksum")
Version = namedtuple("Version", "kind sequence created time bytes")
Event = namedtuple("Event", "sequence time ends_append failed rows")
Manifest = namedtuple("Manifest", "magic major minor length uuid name fingerprint build next_number checksum runs")


def place_of(fields):
    place = Place(fields.varint(), fields.varint((1 << 32) - 1), fields.number(4))
    demand(place.offset >= RUN_HEAD.size and place.length > RECORD_HEAD.size, "a place of no record")
    return place


def signed(number):
    return number >> 1 ^ -(number & 1)


def time_of(fields):
    return int.from_bytes(fields.bytes(8), "little", signed=True)


def later(time, distance):
    return (time + distance + (1 << 63)) % (1 << 64) - (1 << 63)


# --- MANIFEST -------------------------------------------------------------------------------------


def read_manifest(data):
    """The manifest. Raises Malformed."""
    demand(len(data) >= MANIFEST_FORM.size, "a manifest without its header")
    head = MANIFEST_FORM.unpack_from(data)
    demand(head[:2] == (b"STRATAHM", 3) and head[3] == len(data) and head[8] > 0, "the header of a manifest")
    demand(head[9] == crc32c(data[:60] + bytes(4) + data[64:]), "the checksum of a manifest")
    fields, runs = Bytes(data[MANIFEST_FORM.size :]), []
    while fields.rest:
        run = Entry(
            fields.varint((1 << 32) - 1), fields.varint((1 << 32) - 1), fields.varint(), place_of(fields),
            fields.varint(), fields.varint(), fields.number(8), fields.varint(), time_of(fields), fields.number(8),
        )
        demand(run.number < head[8] and run.begin < run.end, "a run of a manifest")
        demand(not runs or runs[-1].end == run.begin, "a gap between two runs")
        runs.append(run)
    return Manifest(*head, runs)


# --- Runs -----------------------------------------------------------------------------------------


class Run:
    """One run, read whole: `rows` are (key, versions), `events` in order, `keys` by owner and kind."""

    place_of = staticmethod(place_of)

    def __init__(self, store, folder, entry, uuid):
        self.data = store.read("%s/%010d.run" % (folder, entry.number))
        demand(len(self.data) == entry.length, "a run of another length")
        demand(self.data[: RUN_HEAD.size] == RUN_HEAD.pack(b"STRATARN", 3, 0, entry.number, uuid), "the header of a run")
        fields = Bytes(self.record(entry.root))
        flags = fields.number(1)
        demand(flags < 32, "the flags of a run")
        self.is_base = flags & 1 == 1
        self.begin, self.end = fields.varint(), fields.varint()
        self.time = time_of(fields) if flags & 2 else None
        self.appends, self.failures = fields.varint(), fields.varint()
        counts = [fields.varint() for _ in range(3)]
        row_count, version_count = fields.varint((1 << 32) - 1), fields.varint()
        rows = (fields.number(1), place_of(fields)) if flags & 4 else None
        changes = (fields.number(1), place_of(fields))
        filter = self.record(place_of(fields)) if flags & 8 else None
        tables, listed = Bytes(self.record(place_of(fields))), Bytes(self.record(place_of(fields)))
        keys = self.record(place_of(fields)) if flags & 16 else None
        fields.ends("the root of a run")
        demand((self.begin, self.end) == (entry.begin, entry.end), "a run of other events")
        demand(self.appends + counts[0] == entry.appends, "a run with other appends")
        self.tables = [(tables.varint(), tables.varint(), tables.text()) for _ in range(tables.varint())]
        tables.ends("the tables of a run")
        self.listed = [(listed.varint(), listed.text()) for _ in range(listed.varint())]
        listed.ends("the failures of a run")
        demand(self.begin < self.end, "a run of no event")
        self.rows = self.read_rows(rows)
        self.keys = owners_of(self, keys) if keys is not None else {}
        self.events = self.read_events(changes)
        demand(row_count == len(self.rows), "a run with other rows than it counts")
        demand(version_count == sum(len(versions) for _, versions in self.rows), "other versions than counted")
        found = [event.ends_append for event in self.events], [event.failed for event in self.events]
        demand(counts[:2] == [sum(found[0]), sum(found[1])], "other appends or failures than counted")
        demand(counts[2] == sum(len(event.rows) for event in self.events), "other changes than counted")
        self.check_filter(filter)
        self.check_changes()

    def record(self, place):
        record = bytes(self.data[place.offset : place.offset + place.length])
        demand(len(record) == place.length, "a record is past the end of its run")
        checksum, raw_length, flags = RECORD_HEAD.unpack_from(record)
        demand(checksum == place.checksum == crc32c(record[4:]), "the checksum of a record")
        demand(flags & ~COMPRESSED == 0, "unknown flags of a record")
        stored = record[RECORD_HEAD.size :]
        if flags & COMPRESSED:
            demand(raw_length <= 255 * len(stored) + 64, "a record that cannot hold its raw length")
            stored = lz4_decode(stored, raw_length)
        demand(len(stored) == raw_length, "the raw length of a record")
        return stored

    def pages(self, root):
        """The pages below an index, as (key, sequence, number, bytes); the first three are None for the root."""
        if root is None:
            return
        stack = [(root[0], (None, None, None), root[1])]
        demand(root[0] <= HEIGHT_MAX, "an index is too high")
        while stack:
            height, position, place = stack.pop()
            data = self.record(place)
            if height == 0:
                yield (*position, data)
                continue
            fields, below = Bytes(data), []
            demand(fields.number(1) == height, "a page of another height")
            while fields.rest:
                position = fields.sized(), fields.varint(), fields.varint()
                demand(not below or below[-1][1][:2] < position[:2], "the entries of an index do not ascend")
                below.append((height - 1, position, place_of(fields)))
            demand(below, "an index page without entries")
            stack += reversed(below)

    def read_rows(self, root):
        rows, goes_on = [], False
        for key, sequence, number, data in self.pages(root):
            fields, last = Bytes(data), b""
            first, time, is_first = fields.varint(), time_of(fields), True
            demand(number is None or number == first, "a page with another first row than its index says")
            while fields.rest:
                shared = fields.varint()
                demand(shared <= len(last), "a key that shares too much")
                last = last[:shared] + fields.sized()
                count = fields.varint()
                demand(count >> 2 > 0 and (count & 1 == 1) == (goes_on and is_first), "the head of a row")
                if count & 1:
                    demand(rows[-1][0] == last, "a row that goes on as another")
                else:
                    demand(not rows or rows[-1][0] < last, "the rows do not ascend")
                    rows.append((last, []))
                demand(not is_first or first == len(rows) - 1, "the number of a page's first row")
                before = len(rows[-1][1])
                rows[-1][1].extend(self.versions(Bytes(fields.sized()), count >> 2, time))
                at = rows[-1][1][before].sequence
                demand(not is_first or key is None or (key, sequence) == (last, at), "a page of another position")
                goes_on, is_first = count & 2 == 2, False
                demand(not goes_on or not fields.rest, "a row goes on, and another one follows")
        demand(not goes_on, "a row does not end")
        for _, versions in rows:
            sequences = [version.sequence for version in versions]
            demand(sequences == sorted(set(sequences)) and sequences[-1] <= self.end, "the versions of a row")
            demand(all(number > self.begin for number in sequences[self.is_base :]), "versions of before the run")
        return rows

    def versions(self, fields, count, time):
        """The versions of a row in one page."""
        sequence, document, created = 0 if self.is_base else self.begin, None, None
        for _ in range(count):
            flags = fields.number(1)
            kind = flags & 3
            demand(flags < 64 and kind < 3 and flags & 12 != 12, "the flags of a version")
            sequence += fields.varint()
            time = later(time, signed(fields.varint()))
            if kind == DOCUMENT:
                if flags & 32:
                    created = sequence - fields.varint()
                elif flags & 16:
                    created = sequence
                demand(created is not None and flags & 48 != 48, "a version does not say when its row was created")
            else:
                demand(flags & 52 == 0, "a version with flags of documents")
            if flags & 8:
                demand(kind != GONE, "a row that is gone has bytes")
                content = self.record(place_of(fields))
            elif flags & 4:
                prefix, suffix, middle = fields.varint(), fields.varint(), fields.sized()
                demand(document is not None and prefix + suffix <= len(document), "a difference to no document")
                content = document[:prefix] + middle + document[len(document) - suffix :]
            else:
                content = b"" if kind == GONE else fields.sized()
            if kind == DOCUMENT:
                document = content
            yield Version(kind, sequence, created if kind == DOCUMENT else 0, time, content)
        fields.ends("the versions of a row")

    def read_events(self, root):
        events, counts = [], [0, 0, 0]
        for _, sequence, number, data in self.pages(root):
            fields = Bytes(data)
            at = self.begin + fields.varint()
            demand(at == self.begin + len(events) + 1 and sequence in (None, at), "a page of other events")
            demand([fields.varint() for _ in range(3)] == counts and number in (None, counts[2]), "counts of a page")
            time = time_of(fields)
            while fields.rest:
                flags = fields.varint()
                if flags & 4:
                    time = later(time, signed(fields.varint()))
                rows = [fields.varint() for _ in range(flags >> 3)]
                events.append(Event(at, time, flags >> 1 & 1, flags & 1, rows))
                counts = [counts[0] + (flags >> 1 & 1), counts[1] + (flags & 1), counts[2] + len(rows)]
                at += 1
        demand(len(events) == self.end - self.begin, "an event for each sequence")
        return events

    def check_filter(self, filter):
        demand((filter is None) == (self.is_base or not self.rows), "a filter of a base, or a delta without one")
        for key, _ in self.rows if filter is not None else []:
            demand(passes(filter, key), "a row that the filter does not have")

    def check_changes(self):
        """The changes are the versions, in the order of events."""
        changes = {(row, event.sequence) for event in self.events for row in event.rows}
        versions = {
            (number, version.sequence)
            for number, (_, versions) in enumerate(self.rows)
            for version in versions
            if version.sequence > self.begin
        }
        demand(changes == versions, "changes that are no versions, or versions without a change")


# --- Comparing with the log -----------------------------------------------------------------------


def tables_at(runs, sequence):
    """The tables after an event, as `strata_state` has them."""
    index = next(number for number, run in enumerate(runs) if run.begin < sequence <= run.end)
    base = max((number for number in range(index + 1) if runs[number].is_base), default=0)
    known = sorted({table for run in runs for table in run.tables if table[1] <= sequence})
    demand([number for number, _, _ in known] == list(range(len(known))), "a table is missing")
    tables = [(name, {}, {}) for _, _, name in known]
    found = {}
    for run in runs[base : index + 1]:
        for key, versions in run.rows:
            last = [version for version in versions if version.sequence <= sequence]
            if last:
                found[key] = last[-1]
    for key, version in found.items():
        _, rows, problems = tables[int.from_bytes(key[:4], "big")]
        id = key[4:].decode("utf-8")
        if version.kind == DOCUMENT:
            rows[id] = Row(version.sequence, version.created, version.time, cbor_to_json(version.bytes))
        elif version.kind == PROBLEM:
            problems[id] = version.bytes.decode("utf-8")
    return tables


def difference(store, name, manifest, runs):
    """How a history differs from the log, or None."""
    head = read_head(store)
    if head and manifest.uuid != head.uuid:
        return "uuid"
    if name.name is not None and manifest.name != name_hash(name):
        return "name"
    found, ends = [None], {run.end: entry for run, entry in zip(runs, manifest.runs)}
    folded, seen = Tables(name.records_touches), [0]

    def note(block, file, events):
        for event in events:
            seen[0] += event.sequence == event.append_last
            if found[0] or not runs or event.sequence > runs[-1].end:
                continue
            folded.add(event)
            if event.sequence <= runs[0].begin:
                # What is older than the history. Its first run then holds what lived at its begin.
                found[0] = None if runs[0].is_base else "a first run that begins later than the log and is no base"
                if event.sequence == runs[0].begin and (runs[0].time, runs[0].appends) != (event.own_time, seen[0]):
                    found[0] = found[0] or "the begin of the first run"
                continue
            differs = None
            tables = tables_at(runs, event.sequence)
            if name.name == "$documents":
                differs = difference_of_tables(folded.tables, tables)
            differs = differs or difference_of_rows(runs, event.sequence, tables, [table[0] for table in tables])
            entry = ends.get(event.sequence)
            if entry and (entry.chain, entry.appends, entry.time) != (event.chain, seen[0], event.own_time):
                differs = "the end of a run"
            if entry and entry.erasures != erasures_hash(store, entry.end):
                differs = "erasures"
            noted = next(run for run in runs if run.begin < event.sequence <= run.end)
            change = noted.events[event.sequence - noted.begin - 1]
            if (change.time, change.ends_append) != (event.own_time, event.sequence == event.append_last):
                differs = "moments"
            found[0] = differs and "%s at %d" % (differs, event.sequence)

    Check(store, note, stops_at_damage=True).run()
    return found[0]


def keys_of(store, folder):
    """The keys of each owner after each event, by kind, as hexadecimal digits."""
    path = "%s/%s" % (PARENT, folder)
    manifest = read_manifest(store.read("%s/MANIFEST" % path))
    runs = [Run(store, path, entry, manifest.uuid) for entry in manifest.runs]
    for owner in sorted({owner for run in runs for owner in run.keys}):
        for sequence in range(runs[0].begin + 1, runs[-1].end + 1):
            found = {kind: keys_at(runs, owner, kind, sequence) for kind in range(5)}
            keys = {str(kind): [key.hex() for key in keys] for kind, keys in found.items() if keys is not None}
            yield {"schema": 1, "owner": "%016x" % owner, "sequence": sequence, "keys": keys}


def compare(store):
    """One result for each history: what it holds, and how it differs from the log at any sequence."""
    for folder in store.names_in(PARENT):
        path = "%s/%s" % (PARENT, folder)
        if not store.has("%s/MANIFEST" % path):
            continue
        answer = {"schema": 1, "folder": path, "differs": None}
        try:
            manifest = read_manifest(store.read("%s/MANIFEST" % path))
            runs = [Run(store, path, entry, manifest.uuid) for entry in manifest.runs]
            answer["end"] = runs[-1].end if runs else 0
            answer["runs"] = ["base" if run.is_base else "delta" for run in runs]
            for owner in sorted({owner for run in runs for owner in run.keys} - {0}):
                check_owner_over_time(runs, owner, answer["end"])
            answer["differs"] = difference(store, name_of(folder), manifest, runs)
        except (Malformed, UnicodeDecodeError) as error:
            answer["differs"] = str(error)
        yield answer
