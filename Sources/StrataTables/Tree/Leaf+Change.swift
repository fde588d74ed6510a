// Changing a leaf in place, and copying one.

extension PageRef {
  /// A copy of a leaf, owned by the caller, with a hole of `gap` slots before the slot at `index`.
  /// A gap of -1 leaves out the slot at `index`.
  @inline(__always)
  func copyingLeaf(_ index: Int = 0, gap: Int = 0) -> PageRef {
    assert(gap <= 0 || freeBytes >= gap * Slot.size, "a copied leaf has no room for the hole")
    let fields = header.pointee
    let copy = PageRef(creating: fields)
    let slotsOffset = Self.slotsOffset(prefixLength)
    let before = slotsOffset + index * Slot.size
    let after = before + (gap < 0 ? Slot.size : 0)
    let end = slotsOffset + count * Slot.size
    copy.area.copyMemory(from: area, byteCount: before)
    (copy.area + after + gap * Slot.size).copyMemory(from: area + after, byteCount: end - after)
    (copy.area + Int(fields.heapTop)).copyMemory(
      from: area + Int(fields.heapTop), byteCount: Int(fields.capacity - fields.heapTop))
    return copy
  }

  /// The number of heap bytes that an entry takes in this leaf.
  @inline(__always)
  func heapLength(_ key: ByteRun, _ value: ByteRun) -> Int {
    max(0, key.count - prefixLength - 8) + value.count
  }

  /// Opens a hole before the slot at `index`. The leaf must have room for another slot.
  @inline(__always)
  func openGap(_ index: Int) {
    assert(freeBytes >= Slot.size, "a leaf has no room for another slot")
    let slots = self.slots
    (slots + index + 1).update(from: slots + index, count: count - index)
  }

  /// Writes a new entry into the hole at `index`. The leaf must have enough free bytes, and the key the leaf's prefix.
  @inline(__always)
  func fillGap(_ index: Int, _ key: ByteRun, _ value: ByteRun) {
    writeEntry(index, key, value)
    let header = self.header
    header.pointee.count += 1
    header.pointee.total += 1
    header.pointee.hint = UInt16(truncatingIfNeeded: index)
    assert(freeBytes >= 0, "a new entry overlaps the slots of its leaf")
  }

  /// Writes the slot and the heap bytes of an entry. The heap grows towards the slots.
  @inline(__always)
  func writeEntry(_ index: Int, _ key: ByteRun, _ value: ByteRun) {
    let header = self.header
    let length = prefixLength
    let suffixLength = key.count - length
    let rest = max(0, suffixLength - 8)
    let top = Int(header.pointee.heapTop) - rest - value.count
    assert(key.order(againstPrefix: prefix) == 0, "a key is written to a page whose prefix it does not have")
    assert(top >= 0 && top <= Int(UInt16.max), "a slot cannot hold the offset of its entry")
    header.pointee.heapTop = UInt32(truncatingIfNeeded: top)
    let target = area + top
    if rest > 0 { target.copyMemory(from: key.base + length + 8, byteCount: rest) }
    (target + rest).copyMemory(from: value.base, byteCount: value.count)
    (slots + index).initialize(
      to: Slot(
        head: key.head(length), suffixLength: UInt16(truncatingIfNeeded: suffixLength),
        leafOffset: UInt16(truncatingIfNeeded: top), wide: UInt32(truncatingIfNeeded: value.count)))
  }

  /// Replaces the value of an entry in place. Returns false if there is no room for the new value.
  @inline(__always)
  func replaceValue(_ index: Int, _ key: ByteRun, _ value: ByteRun) -> Bool {
    let slot = slots[index]
    let length = slot.valueLength
    guard value.count > length else {
      (area + Int(slot.leafOffset) + slot.restLength).copyMemory(from: value.base, byteCount: value.count)
      slots[index].wide = UInt32(truncatingIfNeeded: value.count)
      header.pointee.garbage += UInt32(truncatingIfNeeded: length - value.count)
      return true
    }
    guard freeBytes >= heapLength(key, value) else { return false }
    header.pointee.garbage += UInt32(truncatingIfNeeded: slot.heapLength)
    writeEntry(index, key, value)
    assert(freeBytes >= 0, "a longer value overlaps the slots of its leaf")
    return true
  }

  /// Updates the header for an entry whose slot is removed.
  @inline(__always)
  func forgetEntry(_ slot: Slot) {
    let header = self.header
    assert(header.pointee.count > 1, "a leaf loses its only entry in place")
    header.pointee.count -= 1
    header.pointee.total -= 1
    header.pointee.hint = PageHeader.noHint
    if UInt32(slot.leafOffset) == header.pointee.heapTop {
      header.pointee.heapTop += UInt32(truncatingIfNeeded: slot.heapLength)
    } else {
      header.pointee.garbage += UInt32(truncatingIfNeeded: slot.heapLength)
    }
    assert(
      header.pointee.garbage <= header.pointee.capacity - header.pointee.heapTop,
      "more of a leaf's heap is garbage than there is")
  }

  /// Removes an entry from a leaf in place.
  @inline(__always)
  func removeEntry(_ index: Int) {
    let slots = self.slots
    let slot = slots[index]
    (slots + index).update(from: slots + index + 1, count: count - index - 1)
    forgetEntry(slot)
  }
}
