// Setting and removing a key in a leaf.

extension TreeEdit {
  /// Sets the value of the key in the leaf in which its position was found.
  mutating func setInLeaf(_ page: PageRef, isOwned: Bool) -> EditOutcome {
    delta = slot.isFound ? 0 : 1
    if layout.isLarge(key, value) || page.isLarge { return setLarge(page, slot) }
    return slot.isFound
      ? replace(page, slot.index, isOwned: isOwned) : insert(page, slot, isOwned: isOwned)
  }

  private mutating func replace(_ page: PageRef, _ index: Int, isOwned: Bool) -> EditOutcome {
    let slot = page.slots[index]
    guard value.count <= slot.valueLength || page.freeBytes >= page.heapLength(key, value) else {
      return rewrite(LeafPlan(page: page, index: index, isReplacing: true, key: key, value: value))
    }
    let target = isOwned ? page : page.copyingLeaf()
    let isDone = target.replaceValue(index, key, value)
    assert(isDone, "a leaf has no room for a value that should fit")
    isUnderfull = value.count < slot.valueLength && target.usedBytes < layout.area / 4
    return isOwned ? .inPlace : hand(target)
  }

  private mutating func insert(_ page: PageRef, _ slot: PageSlot, isOwned: Bool) -> EditOutcome {
    guard slot.hasPrefix, page.freeBytes >= Slot.size + page.heapLength(key, value) else {
      return rewrite(
        LeafPlan(page: page, index: slot.index, isReplacing: false, key: key, value: value),
        hasPrefix: slot.hasPrefix)
    }
    if isOwned {
      page.openGap(slot.index)
      page.fillGap(slot.index, key, value)
      return .inPlace
    }
    let copy = page.copyingLeaf(slot.index, gap: 1)
    copy.fillGap(slot.index, key, value)
    return hand(copy)
  }

  /// Rewrites the leaf with the change: as one page if that leaves room, otherwise as two.
  private mutating func rewrite(_ plan: LeafPlan, hasPrefix: Bool = true) -> EditOutcome {
    let page = plan.page
    let all = 0..<plan.count
    let size = plan.size(all, prefixLength: plan.prefixLength(all))
    let capacity = Int(page.header.pointee.capacity)
    if size <= layout.area - layout.area / 8 {
      // The capacity of a small page doubles until it is that of a whole page.
      return hand(plan.write(all, capacity: min(layout.area, max(capacity, 2 * size))))
    }
    // A key without the prefix is at one end and gets a page of its own, so the others keep their common prefix.
    let split = hasPrefix ? plan.splitPosition(layout) : plan.index == 0 ? 1 : plan.count - 1
    assert(split > 0 && split < plan.count, "a split leaves one side without entries")
    let left = half(plan, 0..<split)
    let right = half(plan, split..<plan.count)
    return hand(left, separator(between: left, right), right)
  }

  /// One side of a split. If that side is the existing page without a change, returns the page itself.
  private func half(_ plan: LeafPlan, _ range: Range<Int>) -> PageRef {
    guard !plan.isReplacing, !range.contains(plan.index), range.count == plan.page.count else {
      return plan.write(range, capacity: layout.area)
    }
    plan.page.retain()
    return plan.page
  }

  /// Sets a value if the entry, or the entry of the page, is too large to share a page.
  private mutating func setLarge(_ page: PageRef, _ slot: PageSlot) -> EditOutcome {
    let index = slot.index
    let new = layout.page(key, value)
    if slot.isFound, page.count == 1 {
      isUnderfull = !new.isLarge
      return hand(new)
    }
    if !new.isLarge { smallPiece = index == 0 ? 0 : 1 }
    let left = side(page, 0..<index)
    let right = side(page, index + (slot.isFound ? 1 : 0)..<page.count)
    guard let left else {
      return hand(new, separator(between: new, right!), right!)
    }
    guard let right else { return hand(left, separator(between: left, new), new) }
    pieces = (left, new, right)
    separators = (separator(between: left, new), separator(between: new, right))
    pieceCount = 3
    return .restructured
  }

  /// Some entries of a leaf in a new page, or the leaf itself if these are all of its entries; nil if there are none.
  private func side(_ page: PageRef, _ range: Range<Int>) -> PageRef? {
    if range.isEmpty { return nil }
    if range.count == page.count {
      page.retain()
      return page
    }
    var buffer = KeyBuffer()
    var heapBytes = 0
    for index in range { heapBytes += page.slots[index].heapLength }
    let size = PageRef.slotsOffset(page.prefixLength) + range.count * Slot.size + heapBytes
    var writer = LeafWriter(
      prefix: page.prefix, heapBytes: heapBytes, capacity: min(layout.area, max(208, size + size / 2)))
    writer.append(page, range, &buffer)
    return writer.finish()
  }
}

extension TreeEdit {
  /// Removes the key that was found from its leaf.
  mutating func removeFromLeaf(_ page: PageRef, isOwned: Bool) -> EditOutcome {
    assert(slot.isFound && slot.index < page.count, "an entry is removed that was not found")
    delta = -1
    if page.count == 1 { return handNothing() }
    var target = page
    if isOwned {
      page.removeEntry(slot.index)
    } else {
      target = page.copyingLeaf(slot.index, gap: -1)
      target.forgetEntry(page.slots[slot.index])
    }
    isUnderfull = target.usedBytes < layout.area / 4
    return isOwned ? .inPlace : hand(target)
  }
}
