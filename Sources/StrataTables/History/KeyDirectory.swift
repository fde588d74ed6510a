// Where the keys of one run are: the pages that hold them, and the groups that say when each was there.

internal import StrataBase

/// The pages of some keys in their order: the key with which each begins, where it is, and of which group its keys are.
/// A merged run has a hundred thousand pages, which are read at once when it is first looked at.
final class KeyDirectory: Sendable {
  private struct Page {
    var place: RunPlace
    /// Where its first key ends, among the first keys of all pages.
    var keyEnd: UInt32
    var group: UInt32
    /// How many keys of the pages before it were there at the run's end; in a delta, by how much that differs from its
    /// begin.
    var count: Int32
    /// How many keys of its group are before it.
    var number: UInt8
  }

  /// The ends of a group: among the pages, of its numbers, and among the chunks.
  private struct GroupEnd {
    var page: UInt32
    var chunk: UInt32
    var number: UInt16
  }

  private let pages: [Page]
  private let groupEnds: [GroupEnd]
  private let chunks: [KeyChunk]
  /// The count of all pages.
  private let count: Int32
  /// The first keys, one after the other.
  private let firsts: KeyBytes

  private init(
    _ pages: [Page], _ groupEnds: [GroupEnd], _ chunks: [KeyChunk], _ count: Int32,
    _ firsts: consuming KeyBytes
  ) {
    (self.pages, self.groupEnds, self.chunks, self.count) = (pages, groupEnds, chunks, count)
    self.firsts = firsts
  }

  static let empty = KeyDirectory([], [], [], 0, KeyBytes())

  /// - Parameters:
  ///   - keyCount: the number of keys in all pages.
  ///   - span: the number of events of the run.
  convenience init(
    decoding record: RunRecord, keys keyCount: UInt64, span: UInt64
  ) throws(StatePage.Damage) {
    var cursor = record.cursor
    var (pages, groupEnds, chunks): ([Page], [GroupEnd], [KeyChunk]) = ([], [], [])
    var firsts = KeyBytes()
    // A page takes at least about as many bytes here.
    pages.reserveCapacity(record.bytes.count / 16)
    // Counts are less than the keys, which fit.
    guard keyCount <= UInt64(Int32.max) else { throw StatePage.Damage("a run has more keys than it can") }
    var (number, count, sum) = (0, Int32(0), UInt64(0))
    while cursor.remaining > 0 {
      try firsts.append(&cursor)
      guard let place = RunPlace(&cursor), let flags = cursor.varint(), flags >> 1 > 0,
        flags >> 1 <= UInt64(KeyBits.countMax - number), let own = cursor.varint().map(ZigZag.decode),
        own.magnitude <= flags >> 1, flags >> 1 <= keyCount - sum,
        let keyEnd = UInt32(exactly: firsts.end)
      else { throw StatePage.Damage("a page of keys has no place, or is of no group") }
      pages.append(
        Page(
          place: place, keyEnd: keyEnd, group: UInt32(truncatingIfNeeded: groupEnds.count), count: count,
          number: UInt8(truncatingIfNeeded: number)))
      count += Int32(truncatingIfNeeded: own)
      number += Int(flags >> 1)
      sum += flags >> 1
      guard flags & 1 == 1 else { continue }
      try KeyDirectory.chunks(&cursor, to: &chunks, span)
      groupEnds.append(
        GroupEnd(
          page: UInt32(truncatingIfNeeded: pages.count), chunk: UInt32(truncatingIfNeeded: chunks.count),
          number: UInt16(number)))
      number = 0
    }
    guard number == 0, sum == keyCount else {
      throw StatePage.Damage("the pages of a run have other keys than it counts")
    }
    self.init(pages, groupEnds, chunks, count, firsts)
  }

  private static func chunks(
    _ cursor: inout ByteCursor, to chunks: inout [KeyChunk], _ span: UInt64
  ) throws(StatePage.Damage) {
    var last: KeyChunk?
    var left = cursor.varint() ?? 0
    guard left > 0 else { throw StatePage.Damage("a group of keys has no chunk") }
    while left > 0 {
      let chunk = try KeyChunk(&cursor, after: last, span: span)
      chunks.append(chunk)
      last = chunk
      left -= 1
    }
  }

  // MARK: Pages

  var pageCount: Int { pages.count }

  func place(of page: Int) -> RunPlace { pages[page].place }

  /// Lends the key with which a page begins.
  @inline(__always)
  func withFirst<Result>(_ page: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    body(firsts[Int(page > 0 ? pages[page - 1].keyEnd : 0)..<Int(pages[page].keyEnd)])
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
    guard let shared = cursor.varint(), shared <= UInt64(key.count), let rest = cursor.lengthPrefixed(),
      isFirst ? shared == 0 : key.withUnsafeBytes({ follows($0, shared: Int(shared), rest) }),
      Int(shared) + rest.count <= Tree.keyLengthMax
    else { throw StatePage.Damage("the keys of a run do not ascend") }
    key.removeLast(key.count - Int(shared))
    key.append(contentsOf: rest)
  }

  /// Whether a key comes after another one. What two keys share is all that they share, so the next byte decides.
  @inline(__always)
  fileprivate static func follows(
    _ last: UnsafeRawBufferPointer, shared: Int, _ rest: UnsafeRawBufferPointer
  ) -> Bool {
    !rest.isEmpty && (shared == last.count || rest[0] > last[shared])
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
  func group(of page: Int) -> Int { Int(pages[page].group) }

  /// The numbers, in their group, of the keys that a page has.
  func numbers(of page: Int) -> Range<Int> {
    let isLast = page + 1 == pageCount || pages[page + 1].group != pages[page].group
    return Int(pages[page].number)..<(isLast ? keyCount(of: group(of: page)) : Int(pages[page + 1].number))
  }

  func pages(of group: Int) -> Range<Int> {
    (group > 0 ? Int(groupEnds[group - 1].page) : 0)..<Int(groupEnds[group].page)
  }

  func keyCount(of group: Int) -> Int { Int(groupEnds[group].number) }

  /// How many keys of some pages were there at the run's end; in a delta, by how much that differs from its begin. O(1).
  func countAtEnd(of pages: Range<Int>) -> Int64 {
    Int64(countAtEnd(before: pages.upperBound)) - Int64(countAtEnd(before: pages.lowerBound))
  }

  private func countAtEnd(before page: Int) -> Int32 { page < pageCount ? pages[page].count : count }

  /// The first of some pages of which a key was there at the run's end, in a run that is a base or the first one; the end
  /// of the range if there is none. O(log pages).
  func firstAtEnd(in range: Range<Int>) -> Int {
    guard !range.isEmpty else { return range.upperBound }
    // The first page before whose end there are more keys than before the range.
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if countAtEnd(before: middle + 1) > countAtEnd(before: range.lowerBound) {
        high = middle
      } else {
        low = middle + 1
      }
    }
    return low
  }

  /// At least one.
  func chunks(of group: Int) -> ArraySlice<KeyChunk> {
    chunks[(group > 0 ? Int(groupEnds[group - 1].chunk) : 0)..<Int(groupEnds[group].chunk)]
  }
}

/// Ascending keys one after the other, read from what each does not share with the one before. Keys that are arrays took
/// most of the time to read them.
private struct KeyBytes: ~Copyable, @unchecked Sendable {
  // Sendable because nobody changes it once it is in a directory.
  private var bytes = RawBuffer(capacity: 1 << 10)
  private var start = 0
  private var isEmpty = true

  /// Where the last key ends.
  var end: Int { bytes.count }

  subscript(range: Range<Int>) -> UnsafeRawBufferPointer {
    @inline(__always) get { UnsafeRawBufferPointer(rebasing: bytes.bytes[range]) }
  }

  /// Reads the next key.
  mutating func append(_ cursor: inout ByteCursor) throws(StatePage.Damage) {
    let last = self[start..<end]
    guard let shared = cursor.varint(), shared <= UInt64(last.count), let rest = cursor.lengthPrefixed(),
      isEmpty || KeyDirectory.follows(last, shared: Int(shared), rest),
      Int(shared) + rest.count <= Tree.keyLengthMax
    else { throw StatePage.Damage("the keys of a run do not ascend") }
    let target = bytes.reserve(Int(shared) + rest.count)
    target.copyMemory(from: bytes.base + start, byteCount: Int(shared))
    if let base = rest.baseAddress { (target + Int(shared)).copyMemory(from: base, byteCount: rest.count) }
    (start, isEmpty) = (bytes.count, false)
    bytes.count += Int(shared) + rest.count
  }
}
