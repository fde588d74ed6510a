// Writes where the keys of a run are: parts of some groups each, and what is said of each part.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Pages are given in the order of their keys, and the chunks of a group after its pages. A part ends with a group.
///
/// ```
/// directory  for each part: its first key, its address, pages, groups, keys, how many of these are there at the end
/// part       for each page: its first key, its address, keys × 2 + 1 if its group ends, how many are there at the end;
///            then for each chunk of the group: the event that it begins with, and its address
/// ```
struct KeyDirectoryWriter: ~Copyable {
  /// A page of keys that was written.
  struct Page {
    var address: RecordAddress
    var keyCount: Int
    /// How many of them are there at the run's end; in a delta, by how much that differs from its begin.
    var count: Int64
  }

  private let output: RunOutput
  private let pageCountMin: Int
  private var parts = AscendingKeysWriter()
  private var part = AscendingKeysWriter()
  private var first: [UInt8] = []
  private var (pageCount, groupCount, keyCount, count) = (0, 0, 0, Int64(0))

  /// - Parameter pageCountMin: the fewest pages of a part that another one follows.
  init(_ output: RunOutput, pageCountMin: Int) { (self.output, self.pageCountMin) = (output, pageCountMin) }

  /// Adds the page that begins with a key.
  mutating func add(_ page: Page, first key: [UInt8], endsGroup: Bool) {
    if pageCount == 0 { first = key }
    part.append(key)
    page.address.append(to: &part.bytes)
    part.bytes.append(varint: UInt64(page.keyCount) << 1 | (endsGroup ? 1 : 0))
    part.bytes.append(varint: ZigZag.encode(page.count))
    pageCount += 1
    keyCount += page.keyCount
    count += page.count
  }

  /// Ends a group, with the page that was added last.
  mutating func endGroup(_ chunks: [KeyChunk]) throws(StoreError) {
    part.bytes.append(varint: UInt64(chunks.count))
    for chunk in chunks { chunk.append(to: &part.bytes) }
    groupCount += 1
    if pageCount >= pageCountMin { try endPart() }
  }

  private mutating func endPart() throws(StoreError) {
    parts.append(first)
    try output.append(part.bytes.bytes).append(to: &parts.bytes)
    for number in [pageCount, groupCount, keyCount] { parts.bytes.append(varint: UInt64(number)) }
    parts.bytes.append(varint: ZigZag.encode(count))
    (pageCount, groupCount, keyCount, count) = (0, 0, 0, 0)
    part.removeAll()
  }

  /// Writes the directory, after the end of a group.
  mutating func finish() throws(StoreError) -> RecordAddress {
    if pageCount > 0 { try endPart() }
    return try output.append(parts.bytes.bytes)
  }
}
