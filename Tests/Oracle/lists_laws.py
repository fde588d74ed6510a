"""The laws that every canonical batch of changes between two lists must satisfy."""

from collections import Counter

from lists import changed_fields, keys_of_sections, moved_within, places
from lists_values import exact, order

STAGES = (
    ("delete",),
    ("deleteSection",),
    ("insertSection", "moveSection"),
    ("insert", "move"),
    ("update",),
    ("updateSection",),
)
STAGE = {op: stage for stage, ops in enumerate(STAGES) for op in ops}
KEYS = {
    "delete": ["op", "id", "from"],
    "deleteSection": ["op", "section", "from"],
    "insertSection": ["op", "section", "to", "count"],
    "moveSection": ["op", "section", "from", "to"],
    "insert": ["op", "id", "to", "revision", "fields"],
    "move": ["op", "id", "from", "to"],
    "update": ["op", "id", "from", "to", "revision", "fields"],
    "updateSection": ["op", "section", "to", "count"],
}


def broken_laws(a, b, diff, sorted_by=None):
    """A sentence for each law that the batch breaks; a and b are whole lists.

    sorted_by: the top-level fields that the lists are sorted by, if their items show them. Without it the keys of
    changed rows are unknown (a list without a sort is in the order of creation, which items do not show), and the
    least number of moves is not checked.
    """
    changes = diff["changes"]
    unknown = sorted({change["op"] for change in changes} - set(KEYS))
    if unknown:
        return ["there is an op %s" % op for op in unknown]
    laws = (shape, order_of_stages, one_change_an_item, items, whole_sections, moved_items, sums)
    broken = [sentence for law in laws for sentence in law(a, b, changes)]
    broken += [*contents(a, b, changes, diff.get("revisions", [])), *revisions(a, b, diff)]
    return broken + (list(fewest_moves(a, b, changes, sorted_by)) if sorted_by else [])


def of(changes, *ops):
    return [change for change in changes if change["op"] in ops]


def shape(a, b, changes):
    """The keys of a change are the documented ones, in the documented order."""
    for change in changes:
        keys = [key for key in change if key in ("op", "id", "section", "from", "to", "count", "revision", "fields")]
        wanted = KEYS[change["op"]]
        if change["op"] == "move" and "revision" in change:
            wanted = wanted + ["revision", "fields"]
        if keys != wanted:
            yield "the keys of %s are %s" % (change["op"], keys)


def order_of_stages(a, b, changes):
    """The stages are in the documented order; deletes descend, insertions and moves ascend; nothing twice (R30)."""
    stages = [STAGE[change["op"]] for change in changes]
    if stages != sorted(stages):
        yield "the ops are not in the documented order"
    for ops, end, down in (
        (("delete",), "from", True),
        (("deleteSection",), "from", True),
        (STAGES[2], "to", False),
        (STAGES[3], "to", False),
    ):
        at = [change[end] for change in of(changes, *ops)]
        if down:
            at.reverse()
        if any(first >= second for first, second in zip(at, at[1:])):
            yield "%s do not %s strictly by `%s`" % (" and ".join(ops), "descend" if down else "ascend", end)


def one_change_an_item(a, b, changes):
    """An id is in only one change, a section in only one of each kind (R26)."""
    counts = Counter(change["id"] for change in changes if "id" in change)
    yield from ("%s is in %d changes" % (id, count) for id, count in counts.items() if count > 1)
    for ops in (STAGES[1] + STAGES[2], STAGES[5]):
        sections = Counter(exact(change["section"]) for change in of(changes, *ops))
        yield from ("section %s is in %d changes" % (key, n) for key, n in sections.items() if n > 1)
    for end, ops in (("from", ("delete", "move", "update")), ("to", ("insert", "move", "update"))):
        taken = Counter(tuple(change[end]) for change in of(changes, *ops))
        yield from ("two changes have `%s` %s" % (end, list(place)) for place, n in taken.items() if n > 1)


def items(a, b, changes):
    """Each id only in A is a delete, each id only in B an insert, whatever happens to its section (R27, R36)."""
    old, new = places(a), places(b)
    for op, wanted, places_of, end in (
        ("delete", set(old) - set(new), old, "from"),
        ("insert", set(new) - set(old), new, "to"),
    ):
        found = of(changes, op)
        if {change["id"] for change in found} != wanted:
            yield "the %ss are not those of the two lists" % op
        elif any(places_of[change["id"]][1] != change[end] for change in found):
            yield "an item's index in %s is not its index in the list" % op
    for change in of(changes, "move", "update"):
        if change["id"] not in old or change["id"] not in new:
            yield "%s of %s, which is not in both lists" % (change["op"], change["id"])
        elif [old[change["id"]][1], new[change["id"]][1]] != [change["from"], change["to"]]:
            yield "%s of %s has other indexes than the lists" % (change["op"], change["id"])


def whole_sections(a, b, changes):
    """Sections are inserted, deleted and moved according to their identities.

    A section whose position in the order did not itself change never moves, however many others pass it, so the moves
    need not be the fewest possible.
    """
    old, new = keys_of_sections(a), keys_of_sections(b)
    named = {op: {order(change["section"]) for change in of(changes, op)} for op in KEYS if op.endswith("Section")}
    survivors = [key for key in new if key in old]
    if named["deleteSection"] != set(old) - set(new) or named["insertSection"] != set(new) - set(old):
        yield "the deleted and inserted sections are not those of the two lists"
    if not named["moveSection"] <= set(survivors):
        yield "a section moves that is not in both lists"
    places_of_stayed = [old[key] for key in survivors if key not in named["moveSection"]]
    if places_of_stayed != sorted(places_of_stayed):
        yield "the sections that do not move are in another order"
    heads = {key: (head(a["sections"][old[key]]), head(b["sections"][new[key]])) for key in survivors}
    if named["updateSection"] != {key for key in survivors if heads[key][0] != heads[key][1]}:
        yield "the updated sections are not those whose counts or aggregates differ"


def head(section):
    """What a section is without its items."""
    return exact([section.get(name) for name in ("count", "aggregates", "aggregatesLeftOut")])


def moved_items(a, b, changes):
    """Section identity or relative order determines a move (R32); an untouched row never moves (R31)."""
    old, new = places(a), places(b)
    moves = {change["id"] for change in of(changes, "move")} & set(old) & set(new)
    both = [id for id in new if id in old]
    touched = {id for id in both if old[id][2]["revision"] != new[id][2]["revision"]}
    crossing = {id for id in both if old[id][0] != new[id][0]}
    if crossing - moves:
        yield "%s changed its section and does not move" % sorted(crossing - moves)[0]
    if moves - touched:
        yield "%s moves, although nothing changed it" % sorted(moves - touched)[0]
    for ids in stayed_in_section(old, new):
        at = [old[id][1] for id in ids if id not in moves]
        if at != sorted(at):
            yield "the items that do not move are in another order"


def stayed_in_section(old, new):
    """The ids of each section of b that were in the same section of a, in their order in b."""
    stayed = {}
    for id in new:
        if id in old and old[id][0] == new[id][0]:
            stayed.setdefault(new[id][0], []).append(id)
    return stayed.values()


def fewest_moves(a, b, changes, sorted_by):
    """A row whose key did not change never moves, and of the others as few as possible (R31)."""
    old, new = places(a), places(b)
    moves = {change["id"] for change in of(changes, "move")} & set(old) & set(new)

    def key(row):
        return [repr(row["fields"].get(field)) for field in sorted_by]

    kept = {id for id in new if id in old and key(old[id][2]) == key(new[id][2])}
    least = len({id for id in new if id in old and old[id][0] != new[id][0]})
    for ids in stayed_in_section(old, new):
        if moves & kept & set(ids):
            yield "%s moves, although its key is unchanged" % sorted(moves & kept & set(ids))[0]
        least += len(moved_within(ids, lambda id: old[id][1][1], lambda id: id in kept))
    if len(moves) > least:
        yield "%d items move, but %d would be enough" % (len(moves), least)


def revisions(a, b, diff):
    """Rows that are the same apart from their revisions are named in the order of b, and only if there are any (R62)."""
    old, new = places(a), places(b)
    named = diff.get("revisions", [])
    if "revisions" in diff and not named:
        yield "there are no revisions, and the key is there"
    for change in named:
        if list(change) != ["id", "revision"] or change["id"] not in old or change["id"] not in new:
            yield "%s is not a row of both lists with its revisions" % exact(change)
            return
        before, after = old[change["id"]][2], new[change["id"]][2]
        if change["revision"] != [before["revision"], after["revision"]] or len(set(change["revision"])) < 2:
            yield "%s has other revisions in the lists" % change["id"]
        if exact(before["fields"]) != exact(after["fields"]):
            yield "%s has other fields, and only its revision is named" % change["id"]
    at = [new[change["id"]][1] for change in named]
    if any(first >= second for first, second in zip(at, at[1:])):
        yield "the revisions are not in the order of the list"


def contents(a, b, changes, revisions=()):
    """A change lists exactly what differs in its row, and every row that differs has a change."""
    old, new = places(a), places(b)
    unchanged = {change["id"] for change in revisions}
    said = {change["id"]: change for change in of(changes, "move", "update")}
    for id in new:
        if id not in old:
            continue
        before, after, change = old[id][2], new[id][2], said.get(id, {})
        revision, fields = [before["revision"], after["revision"]], None
        if revision[0] == revision[1] or id in unchanged:
            revision = None
        else:
            fields = changed_fields(before["fields"], after["fields"])
        if change.get("revision") != revision or exact(change.get("fields")) != exact(fields):
            yield "the difference in %s is not what its change says" % id
    for change in of(changes, "insert"):
        row = new.get(change["id"], (None, None, {}))[2]
        if exact([row.get("revision"), row.get("fields")]) != exact([change.get("revision"), change.get("fields")]):
            yield "the inserted row %s differs from the list" % change["id"]


def sums(a, b, changes):
    """In each surviving section, and in total: items after = items before + inserted - removed (R29)."""
    change = {"from": Counter(), "to": Counter()}
    for op, end in (("delete", "from"), ("move", "from"), ("insert", "to"), ("move", "to")):
        change[end].update(each[end][0] for each in of(changes, op))
    old, new = keys_of_sections(a), keys_of_sections(b)
    for key in set(old) & set(new):
        before, after = (len(at["sections"][place]["items"]) for at, place in ((a, old[key]), (b, new[key])))
        if after != before - change["from"][old[key]] + change["to"][new[key]]:
            yield "the items of section %s do not add up" % (key,)
