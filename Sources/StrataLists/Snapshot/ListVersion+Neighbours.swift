// Items that stand near a place, in the same list and in a later one.

internal import StrataTables

extension ListVersion {
  /// Where an item of an older list is, or else the one nearest to it there that this list still shows. Of two
  /// that are equally near the one behind it. Nil where there is none within reach.
  ///
  /// O(log n) for an item that is still shown, else O(log n) for each item that is looked at: two for each step.
  ///
  /// - Parameter reach: how many steps to go in each direction.
  /// - Returns: the position here, and how many places behind the item it stood in the older list; negative
  ///   where it stood before it.
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

  /// Where this list shows an item of another one.
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

  /// The first item of the sections from a place on. Declared sections may show none.
  private func firstPosition(fromSection place: Int) -> ListIndex? {
    for place in place..<max(place, sectionCount) where shownCount(ofSectionAt: place) > 0 {
      return ListIndex(section: place, item: 0)
    }
    return nil
  }

  private func lastPosition(beforeSection place: Int) -> ListIndex? {
    for place in (0..<place).reversed() {
      let shown = shownCount(ofSectionAt: place)
      if shown > 0 { return ListIndex(section: place, item: shown - 1) }
    }
    return nil
  }

  /// The shown item that is nearest to a position, which may be none: in the same section, or else the first one
  /// behind it, or else the last one. Nil where the list shows nothing. O(log sections), and for each declared
  /// section without items that is passed.
  func nearest(to position: ListIndex) -> ListIndex? {
    let place = min(max(position.section, 0), sectionCount)
    if place == position.section, place < sectionCount {
      let shown = shownCount(ofSectionAt: place)
      if shown > 0 { return ListIndex(section: place, item: min(max(position.item, 0), shown - 1)) }
    }
    return firstPosition(fromSection: place) ?? lastPosition(beforeSection: place)
  }

  /// The same for a section that is not shown: the first item behind the place where it would stand. Nil also
  /// where that is not known, since the section holds nothing and its place would depend on what it holds.
  func nearest(toHiddenSection section: UnsafeRawBufferPointer) -> ListIndex? {
    guard let rank = view.insertionRank(ofSection: section) else { return nil }
    return nearest(to: ListIndex(section: sections.countBefore(rank: rank), item: 0))
  }
}
