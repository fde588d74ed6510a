"""The hand-made stores: each recipe is a function that returns the same `Forged` every time."""

from strata_build import *  # noqa: F403

# --- Parts ----------------------------------------------------------------------------------------


def incident(revision, number=1, second=0, **options):
    """An append of one event in an incident's stream."""
    payload = cbor({"number": number, "revision": revision, "title": "Tree down", "where": [48.137, 11.575]})
    return Append(BEGINNING + second * SECOND, [Event("incident/%d" % number, revision, payload=payload)], **options)


def rich_appends():
    """Appends with several streams, ids, given times, metadata and every payload codec."""
    who = cbor({"user": "dispatcher", "shift": 3})
    repeated = cbor({"log": ["engine 1 on its way"] * 12, "big": 1 << 70, "small": -(1 << 64), "half": 0.5, "raw": b"\0\xff"})
    first = Append(BEGINNING, [Event("incident/1", 1, payload=cbor({"title": "Baum über Straße", "open": True}))])
    second = Append(
        BEGINNING + SECOND,
        [
            Event("incident/1", 2, "$patch", repeated, metadata=who),
            Event("unit/engine-1", 1, "moved", b'{"to": [1, 2.5, null], "note": "\\u00fc"}', JSON),
            Event("camera", 1, "frame", bytes(range(256)), BYTES, who),
        ],
        given=BEGINNING - 5 * SECOND,
        id=b"import-1",
    )
    third = Append(BEGINNING + SECOND, [Event("unit/engine-1", 2, "moved", b"\x01", 9)], id=bytes(range(0x80, 0xC0)))
    return first, second, third


def plain_segment(**fields):
    first, second, third = rich_appends()
    segment = Segment(**fields)
    segment.events(first).events(second, codec=LZ4).events(third)
    return segment.events(incident(1, 2, 2), incident(2, 2, 3, given=BEGINNING), in_group=True)


def pair(**fields):
    """Two segments: a closed one with three appends and an active one with two."""
    closed = Segment().events(incident(1)).events(incident(2, second=1)).events(incident(3, second=2))
    return closed, closed.next(**fields).events(incident(4, second=3)).events(incident(5, second=4))


# --- Recipes: whole stores ------------------------------------------------------------------------

RECIPES = {}


def recipe(function):
    RECIPES[function.__name__.replace("_", "-")] = function
    return function


@recipe
def plain():
    return store([plain_segment()])


@recipe
def no_head():
    return store([plain_segment()], b"")


@recipe
def two_segments():
    return store(pair())


@recipe
def rewritten():
    closed = Segment(revision=1, epoch=3)
    closed.events(incident(1), incident(2, second=1), codec=LZ4, epoch=2)
    closed.events(incident(3, second=2), codec=LZ4, epoch=1).footer(codec=LZ4)
    return store([closed, closed.next().events(incident(4, second=3))])


def erasable_append():
    events = [
        Event("person/7", 1, payload=cbor({"name": "Ada", "phone": "0123"}), salt=SALT),
        Event("person/7", 2, payload=cbor({"name": "Ada L."}), salt=SALT[::-1], metadata=cbor({"by": "desk"})),
    ]
    return Append(BEGINNING, events, erasable=True, id=b"erase-me")


@recipe
def erased():
    original = Segment().events(erasable_append()).events(incident(1, second=1))
    append = erasable_append()
    for event in append.events:
        event.erased()
    closed = Segment(revision=2).events(append, incident(1, second=1)).footer()
    assert closed.chain == original.chain, "erasing must not change the chain"
    return store([closed, closed.next().events(incident(2, second=2))])


@recipe
def control_blocks():
    segment = Segment().events(incident(1)).recovery(b"torn bytes").events(incident(2, second=1))
    segment.control(200, b"whatever a later version keeps here").control(128)
    segment.events(incident(3, second=2)).recovery(b"more")
    return store([segment, segment.next().control(255, b"first").events(incident(4, second=3))])


@recipe
def opaque_event():
    events = [Event("a/1", 1), Event("a/1", 2, "later").opaque(130, b"content of version 1.7"), Event("b", 1).opaque(255, b"")]
    return store([Segment().events(Append(BEGINNING, events)).events(incident(1, second=1))])


@recipe
def reserved_bytes():
    segment = plain_segment(reserved=0x5A5A5A5A, header_length=184, compatible=0xFFFF0001)
    segment.events(incident(3, 2, 9), flags=1 << 20)
    return store([segment], head(slot(segment, 1, 0, reserved=7), slot(segment, 2, reserved=9, flags=2)))


def one_erased(**fields):
    """A rewritten segment of three events, the second of which is erased."""
    closed = Segment(revision=2, **fields)
    closed.events(incident(1), Append(BEGINNING + SECOND, [Event("a/1", 1).erased()]))
    return closed.events(incident(2, second=2)).footer(is_marked=True)


@recipe
def erased_and_marked():
    closed = one_erased()
    return store([closed, closed.next().events(incident(3, second=3))])


@recipe
def erased_before_there_were_marks():
    closed = one_erased(mark=0)
    return store([closed, closed.next().events(incident(3, second=3))])


@recipe
def reserved_bytes_rewritten():
    closed = Segment(revision=1, reserved=0x11111111).events(incident(1)).footer()
    return store([closed, closed.next().events(incident(2, second=1))])


@recipe
def zero_tail():
    segment = plain_segment()
    return store([segment], head(slot(segment, 1), slot(segment, 2, clean=True)), tails=[(segment.path, bytes(65536))])


@recipe
def padded():
    segment = Segment().events(incident(1), pad_to=4096).events(incident(2, second=1))
    segment.events(incident(3, second=2), in_group=True, pad_to=4096)
    return store([segment, segment.next().events(incident(4, second=3), pad_to=4096)])


@recipe
def minor_9():
    segment = plain_segment(minor=9)
    return store([segment], head(slot(segment, 1, minor=9)))


@recipe
def readonly_feature():
    return store([plain_segment(readonly=1 << 3)])


@recipe
def trimmed():
    before = Segment(51).events(incident(1))
    before.sequence, before.chain, before.appends, before.written = 101, 0x1122334455667788, 77, []
    segment = before.next().events(incident(2, second=1)).events(incident(3, second=2))
    return store([segment], head(slot(segment, 9, first=101)))


@recipe
def epochs_go_up():
    segment = Segment().events(incident(1))
    segment.epoch = 5
    return store([segment.events(incident(2, second=1))])


@recipe
def large_append():
    events = [Event("bulk/%d" % n, 1, payload=cbor("x" * 40 + str(n))) for n in range(300)]
    return store([Segment().events(Append(BEGINNING, events), codec=LZ4)])


@recipe
def empty():
    segment = Segment()
    return store([segment], head(slot(segment, 1, clean=True)))


@recipe
def unfinished_creation():
    segment = Segment()
    return Forged({"LOCK": b"", segment.path + ".tmp": segment.header()[:2000]}, [], 0, [])


@recipe
def other_names():
    forged = store(pair())
    past_64_bits, no_number, long = "18446744073709551616", "0" * 20, "0" * 20 + "9"
    for name in ("7.seg", "00000000000000000009.seg.tmp", "notes.txt", "0000000000000000000\u0669.seg", "0000000000000000000x.seg"):
        forged.files["log/" + name] = b"x"
    for digits in (past_64_bits, no_number, long):
        forged.files["log/%s.seg" % digits] = b"x"
    forged.files["derived/a.idx"] = b"?"
    return forged


@recipe
def last_name():
    before = Segment((1 << 64) - 2).events(incident(1))
    segment = before.next()
    return store([segment], head(slot(segment, 1, first=segment.first)), events=0)


@recipe
def lock_with_content():
    forged = store(pair())
    forged.files["LOCK"] = b"4711\n"
    return forged


@recipe
def head_of_garbage():
    return store(pair(), b"\xa5" * 4608)


@recipe
def head_one_slot():
    segment = plain_segment()
    return store([segment], head(flipped(slot(segment, 8), 60), slot(segment, 7, 2)))


@recipe
def head_cut():
    segment = plain_segment()
    return store([segment], slot(segment, 8, 1))


@recipe
def rolled_not_named():
    closed, _ = pair()
    fresh = closed.next()
    return store([closed, fresh], head(slot(closed, 3)))


# --- Recipes: newer versions ----------------------------------------------------------------------


def second_block(**options):
    """A valid block, an unusual one, and a valid one after it."""
    segment = Segment().events(incident(1))
    odd = segment.end
    segment.events(incident(2, second=1), **options).events(incident(3, second=2))
    return segment, odd


@recipe
def unsupported_feature():
    segment = plain_segment(incompatible=1 << 5)
    return store([segment], findings=[("unsupported", segment.path, 0)], events=0)


@recipe
def unsupported_algorithm():
    segment = plain_segment(algorithm=2)
    return store([segment], findings=[("unsupported", segment.path, 0)], events=0)


@recipe
def major_2():
    segment = plain_segment(major=2)
    return store([segment], head(slot(segment, 1, major=2)), [("unsupported", segment.path, 0)], 0)


@recipe
def unsupported_kind():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.control(77, b"newer").events(incident(2, second=1))
    return store([segment], findings=[("unsupported", segment.path, at)], events=1)


@recipe
def unsupported_codec():
    segment, at = second_block(codec=2)
    return store([segment], findings=[("unsupported", segment.path, at)], events=1)


@recipe
def unsupported_flag():
    segment, at = second_block(flags=1 << 15)
    return store([segment], findings=[("unsupported", segment.path, at)], events=1)


@recipe
def unsupported_append_flag():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.events(Append(BEGINNING, [Event("a", 1)], flags=8))
    return store([segment], findings=[("unsupported", segment.path, at)], events=1)


@recipe
def unsupported_event_kind():
    event = Event("a", 1)
    event.kind = 3
    segment = Segment().events(incident(1))
    at = segment.end
    segment.events(Append(BEGINNING, [event]))
    return store([segment], findings=[("unsupported", segment.path, at)], events=1)


@recipe
def unsupported_event_flag():
    event = Event("a", 1)
    event.flags = 1
    segment = Segment().events(Append(BEGINNING, [event]))
    return store([segment], findings=[("unsupported", segment.path, 4096)], events=0)


# --- Recipes: torn --------------------------------------------------------------------------------


@recipe
def torn():
    segment = Segment().events(incident(1)).events(incident(2, second=1))
    end = segment.end
    segment.events(incident(3, second=2))
    forged = store([segment], head(slot(segment, 1, 2)), [("torn", segment.path, end)], 2)
    return edited(forged, segment.path, lambda data: data[:-30])


@recipe
def torn_garbage():
    segment = Segment().events(incident(1))
    tail = bytes(range(256)) * 3
    return store([segment], findings=[("torn", segment.path, segment.end)], tails=[(segment.path, tail)])


@recipe
def torn_group():
    segment = Segment().events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1)).events(incident(3, second=2), in_group=True)
    forged = store([segment], head(slot(segment, 1, 1)), [("torn", segment.path, end)], 1)
    return edited(forged, segment.path, lambda data: flipped(data, end + 200))


@recipe
def torn_first_block():
    segment = Segment().events(incident(1))
    forged = store([segment], head(slot(segment, 1, 0)), [("torn", segment.path, 4096)], 0)
    return edited(forged, segment.path, lambda data: data[:4200])


@recipe
def bomb_unpromised():
    segment = Segment().events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1), codec=LZ4, stored=lz4(bytes(40)), raw=bytes(1 << 16))
    return store([segment], head(slot(segment, 1, 1)), [("torn", segment.path, end)], 1)
