"""Creates a git repository with a history that contains every kind of change to a tree.

    make_repository.py DIR [--commits 520] [--files 300] [--seed N]

The history along first parents has at least that many commits, and grows to about that many files. It has merges, empty commits, renames, deleted
folders, changed modes, links, submodules, names that are not UTF-8 or need quoting, files that become folders and
back, and equal times. The same seed results in the same hashes.
"""

import argparse
import os
import random
import subprocess
import sys

FILE, PROGRAM, LINK, SUBMODULE = b"100644", b"100755", b"120000", b"160000"
LONGEST = 1019  # the most bytes that the id of a file may have, quoted if necessary
LONG_FOLDER = b"/".join([b"long" * 50] * 3)
LONGEST_PATH = (LONG_FOLDER + b"/" + b"long" * 50 + b"/").ljust(LONGEST, b"x")
MOST_FILES, FEWEST_FILES = 300, 30
BEGAN = 1_400_000_000
ZONES = (b"+0000", b"+0200", b"-0800", b"+0530")
PEOPLE = (b"Ada Lovelace", "Zoë Müller".encode(), "李雷".encode(), b"J\xe9r\xf4me", b"O'Hara \"Bob\"")
FOLDERS = (
    b"", b"Sources", b"Sources/Core", b"Tests", b"docs", "Übersicht/größer".encode(), b"with space/and more",
    b"a/b/c/d/e/f", b"latin\xe9", b"-dash",
)
ODD_NAMES = (
    b"two words.txt", "naïve café.md".encode(), "日本語.txt".encode(), "e\u0301.txt".encode(), "é.txt".encode(),
    b"caf\xe9.txt", b"\xff\xfe", b'say "hi".txt', b'"quoted"', b'"', b"back\\slash", b"new\nline", b"tab\there",
    b"-rf", b"--", b"bell\x07\x1b[31m", b"\x7f", b"trailing ", b" leading", b"colon:name", b"a..b", b"*.?[x]", b"%2F",
    b"#hash", b"~tilde", b"$table", b"@{0}", b"CON", b"x" * 250, "ü".encode() * 120, "\U0001f600.txt".encode(),
    b"dot.", b"...", b"\xc3\xa9\xe9", b"\xed\xa0\x80", b"\xc0\xaf", "\ufeffbom".encode(), "\u202eltr".encode(),
    b"octal\\303\\251", b"\\", b"q\"\xe9", b"null",
)


def quoted(path):
    """A path in quotes, as fast-import reads it."""
    return b'"' + path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'


def length(path):
    """The most bytes that a path can have when quoted."""
    return sum(4 if byte >= 128 else 1 for byte in path)


class Tree:
    """Paths with (mode, content), and the lines that change them in a commit."""

    def __init__(self, entries=None):
        self.entries = dict(entries or {})
        self.lines = []

    def put(self, path, mode, content):
        """Sets a path. It replaces a folder with the same path, or a file whose path is a prefix of it."""
        for other in [*self.under(path), *parents(path)]:
            if other in self.entries:
                self.remove(other)
        self.entries[path] = (mode, content)
        if mode == SUBMODULE:
            self.lines.append(b"M %s %s %s\n" % (mode, content, quoted(path)))
        else:
            self.lines.append(b"M %s inline %s\ndata %d\n%s\n" % (mode, quoted(path), len(content), content))

    def remove(self, path):
        del self.entries[path]
        self.lines.append(b"D %s\n" % quoted(path))

    def under(self, folder):
        return [path for path in sorted(self.entries) if path.startswith(folder + b"/")]

    def become(self, entries):
        for path in sorted(set(self.entries) - set(entries)):
            self.remove(path)
        for path in sorted(entries):
            if self.entries.get(path) != entries[path]:
                self.put(path, *entries[path])


def parents(path):
    parts = path.split(b"/")
    return [b"/".join(parts[:count]) for count in range(1, len(parts))]


class Repository:
    """Writes one history to `git fast-import`."""

    def __init__(self, out, seed, files):
        self.out, self.chance, self.files = out, random.Random(seed), files
        self.mark, self.clock, self.names = 0, BEGAN, 0
        self.tree, self.main, self.length = Tree(), None, 0
        self.kinds = {}

    # --- Commits --------------------------------------------------------------------------------

    def commit(self, tree, first=None, others=(), branch=b"main", empty=False):
        """Writes the changes collected in the tree as a commit, and returns its mark."""
        self.mark += 1
        when = b"%d %s" % (self.clock, self.chance.choice(ZONES))
        author, committer = self.chance.choice(PEOPLE), self.chance.choice(PEOPLE)
        subject = self.subject()
        lines = [b"commit refs/heads/%s\nmark :%d\n" % (branch, self.mark)]
        lines.append(b"author %s <a@example.org> %d +0100\n" % (author, self.clock - self.chance.randint(0, 10**6)))
        lines.append(b"committer %s <c@example.org> %s\ndata %d\n%s\n" % (committer, when, len(subject), subject))
        lines.extend([b"from :%d\n" % first] if first else [])
        lines.extend(b"merge :%d\n" % other for other in others)
        self.out.write(b"".join(lines + ([] if empty else tree.lines)) + b"\n")
        tree.lines = []
        return self.mark

    def subject(self):
        return self.chance.choice((b"", b"A change", "Größer\n\nmit Text\n".encode(), b"\xe9t\xe9", b"one\ntwo\n\n\n"))

    def tick(self):
        """Advances the clock; some commits have the same time as the one before."""
        self.clock += self.chance.choice((0, 0, 0, 1, 59, 3600, 86400))

    def step(self):
        """Adds one commit along first parents."""
        self.tick()
        roll = self.chance.random()
        kind = "merge" if roll < 0.15 and self.length > 5 else "empty" if roll < 0.22 and self.length else "plain"
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        self.length += 1
        if kind == "merge":
            return self.merge()
        if kind == "plain":
            count = self.chance.choice((1, 1, 2, 3, 8)) if self.main else self.files // 5
            self.change(self.tree, count * 2 if self.files > MOST_FILES else count)
        self.main = self.commit(self.tree, self.main)

    def merge(self):
        """Adds one or two side branches of several commits, and a merge that takes theirs, ours, or both."""
        sides, mains = [], Tree(self.tree.entries)
        for _ in range(self.chance.choice((1, 1, 1, 2))):
            side, tip = Tree(mains.entries), self.main
            for _ in range(self.chance.randint(1, 5)):
                self.change(side, self.chance.randint(1, 3))
                tip = self.commit(side, tip, branch=b"side")
                self.tick()
            sides.append((tip, side.entries))
        how = self.chance.choice(("both", "both", "theirs", "ours"))
        if how == "theirs":
            self.tree.become(sides[-1][1])
        if how == "both":
            self.take_in(mains.entries, sides)
            self.change(self.tree, self.chance.choice((0, 0, 1)))
        self.main = self.commit(self.tree, self.main, [tip for tip, _ in sides])

    def take_in(self, before, sides):
        for _, entries in sides:
            for path in sorted(set(before) - set(entries)):
                if path in self.tree.entries:
                    self.tree.remove(path)
            for path in sorted(entries):
                if entries[path] != before.get(path):
                    self.tree.put(path, *entries[path])

    # --- Changes --------------------------------------------------------------------------------

    def change(self, tree, count):
        for _ in range(count):
            if len(tree.entries) < FEWEST_FILES:
                self.add(tree)
            else:
                kinds = (self.add, self.edit, self.edit, self.remove, self.rename, self.mode, self.swap, self.folder)
                # A folder of a large tree has more files.
                rarely = 0.4 * MOST_FILES / self.files
                weights = (0 if len(tree.entries) > self.files else 8, 3, 3, 1, 2, 2, 1, rarely)
                self.chance.choices(kinds, weights)[0](tree)

    def add(self, tree):
        mode = self.chance.choices((FILE, PROGRAM, LINK, SUBMODULE), (20, 3, 2, 1))[0]
        tree.put(self.new_path(), mode, self.content(mode))

    def new_path(self):
        if self.chance.random() < 0.01:
            return LONGEST_PATH
        folder = self.chance.choice(FOLDERS) if self.chance.random() < 0.95 else LONG_FOLDER
        if self.files > MOST_FILES and folder not in (b"", LONG_FOLDER):
            folder += b"/part%d" % self.chance.randrange(self.files // 100)
        self.names += 1
        name = self.chance.choice(ODD_NAMES) if self.chance.random() < 0.4 else b"file%d.txt" % self.names
        path = folder + b"/" + name if folder else name
        return path if length(path) <= LONGEST else name

    def content(self, mode):
        if mode == SUBMODULE:
            return b"%040x" % self.chance.getrandbits(160)
        if mode == LINK:
            return self.chance.choice((b"../target", b"nowhere", "größe".encode(), b"\xe9"))
        size = self.chance.choice((0, 1, 20, 20, 300, 5000))
        return self.chance.randbytes(size)

    def some(self, tree):
        return self.chance.choice(sorted(tree.entries))

    def edit(self, tree):
        path = self.some(tree)
        mode = tree.entries[path][0]
        tree.put(path, mode, self.content(mode))

    def remove(self, tree):
        tree.remove(self.some(tree))

    def rename(self, tree):
        path = self.some(tree)
        entry = tree.entries[path]
        tree.remove(path)
        tree.put(self.new_path(), *entry)

    def mode(self, tree):
        """Changes a mode; a plain file and a program keep their content."""
        path = self.some(tree)
        old, content = tree.entries[path]
        new = self.chance.choice([mode for mode in (FILE, PROGRAM, PROGRAM, LINK, SUBMODULE) if mode != old])
        keeps = {old, new} <= {FILE, PROGRAM}
        tree.put(path, new, content if keeps else self.content(new))

    def swap(self, tree):
        """Turns a file into a folder, or a folder into a file."""
        path = self.some(tree)
        if b"/" in path and self.chance.random() < 0.4:
            tree.put(parents(path)[-1], FILE, self.content(FILE))
        elif length(path + b"/inside") <= LONGEST:
            tree.put(path + b"/inside", FILE, self.content(FILE))

    def folder(self, tree):
        """Deletes a folder with all its content."""
        folders = sorted({parent for path in tree.entries for parent in parents(path)})
        for path in tree.under(self.chance.choice(folders)) if folders else ():
            tree.remove(path)


def make(folder, commits=520, seed=1, files=MOST_FILES):
    """Creates the repository, and counts the commits of each kind along first parents."""
    subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
    words = ["git", "-C", folder, "-c", "core.ignoreCase=false", "fast-import", "--quiet", "--force"]
    importing = subprocess.Popen(words, stdin=subprocess.PIPE)
    repository = Repository(importing.stdin, seed, files)
    for _ in range(commits):
        repository.step()
    importing.stdin.close()
    if importing.wait() != 0:
        raise SystemExit("git fast-import ended with %d" % importing.returncode)
    return repository


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--commits", type=int, default=520)
    parser.add_argument("--files", type=int, default=MOST_FILES)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if os.path.exists(given.folder) and os.listdir(given.folder):
        return "%s already exists" % given.folder
    repository = make(given.folder, given.commits, given.seed, given.files)
    kinds = ", ".join("%d %s" % (count, kind) for kind, count in sorted(repository.kinds.items()))
    files = len(repository.tree.entries)
    print("%d commits along first parents (%s), %d files at the end" % (repository.length, kinds, files))
    return 0


if __name__ == "__main__":
    sys.exit(main())
