// The trees of a state.

extension TableSet {
  /// Every tree of the state.
  package var trees: [Tree] { tables.flatMap { [$0.rows, $0.problems] + $0.views.flatMap(\.trees) } }
}

extension View {
  fileprivate var trees: [Tree] {
    [items, sections, order, labels, values, problems, marks, drifts] + (keys.map { [$0] } ?? [])
  }
}
