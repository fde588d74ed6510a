"""Runs the command line tool, and translates list options between the tool and the model."""

import argparse
import json
import subprocess
from collections import Counter
from threading import Lock

from lists import Options

POINT_KEYS = ("sequence", "time", "chain", "count")


class RunFailed(Exception):
    """Raised if the tool ended with an unexpected exit code."""


class Tool:
    """One store, read through the tool."""

    def __init__(self, program, store, seconds=300, says_origin=False):
        self.program, self.store, self.seconds = program, store, seconds
        self.says_origin = says_origin
        # What the tool said about where a state of the past came from, and how many times.
        self.origins, self.lock = Counter(), Lock()

    def text(self, command, *arguments):
        words = [self.program, command, self.store, *arguments]
        if self.says_origin and command in ("at", "diff"):
            words.append("-v")
        done = subprocess.run(words, capture_output=True, timeout=self.seconds, check=False)
        if done.returncode != 0:
            complaint = done.stderr.decode("utf-8", "replace").strip()
            raise RunFailed("exit %d of `%s`: %s" % (done.returncode, " ".join(words[1:]), complaint))
        if words[-1] == "-v":
            with self.lock:
                self.origins[origin_in(done.stderr.decode("utf-8"))] += 1
        return done.stdout.decode("utf-8")

    def json(self, command, *arguments):
        return json.loads(self.text(command, *arguments, "-o", "json"))

    def events(self):
        return [json.loads(line) for line in self.text("log", "-o", "jsonl").splitlines()]


def list_options(words):
    """The model's options for the tool's options."""
    parser = argparse.ArgumentParser(prog="list options", allow_abbrev=False)
    parser.add_argument("--section-by")
    parser.add_argument("--section-order", default="key")
    parser.add_argument("--sort", action="append", default=[])
    parser.add_argument("--where")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--limit-per-section", type=int)
    parser.add_argument("--fields")
    given = parser.parse_args(words)
    return Options(
        section_by=given.section_by,
        section_order=given.section_order,
        sorts=tuple(given.sort),
        where=given.where,
        limit=given.limit,
        limit_per_section=given.limit_per_section,
        fields=tuple(given.fields.split(",")) if given.fields else None,
    )


def origin_in(said):
    """What the tool said with -v, among the points that it resolved; empty if it said nothing."""
    lines = [line for line in said.splitlines() if line.startswith("logreplay: ")]
    return lines[-1].removeprefix("logreplay: ") if lines else ""


# --- Properties of JSON text that its value lacks--------------------------------------------------


def unsorted_fields(text):
    """Sentences about objects with duplicate keys, and about `fields` whose keys do not ascend by UTF-8."""
    found = []

    def pairs(pairs):
        keys = [key for key, _ in pairs]
        value = dict(pairs)
        if len(value) < len(keys):
            found.append("a key occurs twice in %s" % keys)
        fields = value.get("fields")
        if "id" in value and isinstance(fields, dict) and list(fields) != sorted(fields, key=as_utf8):
            found.append("the fields of %s do not ascend" % value["id"])
        return value

    json.loads(text, object_pairs_hook=pairs)
    return found


def as_utf8(text):
    return text.encode("utf-8", "surrogatepass")


def order_of_keys(at):
    """Sentences about objects in the output of `at` whose keys are not in the documented order."""
    wanted = ["schema", "table", "sequence", "time", "chain", "count", "sections"]
    objects = [(at, wanted)]
    for section in at["sections"]:
        objects.append((section, ["section", "count", "items"]))
        objects.extend((item, ["id", "revision", "fields"]) for item in section["items"])
    for value, keys in objects:
        if [key for key in value if key in keys] != keys:
            yield "keys %s instead of the documented %s" % (list(value), keys)
