// Finding a key in a page.

/// The position of a key in a page, or the position where it would be inserted.
struct PageSlot {
  var index: Int
  var isFound: Bool
  /// False if the key does not have the page's prefix; `index` is then 0 or the number of slots.
  var hasPrefix: Bool
}

extension PageRef {
  /// The position of a key in a leaf. O(log entries).
  @inline(__always)
  func find(_ key: ByteRun) -> PageSlot { find(key, slotCount: count, isInner: false) }

  /// The index of the child whose range of keys contains the key. O(log children).
  @inline(__always)
  func childIndex(_ key: ByteRun) -> Int {
    let slot = find(key, slotCount: count - 1, isInner: true)
    return slot.index + (slot.isFound ? 1 : 0)
  }

  @inline(__always)
  private func find(_ key: ByteRun, slotCount: Int, isInner: Bool) -> PageSlot {
    let length = prefixLength
    if length > 0 {
      let order = key.order(againstPrefix: prefix)
      if order != 0 { return PageSlot(index: order < 0 ? 0 : slotCount, isFound: false, hasPrefix: false) }
    }
    let slots = self.slots
    if slotCount > 32 { Self.prefetchMiddles(slots, slotCount) }
    let head = key.head(length)
    // Finds the first slot whose head is not less, without a branch that depends on the data.
    var low = 0
    var size = slotCount
    while size > 1 {
      let half = size >> 1
      low &+= slots[low &+ half &- 1].head < head ? half : 0
      size &-= half
    }
    if size == 1, slots[low].head < head { low &+= 1 }
    assert(
      (low == 0 || slots[low - 1].head < head) && (low == slotCount || slots[low].head >= head),
      "a binary search missed the position")
    guard low < slotCount, slots[low].head == head else {
      return PageSlot(index: low, isFound: false, hasPrefix: true)
    }
    return findInRun(key, low, slotCount, isInner)
  }

  /// The position among slots whose heads equal the key's: the rests of the keys decide.
  @inline(__always)
  private func findInRun(_ key: ByteRun, _ start: Int, _ slotCount: Int, _ isInner: Bool) -> PageSlot {
    let head = key.head(prefixLength)
    var low = start
    var high = slotCount
    var middle = start
    while low < high {
      let slot = slots[middle]
      let order = slot.head != head ? 1 : restOrder(slot, key, isInner)
      if order == 0 { return PageSlot(index: middle, isFound: true, hasPrefix: true) }
      if order < 0 { low = middle + 1 } else { high = middle }
      middle = (low + high) >> 1
    }
    return PageSlot(index: low, isFound: false, hasPrefix: true)
  }

  /// Compares a slot with a key that has the same head.
  @inline(__always)
  private func restOrder(_ slot: Slot, _ key: ByteRun, _ isInner: Bool) -> Int {
    let suffixLength = key.count - prefixLength
    let slotLength = Int(slot.suffixLength)
    // Unless both keys are longer than their heads, keys with equal heads differ only in length: the padding is zeros.
    guard suffixLength > 8, slotLength > 8 else { return slotLength - suffixLength }
    let offset = isInner ? Int(slot.wide) : Int(slot.leafOffset)
    let rest = ByteRun(base: UnsafeRawPointer(area) + offset, count: slotLength - 8)
    return rest.order(
      against: ByteRun(base: key.base + prefixLength + 8, count: suffixLength - 8))
  }
}
