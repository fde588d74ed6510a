"""Hand-made stores, written from FORMAT.md alone, for bytes that no writer may write or that none writes yet.

    strata_forge.py --list       lists the recipes, one per line, with the findings that a check must report
    strata_forge.py NAME DIR     forges one store into a new or empty folder
    strata_forge.py --all DIR    forges each store into DIR/NAME, with DIR/expected.json
    strata_forge.py --check      forges all stores in memory and in a temporary folder, and compares them

Every recipe is a function that returns a `Forged`: the files, the findings that a check must report,
and the number of events that a reader delivers before them. The ranges of the findings are in
`strata_ranges`. A recipe always results in the same bytes.
"""

import json
import os
import sys
import tempfile

from strata_build import *  # noqa: F403
from strata_check import read_events, verify
from strata_json import as_line, event_object
from strata_ranges import RANGES
from strata_recipes import *  # noqa: F403
from strata_recipes import RECIPES
from strata_store import FolderStore, MemoryStore

# These modules add their recipes to RECIPES.
import strata_damage  # noqa: E402, F401, I001
import strata_rules_of_blocks  # noqa: E402, F401
import strata_rules_of_payloads  # noqa: E402, F401
import strata_rules_of_segments  # noqa: E402, F401
import strata_rules_of_head  # noqa: E402, F401

# --- Commands -------------------------------------------------------------------------------------


def forge(name):
    """The store of a recipe."""
    return RECIPES[name]()


def write(forged, folder):
    """Writes a store into a new or empty folder."""
    os.makedirs(folder, exist_ok=True)
    if os.listdir(folder):
        raise FileExistsError("%s is not empty" % folder)
    for inner in ("log", "derived", "quarantine"):
        os.mkdir(os.path.join(folder, inner))
    for path, data in sorted(forged.files.items()):
        with open(os.path.join(folder, path), "wb") as file:
            file.write(data)


def findings_of(name, forged):
    """The findings with their ranges: (class, file, offset, first, last)."""
    ranges = RANGES.get(name, [])
    if len(ranges) != len(forged.findings):
        raise ValueError("%s: %d ranges for %d findings" % (name, len(ranges), len(forged.findings)))
    return [finding + range_of_it for finding, range_of_it in zip(forged.findings, ranges)]


def expected(name, forged):
    keys = ("class", "file", "offset", "first", "last")
    findings = [dict(zip(keys, finding)) for finding in findings_of(name, forged)]
    return {"findings": findings, "events": forged.events}


def differences(name, forged, opened):
    """Sentences about how the reader's result for a store differs from the recipe."""
    events, _ = read_events(opened)
    found, wanted = [tuple(finding) for finding in verify(opened).findings], findings_of(name, forged)
    read = [(event.sequence, event.stream, event.revision, event.type, event.payload) for event in events]
    if found != wanted:
        yield "%s: findings are %r, expected %r" % (name, found, wanted)
    if read != forged.written[: forged.events]:
        yield "%s: %d events read, %d expected, or different events" % (name, len(read), forged.events)
    for event in events:
        as_line(event_object(event))


def check():
    """Compares the reader with every recipe, in memory and in files."""
    wrong = []
    for name in RECIPES:
        forged = forge(name)
        if forge(name) != forged:
            wrong.append("%s: two stores of the same recipe differ" % name)
        wrong += differences(name, forged, MemoryStore(forged.files))
        with tempfile.TemporaryDirectory() as folder:
            write(forged, folder)
            wrong += ("in a folder, " + text for text in differences(name, forged, FolderStore(folder)))
    return wrong


def main(arguments):
    if arguments == ["--list"]:
        for name in RECIPES:
            forged = forge(name)
            found = ", ".join("%s %s@%d %d..%d" % finding for finding in findings_of(name, forged)) or "clean"
            print("%-44s %3d events  %s" % (name, forged.events, found))
        return 0
    if arguments == ["--check"]:
        wrong = check()
        print("\n".join(wrong) or "%d recipes hold" % len(RECIPES))
        return 1 if wrong else 0
    if len(arguments) == 2 and arguments[0] == "--all":
        for name in RECIPES:
            write(forge(name), os.path.join(arguments[1], name))
        with open(os.path.join(arguments[1], "expected.json"), "w") as file:
            json.dump({name: expected(name, forge(name)) for name in RECIPES}, file, indent=1)
        return 0
    if len(arguments) == 2 and arguments[0] in RECIPES:
        write(forge(arguments[0]), arguments[1])
        return 0
    sys.stderr.write(__doc__)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
