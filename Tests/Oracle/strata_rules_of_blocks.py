"""Stores in which one rule about valid blocks is broken, or holds although it may seem broken."""

from strata_build import *  # noqa: F403
from strata_recipes import RECIPES, incident, recipe


def second_is(kind, *appends, then=True, **options):
    """A store whose second block is of class `kind`, between valid blocks, all of which HEAD promises."""
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


def torn_with_header_behind(**fields):
    """A torn block followed by a valid block whose promise the rule must ignore."""
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
def torn_tail_that_counts_events():
    """Torn, with a header after the tear that counts events, none of which were acknowledged."""
    segment = Segment().events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1)).events(incident(3, second=2), in_group=True)
    forged = store([segment], b"", [("torn", segment.path, end)], 1)
    return edited(forged, segment.path, lambda data: flipped(data, end + 200))


def header_of_length(length):
    """A closed segment whose only block has a header of another length and is otherwise valid."""
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
    """A trimmed store that holds the highest sequence that an event can have, followed by a control block."""
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
    """A trimmed store whose first segment counts `appends` appends before it, and holds one."""
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
