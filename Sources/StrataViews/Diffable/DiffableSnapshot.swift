// A list as a mutable value: sections and items by their identifiers.

public import StrataLists

/// Sections in order, each with its items in order. An item is in at most one section, and occurs there once.
///
/// ```swift
/// var snapshot = DiffableSnapshot<Int, String>()
/// snapshot.appendSections(["open", "done"])
/// snapshot.appendItems([1, 2, 3], toSection: "open")
/// snapshot.moveItem(3, beforeItem: 1)
/// let changes = snapshot.difference(from: shown)
/// ```
///
/// A value: changing a copy leaves the original as it is. Copies share their memory until one is changed, and a change
/// copies only the section that it touches. If items were appended or looked up before, the first change of a copy also
/// copies the index of items: O(n), without hashing. The complexities below are those of a value that is not shared.
///
/// A call that breaks a method's contract stops the program: for example, if a required item or section is not in the
/// snapshot, or if the same one is named twice in a call. Inside ``attempt(_:)`` it throws a ``DiffableSnapshotError``
/// instead, and leaves the value unchanged. ``init(validating:)`` is the throwing form of ``init(sections:)``.
///
/// Two snapshots are equal if their sections and items are; marks do not count.
///
/// Editing, lookups and comparison are inlinable, so that the compiler specialises them for the caller's identifier
/// types in the caller's module.
@frozen
public struct DiffableSnapshot<ItemID: Hashable & Sendable, Section: Hashable & Sendable>: Sendable {
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

    @inlinable mutating func insert(_ new: [ItemID], at position: Int) {
      if position == items.count { items += new } else { items.insert(contentsOf: new, at: position) }
    }
  }

  /// The sections in their order.
  @usableFromInline var sections: [Content] = []
  @usableFromInline var slots = SectionSlots<Section>()
  /// Shared by copies until one of them is changed.
  @usableFromInline var lookup: ItemLookup<ItemID>
  @usableFromInline var marks = SnapshotMarks<ItemID, Section>()
  /// What receives the errors of invalid calls. Nil outside `attempt`: they stop the program.
  @usableFromInline var errors: SnapshotAttempt?

  @inlinable public init() { lookup = ItemLookup(ItemIndex(isFilled: false, members: [])) }

  /// Creates a snapshot of sections in order, each with its items. O(n), one hash for each item.
  ///
  /// Stops the program if a section or an item occurs twice; ``init(validating:)`` throws.
  @inlinable
  public init(sections: [(id: Section, items: [ItemID])]) {
    do throws(DiffableSnapshotError) { try self.init(validating: sections) } catch {
      preconditionFailure("\(error)")
    }
  }

  /// Creates a snapshot of sections in order, each with its items. O(n), one hash for each item.
  /// - Throws: `duplicateSection`, `duplicateItem`.
  @inlinable
  public init(validating sections: [(id: Section, items: [ItemID])]) throws(DiffableSnapshotError) {
    var named: Set<Section> = []
    for section in sections where !named.insert(section.id).inserted {
      throw .duplicateSection("\(section.id)")
    }
    self.init(unchecked: sections.map { Content(id: $0.id, items: $0.items) })
    if let (_, item) = lookup.withIndex({ gather(&$0) }) { throw .duplicateItem("\(item)") }
  }

  /// Creates a snapshot of sections and items that are known to be distinct. O(sections); no item is hashed before the
  /// first lookup.
  @inlinable init(unchecked contents: [Content]) {
    sections = contents
    for position in contents.indices { sections[position].slot = position }
    slots = SectionSlots(contents.map { $0.id })
    lookup = ItemLookup(ItemIndex(isFilled: false))
  }
}

// MARK: Counts and identifiers

extension DiffableSnapshot {
  /// The number of sections. O(1).
  @inlinable public var numberOfSections: Int { sections.count }
  /// The number of items in all sections. O(sections).
  @inlinable public var numberOfItems: Int { sections.reduce(0) { $0 + $1.items.count } }
  /// Whether the snapshot has no items; it may have sections. O(sections).
  @inlinable public var isEmpty: Bool { sections.allSatisfy { $0.items.isEmpty } }

  /// The sections in their order. O(sections).
  @inlinable public var sectionIdentifiers: [Section] { sections.map { $0.id } }
  /// All items, section by section. O(n).
  @inlinable public var itemIdentifiers: [ItemID] {
    var items: [ItemID] = []
    items.reserveCapacity(numberOfItems)
    for content in sections { items += content.items }
    return items
  }

  /// The number of items of a section; 0 for an unknown section. O(1).
  @inlinable public func numberOfItems(inSection section: Section) -> Int {
    indexOfSection(section).map { sections[$0].items.count } ?? 0
  }

  /// The items of a section; empty for an unknown section. O(1): the items are not copied.
  @inlinable public func itemIdentifiers(inSection section: Section) -> [ItemID] {
    indexOfSection(section).map { sections[$0].items } ?? []
  }

  /// The section at an index of ``sectionIdentifiers``. O(1).
  ///
  /// Stops the program if the index is out of range.
  @inlinable public func sectionIdentifier(at index: Int) -> Section {
    precondition(sections.indices.contains(index), "the snapshot has no section at \(index)")
    return sections[index].id
  }

  /// The item at an index. O(1).
  ///
  /// Stops the program if the snapshot has no item there.
  @inlinable public func itemIdentifier(at index: ListIndex) -> ItemID {
    guard let item = item(at: index) else {
      preconditionFailure("the snapshot has no item at \(index)")
    }
    return item
  }
}

// MARK: Lookups

/// The first lookup of a position finds the positions of all items, in O(n) with one hash for each. Later lookups are
/// O(1), in all copies. ``contains(_:)`` is O(1) from the start in a snapshot that was built by appending.
extension DiffableSnapshot {
  /// The index of a section in ``sectionIdentifiers``; nil for an unknown section. O(1).
  @inlinable public func indexOfSection(_ section: Section) -> Int? { slots.position(of: section) }

  @inlinable public func contains(section: Section) -> Bool { indexOfSection(section) != nil }

  @inlinable public func contains(_ item: ItemID) -> Bool {
    lookup.withIndex { index in
      if index.members == nil { fill(&index) }
      return index.contains(item)
    }
  }

  /// The section of an item; nil for an unknown item.
  @inlinable public func sectionIdentifier(containingItem item: ItemID) -> Section? {
    lookup.withIndex { index in
      fill(&index)
      return index.positions[item].map { sections[slots.order[Int($0.slot)]].id }
    }
  }

  /// The index of an item in ``itemIdentifiers``; nil for an unknown item.
  @inlinable public func indexOfItem(_ item: ItemID) -> Int? {
    lookup.withIndex { index in
      guard let position = locate(item, &index) else { return nil }
      if index.starts.isEmpty {
        var start = 0
        index.starts = sections.map { content in
          defer { start += content.items.count }
          return start
        }
      }
      return index.starts[position.section] + position.item
    }
  }

  /// The section and index of an item; nil for an unknown item.
  @inlinable public func index(of item: ItemID) -> ListIndex? {
    lookup.withIndex { locate(item, &$0) }
  }
}

extension DiffableSnapshot {
  @inlinable func position(ofSection section: Section) throws(DiffableSnapshotError) -> Int {
    guard let position = slots.position(of: section) else { throw .unknownSection("\(section)") }
    return position
  }

  @inlinable func position(of item: ItemID) throws(DiffableSnapshotError) -> ListIndex {
    let position = lookup.withIndex { locate(item, &$0, within: Self.searchDistanceOfChangeMax) }
    guard let position else { throw .unknownItem("\(item)") }
    return position
  }

  /// The item at an index; nil if the index is out of range.
  @inlinable func item(at index: ListIndex) -> ItemID? {
    guard sections.indices.contains(index.section), sections[index.section].items.indices.contains(index.item)
    else { return nil }
    return sections[index.section].items[index.item]
  }

  /// The section at an index; nil if the index is out of range.
  @inlinable func section(at index: Int) -> Section? {
    sections.indices.contains(index) ? sections[index].id : nil
  }
}

extension DiffableSnapshot: CustomStringConvertible {
  /// The sections with their items, as in `open: 1, 2 | done: 3`.
  public var description: String {
    sections.map { content in
      "\(content.id): " + content.items.map { "\($0)" }.joined(separator: ", ")
    }.joined(separator: " | ")
  }
}
