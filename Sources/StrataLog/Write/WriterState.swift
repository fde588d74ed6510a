// What a writer knows about the store whose lock it holds.

internal import StrataBase

/// The end of the log as its writer made it, and the files that it writes.
///
/// Created by an open from what it found, at first or after a suspension. Used by the thread that has the turn.
struct WriterState: ~Copyable {
  let lock: StoreLock
  var head: HeadFile
  private(set) var active: SegmentHandle
  /// The written end of the log.
  var link: BlockLink
  /// The end of the log that is known to be on disk.
  var durable: LogMark
  var preallocation: Preallocation
  var frame: GroupFrame
  let epoch: UInt64
  let logBegin: UInt64
  /// True while there is a torn tail after the end of the log.
  var isTorn: Bool
  /// The note of a tail that was cut off, if its RECOVERY block has not been written yet.
  var recovery: RecoveryNote?
  /// Whether HEAD says that an erasure may be unfinished.
  var isErasing: Bool
  /// Whether no earlier writer can write to the active segment's file any more.
  private(set) var isSettled: Bool
  var isHeadUnsynced = false
  var lastHeadSync = MonotonicTime.now()

  /// True if all of the log is known to be on disk.
  var isDurable: Bool { durable == link.mark }

  /// The end as readers may see it.
  var mark: VisibleMark {
    VisibleMark(
      segment: active.header.segment, revision: active.header.revision, visible: link.mark,
      durable: durable, time: link.lastTime, appends: link.appends, logBegin: logBegin)
  }

  /// The next content of HEAD, except for its generation, which the file counts.
  func headSlot(isClean: Bool, durability: Durability) -> HeadSlot {
    HeadSlot(
      storeID: active.header.storeID, generation: 0, segment: active.header.segment, epoch: epoch,
      isClean: isClean, durability: durability.rawValue, visible: link.mark, durable: durable,
      lastTime: link.lastTime, logBegin: logBegin, isErasing: isErasing)
  }

  /// The header of the segment that continues where the active one ends.
  func nextHeader(created: Int64) -> SegmentHeader {
    assert(link.nextSequence > active.header.firstSequence, "a closed segment holds events")
    var header = SegmentHeader(
      storeID: active.header.storeID, firstSequence: link.nextSequence, epoch: epoch, created: created)
    header.previousFirst = active.header.firstSequence
    header.previousLast = link.lastSequence
    header.previousChain = link.chain
    header.previousTime = link.lastTime
    header.appendsBefore = link.appends
    return header
  }

  /// Continues in a segment that this writer has created.
  mutating func begin(_ next: SegmentHandle) {
    let link = BlockLink(next.header)
    assert(link.nextSequence == self.link.nextSequence, "a segment begins where the previous one ends")
    assert(link.chain == self.link.chain, "a segment continues the chain of the previous one")
    active = next
    isSettled = true
    self.link = link
    durable = link.mark
    preallocation.beginSegment(end: link.offset)
    frame.context.segment = next.header.segment
  }

  /// Asserts what holds between two steps of the writer.
  func assertIsConsistent() {
    assert(durable.offset <= link.offset, "nothing is durable that is not written")
    assert(durable.sequence <= link.lastSequence, "no event is durable that is not written")
    assert(preallocation.end >= link.offset, "the zeros end at or after the end of the log")
    assert(frame.context.segment == active.header.segment, "groups are framed for the active segment")
    assert(link.nextSequence >= active.header.firstSequence, "the end is not before the active segment")
  }
}
