// Applying the change of a child to an inner page.

extension TreeEdit {
  /// Changes the key that was found under a page: removes it if `isRemoving`, otherwise sets it.
  mutating func change(_ page: PageRef, isOwned: Bool, isRemoving: Bool) -> EditOutcome {
    // The page on disk is the one before the change.
    if isOwned { page.address.pointee = .none }
    if page.isLeaf {
      if page != leaf { slot = page.find(key) }
      return isRemoving ? removeFromLeaf(page, isOwned: isOwned) : setInLeaf(page, isOwned: isOwned)
    }
    // A shared page will be copied, and the copy retains every child.
    if !isOwned { page.prefetchChildren() }
    let index = childIndex(in: page)
    let link = page.children + index
    let child = page.link(index)
    // A page that was read for a stub is the stub's: other trees may refer to that.
    let isChildOwned = isOwned && !child.isStub && PageRef.isUnique(link)
    let outcome = change(child.loaded, isOwned: isChildOwned, isRemoving: isRemoving)
    assert(isChildOwned || outcome != .inPlace, "a page shared with another tree was changed in place")
    switch outcome {
    case .inPlace:
      if delta != 0 {
        page.counts[index] = UInt32(truncatingIfNeeded: Int(page.counts[index]) + delta)
        page.header.pointee.total = UInt32(truncatingIfNeeded: page.total + delta)
      }
      assert(Int(page.counts[index]) == page.link(index).total, "a count is not the total of its child")
      if isUnderfull { return join(page, index, isOwned: isOwned, replacement: nil) ?? .inPlace }
      return .inPlace
    case .replaced:
      let new = piece(0)
      if isUnderfull, let joined = join(page, index, isOwned: isOwned, replacement: new) { return joined }
      return take(new, at: index, in: page, isOwned: isOwned)
    case .restructured: return restructure(page, index)
    }
  }

  /// Replaces the child at `index` with a new one.
  private mutating func take(_ child: PageRef, at index: Int, in page: PageRef, isOwned: Bool) -> EditOutcome
  {
    isUnderfull = false
    guard isOwned else { return hand(page.copyingInner(index, owned: child)) }
    assert(child.height == page.height - 1, "a page receives a child that cannot be its own")
    let link = page.children + index
    let old = link.pointee
    link.pointee = child
    let total = child.header.pointee.total
    page.header.pointee.total = page.header.pointee.total - page.counts[index] + total
    page.counts[index] = total
    assert(page.isTotalOfCounts, "the total of a changed page is not the sum of its counts")
    old.release()
    return .inPlace
  }

  /// Joins an underfull child, or its replacement, with a neighbour. Returns nil if no neighbour has room.
  private mutating func join(
    _ page: PageRef, _ index: Int, isOwned: Bool, replacement: PageRef?
  ) -> EditOutcome? {
    isUnderfull = false
    let child = replacement ?? page.child(index)
    for left in [index - 1, index] where left >= 0 && left + 1 < page.count {
      let neighbour = page.child(left == index ? index + 1 : left)
      let (low, high) = left == index ? (child, neighbour) : (neighbour, child)
      guard let joined = join(low, high, separatorIn: page, left) else { continue }
      // The joined pages are released with the page that held them; a replacement is released here.
      if let replacement { replacement.release() }
      _ = hand(joined)
      return build(page, left..<left + 2)
    }
    return nil
  }

  /// Two neighbouring pages as one, nil if there is no room. `index` is the separator between them.
  private func join(_ left: PageRef, _ right: PageRef, separatorIn page: PageRef, _ index: Int) -> PageRef? {
    if left.isLeaf {
      return .merging(left, right, sizeMax: layout.area - layout.area / 8, area: layout.area)
    }
    guard left.count + right.count <= PageLayout.childCountMax else { return nil }
    var buffer = KeyBuffer()
    var between = KeyBuffer()
    between.begin(page)
    var draft = InnerDraft(height: left.height)
    draft.append(left, 0..<left.count, &buffer)
    let first = right.link(0)
    first.retain()
    draft.append(owned: first, separator: between.separator(page, index))
    draft.append(right, 1..<right.count, &buffer)
    return draft.build(0..<draft.count)
  }

  /// Replaces the child at `index` with its pieces. A small piece is joined with a neighbour.
  private mutating func restructure(_ page: PageRef, _ index: Int) -> EditOutcome {
    isUnderfull = false
    var range = index..<index + 1
    if let small = smallPiece {
      smallPiece = nil
      let neighbour = small == 0 ? index - 1 : index + 1
      if pieceCount == 2, neighbour >= 0, neighbour < page.count {
        let child = page.child(neighbour)
        let old = piece(small)
        assert(!old.isLarge, "a large page is treated as a small piece")
        let joined = PageRef.merging(
          small == 0 ? child : old, small == 0 ? old : child, sizeMax: layout.area - layout.area / 8,
          area: layout.area)
        if let joined {
          if small == 0 { pieces.0 = joined } else { pieces.1 = joined }
          old.release()
          range = min(index, neighbour)..<max(index, neighbour) + 1
        }
      }
    }
    return build(page, range)
  }

  /// Rewrites an inner page with the pieces in place of some children, as one page or as two.
  private mutating func build(_ page: PageRef, _ range: Range<Int>) -> EditOutcome {
    var buffer = KeyBuffer()
    var draft = InnerDraft(height: page.height)
    draft.append(page, 0..<range.lowerBound, &buffer)
    buffer.begin(page)
    let before =
      range.lowerBound == 0 ? ByteRun(base: key.base, count: 0) : buffer.separator(page, range.lowerBound - 1)
    append(to: &draft, separator: before)
    draft.append(page, range.upperBound..<page.count, &buffer)
    let count = draft.count
    if count == 0 { return handNothing() }
    if count <= PageLayout.childCountMax {
      isUnderfull = count < PageLayout.childCountMax / 4
      return hand(draft.build(0..<count))
    }
    // If the children at one end grow, more insertions are likely there.
    let split =
      range.upperBound == page.count ? count - 2 : range.lowerBound == 0 ? 2 : count / 2
    let separator = draft.separator(before: split)
    let left = draft.build(0..<split)
    let right = draft.build(split..<count)
    return hand(left, separator, right)
  }
}
