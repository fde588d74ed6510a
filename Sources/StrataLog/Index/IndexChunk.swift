// A chunk of an index file: entries in the order of their keys, which fill it exactly.
//
//   ┌────────────────┬──────────────────┬─────┬───────┐
//   │ key length u16 │ value length u32 │ key │ value │ …
//   └────────────────┴──────────────────┴─────┴───────┘

/// A chunk whose checksum and structure have been checked.
struct IndexChunk: Sendable {
  let bytes: FileBytes

  /// Nil unless the bytes are the chunk that the fence describes and all its keys precede the next chunk's first key. A
  /// matching checksum is not enough: the walk below must never leave the chunk.
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

/// Iterates over the entries of a chunk.
struct IndexEntries {
  private var place: UnsafeRawPointer?
  private var left: Int

  init(_ bytes: UnsafeRawBufferPointer) {
    place = bytes.baseAddress
    left = bytes.count
  }

  /// False if the iteration ended at bytes that are not an entry.
  var isExhausted: Bool { left == 0 }

  @inline(__always)
  mutating func next() -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
    guard let head = place, left >= IndexFormat.entryHeadLength else { return nil }
    let keyLength = Int(UInt16(littleEndian: head.loadUnaligned(as: UInt16.self)))
    let valueLength = Int(UInt32(littleEndian: head.loadUnaligned(fromByteOffset: 2, as: UInt32.self)))
    let length = IndexFormat.entryHeadLength + keyLength + valueLength
    guard length <= left else { return nil }
    let key = head + IndexFormat.entryHeadLength
    place = head + length
    left -= length
    assert(left >= 0, "an entry ends within its chunk")
    return (
      UnsafeRawBufferPointer(start: key, count: keyLength),
      UnsafeRawBufferPointer(start: key + keyLength, count: valueLength)
    )
  }
}
