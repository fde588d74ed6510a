// Ranges of sequences that may hold the events of a name, as many as are worth knowing.

internal import StrataBase

/// Ascending ranges of sequences, with at least one sequence between two.
///
/// A name with few events has a range for each run of them. If there would be more than `rangesMax`, ranges that are
/// close to each other become one, with the sequences between them: a reader reads whole blocks and looks at each event
/// anyway. How close, doubles until there are few enough.
package struct SequenceRanges: Equatable, Sendable {
  /// The most ranges that an index keeps for a category or a type in a segment.
  static var rangesMax: Int { 256 }
  /// The first distance at which ranges become one, if there are too many.
  private static var distanceMin: UInt64 { 64 }

  package private(set) var ranges: [ClosedRange<UInt64>] = []
  private let limit: Int
  /// Ranges whose distance is at most this become one; 1 as long as only consecutive ones do.
  private var distance: UInt64 = 1

  /// - Parameter limit: the most ranges that are kept.
  init(limit: Int = SequenceRanges.rangesMax) {
    assert(limit > 1, "two ranges can become one")
    self.limit = limit
  }

  /// Creates ranges that are kept as they are.
  init(exactly ranges: [ClosedRange<UInt64>]) {
    limit = .max
    self.ranges = ranges
  }

  package static func == (a: SequenceRanges, b: SequenceRanges) -> Bool { a.ranges == b.ranges }

  /// Adds a sequence after all others. O(1) amortised.
  mutating func add(_ sequence: UInt64) {
    guard let last = ranges.last else { return ranges.append(sequence...sequence) }
    assert(sequence > last.upperBound, "sequences ascend")
    if sequence - last.upperBound <= distance {
      ranges[ranges.count - 1] = last.lowerBound...sequence
    } else {
      ranges.append(sequence...sequence)
      while ranges.count > limit { coarsen() }
    }
  }

  private mutating func coarsen() {
    distance = max(Self.distanceMin, distance * 2)
    let before = ranges
    ranges.removeAll(keepingCapacity: true)
    for range in before {
      if let last = ranges.last, range.lowerBound - last.upperBound <= distance {
        ranges[ranges.count - 1] = last.lowerBound...range.upperBound
      } else {
        ranges.append(range)
      }
    }
  }

  /// Appends varints: for each range the distance of its first sequence from the least that it could have, and its
  /// length less one.
  func encode(to target: inout RawBuffer, firstSequence: UInt64) {
    var next = firstSequence
    for range in ranges {
      assert(range.lowerBound >= next, "there is a sequence between two ranges")
      target.append(varint: range.lowerBound - next)
      target.append(varint: range.upperBound - range.lowerBound)
      next = range.upperBound &+ 2
    }
  }

  /// Decodes ranges up to the end of the bytes; nil if they do not lie within the bounds.
  init?(_ cursor: inout ByteCursor, in bounds: ClosedRange<UInt64>) {
    limit = .max
    var next = bounds.lowerBound
    var isFull = false
    while cursor.remaining > 0 {
      guard !isFull, let gap = cursor.varint(), let others = cursor.varint(), next <= bounds.upperBound,
        gap <= bounds.upperBound - next, others <= bounds.upperBound - next - gap
      else { return nil }
      let first = next + gap
      ranges.append(first...first + others)
      (next, isFull) = (first + others).addingReportingOverflow(2)
    }
  }

  /// The union of several, each ascending.
  static func union(_ parts: [SequenceRanges]) -> SequenceRanges {
    guard parts.count > 1 else { return parts.first ?? SequenceRanges(exactly: []) }
    var union: [ClosedRange<UInt64>] = []
    for range in parts.flatMap(\.ranges).sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = union.last, range.lowerBound <= last.upperBound.addingSaturated(1) {
        union[union.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
      } else {
        union.append(range)
      }
    }
    return SequenceRanges(exactly: union)
  }

  /// What of these ranges is after a sequence.
  func after(_ sequence: UInt64) -> SequenceRanges {
    let skipped = ranges.countAhead { $0.upperBound <= sequence }
    var rest = Array(ranges[skipped...])
    if let first = rest.first, first.lowerBound <= sequence { rest[0] = sequence + 1...first.upperBound }
    return SequenceRanges(exactly: rest)
  }
}

/// What an index holds for a category or a type: how many events it has there, and where they may be.
struct NamePositions: Equatable, Sendable {
  var count: UInt64
  var ranges: SequenceRanges

  /// Appends the bytes of an index's value: the count less one, and the ranges.
  func encode(to target: inout RawBuffer, firstSequence: UInt64) {
    assert(count > 0 && !ranges.ranges.isEmpty, "a name in a segment's index has an event there")
    target.append(varint: count - 1)
    ranges.encode(to: &target, firstSequence: firstSequence)
  }

  /// Decodes a value, or returns nil if the bytes are not one.
  init?(decoding bytes: [UInt8], in bounds: ClosedRange<UInt64>) {
    let decoded = bytes.withUnsafeBytes { buffer -> (UInt64, SequenceRanges)? in
      guard let start = buffer.baseAddress else { return nil }
      var cursor = ByteCursor(start, count: buffer.count)
      guard let others = cursor.varint(), others < .max, let ranges = SequenceRanges(&cursor, in: bounds),
        !ranges.ranges.isEmpty
      else { return nil }
      return (others + 1, ranges)
    }
    guard let (count, ranges) = decoded else { return nil }
    self.init(count: count, ranges: ranges)
  }

  init(count: UInt64, ranges: SequenceRanges) {
    self.count = count
    self.ranges = ranges
  }

  /// The count of an encoded value, without reading its ranges.
  static func count(decoding bytes: UnsafeRawBufferPointer) -> UInt64? {
    guard let start = bytes.baseAddress else { return nil }
    var cursor = ByteCursor(start, count: bytes.count)
    return cursor.varint().flatMap { $0 < .max ? $0 + 1 : nil }
  }
}
