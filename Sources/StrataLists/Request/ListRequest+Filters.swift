// Which rows a list takes: filters, closures, predicates, and what is searched for.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import StrataTables

/// Every condition is asked anew whenever a row's content changes: a row that stops to pass is a deletion, one
/// that begins to is an insertion.
extension ListRequest {
  /// Only rows that pass a filter; several calls must all be passed.
  public func filtered(by filter: RowFilter) -> Self {
    with { $0.filters.append(FilterPart(filter)) }
  }

  /// Only rows that pass a filter as text. A syntax error is thrown by the fetch.
  public func filtered(by text: String) -> Self {
    with { $0.filters.append(FilterPart(text: text)) }
  }

  /// Only rows that a closure accepts. The closure is pure, and its name and version stand for it: give it
  /// another version when it changes its meaning.
  public func filtered(
    _ name: String, version: Int = 1, _ passes: @escaping @Sendable (Item) -> Bool
  ) -> Self {
    with { $0.filters.append(FilterPart(.named(name, version: version), passes)) }
  }

  /// Only rows that a closure accepts. The closure is pure. A request with a closure that has no name equals only its
  /// own copies.
  public func filtered(_ passes: @escaping @Sendable (Item) -> Bool) -> Self {
    with { $0.filters.append(FilterPart(.unnamed(), passes)) }
  }
}

// MARK: Predicates

extension ListRequest {
  /// Only rows that pass a predicate, which its name and version stand for: give it another version when it
  /// changes its meaning, or captures another value.
  ///
  /// The predicate is pure: `Date.now` belongs into a value that it captures, and into its version. A row for which it
  /// throws is left out, and reported among the problems. A predicate takes more
  /// than ten times as long as a closure.
  public func filtered(_ name: String, version: Int = 1, by predicate: Predicate<Item>) -> Self {
    filtered(by: predicate, .named(name, version: version))
  }

  /// Only rows that pass a predicate, which is pure. Predicates cannot be compared, so a request with one that has
  /// no name equals only its own copies.
  public func filtered(by predicate: Predicate<Item>) -> Self {
    filtered(by: predicate, .unnamed())
  }

  private func filtered(by predicate: Predicate<Item>, _ identity: ClosureIdentity) -> Self {
    let part = FilterPart<Item>(identity) { (item) throws(RowProblem) in
      do { return try predicate.evaluate(item) } catch {
        throw RowProblem(what: "the list's predicate cannot be asked about it: \(error)")
      }
    }
    return with { $0.filters.append(part) }
  }
}

// MARK: Search

extension ListRequest {
  /// Only rows in which every word of a text occurs somewhere, in any of these properties: strings, optional
  /// ones, and arrays of them.
  ///
  /// Case and the marks on letters do not count: `"oster"` finds Øster and ÖSTER. A word is found in the middle
  /// of others too, since not every script puts spaces between words, and since parts of compound words and of
  /// numbers are searched for. A text without words filters nothing, and the request equals the one without it.
  ///
  /// What the key paths lead to has to follow from the item alone.
  ///
  /// Of a text the first 1,024 characters (Unicode scalars) and the first 16 different words count.
  public func searched<each Value: SearchableText>(
    for text: String, in keyPaths: repeat any KeyPath<Item, each Value> & Sendable
  ) -> Self {
    var parts: [SearchPart<Item>] = []
    repeat parts.append(SearchPart(each keyPaths))
    return searched(for: text, parts)
  }

  /// Only rows in which every word of a text occurs somewhere, in any of these fields of their documents: the
  /// strings among them, and the strings of arrays. `$id` is one of them.
  public func searched(for text: String, inFields paths: FieldPath...) -> Self {
    searched(for: text, paths.map { SearchPart(field: $0) })
  }

  private func searched(for text: String, _ parts: [SearchPart<Item>]) -> Self {
    guard let query = SearchQuery(text) else { return self }
    return with { $0.filters.append(FilterPart(searching: query, in: parts)) }
  }
}
