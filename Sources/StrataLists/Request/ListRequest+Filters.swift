// The rows that a list includes: filters, closures, predicates, and searches.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import StrataTables

/// Every condition is evaluated again when a row's content changes: a row that stops passing is a deletion, one that
/// begins to pass is an insertion.
///
/// Each call adds a condition to those of the request. Where one is to replace them, call `unfiltered()` or
/// `unsearched()` first.
extension ListRequest {
  /// Only rows that pass a filter. It is added to the filters and searches of the request, all of which rows must pass:
  /// where it is to replace them, call ``unfiltered()`` first.
  public func filtered(by filter: RowFilter) -> Self {
    with { $0.filters.append(FilterPart(filter)) }
  }

  /// Only rows that pass a filter, written as a string literal: `filtered(by: "impact == \(impact) && size > 3")`.
  /// Interpolated values are literals of the filter and are not parsed, as ``FilterTemplate`` says. They are a part of
  /// the filter: requests with other values are not equal. A syntax error is thrown by the fetch.
  ///
  /// It is added to the filters of the request, also to one of the same text with another value:
  ///
  /// ```swift
  /// try await list.apply(changing: { [limit] in $0 = $0.unfiltered().filtered(by: "size > \(limit)") })
  /// ```
  ///
  /// O(length of the text).
  public func filtered(by template: FilterTemplate) -> Self {
    with { $0.filters.append(FilterPart(template)) }
  }

  /// Only rows that pass a filter given as a text, all of which is parsed: for filters that people type. Filters of the
  /// program are literals with interpolated values: see `filtered(by:)`. A syntax error is thrown by the fetch. The
  /// filter is added to those of the request.
  ///
  /// O(length of the text).
  public func filtered(parsing text: some StringProtocol) -> Self {
    filtered(by: FilterTemplate(parsing: text))
  }

  /// Only rows that a closure accepts. The closure must be pure. It is added to the filters of the request.
  ///
  /// Closures cannot be compared, so the id is compared instead, by its encoding as CBOR. It names the closure and every
  /// value that the closure captures: requests with the same id are taken for equal. Where an application has several
  /// closures, each id says which one it is.
  ///
  /// ```swift
  /// request.filtered(id: ["owner", owner]) { [owner] in $0.owner == owner }
  /// ```
  ///
  /// - Parameter id: a string, an integer, a UUID, or any other value of a type that is `Codable`. A request equals only
  ///   its own copies if its id cannot be encoded.
  public func filtered(
    id: some Codable & Hashable & Sendable, _ passes: @escaping @Sendable (Item) -> Bool
  ) -> Self {
    with { $0.filters.append(FilterPart(.closure(.id(encoding: id)), passes)) }
  }

  /// Only rows that a closure accepts. The closure must be pure. It is added to the filters of the request. A request
  /// with a closure without an id equals only its own copies.
  public func filtered(_ passes: @escaping @Sendable (Item) -> Bool) -> Self {
    with { $0.filters.append(FilterPart(.closure(.unnamed()), passes)) }
  }

  /// Without the conditions of the request: its filters, closures, predicates and searches.
  public func unfiltered() -> Self { with { $0.filters = [] } }
}

// MARK: Predicates

extension ListRequest {
  /// Only rows that pass a predicate. It is added to the filters of the request.
  ///
  /// Two predicates are the same condition if they have the same expression, the same key paths, and captured values
  /// whose encodings as CBOR are the same. A predicate that captures a value that cannot be encoded is not comparable,
  /// and its request equals only its own copies; give such a predicate an id.
  ///
  /// The predicate must be pure: put `Date.now` into a value that it captures. A row for which the predicate throws is
  /// left out and reported among the problems. A predicate takes more than ten times as long as a closure.
  public func filtered(by predicate: Predicate<Item>) -> Self {
    filtered(by: predicate, PredicateIdentity(predicate).map { .predicate($0) } ?? .closure(.unnamed()))
  }

  /// Only rows that pass a predicate, which is identified by an id, as closures are: the id alone is compared, and names
  /// the predicate and every value that it captures.
  public func filtered(
    id: some Codable & Hashable & Sendable, by predicate: Predicate<Item>
  ) -> Self {
    filtered(by: predicate, .closure(.id(encoding: id)))
  }

  private func filtered(by predicate: Predicate<Item>, _ identity: FilterPart<Item>.Identity) -> Self {
    let part = FilterPart<Item>(identity) { (item) throws(RowProblem) in
      do { return try predicate.evaluate(item) } catch {
        throw RowProblem(what: "the list's predicate cannot be evaluated for it: \(error)")
      }
    }
    return with { $0.filters.append(part) }
  }
}

// MARK: Search

extension ListRequest {
  /// Only rows in which every word of a text occurs somewhere, in any of these properties: strings, optional strings,
  /// and arrays of them.
  ///
  /// Case and the marks on letters are ignored: `"oster"` finds Øster and ÖSTER. A word also matches in the middle of
  /// other words, because not every script puts spaces between words, and because people search for parts of compound
  /// words and of numbers. A text without words does not filter, and the request equals the one without it.
  ///
  /// The values of the key paths must depend on the item alone.
  ///
  /// Only the first 1,024 Unicode scalars of a text and its first 16 different words count.
  ///
  /// The search is added to the filters and searches of the request. A text that changes while it is typed replaces the
  /// one before it if the request is made without searches first:
  ///
  /// ```swift
  /// try await list.apply(changing: { [text] in $0 = $0.unsearched().searched(for: text, in: \.name) })
  /// ```
  public func searched<each Value: SearchableText>(
    for text: String, in keyPaths: repeat any KeyPath<Item, each Value> & Sendable
  ) -> Self {
    var parts: [SearchPart<Item>] = []
    repeat parts.append(SearchPart(each keyPaths))
    return searched(for: text, parts)
  }

  /// Only rows in which every word of a text occurs somewhere, in any of these fields of their documents: strings, and
  /// the strings in arrays. `$id` is allowed too; a fetch refuses other values of the row's own. The search is added to
  /// the filters and searches of the request.
  public func searched(for text: String, inFields paths: FieldPath...) -> Self {
    searched(for: text, paths.map { SearchPart(field: $0) })
  }

  /// Without the searches of the request; its filters stay.
  public func unsearched() -> Self { with { $0.filters.removeAll(where: \.isSearch) } }

  private func searched(for text: String, _ parts: [SearchPart<Item>]) -> Self {
    guard let query = SearchQuery(text) else { return self }
    return with { $0.filters.append(FilterPart(searching: query, in: parts)) }
  }
}
