"""The stores of format 1.0 that no writer of this version makes: rewritten, erased, trimmed, and from later versions."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Oracle"))

from strata_build import BEGINNING, LZ4, SECOND, Append, Event, Segment, cbor, head, slot, store  # noqa: E402
from strata_recipes import erasable_append, incident, pair, plain_segment, second_block  # noqa: E402

STORES = {}


def golden(what):
    """Registers a store with what is said of it."""

    def register(function):
        STORES[function.__name__.replace("_", "-")] = (what, function)
        return function

    return register


# --- What a rewrite leaves ----------------------------------------------------------------------


def sealed_segment(revision=1):
    closed = Segment(revision=revision, epoch=3)
    closed.events(incident(1), incident(2, second=1), codec=LZ4, epoch=2).recovery(b"torn bytes")
    return closed.events(incident(3, second=2), codec=LZ4, epoch=1)


@golden("A sealed segment (blocks merged, a RECOVERY block kept, FOOTER in LZ4) and an active one.")
def sealed():
    closed = sealed_segment().footer(codec=LZ4)
    return store([closed, closed.next().events(incident(4, second=3)).events(incident(5, second=4))])


@golden("Two sealed segments, the second of them the last file: a store that was sealed to its end.")
def sealed_to_the_end():
    first = sealed_segment().footer()
    second = first.next(revision=1).events(incident(4, second=3)).events(incident(5, second=4), codec=LZ4).footer()
    return store([first, second], head(slot(second, 6), slot(second, 7, clean=True)))


@golden("A sealed segment of the second revision in which an erasable append was erased.")
def erased():
    original = Segment().events(erasable_append()).events(incident(1, second=1))
    append = erasable_append()
    for event in append.events:
        event.erased()
    closed = Segment(revision=2).events(append, incident(1, second=1)).footer()
    assert closed.chain == original.chain, "erasing must not change the chain"
    return store([closed, closed.next().events(incident(2, second=2)).events(erasable_append_again())])


def erasable_append_again():
    return Append(BEGINNING + 3 * SECOND, [Event("person/7", 3, payload=cbor({"name": "A."}), salt=bytes(16))], erasable=True)


@golden("A trimmed store: it begins at sequence 101.")
def trimmed():
    before = Segment(51).events(incident(1))
    before.sequence, before.chain, before.appends, before.written = 101, 0x1122334455667788, 77, []
    segment = before.next().events(incident(2, second=1)).events(incident(3, second=2))
    return store([segment], head(slot(segment, 9, first=101)))


@golden("Zeros behind the last block, as a writer preallocates them, under a HEAD of one slot.")
def zero_tail():
    segment = plain_segment()
    return store([segment], head(slot(segment, 2)), tails=[(segment.path, bytes(512))])


@golden("A tail that a power cut tore, under a HEAD as old as the open.")
def torn():
    segment = Segment().events(incident(1)).events(incident(2, second=1))
    segment.events(incident(3, second=2))
    forged = store([segment], head(slot(segment, 3, 2), slot(segment, 2, 1)))
    forged.files[segment.path] = forged.files[segment.path][:-30]
    return forged


# --- What later versions may write and 1.0 reads -------------------------------------------------


@golden("A later minor version: longer headers, reserved bytes in use, compatible features and flags that 1.0 ignores.")
def minor_1():
    segment = plain_segment(minor=1, reserved=0x5A5A5A5A, header_length=184, compatible=0xFFFF0001)
    segment.events(incident(3, 2, 9), flags=1 << 20)
    return store([segment], head(slot(segment, 1, 0, reserved=7), slot(segment, 2, minor=1, reserved=9, flags=2)))


@golden("Control blocks of kinds 128, 200 and 255 among events and RECOVERY blocks, one with unknown codec and flags.")
def control_kinds():
    segment = Segment().events(incident(1)).recovery(b"torn bytes").events(incident(2, second=1))
    segment.control(200, b"whatever a later version keeps here").control(128)
    segment.events(incident(3, second=2)).control(254, b"\1\2\3", codec=9, flags=0xFFFF)
    return store([segment, segment.next().control(255, b"first").events(incident(4, second=3))])


@golden("Events of kinds 130 and 255, delivered as opaque.")
def opaque_events():
    events = [Event("a/1", 1), Event("a/1", 2, "later").opaque(130, b"content of version 1.7"), Event("b", 1).opaque(255, b"")]
    return store([Segment().events(Append(BEGINNING, events)).events(incident(1, second=1))])


@golden("A read-only compatible feature: it opens for reading and for nothing else.")
def readonly_feature():
    return store([plain_segment(readonly=1 << 3)])


# --- What later versions may write and 1.0 refuses ----------------------------------------------


@golden("An incompatible feature, bit 5.")
def incompatible_feature():
    return store([plain_segment(incompatible=1 << 5)], events=0)


@golden("Format 2.0.")
def major_2():
    segment = plain_segment(major=2)
    return store([segment], head(slot(segment, 1, major=2)), events=0)


@golden("A chain of another algorithm, behind a closed segment of the known one.")
def chain_algorithm_2():
    closed, active = pair(algorithm=2)
    return store([closed, active], events=3)


@golden("A control block of kind 77, which 1.0 may not skip, between events.")
def unknown_kind():
    segment = Segment().events(incident(1)).control(77, b"newer").events(incident(2, second=1))
    return store([segment], events=1)


@golden("A block of an unknown payload codec.")
def unknown_codec():
    return store([second_block(codec=2)[0]], events=1)


@golden("A block with flag 15, which 1.0 may not ignore.")
def unknown_block_flag():
    return store([second_block(flags=1 << 15)[0]], events=1)


@golden("An append with flag 3.")
def unknown_append_flag():
    return store([Segment().events(incident(1)).events(Append(BEGINNING, [Event("a", 1)], flags=8))], events=1)


@golden("An event of kind 3, which 1.0 may not skip.")
def unknown_event_kind():
    event = Event("a", 1)
    event.kind = 3
    return store([Segment().events(incident(1)).events(Append(BEGINNING, [event]))], events=1)


@golden("An event with a flag.")
def unknown_event_flag():
    event = Event("a", 1)
    event.flags = 1
    return store([Segment().events(incident(1)).events(Append(BEGINNING, [event]))], events=1)
