// Marking sections and items to be reloaded or reconfigured, and reading the marks.

extension DiffableSnapshot {
  /// The sections that are marked to be reloaded, in their order.
  @inlinable public var reloadedSectionIdentifiers: [Section] {
    marks.sections.isEmpty ? [] : sectionIdentifiers.filter(marks.sections.contains)
  }

  /// The items that are marked to be shown in new cells, in their order.
  @inlinable public var reloadedItemIdentifiers: [ItemID] { items(marked: .reload) }

  /// The items whose cells are marked to be reconfigured, in their order.
  @inlinable public var reconfiguredItemIdentifiers: [ItemID] { items(marked: .reconfigure) }

  @inlinable func items(marked mark: ItemMark) -> [ItemID] {
    throwing.markedItems.filter { $0.mark == mark }.map { $0.item }
  }

  /// Marks items to be shown in new cells. All must be in the snapshot.
  ///
  /// In the changes from another snapshot to this one, they are updates with `isReload`. The mark of an item that the
  /// other snapshot does not have has no effect, since the item is inserted.
  @inlinable
  public mutating func reloadItems(_ items: [ItemID]) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.reloadItems(items) }
  }

  /// Marks items whose cells are to be reconfigured. All must be in the snapshot.
  ///
  /// In the changes from another snapshot to this one, they are updates. An item that is also marked to be reloaded is
  /// reloaded.
  @inlinable
  public mutating func reconfigureItems(_ items: [ItemID]) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.reconfigureItems(items) }
  }

  /// Marks sections to be reloaded with all their items. Unknown sections are ignored.
  @inlinable
  public mutating func reloadSections(_ sections: [Section]) {
    for section in sections where contains(section: section) { marks.mark(section: section) }
  }

  /// Removes all marks. Call it when the snapshot has been shown.
  @inlinable
  public mutating func removeMarks() { marks = SnapshotMarks() }
}
