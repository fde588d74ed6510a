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
/// snapshot, or if the same one is named twice in a call. The methods of ``throwing`` have the same names; they throw a
/// ``DiffableSnapshotError`` instead, and leave the value unchanged. ``init(validating:)`` is the throwing form of
/// ``init(sections:)``.
///
/// Two snapshots are equal if their sections and items are; marks do not count.
///
/// Editing, lookups and comparison are inlinable, so that the compiler specialises them for the caller's identifier
/// types in the caller's module.
@frozen
public struct DiffableSnapshot<ItemID: Hashable & Sendable, Section: Hashable & Sendable>: Sendable {
  @usableFromInline typealias Content = ThrowingSnapshot<ItemID, Section>.Content

  /// The same snapshot, with methods that throw in the cases in which those of `DiffableSnapshot` stop the program.
  ///
  /// ```swift
  /// try snapshot.throwing.appendItems(received, toSection: "open")
  /// ```
  public var throwing: ThrowingSnapshot<ItemID, Section>

  @inlinable public init() { throwing = ThrowingSnapshot() }

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
    throwing = try ThrowingSnapshot(validating: sections)
  }

  /// Creates a snapshot of sections and items that are known to be distinct. O(sections); no item is hashed before the
  /// first lookup.
  @inlinable init(unchecked contents: [Content]) { throwing = ThrowingSnapshot(unchecked: contents) }

  /// The sections in their order. Setting them makes a new snapshot without marks.
  @inlinable var sections: [Content] {
    get { throwing.contents }
    set { self = Self(unchecked: newValue) }
  }

  @inlinable var marks: SnapshotMarks<ItemID, Section> {
    get { throwing.marks }
    set { throwing.marks = newValue }
  }
}

// MARK: Counts and identifiers

extension DiffableSnapshot {
  /// The number of sections. O(1).
  @inlinable public var numberOfSections: Int { throwing.contents.count }
  /// The number of items in all sections. O(sections).
  @inlinable public var numberOfItems: Int { throwing.contents.reduce(0) { $0 + $1.items.count } }
  /// Whether the snapshot has no items; it may have sections. O(sections).
  @inlinable public var isEmpty: Bool { throwing.contents.allSatisfy { $0.items.isEmpty } }

  /// The sections in their order. O(sections).
  @inlinable public var sectionIdentifiers: [Section] { throwing.contents.map { $0.id } }
  /// All items, section by section. O(n).
  @inlinable public var itemIdentifiers: [ItemID] {
    var items: [ItemID] = []
    items.reserveCapacity(numberOfItems)
    for content in throwing.contents { items += content.items }
    return items
  }

  /// The number of items of a section; 0 for an unknown section. O(1).
  @inlinable public func numberOfItems(inSection section: Section) -> Int {
    indexOfSection(section).map { throwing.contents[$0].items.count } ?? 0
  }

  /// The items of a section; empty for an unknown section. O(1): the items are not copied.
  @inlinable public func itemIdentifiers(inSection section: Section) -> [ItemID] {
    indexOfSection(section).map { throwing.contents[$0].items } ?? []
  }

  /// The section at an index of ``sectionIdentifiers``. O(1).
  ///
  /// Stops the program if the index is out of range.
  @inlinable public func sectionIdentifier(at place: Int) -> Section {
    precondition(throwing.contents.indices.contains(place), "the snapshot has no section at \(place)")
    return throwing.contents[place].id
  }

  /// The item at an index. O(1).
  ///
  /// Stops the program if the snapshot has no item there.
  @inlinable public func itemIdentifier(at index: ListIndex) -> ItemID {
    guard let item = throwing.item(at: index) else {
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
  @inlinable public func indexOfSection(_ section: Section) -> Int? { throwing.slots.place(of: section) }

  @inlinable public func contains(section: Section) -> Bool { indexOfSection(section) != nil }

  @inlinable public func contains(_ item: ItemID) -> Bool {
    throwing.lookup.withIndex { index in
      if index.members == nil { throwing.fill(&index) }
      return index.contains(item)
    }
  }

  /// The section of an item; nil for an unknown item.
  @inlinable public func sectionIdentifier(containingItem item: ItemID) -> Section? {
    throwing.lookup.withIndex { index in
      throwing.fill(&index)
      return index.places[item].map { throwing.contents[throwing.slots.order[Int($0.slot)]].id }
    }
  }

  /// The index of an item in ``itemIdentifiers``; nil for an unknown item.
  @inlinable public func indexOfItem(_ item: ItemID) -> Int? {
    throwing.lookup.withIndex { index in
      guard let place = throwing.locate(item, &index) else { return nil }
      if index.starts.isEmpty {
        var start = 0
        index.starts = throwing.contents.map { content in
          defer { start += content.items.count }
          return start
        }
      }
      return index.starts[place.section] + place.item
    }
  }

  /// The section and index of an item; nil for an unknown item.
  @inlinable public func index(of item: ItemID) -> ListIndex? {
    throwing.lookup.withIndex { throwing.locate(item, &$0) }
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
