// The rows that a list includes: filters, closures, predicates, and searches.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import StrataTables

/// Every condition is evaluated again when a row's content changes: a row that stops passing is a deletion, one that
/// begins to pass is an insertion.
extension ListRequest {
  /// Only rows that pass a filter; with several calls, rows must pass all of them.
  public func filtered(by filter: RowFilter) -> Self {
    with { $0.filters.append(FilterPart(filter)) }
  }

  /// Only rows that pass a filter, written as a string literal: `filtered(by: "impact == \(impact) && size > 3")`.
  /// Interpolated values are literals of the filter and are not parsed; ``FilterTemplate`` lists their types. The values
  /// are a part of the filter: requests with other values are not equal. A syntax error is thrown by the fetch.
  ///
  /// O(length of the text).
  public func filtered(by template: FilterTemplate) -> Self {
    with { $0.filters.append(FilterPart(template)) }
  }

  /// Only rows that pass a filter given as a text, all of which is parsed: use it for filters that people type, and a
  /// literal with interpolated values for filters of the program. A syntax error is thrown by the fetch.
  ///
  /// O(length of the text).
  @_disfavoredOverload
  public func filtered(by text: String) -> Self { filtered(by: FilterTemplate(text)) }

  /// Only rows that a closure accepts. The closure must be pure. It is identified by its name and version: use another
  /// version when its meaning changes.
  public func filtered(
    _ name: String, version: Int = 1, _ passes: @escaping @Sendable (Item) -> Bool
  ) -> Self {
    with { $0.filters.append(FilterPart(.named(name, version: version), passes)) }
  }

  /// Only rows that a closure accepts. The closure must be pure. A request with an unnamed closure equals only its own
  /// copies.
  public func filtered(_ passes: @escaping @Sendable (Item) -> Bool) -> Self {
    with { $0.filters.append(FilterPart(.unnamed(), passes)) }
  }
}

// MARK: Predicates

extension ListRequest {
  /// Only rows that pass a predicate. It is identified by its name and version: use another version when its meaning or
  /// a captured value changes.
  ///
  /// The predicate must be pure: put `Date.now` into a value that it captures, and reflect that value in the version. A
  /// row for which the predicate throws is left out and reported among the problems. A predicate takes more than ten
  /// times as long as a closure.
  public func filtered(_ name: String, version: Int = 1, by predicate: Predicate<Item>) -> Self {
    filtered(by: predicate, .named(name, version: version))
  }

  /// Only rows that pass a predicate, which must be pure. Predicates cannot be compared, so a request with an unnamed
  /// one equals only its own copies.
  public func filtered(by predicate: Predicate<Item>) -> Self {
    filtered(by: predicate, .unnamed())
  }

  private func filtered(by predicate: Predicate<Item>, _ identity: ClosureIdentity) -> Self {
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
  public func searched<each Value: SearchableText>(
    for text: String, in keyPaths: repeat any KeyPath<Item, each Value> & Sendable
  ) -> Self {
    var parts: [SearchPart<Item>] = []
    repeat parts.append(SearchPart(each keyPaths))
    return searched(for: text, parts)
  }

  /// Only rows in which every word of a text occurs somewhere, in any of these fields of their documents: strings, and
  /// the strings in arrays. `$id` is allowed too.
  public func searched(for text: String, inFields paths: FieldPath...) -> Self {
    searched(for: text, paths.map { SearchPart(field: $0) })
  }

  private func searched(for text: String, _ parts: [SearchPart<Item>]) -> Self {
    guard let query = SearchQuery(text) else { return self }
    return with { $0.filters.append(FilterPart(searching: query, in: parts)) }
  }
}
