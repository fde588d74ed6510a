// Merging leaves of two trees entry by entry.

/// A position in one of the two trees during a merge.
private struct LeafCursor {
  let page: PageRef
  var index = 0

  init(page: PageRef) {
    assert(page.isLeaf && page.count > 0, "a merge walks over a page that is not a leaf with entries")
    self.page = page
    page.prefetchEntries()
  }

  var isAtEnd: Bool { index == page.count }
}

extension DifferenceWalk {
  /// Merges two runs of leaves on the stack that cover the same range of keys. Either may be empty.
  mutating func mergeLeaves(
    _ old: Range<Int>, _ new: Range<Int>, _ body: (Tree.Difference) -> Bool
  ) -> Bool {
    var i = old.lowerBound
    var j = new.lowerBound
    var oldCursor = i < old.upperBound ? LeafCursor(page: leaf(i)) : nil
    var newCursor = j < new.upperBound ? LeafCursor(page: leaf(j)) : nil
    while oldCursor != nil || newCursor != nil {
      guard merge(&oldCursor, &newCursor, body) else { return false }
      if oldCursor?.isAtEnd == true {
        i += 1
        oldCursor = i < old.upperBound ? LeafCursor(page: leaf(i)) : nil
      }
      if newCursor?.isAtEnd == true {
        j += 1
        newCursor = j < new.upperBound ? LeafCursor(page: leaf(j)) : nil
      }
    }
    return true
  }

  /// Merges two leaves that cover the same range of keys.
  mutating func merge(_ old: PageRef, _ new: PageRef, _ body: (Tree.Difference) -> Bool) -> Bool {
    var oldCursor: LeafCursor? = LeafCursor(page: old)
    var newCursor: LeafCursor? = LeafCursor(page: new)
    guard merge(&oldCursor, &newCursor, body) else { return false }
    if oldCursor?.isAtEnd == true { oldCursor = nil }
    if newCursor?.isAtEnd == true { newCursor = nil }
    return merge(&oldCursor, &newCursor, body)
  }

  /// Merges until one of the two cursors is at its end. If one of them is nil, lends the rest of the other.
  private mutating func merge(
    _ old: inout LeafCursor?, _ new: inout LeafCursor?, _ body: (Tree.Difference) -> Bool
  ) -> Bool {
    guard var one = old, var other = new else {
      while var one = old, !one.isAtEnd {
        guard lend(one, nil, body) else { return false }
        one.index += 1
        old = one
      }
      while var other = new, !other.isAtEnd {
        guard lend(nil, other, body) else { return false }
        other.index += 1
        new = other
      }
      return true
    }
    defer { (old, new) = (one, other) }
    let isSamePrefix = one.page.prefix.equals(other.page.prefix)
    while !one.isAtEnd, !other.isAtEnd {
      if isSamePrefix {
        skipEqual(&one, &other)
        if one.isAtEnd || other.isAtEnd { break }
      }
      let order = isSamePrefix ? slotOrder(one, other) : keyOrder(one, other)
      if order < 0 {
        guard lend(one, nil, body) else { return false }
        one.index += 1
      } else if order > 0 {
        guard lend(nil, other, body) else { return false }
        other.index += 1
      } else {
        let value = ByteRun(one.page.value(one.index))
        if value.equals(ByteRun(other.page.value(other.index))) {
          oldRank += 1
          newRank += 1
        } else {
          guard lend(one, other, body) else { return false }
        }
        one.index += 1
        other.index += 1
      }
    }
    return true
  }

  /// Skips entries that are equal on both sides, in pages with the same prefix.
  @inline(__always)
  private mutating func skipEqual(_ one: inout LeafCursor, _ other: inout LeafCursor) {
    let (slots, otherSlots) = (one.page.slots, other.page.slots)
    let (area, otherArea) = (UnsafeRawPointer(one.page.area), UnsafeRawPointer(other.page.area))
    let count = min(one.page.count - one.index, other.page.count - other.index)
    var skipped = 0
    while skipped < count {
      let slot = slots[one.index + skipped]
      let otherSlot = otherSlots[other.index + skipped]
      guard slot.head == otherSlot.head, slot.suffixLength == otherSlot.suffixLength,
        slot.wide == otherSlot.wide
      else { break }
      // The rest of the key and the value are adjacent, so one comparison covers both.
      let run = ByteRun(base: area + Int(slot.leafOffset), count: slot.heapLength)
      let otherRun = ByteRun(base: otherArea + Int(otherSlot.leafOffset), count: slot.heapLength)
      guard run.equals(otherRun) else { break }
      skipped += 1
    }
    one.index += skipped
    other.index += skipped
    oldRank += skipped
    newRank += skipped
  }

  /// Compares two entries of pages with the same prefix.
  @inline(__always)
  private func slotOrder(_ one: LeafCursor, _ other: LeafCursor) -> Int {
    assert(one.page.prefix.equals(other.page.prefix), "slots with different prefixes are compared")
    let slot = one.page.slots[one.index]
    let otherSlot = other.page.slots[other.index]
    if slot.head != otherSlot.head { return slot.head < otherSlot.head ? -1 : 1 }
    let rest = ByteRun(base: UnsafeRawPointer(one.page.area) + Int(slot.leafOffset), count: slot.restLength)
    let otherRest = ByteRun(
      base: UnsafeRawPointer(other.page.area) + Int(otherSlot.leafOffset), count: otherSlot.restLength)
    guard rest.count > 0, otherRest.count > 0 else {
      return Int(slot.suffixLength) - Int(otherSlot.suffixLength)
    }
    return rest.order(against: otherRest)
  }

  private mutating func keyOrder(_ one: LeafCursor, _ other: LeafCursor) -> Int {
    oldKey.key(of: one.page, one.index).order(against: newKey.key(of: other.page, other.index))
  }

  /// Lends one difference and advances the ranks past its entries.
  private mutating func lend(
    _ old: LeafCursor?, _ new: LeafCursor?, _ body: (Tree.Difference) -> Bool
  ) -> Bool {
    let slot = (old ?? new)!
    if let old, let new {
      assert(keyOrder(old, new) == 0, "two entries with different keys are lent as one that changed")
    }
    let key = oldKey.key(of: slot.page, slot.index)
    let difference = Tree.Difference(
      key: key.buffer, oldValue: old.map { $0.page.value($0.index) },
      newValue: new.map { $0.page.value($0.index) }, oldRank: oldRank, newRank: newRank)
    if old != nil { oldRank += 1 }
    if new != nil { newRank += 1 }
    return body(difference)
  }
}
