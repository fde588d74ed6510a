"""Values of documents: their total order, their identity, paths into documents, instants."""

import json
import re
from datetime import datetime

NULL, BOOLEAN, NUMBER, STRING, BYTES = range(5)

INSTANT = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)
NUMBER_TEXT = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
EPOCH = datetime(1970, 1, 1)


class NotAKey(ValueError):
    """Raised for an array or an object where a sort or section key is required."""


def order(value):
    """null < false < true < numbers (1 = 1.0) < strings by UTF-8 < bytes, as a value that Python can compare."""
    if value is None:
        return (NULL, 0)
    if isinstance(value, bool):
        return (BOOLEAN, int(value))
    if isinstance(value, (int, float)):
        return (NUMBER, value)
    if isinstance(value, str):
        return (STRING, value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes):
        return (BYTES, value)
    raise NotAKey("%s is no key" % json.dumps(value)[:60])


def value_of(key):
    """The value of a key of `order`; for 1 and 1.0, which have the same key, it is 1."""
    rank, value = key
    if rank == NULL:
        return None
    if rank == BOOLEAN:
        return bool(value)
    if rank == NUMBER and isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        return int(value)
    return value.decode("utf-8", "surrogatepass") if rank == STRING else value


def same(a, b):
    """Whether two JSON values are the same document: 1 and 1.0 differ, and so do 0.0 and -0.0."""
    return exact(a) == exact(b)


def exact(value):
    return json.dumps(value, sort_keys=True)


def merged(target, patch):
    """The target with a merge patch applied (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def at_path(document, path):
    """The value at `a.b.c`; None if there is none."""
    for name in path.split("."):
        if not isinstance(document, dict):
            return None
        document = document.get(name)
    return document


def instant(text):
    """(seconds since 1970, digits of the fraction) of an RFC 3339 time, which compare as instants; else None."""
    match = INSTANT.fullmatch(text) if isinstance(text, str) else None
    if not match:
        return None
    day, clock, fraction, zone = match.groups()
    is_leap = clock.endswith(":60")
    if is_leap:
        clock = clock[:-2] + "59"
    try:
        local = datetime.strptime(day + " " + clock, "%Y-%m-%d %H:%M:%S")
    except ValueError:
        return None
    ahead = 0
    if zone not in "Zz":
        ahead = (int(zone[1:3]) * 60 + int(zone[4:6])) * (-60 if zone[0] == "-" else 60)
    since = local - EPOCH
    seconds = since.days * 86400 + since.seconds - ahead
    if is_leap and seconds % 86400 != 86399:
        return None
    # A leap second is after every fraction of the second before it: ":" follows "9".
    return (seconds, (":" if is_leap else "") + (fraction or "").rstrip("0"))


def number(text):
    """The number that a string spells; None if it is not a number."""
    if not isinstance(text, str) or not NUMBER_TEXT.fullmatch(text):
        return None
    return float(text) if re.search("[.eE]", text) else int(text)


def order_read_as(kind):
    """`order` after reading strings as times or numbers, or ignoring case.

    A string that is a time or a number is ordered among the numbers; any other string stays a string.
    """
    read = {"time": instant, "numeric": number}.get(kind)

    def key(value):
        if kind == "nocase" and isinstance(value, str):
            return order(value.casefold())
        found = read(value) if read else None
        if found is None:
            return order(value)
        return (NUMBER, found)

    return key if kind else order
