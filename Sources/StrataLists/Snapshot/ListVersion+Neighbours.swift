// Items near a position, in the same list and in a later one.

internal import StrataTables

extension ListVersion {
  /// The position of an item of an older list or, if it is no longer shown, of the nearest item there that this list
  /// still shows; of two that are equally near, the following one. Nil if there is none within reach.
  ///
  /// O(log n) for an item that is still shown, otherwise O(log n) for each item visited: two per step.
  ///
  /// - Parameter reach: the maximum number of steps in each direction.
  /// - Returns: the position here, and the number of positions that the found item was after the given one in the older
  ///   list; negative if it was before it.
  func survivor(
    of id: UnsafeRawBufferPointer, from old: ListVersion, reach: Int
  ) -> (position: ListIndex, distance: Int)? {
    if let position = position(of: id) { return (position, 0) }
    guard reach > 0, let start = old.position(of: id) else { return nil }
    var next: ListIndex? = start
    var previous: ListIndex? = start
    for step in 1...reach {
      next = next.flatMap { old.position(after: $0) }
      previous = previous.flatMap { old.position(before: $0) }
      if let next, let position = position(ofItemAt: next, in: old) { return (position, step) }
      if let previous, let position = position(ofItemAt: previous, in: old) { return (position, -step) }
      if next == nil, previous == nil { return nil }
    }
    return nil
  }

  /// The position in this list of an item of another one.
  private func position(ofItemAt position: ListIndex, in other: ListVersion) -> ListIndex? {
    var found: ListIndex?
    other.forEachItem(inSectionAt: position.section, position.item..<position.item + 1) { key in
      found = self.position(of: key.id)
    }
    return found
  }

  private func position(after position: ListIndex) -> ListIndex? {
    if position.item + 1 < shownCount(ofSectionAt: position.section) {
      return ListIndex(section: position.section, item: position.item + 1)
    }
    return firstPosition(fromSection: position.section + 1)
  }

  private func position(before position: ListIndex) -> ListIndex? {
    if position.item > 0 { return ListIndex(section: position.section, item: position.item - 1) }
    return lastPosition(beforeSection: position.section)
  }

  /// The first shown item of the sections from an index on. Declared sections may show none.
  private func firstPosition(fromSection index: Int) -> ListIndex? {
    for index in index..<max(index, sectionCount) where shownCount(ofSectionAt: index) > 0 {
      return ListIndex(section: index, item: 0)
    }
    return nil
  }

  private func lastPosition(beforeSection index: Int) -> ListIndex? {
    for index in (0..<index).reversed() {
      let shown = shownCount(ofSectionAt: index)
      if shown > 0 { return ListIndex(section: index, item: shown - 1) }
    }
    return nil
  }

  /// The shown item nearest to a position, which may be out of range: in the same section, or else the first one after
  /// it, or else the last one. Nil if the list shows nothing. O(log sections), plus the declared sections without items
  /// that are skipped.
  func nearest(to position: ListIndex) -> ListIndex? {
    let index = min(max(position.section, 0), sectionCount)
    if index == position.section, index < sectionCount {
      let shown = shownCount(ofSectionAt: index)
      if shown > 0 { return ListIndex(section: index, item: min(max(position.item, 0), shown - 1)) }
    }
    return firstPosition(fromSection: index) ?? lastPosition(beforeSection: index)
  }

  /// The same for a section that is not shown: the first item after the position where the section would be. Nil also
  /// if that position is unknown, because the section holds no items and its position depends on them.
  func nearest(toHiddenSection section: UnsafeRawBufferPointer) -> ListIndex? {
    guard let rank = view.insertionRank(ofSection: section) else { return nil }
    return nearest(to: ListIndex(section: sections.countBefore(rank: rank), item: 0))
  }
}
