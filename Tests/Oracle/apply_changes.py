"""Computes the output of `logreplay at B -o json` from the outputs of `at A` and `diff A B`.

    apply_changes.py AT_A.json DIFF.json
"""

import json
import sys

OF_ITEMS = ("delete", "insert", "move", "update")
OF_SECTIONS = ("deleteSection", "insertSection", "moveSection", "updateSection")


def apply(at, diff):
    """The list at B. Raises a ValueError that names a change that does not fit the list at A."""

    def ops(*names):
        return [change for change in diff["changes"] if change["op"] in names]

    fits = (at["table"], at["sequence"]) == (diff["table"], diff["from"]["sequence"])
    need(fits, "the changes are those of another list", diff["from"])
    need(len(ops(*OF_ITEMS, *OF_SECTIONS)) == len(diff["changes"]), "there are unknown ops", diff["schema"])
    sections = [{**section, "items": list(section["items"])} for section in at["sections"]]
    taken, taken_sections = {}, {}
    for change in ops("update"):
        items_and_index(sections, change["from"], change)
    for change in by("from", ops("delete", "move"))[::-1]:
        items, index = items_and_index(sections, change["from"], change)
        taken[change["id"]] = items.pop(index)
    for change in by("from", ops("deleteSection", "moveSection"))[::-1]:
        section = the_section(sections, change["from"], change)
        need(change["op"] == "moveSection" or not section["items"], "the deleted section still has items", change)
        taken_sections[exact(change["section"])] = sections.pop(change["from"])
    for change in by("to", ops("insertSection", "moveSection")):
        new = {"section": change["section"], "count": change.get("count"), **aggregates(change), "items": []}
        moved = taken_sections.get(exact(change["section"]))
        put_in(sections, change["to"], new if change["op"] == "insertSection" else moved)
    for change in by("to", ops("insert", "move")):
        new = {name: change.get(name) for name in ("id", "revision", "fields")}
        items = sections[within(sections, change["to"][0], change)]["items"]
        put_in(items, change["to"][1], new if change["op"] == "insert" else taken[change["id"]])
    for change in ops("update", "move"):
        items, index = items_and_index(sections, change["to"], change)
        items[index] = set_in(items[index], change)
    for change in ops("updateSection"):
        section = the_section(sections, change["to"], change)
        sections[change["to"]] = set_in_section(section, change)
    set_revisions(sections, diff.get("revisions", []))
    return {"schema": at["schema"], "table": at["table"], **diff["to"], "sections": sections}


def aggregates(change):
    return {name: change[name] for name in ("aggregates", "aggregatesLeftOut") if name in change}


def set_in_section(section, change):
    """The section with its new count and the new values of aggregates that changed."""
    sides = change.get("aggregates", {})
    need(section["count"] != change["count"] or sides, "the section already has this count", change)
    values = section.get("aggregates", {})
    for name, (old, _) in sides.items():
        need(exact(values.get(name)) == exact(old), "another aggregate", change)
    new = {name: sides[name][1] if name in sides else value for name, value in values.items()}
    # What is left out is said in whole where an aggregate changed.
    changed = {**aggregates(change), "aggregates": new} if sides else {**aggregates(section)}
    return {"section": section["section"], "count": change["count"], **changed, "items": section["items"]}


def set_revisions(sections, changes):
    """Sets the revisions of rows that are as they were, and were written in between."""
    items = {item["id"]: (section["items"], index) for section in sections for index, item in enumerate(section["items"])}
    for change in changes:
        need(change["id"] in items, "no such item", change)
        of_section, index = items[change["id"]]
        of_section[index] = set_in(of_section[index], change)


def by(end, changes):
    return sorted(changes, key=lambda change: change[end])


def set_in(item, change):
    """The item with its new revision and fields."""
    need("revision" not in change or item["revision"] == change["revision"][0], "another revision", change)
    fields = dict(item["fields"])
    for name, sides in change.get("fields", {}).items():
        was = {"old": fields.pop(name)} if name in fields else {}
        need(exact(was) == exact({side: sides[side] for side in sides if side == "old"}), "another value", change)
        fields.update({name: sides["new"]} if "new" in sides else {})
    revision = change.get("revision", [item["revision"]])[-1]
    return {**item, "revision": revision, "fields": dict(sorted(fields.items()))}


# --- Checks ---------------------------------------------------------------------------------------


def need(holds, sentence, change):
    if not holds:
        raise ValueError("%s: %s" % (sentence, json.dumps(change, ensure_ascii=False)))


def exact(value):
    return json.dumps(value, sort_keys=True)


def within(list, index, change):
    need(0 <= index < len(list), "no such index", change)
    return index


def items_and_index(sections, place, change):
    items = sections[within(sections, place[0], change)]["items"]
    need(items[within(items, place[1], change)]["id"] == change["id"], "another item is there", change)
    return items, place[1]


def the_section(sections, index, change):
    section = sections[within(sections, index, change)]
    need(exact(section["section"]) == exact(change["section"]), "another section is there", change)
    return section


def put_in(list, index, element):
    need(0 <= index <= len(list), "no index %d to insert at" % index, element)
    list.insert(index, element)


def main(at_file, diff_file):
    with open(at_file, encoding="utf-8") as at, open(diff_file, encoding="utf-8") as diff:
        result = apply(json.load(at), json.load(diff))
    print(json.dumps(result, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except (OSError, ValueError) as problem:
        sys.exit("apply_changes: %s" % problem)
    except (LookupError, TypeError, AttributeError) as problem:
        sys.exit("apply_changes: the input is not a list and its changes: %r" % problem)
