// A hash table from hashes to numbers.

/// A hash table from hashes to numbers, with open addressing and linear probing. Entries are never removed.
@usableFromInline @frozen
struct HashedNumbers {
  /// The upper half of the hash and the number plus one, for each entry; 0 if the entry is empty.
  @usableFromInline var entries: [UInt64]
  @usableFromInline let mask: Int

  /// - Parameter capacity: the greatest number of entries; less than 2³².
  @inlinable init(capacity: Int) {
    var count = 16
    while count < capacity * 2 { count *= 2 }
    entries = [UInt64](repeating: 0, count: count)
    mask = count - 1
  }

  @inlinable static func upperHalf(_ hash: Int) -> UInt64 { UInt64(UInt(bitPattern: hash)) & ~0xFFFF_FFFF }

  @inlinable mutating func insert(_ number: Int, hash: Int) {
    var slot = hash & mask
    while entries[slot] != 0 { slot = (slot + 1) & mask }
    entries[slot] = Self.upperHalf(hash) | UInt64(UInt32(number + 1))
  }

  /// The first number with a given hash for which the closure returns true.
  @inlinable func first(hash: Int, where accepts: (Int) -> Bool) -> Int? {
    let upper = Self.upperHalf(hash)
    var slot = hash & mask
    while entries[slot] != 0 {
      let entry = entries[slot]
      let number = Int(entry & 0xFFFF_FFFF) - 1
      if entry & ~0xFFFF_FFFF == upper, accepts(number) { return number }
      slot = (slot + 1) & mask
    }
    return nil
  }
}
