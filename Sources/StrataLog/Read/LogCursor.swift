// Walks the event blocks of the whole log from any sequence: the only read path, for replay and for live events.

/// What cursors and seeks read from: the segments, and the visible end.
package struct LogSource: Sendable {
  package let catalog: SegmentCatalog
  package let tail: VisibleTail

  package init(catalog: SegmentCatalog, tail: VisibleTail) {
    self.catalog = catalog
    self.tail = tail
  }

  /// The offset at which reading of a segment ends: the visible or the durable mark if it is the active one, otherwise
  /// the end of its file. If another process closed the segment and replaced its file since, the mark is not an offset
  /// in the new file.
  package func end(
    of handle: SegmentHandle, in mark: VisibleMark, durably isDurable: Bool = false
  ) throws(StoreError) -> UInt64 {
    if handle.header.segment == mark.segment, handle.header.revision == mark.revision {
      return isDurable ? mark.durable.offset : mark.visible.offset
    }
    if handle.header.isRewritten { return handle.header.rewrittenEnd }
    return UInt64(try handle.file.size())
  }
}

/// A position from which blocks are pulled. Belongs to one consumer; every call blocks for as long as the disk takes.
package struct LogCursor: ~Copyable {
  private let source: LogSource
  /// The next sequence to deliver.
  package private(set) var nextSequence: UInt64
  /// True if the cursor begins after the largest possible sequence, where no event can ever follow.
  private let isBeyondAll: Bool
  /// Stops at the durable mark instead of the visible one.
  package let isDurableOnly: Bool
  /// The chain after `nextSequence − 1`, once known.
  package private(set) var chain: UInt64?
  private var segment: SegmentHandle?
  /// The value of `SegmentCatalog.takeovers` when the segment was found.
  private var takeovers: UInt64 = 0
  private var blocks: BlockSource?
  private var offset: UInt64 = 0
  /// Whether `offset` is the end of the block that was delivered last. After a lookup it is not: the block there may
  /// begin before `nextSequence`.
  private var isBehindBlock = false
  private let step: Int

  /// The sequence before the next one: the last one delivered, or where the cursor began. For a cursor after the
  /// largest possible sequence it is that number, and `nextSequence` is 0.
  package var lastSequence: UInt64 { nextSequence &- 1 }

  /// Begins after `sequence`, which may lie in the future.
  package init(_ source: LogSource, after sequence: UInt64, isDurableOnly: Bool = false, step: Int = 1 << 20)
  {
    self.source = source
    nextSequence = sequence &+ 1
    isBeyondAll = sequence == .max
    self.isDurableOnly = isDurableOnly
    self.step = step
  }

  /// Goes on at a later sequence: the blocks in between are not read, and so not checked against each other. Does nothing
  /// if the cursor is there or past it already.
  package mutating func skip(to sequence: UInt64) {
    guard sequence > nextSequence, !isBeyondAll else { return }
    nextSequence = sequence
    chain = nil
    isBehindBlock = false
    segment = nil
  }

  /// The next event block that holds `nextSequence`, or nil at the end. The first block may begin earlier: skip the
  /// events before the value that `nextSequence` had before the call.
  package mutating func next() throws(StoreError) -> DecodedBlock? {
    var mark = source.tail.mark
    var bound = isDurableOnly ? mark.durable : mark.visible
    guard nextSequence <= bound.sequence, !isBeyondAll else { return nil }
    guard nextSequence >= mark.logBegin else { throw .trimmed(firstAvailable: mark.logBegin) }
    // Another writer's mark is not an offset in a file that the writer before it had.
    let takeovers = source.catalog.takeovers
    if takeovers != self.takeovers { segment = nil }
    self.takeovers = takeovers
    var hasLookedAgain = false
    while true {
      if segment == nil { try locate(in: mark) }
      guard let segment else { throw missing("the log ends before sequence \(nextSequence)", at: 0) }
      if mark.isBefore(rewriteOf: segment.header) {
        // Its blocks may extend past the mark. All of them are visible by now: only the mark has to be updated.
        try source.tail.refresh()
        mark = source.tail.mark
        bound = isDurableOnly ? mark.durable : mark.visible
      }
      let end = try source.end(of: segment, in: mark, durably: isDurableOnly)
      guard offset < end else {
        guard let after = source.catalog.name(after: segment.header.segment),
          after.firstSequence == nextSequence
        else {
          if !hasLookedAgain, hasLostName(segment) {
            hasLookedAgain = true
            self.segment = nil
            continue
          }
          throw missing("\(segment.name) ends before sequence \(nextSequence)", at: end)
        }
        let next = try source.catalog.segment(after)
        if let chain, next.header.previousChain != chain {
          throw .damaged(
            StoreFinding(
              .stale, file: next.name, offset: 0, first: nextSequence, last: bound.sequence,
              what: "the segment does not continue the chain of the previous segment"))
        }
        assert(next.header.firstSequence == nextSequence, "there is no gap between segments")
        enter(next, at: UInt64(SegmentHeader.length))
        isBehindBlock = chain != nil
        continue
      }
      do throws(StoreError) {
        if let block = try read(in: segment, end: end, last: bound.sequence) { return block }
      } catch {
        guard case .damaged = error, !hasLookedAgain, hasLostName(segment) else { throw error }
        hasLookedAgain = true
        self.segment = nil
      }
    }
  }

  /// Whether another file has the segment's name by now, so that what this one lacks is not damage.
  private func hasLostName(_ segment: SegmentHandle) -> Bool {
    (try? segment.file.isStillAtItsPath()) == false
  }

  private mutating func read(
    in segment: SegmentHandle, end: UInt64, last: UInt64
  ) throws(StoreError) -> DecodedBlock? {
    let place = offset
    let verdict: BlockVerdict
    do { verdict = try blocks!.block(at: place, limit: end) } catch {
      // If only the payload cannot be read, the header says which events it holds.
      let header = try? blocks!.header(at: place, limit: end).get()
      let end = header.map { $0.nextSequence &- 1 } ?? last
      throw .unreadable(
        error, path: segment.file.path, offset: place, sequences: nextSequence...max(end, nextSequence))
    }
    func finding(_ kind: StoreFinding.Class, _ what: String) -> StoreFinding {
      StoreFinding(kind, file: segment.name, offset: place, first: nextSequence, last: last, what: what)
    }
    switch verdict {
    case .invalid(let problem):
      throw .damaged(problem.finding(in: segment.name, at: place, first: nextSequence, last: last))
    case .valid(let block, let payload):
      if let what = block.unsupported { throw .unsupported(finding(.unsupported, what)) }
      if isBehindBlock, let chain, block.chainBefore != chain {
        throw .damaged(finding(.stale, "the block's chain does not continue that of the previous block"))
      }
      // If the offset was looked up without the headers that follow it, some of which are damaged, it is too early.
      if block.isControl || (!isBehindBlock && block.nextSequence <= nextSequence) {
        offset = block.end
        return nil
      }
      guard block.firstSequence <= nextSequence, nextSequence < block.nextSequence else {
        throw .damaged(
          finding(
            .stale, "the block holds \(block.firstSequence)…\(block.nextSequence &- 1), not \(nextSequence)"))
      }
      let decoded: DecodedBlock
      let before: UInt64
      do throws(ContentProblem) {
        decoded = try DecodedBlock(header: block, stored: payload)
        // The events delivered so far came from a file that was replaced since, and may end inside a block of this one.
        before =
          block.firstSequence < nextSequence && chain != nil
          ? try decoded.chain(after: lastSequence) : block.chainBefore
      } catch {
        throw error.storeError(in: segment.name, at: place, first: nextSequence, last: last)
      }
      if let chain, before != chain { throw .diverged(sequence: lastSequence) }
      offset = block.end
      isBehindBlock = true
      nextSequence = block.nextSequence
      chain = block.chainAfter
      return decoded
    }
  }

  private mutating func locate(in mark: VisibleMark) throws(StoreError) {
    guard let handle = try source.catalog.segment(containing: nextSequence) else {
      throw missing("no segment holds sequence \(nextSequence)", at: 0)
    }
    let end = try source.end(of: handle, in: mark, durably: isDurableOnly)
    guard let place = try handle.place(forSequence: nextSequence, end: end) else {
      throw missing("\(handle.name) does not hold sequence \(nextSequence)", at: end)
    }
    enter(handle, at: place.offset)
  }

  private mutating func enter(_ handle: SegmentHandle, at place: UInt64) {
    assert(
      handle.header.firstSequence <= nextSequence, "a cursor enters no segment that begins after its sequence"
    )
    segment = handle
    offset = place
    isBehindBlock = false
    blocks = BlockSource(file: handle.file, segment: handle.header, step: step)
  }

  private func missing(_ what: String, at offset: UInt64) -> StoreError {
    .damaged(
      StoreFinding(
        .missing, file: segment?.name ?? StoreLayout.logName, offset: offset, first: nextSequence,
        last: nextSequence, what: what))
  }
}
