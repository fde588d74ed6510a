// What an index holds for a stream: its revision before the segment, and the sequences of its events.

package import StrataBase

/// How many events of one stream are before a segment, and how many are in it.
package struct StreamExtent: Equatable, Sendable {
  /// Events of the stream before the segment.
  package var base: UInt64
  /// Events of the stream in the segment.
  package var count: UInt64

  package init(base: UInt64, count: UInt64) {
    self.base = base
    self.count = count
  }

  /// The revision of the last of these events.
  package var revision: UInt64 { base &+ count }
}

extension StreamExtent {
  /// The extent of an encoded value, without reading its sequences; nil if the bytes are not such a value. O(1).
  package init?(decoding bytes: [UInt8]) {
    let extent = bytes.withUnsafeBytes { StreamExtent(decoding: $0) }
    guard let extent else { return nil }
    self = extent
  }

  init?(decoding bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return nil }
    var cursor = ByteCursor(start, count: bytes.count)
    guard let head = PlacesHead(&cursor) else { return nil }
    self = head.extent
  }
}

/// What an encoded value begins with: a number whose lowest bit says whether the stream has events before the segment,
/// and the next one whether its sequences are runs; the other bits are the count less one. The events before the segment
/// follow if there are any.
private struct PlacesHead {
  var extent: StreamExtent
  var hasRuns: Bool

  /// Each single event takes at least one byte.
  init?(_ cursor: inout ByteCursor) {
    guard let head = cursor.varint() else { return nil }
    var base: UInt64 = 0
    if head & 1 != 0 {
      guard let before = cursor.varint(), before > 0 else { return nil }
      base = before
    }
    hasRuns = head & 2 != 0
    let count = head >> 2 + 1
    guard hasRuns || count <= UInt64(cursor.remaining), !base.addingReportingOverflow(count).overflow else {
      return nil
    }
    extent = StreamExtent(base: base, count: count)
  }
}

/// The events of one stream in one segment, or in a part of one.
package struct StreamPositions: Equatable, Sendable {
  /// Events of the stream before the segment.
  package var base: UInt64
  /// Sequences in the segment, ascending.
  package var sequences: SequenceList

  package init(base: UInt64, sequences: SequenceList) {
    self.base = base
    self.sequences = sequences
  }

  /// The revision of the last of these events.
  package var revision: UInt64 { base &+ UInt64(sequences.count) }

  /// Appends the bytes of an index's value: the head, and the sequences one by one or as runs, whichever is shorter.
  package func encode(to target: inout RawBuffer, firstSequence: UInt64) {
    Self.encode(base: base, sequences.map { $0 - firstSequence }[...], to: &target)
  }

  /// The same for sequences given as distances from the segment's first, ascending.
  static func encode<Distance: UnsignedInteger>(
    base: UInt64, _ distances: ArraySlice<Distance>, to target: inout RawBuffer
  ) {
    assert(!distances.isEmpty, "a stream in a segment's index has an event there")
    let hasRuns = lengthSaved(byRunsOf: distances) > 0
    target.append(
      varint: UInt64(distances.count - 1) << 2 | (hasRuns ? 2 : 0) | (base > 0 ? 1 : 0))
    if base > 0 { target.append(varint: base) }
    var next: UInt64 = 0
    guard hasRuns else {
      for distance in distances {
        target.append(varint: UInt64(distance) - next)
        next = UInt64(distance) + 1
      }
      return
    }
    forEachRun(of: distances) { first, others in
      // Between two runs there is a sequence of something else.
      target.append(varint: first - next)
      target.append(varint: others)
      next = first + others + 2
    }
  }

  /// How many bytes less the runs take than the sequences one by one.
  private static func lengthSaved<Distance: UnsignedInteger>(
    byRunsOf distances: ArraySlice<Distance>
  ) -> Int {
    guard distances.count > 1 else { return -1 }
    var saved = 0
    var end: UInt64?
    forEachRun(of: distances) { first, others in
      saved += Int(others) - Varint.length(others)
      if let end { saved += Varint.length(first - end - 1) - Varint.length(first - end - 2) }
      end = first + others
    }
    return saved
  }

  /// Calls the body with the first of each run of consecutive distances, and how many others the run has.
  @inline(__always)
  private static func forEachRun<Distance: UnsignedInteger>(
    of distances: ArraySlice<Distance>, _ body: (_ first: UInt64, _ others: UInt64) -> Void
  ) {
    var start = distances.startIndex
    while start < distances.endIndex {
      var end = start + 1
      while end < distances.endIndex, distances[end] == distances[end - 1] + 1 { end += 1 }
      body(UInt64(distances[start]), UInt64(end - start - 1))
      start = end
    }
  }

  /// Decodes a value, or returns nil if the bytes are not one.
  package init?(decoding bytes: [UInt8], firstSequence: UInt64, lastSequence: UInt64) {
    let decoded = bytes.withUnsafeBytes { buffer -> StreamPositions? in
      guard let start = buffer.baseAddress else { return nil }
      var cursor = ByteCursor(start, count: buffer.count)
      guard let head = PlacesHead(&cursor),
        let sequences = head.hasRuns
          ? Self.runs(&cursor, firstSequence...lastSequence)
          : Self.singles(&cursor, Int(head.extent.count), firstSequence...lastSequence),
        cursor.remaining == 0, UInt64(sequences.count) == head.extent.count
      else { return nil }
      return StreamPositions(base: head.extent.base, sequences: sequences)
    }
    guard let decoded else { return nil }
    self = decoded
  }

  private static func singles(
    _ cursor: inout ByteCursor, _ count: Int, _ range: ClosedRange<UInt64>
  ) -> SequenceList? {
    var sequences: [UInt64] = []
    sequences.reserveCapacity(count)
    var before = range.lowerBound &- 1
    for _ in 0..<count {
      guard let gap = cursor.varint(), before != range.upperBound, gap < range.upperBound &- before else {
        return nil
      }
      before = before &+ gap &+ 1
      assert(range.contains(before), "a stream's event lies in its segment")
      sequences.append(before)
    }
    return SequenceList(sequences)
  }

  private static func runs(_ cursor: inout ByteCursor, _ range: ClosedRange<UInt64>) -> SequenceList? {
    guard let runs = SequenceRanges(&cursor, in: range) else { return nil }
    var sequences = SequenceList()
    for run in runs.ranges where !sequences.add(run) { return nil }
    return sequences
  }
}
