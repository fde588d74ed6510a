// Byte strings by number: what a filter looks up for every row, and a time axis for every event.

internal import StrataBase
internal import StrataTables

/// Gives each byte string a number, in the order in which they are first seen. O(1) for each, and one copy of its bytes.
struct ByteTable {
  private struct Entry {
    var offset: Int
    var count: Int
    var hash: UInt64
  }

  private var entries: [Entry] = []
  private var bytes: [UInt8] = []
  /// Numbers plus one by hash, with linear probing; 0 is free. Its length is a power of two.
  private var slots = [UInt32](repeating: 0, count: 8)

  var count: Int { entries.count }

  init() {}

  init(_ keys: [[UInt8]]) {
    for key in keys { key.withUnsafeBytes { _ = number(of: $0) } }
  }

  /// The number of the bytes, which get the next one if they have none. There may be 2³² − 1.
  @inline(__always)
  mutating func number(of key: UnsafeRawBufferPointer) -> (number: Int, isNew: Bool) {
    let hash = XXH64.of(key)
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: hash) & mask
    while slots[slot] != 0 {
      let number = Int(slots[slot]) - 1
      if entries[number].hash == hash, holds(key, number) { return (number, false) }
      slot = (slot + 1) & mask
    }
    slots[slot] = UInt32(entries.count + 1)
    return (append(key, hash), true)
  }

  /// Whether the bytes have a number.
  func contains(_ key: UnsafeRawBufferPointer) -> Bool {
    guard count > 0 else { return false }
    let hash = XXH64.of(key)
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: hash) & mask
    while slots[slot] != 0 {
      let number = Int(slots[slot]) - 1
      if entries[number].hash == hash, holds(key, number) { return true }
      slot = (slot + 1) & mask
    }
    return false
  }

  private func holds(_ key: UnsafeRawBufferPointer, _ number: Int) -> Bool {
    withBytes(number) { $0.hasSameBytes(as: key) }
  }

  private mutating func append(_ key: UnsafeRawBufferPointer, _ hash: UInt64) -> Int {
    entries.append(Entry(offset: bytes.count, count: key.count, hash: hash))
    bytes.append(contentsOf: key)
    if entries.count * 2 > slots.count { index(slotCount: slots.count * 2) }
    return entries.count - 1
  }

  private mutating func index(slotCount: Int) {
    slots = [UInt32](repeating: 0, count: slotCount)
    let mask = slotCount - 1
    for (number, entry) in entries.enumerated() {
      var slot = Int(truncatingIfNeeded: entry.hash) & mask
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      slots[slot] = UInt32(number + 1)
    }
  }

  /// The bytes with a number.
  @inline(__always)
  func withBytes<Result>(_ number: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let entry = entries[number]
    return bytes.withUnsafeBytes {
      body(UnsafeRawBufferPointer(rebasing: $0[entry.offset..<entry.offset + entry.count]))
    }
  }

  /// The table with some of the byte strings alone, in their order. O(n).
  func keeping(_ isKept: (Int) -> Bool) -> ByteTable {
    var kept = ByteTable()
    for number in entries.indices where isKept(number) {
      withBytes(number) { _ = kept.append($0, entries[number].hash) }
    }
    kept.index(slotCount: kept.slots.count)
    return kept
  }
}
