// Sealing and erasing, for the modules above.

internal import StrataBase

/// The result of sealing.
package struct SealOutcome: Sendable, Equatable {
  /// Segments that were rewritten.
  package var sealed = 0
  /// The segments that were left as they are, and why.
  package var kept: [Kept] = []
  /// The bytes of the closed segments on disk, before and after.
  package var bytesBefore: UInt64 = 0
  package var bytesAfter: UInt64 = 0

  /// A segment that was left as it is.
  package struct Kept: Sendable, Equatable {
    package var file: String
    package var why: String
  }
}

/// The result of erasing, segment by segment.
package struct EraseOutcome {
  /// The number of events that lost their content now.
  package var erased: UInt64 = 0
  /// What could not be rewritten and may still hold such events, ascending except for the active segment, and why.
  package var left: [(sequences: ClosedRange<UInt64>, error: StoreError)] = []
  /// The first other error.
  package var failure: StoreError?

  package init() {}
}

extension Log {
  private func writer() throws(StoreError) -> (queue: CommitQueue, committer: Committer, sealer: Sealer) {
    guard case .writer(let queue, let committer, let sealer) = role else { throw .readOnly }
    return (queue, committer, sealer)
  }

  /// Closes the active segment, and rewrites every closed one that was not rewritten yet: blocks of about the target's
  /// size, compressed harder, followed by an index. Also rewrites a segment whose header has no mark of what is erased
  /// in it. O(bytes not yet sealed). Blocks.
  package func seal() throws(StoreError) -> SealOutcome {
    let (queue, _, sealer) = try writer()
    try roll()
    var outcome = SealOutcome()
    for segment in closedSegments {
      let before = try sizeOnDisk(of: segment)
      switch try sealer.rewrite(segment, erasing: nil, isMarking: true) {
      case .rewritten: outcome.sealed += 1
      case .unchanged: break
      case .kept(let why): outcome.kept.append(.init(file: segment.path, why: why))
      case .stopped: throw queue.failure ?? .closed
      }
      outcome.bytesBefore = outcome.bytesBefore.addingSaturated(before)
      outcome.bytesAfter = outcome.bytesAfter.addingSaturated(try sizeOnDisk(of: segment))
    }
    return outcome
  }

  /// The findings of background sealing in closed segments since the log was opened.
  package var knownDamage: [StoreFinding] {
    guard case .writer(_, _, let sealer) = role else { return damage.map { [$0] } ?? [] }
    return sealer.damage
  }

  /// Begins a new segment if the active one holds events. Blocks.
  package func roll() throws(StoreError) {
    let (queue, committer, _) = try writer()
    try queue.withTurn { () throws(StoreError) in try committer.rollNow() }
  }

  /// Removes the content of those events in closed segments that the body selects. Rewrites each segment that holds one
  /// and can be rewritten; does not touch what is written about them elsewhere. O(bytes of those segments). Blocks.
  ///
  /// - Parameters:
  ///   - segments: the segments that may hold such events.
  ///   - outcome: counts the events that lost their content now, and collects the segments that could not be rewritten.
  /// - Throws: an error that ends the writer.
  package func erase(
    in segments: [SegmentName], _ outcome: inout EraseOutcome,
    _ erases: @escaping (borrowing EventView, _ sequence: UInt64) -> Bool
  ) throws(StoreError) {
    if !segments.isEmpty { derivedSpace?.willErase() }
    for segment in segments {
      do throws(StoreError) {
        switch try rewrite(segment, erasing: erases) {
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
        case .stopped: throw try writer().queue.failure ?? .closed
        }
      } catch {
        guard error.isLocal else { throw error }
        outcome.left.append((sequences(ofClosed: segment), error))
      }
    }
  }

  /// Rewrites a segment, and tries once more if the disk was full and states could be removed: an erasure removes them in
  /// any case.
  private func rewrite(
    _ segment: SegmentName, erasing erases: @escaping (borrowing EventView, _ sequence: UInt64) -> Bool
  ) throws(StoreError) -> SegmentRewriter.Outcome {
    let (queue, committer, sealer) = try writer()
    do throws(StoreError) { return try sealer.rewrite(segment, erasing: erases) } catch {
      guard case .full = error,
        try queue.withTurn({ () throws(StoreError) in committer.makeRoom(isErasing: true) })
      else { throw error }
      return try sealer.rewrite(segment, erasing: erases)
    }
  }

  /// The same, but after all other segments were rewritten it throws the first error that prevented a rewrite.
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

  /// Removes the tails that recoveries kept, which may hold the content of events; other files in the folder stay.
  /// Blocks.
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

  /// Records in HEAD, on disk, whether an erasure may be unfinished: call it before the order is in the log, and after
  /// it was carried out.
  package func setErasing(_ isErasing: Bool) throws(StoreError) {
    let (queue, committer, _) = try writer()
    try queue.withTurn { () throws(StoreError) in try committer.setErasing(isErasing) }
  }

  /// The closed segments, ascending.
  package var closedSegments: [SegmentName] { source.catalog.names.filter { $0 < mark.segment } }

  /// A closed segment that was rewritten, open for reading: it stays as it is for as long as it is held. Nil if it was not
  /// rewritten yet.
  package func sealedSegment(_ segment: SegmentName) throws(StoreError) -> SegmentHandle? {
    let handle = try source.catalog.segment(segment)
    return handle.header.isRewritten ? handle : nil
  }

  private func sizeOnDisk(of segment: SegmentName) throws(StoreError) -> UInt64 {
    let handle = try source.catalog.segment(segment)
    return try UInt64(handle.file.size())
  }
}
