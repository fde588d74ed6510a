"""Checks damaged copies of golden stores. Each line of standard input names a store, its HEAD and the damage.

HEAD is null, or its parts that are not zero, as [offset, hex].

    check_edits.py FOLDER    prints for each {"store", "head", "edits"} the findings, one JSON array per line
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Golden"))

from golden_text import edited, from_text  # noqa: E402
from strata_check import verify  # noqa: E402
from strata_store import MemoryStore  # noqa: E402


def findings(files):
    try:
        check = verify(MemoryStore(files))
    except FileNotFoundError:
        return None
    return [[f.kind, f.file, f.offset, f.first, f.last] for f in check.findings]


def main(arguments):
    if len(arguments) != 1:
        sys.stderr.write(__doc__)
        return 64
    stores = {}
    for line in sys.stdin:
        case = json.loads(line)
        name = case["store"]
        if name not in stores:
            with open(os.path.join(arguments[0], name + ".store"), encoding="utf-8") as file:
                stores[name] = from_text(file.read())[1]
        files = dict(stores[name])
        files.pop("HEAD", None)
        if case["head"] is not None:
            head = bytearray(4608)
            for at, digits in case["head"]:
                part = bytes.fromhex(digits)
                head[at : at + len(part)] = part
            files["HEAD"] = bytes(head)
        edits = case["edits"]
        for edit in edits:
            # A negative length means zeros up to the end of the file.
            if edit[0] == "zero" and edit[3] < 0:
                edit[3] = len(files[edit[1]])
        print(json.dumps(findings(edited(files, edits)), separators=(",", ":")))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
