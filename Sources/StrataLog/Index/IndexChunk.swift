// A chunk of an index file: entries in the order of their keys, filling it exactly.
//
//   ┌────────────────┬──────────────────┬─────┬───────┐
//   │ key length u16 │ value length u32 │ key │ value │ …
//   └────────────────┴──────────────────┴─────┴───────┘

/// A chunk whose checksum and structure have been checked.
struct IndexChunk: Sendable {
  let bytes: FileBytes

  /// Nil where the bytes are not the chunk that the fence describes and that ends before the next chunk's
  /// first key. A matching checksum is not enough: the walk below must never leave the chunk.
  init?(_ bytes: FileBytes, _ index: Int, in fences: IndexFences) {
    let fence = fences[index]
    let isWhole = bytes.withBytes { bytes in
      guard bytes.count == Int(fence.length), bytes.checksum() == fence.checksum else { return false }
      var entries = IndexEntries(bytes)
      var count = 0
      var before: UnsafeRawBufferPointer?
      while let entry = entries.next() {
        if let before {
          guard before.order(against: entry.key) < 0 else { return false }
        } else {
          guard fences.withKey(index, { $0.hasSameBytes(as: entry.key) }) else { return false }
        }
        before = entry.key
        count += 1
      }
      guard entries.isExhausted, count == Int(fence.entryCount), let before else { return false }
      return index + 1 == fences.count || fences.withKey(index + 1) { before.order(against: $0) < 0 }
    }
    guard isWhole else { return nil }
    self.bytes = bytes
  }

  /// The value of a key, copied. O(entries of the chunk).
  func value(forKey key: UnsafeRawBufferPointer) -> [UInt8]? {
    bytes.withBytes { bytes in
      var entries = IndexEntries(bytes)
      while let entry = entries.next() {
        if entry.key.hasSameBytes(as: key) { return [UInt8](entry.value) }
      }
      return nil
    }
  }
}

/// The entries of a chunk, one after another.
struct IndexEntries {
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// False where the walk ended at something that is no entry.
  var isExhausted: Bool { offset == bytes.count }

  @inline(__always)
  mutating func next() -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
    let left = bytes.count - offset - IndexFormat.entryHeadLength
    guard left >= 0 else { return nil }
    let keyLength = Int(bytes.littleEndian(at: offset) as UInt16)
    let valueLength = Int(bytes.littleEndian(at: offset + 2) as UInt32)
    guard keyLength <= left, valueLength <= left - keyLength else { return nil }
    let keyStart = offset + IndexFormat.entryHeadLength
    let valueStart = keyStart + keyLength
    offset = valueStart + valueLength
    return (
      UnsafeRawBufferPointer(rebasing: bytes[keyStart..<valueStart]),
      UnsafeRawBufferPointer(rebasing: bytes[valueStart..<offset])
    )
  }
}
