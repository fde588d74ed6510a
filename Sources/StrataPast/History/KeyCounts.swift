// Reads tallies: how many keys each group of a run, or each of its sections, had after an event.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// The counts of all units of a tally after one event. In a delta they are differences to the run's begin.
final class KeyCounts: Sendable {
  let sequence: UInt64
  /// How much the units before each count, and all of them at the end.
  let before: [Int64]

  /// - Parameter counts: a zero, and then what each unit counts. They are added up where they are.
  init(_ sequence: UInt64, summing counts: consuming [Int64]) {
    self.sequence = sequence
    var sums = counts
    sums.withUnsafeMutableBufferPointer { sums in
      var sum: Int64 = 0
      for unit in sums.indices {
        sum &+= sums[unit]
        sums[unit] = sum
      }
    }
    before = sums
  }

  var unitCount: Int { before.count - 1 }
  func count(of unit: Int) -> Int64 { before[unit + 1] &- before[unit] }
  var byteCount: Int { before.count * MemoryLayout<Int64>.stride }
}

/// A chunk of a tally: points that are near each other are counted from one.
final class TallyChunk: Sendable {
  /// A zero, and how much each unit counts before the first change.
  private let counts: [Int64]
  /// How much they count together.
  private let total: Int64
  private let record: RunRecord
  /// Where the changes begin in the record.
  private let changesBegin: Int
  private let first: UInt64
  private let end: UInt64

  init(
    _ record: RunRecord, units: UInt64, from first: UInt64, through end: UInt64
  ) throws(PageDamage) {
    var cursor = record.cursor
    guard units <= UInt64(cursor.remaining), units <= UInt64(UInt32.max >> 1) else {
      throw PageDamage("a tally of keys is cut short")
    }
    var counts = [Int64](repeating: 0, count: Int(units) + 1)
    let isWhole = counts.withUnsafeMutableBufferPointer { counts in
      for unit in 1..<counts.count {
        guard let count = cursor.mediumVarint() else { return false }
        counts[unit] = ZigZag.decode(count)
      }
      return true
    }
    guard isWhole else { throw PageDamage("a tally of keys is cut short") }
    total = counts.reduce(0, &+)
    changesBegin = record.bytes.count - cursor.remaining
    (self.counts, self.record, self.first, self.end) = (counts, record, first, end)
  }

  var byteCount: Int { counts.count * MemoryLayout<Int64>.stride + record.bytes.count }

  /// O(units + changes before the event).
  func counts(at sequence: UInt64) throws(PageDamage) -> KeyCounts {
    var counts = counts
    let isWhole = counts.withUnsafeMutableBufferPointer { counts in
      forEachChange(through: sequence) { counts[$0 + 1] &+= $1 }
    }
    guard isWhole else { throw PageDamage("a tally of keys has a broken change") }
    return KeyCounts(sequence, summing: counts)
  }

  /// What all units count together. O(changes before the event).
  func total(at sequence: UInt64) throws(PageDamage) -> Int64 {
    var total = total
    guard forEachChange(through: sequence, { total &+= $1 }) else {
      throw PageDamage("a tally of keys has a broken change")
    }
    return total
  }

  /// Calls a body with the unit of each change and with 1 or -1. False for a change that is broken, or of a unit that is
  /// not there.
  @inline(__always)
  private func forEachChange(through sequence: UInt64, _ body: (Int, Int64) -> Void) -> Bool {
    var cursor = record.cursor(at: UInt32(truncatingIfNeeded: changesBegin))
    let units = UInt64(counts.count - 1)
    var last = first
    while cursor.remaining > 0 {
      guard let distance = cursor.mediumVarint(), let change = cursor.mediumVarint(), change >> 1 < units,
        distance <= end &- last
      else { return false }
      last += distance
      guard last <= sequence else { break }
      body(Int(truncatingIfNeeded: change >> 1), change & 1 == 1 ? 1 : -1)
    }
    return true
  }
}

/// Where the chunks of a tally are. That of a run of ten million events has twenty thousand chunks, of which a look needs
/// one.
final class TallyIndex: Sendable {
  /// A chunk, and where the next one is named.
  fileprivate struct Mark {
    var chunk: KeyChunk
    var next: UInt32
  }

  /// How many chunks are read for one, at most.
  private static let distanceMax = 32

  let units: UInt64
  fileprivate let record: RunRecord
  fileprivate let marks: [Mark]
  fileprivate let span: UInt64

  init(_ record: RunRecord, span: UInt64) throws(PageDamage) {
    var cursor = record.cursor
    guard let units = cursor.varint() else { throw PageDamage("a tally of keys is broken") }
    var (marks, last, count) = ([Mark](), KeyChunk?.none, 0)
    while cursor.remaining > 0 {
      let chunk = try KeyChunk(&cursor, after: last, span: span)
      let next = UInt32(truncatingIfNeeded: record.bytes.count - cursor.remaining)
      if count % Self.distanceMax == 0 { marks.append(Mark(chunk: chunk, next: next)) }
      last = chunk
      count += 1
    }
    guard !marks.isEmpty else { throw PageDamage("a tally of keys is empty") }
    (self.units, self.record, self.marks, self.span) = (units, record, marks, span)
  }

  var byteCount: Int { marks.count * MemoryLayout<Mark>.stride + record.bytes.count }

  /// The last chunk that begins at a distance from the run's begin or before it. O(log chunks).
  func chunk(at distance: UInt64) throws(PageDamage) -> KeyChunk {
    var (low, high) = (0, marks.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if marks[middle].chunk.first <= distance { low = middle } else { high = middle }
    }
    var found = marks[low].chunk
    var cursor = record.cursor(at: marks[low].next)
    while cursor.remaining > 0 {
      let next = try KeyChunk(&cursor, after: found, span: span)
      guard next.first <= distance else { break }
      found = next
    }
    return found
  }
}

extension TallyIndex {
  /// The chunk after another one; nil after the last. O(log chunks).
  func chunk(after chunk: KeyChunk) throws(PageDamage) -> KeyChunk? {
    let mark = marks.lastIndex { $0.chunk.first <= chunk.first } ?? 0
    var cursor = record.cursor(at: marks[mark].next)
    var last = marks[mark].chunk
    while cursor.remaining > 0 {
      last = try KeyChunk(&cursor, after: last, span: span)
      if last.first > chunk.first { return last }
    }
    return nil
  }
}

extension RunReader {
  /// The counts of all units of a tally after an event, or at the run's end if that is before it. O(units), or O(1) if they
  /// were read lately.
  func counts(_ tally: RecordAddress, at sequence: UInt64) throws(PageDamage) -> KeyCounts {
    let sequence = min(sequence, root.end)
    return try made(of: tally, part: Part.counts &+ sequence, byteCount: \KeyCounts.byteCount) {
      () throws(PageDamage) in try chunk(of: tally, at: sequence).counts(at: sequence)
    }
  }

  /// What is made of a tally, and of a chunk, in the cache.
  private enum Part {
    static let index: UInt64 = 1
    static let chunk: UInt64 = 2
    /// With the sequence added.
    static let counts: UInt64 = 3
  }

  /// What all units of a tally count together after an event, or at the run's end if that is before it. O(changes of a
  /// chunk), and O(units) for a chunk that was not read lately.
  func total(_ tally: RecordAddress, at sequence: UInt64) throws(PageDamage) -> Int64 {
    let sequence = min(sequence, root.end)
    return try chunk(of: tally, at: sequence).total(at: sequence)
  }

  private func chunk(of tally: RecordAddress, at sequence: UInt64) throws(PageDamage) -> TallyChunk {
    let index = try index(of: tally)
    let found = try index.chunk(at: sequence - root.begin)
    return try made(of: found.address, part: Part.chunk, byteCount: \TallyChunk.byteCount) {
      () throws(PageDamage) in
      try TallyChunk(
        unkept(at: found.address), units: index.units, from: root.begin + found.first, through: root.end)
    }
  }

  /// Reads every chunk of a tally, and every change in it. None of it is kept in memory.
  func check(_ tally: RecordAddress) throws(PageDamage) {
    let index = try TallyIndex(unkept(at: tally), span: root.end - root.begin)
    var distance: UInt64? = 0
    while let first = distance {
      let chunk = try index.chunk(at: first)
      _ = try TallyChunk(
        unkept(at: chunk.address), units: index.units, from: root.begin + chunk.first, through: root.end
      ).counts(at: root.end)
      distance = try index.chunk(after: chunk)?.first
    }
  }

  /// O(chunks) the first time.
  private func index(of tally: RecordAddress) throws(PageDamage) -> TallyIndex {
    try made(of: tally, part: Part.index, byteCount: \TallyIndex.byteCount) {
      () throws(PageDamage) in try TallyIndex(unkept(at: tally), span: root.end - root.begin)
    }
  }
}
