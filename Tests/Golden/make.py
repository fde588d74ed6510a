#!/usr/bin/env python3
"""Makes the golden files of a format version, and says what the second reader finds in them.

    make.py stores DIR     writes DIR/NAME.store for the stores of future.py
    make.py answers DIR    reads every DIR/NAME.store and writes DIR/NAME.json
    make.py check DIR      compares both with what is there; nothing is written

Files of a version that was published never change: a store that the code reads otherwise later is a defect of the code.
The stores that a writer makes are written by the tests (see GoldenRecipes.swift).
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Oracle"))

from golden_text import edited, from_text, to_text  # noqa: E402
from strata_check import Check, verify  # noqa: E402
from strata_segment import judge_block, judge_segment_header, Place  # noqa: E402
from strata_store import MemoryStore, segments_of, segment_path  # noqa: E402


def findings_of(files):
    return [
        {"class": f.kind, "file": f.file, "offset": f.offset, "first": f.first, "last": f.last}
        for f in verify(MemoryStore(files)).findings
    ]


def events_before_damage(files):
    """What a reader delivers that goes on up to the first place that is wrong."""
    events = []
    Check(MemoryStore(files), lambda block, file, found: events.extend(found), stops_at_damage=True).run()
    return events


def block_places(files):
    """(path, begin, begin of the payload, end of the payload, end) of every valid block."""
    for first in segments_of(MemoryStore(files)):
        data = files[segment_path(first)]
        trouble, header = judge_segment_header(data, True)
        if header is None or trouble == "corrupt":
            continue
        place = Place(header)
        while True:
            trouble, block = judge_block(data, place.offset, place)
            if trouble is not None:
                break
            payload = place.offset + block.length
            yield segment_path(first), place.offset, payload, payload + block.stored, place.offset + block.span
            place.pass_over(block)


def twins_of(files):
    """Edits that make corrupt twins: in every part of every file, and of the files as a whole."""
    for path, begin, payload, end, behind in block_places(files):
        yield [["flip", path, 8 * begin]]
        yield [["flip", path, 8 * (begin + 104) + 3]]
        if end > payload:
            yield [["flip", path, 8 * ((payload + end) // 2) + 5]]
            yield [["cut", path, (payload + end) // 2]]
        if behind > end:
            yield [["flip", path, 8 * behind - 1]]
        yield [["cut", path, begin]]
        yield [["zero", path, begin, behind]]
    segments = [segment_path(first) for first in segments_of(MemoryStore(files))]
    for path in segments:
        yield [["flip", path, 8 * 2000]]
        yield [["cut", path, 4095]]
        yield [["append", path, "00" * 8]]
        yield [["append", path, "0000000000000001"]]
        yield [["remove", path]]
        yield [["copy", path, segment_path(int(path[4:24]) + 1000)]]
    for a, b in zip(segments, segments[1:]):
        yield [["swap", a, b]]
    if "HEAD" in files:
        yield [["remove", "HEAD"]]
        yield [["flip", "HEAD", 8 * 70]]
        yield [["flip", "HEAD", 8 * (4096 + 70)]]
        yield [["flip", "HEAD", 8 * 70], ["flip", "HEAD", 8 * (4096 + 70)]]
        for path in segments[-1:]:
            yield [["flip", "HEAD", 8 * 70], ["cut", path, len(files[path]) - 8]]


def answers_of(what, files):
    events = events_before_damage(files)
    answers = {
        "what": what,
        "findings": findings_of(files),
        "sequence": events[-1].sequence if events else None,
        "chain": "%016x" % events[-1].chain if events else None,
        "events": [
            {
                "sequence": e.sequence, "append": [e.append_first, e.append_last], "time": e.time, "given": e.given,
                "id": e.id.hex() if e.id is not None else None, "kind": e.kind, "revision": e.revision,
                "stream": e.stream, "type": e.type, "codec": e.codec, "chain": "%016x" % e.chain,
                "metadata": e.metadata.hex() if e.metadata is not None else None,
                "payload": e.payload.hex() if e.payload is not None else None,
            }
            for e in events
        ],
    }  # fmt: skip
    twins = []
    for edits in twins_of(files):
        damaged = edited(files, edits)
        twins.append({"edits": edits, "findings": findings_of(damaged), "events": len(events_before_damage(damaged))})
    answers["twins"] = twins
    return answers


def answers_text(what, files):
    """JSON with a line for each event and twin."""
    answers = answers_of(what, files)
    one = lambda value: json.dumps(value, separators=(", ", ": "), ensure_ascii=False)  # noqa: E731
    lines = ["{"]
    for key, value in answers.items():
        if key in ("events", "twins"):
            lines.append("%s: [" % one(key))
            lines += ["  " + one(item) + ("," if item is not value[-1] else "") for item in value]
            lines.append("]" + ("," if key != "twins" else ""))
        else:
            lines.append("%s: %s," % (one(key), one(value)))
    return "\n".join(lines + ["}"]) + "\n"


def stores():
    from future import STORES

    for name, (what, function) in STORES.items():
        yield name, to_text(what, function().files)


def answers(folder):
    for name in sorted(os.listdir(folder)):
        if name.endswith(".store"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                yield name[: -len(".store")], answers_text(*from_text(file.read()))


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in ("stores", "answers", "check"):
        sys.stderr.write(__doc__)
        return 64
    command, folder = arguments
    wrong = 0
    made = []
    if command in ("stores", "check"):
        made += [(name + ".store", text) for name, text in stores()]
    if command in ("answers", "check"):
        made += [(name + ".json", text) for name, text in answers(folder)]
    for name, text in made:
        path = os.path.join(folder, name)
        if command == "check":
            with open(path, encoding="utf-8") as file:
                if file.read() != text:
                    wrong += 1
                    print("%s is another" % path)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
