// The storage of a snapshot, and the methods that throw an error if a call is invalid.

public import StrataLists

/// A snapshot whose methods throw in the cases in which those of ``DiffableSnapshot`` stop the program.
///
/// Use it for identifiers that come from a server or a user, and that may be unknown or occur twice:
///
/// ```swift
/// var snapshot = DiffableSnapshot<Int, String>()
/// snapshot.appendSections(["open"])
/// try snapshot.throwing.appendItems([1, 2], toSection: "open")
/// ```
///
/// A method that throws leaves the snapshot unchanged. The complexities are those of a snapshot that shares no memory
/// with a copy.
@frozen
public struct ThrowingSnapshot<ItemID: Hashable & Sendable, Section: Hashable & Sendable>: Sendable {
  /// A section with its items.
  @usableFromInline @frozen
  struct Content: Sendable, Equatable {
    @usableFromInline var id: Section
    @usableFromInline var items: [ItemID]
    /// Identifies the section in the index of items. It stays the same when other sections are added or removed.
    @usableFromInline var slot = 0

    @inlinable init(id: Section, items: [ItemID], slot: Int = 0) {
      self.id = id
      self.items = items
      self.slot = slot
    }

    @inlinable static func == (a: Self, b: Self) -> Bool { a.id == b.id && a.items == b.items }

    @inlinable mutating func insert(_ new: [ItemID], at place: Int) {
      if place == items.count { items += new } else { items.insert(contentsOf: new, at: place) }
    }
  }

  /// The sections in their order.
  @usableFromInline var contents: [Content] = []
  @usableFromInline var slots = SectionSlots<Section>()
  /// Shared by copies until one of them is changed.
  @usableFromInline var lookup: ItemLookup<ItemID>
  @usableFromInline var marks = SnapshotMarks<ItemID, Section>()

  @inlinable init() { lookup = ItemLookup(ItemIndex(isFilled: false, members: [])) }

  /// Creates a snapshot of sections and items that are known to be distinct. O(sections); no item is hashed before the
  /// first lookup.
  @inlinable init(unchecked contents: [Content]) {
    self.contents = contents
    for place in contents.indices { self.contents[place].slot = place }
    slots = SectionSlots(contents.map { $0.id })
    lookup = ItemLookup(ItemIndex(isFilled: false))
  }

  /// Creates a snapshot of sections and items that may have duplicates. O(n), one hash for each item.
  /// - Throws: `duplicateSection`, `duplicateItem`.
  @inlinable init(validating sections: [(id: Section, items: [ItemID])]) throws(DiffableSnapshotError) {
    var named: Set<Section> = []
    for section in sections where !named.insert(section.id).inserted {
      throw .duplicateSection("\(section.id)")
    }
    self.init(unchecked: sections.map { Content(id: $0.id, items: $0.items) })
    if let (_, item) = lookup.withIndex({ gather(&$0) }) { throw .duplicateItem("\(item)") }
  }

  @inlinable func place(ofSection section: Section) throws(DiffableSnapshotError) -> Int {
    guard let place = slots.place(of: section) else { throw .unknownSection("\(section)") }
    return place
  }

  @inlinable func place(of item: ItemID) throws(DiffableSnapshotError) -> ListIndex {
    let place = lookup.withIndex { locate(item, &$0, within: Self.searchDistanceOfChangeMax) }
    guard let place else { throw .unknownItem("\(item)") }
    return place
  }

  /// The item at an index; nil if the index is out of range.
  @inlinable func item(at index: ListIndex) -> ItemID? {
    guard contents.indices.contains(index.section), contents[index.section].items.indices.contains(index.item)
    else { return nil }
    return contents[index.section].items[index.item]
  }

  /// The section at an index; nil if the index is out of range.
  @inlinable func section(at place: Int) -> Section? {
    contents.indices.contains(place) ? contents[place].id : nil
  }
}
