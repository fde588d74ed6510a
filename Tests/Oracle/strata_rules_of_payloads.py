"""Stores about kinds, codecs and payloads: those that decode, those that do not, and those that need a newer reader."""

import struct

from strata_build import *  # noqa: F403
from strata_recipes import incident, recipe


@recipe
def recovery_lies():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.control(RECOVERY, struct.pack("<QQqIHH", at + 8, 1, 0, 0, 1, 1) + b"q")
    return store([segment], findings=[("corrupt", segment.path, at)], events=1)


@recipe
def skipped_whatever_its_codec_and_flags():
    segment = Segment().events(incident(1)).control(128, b"newer", codec=9, flags=0xFFFFFFFF)
    segment.control(255, b"newer", codec=LZ4, stored_as=b"\xff" * 9).events(incident(2, second=1)).control(200, flags=1)
    return store([segment])


@recipe
def unsupported_then_torn():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.control(127, b"newer", codec=7).events(incident(2, second=1))
    found = [("unsupported", segment.path, at)]
    return store([segment], findings=found, events=1, tails=[(segment.path, b"torn")])


@recipe
def unsupported_kind_0():
    segment = Segment().control(0)
    return store([segment], findings=[("unsupported", segment.path, 4096)], events=0)


@recipe
def unsupported_codec_of_control():
    segment = Segment().control(RECOVERY, codec=2)
    return store([segment], findings=[("unsupported", segment.path, 4096)], events=0)


@recipe
def no_commit_time():
    segment = Segment().events(Append(NO_TIME, [Event("a", 1)]))
    return store([segment], findings=[("corrupt", segment.path, 4096)], events=0)


@recipe
def given_time_of_any_value():
    return store([Segment().events(incident(1, given=NO_TIME))])


@recipe
def payloads_not_their_codec():
    events = [
        Event("a", 1, payload=b"\xff"),
        Event("a", 2, payload=b""),
        Event("a", 3, payload=b"{'", codec=JSON),
        Event("a", 4, metadata=b"\x01\x02\xff"),
        Event("a", 5, metadata=cbor({1: 2})),
        Event("a", 6, salt=SALT),
    ]
    return store([Segment().events(Append(BEGINNING, events))])


def two_events(first, second):
    """A segment whose second block holds two events, and the offset of that block."""
    segment = Segment().events(incident(1))
    at = segment.end
    return segment.events(Append(BEGINNING + 6 * SECOND, [first, second])), at


def newer_event():
    event = Event("a", 1)
    event.kind = 3
    return event


@recipe
def unsupported_before_malformed():
    segment, at = two_events(newer_event(), Event("a", 0))
    return store([segment], findings=[("unsupported", segment.path, at)], events=1)


@recipe
def malformed_before_unsupported():
    segment, at = two_events(Event("a", 0), newer_event())
    return store([segment], findings=[("corrupt", segment.path, at)], events=1)


@recipe
def content_before_what_stands_behind_it():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.events(incident(2, second=1), last_time=BEGINNING + 9).events(incident(3, second=2))
    forged = store([segment], findings=[("corrupt", segment.path, at)], events=1)
    return edited(forged, segment.path, lambda data: data[:-8])


@recipe
def recovery_of_any_reason():
    segment = Segment().events(incident(1))
    segment.control(RECOVERY, struct.pack("<QQqIHH", segment.end, 1, NO_TIME, 0, 99, 2) + b"\xc3\xbc")
    return store([segment.control(RECOVERY, struct.pack("<QQqIHH", segment.end, 0, 0, 0, 0, 0))])


def recovery_is(payload, **options):
    segment = Segment().control(RECOVERY, payload, **options)
    return store([segment], findings=[("corrupt", segment.path, 4096)], events=0)


@recipe
def recovery_path_not_text():
    return recovery_is(struct.pack("<QQqIHH", 4096, 1, 0, 0, 1, 1) + b"\xff")


@recipe
def recovery_path_too_short():
    return recovery_is(struct.pack("<QQqIHH", 4096, 1, 0, 0, 1, 1) + b"qq")


@recipe
def recovery_too_short():
    return recovery_is(struct.pack("<QQqIHH", 4096, 1, 0, 0, 1, 0)[:31])


@recipe
def recovery_compressed():
    return recovery_is(struct.pack("<QQqIHH", 4096, 1, 0, 0, 1, 20) + b"q" * 20, codec=LZ4)


@recipe
def damage_in_content_counts_what_stands_behind_it():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.events(incident(2, second=1), flags=1).events(incident(3, second=2))
    return store([segment], head(slot(segment, 1, 1)), [("unsupported", segment.path, at)], 1)


@recipe
def unsupported_event_kind_0():
    event = Event("a", 1)
    event.kind = 0
    segment = Segment().events(Append(BEGINNING, [event]))
    return store([segment], findings=[("unsupported", segment.path, 4096)], events=0)
