// Adding items to a snapshot, removing them, and moving them: the forms that stop the program where the caller is wrong.

extension DiffableSnapshot {
  /// Runs a change that the caller knows to be right.
  @inlinable
  mutating func change(
    _ body: (inout ThrowingSnapshot<ItemID, Section>) throws(DiffableSnapshotError) -> Void
  ) {
    do throws(DiffableSnapshotError) { try body(&throwing) } catch { preconditionFailure("\(error)") }
  }

  /// Appends items to a section, by default the last one. An item that the snapshot has already is moved.
  ///
  /// O(items), and O(n) once for the first item that is moved. The section must be in the snapshot, and no item may be
  /// named twice.
  @inlinable
  public mutating func appendItems(_ items: [ItemID], toSection section: Section? = nil) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.appendItems(items, toSection: section) }
  }

  /// Inserts items directly before another one, in their order. An item that the snapshot has already is moved; if the
  /// other item is one of them, it counts as removed like the rest. The other item must be in the snapshot, and no item
  /// may be named twice.
  @inlinable
  public mutating func insertItems(_ items: [ItemID], beforeItem other: ItemID) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.insertItems(items, beforeItem: other) }
  }

  /// Inserts items directly after another one, in their order. See ``insertItems(_:beforeItem:)``.
  @inlinable
  public mutating func insertItems(_ items: [ItemID], afterItem other: ItemID) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.insertItems(items, afterItem: other) }
  }

  /// Moves an item directly before another one, of the same section or not. Moving it before itself does nothing. Both
  /// must be in the snapshot.
  @inlinable
  public mutating func moveItem(_ item: ItemID, beforeItem other: ItemID) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.moveItem(item, beforeItem: other) }
  }

  /// Moves an item directly after another one, of the same section or not. Moving it after itself does nothing. Both
  /// must be in the snapshot.
  @inlinable
  public mutating func moveItem(_ item: ItemID, afterItem other: ItemID) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.moveItem(item, afterItem: other) }
  }

  /// Makes these the items of a section. Items that it had and that are not among them are deleted; items of other
  /// sections are moved. The section must be in the snapshot, and no item may be named twice.
  @inlinable
  public mutating func replaceItems(in section: Section, with items: [ItemID]) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.replaceItems(in: section, with: items) }
  }

  /// Deletes items with their marks. Unknown ones are ignored. O(items + the sections that they are in).
  @inlinable
  public mutating func deleteItems(_ items: [ItemID]) { throwing.delete(items) }

  /// Deletes all items that the closure accepts; if it throws, none.
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

  /// Deletes all items, and keeps the sections.
  @inlinable
  public mutating func deleteAllItems() {
    for place in throwing.contents.indices { throwing.contents[place].items = [] }
    throwing.marks.removeItems()
    throwing.lookup = ItemLookup(ItemIndex(isFilled: false, members: []))
  }
}
