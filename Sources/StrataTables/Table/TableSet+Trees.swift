// The trees of a state.

extension TableSet {
  /// Every tree of the state.
  package var trees: [Tree] { tables.flatMap(\.trees) }
}

extension Table {
  /// Every tree of the table and of its views.
  package var trees: [Tree] { [rows, problems] + views.flatMap(\.allTrees) }
}

extension View {
  fileprivate var allTrees: [Tree] { ViewTrees.Kind.allCases.compactMap { trees[$0] } }
}
