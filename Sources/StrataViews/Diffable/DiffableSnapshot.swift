// A list as a mutable value: sections and items by their identifiers.

public import StrataLists

/// Sections in order, each with its items in order. An item stands in one section at most, once.
///
/// ```swift
/// var snapshot = DiffableSnapshot<String, Int>()
/// snapshot.appendSections(["open", "done"])
/// snapshot.appendItems([1, 2, 3], toSection: "open")
/// snapshot.moveItem(3, beforeItem: 1)
/// let changes = ListChanges(from: shown, to: snapshot)
/// ```
///
/// A value: to change a copy leaves the original as it is. Copies share their memory until one is changed, and
/// a change copies the section that it touches and no other. Where items were looked up, the first change of a copy
/// also copies where they stand, O(n) without a hash; the costs of methods are those of a value that is not shared.
///
/// What a caller must not do stops the program: to name an item or a section that is not there, where one is
/// needed, or the same one twice in one call. Every method that does so has a twin whose name begins with `try`
/// (`tryAppendItems`, `tryMoveItem`, …), and that throws ``DiffableSnapshotError`` instead and leaves the value
/// as it was. The twin of ``init(sections:)`` is ``init(validating:)``.
///
/// Two snapshots are equal where their sections and items are, whatever is marked to be reloaded.
public struct DiffableSnapshot<SectionID: Hashable & Sendable, ItemID: Hashable & Sendable>: Sendable {
  /// A section with its items.
  struct Content: Sendable, Equatable {
    var id: SectionID
    var items: [ItemID]
    /// What the section is known by to the places of its items, whatever stands before it.
    var slot = 0

    static func == (a: Self, b: Self) -> Bool { a.id == b.id && a.items == b.items }

    mutating func insert(_ new: [ItemID], at place: Int) {
      if place == items.count { items += new } else { items.insert(contentsOf: new, at: place) }
    }
  }

  /// The sections in their order.
  var contents: [Content] = []
  var slots = SectionSlots<SectionID>()
  /// Shared by copies until one of them is changed.
  var lookup = ItemLookup<ItemID>()
  var marks = SnapshotMarks<SectionID, ItemID>()

  public init() {}

  /// A snapshot of sections that are known to be different, with items that are known to be. O(sections);
  /// no item is hashed before one is looked up.
  init(unchecked contents: [Content]) {
    self.contents = contents
    for place in contents.indices { self.contents[place].slot = place }
    slots = SectionSlots(contents.map { $0.id })
    lookup = ItemLookup(ItemIndex(isFilled: false))
  }

  /// The sections in their order; to set them is to make a new snapshot without marks.
  var sections: [Content] {
    get { contents }
    set { self = Self(unchecked: newValue) }
  }
}

// MARK: Counts and identifiers

extension DiffableSnapshot {
  /// O(1).
  public var numberOfSections: Int { contents.count }
  /// O(sections).
  public var numberOfItems: Int { contents.reduce(0) { $0 + $1.items.count } }
  /// Whether there is no item, in however many sections. O(sections).
  public var isEmpty: Bool { contents.allSatisfy { $0.items.isEmpty } }

  /// The sections in their order. O(sections).
  public var sectionIdentifiers: [SectionID] { contents.map { $0.id } }
  /// All items, section after section. O(n).
  public var itemIdentifiers: [ItemID] {
    var items: [ItemID] = []
    items.reserveCapacity(numberOfItems)
    for content in contents { items += content.items }
    return items
  }

  /// How many items a section holds; 0 where there is no such section. O(1).
  public func numberOfItems(inSection section: SectionID) -> Int {
    slots.place(of: section).map { contents[$0].items.count } ?? 0
  }

  /// The items of a section, none where there is no such section. O(1): they are not copied.
  public func itemIdentifiers(inSection section: SectionID) -> [ItemID] {
    slots.place(of: section).map { contents[$0].items } ?? []
  }

  /// The section at a place; nil where there is none. O(1).
  public func sectionIdentifier(at place: Int) -> SectionID? {
    contents.indices.contains(place) ? contents[place].id : nil
  }

  /// The item at a place; nil where there is none. O(1).
  public func itemIdentifier(at index: ListIndex) -> ItemID? {
    guard contents.indices.contains(index.section),
      contents[index.section].items.indices.contains(index.item)
    else { return nil }
    return contents[index.section].items[index.item]
  }
}

// MARK: Lookups

/// The first lookup of an item finds all of them, in O(n) with one hash per item; every later one is O(1), in
/// all copies.
extension DiffableSnapshot {
  /// The place of a section; nil where it is not there. O(1).
  public func indexOfSection(_ section: SectionID) -> Int? { slots.place(of: section) }

  public func contains(section: SectionID) -> Bool { slots.place(of: section) != nil }

  public func contains(_ item: ItemID) -> Bool {
    lookup.withIndex { index in
      fill(&index)
      return index.places[item] != nil
    }
  }

  /// The section that an item stands in; nil where it stands in none.
  public func sectionIdentifier(containingItem item: ItemID) -> SectionID? {
    lookup.withIndex { index in
      fill(&index)
      return index.places[item].map { contents[slots.order[Int($0.slot)]].id }
    }
  }

  /// The place of an item in `itemIdentifiers`; nil where it is not there.
  public func indexOfItem(_ item: ItemID) -> Int? {
    lookup.withIndex { index in
      guard let place = locate(item, &index) else { return nil }
      if index.starts.isEmpty {
        var start = 0
        index.starts = contents.map { content in
          defer { start += content.items.count }
          return start
        }
      }
      return index.starts[place.section] + place.item
    }
  }

  /// Where an item stands; nil where it is not there.
  public func index(of item: ItemID) -> ListIndex? { lookup.withIndex { locate(item, &$0) } }
}

extension DiffableSnapshot: CustomStringConvertible {
  /// The sections with their items: `open: 1, 2 | done: 3`.
  public var description: String {
    contents.map { content in
      "\(content.id): " + content.items.map { "\($0)" }.joined(separator: ", ")
    }.joined(separator: " | ")
  }
}
