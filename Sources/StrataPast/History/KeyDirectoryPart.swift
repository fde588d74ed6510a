// Where some neighbouring pages of keys are, and the groups that say when each key was there.

internal import StrataBase
internal import StrataTables

/// A part of a directory: the pages of some groups in their order, with the key with which each begins, where it is, and
/// of which group its keys are. Pages and groups have their numbers among those of all parts.
final class KeyDirectoryPart: Sendable {
  private struct Page {
    var address: RecordAddress
    var group: UInt32
    /// How many keys of the part's pages before it were there at the run's end; in a delta, by how much that differs from
    /// its begin.
    var count: Int32
    /// How many keys of its group are before it.
    var number: UInt8
  }

  /// The ends of a group: among the part's pages, of its numbers, and among the chunks.
  private struct GroupEnd {
    var page: UInt32
    var chunk: UInt32
    var number: UInt16
  }

  let pages: Range<Int>
  let groups: Range<Int>
  private let firsts: AscendingKeys
  private let ownPages: [Page]
  private let groupEnds: [GroupEnd]
  private let chunks: [KeyChunk]
  /// The count of all pages.
  private let count: Int32

  /// - Parameters:
  ///   - head: what the directory says of the part.
  ///   - span: the number of events of the run.
  init(
    decoding record: RunRecord, _ head: KeyDirectory.Head, span: UInt64
  ) throws(PageDamage) {
    var cursor = record.cursor
    var (pages, groupEnds, chunks): ([Page], [GroupEnd], [KeyChunk]) = ([], [], [])
    var firsts = AscendingKeys()
    // A page takes at least about as many bytes here.
    pages.reserveCapacity(min(head.pages.count, record.bytes.count / 16))
    var (number, count, keysLeft) = (0, Int32(0), UInt64(head.keyCount))
    while cursor.remaining > 0 {
      try firsts.append(&cursor)
      guard let address = RecordAddress(&cursor), let flags = cursor.varint(), flags >> 1 > 0,
        flags >> 1 <= UInt64(KeyBits.countMax - number), let own = cursor.varint().map(ZigZag.decode),
        own.magnitude <= flags >> 1, flags >> 1 <= keysLeft
      else { throw PageDamage("a page of keys has no address, or is of no group") }
      pages.append(
        Page(
          address: address, group: head.groups.lowerBound &+ UInt32(truncatingIfNeeded: groupEnds.count),
          count: count,
          number: UInt8(truncatingIfNeeded: number)))
      count += Int32(truncatingIfNeeded: own)
      number += Int(flags >> 1)
      keysLeft -= flags >> 1
      guard flags & 1 == 1 else { continue }
      try Self.chunks(&cursor, to: &chunks, span)
      groupEnds.append(
        GroupEnd(
          page: UInt32(truncatingIfNeeded: pages.count), chunk: UInt32(truncatingIfNeeded: chunks.count),
          number: UInt16(number)))
      number = 0
    }
    guard number == 0, keysLeft == 0, pages.count == head.pages.count,
      groupEnds.count == head.groups.count, count == head.count
    else { throw PageDamage("the pages of a run have other keys than it counts") }
    self.pages = Int(head.pages.lowerBound)..<Int(head.pages.upperBound)
    groups = Int(head.groups.lowerBound)..<Int(head.groups.upperBound)
    self.firsts = firsts
    (ownPages, self.groupEnds, self.chunks, self.count) = (pages, groupEnds, chunks, count)
  }

  private static func chunks(
    _ cursor: inout ByteCursor, to chunks: inout [KeyChunk], _ span: UInt64
  ) throws(PageDamage) {
    var last: KeyChunk?
    var left = cursor.varint() ?? 0
    guard left > 0 else { throw PageDamage("a group of keys has no chunk") }
    while left > 0 {
      let chunk = try KeyChunk(&cursor, after: last, span: span)
      chunks.append(chunk)
      last = chunk
      left -= 1
    }
  }

  // MARK: Pages

  func address(of page: Int) -> RecordAddress { ownPages[page - pages.lowerBound].address }

  /// Lends the key with which a page begins.
  @inline(__always)
  func withFirst<Result>(_ page: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    firsts.with(page - pages.lowerBound, body)
  }

  func first(_ page: Int) -> [UInt8] { withFirst(page) { Array($0) } }

  /// Whether a page begins with a key.
  func begins(_ page: Int, with key: UnsafeRawBufferPointer) -> Bool {
    withFirst(page) { $0.hasSameBytes(as: key) }
  }

  func begins(_ page: Int, with key: [UInt8]) -> Bool { key.withUnsafeBytes { begins(page, with: $0) } }

  /// The page that has a key if any has it; nil if the key is before all pages.
  ///
  /// - Parameter start: a page that does not begin after it; nil for none. Pages near that one are found sooner.
  ///   O(log distance).
  func page(of key: UnsafeRawBufferPointer, from start: Int? = nil) -> Int? {
    firsts.last(notAfter: key, from: start.map { $0 - pages.lowerBound }).map { pages.lowerBound + $0 }
  }

  func page(of key: [UInt8]) -> Int? { key.withUnsafeBytes { page(of: $0) } }

  /// The first page that begins at or after a key; the end of the pages if there is none. O(log pages).
  func firstPage(from key: [UInt8]) -> Int {
    pages.lowerBound + key.withUnsafeBytes { firsts.first(notBefore: $0) }
  }

  // MARK: Groups

  /// The group whose keys a page has.
  func group(of page: Int) -> Int { Int(ownPages[page - pages.lowerBound].group) }

  /// The numbers, in their group, of the keys that a page has.
  func numbers(of page: Int) -> Range<Int> {
    let index = page - pages.lowerBound
    let isLast = page + 1 == pages.upperBound || ownPages[index + 1].group != ownPages[index].group
    return Int(
      ownPages[index].number)..<(isLast
      ? keyCount(of: group(of: page)) : Int(ownPages[index + 1].number))
  }

  func pages(of group: Int) -> Range<Int> {
    let index = group - groups.lowerBound
    return pages.lowerBound + (index > 0 ? Int(groupEnds[index - 1].page) : 0)..<pages.lowerBound
      + Int(groupEnds[index].page)
  }

  func keyCount(of group: Int) -> Int { Int(groupEnds[group - groups.lowerBound].number) }

  /// How many keys of some pages were there at the run's end; in a delta, by how much that differs from its begin. O(1).
  func countAtEnd(of pages: Range<Int>) -> Int64 {
    Int64(countAtEnd(before: pages.upperBound)) - Int64(countAtEnd(before: pages.lowerBound))
  }

  private func countAtEnd(before page: Int) -> Int32 {
    page < pages.upperBound ? ownPages[page - pages.lowerBound].count : count
  }

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
    let index = group - groups.lowerBound
    return chunks[(index > 0 ? Int(groupEnds[index - 1].chunk) : 0)..<Int(groupEnds[index].chunk)]
  }
}
