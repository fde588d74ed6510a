// Keys appended in any order and lent in ascending order, for building a view in one pass.

/// Keys of rows in one buffer, sorted by their bytes once all have been appended.
struct SortedKeys {
  private struct Entry {
    /// The first eight bytes, which decide most comparisons.
    var head: UInt64
    var offset: Int
    var length: UInt16
    var sectionLength: UInt16
    var idLength: UInt16
  }

  private var bytes: [UInt8] = []
  private var entries: [Entry] = []

  mutating func append(_ key: PlacedKey) {
    var head: UInt64 = 0
    for index in 0..<8 { head = head << 8 | UInt64(index < key.bytes.count ? key.bytes[index] : 0) }
    entries.append(
      Entry(
        head: head, offset: bytes.count, length: UInt16(key.bytes.count),
        sectionLength: UInt16(key.sectionLength), idLength: UInt16(key.idLength)))
    bytes.append(contentsOf: key.bytes)
  }

  /// Lends each key in ascending order. O(n log n) the first time.
  mutating func forEachAscending(
    _ body: (_ key: UnsafeRawBufferPointer, _ sectionLength: Int, _ idLength: Int) -> Void
  ) {
    bytes.withUnsafeBytes { bytes in
      func key(_ entry: Entry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[entry.offset..<entry.offset + Int(entry.length)])
      }
      entries.sort { a, b in a.head != b.head ? a.head < b.head : key(a).order(key(b)) < 0 }
      for entry in entries { body(key(entry), Int(entry.sectionLength), Int(entry.idLength)) }
    }
  }
}
