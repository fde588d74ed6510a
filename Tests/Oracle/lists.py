"""A model of lists: the fold of a table's documents, the list at a point, the changes between two points.

It is written to be obviously correct, not fast: a list is computed from all events up to its point, and the changes
from two whole lists.
"""

from bisect import bisect_left, bisect_right
from collections import namedtuple
from dataclasses import dataclass
from typing import Callable, Optional

from lists_filter import predicate
from lists_values import NotAKey, at_path, exact, merged, order, order_read_as, same, value_of

Version = namedtuple("Version", "revision created document")  # document None: the row is deleted
Sort = namedtuple("Sort", "path descending kind nulls_last", defaults=(False, None, False))


@dataclass
class Options:
    """The definition of a list, like the command line's options."""

    section_by: Optional[str] = None
    section_order: object = "key"  # key, key:desc, first, count, or a list of values that come first
    sorts: tuple = ()
    where: Optional[Callable] = None
    limit: Optional[int] = None
    limit_per_section: Optional[int] = None
    fields: Optional[tuple] = None

    def __post_init__(self):
        self.sorts = tuple(sort_of(sort) if isinstance(sort, str) else sort for sort in self.sorts)
        if isinstance(self.where, str):
            self.where = predicate(self.where)


def sort_of(text):
    """FIELD[:desc][:time|numeric|nocase][:nullslast]"""
    path, *flags = text.split(":")
    unknown = set(flags) - {"asc", "desc", "time", "numeric", "nocase", "nullslast"}
    if unknown:
        raise ValueError("no way to sort: %s" % ", ".join(sorted(unknown)))
    kinds = [flag for flag in flags if flag in ("time", "numeric", "nocase")]
    return Sort(path, "desc" in flags, kinds[0] if kinds else None, "nullslast" in flags)


# --- The fold -------------------------------------------------------------------------------------


def own_time(event):
    """The time that was given for an event's append, otherwise its commit time."""
    return event.get("given", event["time"])


class History:
    """All versions of all rows of a log, built from events as `log -o jsonl` prints them."""

    def __init__(self, events):
        self.tables, self.times, self.inside = {}, {0: None}, set()
        self.ends = []  # (sequence, own time) of each append
        self.head = 0
        for event in events:
            self.add(event)

    def add(self, event):
        self.head = event["sequence"]
        self.times[self.head] = own_time(event)
        first, last = event.get("append", [self.head, self.head])
        if self.head < last:
            self.inside.add(self.head)
        else:
            self.ends.append((last, own_time(event)))
        if event["type"] not in ("$put", "$merge", "$delete") or event.get("erased") or event.get("opaque"):
            return
        table, _, id = event["stream"].partition("/")
        versions = self.tables.setdefault(table, {}).setdefault(id, [])
        after = applied(versions[-1] if versions else None, event)
        if after:
            versions.append(after)

    def rows(self, table, sequence):
        """(id, version) of every row that exists at a sequence."""
        for id, versions in self.tables.get(table, {}).items():
            count = bisect_right(versions, sequence, key=lambda version: version.revision)
            if count and versions[count - 1].document is not None:
                yield id, versions[count - 1]

    def at(self, table, sequence, options=Options()):
        """The output of `at -o json`, without the chain."""
        sections, count = listed(self.rows(table, sequence), options, self.times)
        point = {"schema": 1, "table": table, "sequence": sequence, "time": self.times[sequence], "chain": None}
        point.update({"partial": True} if sequence in self.inside else {})
        return {**point, "count": count, "sections": sections}

    def diff(self, table, a, b, options=Options()):
        """The canonical batch, or one of them if there are several."""
        return difference(self.at(table, a, options), self.at(table, b, options))


def applied(before, event):
    """The version that an event creates; None if the row does not change."""
    there = before is not None and before.document is not None
    if event["type"] == "$delete":
        return Version(event["sequence"], None, None) if there else None
    document = event["payload"]
    if event["type"] == "$merge":
        document = merged(before.document if there else {}, document)
    if there and same(before.document, document):
        return None
    return Version(event["sequence"], before.created if there else event["sequence"], document)


# --- The list at a point --------------------------------------------------------------------------


def listed(rows, options, times):
    """(sections, number of rows) of the rows that pass the filter."""
    members = []
    for id, version in rows:
        value = at_path(version.document, options.section_by) if options.section_by else None
        row = {"id": id, "revision": version.revision, "section": value, "fields": version.document}
        row.update(created=version.created, time=times.get(version.revision))
        if options.where is None or options.where(row):
            members.append(row)
    sections = sectioned(ordered(members, options.sorts), options)
    return shown(sections, options), len(members)


def ordered(rows, sorts):
    """The rows by their sort keys, ties by id; without a sort in the order of creation."""
    if not sorts:
        return sorted(rows, key=lambda row: row["created"])
    rows = sorted(rows, key=lambda row: order(row["id"]))
    for sort in reversed(sorts):
        key = order_read_as(sort.kind)
        rows.sort(key=lambda row: key_of(row, sort.path, key), reverse=sort.descending)
        if sort.nulls_last:
            rows.sort(key=lambda row: at_path(row["fields"], sort.path) is None)
    return rows


def key_of(row, path, key=order):
    try:
        return key(at_path(row["fields"], path))
    except NotAKey as problem:
        raise NotAKey("%s of row %s: %s" % (path, row["id"], problem))


def sectioned(rows, options):
    """[(value, rows)] in the order of sections, from rows in the order of items."""
    if not options.section_by:
        return [(None, rows)]
    sections = {}
    for row in rows:
        sections.setdefault(key_of(row, options.section_by), []).append(row)
    keys = ordered_sections(sections, options.section_order)
    return [(value_of(key), sections[key]) for key in keys]


def ordered_sections(sections, wanted):
    """Sorts the keys of sections, which are given in the order of their first items."""
    if wanted == "first":
        return list(sections)
    keys = sorted(sections, reverse=wanted == "key:desc")
    if wanted == "key:desc":  # Null comes first in either direction.
        keys.sort(key=lambda key: value_of(key) is not None)
    if wanted == "count":
        keys.sort(key=lambda key: -len(sections[key]))
    elif isinstance(wanted, (list, tuple)):
        places = {order(value): place for place, value in enumerate(wanted)}
        keys.sort(key=lambda key: places.get(key, len(places)))
    return keys


def shown(sections, options):
    """The sections as they are printed: limits cut items, counts still include all items."""
    left = options.limit
    result = []
    for value, rows in sections:
        items = rows[: options.limit_per_section]
        if left is not None:
            items = items[:left]
            left -= len(items)
        if items or options.limit is None or not options.section_by:
            printed = [item_of(row, options.fields) for row in items]
            result.append({"section": value, "count": len(rows), "items": printed})
    return result


def item_of(row, fields):
    document = row["fields"]
    names = sorted(document if fields is None else set(fields) & set(document))
    return {"id": row["id"], "revision": row["revision"], "fields": {name: document[name] for name in names}}


# --- The changes between two lists ----------------------------------------------------------------


def difference(a, b):
    """The canonical batch that turns list a into list b, both as `at -o json` prints them."""
    sides = Sides(a, b)
    changes = sides.deletes() + sides.sections() + sides.inserts_and_moves() + sides.updates() + sides.counts()
    ends = {
        name: {key: end[key] for key in ("sequence", "time", "chain", "count", "partial") if key in end}
        for name, end in (("from", a), ("to", b))
    }
    revisions = sides.revisions()
    return {"schema": 1, "table": a["table"], **ends, "changes": changes, **({"revisions": revisions} if revisions else {})}


def places(at):
    """{id: (key of section, [s, i], item)}, in the order of the list."""
    found = {}
    for s, section in enumerate(at["sections"]):
        for i, item in enumerate(section["items"]):
            found[item["id"]] = (order(section["section"]), [s, i], item)
    return found


def keys_of_sections(at):
    return {order(section["section"]): place for place, section in enumerate(at["sections"])}


class Sides:
    """Two lists, and the positions of their items."""

    def __init__(self, a, b):
        self.a, self.b = a, b
        self.old, self.new = places(a), places(b)
        self.old_sections, self.new_sections = keys_of_sections(a), keys_of_sections(b)
        self.moved = self.moved_items()

    def deletes(self):
        gone = [(place, id) for id, (_, place, _) in self.old.items() if id not in self.new]
        return [{"op": "delete", "id": id, "from": place} for place, id in sorted(gone, reverse=True)]

    def sections(self):
        old, new = self.old_sections, self.new_sections
        gone = sorted((old[key] for key in old if key not in new), reverse=True)
        changes = [
            {"op": "deleteSection", "section": self.a["sections"][place]["section"], "from": place} for place in gone
        ]
        moved = moved_sections(old, new)
        for key, place in new.items():
            section = self.b["sections"][place]
            if key not in old:
                count = section["count"]
                changes.append({"op": "insertSection", "section": section["section"], "to": place, "count": count})
            elif key in moved:
                value = section["section"]
                changes.append({"op": "moveSection", "section": value, "from": old[key], "to": place})
        return changes

    def moved_items(self):
        """The ids whose section changed, and as few others as possible while the untouched ones stay."""
        moved = {id for id in self.new if id in self.old and self.old[id][0] != self.new[id][0]}
        stays = {}
        for id, (key, _, _) in self.new.items():
            if id in self.old and id not in moved:
                stays.setdefault(key, []).append(id)
        for ids in stays.values():
            moved.update(moved_within(ids, lambda id: self.old[id][1][1], lambda id: not self.written(id)))
        return moved

    def written(self, id):
        return self.old[id][2]["revision"] != self.new[id][2]["revision"]

    def touched(self, id):
        return self.written(id) and exact(self.old[id][2]["fields"]) != exact(self.new[id][2]["fields"])

    def revisions(self):
        """The rows that were changed and changed back."""
        named = (id for id in self.new if id in self.old and self.written(id) and not self.touched(id))
        return [{"id": id, "revision": [self.old[id][2]["revision"], self.new[id][2]["revision"]]} for id in named]

    def inserts_and_moves(self):
        changes = []
        for id, (_, place, item) in self.new.items():
            if id not in self.old:
                row = {"revision": item["revision"], "fields": item["fields"]}
                changes.append({"op": "insert", "id": id, "to": place, **row})
            elif id in self.moved:
                changes.append(self.change("move", id))
        return changes

    def updates(self):
        stayed = (id for id in self.new if id in self.old and id not in self.moved)
        return [self.change("update", id) for id in stayed if self.touched(id)]

    def change(self, op, id):
        (_, start, old), (_, end, new) = self.old[id], self.new[id]
        change = {"op": op, "id": id, "from": start, "to": end}
        if self.touched(id):
            change["revision"] = [old["revision"], new["revision"]]
            change["fields"] = changed_fields(old["fields"], new["fields"])
        return change

    def counts(self):
        changes = []
        for key, place in self.new_sections.items():
            section = self.b["sections"][place]
            old = self.old_sections.get(key)
            if old is not None and self.a["sections"][old]["count"] != section["count"]:
                value, count = section["section"], section["count"]
                changes.append({"op": "updateSection", "section": value, "to": place, "count": count})
        return changes


def moved_sections(old, new):
    survivors = [key for key in new if key in old]
    return set(survivors) - set(longest_rising(survivors, lambda key: old[key]))


def moved_within(ids, old, stays):
    """The fewest of the ids, given in their new order, that must move so that the rest is in the old order.

    Ids for which `stays` is true do not move. Of the other ids between two neighbouring ones of these, those that were
    between them before may stay too: as many as form an ascending sequence.
    """
    moved, gap, low = set(), [], -1
    for id in list(ids) + [None]:
        if id is not None and not stays(id):
            gap.append(id)
            continue
        high = float("inf") if id is None else old(id)
        kept = longest_rising([other for other in gap if low < old(other) < high], old)
        moved.update(set(gap) - set(kept))
        gap, low = [], high
    return moved


def longest_rising(elements, key):
    """A longest subsequence with ascending keys."""
    ends, last, before = [], [], {}
    for element in elements:
        place = bisect_left(ends, key(element))
        ends[place:place + 1] = [key(element)]
        last[place:place + 1] = [element]
        before[element] = last[place - 1] if place else None
    kept, element = [], last[-1] if last else None
    while element is not None:
        kept.append(element)
        element = before[element]
    return kept[::-1]


def changed_fields(old, new):
    fields = {}
    for name in sorted(set(old) | set(new)):
        sides = {side: fields[name] for side, fields in (("old", old), ("new", new)) if name in fields}
        if len(sides) < 2 or exact(sides["old"]) != exact(sides["new"]):
            fields[name] = sides
    return fields
