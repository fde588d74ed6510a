// Finds an append by time: the last one whose own time is not later.
//
// An own time is never after the commit time, and commit times never decrease. So everything up to the last append that
// was committed by then fits, and is found by halves. After it come an append that is dated later, whose clock was ahead
// or right, and others, which fit if their own times are not later. These are looked for from the end on, with the least
// times that the indexes keep of spans of appends: only a span in which an append fits is read.

internal import StrataBase

/// What a point by time passes over: the appends before it that are dated later.
package struct LaterAppends: Hashable, Sendable {
  package var count: UInt64
  package var first: AppendPosition
}

/// One search by time up to the visible end.
package struct TimeSearch {
  private let log: Log
  private let mark: VisibleMark
  private let time: Int64
  private let builds: Bool
  private var blocks: SpanBlocks
  /// How many blocks of appends committed later were read, for tests.
  package var blocksRead: Int { blocks.readCount }

  /// - Parameter builds: whether a missing index of a closed segment is built; if not, `indexMissing` is thrown.
  package init(_ log: Log, notAfter time: Int64, builds: Bool = true) {
    self.log = log
    mark = log.mark
    self.time = time
    self.builds = builds
    blocks = SpanBlocks(log)
  }

  /// The last append whose own time is not later, or nil if all are later.
  package mutating func last() throws(StoreError) -> AppendPosition? {
    let committed = try log.lastAppend(committedNotAfter: time, in: mark)
    return try last(after: committed) ?? committed
  }

  private mutating func last(after committed: AppendPosition?) throws(StoreError) -> AppendPosition? {
    let begin = committed?.last ?? mark.logBegin - 1
    guard begin < mark.sequence else { return nil }
    _ = try log.index.markCaughtUp()
    var found: AppendPosition?
    try log.index.forEachSpan(after: begin, through: mark.sequence, notAfter: time, builds: builds) {
      span throws(StoreError) in
      try blocks.forEachAppend(of: span, after: begin, through: mark.sequence) {
        if $0.ownTime <= time { found = $0 }
      }
      // Otherwise the one with the least time is not visible yet, or was committed by then.
      return found != nil
    }
    return found
  }

  /// What a point by this time passes over, nil if nothing: the appends before it that are dated later. Spans that have
  /// only later times, or none, are counted without being read.
  ///
  /// - Parameter place: what `last` found.
  package mutating func passed(before place: AppendPosition?) throws(StoreError) -> LaterAppends? {
    guard let place else { return nil }
    let committed = try log.lastAppend(committedNotAfter: time, in: mark)
    let begin = committed?.last ?? mark.logBegin - 1
    guard place.last > begin, let first = try log.append(holding: begin + 1) else { return nil }
    var count: UInt64 = 0
    _ = try log.index.markCaughtUp()
    try log.index.forEachSpan(after: begin, through: place.last, notAfter: .max, builds: builds) {
      span throws(StoreError) in
      guard span.greatest > time else { return false }
      if span.least > time, span.first > begin, span.last <= place.last {
        count += span.appends
        return false
      }
      try blocks.forEachAppend(of: span, after: begin, through: place.last) {
        if $0.ownTime > time { count += 1 }
      }
      return false
    }
    return count > 0 ? LaterAppends(count: count, first: first) : nil
  }
}

/// Reads spans, the last one first, and each block once: the one in which a span begins may hold the end of the span
/// before it, and other spans.
struct SpanBlocks {
  private let log: Log
  /// The block in which the span that was read last begins.
  private var kept: DecodedBlock?
  private(set) var readCount = 0

  init(_ log: Log) { self.log = log }

  /// Calls the body with each append of a span that is after one sequence and not after another, in their order.
  mutating func forEachAppend(
    of span: TimeSpan, after begin: UInt64, through end: UInt64, _ body: (AppendPosition) -> Void
  ) throws(StoreError) {
    let (begin, end) = (max(begin, span.first - 1), min(end, span.last))
    let later = kept
    var cursor = LogCursor(log.source, after: begin, step: 1 << 16)
    var last = begin
    while last < end {
      let block: DecodedBlock
      if let later, later.header.firstSequence <= last + 1, last + 1 <= later.header.nextSequence &- 1 {
        block = later
      } else {
        cursor.skip(to: last + 1)
        guard let next = try cursor.next() else { return }
        readCount += 1
        block = next
      }
      if last == begin { kept = block }
      last = block.header.nextSequence &- 1
      _ = try log.lastAppend(in: block) {
        if $0.first > begin, $0.last <= end { body($0) }
        return false
      }
    }
  }
}

extension Log {
  /// The last append whose own time is not later than `time`, or nil if all are later.
  package func lastAppend(notAfter time: Int64, builds: Bool = true) throws(StoreError) -> AppendPosition? {
    var search = TimeSearch(self, notAfter: time, builds: builds)
    return try search.last()
  }
}
