"""The keys in the runs of a history, as "Keys" of HistoryFormat.md describes them: reads them whole and finds those of an event."""

import struct
from collections import Counter, namedtuple

from strata_codecs import Malformed
from strata_pages import Bytes, KEY_LENGTH_MAX, demand

ROWS, REFUSED, ITEMS, VALUES, UNPLACED = range(5)
GROUP_MAX = 256
KINDS_OF_ROWS = [ROWS, REFUSED]
KINDS_OF_LISTS = [[ITEMS, UNPLACED], [ITEMS, VALUES, UNPLACED]]

Key = namedtuple("Key", "bytes section_length id_length is_alive moments")


def alive(key, sequence):
    """Whether a key is there after an event, as its run says."""
    return key.is_alive != (sum(moment <= sequence for moment in key.moments) % 2 == 1)


def count_at_end(run, key):
    return alive(key, run.end) - (0 if run.is_base else key.is_alive)


def owners_of(run, record):
    """The keys of a run: by owner, then by kind. Raises Malformed."""
    fields, owners = Bytes(record), {}
    while fields.rest:
        owner, sets = fields.number(8), {}
        demand(owner not in owners, "an owner of keys occurs twice")
        for _ in range(fields.varint(5)):
            kind = fields.number(1)
            demand(kind <= UNPLACED and kind not in sets, "the kind of a set of keys")
            sets[kind] = read_set(run, fields, kind)
        kinds = list(sets)
        demand(kinds == KINDS_OF_ROWS if owner == 0 else kinds in KINDS_OF_LISTS, "an owner with other kinds of keys")
        owners[owner] = sets
    demand(0 in owners, "a run without the keys of all rows")
    return owners


def read_set(run, fields, kind):
    count = fields.varint()
    if count == 0:
        return []
    groups = read_directory(run, Bytes(run.record(run.place_of(fields))), count)
    tally = run.place_of(fields)
    keys, units = [], []
    for pages, chunks in groups:
        found, noted = [], []
        for first, place, number, net in pages:
            own = Bytes(run.record(place))
            at_begin, at_end = read_bits(own, number), read_bits(own, number)
            noted += zip(at_begin, at_end)
            demand(net == sum(at_end) - (0 if run.is_base else sum(at_begin)), "another count of a page")
            page = list(read_page(own))
            demand(len(page) == number, "a page of keys has others than its directory counts")
            demand(page[0][0] == first, "a page of keys begins with another key than its directory says")
            demand(not found or found[-1][0] < first, "the pages of keys do not ascend")
            found += page
        demand(not keys or keys[-1].bytes < found[0][0], "the groups of keys do not ascend")
        units.append(list(read_group(run, found, chunks)))
        keys += units[-1]
        lives = [(key.is_alive, alive(key, run.end)) for key in units[-1]]
        demand(noted == lives, "a page that says something else of its keys than their group")
    demand(len(keys) == count, "other keys than counted")
    check_tally(run, tally, units)
    if kind == ITEMS:
        sections = read_sections(Bytes(run.record(run.place_of(fields))))
        parts = {}
        for key in keys:
            parts.setdefault(key.bytes[: key.section_length], []).append(key)
        expected = [(name, sum(count_at_end(run, key) for key in keys)) for name, keys in parts.items()]
        demand(sections == expected, "other sections or counts of sections than those of the items")
        check_tally(run, run.place_of(fields), list(parts.values()))
    return keys


def next_key(fields, last):
    """The key after another one; after None at a beginning."""
    shared, before = fields.varint(), last or b""
    demand(shared <= len(before), "a key that shares too much")
    key = before[:shared] + fields.sized()
    demand(last is None or last < key, "keys do not ascend")
    most = next((at for at, pair in enumerate(zip(before, key)) if pair[0] != pair[1]), min(len(before), len(key)))
    demand(shared == most and len(key) <= KEY_LENGTH_MAX, "a key that shares less than it could, or is too long")
    return key


def read_sections(fields):
    """The sections in their order, with their counts at the end of the run."""
    sections, last = [], None
    while fields.rest:
        last = next_key(fields, last)
        sections.append((last, signed(fields.varint())))
    return sections


def signed(number):
    return number >> 1 ^ -(number & 1)


def read_directory(run, fields, count):
    """The groups of all parts of a directory."""
    groups, first, last = [], None, None
    while fields.rest:
        first = next_key(fields, first)
        demand(last is None or last < first, "a part that begins before the one before it ends")
        place = run.place_of(fields)
        said = [fields.varint(), fields.varint(), fields.varint(), signed(fields.varint())]
        own = read_part(run, Bytes(run.record(place)))
        pages = [page for pages, _ in own for page in pages]
        demand(pages[0][0] == first, "a part that begins with another key than it is said to")
        found = [len(pages), len(own), sum(page[2] for page in pages), sum(page[3] for page in pages)]
        demand(said == found, "a part with other pages, groups or keys than it is said to have")
        count -= found[2]
        last = pages[-1][0]
        groups += own
    demand(groups and count == 0, "a directory of other keys than counted")
    return groups


def read_part(run, fields):
    """For each group: its pages, as (first key, place, number of keys, count), and its chunks, as (first event, place)."""
    groups, pages, last = [], [], None
    while fields.rest:
        last = next_key(fields, last)
        place, count = run.place_of(fields), fields.varint()
        demand(count > 1, "a page without keys")
        pages.append((last, place, count >> 1, signed(fields.varint())))
        if count & 1 == 0:
            continue
        chunks = []
        for _ in range(fields.varint()):
            first = run.begin + fields.varint()
            demand(first > chunks[-1][0] if chunks else first == run.begin, "the chunks of a group do not ascend")
            demand(first <= run.end, "a chunk after the end of a run")
            chunks.append((first, run.place_of(fields)))
        demand(chunks, "a group without a chunk")
        demand(sum(page[2] for page in pages) <= GROUP_MAX, "a group of too many keys")
        groups.append((pages, chunks))
        pages = []
    demand(groups and not pages, "a group that does not end")
    return groups


def read_bits(fields, count):
    bits = int.from_bytes(fields.bytes((count + 7) // 8), "little")
    demand(bits >> count == 0, "a bit of no key")
    return [bits >> key & 1 == 1 for key in range(count)]


def read_page(fields):
    last = None
    while fields.rest:
        last = next_key(fields, last)
        section, id = fields.varint(), fields.varint()
        demand(section + id <= len(last), "the parts of a key")
        yield last, section, id


def read_group(run, found, chunks):
    """The keys of a group, with what its chunks say of them."""
    is_there, moments, at_begin = None, [[] for _ in found], []
    for number, (first, place) in enumerate(chunks):
        fields, at = Bytes(run.record(place)), first
        before = read_bits(fields, len(found))
        demand(is_there is None or is_there == before, "a chunk that begins with other keys than there were")
        demand(is_there is None or fields.rest, "a chunk without a change after another one")
        is_there, at_begin, changed = list(before), at_begin or before, False
        while fields.rest:
            distance = fields.varint()
            demand(number == 0 or changed or distance == 0, "a chunk that begins before its first change")
            changed = True
            at += distance
            key = fields.number(1)
            demand(key < len(found), "a change of a key that is not there")
            demand(run.begin < at <= run.end, "a moment outside of its run")
            demand(not moments[key] or moments[key][-1] < at, "the moments of a key do not ascend")
            demand(number + 1 == len(chunks) or at < chunks[number + 1][0], "a chunk does not end with an event")
            moments[key].append(at)
            is_there[key] = not is_there[key]
    for (key, section, id), own, alive_at_begin in zip(found, moments, at_begin):
        demand(own or (run.is_base and alive_at_begin), "a key that was never there, or is in a delta without a moment")
        yield Key(key, section, id, alive_at_begin, own)


def read_tally(run, place):
    """The units of a tally, and its chunks: the first event, the counts before it and the changes."""
    fields, chunks = Bytes(run.record(place)), []
    units = fields.varint()
    while fields.rest:
        first = run.begin + fields.varint()
        demand(chunks or first == run.begin, "the first chunk of a tally")
        demand(not chunks or chunks[-1][0] < first <= run.end, "the chunks of a tally do not ascend")
        own = Bytes(run.record(run.place_of(fields)))
        counts, changes, at = [], [], first
        for _ in range(units):
            counts.append(signed(own.varint()))
        while own.rest:
            at += own.varint()
            change = own.varint()
            demand(change >> 1 < units, "a change of a unit that is not there")
            changes.append((at, change >> 1, 1 if change & 1 else -1))
        chunks.append((first, counts, changes))
    demand(chunks, "a tally without a chunk")
    return units, chunks


def tally_at(chunks, sequence):
    """The counts of all units after an event."""
    _, counts, changes = [chunk for chunk in chunks if chunk is chunks[0] or chunk[0] <= sequence][-1]
    counts = list(counts)
    for at, unit, difference in changes:
        if at <= sequence:
            counts[unit] += difference
    return counts


def check_tally(run, place, units):
    """A tally is compared with the keys at each moment."""
    count, chunks = read_tally(run, place)
    demand(count == len(units), "a tally of other units")
    changes = [change for _, _, changes in chunks for change in changes]
    differences = Counter()
    for unit, keys in enumerate(units):
        for key in keys:
            for number, moment in enumerate(key.moments):
                differences[moment, unit] += 1 if (number % 2 == 0) != key.is_alive else -1
    expected = sorted(
        (moment, unit, 1 if difference > 0 else -1)
        for (moment, unit), difference in differences.items()
        for _ in range(abs(difference))
    )
    demand([change[0] for change in changes] == [change[0] for change in expected], "the moments of a tally")
    demand(sorted(changes) == expected, "the changes of a tally")
    for sequence in range(run.begin, run.end + 1):
        found = [
            sum(alive(key, sequence) - (0 if run.is_base else key.is_alive) for key in keys) for keys in units
        ]
        demand(tally_at(chunks, sequence) == found, "a tally counts other keys than there are")
    for (_, _, changes), (first, _, _) in zip(chunks, chunks[1:]):
        demand(changes and changes[-1][0] < first, "a chunk does not end with an event")


def runs_holding(runs, sequence):
    """The runs that hold the state after an event, from the last base on."""
    index = next(number for number, run in enumerate(runs) if run.begin < sequence <= run.end)
    base = max((number for number in range(index + 1) if runs[number].is_base), default=0)
    return runs[base : index + 1]


def keys_at(runs, owner, kind, sequence):
    """The keys as they were after an event, ascending; None if a run does not have those of the owner."""
    found = {}
    for run in runs_holding(runs, sequence):
        if owner not in run.keys:
            return None
        for key in run.keys[owner].get(kind, []):
            demand(key.bytes not in found or found[key.bytes] == key.is_alive, "a key is there in one run only")
            demand(run.is_base or not key.is_alive or key.bytes in found, "a delta has a key that was there in no run")
            found[key.bytes] = alive(key, sequence)
    return sorted(key for key, is_alive in found.items() if is_alive)


def difference_of_rows(runs, sequence, tables, names):
    """How the keys of all rows after an event, if runs have them, differ from the tables, or None. `names` are the tables in their order."""
    for kind, ids_of in ((ROWS, lambda table: table[1]), (REFUSED, lambda table: table[2])):
        expected = sorted(
            struct.pack(">I", names.index(table[0])) + id.encode("utf-8") for table in tables for id in ids_of(table)
        )
        found = keys_at(runs, 0, kind, sequence)
        if found is not None and found != expected:
            return "keys of %s" % ("rows" if kind == ROWS else "refused rows")
    return None


def check_owner_over_time(runs, owner, end):
    """Demands that the keys of an owner can be found after each event that has them, and fit from run to run."""
    if not runs:
        raise Malformed("a history without runs")
    for sequence in range(runs[0].begin + 1, end + 1):
        items = keys_at(runs, owner, ITEMS, sequence)
        values = keys_at(runs, owner, VALUES, sequence)
        has_values = any(VALUES in run.keys.get(owner, {}) for run in runs_holding(runs, sequence))
        demand(not has_values or items is None or len(items) == len(values), "a list with other values than items")
