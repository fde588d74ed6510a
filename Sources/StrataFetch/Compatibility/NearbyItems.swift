// The items around an item of a list.

internal import StrataEvents

extension FetchSnapshot {
  /// The ids around an item, nil where the size is not positive or the list does not show the item.
  /// O(sections + log n + size).
  func nearbyIdentifiers(of id: Item.ID, size: Int) -> [Item.ID]? {
    guard size > 0, let index = index(of: id) else { return nil }
    var before = 0
    for section in 0..<index.section { before += numberOfItems(inSectionAt: section) }
    let places = Self.nearbyPlaces(of: before + index.item, in: numberOfItems, size)
    var ids: [Item.ID] = []
    var start = 0
    for section in 0..<numberOfSections where start < places.upperBound {
      let end = start + numberOfItems(inSectionAt: section)
      for place in places.clamped(to: start..<end) {
        ids.append(itemIdentifier(at: ListIndex(section: section, item: place - start)))
      }
      start = end
    }
    return ids
  }

  /// The places around one of a list of `count` items: `size` of them, or all.
  static func nearbyPlaces(of place: Int, in count: Int, _ size: Int) -> Range<Int> {
    if place < size { return 0..<min(size, count) }
    if place >= count - size { return count - size..<count }
    // Half of one would leave the item itself out.
    let end = place + max(size / 2, 1)
    return end - size..<end
  }
}
