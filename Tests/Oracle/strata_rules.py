"""Hand-made stores in which one rule of the format is broken, or kept where one might think it broken."""

import struct

from strata_build import *  # noqa: F403
from strata_recipes import RECIPES, incident, pair, plain_segment, recipe, rich_appends

# --- Recipes: one rule each -----------------------------------------------------------------------


def second_is(kind, *appends, then=True, **options):
    """A store whose second block is what `kind` says, with good blocks around it, all promised by HEAD."""
    segment = Segment().events(incident(1, second=5))
    at = segment.end
    segment.events(*(appends or (incident(2, second=6),)), **options)
    if then:
        segment.events(incident(3, second=20))
    return store([segment], findings=[(kind, segment.path, at)], events=1)


def event_of(event=None, time=BEGINNING + 6 * SECOND, **options):
    return Append(time, [event or Event("a/1", 1)], **options)


def rules():
    """{name: recipe} of stores in which one rule is broken and every checksum holds."""
    early, late = incident(2, second=4), incident(2, second=6)
    no_stream, long_stream, no_type = Event("", 1), Event("x" * 1025, 1), Event("a", 1, "")
    no_text = Event("a", 1)
    no_text.names = sized(b"a\xff") + sized(b"t")
    two = Append(BEGINNING + 6 * SECOND, [Event("a", 1), Event("a", 2)])
    more = Event("a/1", 1)
    more.content += b"\0"
    after = incident(3, second=7)
    nested = sized(late.encoded()[1:] + after.encoded())
    longer = bytes([len(late.encoded())]) + late.encoded()[1:] + b"\0"
    newer = late.encoded()[:1] + b"\x08" + late.encoded()[2:]
    no_bytes = sized(event_of().head + b"\0")
    past_its_append = sized(event_of().head + b"\x7f\x03") + bytes(200)
    erased_more = Event("a/1", 1).erased()
    erased_more.content += b"\0"
    return {
        "corrupt-append-past-the-payload": lambda: second_is("corrupt", late, raw=b"\x7f" + newer[1:60]),
        "corrupt-event-without-bytes": lambda: second_is("corrupt", event_of(), raw=no_bytes),
        "corrupt-event-past-its-append": lambda: second_is("corrupt", event_of(), raw=past_its_append),
        "corrupt-erased-goes-on": lambda: second_is("corrupt", event_of(erased_more)),
        "corrupt-times-go-back": lambda: second_is("corrupt", *(incident(1, second=at) for at in (6, 9, 8))),
        "corrupt-chain": lambda: second_is("corrupt", late, chain_after=5),
        "stale-synced-goes-back": lambda: second_is("stale", synced=4088),
        "stale-synced-ahead": lambda: second_is("stale", synced=1 << 40),
        "stale-time-goes-back": lambda: second_is("stale", early),
        "stale-no-append": lambda: second_is("stale", appends=0),
        "stale-fewer-events": lambda: second_is("stale", appends=2),
        "stale-first-sequence": lambda: second_is("stale", first=3),
        "stale-appends-before": lambda: second_is("stale", appends_before=9),
        "stale-sequence-within-64-bits": lambda: second_is("stale", first=(1 << 64) - 2),
        "stale-appends-within-64-bits": lambda: second_is("stale", appends_before=(1 << 64) - 2),
        "corrupt-sequence-past-64-bits": lambda: second_is("corrupt", first=(1 << 64) - 1),
        "corrupt-appends-past-64-bits": lambda: second_is("corrupt", appends_before=(1 << 64) - 1),
        "misplaced-own-offset": lambda: second_is("misplaced", own_offset=4096),
        "misplaced-identity": lambda: second_is("misplaced", segment=2),
        "corrupt-raw-length": lambda: second_is("corrupt", raw=late.encoded(), stored=late.encoded() + b"\0"),
        "corrupt-span": lambda: second_is("corrupt", span=176),
        "corrupt-span-unaligned": lambda: second_is("corrupt", span=284),
        "corrupt-payload-crc": lambda: second_is("corrupt", payload_crc=0),
        "corrupt-header-length": lambda: second_is("corrupt", length=172),
        "corrupt-magic": lambda: second_is("corrupt", magic=b"STRX"),
        "corrupt-first-time": lambda: second_is("corrupt", first_time=BEGINNING + 5 * SECOND),
        "corrupt-times-inside": lambda: second_is("corrupt", incident(2, second=8), incident(3, second=7)),
        "corrupt-append-length": lambda: second_is("corrupt", late, raw=longer),
        "corrupt-append-in-append": lambda: second_is("corrupt", late, after, raw=nested),
        "corrupt-revision-0": lambda: second_is("corrupt", event_of(Event("a", 0))),
        "corrupt-salt": lambda: second_is("corrupt", event_of(Event("a", 1, salt=b"short"), erasable=True)),
        "corrupt-content-goes-on": lambda: second_is("corrupt", event_of(more)),
        "corrupt-id-empty": lambda: second_is("corrupt", event_of(id=b"")),
        "corrupt-id-long": lambda: second_is("corrupt", event_of(id=b"i" * 65)),
        "corrupt-no-events": lambda: second_is("corrupt", Append(BEGINNING + 6 * SECOND, []), two),
        "corrupt-stream-empty": lambda: second_is("corrupt", event_of(no_stream)),
        "corrupt-stream-long": lambda: second_is("corrupt", event_of(long_stream)),
        "corrupt-stream-not-text": lambda: second_is("corrupt", event_of(no_text)),
        "corrupt-type-empty": lambda: second_is("corrupt", event_of(no_type)),
        "corrupt-lz4": lambda: second_is("corrupt", late, codec=LZ4, stored=b"\x00" * 60),
    }


for rule_name, rule in rules().items():
    RECIPES[rule_name] = rule


@recipe
def limits_kept():
    events = [Event("x" * 1024, 1, "t" * 255), Event("ä", (1 << 64) - 1, salt=SALT)]
    append = Append(BEGINNING, events, id=b"i" * 64, given=NO_TIME + 1, erasable=True)
    return store([Segment().events(append).events(Append(BEGINNING, [Event("x", 1, "t")], id=b"i"))])


@recipe
def control_times_do_not_count():
    segment = Segment().control(200, first_time=BEGINNING + 99 * SECOND, last_time=BEGINNING + 99 * SECOND)
    return store([segment.events(incident(1)).control(201, first_time=0, last_time=0).events(incident(2))])


@recipe
def control_block_counts_events():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.control(200, events=1)
    return store([segment], findings=[("stale", segment.path, at)], events=1)


@recipe
def recovery_lies():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.control(RECOVERY, struct.pack("<QQqIHH", at + 8, 1, 0, 0, 1, 1) + b"q")
    return store([segment], findings=[("corrupt", segment.path, at)], events=1)


def torn_with_header_behind(**fields):
    """A torn block with a valid block behind it, whose promise the rule must not listen to."""
    segment = Segment(epoch=2).events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1)).events(incident(3, second=2), **fields)
    forged = store([segment], head(slot(segment, 1, 1)), [("torn", segment.path, end)], 1)
    return edited(forged, segment.path, lambda data: flipped(data, end + 200))


@recipe
def torn_raw_length():
    segment = Segment().events(incident(1))
    end, payload = segment.end, incident(2, second=1).encoded()
    segment.events(incident(2, second=1), raw=payload + bytes(1), stored=payload)
    return store([segment], head(slot(segment, 1, 1)), [("torn", segment.path, end)], 1)


@recipe
def torn_before_an_older_epoch():
    return torn_with_header_behind(epoch=1)


@recipe
def torn_before_an_impossible_promise():
    return torn_with_header_behind(synced=1 << 20)


@recipe
def torn_before_an_unaligned_header():
    segment = Segment().events(incident(1))
    end = segment.end
    other = Segment().events(incident(1)).events(incident(2), own_offset=end + 12, synced=end + 12)
    tail = b"\xee" * 12 + bytes(other.body[end - 4096 :])
    return store([segment], head(slot(segment, 1)), [("torn", segment.path, end)], 1, [(segment.path, tail)])


@recipe
def corrupt_before_a_header_without_its_payload():
    segment = Segment().events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1)).events(incident(3, second=2))
    forged = store([segment], head(slot(segment, 1, 1)), [("corrupt", segment.path, end)], 1)
    return edited(forged, segment.path, lambda data: flipped(data, end + 200)[:-90])


@recipe
def head_newest_first():
    segment = plain_segment()
    return store([segment], head(slot(segment, 9), slot(segment, 8, 2, durable_chain=1)))


@recipe
def header_previous_last():
    closed, active = pair(previous_last=7)
    return store([closed, active], findings=[("corrupt", active.path, 0)], events=3)


@recipe
def rewritten_synced():
    closed = Segment(revision=1).events(incident(1), synced=0).footer()
    active = closed.next().events(incident(2, second=1))
    return store([closed, active], findings=[("stale", closed.path, 4096)], events=0)


@recipe
def rewritten_without_footer():
    closed = Segment(revision=1).events(incident(1)).events(incident(2, second=1))
    closed.fields.update(footer=closed.marks[1][0], last=2, chain=closed.chain, end=closed.end)
    active = closed.next().events(incident(3, second=2))
    return store([closed, active], findings=[("corrupt", closed.path, closed.end)], events=2)


@recipe
def rewritten_names_another_chain():
    closed = Segment(revision=1).events(incident(1)).footer()
    closed.fields["chain"] = 5
    active = closed.next().events(incident(2, second=1))
    return store([closed, active], findings=[("stale", closed.path, closed.end)], events=1)


@recipe
def footer_elsewhere():
    closed = Segment(revision=1).events(incident(1)).footer()
    at = closed.marks[1][0]
    closed.fields["footer"] = 4096
    active = closed.next().events(incident(2, second=1))
    return store([closed, active], findings=[("corrupt", closed.path, at)], events=1)


@recipe
def footer_in_a_segment_as_first_written():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.footer()
    segment.fields = {"epoch": 1}
    return store([segment], findings=[("corrupt", segment.path, at)], events=1)


# --- Recipes: kinds, codecs and payloads ----------------------------------------------------------


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
    """A segment whose second block holds two events, and that block's offset."""
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


# --- Recipes: the store's UUID --------------------------------------------------------------------


@recipe
def uuid_of_the_first_segment():
    _, active = pair()
    closed = Segment(uuid=FOREIGN_UUID).events(*(incident(n + 1, second=n) for n in range(3)))
    return store([closed, active], b"", [("misplaced", active.path, 0)], 3)


@recipe
def uuid_of_head():
    _, active = pair()
    closed = Segment(uuid=FOREIGN_UUID).events(*(incident(n + 1, second=n) for n in range(3)))
    return store([closed, active], findings=[("misplaced", closed.path, 0)], events=0)


@recipe
def uuid_not_of_an_unsupported_header():
    _, active = pair()
    closed = Segment(uuid=FOREIGN_UUID, incompatible=1).events(*(incident(n + 1, second=n) for n in range(3)))
    return store([closed, active], b"", [("unsupported", closed.path, 0)], 0)


@recipe
def uuid_not_of_a_misnamed_segment():
    _, active = pair()
    foreign = Segment(3, uuid=FOREIGN_UUID, previous_last=2)
    forged = store([foreign, active], b"", [("misplaced", "log/%020d.seg" % 1, 0)], 0)
    forged.files["log/%020d.seg" % 1] = forged.files.pop(foreign.path)
    return forged


# --- Recipes: between segments --------------------------------------------------------------------


def closed_and(**fields):
    """A closed segment whose end is not what the header of an empty active one says."""
    closed, _ = pair()
    return closed, closed.next(**fields)


@recipe
def names_no_previous_segment():
    closed, active = closed_and(previous_first=0)
    return store([closed, active], findings=[("corrupt", active.path, 0)])


@recipe
def ends_with_another_chain():
    closed, active = closed_and(previous_chain=5)
    return store([closed, active], head(slot(active, 1, durable_chain=5)), [("stale", closed.path, closed.end)])


@recipe
def ends_at_another_time():
    closed, active = closed_and(previous_time=BEGINNING + 3 * SECOND)
    return store([closed, active], findings=[("stale", closed.path, closed.end)])


@recipe
def ends_with_another_number_of_appends():
    closed, active = closed_and(appends=4)
    return store([closed, active], findings=[("stale", closed.path, closed.end)])


@recipe
def times_go_back_between_segments():
    closed, _ = pair()
    active = closed.next().events(incident(4, second=1))
    return store([closed, active], findings=[("stale", active.path, 4096)], events=3)


@recipe
def control_block_cut_unseen():
    closed = Segment().events(incident(1))
    end = closed.end
    closed.control(200, b"unseen")
    active = closed.next().events(incident(2, second=1))
    return edited(store([closed, active]), closed.path, lambda data: data[:end])


@recipe
def missing_middle_behind_damage():
    first, second = pair()
    third = second.next().events(incident(6, second=5))
    found = [("corrupt", first.path, first.marks[1][0]), ("missing", second.path, 0)]
    forged = edited(store([first, second, third], findings=found, events=1), second.path, lambda data: None)
    return edited(forged, first.path, lambda data: flipped(data, first.marks[1][0]))


@recipe
def missing_first_before_damage():
    first, second = pair()
    found = [("missing", first.path, 0), ("corrupt", second.path, 0)]
    forged = edited(store([first, second], findings=found, events=0), first.path, lambda data: None)
    return edited(forged, second.path, lambda data: flipped(data, 3000))


@recipe
def not_compared_with_a_bad_header():
    closed, active = closed_and(previous_chain=5, incompatible=1)
    return store([closed, active], head(slot(active, 1, durable_chain=5)), [("unsupported", active.path, 0)])


@recipe
def not_compared_with_a_misplaced_header():
    closed, _ = pair()
    foreign = Segment(closed.sequence, closed, FOREIGN_UUID, previous_chain=5)
    return store([closed, foreign], head(slot(closed, 1)), [("misplaced", foreign.path, 0)])


@recipe
def not_compared_across_a_gap():
    first, second = pair()
    third = second.next().events(incident(6, second=5))
    end = first.marks[-2][0]
    forged = store([first, second, third], findings=[("missing", second.path, 0)], events=2)
    forged = edited(forged, second.path, lambda data: None)
    return edited(forged, first.path, lambda data: data[:end])


@recipe
def missing_first_and_another_named():
    first, second = pair(previous_first=3)
    return edited(store([first, second], findings=[("missing", first.path, 0)], events=0), first.path, lambda data: None)


@recipe
def missing_first_before_a_newer_version():
    first, second = pair(incompatible=1)
    found = [("missing", first.path, 0), ("unsupported", second.path, 0)]
    return edited(store([first, second], findings=found, events=0), first.path, lambda data: None)


@recipe
def trim_unfinished():
    closed, active = pair()
    return store([closed, active], head(slot(active, 1, first=active.first)))


@recipe
def trimmed_without_head():
    _, active = pair()
    active.written = active.written[3:]
    return store([active], b"")


# --- Recipes: rewritten segments ------------------------------------------------------------------


def rewritten_last(**fields):
    """A rewritten segment that is the last one, in a store whose HEAD names it."""
    segment = Segment(revision=1, **fields).events(incident(1)).events(incident(2, second=1))
    return segment.footer()


@recipe
def rewritten_and_last():
    return store([rewritten_last()])


@recipe
def rewritten_and_last_with_zeros():
    segment = rewritten_last()
    return store([segment], findings=[("corrupt", segment.path, segment.end)], tails=[(segment.path, bytes(8))])


@recipe
def rewritten_and_last_with_garbage():
    segment = rewritten_last()
    return store([segment], b"", [("corrupt", segment.path, segment.end)], tails=[(segment.path, b"torn?")])


@recipe
def rewritten_and_last_cut():
    segment = rewritten_last()
    at = segment.marks[1][0]
    forged = store([segment], b"", [("missing", segment.path, at)], 1)
    return edited(forged, segment.path, lambda data: data[:at])


@recipe
def rewritten_and_last_empty():
    segment = Segment(revision=1, end=4096)
    return store([segment], b"", [("corrupt", segment.path, 4096)])


@recipe
def rewritten_goes_beyond_its_end():
    segment = rewritten_last(end=4096)
    return store([segment], findings=[("stale", segment.path, segment.end)])


@recipe
def rewritten_ends_before_its_last_sequence():
    segment = rewritten_last(last=9)
    return store([segment], findings=[("missing", segment.path, segment.end)])


@recipe
def rewritten_ends_behind_its_last_sequence():
    segment = rewritten_last(last=1)
    return store([segment], findings=[("stale", segment.path, segment.end)])


@recipe
def rewritten_ends_with_another_chain():
    segment = rewritten_last(chain=9)
    return store([segment], findings=[("stale", segment.path, segment.end)])


@recipe
def rewritten_and_last_does_not_decode():
    segment = Segment(revision=1, last=9).events(incident(1), last_time=BEGINNING + 9).footer()
    return store([segment], findings=[("corrupt", segment.path, 4096)], events=0)


@recipe
def rewritten_and_last_of_header_only():
    segment = rewritten_last()
    forged = store([segment], b"", [("missing", segment.path, 4096)], 0)
    return edited(forged, segment.path, lambda data: data[:4096])


@recipe
def rewritten_is_compared_with_itself_first():
    closed = Segment(revision=1, last=9).events(incident(1)).footer()
    return store([closed, closed.next(previous_chain=5)], b"", [("missing", closed.path, closed.end)])


@recipe
def rewritten_and_another_next():
    closed = Segment(revision=1).events(incident(1)).footer()
    return store([closed, closed.next(appends=9)], findings=[("stale", closed.path, closed.end)])


@recipe
def rewritten_with_a_recovery():
    closed = Segment(revision=1).events(incident(1))
    closed.control(RECOVERY, struct.pack("<QQqIHH", 8192, 1, 0, 0, 1, 1) + b"q").footer()
    return store([closed, closed.next()])


@recipe
def rewritten_and_named_by_head():
    segment = rewritten_last()
    return store([segment], head(slot(segment, 1, durable_offset=4104, durable_sequence=1, durable_chain=7)))


@recipe
def footer_is_not_the_last():
    closed = Segment(revision=1).events(incident(1))
    at = closed.end
    closed.footer().events(incident(2, second=1))
    closed.fields.update(last=2, chain=closed.chain, end=closed.end)
    return store([closed, closed.next()], findings=[("corrupt", closed.path, at)], events=1)


@recipe
def footer_before_a_block_that_is_skipped():
    segment = rewritten_last()
    at = segment.marks[2][0]
    segment.control(200)
    segment.fields["end"] = segment.end
    return store([segment], findings=[("corrupt", segment.path, at)])


@recipe
def footer_before_damage():
    """What stands behind the footer is no valid block, so that the footer itself is right."""
    segment = rewritten_last()
    at = segment.end
    segment.control(200, payload_crc=1)
    segment.fields["end"] = segment.end
    return store([segment], findings=[("corrupt", segment.path, at)])


@recipe
def footer_is_judged_before_the_end():
    segment = rewritten_last(footer=4096, end=4096)
    return store([segment], findings=[("corrupt", segment.path, segment.marks[2][0])])


@recipe
def footer_of_another_length():
    closed = Segment(revision=1).events(incident(1))
    at = closed.end
    closed.index.append(bytes(32))
    closed.footer()
    return store([closed, closed.next()], findings=[("corrupt", closed.path, at)], events=1)


# --- Recipes: HEAD --------------------------------------------------------------------------------


@recipe
def head_of_equal_generations():
    segment = plain_segment()
    return store([segment], head(slot(segment, 3), slot(segment, 3, durable_chain=1)))


@recipe
def head_visible_mark_is_not_compared():
    segment = plain_segment()
    return store([segment], head(slot(segment, 3, visible_offset=7, visible_sequence=900, visible_chain=1)))


@recipe
def head_before_the_blocks():
    segment = plain_segment()
    return store([segment], head(slot(segment, 3, 0, durable_offset=0)), [("stale", "HEAD", 0)])


@recipe
def head_stale_sequence():
    segment = plain_segment()
    return store([segment], head(slot(segment, 3, 2, durable_sequence=2)), [("stale", "HEAD", 0)])


@recipe
def head_stale_behind_what_does_not_decode():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.events(incident(2, second=1), last_time=BEGINNING + 9 * SECOND).events(incident(3, second=10))
    found = [("corrupt", segment.path, at), ("stale", "HEAD", 0)]
    return store([segment], head(slot(segment, 3, durable_chain=1)), found, 1)


@recipe
def head_clean_with_a_block_of_another_place():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.events(incident(2, second=1), own_offset=4096)
    return store([segment], head(slot(segment, 1, 1, clean=True)), [("misplaced", segment.path, at)], 1)


@recipe
def head_clean_with_a_stale_block():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.events(incident(2, second=1), chain_before=5)
    return store([segment], head(slot(segment, 1, 1, clean=True)), [("stale", segment.path, at)], 1)


@recipe
def head_stale_in_a_closed_segment():
    closed, active = pair()
    found = [("torn", active.path, active.end), ("stale", "HEAD", 0)]
    return store([closed, active], head(slot(closed, 3, 2, durable_chain=1)), found, tails=[(active.path, b"torn")])


@recipe
def head_stale_with_a_torn_tail():
    segment = Segment().events(incident(1))
    found = [("torn", segment.path, segment.end), ("stale", "HEAD", 0)]
    return store([segment], head(slot(segment, 3, durable_sequence=9)), found, tails=[(segment.path, b"torn")])


@recipe
def head_past_a_closed_segment():
    closed, active = pair()
    return store([closed, active], head(slot(closed, 3, clean=True, durable_offset=1 << 40)))


@recipe
def head_names_a_bad_header():
    segment = plain_segment(incompatible=1)
    return store([segment], head(slot(segment, 1, durable_chain=1)), [("unsupported", segment.path, 0)], 0)


@recipe
def head_names_missing_far_away():
    closed, _ = pair()
    marks = dict(segment=900, visible_sequence=990, durable_sequence=950)
    return store([closed], head(slot(closed, 1, **marks)), [("missing", "log/%020d.seg" % 900, 0)])


@recipe
def head_promises_more_than_the_file():
    segment = Segment().events(incident(1))
    marks = dict(visible_sequence=9, durable_offset=1 << 40, durable_sequence=7)
    return store([segment], head(slot(segment, 1, **marks)), [("missing", segment.path, segment.end)])


@recipe
def head_of_another_major():
    segment = plain_segment()
    return store([segment], head(slot(segment, 3), slot(segment, 4, major=2, durable_chain=1)))


@recipe
def head_of_another_length():
    segment = plain_segment()
    return store([segment], head(slot(segment, 3), slot(segment, 4, length=1024, durable_chain=1)))


@recipe
def head_of_another_magic():
    segment = plain_segment()
    return store([segment], head(slot(segment, 3), slot(segment, 4, magic=b"STRATAXX", durable_chain=1)))


@recipe
def version_is_compared_before_the_previous():
    closed, _ = pair()
    active = closed.next(previous_first=0, previous_last=7, incompatible=1)
    return store([closed, active], findings=[("unsupported", active.path, 0)], events=3)


@recipe
def version_is_compared_before_the_store():
    """A segment of another store and of a newer version: nothing it says of itself can be relied on."""
    closed, _ = pair()
    foreign = Segment(closed.sequence, closed, FOREIGN_UUID, major=2)
    return store([closed, foreign], head(slot(closed, 1)), [("unsupported", foreign.path, 0)], 3)


@recipe
def previous_is_compared_before_the_store():
    closed, _ = pair()
    foreign = Segment(closed.sequence, closed, FOREIGN_UUID, previous_last=7)
    return store([closed, foreign], head(slot(closed, 1)), [("corrupt", foreign.path, 0)], 3)


@recipe
def unfinished_creation_with_a_bad_head():
    return Forged({"LOCK": b"", "HEAD": bytes(4608)}, [], 0, [])


@recipe
def torn_tail_that_counts_events():
    """Torn, with a header behind the tear that tells of events: nothing of them was acknowledged."""
    segment = Segment().events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1)).events(incident(3, second=2), in_group=True)
    forged = store([segment], b"", [("torn", segment.path, end)], 1)
    return edited(forged, segment.path, lambda data: flipped(data, end + 200))


# --- Recipes: headers of blocks -------------------------------------------------------------------


def header_of_length(length):
    """A closed segment whose only block has a header of another length, right in all else."""
    closed = Segment(header_length=length).events(incident(1))
    active = closed.next()
    return store([closed, active], findings=[("corrupt", closed.path, 4096)], events=0)


@recipe
def header_length_of_168():
    return header_of_length(168)


@recipe
def header_length_of_180():
    return header_of_length(180)


@recipe
def header_length_of_4104():
    return header_of_length(4104)


@recipe
def header_length_of_4096():
    return store([Segment(header_length=4096).events(incident(1)).events(incident(2))])


@recipe
def header_crc():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.events(incident(2, second=1)).events(incident(3, second=2))
    forged = store([segment], findings=[("corrupt", segment.path, at)], events=1)
    return edited(forged, segment.path, lambda data: flipped(data, at + 150))


@recipe
def raw_lengths_at_their_limits():
    segment = Segment().control(200, codec=LZ4, stored_as=b"\0", raw=255 + 64)
    return store([segment.control(200, codec=LZ4, stored_as=bytes(263_200), raw=64 << 20)])


@recipe
def torn_raw_length_past_64_mib():
    segment = Segment()
    segment.control(200, codec=LZ4, stored_as=bytes(263_200), raw=(64 << 20) + 1)
    return store([segment], b"", [("torn", segment.path, 4096)])


def near_the_last_sequence():
    """A trimmed store that holds the highest sequence that an event can have, and a control block behind it."""
    before = Segment((1 << 64) - 3).events(incident(1))
    before.written = []
    return before.next().events(incident(2, second=1)).control(200)


@recipe
def highest_sequence():
    segment = near_the_last_sequence()
    return store([segment], head(slot(segment, 1, first=segment.first)))


@recipe
def torn_past_the_highest_sequence():
    segment = near_the_last_sequence()
    end = segment.end
    segment.events(incident(3, second=2))
    return store([segment], b"", [("torn", segment.path, end)], 1)


def near_the_last_append(appends):
    """A trimmed store whose first segment says that `appends` appends stand before it, with one in it."""
    before = Segment(51)
    before.appends = appends
    return before.events(incident(1)).next()


@recipe
def highest_number_of_appends():
    segment = near_the_last_append((1 << 64) - 3).events(incident(2, second=1)).control(200)
    segment.written = segment.written[1:]
    return store([segment], head(slot(segment, 1, first=segment.first)))


@recipe
def torn_past_the_highest_number_of_appends():
    segment = near_the_last_append((1 << 64) - 2)
    end = segment.end
    segment.events(incident(2, second=1))
    return store([segment], b"", [("torn", segment.path, end)], 0)


@recipe
def span_past_the_file():
    closed = Segment().events(incident(1)).events(incident(2, second=1), pad_to=4096)
    at = closed.marks[1][0]
    forged = store([closed, closed.next()], findings=[("corrupt", closed.path, at)], events=1)
    return edited(forged, closed.path, lambda data: data[:-8])


@recipe
def control_block_counts_appends():
    segment = Segment().control(200, appends=1)
    return store([segment], findings=[("stale", segment.path, 4096)], events=0)


@recipe
def control_block_moves_the_chain():
    segment = Segment().control(200, chain_after=5)
    return store([segment], findings=[("stale", segment.path, 4096)], events=0)


@recipe
def torn_before_a_foreign_header():
    return torn_with_header_behind(uuid=FOREIGN_UUID)


@recipe
def torn_before_a_header_of_another_offset():
    return torn_with_header_behind(own_offset=1 << 20)


@recipe
def torn_before_a_bad_header():
    forged = torn_with_header_behind()
    (path,) = [path for path in forged.files if path.startswith("log/")]
    end = forged.findings[0][2]
    at = forged.files[path].index(b"STRB", end + 8)
    return edited(forged, path, lambda data: flipped(data, at + 150))


@recipe
def torn_before_a_header_of_an_impossible_length():
    segment = Segment(epoch=2).events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1))
    segment.header_length = 180
    segment.events(incident(3, second=2))
    forged = store([segment], head(slot(segment, 1, 1)), [("torn", segment.path, end)], 1)
    return edited(forged, segment.path, lambda data: flipped(data, end + 200))


@recipe
def torn_before_a_header_longer_than_the_file():
    segment = Segment(epoch=2).events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1))
    cut = segment.end + 176
    segment.control(200, length=4096)
    forged = store([segment], head(slot(segment, 1, 1)), [("torn", segment.path, end)], 1)
    return edited(forged, segment.path, lambda data: flipped(data, end + 200)[:cut])


@recipe
def corrupt_before_a_header_at_the_very_end():
    segment = Segment().events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1))
    cut = segment.end + 176
    segment.events(incident(3, second=2))
    forged = store([segment], head(slot(segment, 1, 1)), [("corrupt", segment.path, end)], 1)
    return edited(forged, segment.path, lambda data: flipped(data, end + 200)[:cut])


# --- Recipes: headers of segments and HEAD, further -----------------------------------------------


def header_with(kind, **fields):
    segment = plain_segment(**fields)
    return store([segment], findings=[(kind, segment.path, 0)], events=0)


@recipe
def header_magic():
    return header_with("corrupt", magic=b"STRATASX")


@recipe
def header_length():
    return header_with("corrupt", length=8192)


@recipe
def segment_without_bytes():
    closed, active = pair()
    found = [("corrupt", closed.path, 0)]
    return edited(store([closed, active], findings=found, events=0), closed.path, lambda data: b"")


@recipe
def head_newest_does_not_verify():
    segment = plain_segment()
    return store([segment], head(slot(segment, 3), flipped(slot(segment, 4, durable_chain=1), 200)))


@recipe
def head_names_what_a_header_misses():
    first, second = pair()
    third = second.next().events(incident(6, second=5))
    forged = store([first, second, third], head(slot(second, 1)), [("missing", second.path, 0)], 3)
    return edited(forged, second.path, lambda data: None)


@recipe
def head_clean_and_ahead():
    segment = Segment().events(incident(1)).events(incident(2, second=1))
    at = segment.marks[1][0]
    forged = store([segment], head(slot(segment, 1, clean=True)), [("missing", segment.path, at)], 1)
    return edited(forged, segment.path, lambda data: data[:at])


@recipe
def head_ahead_of_a_cut_block():
    segment = Segment().events(incident(1)).events(incident(2, second=1))
    at = segment.marks[1][0]
    forged = store([segment], findings=[("corrupt", segment.path, at)], events=1)
    return edited(forged, segment.path, lambda data: data[:-8])


@recipe
def head_of_a_closed_segment_counts_nothing():
    closed, active = pair()
    at = active.marks[0][0]
    forged = store([closed, active], head(slot(closed, 1, visible_sequence=900)), [("corrupt", active.path, at)], 3)
    return edited(forged, active.path, lambda data: flipped(data, at + 200))


@recipe
def damage_in_content_counts_what_stands_behind_it():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.events(incident(2, second=1), flags=1).events(incident(3, second=2))
    return store([segment], head(slot(segment, 1, 1)), [("unsupported", segment.path, at)], 1)


# --- Recipes: footers, further --------------------------------------------------------------------


@recipe
def footer_counts_wrongly():
    closed = Segment(revision=1).events(incident(1))
    at = closed.end
    closed.control(FOOTER, struct.pack("<II", 2, 0) + closed.index[0])
    closed.fields.update(footer=at, last=1, chain=closed.chain, end=closed.end)
    return store([closed, closed.next()], findings=[("corrupt", closed.path, at)], events=1)


@recipe
def footer_too_short():
    segment = Segment(revision=1).control(FOOTER, bytes(4))
    segment.fields.update(footer=4096, last=0, chain=0, end=segment.end)
    return store([segment], findings=[("corrupt", segment.path, 4096)], events=0)


@recipe
def footer_of_no_blocks():
    return store([Segment(revision=1).footer()])


@recipe
def footer_named_by_a_segment_as_first_written():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.footer()
    return store([segment], findings=[("corrupt", segment.path, at)], events=1)


@recipe
def footer_is_not_the_last_behind_damage():
    closed = Segment(revision=1)
    closed.events(incident(1), last_time=BEGINNING + 9).footer().events(incident(2, second=1))
    closed.fields.update(last=2, chain=closed.chain, end=closed.end)
    return store([closed, closed.next()], findings=[("corrupt", closed.path, 4096)], events=0)


@recipe
def unsupported_event_kind_0():
    event = Event("a", 1)
    event.kind = 0
    segment = Segment().events(Append(BEGINNING, [event]))
    return store([segment], findings=[("unsupported", segment.path, 4096)], events=0)
