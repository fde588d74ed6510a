// Which rows the events between two moments changed.

internal import StrataBase
internal import StrataTables

/// The keys of the rows that the events after one and up to another changed: ascending, each once. Belongs to one thread
/// at a time. Costs O(events) when it is made, and O(runs + log n) for each key.
final class RunChangedKeys {
  /// The changed rows of one run.
  struct Head: AscendingSource {
    let cursor: RunRowCursor
    /// The numbers of the rows, ascending; nil for all rows of the run.
    fileprivate var numbers: [UInt32]?
    fileprivate var nextIndex = 0
    private static let nearMax: UInt64 = 16

    func order(_ other: Head) -> Int { cursor.order(other.cursor) }

    /// Goes to the next row. False at the end.
    mutating func next() throws(PageDamage) -> Bool {
      guard let numbers else { return try cursor.next() }
      guard nextIndex < numbers.count else { return false }
      let number = UInt64(numbers[nextIndex])
      // Rows that are near each other are met on the way.
      let isNear = nextIndex > 0 && number - cursor.number <= Self.nearMax
      nextIndex += 1
      while isNear, cursor.number < number { guard try cursor.next() else { break } }
      if isNear, cursor.number == number { return true }
      guard try cursor.seek(number: number) else {
        throw PageDamage("an event changed a row that its run does not have")
      }
      return true
    }
  }

  private var heads: SortedMerge<Head>

  init(_ set: RunSet, after first: UInt64, through last: UInt64) throws(PageDamage) {
    var heads: [Head] = []
    for run in set.runs where run.root.begin < last && run.root.end > first {
      // A delta has no row that none of its events changed.
      let isWhole = !run.root.isBase && first <= run.root.begin && run.root.end <= last
      let numbers = isWhole ? nil : try Self.numbers(in: run, after: first, through: last)
      heads.append(Head(cursor: RunRowCursor(run), numbers: numbers))
    }
    self.heads = try SortedMerge(heads)
  }

  private static func numbers(
    in run: RunReader, after first: UInt64, through last: UInt64
  ) throws(PageDamage) -> [UInt32] {
    let cursor = RunChangesCursor(run)
    var numbers: [UInt32] = []
    if first > run.root.begin { try cursor.seek(first + 1) }
    while let event = try cursor.next(), event.sequence <= last {
      numbers += cursor.rows
      if event.sequence == last { break }
    }
    numbers.sort()
    var different: [UInt32] = []
    for number in numbers where number != different.last { different.append(number) }
    return different
  }

  /// Goes to the next key. False at the end.
  func next() throws(PageDamage) -> Bool { try heads.next() }

  /// The key that `next` went to.
  var key: [UInt8] { heads.first.cursor.key }

  /// The first and the last of the runs that changed the row, at it.
  var ends: (first: RunRowCursor, last: RunRowCursor) {
    (heads.first.cursor, heads.sources[heads.current[heads.current.count - 1]].cursor)
  }
}

extension RunSet {
  /// The keys of the rows that events after one and up to another changed, ascending. O(changes).
  func changedKeys(after first: UInt64, through last: UInt64) throws(PageDamage) -> [[UInt8]] {
    let changed = try RunChangedKeys(self, after: first, through: last)
    var keys: [[UInt8]] = []
    while try changed.next() { keys.append(changed.key) }
    return keys
  }

  /// About how many changes there are between two events, in either direction, as far as the runs have them. Reads
  /// nothing. O(runs).
  func changeCount(between a: UInt64, and b: UInt64) -> Double {
    let (first, last) = (min(a, b), max(a, b))
    var count = 0.0
    for run in runs where run.root.begin < last && run.root.end > first {
      let shared = min(last, run.root.end) - max(first, run.root.begin)
      count += Double(run.root.counts.changes) * Double(shared) / Double(run.root.end - run.root.begin)
    }
    return count
  }
}
