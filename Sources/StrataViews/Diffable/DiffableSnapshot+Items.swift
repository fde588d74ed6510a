// Adding, removing and moving items of a snapshot: the forms that stop the program if a call is invalid.

extension DiffableSnapshot {
  /// Makes a change, and stops the program if it throws.
  @inlinable
  mutating func change(
    _ body: (inout ThrowingSnapshot<ItemID, Section>) throws(DiffableSnapshotError) -> Void
  ) {
    do throws(DiffableSnapshotError) { try body(&throwing) } catch { preconditionFailure("\(error)") }
  }

  /// Appends items to a section, by default the last one. Items that the snapshot already has are moved.
  ///
  /// O(items), and O(n) once for the first item that is moved. The section must be in the snapshot, and no item may
  /// occur twice in `items`.
  @inlinable
  public mutating func appendItems(_ items: [ItemID], toSection section: Section? = nil) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.appendItems(items, toSection: section) }
  }

  /// Inserts items directly before another one, in their order. Items that the snapshot already has are moved.
  ///
  /// `other` may be one of the items: all of them are removed first, and inserted where `other` was. It must be in the
  /// snapshot, and no item may occur twice in `items`.
  @inlinable
  public mutating func insertItems(_ items: [ItemID], beforeItem other: ItemID) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.insertItems(items, beforeItem: other) }
  }

  /// Inserts items directly after another one, in their order. See ``insertItems(_:beforeItem:)``.
  @inlinable
  public mutating func insertItems(_ items: [ItemID], afterItem other: ItemID) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.insertItems(items, afterItem: other) }
  }

  /// Moves an item directly before another one, in the same section or in another one. Moving an item before itself
  /// does nothing. Both must be in the snapshot.
  @inlinable
  public mutating func moveItem(_ item: ItemID, beforeItem other: ItemID) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.moveItem(item, beforeItem: other) }
  }

  /// Moves an item directly after another one, in the same section or in another one. Moving an item after itself does
  /// nothing. Both must be in the snapshot.
  @inlinable
  public mutating func moveItem(_ item: ItemID, afterItem other: ItemID) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.moveItem(item, afterItem: other) }
  }

  /// Replaces the items of a section. Its previous items that are not among the new ones are deleted; items of other
  /// sections are moved. The section must be in the snapshot, and no item may occur twice in `items`.
  @inlinable
  public mutating func replaceItems(in section: Section, with items: [ItemID]) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.replaceItems(in: section, with: items) }
  }

  /// Deletes items and their marks. Unknown items are ignored. O(items + the sections that they are in).
  @inlinable
  public mutating func deleteItems(_ items: [ItemID]) { throwing.delete(items) }

  /// Deletes all items for which the closure returns true. If it throws, no item is deleted.
  @inlinable
  public mutating func removeItems<Failure: Error>(
    where isRemoved: (ItemID) throws(Failure) -> Bool
  ) throws(Failure) {
    var removed: [ItemID] = []
    for content in throwing.contents {
      for item in content.items where try isRemoved(item) { removed.append(item) }
    }
    deleteItems(removed)
  }

  /// Deletes all items. The sections stay.
  @inlinable
  public mutating func deleteAllItems() {
    for place in throwing.contents.indices { throwing.contents[place].items = [] }
    throwing.marks.removeItems()
    throwing.lookup = ItemLookup(ItemIndex(isFilled: false, members: []))
  }
}
