// The marks of a snapshot: sections to be reloaded, and items to be reloaded or reconfigured.

public import StrataLists

/// How the cell of an item is to be updated.
@usableFromInline @frozen
enum ItemMark: Sendable {
  /// The item is shown in a new cell.
  case reload
  /// The item keeps its cell, which is given its content again.
  case reconfigure
}

/// The marks of a snapshot. They affect neither its order nor its counts nor its equality.
@usableFromInline @frozen
struct SnapshotMarks<ItemID: Hashable & Sendable, Section: Hashable & Sendable>: Sendable {
  @usableFromInline var items: [ItemID: ItemMark] = [:]
  @usableFromInline var sections: Set<Section> = []

  @inlinable init() {}

  @inlinable var isEmpty: Bool { items.isEmpty && sections.isEmpty }

  /// Marks an item. A reload does everything that a reconfiguration does, so a reload mark is kept.
  @inlinable mutating func mark(_ item: ItemID, _ mark: ItemMark) {
    if mark == .reload || items[item] == nil { items[item] = mark }
  }

  @inlinable mutating func mark(section: Section) { sections.insert(section) }

  @inlinable mutating func remove(item: ItemID) {
    if !items.isEmpty { items[item] = nil }
  }

  @inlinable mutating func remove(section: Section) {
    if !sections.isEmpty { sections.remove(section) }
  }

  @inlinable mutating func removeItems() { items = [:] }
}

extension ThrowingSnapshot {
  /// The marked items in their order, with their positions. O(k log k) for k marked items.
  @inlinable var markedItems: [(item: ItemID, place: ListIndex, mark: ItemMark)] {
    if marks.items.isEmpty { return [] }
    return lookup.withIndex { index in
      marks.items.compactMap { item, mark in locate(item, &index).map { (item, $0, mark) } }
    }.sorted { $0.1 < $1.1 }
  }

  /// Marks items to be shown in new cells.
  ///
  /// In the changes from another snapshot to this one, they are updates with `isReload`. The mark of an item that the
  /// other snapshot does not have has no effect, since the item is inserted.
  /// - Throws: `unknownItem`.
  @inlinable
  public mutating func reloadItems(_ items: [ItemID]) throws(DiffableSnapshotError) {
    try mark(items, .reload)
  }

  /// Marks items whose cells are to be reconfigured.
  ///
  /// In the changes from another snapshot to this one, they are updates. An item that is also marked to be reloaded is
  /// reloaded.
  /// - Throws: `unknownItem`.
  @inlinable
  public mutating func reconfigureItems(_ items: [ItemID]) throws(DiffableSnapshotError) {
    try mark(items, .reconfigure)
  }

  @inlinable
  mutating func mark(_ items: [ItemID], _ mark: ItemMark) throws(DiffableSnapshotError) {
    let unknown = lookup.withIndex { index in
      if !items.isEmpty { fill(&index) }
      return items.first { index.places[$0] == nil }
    }
    if let unknown { throw .unknownItem("\(unknown)") }
    for item in items { marks.mark(item, mark) }
  }
}
