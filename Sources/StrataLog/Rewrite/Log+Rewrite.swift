// Sealing and erasing, as the floors above ask for them.

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

extension Log {
  private func writer() throws(LogError) -> (queue: CommitQueue, committer: Committer, sealer: Sealer) {
    guard case .writer(let queue, let committer, let sealer) = role else { throw .readOnly }
    return (queue, committer, sealer)
  }

  /// Closes the active segment, and rewrites every closed one that was not: blocks of about the target's size,
  /// compressed harder, and an index behind them. O(bytes not yet sealed). Blocks.
  package func seal() throws(LogError) -> SealOutcome {
    let (_, _, sealer) = try writer()
    try roll()
    var outcome = SealOutcome()
    for first in closedSegments {
      let before = try sizeOnDisk(of: first)
      switch try sealer.rewrite(first, erasing: nil) {
      case .rewritten: outcome.sealed += 1
      case .unchanged: break
      case .kept(let why): outcome.kept.append(.init(file: StoreLayout.segmentName(first), why: why))
      case .stopped: throw .closed
      }
      outcome.bytesBefore += before
      outcome.bytesAfter += try sizeOnDisk(of: first)
    }
    return outcome
  }

  /// Begins a new segment where the active one holds events. Blocks.
  package func roll() throws(LogError) {
    let (queue, committer, _) = try writer()
    try queue.withTurn { () throws(LogError) in try committer.rollNow() }
  }

  /// Takes the content out of events: of those in closed segments that the body picks. Each segment that holds one is
  /// rewritten; what is written of them elsewhere is not touched. O(bytes of those segments). Blocks.
  ///
  /// - Parameter segments: those that may hold such events.
  /// - Returns: how many events lost their content now.
  package func erase(
    in segments: [UInt64], _ erases: @escaping (borrowing EventView, _ sequence: UInt64) -> Bool
  ) throws(LogError) -> UInt64 {
    let (_, _, sealer) = try writer()
    var count: UInt64 = 0
    for first in segments {
      switch try sealer.rewrite(first, erasing: erases) {
      case .rewritten(let erased): count += erased
      case .unchanged: break
      case .kept(let why):
        let last = source.catalog.first(behind: first).map { $0 - 1 } ?? first
        throw .unsupported(
          Finding(
            .unsupported, file: StoreLayout.segmentName(first), offset: 0, first: first, last: last,
            what: "the segment holds \(why), which this version would lose if it rewrote it"))
      case .stopped: throw .closed
      }
    }
    return count
  }

  /// Removes what recoveries kept, which may hold the content of events. Blocks.
  package func emptyQuarantine() throws(LogError) {
    _ = try writer()
    let fileSystem = source.catalog.fileSystem
    try LogError.wrapping { () throws(FileSystemError) in
      let folder = layout.quarantine
      guard try fileSystem.kind(of: folder) == .directory else { return }
      for name in try fileSystem.contents(ofDirectory: folder) { try fileSystem.remove("\(folder)/\(name)") }
      try fileSystem.syncDirectory(folder)
    }
  }

  /// Whether HEAD says that an erasure may be unfinished.
  package var isErasing: Bool {
    get throws(LogError) {
      let (queue, committer, _) = try writer()
      return try queue.withTurn { () throws(LogError) in committer.isErasing }
    }
  }

  /// Says in HEAD, on disk, whether an erasure may be unfinished: before it is in the log, and when it was carried out.
  package func setErasing(_ isErasing: Bool) throws(LogError) {
    let (queue, committer, _) = try writer()
    try queue.withTurn { () throws(LogError) in try committer.setErasing(isErasing) }
  }

  /// The first sequences of the closed segments, ascending.
  package var closedSegments: [UInt64] { source.catalog.names.filter { $0 < mark.segment } }

  private func sizeOnDisk(of first: UInt64) throws(LogError) -> UInt64 {
    let handle = try source.catalog.segment(first: first)
    return try LogError.wrapping { () throws(FileSystemError) in UInt64(try handle.file.size()) }
  }
}
