// A list as a mutable value: sections and items by their identifiers.

public import StrataLists

/// Sections in order, each with its items in order. An item is in one section at most, once.
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
/// copies the section that it touches and no other. If items were looked up, the first change of a copy also copies
/// their index, O(n) without a hash; the complexities below are those of a value that is not shared.
///
/// A call that breaks a method's contract stops the program: naming an item or a section that is not in the snapshot
/// where one is needed, or the same one twice in one call. The same methods of ``throwing`` throw a
/// ``DiffableSnapshotError`` instead and leave the value as it was; ``init(validating:)`` does so for
/// ``init(sections:)``.
///
/// Two snapshots are equal if their sections and items are; marks do not count.
///
/// All methods are specialised for the identifiers that a program uses, in that program.
@frozen
public struct DiffableSnapshot<ItemID: Hashable & Sendable, Section: Hashable & Sendable>: Sendable {
  @usableFromInline typealias Content = ThrowingSnapshot<ItemID, Section>.Content

  /// The same snapshot, with methods that throw where the ones here stop the program.
  ///
  /// ```swift
  /// try snapshot.throwing.appendItems(received, toSection: "open")
  /// ```
  public var throwing: ThrowingSnapshot<ItemID, Section>

  @inlinable public init() { throwing = ThrowingSnapshot() }

  /// The sections in their order, each with its items. O(n), one hash for each item.
  ///
  /// Stops the program if a section or an item occurs twice; ``init(validating:)`` throws.
  @inlinable
  public init(sections: [(id: Section, items: [ItemID])]) {
    do throws(DiffableSnapshotError) { try self.init(validating: sections) } catch {
      preconditionFailure("\(error)")
    }
  }

  /// The sections in their order, each with its items. O(n), one hash for each item.
  /// - Throws: `duplicateSection`, `duplicateItem`.
  @inlinable
  public init(validating sections: [(id: Section, items: [ItemID])]) throws(DiffableSnapshotError) {
    throwing = try ThrowingSnapshot(validating: sections)
  }

  /// A snapshot of sections that are known to be different, with items that are known to be. O(sections);
  /// no item is hashed before one is looked up.
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
  /// O(1).
  @inlinable public var numberOfSections: Int { throwing.contents.count }
  /// O(sections).
  @inlinable public var numberOfItems: Int { throwing.contents.reduce(0) { $0 + $1.items.count } }
  /// Whether there is no item, in however many sections. O(sections).
  @inlinable public var isEmpty: Bool { throwing.contents.allSatisfy { $0.items.isEmpty } }

  /// The sections in their order. O(sections).
  @inlinable public var sectionIdentifiers: [Section] { throwing.contents.map { $0.id } }
  /// All items, section after section. O(n).
  @inlinable public var itemIdentifiers: [ItemID] {
    var items: [ItemID] = []
    items.reserveCapacity(numberOfItems)
    for content in throwing.contents { items += content.items }
    return items
  }

  /// How many items a section has; 0 for an unknown section. O(1).
  @inlinable public func numberOfItems(inSection section: Section) -> Int {
    indexOfSection(section).map { throwing.contents[$0].items.count } ?? 0
  }

  /// The items of a section; none for an unknown section. O(1): they are not copied.
  @inlinable public func itemIdentifiers(inSection section: Section) -> [ItemID] {
    indexOfSection(section).map { throwing.contents[$0].items } ?? []
  }

  /// The section at an index of ``sectionIdentifiers``. O(1). The index must be one of it.
  @inlinable public func sectionIdentifier(at place: Int) -> Section {
    precondition(throwing.contents.indices.contains(place), "a section's index is below numberOfSections")
    return throwing.contents[place].id
  }

  /// The item at an index. O(1). The snapshot must have an item there.
  @inlinable public func itemIdentifier(at index: ListIndex) -> ItemID {
    guard let item = throwing.item(at: index) else {
      preconditionFailure("the snapshot has no item at \(index)")
    }
    return item
  }
}

// MARK: Lookups

/// The first lookup finds the positions of all items, in O(n) with one hash for each; every later one is O(1), in all
/// copies.
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
  /// The sections with their items: `open: 1, 2 | done: 3`.
  public var description: String {
    sections.map { content in
      "\(content.id): " + content.items.map { "\($0)" }.joined(separator: ", ")
    }.joined(separator: " | ")
  }
}
