// One condition that rows must pass: a filter, a closure, a predicate, or a search text.

package import StrataTables

/// A condition, identified by its filter or words, or by the closure's id.
package struct FilterPart<Item: Sendable>: Sendable {
  /// What makes two conditions equal. It holds no closure.
  enum Identity: Hashable, Sendable {
    case filter(RowFilter)
    case malformed(FilterTemplate)
    case closure(ClosureIdentity)
    case predicate(PredicateIdentity)
    case search(SearchQuery, [SearchPart<Item>])
  }

  package enum Condition: Sendable {
    case filter(RowFilter)
    case malformed(FilterError)
    case closure(@Sendable (Item) throws(RowProblem) -> Bool)
    /// A condition on the row's encoded bytes.
    case row(@Sendable (RowView) -> Bool)
  }

  let identity: Identity
  package let condition: Condition

  init(_ filter: RowFilter) {
    identity = .filter(filter)
    condition = .filter(filter)
  }

  init(_ template: FilterTemplate) {
    do throws(FilterError) {
      let filter = try RowFilter(template)
      identity = .filter(filter)
      condition = .filter(filter)
    } catch {
      identity = .malformed(template)
      condition = .malformed(error)
    }
  }

  init(
    _ identity: Identity, _ passes: @escaping @Sendable (Item) throws(RowProblem) -> Bool
  ) {
    self.identity = identity
    condition = .closure(passes)
  }

  init(searching query: SearchQuery, in parts: [SearchPart<Item>]) {
    identity = .search(query, parts)
    if parts.contains(where: \.needsItem) {
      condition = .closure { (item) throws(RowProblem) in
        query.matches { body in for part in parts { part.forEachText(item, body) } }
      }
    } else {
      condition = .row { row in
        query.matches { body in for part in parts { part.forEachText(row, body) } }
      }
    }
  }
}

extension FilterPart {
  /// The paths of the fields that it names; a closure names none.
  var paths: Set<FieldPath> {
    switch identity {
    case .filter(let filter): filter.fields
    case .malformed, .closure, .predicate: []
    case .search(_, let parts): Set(parts.compactMap(\.field))
    }
  }

  /// Whether it is a search for words.
  var isSearch: Bool { if case .search = identity { true } else { false } }

  /// The fields in which it searches for words.
  var searchedFields: [FieldPath] {
    guard case .search(_, let parts) = identity else { return [] }
    return parts.compactMap(\.field)
  }

  /// The filter's text, the search words, or the id of the closure.
  package var name: String {
    switch identity {
    case .filter(let filter): filter.description
    case .malformed(let template): template.text
    case .closure(.id(let id)): id.description
    case .closure(.unnamed): "a closure without an id"
    case .predicate: "a predicate"
    case .search(let query, _): query.description
    }
  }
}

extension FilterPart {
  /// Whether it is a filter that reads the row's section.
  var readsSection: Bool {
    guard case .filter(let filter) = condition else { return false }
    return filter.fields.contains { $0.subject == .section }
  }
}

extension FilterPart: Hashable {
  package static func == (a: Self, b: Self) -> Bool { a.identity == b.identity }
  package func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
