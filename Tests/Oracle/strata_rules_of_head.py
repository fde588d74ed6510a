"""Stores in which HEAD disagrees with the segments, or holds unusual values."""

from strata_build import *  # noqa: F403
from strata_recipes import incident, pair, plain_segment, recipe


@recipe
def head_newest_first():
    segment = plain_segment()
    return store([segment], head(slot(segment, 9), slot(segment, 8, 2, durable_chain=1)))


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
def unfinished_creation_with_a_bad_head():
    return Forged({"LOCK": b"", "HEAD": bytes(4608)}, [], 0, [])


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
