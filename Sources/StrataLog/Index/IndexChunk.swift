// A chunk of an index file: entries in the order of their keys, which fill it exactly. Each key is written without what
// it shares with the one before.
//
//   ┌───────────────┬──────────────┬──────────────┬─────────────┬───────┐
//   │ shared varint │ rest varint  │ value varint │ rest of key │ value │ …
//   └───────────────┴──────────────┴──────────────┴─────────────┴───────┘

internal import StrataBase

/// A chunk whose checksum and structure have been checked.
struct IndexChunk: Sendable {
  let bytes: FileBytes

  /// Nil unless the bytes are the chunk that the fence describes and all its keys precede the next chunk's first key. A
  /// matching checksum is not enough: the walks below must never leave the chunk.
  init?(_ bytes: FileBytes, _ index: Int, in fences: IndexFences) {
    let fence = fences[index]
    let isWhole = bytes.withBytes { bytes in
      guard bytes.count == Int(fence.length), bytes.checksum() == fence.checksum else { return false }
      var entries = IndexEntries(bytes)
      var key = RawBuffer(capacity: 256)
      var count = 0
      while let entry = entries.next() {
        guard entry.follows(key.bytes, isFirst: count == 0) else { return false }
        key.replace(from: entry.shared, with: entry.rest)
        if count == 0 {
          guard fences.withKey(index, { $0.hasSameBytes(as: key.bytes) }) else { return false }
        }
        count += 1
      }
      guard entries.isExhausted, count == Int(fence.entryCount), count > 0 else { return false }
      return index + 1 == fences.count || fences.withKey(index + 1) { key.bytes.order(against: $0) < 0 }
    }
    guard isWhole else { return nil }
    self.bytes = bytes
  }

  /// The value of a key, copied. O(entries of the chunk); compares only the bytes that an entry does not share with the
  /// one before.
  func value(forKey key: UnsafeRawBufferPointer) -> [UInt8]? {
    bytes.withBytes { bytes in
      var entries = IndexEntries(bytes)
      // How many first bytes the entry before has in common with the key, which comes after it.
      var common = 0
      while let entry = entries.next() {
        if entry.shared > common { continue }
        // Its next byte is greater than that of the entry before, which had the key's.
        if entry.shared < common { return nil }
        let rest = UnsafeRawBufferPointer(rebasing: key[common...])
        let alike = entry.rest.commonPrefix(with: rest)
        if alike == entry.rest.count, alike == rest.count { return [UInt8](entry.value) }
        if alike == rest.count || (alike < entry.rest.count && entry.rest[alike] > rest[alike]) { return nil }
        common += alike
      }
      return nil
    }
  }

  /// Calls the body with each entry, ascending, until it returns false. The bytes are valid while the body runs.
  /// - Returns: false if the body did.
  func forEach(
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    try bytes.withBytes { (bytes) throws(StoreError) -> Bool in
      var entries = IndexEntries(bytes)
      var key = RawBuffer(capacity: 256)
      while let entry = entries.next() {
        key.replace(from: entry.shared, with: entry.rest)
        guard try body(key.bytes, entry.value) else { return false }
      }
      return true
    }
  }
}

/// An entry as it is written.
struct IndexEntry {
  /// How many first bytes the key has in common with the key before it.
  var shared: Int
  var rest: UnsafeRawBufferPointer
  var value: UnsafeRawBufferPointer

  /// Whether this is an entry after one with that key: a greater key, with nothing left of what both share.
  func follows(_ before: UnsafeRawBufferPointer, isFirst: Bool) -> Bool {
    guard shared + rest.count <= IndexFormat.keyLengthMax else { return false }
    if isFirst { return shared == 0 }
    guard shared <= before.count, let next = rest.first else { return false }
    return shared == before.count || next > before[shared]
  }
}

/// Iterates over the entries of a chunk.
struct IndexEntries {
  private var cursor: ByteCursor?

  init(_ bytes: UnsafeRawBufferPointer) {
    cursor = bytes.baseAddress.map { ByteCursor($0, count: bytes.count) }
  }

  /// False if the iteration ended at bytes that are not an entry.
  var isExhausted: Bool { cursor?.remaining ?? 0 == 0 }

  @inline(__always)
  mutating func next() -> IndexEntry? {
    guard var ahead = cursor, ahead.remaining > 0 else { return nil }
    guard let shared = ahead.varint(), let restLength = ahead.varint(), let valueLength = ahead.varint(),
      shared <= UInt64(IndexFormat.keyLengthMax), let rest = ahead.bytes(restLength),
      let value = ahead.bytes(valueLength)
    else { return nil }
    assert(ahead.remaining < cursor?.remaining ?? 0, "an entry is not empty")
    cursor = ahead
    return IndexEntry(shared: Int(shared), rest: rest, value: value)
  }
}

extension RawBuffer {
  /// Replaces the bytes from an offset on, which is at most the count.
  mutating func replace(from offset: Int, with bytes: UnsafeRawBufferPointer) {
    assert(offset <= count, "a key shares no more than the key before it has")
    count = min(count, offset)
    append(bytes)
  }
}
