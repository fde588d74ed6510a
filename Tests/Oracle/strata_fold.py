"""The tables of documents, folded from the log alone: what a state must hold."""

from collections import namedtuple

from lists_values import merged, same
from strata_codecs import Malformed
from strata_json import payload_value

Row = namedtuple("Row", "revision created time document")


class Tables:
    """The tables after some events: {name: ({id: Row}, {id: why its last event could not be applied})}.

    Names and ids are text. A write of an equal document leaves the row as it is, unless touches are recorded.
    """

    def __init__(self, records_touches=False):
        self.records_touches = records_touches
        self.tables = {}

    def add(self, event):
        if event.kind != 1 or event.type not in ("$put", "$merge", "$delete"):
            return
        name, _, id = event.stream.partition("/")
        rows, problems = self.tables.setdefault(name, ({}, {}))
        problems.pop(id, None)
        if event.type == "$delete":
            rows.pop(id, None)
            return
        try:
            document = result(rows.get(id), event)
        except Malformed as problem:
            rows.pop(id, None)
            problems[id] = str(problem)
            return
        old = rows.get(id)
        if old is None or self.records_touches or not same(old.document, document):
            created = event.sequence if old is None else old.created
            rows[id] = Row(event.sequence, created, event.own_time, document)


def result(row, event):
    """The document that an event gives a row. Raises Malformed with the reason if it gives none."""
    value = payload_value(event.codec, event.payload)
    if is_unreadable(event, value):
        raise Malformed("event %d: " % event.sequence)
    if event.type == "$merge":
        value = merged(row.document if row else {}, value)
    if not isinstance(value, dict):
        raise Malformed("the result of event %d is not an object" % event.sequence)
    return value


def is_unreadable(event, value):
    """Whether a payload is not a document: `payload_value` then gives its bytes."""
    return event.codec not in (1, 2) or value == {"b64": payload_value(3, event.payload)["b64"]}
