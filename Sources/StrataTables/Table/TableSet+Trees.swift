// The trees of a state.

extension TableSet {
  /// Every tree of the state.
  package var trees: [Tree] { tables.flatMap { [$0.rows, $0.problems] + $0.views.flatMap(\.allTrees) } }
}

extension View {
  fileprivate var allTrees: [Tree] { ViewTrees.Kind.allCases.compactMap { trees[$0] } }
}
