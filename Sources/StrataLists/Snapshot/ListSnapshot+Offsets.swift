// A snapshot as one sequence of items, section after section, and the items near an item.
//
// All functions here convert between an item's offset in the whole list and its section. That takes O(log n) if
// sections are ordered by key and have no windows of their own, and otherwise a walk over the sections shown before it,
// O(log n) for each.

internal import StrataEvents

extension ListSnapshot {
  /// The offset of an item in `itemIdentifiers`, nil if it is not shown.
  public func indexOfItem(_ id: Item.ID) -> Int? {
    index(of: id).map { version.offset(ofSectionAt: $0.section) + $0.item }
  }

  /// The id at an offset in `itemIdentifiers`, which has to be in range.
  public func itemIdentifier(atOffset offset: Int) -> Item.ID {
    itemIdentifier(at: version.position(atOffset: offset))
  }

  /// The ids at a range of offsets in `itemIdentifiers`, which has to be valid. O(ids) more.
  public func itemIdentifiers(in offsets: Range<Int>) -> [Item.ID] {
    precondition(
      offsets.lowerBound >= 0 && offsets.upperBound <= numberOfItems,
      "the list shows \(numberOfItems) items; \(offsets) is out of range")
    return version.runs(of: offsets).flatMap { identifiers(inSectionAt: $0.section, $0.items) }
  }
}

// MARK: Nearby

extension ListSnapshot {
  /// The ids around an item, including its own: `size` of them, or all if the list shows fewer. Nil if the item is not
  /// shown or the size is not positive. O(size) more.
  ///
  /// Near the beginning they are the first ids, and near the end the last ones. In between, the item is in their
  /// middle, or one after it if the size is odd and more than one.
  public func nearbyItemIdentifiers(for id: Item.ID, size: Int) -> [Item.ID]? {
    guard size > 0, let offset = indexOfItem(id) else { return nil }
    return itemIdentifiers(in: nearbyOffsets(of: offset, size: size, count: numberOfItems))
  }

  /// The rows of an item and of those around it, read together; see `nearbyItemIdentifiers` for which ones.
  ///
  /// Throws `outOfRange` if the item is not shown or the size is not positive.
  public func rows(near id: Item.ID, size: Int) async throws(ListError) -> [Item] {
    guard size > 0, let offset = indexOfItem(id) else {
      throw .outOfRange(
        "the item \(id.documentID) is not shown, or the size \(size) is not positive")
    }
    return try await rows(in: nearbyOffsets(of: offset, size: size, count: numberOfItems))
  }
}

/// The offsets around one: `size` of them, or all of `count`.
///
/// - Parameters:
///   - offset: an offset in `0..<count`, which is in the result.
///   - size: at least 1.
package func nearbyOffsets(of offset: Int, size: Int, count: Int) -> Range<Int> {
  if offset < size { return 0..<min(size, count) }
  if offset >= count - size { return count - size..<count }
  // Half of one is zero, so the formula below would give the item before.
  if size == 1 { return offset..<offset + 1 }
  return offset + size / 2 - size..<offset + size / 2
}
