// Erasing: an order in the log, segments rewritten without the content, a note that it is done.

internal import StrataLog

extension EventStore {
  /// Takes the content out of events for good: payload and metadata. Stream, type, revision, time and append id of an
  /// event stay, and so do the size of its content and a hash of it, which only `StoreOptions.saltsEvents` keeps from
  /// being guessed.
  ///
  /// The order is in the log and on disk first; then each segment that holds such events is rewritten, `quarantine/` is
  /// emptied, and a note says that it is done. A crash in between is made good by the next open for writing. Folds and
  /// lists show the log as it then is. What readers in other processes, backups and other copies hold is theirs to
  /// follow: both events are in their feeds.
  ///
  /// - Returns: when the content is in no file of the store any more. O(bytes of the segments concerned).
  /// - Throws: `invalid` where nothing is named, or a stream or a sequence that the log does not have; `full` and `io` where a
  ///   segment could not be rewritten: the order stands, and the next erasure or open carries it out.
  @discardableResult
  public func erase(_ erasure: Erasure) async throws(StoreError) -> ErasureReceipt {
    // A thread of its own, as for whatever takes long: the shared ones serve everybody who reads.
    let thread = IOThreads(name: "strata-erase", threadCountMax: 1)
    let result = await thread.result { [self] () throws(StoreError) in try eraseBlocking(erasure) }
    return try result.get()
  }

  /// The same for a thread that may block. Never on the cooperative pool.
  @discardableResult
  public func eraseBlocking(_ erasure: Erasure) throws(StoreError) -> ErasureReceipt {
    try check(erasure)
    return try withErasing { () throws(StoreError) in
      let event = try erasure.event()
      // On disk before the order is: without it an open would have to search the whole log for unfinished ones.
      try StoreError.wrapping { () throws(LogError) in try log.setErasing(true) }
      let draft = try draft([event], id: nil, time: nil, expecting: [:], isOwn: false)
      let order = try StoreError.wrapping { () throws(LogError) in try log.appendBlocking(draft) }
      let done = try finishErasures()
      return ErasureReceipt(sequence: order.first, eventCount: done[order.first] ?? 0)
    }
  }

  /// How many events an erasure would take the content out of now. O(events). Blocks.
  package func erasableCountBlocking(_ erasure: Erasure) throws(StoreError) -> UInt64 {
    try check(erasure)
    let targets = ErasureTargets(erasure, before: .max)
    var count: UInt64 = 0
    try StoreError.wrapping { () throws(LogError) in
      var cursor = log.cursor(after: log.mark.logBegin - 1)
      while let block = try cursor.next() {
        do throws(ContentProblem) {
          try block.forEachEvent { event, _, sequence in
            if event.kind != EventKind.erased, targets.contain(event, sequence) { count += 1 }
          }
        } catch {
          throw error.logError(
            in: StoreLayout.segmentName(block.header.segment), at: block.header.ownOffset,
            first: block.header.firstSequence, last: block.header.nextSequence - 1)
        }
      }
    }
    return count
  }

  private func check(_ erasure: Erasure) throws(StoreError) {
    guard !erasure.streams.isEmpty || !erasure.sequences.isEmpty else {
      throw .invalid(what: "the erasure names neither a stream nor a sequence")
    }
    for stream in erasure.streams {
      try stream.check()
      guard stream != ErasureEvent.stream else {
        throw .invalid(what: "what was erased, and why, is not erased")
      }
      let name = Array(stream.text.utf8)
      let count = try StoreError.wrapping { () throws(LogError) in try log.index.revision(of: name) }
      guard count > 0 else {
        throw .invalid(what: "there is no stream \(stream), so nothing of it can be erased")
      }
    }
    let head = log.mark.sequence
    for range in erasure.sequences where range.lowerBound < 1 || range.upperBound > head {
      throw .invalid(
        what:
          "sequences \(range.lowerBound)…\(range.upperBound) are to be erased, and the log ends at \(head)")
    }
  }

  /// Carries out what a crash, or a disk that was full, left undone. What cannot be done now does not keep the store
  /// from being opened; HEAD goes on saying that something is left.
  func finishErasuresAtOpen() throws(StoreError) {
    guard try StoreError.wrapping({ () throws(LogError) in try log.isErasing }) else { return }
    do throws(StoreError) {
      _ = try withErasing { () throws(StoreError) in try finishErasures() }
    } catch {
      switch error {
      case .full, .io, .unreadable, .protectedData, .corrupt, .unsupported, .invalid: return
      default: throw error
      }
    }
  }

  /// One erasure at a time.
  private func withErasing<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let gate = attachment { ErasureTurn() }.gate
    gate.wait { isTaken in
      defer { isTaken = true }
      return !isTaken
    }
    defer {
      gate.withLock { $0 = false }
      gate.signalOne()
    }
    return try body()
  }

  /// Carries out every order that has no note yet, in the order of the log, and returns how many events each erased.
  private func finishErasures() throws(StoreError) -> [UInt64: UInt64] {
    var open: [UInt64: Erasure] = [:]
    for event in try eventsBlocking(in: ErasureEvent.stream, limit: .max) {
      switch event.type {
      case ErasureEvent.order: open[event.sequence] = try Erasure(event)
      case ErasureEvent.done: open[try Erasure.decoded(ErasureEvent.Done.self, event).order] = nil
      default: break
      }
    }
    var counts: [UInt64: UInt64] = [:]
    for (sequence, erasure) in open.sorted(by: { $0.key < $1.key }) {
      counts[sequence] = try carryOut(erasure, orderedAt: sequence)
    }
    try StoreError.wrapping { () throws(LogError) in try log.setErasing(false) }
    return counts
  }

  private func carryOut(_ erasure: Erasure, orderedAt order: UInt64) throws(StoreError) -> UInt64 {
    let targets = ErasureTargets(erasure, before: order)
    let count = try StoreError.wrapping { () throws(LogError) in
      // What is to be erased must be in a closed segment, and the order itself on disk.
      if log.mark.segment <= order { try log.roll() }
      let segments = try targets.segments(of: log)
      let count = try log.erase(in: segments) { event, sequence in targets.contain(event, sequence) }
      try log.emptyQuarantine()
      return count
    }
    let done = try Erasure.event(ErasureEvent.done, ErasureEvent.Done(order: order, events: count))
    let draft = try draft([done], id: nil, time: nil, expecting: [:], isOwn: false)
    _ = try StoreError.wrapping { () throws(LogError) in try log.appendBlocking(draft) }
    return count
  }
}

/// Held by whoever erases.
private final class ErasureTurn: Sendable {
  let gate = Gate(false)
}

/// Which events an order means.
private struct ErasureTargets {
  private let order: UInt64
  private let streams: Set<[UInt8]>
  /// Hashes of the streams' names, asked before the names are.
  private let hashes: Set<UInt64>
  /// Ascending, and none touches the next.
  private let sequences: [ClosedRange<UInt64>]

  init(_ erasure: Erasure, before order: UInt64) {
    self.order = order
    streams = Set(erasure.streams.map { Array($0.text.utf8) })
    hashes = Set(streams.map { XXH64.of($0) })
    sequences = Self.merged(erasure.sequences)
  }

  /// The same sequences in as few ranges as can be, ascending. O(k log k).
  private static func merged(_ ranges: [ClosedRange<UInt64>]) -> [ClosedRange<UInt64>] {
    var merged: [ClosedRange<UInt64>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      // A range that begins right behind the last one goes on from it; no sequence is 0.
      if let last = merged.last, max(range.lowerBound, 1) - 1 <= last.upperBound {
        merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }

  /// O(log ranges), and of a name that is meant O(its bytes).
  func contain(_ event: borrowing EventView, _ sequence: UInt64) -> Bool {
    guard sequence < order, !ErasureEvent.isOwn(event) else { return false }
    let ahead = sequences.countAhead { $0.lowerBound <= sequence }
    if ahead > 0, sequences[ahead - 1].contains(sequence) { return true }
    guard hashes.contains(XXH64.of(event.stream)) else { return false }
    return streams.contains(Array(event.stream))
  }

  /// The closed segments that hold such events, ascending, by the index and by the names of the segments.
  func segments(of log: Log) throws(LogError) -> [UInt64] {
    let closed = log.closedSegments
    var found: Set<UInt64> = []
    for stream in streams {
      for part in try log.index.parts(of: stream, after: 0) {
        // The sequences of a part are in one segment.
        guard let sequence = part.sequences.first, sequence < order else { continue }
        let ahead = closed.countAhead { $0 <= sequence }
        if ahead > 0 { found.insert(closed[ahead - 1]) }
      }
    }
    var segment = 0
    for range in sequences {
      let ahead = closed.countAhead { $0 <= range.lowerBound }
      segment = max(segment, ahead - 1)
      while segment < closed.count, closed[segment] <= range.upperBound {
        found.insert(closed[segment])
        segment += 1
      }
    }
    return found.sorted()
  }
}

extension Array {
  /// How many elements at the beginning fulfil a condition that none behind them fulfils. O(log count).
  fileprivate func countAhead(where isAhead: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isAhead(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
