"""Stores about segments: their headers, the links between them, and the promises of a rewrite."""

import struct

from strata_build import *  # noqa: F403
from strata_recipes import incident, pair, plain_segment, recipe


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


def closed_and(**fields):
    """A closed segment whose end differs from what the header of an empty active segment names."""
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


def marked(mark, *events):
    """A rewritten segment whose header holds a mark."""
    segment = Segment(revision=1, mark=mark).events(Append(BEGINNING, list(events))).footer()
    return store([segment], findings=[("stale", segment.path, segment.end)])


@recipe
def marked_as_if_more_were_erased():
    erased = Segment(revision=1).events(Append(BEGINNING, [Event("a/1", 1).erased()]))
    return marked(erased.erasures, Event("a/1", 1))


@recipe
def marked_as_if_less_were_erased():
    return marked(Segment().erasures, Event("a/1", 1).erased())


@recipe
def marked_as_if_another_were_erased():
    erased = Segment(revision=1).events(Append(BEGINNING, [Event("a/1", 1), Event("a/1", 2).erased()]))
    return marked(erased.erasures, Event("a/1", 1).erased(), Event("a/1", 2))


@recipe
def marked_and_ends_with_another_chain():
    """The end of a segment is compared before its mark, and one finding is enough."""
    segment = Segment(revision=1, mark=7, last=9).events(incident(1)).footer()
    return store([segment], findings=[("missing", segment.path, segment.end)])


@recipe
def marked_as_first_written():
    """The mark of a segment that was never rewritten is ignored."""
    closed = plain_segment(mark=7)
    return store([closed])


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
    """The bytes after the footer are not a valid block, so the footer itself is right."""
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


@recipe
def version_is_compared_before_the_previous():
    closed, _ = pair()
    active = closed.next(previous_first=0, previous_last=7, incompatible=1)
    return store([closed, active], findings=[("unsupported", active.path, 0)], events=3)


@recipe
def version_is_compared_before_the_store():
    """A segment of another store and of a newer version, whose own fields cannot be relied on."""
    closed, _ = pair()
    foreign = Segment(closed.sequence, closed, FOREIGN_UUID, major=2)
    return store([closed, foreign], head(slot(closed, 1)), [("unsupported", foreign.path, 0)], 3)


@recipe
def previous_is_compared_before_the_store():
    closed, _ = pair()
    foreign = Segment(closed.sequence, closed, FOREIGN_UUID, previous_last=7)
    return store([closed, foreign], head(slot(closed, 1)), [("corrupt", foreign.path, 0)], 3)


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
