#!/usr/bin/env python3
"""Weaves all mutants into one tree, so that one build serves them all.

    weave.py TREE WOVEN [--without FILE] PATCH...     writes WOVEN, and beside it WOVEN.json: where each mutant is
    weave.py --blame WOVEN BUILDLOG                   prints the mutants whose code the compiler refused

The body of a function, an initialiser or an accessor that a patch changes becomes

    if activeMutant == 30 { the body as the patch has it } else { the body as it is }

where `activeMutant` is the number in STRATA_MUTANT, read once: a mutant is a run of the tests with that variable. What is
outside of any body (a signature, a stored property, a case) cannot be chosen while the program runs. Such a mutant is
not woven, nor is one that FILE names. One line says what became of each mutant: `woven NAME` or `alone NAME: why`.
"""

import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import swift_source  # noqa: E402

GUARD = """\
// The number of the mutant that is active, 0 for none.

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

@usableFromInline nonisolated let activeMutant: Int =
  getenv("STRATA_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0
"""
GUARD_FILE = "ActiveMutant.swift"


class Refusal(Exception):
    """Why a mutant cannot be woven."""


@dataclass
class Edit:
    """`text[start:end]` becomes `new`."""

    start: int
    end: int
    new: str


@dataclass
class Site:
    """A body, and what mutants make of it."""

    start: int
    end: int
    returns: bool
    mutated: dict = field(default_factory=dict)  # The text of the body for each name.
    inner: list = field(default_factory=list)


def number_of(name):
    match = re.match(r"[0-9]+", name)
    if not match or int(match.group()) == 0:
        raise Refusal("its name does not begin with a number")
    return int(match.group())


# What a patch changes


def files_of(patch):
    """The paths that a patch changes."""
    with open(patch, encoding="utf-8") as file:
        lines = file.read().split("\n")
    old = [line[4:].split("\t")[0] for line in lines if line.startswith("--- ")]
    new = [line[4:].split("\t")[0] for line in lines if line.startswith("+++ ")]
    if not new or "/dev/null" in old + new:
        raise Refusal("it makes or removes a file")
    return sorted({path.split("/", 1)[1] for path in new})


def patched(tree, patch, paths):
    """The text of each path after the patch."""
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
            try:
                shutil.copy(os.path.join(tree, path), os.path.join(folder, path))
            except FileNotFoundError:
                raise Refusal(f"it does not apply: there is no {path}") from None
        command = ["patch", "-p1", "-s", "-F0", "--no-backup-if-mismatch", "-i", os.path.abspath(patch)]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if run.returncode != 0:
            raise Refusal("it does not apply")
        return {path: read(os.path.join(folder, path)) for path in paths}


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def edits(old, new):
    """The differences of two texts: of lines first, then without what the old and the new of each have in common."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    offsets = [0]
    for line in before:
        offsets.append(offsets[-1] + len(line))
    found = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, first, last, new_first, new_last in matcher.get_opcodes():
        if kind == "equal":
            continue
        removed, added = "".join(before[first:last]), "".join(after[new_first:new_last])
        head = len(os.path.commonprefix([removed, added]))
        rest = min(len(removed), len(added)) - head
        tail = len(os.path.commonprefix([removed[::-1], added[::-1]]))
        tail = min(tail, rest)
        start, end = offsets[first] + head, offsets[last] - tail
        found.append(Edit(start, end, added[head : len(added) - tail]))
    return found


# Where it is woven


def body_around(bodies, start, end):
    """The innermost body that holds the range."""
    around = [body for body in bodies if body.start <= start and end <= body.end]
    return min(around, key=lambda body: body.end - body.start, default=None)


def sites_of(text, bodies, changes):
    """The bodies that the changes of one mutant need, and the text of each: no two of them overlap."""
    chosen = {}
    for change in changes:
        body = body_around(bodies, change.start, change.end)
        if body is None:
            line = text.count("\n", 0, change.start) + 1
            raise Refusal(f"line {line} is in no body of a function")
        chosen[(body.start, body.end)] = body
    while True:
        texts = {}
        for body in chosen.values():
            if any(other.start < body.start and body.end < other.end for other in chosen.values()):
                continue
            mutated = text[body.start : body.end]
            for change in sorted(changes, key=lambda change: -change.start):
                if body.start <= change.start and change.end <= body.end:
                    start, end = change.start - body.start, change.end - body.start
                    mutated = mutated[:start] + change.new + mutated[end:]
            if swift_source.is_balanced(mutated):
                texts[(body.start, body.end)] = (body, mutated)
                continue
            # It moves a brace of this body: the one around it holds both ends of the change, if there is one.
            wider = [other for other in bodies if other.start < body.start and body.end < other.end]
            if not wider:
                raise Refusal("it moves a brace out of the body of a function")
            nearest = min(wider, key=lambda other: other.end - other.start)
            chosen[(nearest.start, nearest.end)] = nearest
            break
        else:
            return texts


def nested(sites):
    """The sites that no other holds, each with those inside."""
    outermost, open_ones = [], []
    for site in sorted(sites, key=lambda site: (site.start, -site.end)):
        while open_ones and open_ones[-1].end <= site.start:
            open_ones.pop()
        (open_ones[-1].inner if open_ones else outermost).append(site)
        open_ones.append(site)
    return outermost


# The woven text


class Writer:
    """The woven text of one file, and the lines of each mutant in it."""

    def __init__(self, text):
        self.text = text
        self.out = []
        self.line = 1
        self.marks = []  # First line, last line, the mutants that an error there is of.

    def write(self, text):
        self.out.append(text)
        self.line += text.count("\n")

    def write_range(self, start, end, sites):
        for site in sites:
            self.write(self.text[start : site.start])
            self.write_site(site)
            start = site.end
        self.write(self.text[start:end])

    def write_site(self, site):
        first = self.line
        word = "if"
        for name, body in sorted(site.mutated.items(), key=lambda pair: number_of(pair[0])):
            begin = self.line + 1
            self.write(f"\n{word} activeMutant == {number_of(name)} {{  // mutant {name}\n")
            self.write(with_return(body, site.returns))
            self.write("\n}")
            self.marks.append((begin, self.line, [name]))
            word = " else if"
        self.write(" else {\n")
        if site.inner or not site.returns or not swift_source.is_expression(self.text[site.start : site.end]):
            self.write_range(site.start, site.end, site.inner)
        else:
            self.write(with_return(self.text[site.start : site.end], True))
        self.write("\n}\n")
        self.marks.append((first, self.line, sorted(site.mutated)))


def with_return(body, returns):
    """A body as a branch: what was returned without a word is returned with one."""
    if not returns or not swift_source.is_expression(body):
        return body
    start = next(swift_source.scan(body)).start
    return body[:start] + "return " + body[start:]


def weave_file(text, mutants):
    """Weaves the texts that mutants make of one file: the woven text, its marks, and why others are not in it."""
    bodies = swift_source.bodies(text)
    sites, refused = {}, {}
    for name, mutated in sorted(mutants.items()):
        try:
            for place, (body, new) in sites_of(text, bodies, edits(text, mutated)).items():
                sites.setdefault(place, Site(body.start, body.end, body.returns)).mutated[name] = new
        except Refusal as refusal:
            refused[name] = str(refusal)
            for site in sites.values():
                site.mutated.pop(name, None)
    writer = Writer(text)
    writer.write_range(0, len(text), nested([site for site in sites.values() if site.mutated]))
    return "".join(writer.out), writer.marks, refused


def modules_of(tree):
    """The folders of modules: those in Sources, and those that the manifest names."""
    manifest = read(os.path.join(tree, "Package.swift"))
    folders = set(re.findall(r'path: "([^"]+)"', manifest))
    sources = os.path.join(tree, "Sources")
    return folders | {f"Sources/{name}" for name in os.listdir(sources)}


def module_of(path, modules):
    around = [folder for folder in modules if path.startswith(folder + "/")]
    if not path.endswith(".swift") or not around:
        raise Refusal(f"{path} is not Swift code of a module")
    return max(around, key=len)


def texts_of(tree, patches, without):
    """The text that each patch makes of each path, and why others make none."""
    modules = modules_of(tree)
    refused, texts, numbers = {}, {}, {}
    for patch in patches:
        name = os.path.basename(patch).removesuffix(".patch")
        try:
            number = number_of(name)
            if number in numbers:
                raise Refusal(f"{numbers[number]} has the same number")
            numbers[number] = name
            if name in without:
                raise Refusal("the compiler refuses it where it is woven")
            paths = files_of(patch)
            for path in paths:
                module_of(path, modules)
            for path, text in patched(tree, patch, paths).items():
                texts.setdefault(path, {})[name] = text
        except Refusal as refusal:
            refused[name] = str(refusal)
    return texts, refused


def weave(tree, texts, refused, guard=GUARD):
    """The woven files, the marks of each, the names that are woven, and why the others are not."""
    modules, refused = modules_of(tree), dict(refused)
    while True:
        files, marks, failed = {}, {}, {}
        for path, mutants in sorted(texts.items()):
            kept = {name: text for name, text in mutants.items() if name not in refused}
            try:
                files[path], marks[path], reasons = weave_file(read(os.path.join(tree, path)), kept)
            except swift_source.SourceError as error:
                reasons = {name: f"{path}: {error}" for name in kept}
            failed.update(reasons)
        if not failed:
            break
        # One that is refused in one file must not be in another.
        refused.update(failed)
    for folder in {module_of(path, modules) for path in files if marks[path]}:
        files[f"{folder}/{GUARD_FILE}"] = guard
    woven = sorted({name for mutants in texts.values() for name in mutants} - set(refused), key=number_of)
    return files, marks, woven, refused


def write_woven(tree, folder, files, marks):
    """Writes a copy of the tree with the woven files, and the marks beside it."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(tree, folder, symlinks=True, ignore=shutil.ignore_patterns(".build", ".git"))
    for path, text in files.items():
        with open(os.path.join(folder, path), "w", encoding="utf-8", newline="") as file:
            file.write(text)
    with open(folder + ".json", "w", encoding="utf-8") as file:
        json.dump(marks, file, indent=1)


def blamed(folder, log):
    """The mutants whose code the compiler refused: those of the smallest mark around each error."""
    with open(folder + ".json", encoding="utf-8") as file:
        marks = json.load(file)
    names, unknown = set(), []
    for path, line in set(re.findall(r"^(/[^\n:]+\.swift):(\d+):\d+: error:", read(log), re.MULTILINE)):
        inside = [
            mark for known, of_file in marks.items() if path.endswith("/" + known)
            for mark in of_file if mark[0] <= int(line) <= mark[1]
        ]
        if inside:
            names.update(min(inside, key=lambda mark: (mark[1] - mark[0], len(mark[2])))[2])
        else:
            unknown.append(f"{path}:{line}")
    return sorted(names), sorted(unknown)


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "--blame":
        names, unknown = blamed(arguments[1], arguments[2])
        for name in names:
            print(name)
        for place in unknown if not names else []:
            print(f"{place} is of no mutant", file=sys.stderr)
        return 0 if names else 1
    without = set()
    if "--without" in arguments:
        place = arguments.index("--without")
        without = set(read(arguments[place + 1]).split())
        del arguments[place : place + 2]
    if len(arguments) < 3 or any(argument.startswith("-") for argument in arguments):
        print("usage: weave.py TREE WOVEN [--without FILE] PATCH... | --blame WOVEN BUILDLOG", file=sys.stderr)
        return 64
    tree, folder = arguments[0], arguments[1].rstrip("/")
    files, marks, woven, refused = weave(tree, *texts_of(tree, arguments[2:], without))
    write_woven(tree, folder, files, marks)
    for name in woven:
        print(f"woven {name}")
    for name in sorted(refused):
        print(f"alone {name}: {refused[name]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
