// What of a snapshot is to be shown anew although it stays where it is.

internal import StrataLists

/// How an item is to be shown anew.
enum ItemMark: Sendable {
  /// With a new cell.
  case reload
  /// In the cell that it has.
  case reconfigure
}

/// The marks of a snapshot. They change neither its order nor its counts nor what it is equal to.
struct SnapshotMarks<SectionID: Hashable & Sendable, ItemID: Hashable & Sendable>: Sendable {
  private(set) var items: [ItemID: ItemMark] = [:]
  private(set) var sections: Set<SectionID> = []

  var isEmpty: Bool { items.isEmpty && sections.isEmpty }

  /// Marks an item. A reload includes whatever a reconfiguration does, and stays.
  mutating func mark(_ item: ItemID, _ mark: ItemMark) {
    if mark == .reload || items[item] == nil { items[item] = mark }
  }

  mutating func mark(section: SectionID) { sections.insert(section) }

  mutating func remove(item: ItemID) {
    if !items.isEmpty { items[item] = nil }
  }

  mutating func remove(section: SectionID) {
    if !sections.isEmpty { sections.remove(section) }
  }

  mutating func removeItems() { items = [:] }
}

extension DiffableSnapshot {
  /// The sections that are to be shown anew, in their order.
  public var reloadedSectionIdentifiers: [SectionID] {
    marks.sections.isEmpty ? [] : contents.map { $0.id }.filter(marks.sections.contains)
  }

  /// The items that are to be shown in new cells, in their order.
  public var reloadedItemIdentifiers: [ItemID] { items(marked: .reload) }

  /// The items whose cells are to be filled anew, in their order.
  public var reconfiguredItemIdentifiers: [ItemID] { items(marked: .reconfigure) }

  private func items(marked mark: ItemMark) -> [ItemID] {
    markedItems.filter { $0.mark == mark }.map { $0.item }
  }

  /// The marked items in their order, and where they stand. O(k log k) for k of them.
  var markedItems: [(item: ItemID, place: ListIndex, mark: ItemMark)] {
    if marks.items.isEmpty { return [] }
    return lookup.withIndex { index in
      marks.items.compactMap { item, mark in locate(item, &index).map { (item, $0, mark) } }
    }.sorted { $0.1 < $1.1 }
  }

  /// Marks items to be shown in new cells: in the changes from another snapshot to this one they are updates
  /// with `isReload`. One that is new there is shown anyway, and its mark has no effect.
  /// - Throws: `unknownItem`.
  public mutating func tryReloadItems(_ items: [ItemID]) throws(DiffableSnapshotError) {
    try mark(items, .reload)
  }

  /// Marks items whose cells are to be filled anew: in the changes from another snapshot to this one they are
  /// updates. An item that is also marked to be reloaded is reloaded.
  /// - Throws: `unknownItem`.
  public mutating func tryReconfigureItems(_ items: [ItemID]) throws(DiffableSnapshotError) {
    try mark(items, .reconfigure)
  }

  private mutating func mark(_ items: [ItemID], _ mark: ItemMark) throws(DiffableSnapshotError) {
    let unknown = lookup.withIndex { index in
      if !items.isEmpty { fill(&index) }
      return items.first { index.places[$0] == nil }
    }
    if let unknown { throw .unknownItem("\(unknown)") }
    for item in items { marks.mark(item, mark) }
  }

  /// Marks sections to be shown anew, with all their items. What is not there is ignored.
  public mutating func reloadSections(_ sections: [SectionID]) {
    for section in sections where slots.place(of: section) != nil { marks.mark(section: section) }
  }

  /// Takes all marks off, as is right for a snapshot that was shown.
  public mutating func removeMarks() { marks = SnapshotMarks() }
}
