// What a screen holds on to while its list changes.

internal import StrataEvents

/// An item that shall stay where it is on the screen, whatever happens above it.
public struct ListAnchor<ItemID: Hashable & Sendable>: Hashable, Sendable {
  public var id: ItemID
  /// How far below the top of the screen the item begins, in units of the screen's. It is carried along.
  public var offset: Double

  public init(id: ItemID, offset: Double = 0) {
    self.id = id
    self.offset = offset
  }
}

/// Where an anchor is after a change.
public struct ListAnchorPlace<ItemID: Hashable & Sendable>: Hashable, Sendable {
  /// The anchor; or its neighbour, with the anchor's offset, where the anchor itself is not shown any more.
  public var anchor: ListAnchor<ItemID>
  /// Where it is in the new list.
  public var index: ListIndex
  /// 0 for the anchor itself. For a neighbour how many places behind the anchor it stood in the old list,
  /// negative where it stood before it.
  public var distance: Int
}

extension FetchSnapshot {
  /// Where an anchor in an older snapshot of this list is now.
  ///
  /// An item that is still shown is followed wherever it went. For any other one its nearest neighbour in the
  /// older snapshot stands in that is still shown, and of two that are equally near the one behind it. Nil where
  /// the older snapshot does not show the item either, and where no neighbour within reach is left: then ask
  /// `nearestItem(to:)` with the old index.
  ///
  /// A function of the two snapshots alone. O(log n) for each step.
  ///
  /// - Parameter reach: how many neighbours on each side are looked at, at most.
  public func place(
    of anchor: ListAnchor<Item.ID>, since old: FetchSnapshot, reach: Int = 100
  ) -> ListAnchorPlace<Item.ID>? {
    var text = anchor.id.documentID
    let found = text.withUTF8 { id in
      version.survivor(of: UnsafeRawBufferPointer(id), from: old.version, reach: reach)
    }
    guard let found else { return nil }
    let index = found.position
    let id = found.distance == 0 ? anchor.id : itemIdentifier(at: index)
    return ListAnchorPlace(
      anchor: ListAnchor(id: id, offset: anchor.offset), index: index, distance: found.distance)
  }

  /// The item that is nearest to an index that may not be there any more: in the same section, or else the first
  /// one behind it, or else the last one of the list. Nil where the list shows nothing. O(log n).
  public func nearestItem(to index: ListIndex) -> ListIndex? {
    version.nearest(to: index)
  }

  /// The item that is nearest to a row of a section that may not be there any more.
  ///
  /// A row behind the section's last one gives that one. A section that is not shown gives the first item behind
  /// its place, or else the last one before it; nil where the section holds nothing and its place would depend
  /// on what it holds, and where the list shows nothing. O(log n).
  public func nearestItem(toRow row: Int, inSection section: Section) -> ListIndex? {
    if let place = index(ofSection: section) { return nearestItem(to: ListIndex(section: place, item: row)) }
    return encodeSection(section).withUnsafeBytes { version.nearest(toHiddenSection: $0) }
  }
}
