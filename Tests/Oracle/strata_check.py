"""A check of a whole store, by "What a check reports", and a reader that stops at the first damage."""

import struct
from collections import namedtuple

from strata_codecs import Malformed, xxh64
from strata_payloads import Unsupported, decode_block, footer_entry
from strata_segment import EVENTS, FOOTER, Place, headers_behind, judge_block, judge_segment_header
from strata_store import SEQUENCE_MAX, only_zeros, read_head, segment_path, segments_of

ERASED = 2
# The mark in the header of a segment that was rewritten before marks existed.
NO_MARK = 0

Finding = namedtuple("Finding", "kind file offset first last")
File = namedtuple("File", "first path trouble header data")


class Check:
    """Checks a whole store by "What a check reports", and collects at most one finding per file.

    `visit(block, file, events)` is called for each valid, decodable block. With `stops_at_damage`
    no block after the first finding is visited.
    """

    def __init__(self, store, visit=None, stops_at_damage=False):
        self.store = store
        self.visit = visit
        self.stops_at_damage = stops_at_damage
        self.findings = []
        self.segments = self.blocks = self.events = 0
        self.head = read_head(store)
        self.names = segments_of(store)
        self.uuid = self.head.uuid if self.head else None
        if not self.names and not self.head and not store.was_begun():
            raise FileNotFoundError("no store: neither a segment nor HEAD, LOCK or log/")

    def run(self):
        walk_of_head = following = None
        for index, first in enumerate(self.names):
            file = following or self.open(index)
            following = self.open(index + 1) if index + 1 < len(self.names) else None
            self.segments += 1
            if self.uuid is None and file.trouble is None and file.header.first == first:
                self.uuid = file.header.uuid
            self.check_before(index, file)
            if self.stops_at_damage and self.findings:
                return self
            walk = self.check_segment(file, following)
            if self.head and self.head.segment == first:
                walk_of_head = walk
        if self.head:
            self.check_head(walk_of_head)
        return self

    def open(self, index):
        path = segment_path(self.names[index])
        data = self.store.read(path)
        return File(self.names[index], path, *judge_segment_header(data, is_first=index == 0), data)

    def report(self, kind, file, offset, first, last):
        if all(finding.file != file for finding in self.findings):
            self.findings.append(Finding(kind, file, offset, first, max(last, first - 1)))

    def header_trouble(self, file):
        if file.trouble is not None:
            return file.trouble
        if file.header.first != file.first or file.header.uuid != self.uuid:
            return "misplaced"
        return None

    def check_before(self, index, file):
        """Whether the segment that must come before this one does."""
        named = None
        if index == 0:
            if self.head and self.head.first < file.first:
                named = self.head.first
        elif self.header_trouble(file) is None and file.header.previous_first != self.names[index - 1]:
            named = file.header.previous_first
        if named is not None:
            self.report("missing", segment_path(named), 0, named, file.first - 1)

    def check_segment(self, file, following):
        """The walk through a segment's blocks, or None if its header has a finding."""
        trouble = self.header_trouble(file)
        if trouble is not None:
            self.report(trouble, file.path, 0, file.first, file.first - 1)
            return None
        walk = Walk(self, file)
        if walk.damage is not None:
            kind, block = walk.damage
            self.report(kind, file.path, block.own_offset, block.first, self.range_end(file, following, walk))
        elif following or walk.place.rewritten:
            self.check_closed(file, following, walk)
        else:
            self.check_active(file, walk)
        return walk

    def range_end(self, file, following, walk):
        """The last sequence that cannot be relied on after a finding in a segment."""
        if following:
            return following.first - 1
        last = walk.place.sequence - 1
        if self.head and self.head.segment == file.first:
            last = max(last, self.counted_by_head())
        if walk.place.rewritten:
            last = max(last, file.header.last)
        for block in headers_behind(file.data, walk.place):
            last = max(last, block.first + block.events - 1)
        return min(last, SEQUENCE_MAX)

    def counted_by_head(self):
        return max(self.head.visible_sequence, self.head.durable_sequence)

    def check_closed(self, file, following, walk):
        """Checks a closed segment, or a rewritten one, even if it is the last: every byte must be right."""
        place, header, size = walk.place, file.header, len(file.data)
        kind = None
        if place.offset < size:
            kind, _ = judge_block(file.data, place.offset, place)
        elif place.rewritten and size != header.end:
            kind = "missing" if size < header.end else "stale"
        elif place.rewritten and (walk.last_block is None or walk.last_block.kind != FOOTER):
            kind = "corrupt"
        else:
            if place.rewritten:
                kind = compare_ends(place, header.last, (header.chain,))
                if kind is None and header.mark not in (NO_MARK, walk.mark):
                    kind = "stale"
            if kind is None and following and self.continues_in(file, following):
                then = following.header
                kind = compare_ends(place, then.previous_last, (then.previous_chain, then.previous_time, then.appends))
        if kind is not None:
            self.report(kind, file.path, place.offset, place.sequence, self.range_end(file, following, walk))

    def continues_in(self, file, following):
        return self.header_trouble(following) is None and following.header.previous_first == file.first

    def check_active(self, file, walk):
        """Applies the rule that tells a torn tail from damage."""
        place, data, size = walk.place, file.data, len(file.data)
        head = self.head if self.head and self.head.segment == file.first else None
        promise = head.durable_offset if head else 0
        for block in headers_behind(data, place):
            promise = max(promise, block.synced)
        is_corrupt = promise > place.offset
        if head and head.flags & 1:
            is_corrupt = is_corrupt or not only_zeros(data, head.durable_offset, size)
        if is_corrupt:
            if place.offset >= size and size < promise:
                kind = "missing"
            else:
                kind, _ = judge_block(data, place.offset, place)
            self.report(kind, file.path, place.offset, place.sequence, self.range_end(file, None, walk))
        elif not only_zeros(data, place.offset, size):
            self.report("torn", file.path, place.offset, place.sequence, place.sequence - 1)

    def check_head(self, walk):
        """Checks HEAD itself; `walk` is that of its segment, if its blocks were examined."""
        head = self.head
        if head.segment not in self.names:
            self.report("missing", segment_path(head.segment), 0, head.segment, head.durable_sequence)
        elif walk and not walk.place.rewritten and head.durable_offset <= walk.place.offset:
            if walk.at_head_mark != (head.durable_sequence, head.durable_chain):
                self.report("stale", "HEAD", 0, walk.place.sequence, self.counted_by_head())


def compare_ends(place, last, others):
    """What is wrong with the end of a segment; `others` are the chain and optionally time and appends."""
    if place.sequence - 1 < last:
        return "missing"
    if place.sequence - 1 > last or (place.chain, place.time, place.appends)[: len(others)] != others:
        return "stale"
    return None


class Walk:
    """The longest valid prefix of a segment, and the first block in it that does not decode.

    `place` is the end of the prefix, `damage` the (class, block) of the block that does not decode,
    `at_head_mark` the (sequence, chain) at HEAD's durable offset if HEAD names this segment, `last_block` the
    last valid block, `mark` the mark of what is erased.
    """

    def __init__(self, check, file):
        self.place = Place(file.header)
        self.damage = None
        self.last_block = None
        self.at_head_mark = None
        self.mark = xxh64(b"")
        mark = check.head.durable_offset if check.head else None
        index = []
        while True:
            place = self.place
            if place.offset == mark:
                self.at_head_mark = (place.sequence - 1, place.chain)
            trouble, block = judge_block(file.data, place.offset, place)
            if trouble is not None:
                return
            if self.damage is None and self.last_block and self.last_block.kind == FOOTER:
                self.damage = ("corrupt", self.last_block)
            if self.damage is None:
                self.decode(check, file, block, index)
            self.last_block = block
            place.pass_over(block)

    def decode(self, check, file, block, index):
        check.blocks += 1
        try:
            events = decode_block(file.data, block, file.header, index)
        except Malformed:
            self.damage = ("corrupt", block)
            return
        except Unsupported:
            self.damage = ("unsupported", block)
            return
        check.events += len(events)
        for event in events:
            if event.kind == ERASED:
                self.mark = xxh64(struct.pack("<QQ", self.mark, event.sequence))
        if block.kind == EVENTS:
            index.append(footer_entry(block))
        if check.visit:
            check.visit(block, file, events)


def exit_code(findings):
    if not findings:
        return 0
    return 2 if all(finding.kind == "torn" for finding in findings) else 65


def verify(store):
    """Checks a whole store."""
    return Check(store).run()


def read_events(store):
    """(events up to X or to the first damage, the check that stopped there)."""
    events = []
    check = Check(store, lambda block, file, found: events.extend(found), stops_at_damage=True)
    return events, check.run()
