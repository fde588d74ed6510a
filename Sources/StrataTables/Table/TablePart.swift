// The trees of a table.

/// One tree of a table.
package enum TablePart: Sendable {
  case rows, problems
  case view(ViewDefinition, ViewTrees.Kind)

  /// Whether the program's code makes the tree, which may read a clock or a setting, and make another one next time.
  package var isOfProgram: Bool {
    if case .view(let definition, _) = self { definition.calls != .none } else { false }
  }

  /// What an entry of the tree must satisfy.
  package var check: EntryCheck {
    switch self {
    case .rows: StoredRow.isValid
    case .problems: { _, _ in true }
    case .view(let definition, let kind): kind.check(isCompared: definition.isCompared)
    }
  }
}
