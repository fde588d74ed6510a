// Marking sections and items to be reloaded or reconfigured, and reading the marks.

public import StrataLists

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
    markedItems.filter { $0.mark == mark }.map { $0.item }
  }

  /// Marks items to be shown in new cells. All must be in the snapshot.
  ///
  /// In the changes from another snapshot to this one, they are updates with `isReload`. The mark of an item that the
  /// other snapshot does not have has no effect, since the item is inserted.
  @inlinable
  public mutating func reloadItems(_ items: [ItemID]) { mark(items, .reload) }

  /// Marks items whose cells are to be reconfigured. All must be in the snapshot.
  ///
  /// In the changes from another snapshot to this one, they are updates. An item that is also marked to be reloaded is
  /// reloaded.
  @inlinable
  public mutating func reconfigureItems(_ items: [ItemID]) { mark(items, .reconfigure) }

  /// Marks sections to be reloaded with all their items. Unknown sections are ignored.
  @inlinable
  public mutating func reloadSections(_ sections: [Section]) {
    for section in sections where contains(section: section) { marks.mark(section: section) }
  }

  /// Removes all marks. Call it when the snapshot has been shown.
  @inlinable
  public mutating func removeMarks() { marks = SnapshotMarks() }

  /// The marked items in their order, with their positions. O(k log k) for k marked items.
  @inlinable var markedItems: [(item: ItemID, position: ListIndex, mark: ItemMark)] {
    if marks.items.isEmpty { return [] }
    return lookup.withIndex { index in
      marks.items.compactMap { item, mark in locate(item, &index).map { (item, $0, mark) } }
    }.sorted { $0.1 < $1.1 }
  }

  @inlinable
  mutating func mark(_ items: [ItemID], _ mark: ItemMark) {
    let unknown = lookup.withIndex { index in
      if !items.isEmpty { fill(&index) }
      return items.first { index.positions[$0] == nil }
    }
    if let unknown { return fail(.unknownItem("\(unknown)")) }
    for item in items { marks.mark(item, mark) }
  }
}
