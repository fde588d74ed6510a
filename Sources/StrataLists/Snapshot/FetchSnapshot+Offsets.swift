// A snapshot as one run of items, sections one after the other; and what stands near an item.
//
// Everything here finds a place among all items. That takes O(log n) where sections stand by key and have no
// windows of their own, and otherwise a walk over the sections shown before it, O(log n) for each.

internal import StrataEvents

extension FetchSnapshot {
  /// The place of an item in `itemIdentifiers`, nil where it is not shown.
  public func indexOfItem(_ id: Item.ID) -> Int? {
    index(of: id).map { version.offset(ofSectionAt: $0.section) + $0.item }
  }

  /// The id at a place in `itemIdentifiers`, which has to be there.
  public func itemIdentifier(atOffset offset: Int) -> Item.ID {
    itemIdentifier(at: version.position(atOffset: offset))
  }

  /// The ids at places in `itemIdentifiers`, which have to be there. O(ids) more.
  public func itemIdentifiers(in offsets: Range<Int>) -> [Item.ID] {
    precondition(
      offsets.lowerBound >= 0 && offsets.upperBound <= numberOfItems,
      "the list shows \(numberOfItems) items, and not \(offsets)")
    return version.runs(of: offsets).flatMap { identifiers(inSectionAt: $0.section, $0.items) }
  }
}

// MARK: Nearby

extension FetchSnapshot {
  /// The ids around an item, itself among them: `size` of them, or all where the list shows fewer. Nil where the
  /// item is not shown or the size is not positive. O(size) more.
  ///
  /// Near the beginning they are the first ones, near the end the last ones, and in between the item stands in
  /// their middle, or one behind it where the size is odd and more than one.
  public func nearbyItemIdentifiers(for id: Item.ID, size: Int) -> [Item.ID]? {
    guard size > 0, let offset = indexOfItem(id) else { return nil }
    return itemIdentifiers(in: nearbyOffsets(of: offset, size: size, count: numberOfItems))
  }

  /// An item's row and those around it, read ahead together: `nearbyItemIdentifiers` says which.
  ///
  /// Throws `outOfRange` where the item is not shown or the size is not positive.
  public func rows(near id: Item.ID, size: Int) async throws(ListError) -> [Item] {
    guard size > 0, let offset = indexOfItem(id) else {
      throw .outOfRange(
        "\(size) rows near the item \(id.documentID) were asked for, which the list does not show")
    }
    return try await rows(in: nearbyOffsets(of: offset, size: size, count: numberOfItems))
  }
}

/// The places around one: as many as `size` says, or all of `count`.
///
/// - Parameters:
///   - offset: a place in `0..<count`, which is in the result.
///   - size: at least 1.
package func nearbyOffsets(of offset: Int, size: Int, count: Int) -> Range<Int> {
  if offset < size { return 0..<min(size, count) }
  if offset >= count - size { return count - size..<count }
  // Half of one is nothing, and the one would be the item before.
  if size == 1 { return offset..<offset + 1 }
  return offset + size / 2 - size..<offset + size / 2
}
