// Lookup and insertion of keys.
//
// A slot is zero if empty; otherwise it holds the upper half of a hash as a tag above the entry's index plus one. The
// lower bits of the hash say where to begin; the tag avoids looking at almost all other keys. Keys are never removed,
// so a search ends at the first empty slot.

internal import CStrata

extension KeyTable {
  /// The entry of a key, or nil if there is none. O(1) expected.
  ///
  /// - Parameter hash: any well-mixed 64-bit hash of the key, always the same for the same key.
  package func find(_ key: UnsafeRawBufferPointer, hash: UInt64) -> EntryIndex? {
    assert(slots.count & (slots.count - 1) == 0, "the number of slots is a power of two")
    assert(entries.count * 2 <= slots.count, "a search ends at an empty slot")
    let mask = slots.count - 1
    let slots = slots.baseAddress!
    let entries = entries.start
    let tag = hash >> 32
    var place = Int(truncatingIfNeeded: hash) & mask
    while true {
      let slot = slots[place]
      if slot == 0 { return nil }
      if slot >> 32 == tag {
        let index = UInt32(truncatingIfNeeded: slot) &- 1
        let entry = entries + Int(index)
        if entry.pointee.hash == hash, self.key(of: entry.pointee).hasSameBytes(as: key) {
          return EntryIndex(rawValue: index)
        }
      }
      place = (place &+ 1) & mask
    }
  }

  /// Asks the processor for what `find` will read, so that lookups of many keys do not wait for memory one after
  /// another. `stage` 0 asks for the slot of a key, 1 for its entry, 2 for the bytes of its key; each reads what the one
  /// before asked for, and is to be called some keys later.
  @inline(__always)
  func prefetch(_ hash: UInt64, stage: Int) {
    let mask = slots.count - 1
    let slot = slots.baseAddress! + (Int(truncatingIfNeeded: hash) & mask)
    if stage == 0 { return strata_prefetch(slot) }
    // Of a key that is not in its first slot, another one's entry is asked for, which does no harm.
    guard slot.pointee != 0 else { return }
    let entry = entries.start + Int(UInt32(truncatingIfNeeded: slot.pointee) &- 1)
    if stage == 1 { return strata_prefetch(entry) }
    strata_prefetch(keys.start + Int(entry.pointee.keyOffset))
  }

  /// False if no key has this hash. O(1) expected.
  func mayContain(_ hash: UInt64) -> Bool {
    let mask = slots.count - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while slots[place] != 0 {
      if slots[place] >> 32 == hash >> 32 { return true }
      place = (place &+ 1) & mask
    }
    return false
  }

  /// Adds a key that is not in the table yet. O(1) amortised and expected.
  ///
  /// - Parameter base: the number of events of the stream before this segment.
  package mutating func insert(_ key: UnsafeRawBufferPointer, hash: UInt64, base: UInt64) -> EntryIndex {
    assert(find(key, hash: hash) == nil, "the key is not in the table yet")
    precondition(entries.count < countMax, "the table is full")
    precondition(key.count <= countMax - keys.count, "the table's keys are too long")
    if (entries.count + 1) * 2 > slots.count { growSlots() }
    let index = UInt32(entries.count)
    let offset = UInt32(keys.count)
    keys.append(key.assumingMemoryBound(to: UInt8.self))
    entries.append(
      Entry(
        hash: hash, base: base, keyOffset: offset, keyLength: UInt32(key.count), count: 0, last: Self.none
      )
    )
    Self.place(hash, index, in: slots)
    return EntryIndex(rawValue: index)
  }

  /// Removes the keys that were inserted last, for a group whose write failed. Nothing is appended to them. O(keys).
  package mutating func removeLast(_ count: Int) {
    precondition(count >= 0 && count <= entries.count, "no more keys are removed than there are")
    precondition(events.count == 0, "a key with events is not removed")
    guard count > 0 else { return }
    entries.count -= count
    keys.count = Int(entries.start[entries.count].keyOffset)
    slots.update(repeating: 0)
    for index in 0..<entries.count { Self.place(entries.start[index].hash, UInt32(index), in: slots) }
  }

  /// Slots for that many entries: a power of two, of which at most half are used.
  static func makeSlots(forEntries count: Int) -> UnsafeMutableBufferPointer<UInt64> {
    var capacity = 16
    while capacity < count * 2 { capacity *= 2 }
    let slots = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: capacity)
    slots.initialize(repeating: 0)
    return slots
  }

  @inline(never)
  private mutating func growSlots() {
    let larger = Self.makeSlots(forEntries: slots.count)
    for index in 0..<entries.count { Self.place(entries.start[index].hash, UInt32(index), in: larger) }
    slots.deallocate()
    slots = larger
  }

  @inline(__always)
  private static func place(_ hash: UInt64, _ index: UInt32, in slots: UnsafeMutableBufferPointer<UInt64>) {
    let mask = slots.count - 1
    var place = Int(truncatingIfNeeded: hash) & mask
    while slots[place] != 0 { place = (place &+ 1) & mask }
    slots[place] = (hash >> 32) << 32 | UInt64(index + 1)
  }
}
