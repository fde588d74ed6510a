// Keys appended in any order and lent in ascending order, for building a view in one pass.

internal import StrataBase

/// Keys of rows in one buffer, with the values that sections are ordered by, and sorted by their bytes once all have
/// been appended. Belongs to one thread until it is sorted, and is not changed after that.
final class SortedKeys: @unchecked Sendable {
  private struct Entry {
    /// Eight bytes from where not all keys are the same, which decide most comparisons. Set by `sort`.
    var head: UInt64 = 0
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

  // One thread at a time while they change, so the checks of exclusive access are left out.
  @exclusivity(unchecked) private var bytes = RawBuffer(capacity: 1 << 12)
  @exclusivity(unchecked) private var entries: [Entry] = []
  /// The number of bytes with which all keys begin.
  private var commonLength = 0

  func append(_ key: PlacedKey) {
    let entry = Entry(
      offset: bytes.count, length: UInt16(key.bytes.count), sectionLength: UInt16(key.sectionLength),
      idLength: UInt16(key.idLength), valueLength: UInt16(key.value.count))
    key.bytes.withUnsafeBytes { bytes.append($0) }
    key.value.withUnsafeBytes { bytes.append($0) }
    let run = ByteRun(self.key(entry))
    commonLength =
      entries.isEmpty ? run.count : min(commonLength, ByteRun(self.key(entries[0])).commonPrefixLength(run))
    entries.append(entry)
  }

  /// Sorts the keys, which merging requires. O(n log n).
  func sort() {
    let base = UnsafeRawPointer(bytes.base)
    for index in entries.indices {
      entries[index].head = Self.head(Self.key(entries[index], base), after: commonLength)
    }
    entries.sort { a, b in
      a.head != b.head ? a.head < b.head : Self.key(a, base).order(Self.key(b, base)) < 0
    }
    layOut()
  }

  /// Puts the keys into the order in which they will be read: a merge of many parts is slowed down by each jump.
  private func layOut() {
    var ordered = RawBuffer(capacity: bytes.count)
    for index in entries.indices {
      let entry = entries[index]
      entries[index].offset = ordered.count
      ordered.append(
        UnsafeRawBufferPointer(
          start: bytes.base + entry.offset, count: Int(entry.length) + Int(entry.valueLength)))
    }
    bytes = ordered
  }

  private func key(_ entry: Entry) -> UnsafeRawBufferPointer { Self.key(entry, bytes.base) }

  private static func key(_ entry: Entry, _ base: UnsafeRawPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + entry.offset, count: Int(entry.length))
  }

  /// The eight bytes of a key after its first ones as a number, padded with zeros. Keys with the same first bytes are in
  /// the order of these numbers where they differ.
  private static func head(_ key: UnsafeRawBufferPointer, after length: Int) -> UInt64 {
    if key.count >= length + 8 {
      return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: length, as: UInt64.self))
    }
    var head: UInt64 = 0
    for index in length..<length + 8 { head = head << 8 | UInt64(index < key.count ? key[index] : 0) }
    return head
  }
}

extension SortedKeys {
  /// Lends the keys of several sorted parts in ascending order. O(log parts) for each key.
  struct Merge {
    private struct Cursor {
      let part: Int
      var index = 0
      /// The head of the part's next key, after the bytes that the keys of all parts begin with.
      var head: UInt64
    }

    private let parts: [SortedKeys]
    private let commonLength: Int
    /// The parts that have keys left: a heap by their next keys.
    private var heap: [Cursor] = []

    init(_ all: [SortedKeys]) {
      let parts = all.filter { !$0.entries.isEmpty }
      self.parts = parts
      commonLength = parts.reduce(Int.max) { length, part in
        min(
          length, part.commonLength, ByteRun(parts[0].key(at: 0)).commonPrefixLength(ByteRun(part.key(at: 0)))
        )
      }
      for part in parts.indices { heap.append(Cursor(part: part, head: head(ofKey: 0, in: part))) }
      for position in (0..<heap.count / 2).reversed() { sink(position) }
    }

    /// The least of the keys that are left, nil if there is none. Valid as long as the merge.
    mutating func next() -> Key? {
      guard let cursor = heap.first else { return nil }
      let part = parts[cursor.part]
      let entry = part.entries[cursor.index]
      if cursor.index + 1 < part.entries.count {
        heap[0].index += 1
        heap[0].head = head(ofKey: cursor.index + 1, in: cursor.part)
      } else {
        heap[0] = heap[heap.count - 1]
        heap.removeLast()
      }
      sink(0)
      let bytes = part.key(entry)
      return Key(
        bytes: bytes, sectionLength: Int(entry.sectionLength), idLength: Int(entry.idLength),
        value: UnsafeRawBufferPointer(
          start: part.bytes.base + entry.offset + bytes.count, count: Int(entry.valueLength)))
    }

    private func head(ofKey index: Int, in part: Int) -> UInt64 {
      SortedKeys.head(parts[part].key(at: index), after: commonLength)
    }

    private func isBefore(_ a: Cursor, _ b: Cursor) -> Bool {
      if a.head != b.head { return a.head < b.head }
      return parts[a.part].key(at: a.index).order(parts[b.part].key(at: b.index)) < 0
    }

    /// Moves a cursor down to where the heap needs it.
    private mutating func sink(_ position: Int) {
      guard position < heap.count else { return }
      let sinking = heap[position]
      var position = position
      while true {
        var child = 2 * position + 1
        guard child < heap.count else { break }
        if child + 1 < heap.count, isBefore(heap[child + 1], heap[child]) { child += 1 }
        guard isBefore(heap[child], sinking) else { break }
        heap[position] = heap[child]
        position = child
      }
      heap[position] = sinking
    }
  }

  private func key(at index: Int) -> UnsafeRawBufferPointer { key(entries[index]) }
}
