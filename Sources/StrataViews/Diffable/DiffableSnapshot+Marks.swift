// Marking sections and items to be shown again, and reading the marks.

extension DiffableSnapshot {
  /// The sections that are to be built again, in their order.
  @inlinable public var reloadedSectionIdentifiers: [Section] {
    marks.sections.isEmpty ? [] : sectionIdentifiers.filter(marks.sections.contains)
  }

  /// The items that are to be shown in new cells, in their order.
  @inlinable public var reloadedItemIdentifiers: [ItemID] { items(marked: .reload) }

  /// The items whose cells are to be configured again, in their order.
  @inlinable public var reconfiguredItemIdentifiers: [ItemID] { items(marked: .reconfigure) }

  @inlinable func items(marked mark: ItemMark) -> [ItemID] {
    throwing.markedItems.filter { $0.mark == mark }.map { $0.item }
  }

  /// Marks items to be shown in new cells: in the changes from another snapshot to this one they are updates with
  /// `isReload`. One that is new in this snapshot is shown anyway, and its mark has no effect. All must be in the
  /// snapshot.
  @inlinable
  public mutating func reloadItems(_ items: [ItemID]) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.reloadItems(items) }
  }

  /// Marks items whose cells are to be configured again: in the changes from another snapshot to this one they are
  /// updates. An item that is also marked to be reloaded is reloaded. All must be in the snapshot.
  @inlinable
  public mutating func reconfigureItems(_ items: [ItemID]) {
    change { snapshot throws(DiffableSnapshotError) in try snapshot.reconfigureItems(items) }
  }

  /// Marks sections to be built again, with all their items. Unknown ones are ignored.
  @inlinable
  public mutating func reloadSections(_ sections: [Section]) {
    for section in sections where contains(section: section) { marks.mark(section: section) }
  }

  /// Removes all marks, as is right for a snapshot that is shown.
  @inlinable
  public mutating func removeMarks() { marks = SnapshotMarks() }
}
