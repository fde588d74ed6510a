// The events that an order to erase names, and the segments that hold them.

internal import StrataBase
internal import StrataLog

/// The set of events that an order names.
struct ErasureTargets {
  private let order: UInt64
  private let streams: Set<[UInt8]>
  /// Hashes of the streams' names, compared before the names are.
  private let hashes: Set<UInt64>
  /// Ascending, with a gap between each two.
  private let sequences: [ClosedRange<UInt64>]

  init(_ erasure: Erasure, before order: UInt64) {
    self.order = order
    streams = Set(erasure.streams.map { Array($0.text.utf8) })
    hashes = Set(streams.map { XXH64.of($0) })
    sequences = Self.merged(erasure.sequences)
  }

  /// Returns the same sequences in as few ranges as possible, ascending. O(k log k).
  private static func merged(_ ranges: [ClosedRange<UInt64>]) -> [ClosedRange<UInt64>] {
    var merged: [ClosedRange<UInt64>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      // A range that begins right after the last one extends it. No sequence is 0.
      if let last = merged.last, max(range.lowerBound, 1) - 1 <= last.upperBound {
        merged[merged.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }

  /// O(log ranges), plus O(bytes of the stream's name) if its hash is among the streams'.
  func contain(_ event: borrowing EventView, _ sequence: UInt64) -> Bool {
    guard sequence < order, !ErasureEvent.isOwn(event) else { return false }
    let ahead = sequences.countAhead { $0.lowerBound <= sequence }
    if ahead > 0, sequences[ahead - 1].contains(sequence) { return true }
    guard hashes.contains(XXH64.of(event.stream)) else { return false }
    return streams.contains(Array(event.stream))
  }

  /// Whether a block holds a named event that is not erased.
  func haveContent(in block: DecodedBlock) throws(StoreError) -> Bool {
    var found = false
    do throws(ContentProblem) {
      try block.forEachEvent { event, _, sequence in
        if !found, event.kind != EventKind.erased, contain(event, sequence) { found = true }
      }
    } catch { throw error.storeError(of: block.header) }
    return found
  }

  /// Whether two orders name the same events, provided that both orders come after all of those events.
  func mean(sameAs other: ErasureTargets) -> Bool { streams == other.streams && sequences == other.sequences }

  /// Whether every event that the log has now, and that is named here, comes before the order.
  func isWhole(in log: Log) throws(StoreError) -> Bool {
    if let last = sequences.last, last.upperBound >= order { return false }
    for stream in streams {
      let revision = try log.index.revision(of: stream)
      guard revision > 0 else { continue }
      let parts = try log.index.parts(of: stream, after: revision - 1, limit: 1)
      if let last = parts.last?.sequences.last, last >= order { return false }
    }
    return true
  }

  /// Returns the closed segments that may hold such events, ascending.
  ///
  /// They are found in the index and by the segments' first sequences. If damage makes the index unusable, all closed
  /// segments before the order are returned.
  func segments(of log: Log) throws(StoreError) -> [SegmentName] {
    let closed = log.closedSegments
    do throws(StoreError) { return try segments(of: log, closed) } catch {
      guard error.isLocal else { throw error }
      return closed.filter { $0.firstSequence < order }
    }
  }

  /// The sequences that are named, in as few ranges as possible, ascending. O(k log k) for k of them.
  func ranges(in log: Log) throws(StoreError) -> [ClosedRange<UInt64>] {
    var ranges = sequences
    for stream in streams {
      for part in try log.index.parts(of: stream, after: 0) {
        for sequence in part.sequences where sequence < order { ranges.append(sequence...sequence) }
      }
    }
    return Self.merged(ranges)
  }

  private func segments(of log: Log, _ closed: [SegmentName]) throws(StoreError) -> [SegmentName] {
    var found: Set<SegmentName> = []
    for stream in streams {
      for part in try log.index.parts(of: stream, after: 0) {
        // The sequences of a part are in one segment.
        guard let sequence = part.sequences.first, sequence < order else { continue }
        let ahead = closed.countAhead { $0.firstSequence <= sequence }
        if ahead > 0 { found.insert(closed[ahead - 1]) }
      }
    }
    var segment = 0
    for range in sequences {
      let ahead = closed.countAhead { $0.firstSequence <= range.lowerBound }
      segment = max(segment, ahead - 1)
      while segment < closed.count, closed[segment].firstSequence <= range.upperBound {
        found.insert(closed[segment])
        segment += 1
      }
    }
    return found.sorted()
  }
}
