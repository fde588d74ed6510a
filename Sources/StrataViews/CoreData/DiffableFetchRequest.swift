// A fetch request as a mutable value: section key, sort keys, filter, limit.

public import StrataEvents
public import StrataLists
public import StrataTables

/// What a diffable fetch controller fetches. `configureFetch` changes it.
public struct DiffableFetchRequest<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  private var section: @Sendable (ListRequest<Item, Unsectioned>) -> ListRequest<Item, Section>
  /// By what items are sorted: the first key decides, each further one breaks ties. A fetch needs at least one.
  public var sortKeys: [DiffableFetchSortKey<Item>]
  /// In which order the sections stand; if nothing else is said, in that in which they first appear where all
  /// items are sorted by the sort keys.
  public var sectionOrder: ListSectionOrder<Section>
  /// Only rows that pass this filter, written as a string literal: `"impact == \(impact)"`. Interpolated values are
  /// literals and are not parsed. A text that is not a literal is `FilterTemplate(text)`. Nil: all rows.
  public var filter: FilterTemplate?
  /// At most so many items of the whole list, at every moment. Nil, 0 and less: all, as in Core Data.
  public var fetchLimit: Int?
  /// Whatever else a `ListRequest` can say: closures as filters, limits of sections, more sort keys.
  public var refinement: (@Sendable (ListRequest<Item, Section>) -> ListRequest<Item, Section>)?

  /// - Parameter sectionKey: what the items of one section have in common. It need not be a sort key.
  public init(
    sectionKey: any KeyPath<Item, Section> & Sendable, sortKeys: [DiffableFetchSortKey<Item>] = [],
    filter: FilterTemplate? = nil
  ) where Section: SortKey {
    section = { $0.sectioned(by: sectionKey) }
    self.sortKeys = sortKeys
    self.filter = filter
    sectionOrder = .first
  }

  /// Without sections.
  public init(sortKeys: [DiffableFetchSortKey<Item>] = [], filter: FilterTemplate? = nil)
  where Section == Unsectioned {
    section = { $0 }
    self.sortKeys = sortKeys
    self.filter = filter
    sectionOrder = .key
  }

  /// Sections by another property of the same type.
  public mutating func setSectionKey(_ sectionKey: any KeyPath<Item, Section> & Sendable)
  where Section: SortKey {
    section = { $0.sectioned(by: sectionKey) }
  }

  /// The same as a fetch controller takes it.
  public var listRequest: ListRequest<Item, Section> {
    var plain = ListRequest(Item.self)
    for key in sortKeys { plain = key.sort(plain) }
    if let filter { plain = plain.filtered(by: filter) }
    if let fetchLimit, fetchLimit > 0 { plain = plain.limited(to: fetchLimit) }
    let request = section(plain).sectionsOrdered(by: sectionOrder)
    return refinement?(request) ?? request
  }

  var isSorted: Bool { !listRequest.sorts.isEmpty }
}

/// One property by which items are sorted.
public struct DiffableFetchSortKey<Item: Identifiable & Sendable>: Sendable where Item.ID: DocumentID {
  let sort: @Sendable (ListRequest<Item, Unsectioned>) -> ListRequest<Item, Unsectioned>

  /// - Parameter options: `.nilsLast`, `.caseInsensitive`, `.numeric`.
  public init<Value: SortKey>(
    _ keyPath: any KeyPath<Item, Value> & Sendable, _ direction: SortDirection = .forward,
    _ options: SortKeyOptions = []
  ) {
    sort = { $0.sorted(by: keyPath, direction, options) }
  }

  /// By a field of the documents.
  ///
  /// - Parameter options: `.nilsLast`, `.caseInsensitive`, `.numeric`, `.time`.
  public init(field: FieldPath, _ direction: SortDirection = .forward, _ options: SortKeyOptions = []) {
    sort = { $0.sorted(byField: field, direction, options) }
  }
}
