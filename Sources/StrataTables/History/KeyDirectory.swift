// Where the keys of one run are: the pages that hold them, and the groups that say when each was there.

internal import StrataBase

/// The pages of some keys in their order: the key with which each begins, where it is, and of which group its keys are.
final class KeyDirectory: Sendable {
  /// Where it is said when the keys of a group were there, from an event on.
  struct Chunk {
    /// The event with which it begins, as its distance from the run's begin; 0 for the first one of a group.
    var first: UInt64
    var place: RunPlace
  }

  let places: [RunPlace]
  /// The first keys one after the other, and where each ends. Arrays of their own took most of the time to read them.
  private let bytes: [UInt8]
  private let ends: [Int]
  /// The group of each page, how many keys of the group are before the page, and how many of those were there at the
  /// run's end; in a delta, by how much that differs from its begin.
  private let groups: [UInt32]
  private let numbers: [UInt8]
  private let counts: [Int16]
  /// The end of each group among the pages, among its keys, and among the chunks.
  private let groupEnds: [GroupEnd]
  private let chunks: [Chunk]

  private struct GroupEnd {
    var page: UInt32
    var keyCount: UInt16
    /// How many of them were there at the run's end, as of the keys before a page.
    var count: Int16
    var chunk: UInt32
  }

  /// What is put together while a directory is read.
  private struct Draft {
    var (bytes, ends, places): ([UInt8], [Int], [RunPlace]) = ([], [], [])
    var (groups, numbers, counts): ([UInt32], [UInt8], [Int16]) = ([], [], [])
    var (groupEnds, chunks): ([GroupEnd], [Chunk]) = ([], [])
  }

  static let empty = KeyDirectory(Draft())

  private init(_ draft: Draft) {
    (bytes, ends, places) = (draft.bytes, draft.ends, draft.places)
    (groups, numbers, counts) = (draft.groups, draft.numbers, draft.counts)
    (groupEnds, chunks) = (draft.groupEnds, draft.chunks)
  }

  /// - Parameters:
  ///   - keyCountOfAll: the number of keys in all pages.
  ///   - span: the number of events of the run.
  convenience init(
    decoding record: RunRecord, keys keyCountOfAll: UInt64, span: UInt64
  ) throws(StatePage.Damage) {
    var cursor = record.cursor
    var draft = Draft()
    draft.bytes.reserveCapacity(record.bytes.count)
    var key: [UInt8] = []
    var (keyCount, count, all) = (0, Int64(0), UInt64(0))
    while cursor.remaining > 0 {
      try KeyDirectory.next(&cursor, &key, isFirst: draft.ends.isEmpty)
      guard let place = RunPlace(&cursor), let flags = cursor.varint(), flags >> 1 > 0,
        flags >> 1 <= UInt64(KeyBits.countMax - keyCount), let own = cursor.varint().map(ZigZag.decode),
        own.magnitude <= flags >> 1
      else { throw StatePage.Damage("a page of keys has no place, or is of no group") }
      draft.bytes.append(contentsOf: key)
      draft.ends.append(draft.bytes.count)
      draft.places.append(place)
      draft.groups.append(UInt32(truncatingIfNeeded: draft.groupEnds.count))
      draft.numbers.append(UInt8(truncatingIfNeeded: keyCount))
      draft.counts.append(Int16(truncatingIfNeeded: count))
      count += own
      keyCount += Int(flags >> 1)
      all += flags >> 1
      guard flags & 1 == 1 else { continue }
      try KeyDirectory.chunks(&cursor, to: &draft.chunks, span)
      draft.groupEnds.append(
        GroupEnd(
          page: UInt32(truncatingIfNeeded: draft.places.count), keyCount: UInt16(keyCount),
          count: Int16(truncatingIfNeeded: count), chunk: UInt32(truncatingIfNeeded: draft.chunks.count)))
      (keyCount, count) = (0, 0)
    }
    guard keyCount == 0, all == keyCountOfAll else {
      throw StatePage.Damage("the pages of a run have other keys than it counts")
    }
    self.init(draft)
  }

  private static func chunks(
    _ cursor: inout ByteCursor, to chunks: inout [Chunk], _ span: UInt64
  ) throws(StatePage.Damage) {
    var last: UInt64?
    var left = cursor.varint() ?? 0
    guard left > 0 else { throw StatePage.Damage("a group of keys has no moments") }
    while left > 0 {
      guard let first = cursor.varint(), first <= span, last.map({ $0 < first }) ?? (first == 0),
        let place = RunPlace(&cursor)
      else { throw StatePage.Damage("the moments of a group of keys have no place") }
      chunks.append(Chunk(first: first, place: place))
      last = first
      left -= 1
    }
  }

  // MARK: Pages

  var pageCount: Int { ends.count }

  /// Lends the key with which a page begins.
  @inline(__always)
  func withFirst<Result>(_ page: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let start = page > 0 ? ends[page - 1] : 0
    return bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<ends[page]])) }
  }

  func first(_ page: Int) -> [UInt8] { withFirst(page) { Array($0) } }

  /// Whether a page begins with a key.
  func begins(_ page: Int, with key: [UInt8]) -> Bool {
    key.withUnsafeBytes { begins(page, with: $0) }
  }

  func begins(_ page: Int, with key: UnsafeRawBufferPointer) -> Bool {
    withFirst(page) { $0.hasSameBytes(as: key) }
  }

  /// The sections that a run names, ascending.
  static func sections(decoding record: RunRecord) throws(StatePage.Damage) -> [[UInt8]] {
    var cursor = record.cursor
    var sections: [[UInt8]] = []
    var key: [UInt8] = []
    while cursor.remaining > 0 {
      try next(&cursor, &key, isFirst: sections.isEmpty)
      sections.append(key)
    }
    return sections
  }

  /// Reads a key that follows another one.
  static func next(
    _ cursor: inout ByteCursor, _ key: inout [UInt8], isFirst: Bool
  ) throws(StatePage.Damage) {
    // What two keys share is all that they share, so the next byte decides.
    guard let shared = cursor.varint(), shared <= UInt64(key.count), let rest = cursor.lengthPrefixed(),
      isFirst ? shared == 0 : !rest.isEmpty,
      isFirst || Int(shared) == key.count || rest[0] > key[Int(shared)],
      Int(shared) + rest.count <= Tree.keyLengthMax
    else { throw StatePage.Damage("the keys of a run do not ascend") }
    key.removeLast(key.count - Int(shared))
    key.append(contentsOf: rest)
  }

  /// The page that has a key if any has it; nil if the key is before all pages. O(log pages).
  func page(of key: [UInt8]) -> Int? { key.withUnsafeBytes { page(of: $0) } }

  /// - Parameter start: a page that is not after it. Pages near that one are found sooner. O(log distance).
  func page(of key: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
    // The first page that begins after the key is after `low`, which is not, or the first of all, and not after `high`.
    var (low, high, step) = (start, pageCount, 1)
    while low + step < high {
      guard isAfter(low + step, key) else {
        (low, step) = (low + step, step * 2)
        continue
      }
      high = low + step
    }
    while high - low > 1 {
      let middle = (low + high) / 2
      if isAfter(middle, key) { high = middle } else { low = middle }
    }
    return low < high && !(low == start && isAfter(low, key)) ? low : nil
  }

  private func isAfter(_ page: Int, _ key: UnsafeRawBufferPointer) -> Bool {
    withFirst(page) { $0.order(key) > 0 }
  }

  /// The first page that begins at or after a key.
  func firstIndex(from key: [UInt8]) -> Int { key.withUnsafeBytes { firstIndex(from: $0) } }

  private func firstIndex(from key: UnsafeRawBufferPointer) -> Int {
    var (low, high) = (0, pageCount)
    while low < high {
      let middle = (low + high) / 2
      if withFirst(middle, { $0.order(key) < 0 }) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  // MARK: Groups

  var groupCount: Int { groupEnds.count }

  /// The group whose keys a page has.
  func group(of page: Int) -> Int { Int(groups[page]) }

  /// The numbers, in their group, of the keys that a page has.
  func numbers(of page: Int) -> Range<Int> {
    let first = Int(numbers[page])
    let isLast = page + 1 == pageCount || groups[page + 1] != groups[page]
    return first..<(isLast ? keyCount(of: group(of: page)) : Int(numbers[page + 1]))
  }

  func pages(of group: Int) -> Range<Int> {
    (group > 0 ? Int(groupEnds[group - 1].page) : 0)..<Int(groupEnds[group].page)
  }

  func keyCount(of group: Int) -> Int { Int(groupEnds[group].keyCount) }

  /// How many keys of a page's group are before the page, and were there at the run's end; in a delta, by how much that
  /// differs from its begin.
  func countAtEnd(before page: Int) -> Int64 { Int64(counts[page]) }

  /// The same of a whole group, or of one page.
  func countAtEnd(of group: Int) -> Int64 { Int64(groupEnds[group].count) }

  func countAtEnd(inPage page: Int) -> Int64 {
    let isLast = page + 1 == pageCount || groups[page + 1] != groups[page]
    return (isLast ? countAtEnd(of: group(of: page)) : Int64(counts[page + 1])) - Int64(counts[page])
  }

  /// At least one.
  func chunks(of group: Int) -> ArraySlice<Chunk> {
    chunks[(group > 0 ? Int(groupEnds[group - 1].chunk) : 0)..<Int(groupEnds[group].chunk)]
  }
}
