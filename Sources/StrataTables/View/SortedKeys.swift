// Keys appended in any order and lent in ascending order, for building a view in one pass.

/// Keys of rows in one buffer, with the values that sections are ordered by, and sorted by their bytes once all have
/// been appended.
struct SortedKeys: Sendable {
  private struct Entry {
    /// The first eight bytes, which decide most comparisons.
    var head: UInt64
    var offset: Int
    var length: UInt16
    var sectionLength: UInt16
    var idLength: UInt16
    /// The value follows the key.
    var valueLength: UInt16
  }

  /// A key that is lent.
  struct Key {
    let bytes: UnsafeRawBufferPointer
    let sectionLength: Int
    let idLength: Int
    let value: UnsafeRawBufferPointer

    var section: UnsafeRawBufferPointer { .init(rebasing: bytes[..<sectionLength]) }
    var id: UnsafeRawBufferPointer { .init(rebasing: bytes[(bytes.count - idLength)...]) }
  }

  private var bytes: [UInt8] = []
  private var entries: [Entry] = []

  mutating func append(_ key: PlacedKey) {
    var head: UInt64 = 0
    for index in 0..<8 { head = head << 8 | UInt64(index < key.bytes.count ? key.bytes[index] : 0) }
    entries.append(
      Entry(
        head: head, offset: bytes.count, length: UInt16(key.bytes.count),
        sectionLength: UInt16(key.sectionLength), idLength: UInt16(key.idLength),
        valueLength: UInt16(key.value.count)))
    bytes.append(contentsOf: key.bytes)
    bytes.append(contentsOf: key.value)
  }

  /// Sorts the keys, which `forEachAscending` requires. O(n log n).
  mutating func sort() {
    bytes.withUnsafeBytes { bytes in
      entries.sort { a, b in
        a.head != b.head ? a.head < b.head : Self.key(a, bytes).order(Self.key(b, bytes)) < 0
      }
    }
  }

  /// Lends the keys of several sorted parts in ascending order. O(keys × parts).
  static func forEachAscending(_ parts: [SortedKeys], _ body: (Key) -> Void) {
    var cursors = parts.filter { !$0.entries.isEmpty }.map { Cursor(keys: $0) }
    while !cursors.isEmpty {
      var least = 0
      for index in cursors.indices.dropFirst() where cursors[index].isBefore(cursors[least]) { least = index }
      cursors[least].lendNext(body)
      if cursors[least].isAtEnd { cursors.remove(at: least) }
    }
  }

  /// The keys of a part that are still to be lent.
  private struct Cursor {
    let keys: SortedKeys
    var index = 0

    var isAtEnd: Bool { index == keys.entries.count }

    func isBefore(_ other: Cursor) -> Bool {
      let (mine, its) = (keys.entries[index], other.keys.entries[other.index])
      guard mine.head == its.head else { return mine.head < its.head }
      return keys.bytes.withUnsafeBytes { bytes in
        other.keys.bytes.withUnsafeBytes { SortedKeys.key(mine, bytes).order(SortedKeys.key(its, $0)) < 0 }
      }
    }

    mutating func lendNext(_ body: (Key) -> Void) {
      let entry = keys.entries[index]
      index += 1
      keys.bytes.withUnsafeBytes { bytes in
        let end = entry.offset + Int(entry.length)
        body(
          Key(
            bytes: SortedKeys.key(entry, bytes), sectionLength: Int(entry.sectionLength),
            idLength: Int(entry.idLength), value: .init(rebasing: bytes[end..<end + Int(entry.valueLength)])))
      }
    }
  }

  private static func key(_ entry: Entry, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[entry.offset..<entry.offset + Int(entry.length)])
  }
}
