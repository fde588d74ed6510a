// A filter made ready for rows: literals encoded, patterns compiled.

package import StrataEvents
package import StrataTables

/// A filter that looks at rows as they lie in memory, without decoding them.
package struct CompiledFilter: Sendable {
  private indirect enum Node: Sendable {
    case clause(FilterClause)
    case not(Node)
    case and([Node])
    case or([Node])
  }

  private let root: Node

  package init(_ filter: RowFilter) { root = Self.node(filter.expression) }

  private static func node(_ expression: FilterExpression) -> Node {
    switch expression {
    case .comparison(let comparison): .clause(FilterClause(comparison))
    case .not(let expression): .not(node(expression))
    case .and(let expressions): .and(expressions.map(node))
    case .or(let expressions): .or(expressions.map(node))
    }
  }

  /// Whether the row is one of those that the filter takes. `section` is called where the filter asks for it.
  /// Nothing traps, whatever the row's bytes are: what is damaged is missing.
  package func matches(_ row: RowView, section: () -> DocumentValue) -> Bool {
    Self.evaluate(root, row, section)
  }

  private static func evaluate(_ node: Node, _ row: RowView, _ section: () -> DocumentValue) -> Bool {
    switch node {
    case .clause(let clause): return clause.matches(row, section)
    case .not(let node): return !evaluate(node, row, section)
    case .and(let nodes):
      for node in nodes where !evaluate(node, row, section) { return false }
      return true
    case .or(let nodes):
      for node in nodes where evaluate(node, row, section) { return true }
      return false
    }
  }
}

extension RowFilter {
  /// The filter, ready for rows.
  package func compiled() -> CompiledFilter { CompiledFilter(self) }
}
