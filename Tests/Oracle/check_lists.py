"""Compares the lists and diffs that the tool prints with the model of lists.py, and with each other.

    check_lists.py --logreplay BIN --store STORE --table T [--pairs 50] [--seed N] [-- LIST OPTIONS…]

At random points `at` is compared with the model. For random pairs of points, half of them backwards, `diff` is
applied by apply_changes.py to `at A` and compared with `at B`, and checked against the laws of lists_laws.py.
"""

import argparse
import json
import random
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from apply_changes import apply
from lists import History
from lists_laws import broken_laws
from lists_values import exact, instant
from logreplay_runs import POINT_KEYS, RunFailed, Tool, list_options, order_of_keys, unsorted_fields

AT_ONCE = 2


class Run:
    """One store and one list of it; counts what was checked and collects what is wrong."""

    def __init__(self, tool, table, words):
        self.tool, self.words = tool, ["--table", table, *words]
        self.table, self.options = table, list_options(words)
        self.history = History(tool.events())
        self.wrong, self.seen, self.chains = [], Counter(), {}

    def complain(self, where, sentence):
        self.wrong.append("%s: %s" % (where, sentence))

    def expect(self, where, sentence, a, b):
        if exact(a) != exact(b):
            self.complain(where, "%s\n    %s" % (sentence, first_difference(a, b)))

    def at(self, point):
        text = self.tool.text("at", point, *self.words, "-o", "json")
        value = json.loads(text)
        for sentence in [*unsorted_fields(text), *order_of_keys(value)]:
            self.complain("at %s" % point, sentence)
        return value

    # --- A point --------------------------------------------------------------------------------

    def check_point(self, sequence, point=None):
        """Compares the whole output of `at` with the model."""
        point = str(sequence) if point is None else point
        found = self.at(point)
        wanted = self.history.at(self.table, sequence, self.options)
        wanted["chain"] = found["chain"]
        self.expect("at %s" % point, "not what the model says", known(found), known(wanted))
        self.check_chain("at %s" % point, found)
        self.seen["points"] += 1
        self.seen["items in lists at points"] += sum(len(section["items"]) for section in found["sections"])
        self.seen["sections in lists at points"] += len(found["sections"])

    def check_chain(self, where, end):
        if end["chain"] != self.chains.setdefault(end["sequence"], end["chain"]):
            self.complain(where, "the chain at %d differs from before" % end["sequence"])

    def check_time(self, time):
        """Checks `at TIME`: the state after the last append whose own time is not later."""
        fitting = [sequence for sequence, own in self.history.ends if instant(own) <= instant(time)]
        self.check_point(fitting[-1] if fitting else 0, time)
        self.seen["points by time"] += 1

    # --- A pair ---------------------------------------------------------------------------------

    def check_pair(self, a, b):
        """Checks that `diff A B` applied to `at A` is `at B`, that it is canonical, and that no part is superfluous."""
        where = "diff %d %d" % (a, b)
        old, new = self.at(str(a)), self.at(str(b))
        text = self.tool.text("diff", str(a), str(b), *self.words, "-o", "json")
        diff = json.loads(text)
        for sentence in unsorted_fields(text):
            self.complain(where, sentence)
        self.check_ends(where, diff, old, new)
        for sentence in broken_laws(old, new, diff, self.sorted_by()):
            self.complain(where, sentence)
        try:
            self.expect(where, "applied to the list at %d, it is not the list at %d" % (a, b), apply(old, diff), new)
        except (ValueError, KeyError, IndexError, TypeError) as problem:
            self.complain(where, "does not apply: %s" % problem)
        self.check_a_change_is_missed(where, old, new, diff)
        self.count_changes(diff, a > b)

    def sorted_by(self):
        """The fields that the list is sorted by; None if an item does not show its whole key."""
        fields = [sort.path for sort in self.options.sorts]
        shown = self.options.fields
        return fields if fields and all("." not in f and (not shown or f in shown) for f in fields) else None

    def check_ends(self, where, diff, old, new):
        self.expect(where, "another table", diff["table"], self.table)
        for name, end, keys in (("from", old, ("sequence", "time")), ("to", new, POINT_KEYS)):
            said = {key: diff[name].get(key, "missing") for key in keys}
            self.expect(where, "`%s` is not the point" % name, said, {key: end[key] for key in keys})

    def check_a_change_is_missed(self, where, old, new, diff):
        """Checks that without one update (or else one change) the batch does not result in the list at B."""
        changes = diff["changes"]
        if not changes:
            return
        updates = [change for change in changes if change["op"] == "update"] or changes
        left_out = updates[len(updates) // 2]
        self.seen["batches with %s taken out" % ("an update" if left_out["op"] == "update" else "a change")] += 1
        less = {**diff, "changes": [change for change in changes if change is not left_out]}
        try:
            if exact(apply(old, less)) == exact(new):
                self.complain(where, "has a superfluous change: %s" % json.dumps(left_out))
        except (ValueError, KeyError, IndexError):
            pass

    def count_changes(self, diff, backwards):
        self.seen["pairs backwards" if backwards else "pairs forwards"] += 1
        self.seen["pairs without a change"] += not diff["changes"]
        self.seen["rows of which only the revision differs"] += len(diff.get("revisions", []))
        for change in diff["changes"]:
            changed = change["op"] == "move" and "revision" in change
            self.seen["op " + change["op"] + (" with a changed row" if changed else "")] += 1
            if change["op"] == "move" and change["from"] == change["to"]:
                self.seen["moves with from == to"] += 1


def known(at):
    """The documented keys of a list; other keys may be added."""
    names = ("schema", "table", "sequence", "time", "chain", "count", "sections", "partial")
    return {name: at[name] for name in names if name in at}


def first_difference(a, b, path=""):
    """Where two JSON values first differ, and the values there."""
    if isinstance(a, dict) and isinstance(b, dict) and set(a) == set(b):
        differing = [name for name in a if exact(a[name]) != exact(b[name])]
        return first_difference(a[differing[0]], b[differing[0]], "%s.%s" % (path, differing[0]))
    if isinstance(a, list) and isinstance(b, list):
        for index, (one, other) in enumerate(zip(a, b)):
            if exact(one) != exact(other):
                return first_difference(one, other, "%s[%d]" % (path, index))
        return "%s: %d elements and %d" % (path, len(a), len(b))
    return "%s: %s and %s" % (path, exact(a)[:300], exact(b)[:300])


# --- The plan -------------------------------------------------------------------------------------


def plan(run, count, chance):
    """(method, arguments) of all checks: points, points by time, pairs close together and far apart."""
    head, ends = run.history.head, run.history.ends
    points = {0, head, *(chance.randint(0, head) for _ in range(count // 2))}
    work = [(run.check_point, (point,)) for point in sorted(points)]
    if ends:
        for _ in range(max(2, count // 8)):
            seconds = chance.choice(ends)[1][:19] + "Z"
            if any(instant(seconds) >= instant(own) for _, own in ends):
                work.append((run.check_time, (seconds,)))
    for index in range(count):
        a, b = sorted(pair(index, head, chance))
        work.append((run.check_pair, (b, a) if index % 2 else (a, b)))
    return work


def pair(index, head, chance):
    """Two points: far apart, or close together like two reads of a live list."""
    a = chance.randint(0, head)
    if index == 0:
        return 0, head
    if index % 4 < 2:
        return a, chance.randint(0, head)
    return a, min(head, a + chance.choice((0, 1, 2, 5, 20, 100)))


def check(run, count, seed):
    work = plan(run, count, random.Random(seed))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done, (method, arguments) in [(pool.submit(*job(*each)), each) for each in work]:
            try:
                done.result()
            except (RunFailed, ValueError, KeyError, TypeError) as problem:
                run.complain("%s%s" % (method.__name__, arguments), problem or repr(problem))


def job(method, arguments):
    return (method, *arguments)


def report(wrong, seen):
    for name in sorted(seen):
        print("%8d %s" % (seen[name], name))
    for sentence in wrong[:20]:
        print("WRONG " + sentence)
    print("%d wrong" % len(wrong) if wrong else "all right")
    return 1 if wrong else 0


def arguments():
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logreplay", required=True)
    parser.add_argument("--store", required=True)
    parser.add_argument("--table", required=True)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=20240229)
    return parser.parse_args(words[:cut]), words[cut + 1:]


def main():
    given, words = arguments()
    run = Run(Tool(given.logreplay, given.store), given.table, words)
    info = run.tool.json("info")
    if info["first"] not in (None, 0, 1):
        return "the log begins at %d; the model needs all of it" % info["first"]
    run.chains[run.history.head] = info["chain"]
    print("seed %d, list %s" % (given.seed, " ".join(words) or "without options"))
    check(run, given.pairs, given.seed)
    return report(run.wrong, run.seen)


if __name__ == "__main__":
    sys.exit(main())
