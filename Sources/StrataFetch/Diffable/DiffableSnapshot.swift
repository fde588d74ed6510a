// A list as a mutable value: sections and items by their identifiers.

/// Sections in order, each with its items in order. Every item stands in one section at most, once.
public struct DiffableSnapshot<SectionID: Hashable & Sendable, ItemID: Hashable & Sendable>: Sendable {
  struct Content: Sendable {
    var id: SectionID
    var items: [ItemID]
  }

  /// The sections in their order.
  var sections: [Content] = []

  public init() {}
}

// MARK: Counts and identifiers

extension DiffableSnapshot {
  public var numberOfSections: Int { sections.count }
  public var numberOfItems: Int { sections.reduce(0) { $0 + $1.items.count } }
  public var sectionIdentifiers: [SectionID] { sections.map(\.id) }
  public var itemIdentifiers: [ItemID] { sections.flatMap(\.items) }
}
