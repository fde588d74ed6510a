"""Events and findings as the JSON that the command line prints."""

import json
from datetime import datetime, timedelta

from strata_codecs import Malformed, cbor_to_json, in_base64
from strata_payloads import NO_TIME


def as_line(value):
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def verify_object(check):
    return {
        "schema": 1,
        "ok": not check.findings,
        "checked": {"segments": check.segments, "blocks": check.blocks, "events": check.events},
        "findings": [
            {"class": f.kind, "file": f.file, "offset": f.offset, "first": f.first, "last": f.last}
            for f in check.findings
        ],
    }


def time_text(time):
    if time is None or time == NO_TIME:
        return None
    seconds, nanoseconds = divmod(time, 1_000_000_000)
    moment = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    return "%s.%09dZ" % (moment.isoformat(), nanoseconds)


def text_or_bytes(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return in_base64(data)


def refuse_constant(text):
    raise ValueError(text)


def bounded_int(digits):
    if len(digits) > 4000:
        raise ValueError("an integer of %d digits" % len(digits))
    return int(digits)


def payload_value(codec, payload):
    """A payload as JSON; a payload that its codec cannot decode is given as bytes."""
    try:
        if codec == 1:
            return cbor_to_json(payload)
        if codec == 2:
            value = json.loads(payload.decode("utf-8"), parse_constant=refuse_constant, parse_int=bounded_int)
            as_line([[value]])
            return value
    except (Malformed, ValueError, RecursionError):
        pass
    return in_base64(payload)


def event_object(event):
    line = {
        "schema": 1,
        "sequence": event.sequence,
        "append": [event.append_first, event.append_last],
        "time": time_text(event.time),
        "stream": event.stream,
        "version": event.revision,
        "type": event.type,
        "id": None if event.id is None else text_or_bytes(event.id),
    }
    if event.given is not None:
        line["given"] = time_text(event.given)
    if event.kind != 1:
        line.update(metadata=None, codec=None, payload=None)
        line["erased" if event.kind == 2 else "opaque"] = True
        return line
    line["metadata"] = payload_value(1, event.metadata) if event.metadata else {}
    line["codec"] = {1: "cbor", 2: "json"}.get(event.codec, "bytes")
    line["payload"] = payload_value(event.codec, event.payload)
    return line
