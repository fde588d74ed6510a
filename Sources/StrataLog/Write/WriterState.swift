// What a writer knows of the store that it has the lock of.

internal import StrataBase

/// The end of the log as its writer made it, and the files that it is written to.
///
/// Made by an open from what it found, the first one or the one after a suspension. Belongs to whoever has the turn.
struct WriterState: ~Copyable {
  let lock: StoreLock
  var head: HeadFile
  private(set) var active: SegmentHandle
  /// The end of the log as written.
  var link: BlockLink
  /// The end of the log as known to be on disk.
  var durable: LogMark
  var preallocation: Preallocation
  var frame: GroupFrame
  let epoch: UInt64
  let logBegin: UInt64
  /// True while a torn tail stands behind the end of the log.
  var isTorn: Bool
  /// A tail that was cut off, and whose RECOVERY block could not be written yet.
  var recovery: RecoveryNote?
  /// What HEAD says of erasures.
  var isErasing: Bool
  /// Whether no earlier writer can write to the active segment's file any more.
  private(set) var isSettled: Bool
  var isHeadUnsynced = false
  var lastHeadSync = MonotonicTime.now()

  /// True where all of the log is known to be on disk.
  var isDurable: Bool { durable == link.mark }

  /// The end as everybody may see it.
  var mark: VisibleMark {
    VisibleMark(
      segment: active.header.segment, revision: active.header.revision, visible: link.mark,
      durable: durable, time: link.lastTime, appends: link.appends, logBegin: logBegin)
  }

  /// What HEAD is to say, but for its generation, which the file counts.
  func headSlot(isClean: Bool, durability: Durability) -> HeadSlot {
    HeadSlot(
      storeID: active.header.storeID, generation: 0, segment: active.header.segment, epoch: epoch,
      isClean: isClean, durability: durability.rawValue, visible: link.mark, durable: durable,
      lastTime: link.lastTime, logBegin: logBegin, isErasing: isErasing)
  }

  /// The header of the segment that goes on where the active one ends.
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

  /// Goes on in a segment that this writer has made.
  mutating func begin(_ next: SegmentHandle) {
    let link = BlockLink(next.header)
    assert(link.nextSequence == self.link.nextSequence, "a segment goes on where the last one ends")
    assert(link.chain == self.link.chain, "a segment continues the chain of the last one")
    active = next
    isSettled = true
    self.link = link
    durable = link.mark
    preallocation.beginSegment(end: link.offset)
    frame.context.segment = next.header.segment
  }

  /// What holds between two steps of the writer.
  func assertIsConsistent() {
    assert(durable.offset <= link.offset, "nothing is durable that is not written")
    assert(durable.sequence <= link.lastSequence, "no event is durable that is not written")
    assert(preallocation.end >= link.offset, "the zeros begin at or after the end of the log")
    assert(frame.context.segment == active.header.segment, "groups are framed for the active segment")
    assert(link.nextSequence >= active.header.firstSequence, "the end is not before the active segment")
  }
}
