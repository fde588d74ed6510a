// Sealing and erasing, as the floors above ask for them.

internal import StrataBase

/// What sealing came to.
package struct SealOutcome: Sendable, Equatable {
  /// Segments that were rewritten.
  package var sealed = 0
  /// Segments that were left as they are, and why.
  package var kept: [Kept] = []
  /// Bytes of the closed segments on disk, before and after.
  package var bytesBefore: UInt64 = 0
  package var bytesAfter: UInt64 = 0

  /// A segment that was left as it is.
  package struct Kept: Sendable, Equatable {
    package var file: String
    package var why: String
  }
}

/// What erasing came to, segment by segment.
package struct EraseOutcome {
  /// Events that lost their content now.
  package var erased: UInt64 = 0
  /// What could not be rewritten and may still hold such events, ascending but for the active segment, and why.
  package var left: [(sequences: ClosedRange<UInt64>, error: StoreError)] = []
  /// What else failed first.
  package var failure: StoreError?

  package init() {}
}

extension Log {
  private func writer() throws(StoreError) -> (queue: CommitQueue, committer: Committer, sealer: Sealer) {
    guard case .writer(let queue, let committer, let sealer) = role else { throw .readOnly }
    return (queue, committer, sealer)
  }

  /// Closes the active segment, and rewrites every closed one that was not: blocks of about the target's size,
  /// compressed harder, and an index behind them. So is one whose header has no mark of what is erased in it.
  /// O(bytes not yet sealed). Blocks.
  package func seal() throws(StoreError) -> SealOutcome {
    let (_, _, sealer) = try writer()
    try roll()
    var outcome = SealOutcome()
    for segment in closedSegments {
      let before = try sizeOnDisk(of: segment)
      switch try sealer.rewrite(segment, erasing: nil, isMarking: true) {
      case .rewritten: outcome.sealed += 1
      case .unchanged: break
      case .kept(let why): outcome.kept.append(.init(file: segment.path, why: why))
      case .stopped: throw .closed
      }
      outcome.bytesBefore = outcome.bytesBefore.addingSaturated(before)
      outcome.bytesAfter = outcome.bytesAfter.addingSaturated(try sizeOnDisk(of: segment))
    }
    return outcome
  }

  /// What sealing in the background found wrong with closed segments since the log was opened.
  package var knownDamage: [StoreFinding] {
    guard case .writer(_, _, let sealer) = role else { return damage.map { [$0] } ?? [] }
    return sealer.damage
  }

  /// Begins a new segment where the active one holds events. Blocks.
  package func roll() throws(StoreError) {
    let (queue, committer, _) = try writer()
    try queue.withTurn { () throws(StoreError) in try committer.rollNow() }
  }

  /// Takes the content out of events: of those in closed segments that the body picks. Each segment that holds one and can
  /// be is rewritten; what is written of them elsewhere is not touched. O(bytes of those segments). Blocks.
  ///
  /// - Parameters:
  ///   - segments: those that may hold such events.
  ///   - outcome: counts the events that lost their content now, and takes the segments that could not be rewritten.
  /// - Throws: what ends the writer.
  package func erase(
    in segments: [SegmentName], _ outcome: inout EraseOutcome,
    _ erases: @escaping (borrowing EventView, _ sequence: UInt64) -> Bool
  ) throws(StoreError) {
    let (_, _, sealer) = try writer()
    for segment in segments {
      do throws(StoreError) {
        switch try sealer.rewrite(segment, erasing: erases) {
        case .rewritten(let erased, let left):
          outcome.erased += erased
          if let left { throw .unsupported(left) }
        case .unchanged(let left):
          if let left { throw .unsupported(left) }
        case .kept(let why):
          throw .unsupported(
            StoreFinding(
              .unsupported, file: segment.path, offset: 0, first: segment.firstSequence,
              last: sequences(ofClosed: segment).upperBound,
              what: "the segment holds \(why), which this version would lose if it rewrote it"))
        case .stopped: throw .closed
        }
      } catch {
        guard error.isLocal else { throw error }
        outcome.left.append((sequences(ofClosed: segment), error))
      }
    }
  }

  /// The same, and throws the first error that kept a segment from being rewritten, when all others were.
  /// - Returns: how many events lost their content now.
  package func erase(
    in segments: [SegmentName], _ erases: @escaping (borrowing EventView, _ sequence: UInt64) -> Bool
  ) throws(StoreError) -> UInt64 {
    var outcome = EraseOutcome()
    try erase(in: segments, &outcome, erases)
    if let first = outcome.left.first { throw first.error }
    return outcome.erased
  }

  /// The sequences of a closed segment.
  package func sequences(ofClosed segment: SegmentName) -> ClosedRange<UInt64> {
    let first = segment.firstSequence
    return first...max(first, source.catalog.name(after: segment)?.lastBefore ?? first)
  }

  /// Removes what recoveries kept, which may hold the content of events; what others put there stays. Blocks.
  package func emptyQuarantine() throws(StoreError) {
    let (_, _, sealer) = try writer()
    try sealer.checkLock()
    let fileSystem = source.catalog.fileSystem
    try fileSystem.removeFiles(in: layout.quarantine, where: StoreLayout.isTail)
    guard try fileSystem.kind(of: layout.quarantine) == .directory else { return }
    try fileSystem.syncDirectory(layout.quarantine)
  }

  /// Whether HEAD says that an erasure may be unfinished.
  package var isErasing: Bool {
    get throws(StoreError) {
      let (queue, committer, _) = try writer()
      return try queue.withTurn { () throws(StoreError) in committer.isErasing }
    }
  }

  /// Says in HEAD, on disk, whether an erasure may be unfinished: before it is in the log, and when it was carried out.
  package func setErasing(_ isErasing: Bool) throws(StoreError) {
    let (queue, committer, _) = try writer()
    try queue.withTurn { () throws(StoreError) in try committer.setErasing(isErasing) }
  }

  /// The closed segments, ascending.
  package var closedSegments: [SegmentName] { source.catalog.names.filter { $0 < mark.segment } }

  private func sizeOnDisk(of segment: SegmentName) throws(StoreError) -> UInt64 {
    let handle = try source.catalog.segment(segment)
    return try UInt64(handle.file.size())
  }
}
