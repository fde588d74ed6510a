"""Damaged stores: with bits flipped, files cut or moved, or blocks with wrong values under valid checksums."""

import struct

from strata_build import *  # noqa: F403
from strata_recipes import incident, pair, plain_segment, recipe, second_block


@recipe
def torn_then_valid_later():
    segment = Segment().events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1)).events(incident(3, second=2))
    forged = store([segment], head(slot(segment, 1, 1)), [("corrupt", segment.path, end)], 1)
    return edited(forged, segment.path, lambda data: flipped(data, end + 200))


@recipe
def head_clean_with_tail():
    segment = Segment().events(incident(1)).events(incident(2, second=1))
    return store([segment], head(slot(segment, 1, 1, clean=True)), [("corrupt", segment.path, segment.end)])


@recipe
def head_clean_with_garbage():
    segment = Segment().events(incident(1))
    tail = bytes(16) + b"x"
    found = [("corrupt", segment.path, segment.end)]
    return store([segment], head(slot(segment, 1, clean=True)), found, tails=[(segment.path, tail)])


@recipe
def head_ahead():
    segment = Segment().events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1))
    forged = store([segment], findings=[("missing", segment.path, end)], events=1)
    return edited(forged, segment.path, lambda data: data[:end])


@recipe
def head_ahead_of_zeros():
    segment = Segment().events(incident(1))
    end = segment.end
    segment.events(incident(2, second=1))
    forged = store([segment], findings=[("corrupt", segment.path, end)], events=1)
    return edited(forged, segment.path, lambda data: data[:end].ljust(len(data) + 4096, b"\0"))


@recipe
def head_stale_chain():
    segment = plain_segment()
    return store([segment], head(slot(segment, 1, 2, durable_chain=1)), [("stale", "HEAD", 0)])


@recipe
def head_stale_offset():
    segment = plain_segment()
    return store([segment], head(slot(segment, 1, 2, durable_offset=4104)), [("stale", "HEAD", 0)])


@recipe
def head_names_missing():
    closed, active = pair()
    found = [("missing", active.path, 0)]
    return edited(store([closed, active], findings=found, events=3), active.path, lambda data: None)


@recipe
def only_head():
    segment = plain_segment()
    return edited(store([segment], findings=[("missing", segment.path, 0)], events=0), segment.path, lambda data: None)


@recipe
def bad_decode():
    closed = Segment().events(incident(1))
    first = closed.end
    append = incident(2, second=1)
    closed.events(append, raw=append.encoded()[:-1])
    active = closed.next().events(incident(3, second=2))
    second = active.end
    active.events(incident(4, second=3), chain_after=99).events(incident(5, second=4))
    return store([closed, active], findings=[("corrupt", closed.path, first), ("corrupt", active.path, second)], events=1)


@recipe
def bad_counts():
    append = incident(2, second=1)
    segment = Segment().events(incident(1))
    at = segment.end
    segment.events(append, raw=append.encoded() + incident(3, second=1).encoded())
    return store([segment], findings=[("corrupt", segment.path, at)], events=1)


@recipe
def bad_times():
    segment = Segment().events(incident(1))
    at = segment.end
    segment.events(incident(2, second=1), last_time=BEGINNING + 9 * SECOND)
    return store([segment], findings=[("corrupt", segment.path, at)], events=1)


@recipe
def bomb():
    segment, at = second_block(codec=LZ4, stored=lz4(bytes(40)), **{"raw": bytes(1 << 16)})
    return store([segment], findings=[("corrupt", segment.path, at)], events=1)


@recipe
def bomb_in_ratio():
    append = incident(2, second=1)
    segment, at = second_block(codec=LZ4, stored=lz4(append.encoded()), **{"raw": bytes(20000)})
    return store([segment], findings=[("corrupt", segment.path, at)], events=1)


@recipe
def nonshortest_varint():
    append = incident(2, second=1)
    body = append.encoded()
    assert body[0] < 128
    segment, at = second_block(raw=bytes([body[0] | 128, 0]) + body[1:])
    return store([segment], findings=[("corrupt", segment.path, at)], events=1)


@recipe
def wrong_padding():
    segment = Segment().events(incident(1), pad_to=4096)
    at = segment.end - 8
    forged = store([segment], findings=[("corrupt", segment.path, 4096)], events=0)
    return edited(forged, segment.path, lambda data: flipped(data, at))


@recipe
def missing_middle():
    first, second = pair()
    third = second.next().events(incident(6, second=5))
    forged = store([first, second, third], findings=[("missing", second.path, 0)], events=3)
    return edited(forged, second.path, lambda data: None)


@recipe
def missing_first():
    first, second = pair()
    return edited(store([first, second], findings=[("missing", first.path, 0)], events=0), first.path, lambda data: None)


@recipe
def missing_end():
    closed, active = pair()
    end = closed.marks[-2][0]
    forged = store([closed, active], findings=[("missing", closed.path, end)], events=2)
    return edited(forged, closed.path, lambda data: data[:end])


@recipe
def closed_cut_inside_a_block():
    closed, active = pair()
    forged = store([closed, active], findings=[("corrupt", closed.path, closed.marks[-2][0])], events=2)
    return edited(forged, closed.path, lambda data: data[:-8])


@recipe
def closed_with_zeros():
    closed, active = pair()
    return store([closed, active], findings=[("corrupt", closed.path, closed.end)], events=3, tails=[(closed.path, bytes(8))])


@recipe
def closed_goes_beyond():
    closed = Segment().events(incident(1)).events(incident(2, second=1))
    active = closed.next().events(incident(3, second=2))
    closed.events(incident(3, second=2))
    return store([closed, active], findings=[("stale", closed.path, closed.end)], events=3)


@recipe
def swapped_blocks():
    closed, active = pair()
    first, second, third = closed.marks[1][0], closed.marks[2][0], closed.marks[3][0]
    forged = store([closed, active], findings=[("misplaced", closed.path, first)], events=1)
    return edited(forged, closed.path, lambda d: d[:first] + d[second:third] + d[first:second] + d[third:])


@recipe
def swapped_in_active():
    segment = pair()[0]
    first, second = segment.marks[1][0], segment.marks[2][0]
    forged = store([segment], findings=[("misplaced", segment.path, first)], events=1)
    return edited(forged, segment.path, lambda d: d[:first] + d[second:] + d[first:second])


@recipe
def stale_block():
    segment, at = second_block(chain_before=5)
    closed = segment
    return store([closed, closed.next()], findings=[("stale", closed.path, at)], events=1)


@recipe
def stale_epoch():
    segment = Segment(epoch=4).events(incident(1))
    at = segment.end
    segment.events(incident(2, second=1), epoch=3)
    return store([segment], findings=[("stale", segment.path, at)], events=1)


@recipe
def foreign_segment():
    closed, active = pair()
    foreign = Segment(closed.sequence, closed, FOREIGN_UUID).events(incident(4, second=3))
    forged = store([closed, active], findings=[("misplaced", active.path, 0)], events=3)
    return edited(forged, active.path, lambda data: foreign.bytes())


@recipe
def foreign_block():
    segment, at = second_block(uuid=FOREIGN_UUID)
    return store([segment], findings=[("misplaced", segment.path, at)], events=1)


@recipe
def misnamed_segment():
    closed, active = pair()
    forged = store([closed, active], findings=[("misplaced", "log/%020d.seg" % 5, 0), ("missing", active.path, 0)], events=3)
    forged.files["log/%020d.seg" % 5] = forged.files.pop(active.path)
    return forged


@recipe
def bad_segment_header():
    closed, active = pair()
    return edited(
        store([closed, active], findings=[("corrupt", closed.path, 0)], events=0),
        closed.path,
        lambda data: flipped(data, 2000),
    )


@recipe
def short_segment():
    closed, active = pair()
    found = [("corrupt", active.path, 0)]
    return edited(store([closed, active], findings=found, events=3), active.path, lambda data: data[:4095])


@recipe
def footer_cut():
    closed = Segment(revision=1).events(incident(1))
    end = closed.end
    closed.footer()
    active = closed.next().events(incident(2, second=1))
    forged = store([closed, active], findings=[("missing", closed.path, end)], events=1)
    return edited(forged, closed.path, lambda data: data[:end])


@recipe
def footer_lies():
    closed = Segment(revision=1).events(incident(1))
    end = closed.end
    closed.index[0] = closed.index[0][:-8] + struct.pack("<Q", 4104)
    closed.footer()
    active = closed.next().events(incident(2, second=1))
    return store([closed, active], findings=[("corrupt", closed.path, end)], events=1)
