// The marks of a snapshot: sections to be reloaded, and items to be reloaded or reconfigured.

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
