"""Compares an imported git repository with what git itself reports about it.

    check_git.py --logreplay BIN --repository DIR --store STORE [--points 25] [--pairs N] [--every N] [--kept]
                 [--seed N] [--ref REF]

At random commits, including merges and empty ones, `at --table file` is compared with `git ls-tree -r`, and between
random commits `diff` with `git diff --name-status --no-renames`. The store is created if it does not exist.

With --every, every N-th commit is compared too. With --kept, the store keeps both lists and its history up to the end
of the log, and an answer is wrong if the tool does not say that it was read from there.
"""

import argparse
import os
import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from apply_changes import apply
from check_lists import AT_ONCE, first_difference, report
from lists_laws import broken_laws
from lists_values import exact
from logreplay_runs import RunFailed, Tool
from strata_codecs import xxh64

# All files, and the files by folder.
UNKEPT = (("--table", "file"), ("--table", "file", "--section-by", "folder"))
KEPT = (("--view", "files"), ("--view", "folders"))
# What the tool says if it replayed nothing.
READ = "read from the history, no event replayed"


class Repository:
    """The repository as git reports it."""

    def __init__(self, folder, ref="HEAD"):
        self.folder, self.ref = folder, ref

    def git(self, *words):
        return subprocess.run(["git", "-C", self.folder, *words], check=True, capture_output=True).stdout

    def commits(self):
        """[(hash, hashes of its parents)] along first parents, oldest first."""
        lines = self.git("rev-list", "--first-parent", "--reverse", "--parents", self.ref).decode("ascii").splitlines()
        return [(line.split()[0], line.split()[1:]) for line in lines]

    def tree(self, commit):
        """{id: row} of a commit, as the import writes it; git itself quotes the paths that cannot be ids."""
        raw = self.git("ls-tree", "-r", "-l", "-z", commit).split(b"\0")[:-1]
        quoted = self.git("-c", "core.quotePath=true", "ls-tree", "-r", commit).split(b"\n")[:-1]
        rows = {}
        for entry, line in zip(raw, quoted, strict=True):
            (mode, _, blob, size), path = entry.split(b"\t", 1)[0].split(), entry.split(b"\t", 1)[1]
            text = text_of(path, line.split(b"\t", 1)[1])
            row = {"mode": mode.decode("ascii"), "blob": blob.decode("ascii"), "path": path, "text": text}
            rows[id_of(text)] = {**row, "size": None if size == b"-" else int(size)}
        return rows

    def changes(self, a, b):
        """{path: letter} between two commits."""
        words = self.git("diff", "--name-status", "--no-renames", "-z", a, b).split(b"\0")[:-1]
        return {path: letter.decode("ascii") for letter, path in zip(words[::2], words[1::2], strict=True)}


def text_of(path, quoted):
    """The text of a path: the path itself if it is UTF-8 and does not look quoted, else its quoted form."""
    try:
        return path.decode("utf-8") if path[:1] != b'"' else quoted.decode("ascii")
    except UnicodeDecodeError:
        return quoted.decode("ascii")


def id_of(text):
    """The id of a path's text: the text itself, or its begin, ~ and a hash if it is longer than an id may be."""
    whole = text.encode("utf-8")
    if len(whole) <= 1019:
        return text
    return "%s~%016x" % (whole[:1002].decode("utf-8", "ignore"), xxh64(whole))


# --- Comparisons ----------------------------------------------------------------------------------


class Run:
    def __init__(self, tool, repository, lists=UNKEPT):
        self.tool, self.repository = tool, repository
        self.files, self.folders = lists
        self.wrong, self.seen = [], Counter()

    def complain(self, where, sentence):
        self.wrong.append("%s: %s" % (where, sentence))

    def expect(self, where, sentence, found, wanted):
        if exact(found) != exact(wanted):
            self.complain(where, "%s\n    %s" % (sentence, first_difference(found, wanted)))

    def at(self, commit, words):
        return self.tool.json("at", "id:" + commit, *words)

    def check_commit(self, commit, kind):
        """Checks that the items after a commit's append are its tree."""
        where = "at %s, %s" % (commit[:12], kind)
        tree, at = self.repository.tree(commit), self.at(commit, self.files)
        items = [item for section in at["sections"] for item in section["items"]]
        self.expect(where, "there is not exactly one section", [section["section"] for section in at["sections"]], [None])
        self.expect(where, "not the paths of the tree", sorted(item["id"] for item in items), sorted(tree))
        self.expect(where, "not the number of files in the tree", at["count"], len(tree))
        for item in items:
            if item["id"] in tree:
                self.check_row("%s, %s" % (where, item["id"]), item["fields"], tree[item["id"]], item["id"])
        self.check_folders(where, tree, self.at(commit, self.folders))
        self.seen["points, %s" % kind] += 1
        self.seen["files at points"] += len(items)

    def check_row(self, where, fields, row, id):
        text = row["text"]
        quoted = text.encode("utf-8") != row["path"]
        for name in ("mode", "blob", "size"):
            self.expect(where, name, fields.get(name), row[name])
        self.expect(where, "quoted", fields.get("quoted", False), quoted)
        self.expect(where, "path", fields.get("path"), None if id == text else text)
        folder, _, name = text.rpartition("/")
        if not quoted and name[:1] != '"':
            self.expect(where, "folder and name", [fields.get("folder"), fields.get("name")], [folder, name])
        self.seen["files with mode %s" % row["mode"]] += 1
        self.seen["files with quoted paths"] += quoted

    def check_folders(self, where, tree, at):
        """Checks the list by folder: a section for each folder, with exactly its files."""
        wanted = {}
        for id, row in tree.items():
            wanted.setdefault(row["path"].rpartition(b"/")[0], []).append(id)
        found = [sorted(item["id"] for item in section["items"]) for section in at["sections"]]
        self.expect(where, "not the folders of the tree", sorted(found), sorted(map(sorted, wanted.values())))
        self.expect(where, "counts of folders", [section["count"] for section in at["sections"]], list(map(len, found)))
        names = [section["section"] for section in at["sections"]]
        self.expect(where, "folders do not ascend", names, sorted(names, key=lambda name: name.encode("utf-8")))
        self.seen["folders at points"] += len(names)

    def check_pair(self, a, b, words):
        """Checks that a diff has the changes that git reports, letter by letter, and turns one list into the other."""
        where = "diff %s %s %s" % (a[:12], b[:12], " ".join(words))
        diff = self.tool.json("diff", "id:" + a, "id:" + b, *words)
        trees = self.repository.tree(a), self.repository.tree(b)
        paths = {id: row["path"] for tree in trees for id, row in tree.items()}
        found = {}
        for change in diff["changes"]:
            letter = letter_of(change)
            if letter and change["id"] in paths:
                found[paths[change["id"]].decode("latin-1")] = letter
            elif letter:
                self.complain(where, "%s is in neither tree" % change["id"])
        wanted = {path.decode("latin-1"): letter for path, letter in self.repository.changes(a, b).items()}
        self.expect(where, "not the changes that git sees", sorted(found.items()), sorted(wanted.items()))
        old, new = self.at(a, words), self.at(b, words)
        self.expect(where, "applied to one list, it does not result in the other", apply(old, diff), new)
        for sentence in broken_laws(old, new, diff):
            self.complain(where, sentence)
        self.seen["pairs"] += 1
        self.seen.update("changes %s" % letter for letter in wanted.values())
        self.seen.update("op " + change["op"] for change in diff["changes"])


def letter_of(change):
    """Git's letter for a change of an item; None if mode and content are unchanged."""
    letters = {"insert": "A", "delete": "D"}
    if change["op"] in letters:
        return letters[change["op"]]
    fields = change.get("fields", {})
    if "id" not in change or not {"blob", "mode"} & set(fields):
        return None
    mode = fields.get("mode", {"old": "", "new": ""})
    return "M" if mode["old"][:3] == mode["new"][:3] else "T"


# --- The plan -------------------------------------------------------------------------------------


def kinds(repository):
    """{kind: hashes}: the ends of the history, merges, commits without changes, and plain ones."""
    found = {"ends": [], "merge": [], "empty": [], "plain": []}
    commits = repository.commits()
    trees = repository.git("log", "--format=%H %T", repository.ref).decode("ascii").split()
    tree = dict(zip(trees[::2], trees[1::2]))
    for commit, parents in commits[1:-1]:
        same = tree[commit] == tree[parents[0]]
        found["empty" if same else "merge" if len(parents) > 1 else "plain"].append(commit)
    found["ends"] = [commits[0][0], commits[-1][0]]
    return found


def plan(run, given, chance):
    count, found = given.points, kinds(run.repository)
    chosen = [(commit, "ends") for commit in found["ends"]]
    for kind in ("merge", "empty", "plain"):
        some = chance.sample(found[kind], min(len(found[kind]), (count + 2) // 3))
        chosen.extend((commit, kind) for commit in some)
    every = [commit for commit, _ in run.repository.commits()]
    if given.every:
        chosen.extend((commit, "at intervals") for commit in every[given.every - 1::given.every])
    work = [(run.check_commit, each) for each in chosen]
    for index, (a, b) in enumerate(pairs(len(every), given.pairs or count, chance)):
        work.append((run.check_pair, (every[a], every[b], run.folders if index % 4 < 2 else run.files)))
    return work


def pairs(length, count, chance):
    """Pairs of indexes: both ends, then indexes far apart and close together, half of them backwards."""
    chosen = [(0, length - 1), (length - 1, 0)]
    while len(chosen) < count:
        a = chance.randrange(length)
        b = min(length - 1, a + chance.choice((1, 1, 2, 5, 20))) if len(chosen) % 3 else chance.randrange(length)
        chosen.append((min(a, b), max(a, b)) if len(chosen) % 2 else (max(a, b), min(a, b)))
    return chosen


def check(run, given):
    work = plan(run, given, random.Random(given.seed))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for done, (method, arguments) in [(pool.submit(method, *given), (method, given)) for method, given in work]:
            try:
                done.result()
            except (RunFailed, ValueError, KeyError, TypeError, IndexError) as problem:
                run.complain("%s%s" % (method.__name__, arguments), repr(problem))
    if given.kept:
        check_origins(run)


def check_origins(run):
    """Checks that the tool said of each answer that it was read."""
    for origin, count in run.tool.origins.items():
        run.seen["answers: " + origin] += count
        if origin != READ:
            run.complain("-v", "%d answers: %s" % (count, origin))
    if not run.tool.origins:
        run.complain("-v", "the tool did not say where its answers came from")


def keep(tool):
    """Has the store keep both lists, and its history. They are sorted, since a file that was deleted and made again
    moves in the order of creation, although its content is the same."""
    tool.text("keep", "files", "--table", "file", "--sort", "name")
    tool.text("keep", "folders", "--table", "file", "--section-by", "folder", "--sort", "name")
    print(tool.text("checkpoint", "--history"), end="")


def arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logreplay", required=True)
    parser.add_argument("--repository", required=True)
    parser.add_argument("--store", required=True)
    parser.add_argument("--points", type=int, default=25)
    parser.add_argument("--pairs", type=int, default=0, help="default: as many as points")
    parser.add_argument("--every", type=int, default=0)
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("--seed", type=int, default=20240229)
    parser.add_argument("--ref", default="HEAD")
    return parser.parse_args(words)


def main():
    given = arguments()
    if not os.path.exists(given.store):
        words = [given.logreplay, "import", given.store, given.repository, "--format", "git", "--ref", given.ref]
        subprocess.run(words, check=True)
    print("seed %d" % given.seed)
    tool = Tool(given.logreplay, given.store, says_origin=given.kept)
    if given.kept:
        keep(tool)
    run = Run(tool, Repository(given.repository, given.ref), KEPT if given.kept else UNKEPT)
    check(run, given)
    return report(run.wrong, run.seen)


if __name__ == "__main__":
    sys.exit(main())
