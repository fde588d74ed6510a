// Scroll anchors: the item that a screen keeps in place while its list changes.

internal import StrataEvents

/// The position, after a change, of an item that should keep its position on the screen.
public struct ListAnchorPlace: Hashable, Sendable {
  /// The index in the new list of the item or, if it is no longer shown, of its neighbour.
  public var index: ListIndex
  /// 0 for the item itself. For a neighbour, the number of positions that it was after the anchor in the old list;
  /// negative if it was before it.
  public var distance: Int
}

extension ListSnapshot {
  /// The position in this snapshot of an item of an older snapshot of the list, which a screen keeps in place.
  ///
  /// An item that is still shown is followed wherever it went. Otherwise the result is its nearest neighbour in the
  /// older snapshot that is still shown; of two that are equally near, the following one. Nil if the older snapshot
  /// does not show the item either, or if no neighbour within reach is left; in that case use `nearestItem(to:)` with
  /// the old index.
  ///
  /// A function of the two snapshots alone. O(log n) for each step.
  ///
  /// - Parameter reach: the maximum number of neighbours to look at on each side.
  public func place(
    of id: Item.ID, since old: ListSnapshot, reach: Int = 100
  ) -> ListAnchorPlace? {
    var text = id.documentID
    let found = text.withUTF8 { id in
      version.survivor(of: UnsafeRawBufferPointer(id), from: old.version, reach: reach)
    }
    return found.map { ListAnchorPlace(index: $0.position, distance: $0.distance) }
  }

  /// The shown item nearest to an index that may no longer exist: in the same section, or else the first one after it,
  /// or else the last one of the list. Nil if the list shows nothing. O(log n).
  public func nearestItem(to index: ListIndex) -> ListIndex? {
    version.nearest(to: index)
  }

  /// The shown item nearest to a row of a section that may no longer exist.
  ///
  /// For a row past the section's last one, this is the last one. For a section that is not shown, this is the first
  /// item after the section's position, or else the last one before it. Nil if the section holds no items and its
  /// position depends on them, or if the list shows nothing. O(log n).
  public func nearestItem(toRow row: Int, inSection section: Section) -> ListIndex? {
    if let index = indexOfSection(section) { return nearestItem(to: ListIndex(section: index, item: row)) }
    return encodeSection(section).withUnsafeBytes { version.nearest(toHiddenSection: $0) }
  }
}
