// A fetch request as a mutable value: section key, sort keys, filter, limit, refinement.

public import StrataEvents
public import StrataLists
public import StrataTables

/// What a diffable fetch controller fetches.
public struct DiffableFetchRequest<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  private var section: @Sendable (ListRequest<Item, Unsectioned>) -> ListRequest<Item, Section>
  /// How items are sorted: each key breaks the ties of the keys before it. A fetch needs at least one.
  public var sortKeys: [DiffableFetchSortKey<Item>]
  /// The order of the sections. By default it is the order in which they first appear among all items, sorted by the
  /// sort keys.
  public var sectionOrder: ListSectionOrder<Section>
  /// Only rows that pass this filter, written as a string literal: `"impact == \(impact)"`. Interpolated values are
  /// literals and are not parsed. A text that is not a literal is `FilterTemplate(parsing: text)`. Nil for all rows.
  public var filter: FilterTemplate?
  /// The maximum number of items of the whole list, which holds after every change. There is no limit if it is nil, 0 or
  /// negative, as in Core Data.
  public var fetchLimit: Int?
  private var refinement: Refinement?

  /// - Parameter sectionKey: the property whose value the items of a section share. It need not be a sort key.
  public init(
    sectionKey: any KeyPath<Item, Section> & Sendable, sortKeys: [DiffableFetchSortKey<Item>] = [],
    filter: FilterTemplate? = nil
  ) where Section: SortKey {
    section = { $0.sectioned(by: sectionKey) }
    self.sortKeys = sortKeys
    self.filter = filter
    sectionOrder = .first
  }

  /// Makes a request without sections.
  public init(sortKeys: [DiffableFetchSortKey<Item>] = [], filter: FilterTemplate? = nil)
  where Section == Unsectioned {
    section = { $0 }
    self.sortKeys = sortKeys
    self.filter = filter
    sectionOrder = .key
  }

  /// Replaces the section key by another property of the same type.
  public mutating func setSectionKey(_ sectionKey: any KeyPath<Item, Section> & Sendable)
  where Section: SortKey {
    section = { $0.sectioned(by: sectionKey) }
  }

  /// Applies a closure to the list request that the other properties make. It can add all that a `ListRequest` offers:
  /// closures as filters, limits of sections, more sort keys. Replaces the previous closure.
  ///
  /// ```swift
  /// if showsOpenOnly { request.refine { $0.filtered { !$0.isDone } } } else { request.removeRefinement() }
  /// ```
  ///
  /// Closures cannot be compared, so a request that is refined again differs from the one before, even by the same
  /// closure.
  public mutating func refine(
    _ refinement: @escaping @Sendable (ListRequest<Item, Section>) -> ListRequest<Item, Section>
  ) {
    self.refinement = Refinement(refinement)
  }

  /// Removes the closure that `refine` was called with.
  public mutating func removeRefinement() { refinement = nil }

  /// The request that a fetch controller takes.
  public var listRequest: ListRequest<Item, Section> {
    let request = unrefined
    return refinement?.refine(request) ?? request
  }

  private var unrefined: ListRequest<Item, Section> {
    var plain = ListRequest(Item.self)
    for key in sortKeys { plain = key.sort(plain) }
    if let filter { plain = plain.filtered(by: filter) }
    if let fetchLimit, fetchLimit > 0 { plain = plain.limited(to: fetchLimit) }
    return section(plain).sectionsOrdered(by: sectionOrder)
  }

  var isSorted: Bool { !listRequest.sorts.isEmpty }

  /// Whether two requests are known to be for the same list: their refinement, if they have one, is the same closure.
  func isSame(as other: Self) -> Bool {
    refinement === other.refinement && unrefined == other.unrefined
  }

  /// A closure with an identity.
  private final class Refinement: Sendable {
    let refine: @Sendable (ListRequest<Item, Section>) -> ListRequest<Item, Section>

    init(_ refine: @escaping @Sendable (ListRequest<Item, Section>) -> ListRequest<Item, Section>) {
      self.refine = refine
    }
  }
}

/// A property by which items are sorted.
public struct DiffableFetchSortKey<Item: Identifiable & Sendable>: Sendable where Item.ID: DocumentID {
  let sort: @Sendable (ListRequest<Item, Unsectioned>) -> ListRequest<Item, Unsectioned>

  /// Sorts by a property.
  ///
  /// - Parameter options: `.nilsLast`, `.caseInsensitive`, `.numeric`.
  public init<Value: SortKey>(
    _ keyPath: any KeyPath<Item, Value> & Sendable, _ direction: SortDirection = .forward,
    _ options: SortKeyOptions = []
  ) {
    sort = { $0.sorted(by: keyPath, direction, options) }
  }

  /// Sorts by a field of the documents.
  ///
  /// - Parameter options: `.nilsLast`, `.caseInsensitive`, `.numeric`, `.time`.
  public init(field: FieldPath, _ direction: SortDirection = .forward, _ options: SortKeyOptions = []) {
    sort = { $0.sorted(byField: field, direction, options) }
  }
}
