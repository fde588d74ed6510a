"""The saved views of a state, as "Saved views" of StateFormat.md describes them."""

import struct
from collections import namedtuple

from strata_codecs import xxh64
from strata_pages import demand

KINDS = ("items", "sections", "order", "labels", "values", "problems", "marks", "drifts", "keys")
SMALL = ("sections", "order", "labels")
LENGTHS = struct.Struct("<HH")

# `trees` is {kind: entries}, `rows` the rows that the view was made of.
View = namedtuple("View", "table name identity fingerprint sequence rows trees")


def view_of(fields, pages):
    """A view of the directory with all its trees. Raises Malformed."""
    table, name, identity, fingerprint = fields.varint(), fields.text(), fields.text(), fields.number(8)
    sequence, rows = fields.varint(), pages.saved_tree(fields, 4096)
    trees, last = {}, -1
    for _ in range(fields.varint()):
        kind = fields.number(1)
        demand(last < kind < len(KINDS), "a tree of an unknown kind, or out of order")
        last = kind
        trees[KINDS[kind]] = pages.saved_tree(fields, 1024 if KINDS[kind] in SMALL else 4096)
    demand(set(KINDS[:-1]) <= set(trees), "a view without one of its trees")
    demand(fields.rest == 0 or fields.varint() > 0, "a number of processes that did not ask is written, and is 0")
    return View(table, name, identity, fingerprint, sequence, rows, trees)


def check_view(view):
    """Checks that the trees of a view belong together. Raises Malformed."""
    ids = {id for id, _ in view.rows}
    items = [placed(key, value) for key, value in view.trees["items"]]
    shown = [id for _, _, id in items]
    demand(len(set(shown)) == len(shown) and set(shown) <= ids, "an item of no row, or a row with two")
    check_sections(view, items)
    check_values(view, items)
    problems = {id for id, _ in view.trees["problems"]}
    demand(problems <= ids - set(shown), "a problem of a row that is shown, or of none")
    demand({id for id, _ in view.trees["drifts"]} <= ids - problems, "a drift of no row")
    if view.trees["marks"]:
        demand(sum(int.from_bytes(count, "little") for _, count in view.trees["marks"]) == len(items), "marks")
        demand({key for key, _ in view.trees["marks"]} == {struct.pack(">Q", xxh64(id)) for id in shown}, "marks")
    for id, value in view.trees.get("keys", ()):
        section, length = LENGTHS.unpack_from(value)
        demand((value[4 : 4 + length], section) in {(key, len(first)) for first, key, _ in items}, "a recorded key")
        demand(value[4 : 4 + length].endswith(id), "a recorded key of another row")


def placed(key, lengths):
    """(section, key, id) of an item."""
    demand(len(lengths) == LENGTHS.size, "the lengths of an item")
    section, id = LENGTHS.unpack(lengths)
    demand(section + id <= len(key), "an item's lengths are more than its key")
    return key[:section], key, key[len(key) - id :]


def check_sections(view, items):
    counts = {}
    for section, _, _ in items:
        counts[section] = counts.get(section, 0) + 1
    sections = {key: int.from_bytes(value, "little") for key, value in view.trees["sections"]}
    demand(all(len(value) == 8 for _, value in view.trees["sections"]), "the count of a section")
    demand({key: count for key, count in sections.items() if count} == counts, "the counts of the sections")
    order = [(key, int.from_bytes(value, "little")) for key, value in view.trees["order"]]
    demand(all(length <= len(key) for key, length in order), "the length of an order key")
    demand(not order or sorted(key[length:] for key, length in order) == sorted(sections), "the order of sections")
    labels = [key for key, _ in view.trees["labels"]]
    demand(not labels or labels == sorted(sections), "the labels of sections")


def check_values(view, items):
    values = [placed(key, value) for key, value in view.trees["values"]]
    of_items = sorted((section, id) for section, _, id in items)
    demand(not values or sorted((section, id) for section, _, id in values) == of_items, "the values of items")
    demand("keys" not in view.trees or len(view.trees["keys"]) == len(items), "the keys of items")
