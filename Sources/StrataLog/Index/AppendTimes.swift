// The times of one segment's appends, in spans: the least and the greatest of each.
//
// An append's own time is the one that was given for it, otherwise its commit time. Own times may run back, so nothing
// can be found by halves among them: a search folds the spans from the end, and reads a span whose least time is not
// later. Where a span ends depends on the appends alone, and not on the blocks that hold them or on what was erased:
// the index of a segment is the same before and after a rewrite.

internal import StrataBase

/// Consecutive appends, and between which times they are.
package struct TimeSpan: Equatable, Sendable {
  package var first: UInt64
  package var last: UInt64
  package var appends: UInt64
  package var least: Int64
  package var greatest: Int64
}

/// The spans of consecutive appends, from one sequence on.
struct AppendTimes: Sendable {
  /// A span ends with the append that is the 16th, or with which the contents of its events reach 64 KiB.
  static let appendsMax: UInt64 = 16
  static let contentLengthMax = 64 << 10

  private(set) var spans: [TimeSpan] = []
  /// The least of all times; `Int64.max` without an append.
  private(set) var least = Int64.max
  /// The sequence that the next append begins with.
  private(set) var nextSequence: UInt64
  /// The length of the last span's contents, while the next append belongs to it.
  private var openLength: Int?

  init(from first: UInt64) { nextSequence = first }

  /// An append: its own time, its events, and the length of their contents.
  struct Entry {
    var time: Int64
    var eventCount: Int
    var contentLength: Int
  }

  mutating func add(_ append: Entry) {
    assert(append.eventCount > 0, "an append holds an event")
    let length = (openLength ?? 0) + append.contentLength
    let last = nextSequence + UInt64(append.eventCount) - 1
    if openLength == nil {
      spans.append(
        TimeSpan(first: nextSequence, last: last, appends: 1, least: append.time, greatest: append.time))
    } else {
      let place = spans.count - 1
      spans[place].last = last
      spans[place].appends += 1
      spans[place].least = min(spans[place].least, append.time)
      spans[place].greatest = max(spans[place].greatest, append.time)
    }
    least = min(least, append.time)
    nextSequence = last + 1
    let isFull = spans[spans.count - 1].appends >= Self.appendsMax || length >= Self.contentLengthMax
    openLength = isFull ? nil : length
  }

  var allocatedBytes: Int { spans.capacity * MemoryLayout<TimeSpan>.stride }
}

extension [TimeSpan] {
  /// Those that have an append after one sequence and one at or before another, and a time that is not later.
  func between(_ begin: UInt64, _ end: UInt64, notAfter time: Int64) -> [TimeSpan] {
    filter { $0.last > begin && $0.first <= end && $0.least <= time }
  }

  /// Appends the bytes of an index's value: for each span its events and appends less one, the distance of its least
  /// time from that of the span before, and that of its greatest time from its least.
  func encode(to target: inout RawBuffer) {
    var before: Int64 = 0
    for span in self {
      target.append(varint: span.last - span.first)
      target.append(varint: span.appends - 1)
      target.append(varint: ZigZag.encode(span.least &- before))
      target.append(varint: UInt64(bitPattern: span.greatest &- span.least))
      before = span.least
    }
  }

  /// The spans of an encoded value, or nil if the bytes are not those of spans that fill a range.
  init?(decoding bytes: [UInt8], in range: ClosedRange<UInt64>) {
    self = []
    let isWhole = bytes.withUnsafeBytes { buffer -> Bool in
      guard let start = buffer.baseAddress else { return false }
      var cursor = ByteCursor(start, count: buffer.count)
      var (next, before): (UInt64, Int64) = (range.lowerBound, 0)
      while cursor.remaining > 0 {
        guard next <= range.upperBound, next > 0, let others = cursor.varint(),
          others <= range.upperBound - next, let appends = cursor.varint(), appends <= others,
          let distance = cursor.varint(), let length = cursor.varint()
        else { return false }
        let least = before &+ ZigZag.decode(distance)
        // Read as a distance without a sign, it may not pass the greatest time.
        guard length <= UInt64(bitPattern: Int64.max &- least) else { return false }
        let greatest = least &+ Int64(bitPattern: length)
        append(
          TimeSpan(first: next, last: next + others, appends: appends + 1, least: least, greatest: greatest))
        (next, before) = (next + others &+ 1, least)
      }
      return next == range.upperBound &+ 1
    }
    if !isWhole { return nil }
  }
}
