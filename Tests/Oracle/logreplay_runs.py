"""Runs of the command line tool, and the options of a list as the tool and the model take them."""

import argparse
import json
import subprocess

from lists import Options

POINT_KEYS = ("sequence", "time", "chain", "count")


class RunFailed(Exception):
    """The tool ended with a code that was not to be."""


class Tool:
    """One store, asked through the tool."""

    def __init__(self, program, store, seconds=300):
        self.program, self.store, self.seconds = program, store, seconds

    def text(self, command, *arguments):
        words = [self.program, command, self.store, *arguments]
        done = subprocess.run(words, capture_output=True, timeout=self.seconds, check=False)
        if done.returncode != 0:
            complaint = done.stderr.decode("utf-8", "replace").strip()
            raise RunFailed("exit %d of `%s`: %s" % (done.returncode, " ".join(words[1:]), complaint))
        return done.stdout.decode("utf-8")

    def json(self, command, *arguments):
        return json.loads(self.text(command, *arguments, "-o", "json"))

    def events(self):
        return [json.loads(line) for line in self.text("log", "-o", "jsonl").splitlines()]


def list_options(words):
    """The model's options from the tool's."""
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


# --- What the text says that its value does not ---------------------------------------------------


def unsorted_fields(text):
    """Whether some object under a key `fields` of an item has keys that do not ascend by UTF-8."""
    found = []

    def pairs(pairs):
        keys = [key for key, _ in pairs]
        value = dict(pairs)
        if len(value) < len(keys):
            found.append("a key is twice in %s" % keys)
        fields = value.get("fields")
        if "id" in value and isinstance(fields, dict) and list(fields) != sorted(fields, key=as_utf8):
            found.append("the fields of %s do not ascend" % value["id"])
        return value

    json.loads(text, object_pairs_hook=pairs)
    return found


def as_utf8(text):
    return text.encode("utf-8", "surrogatepass")


def order_of_keys(at):
    """Sentences about objects of an `at` whose keys are not in the page's order."""
    wanted = ["schema", "table", "sequence", "time", "chain", "count", "sections"]
    objects = [(at, wanted)]
    for section in at["sections"]:
        objects.append((section, ["section", "count", "items"]))
        objects.extend((item, ["id", "revision", "fields"]) for item in section["items"])
    for value, keys in objects:
        if [key for key in value if key in keys] != keys:
            yield "keys %s where the page has %s" % (list(value), keys)
