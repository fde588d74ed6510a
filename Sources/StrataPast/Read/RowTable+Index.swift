// The indexes over a table's rows that the history has.

internal import StrataEvents
package import StrataTables

extension RowTable {
  /// The indexes over the rows that the history answers from at an event, so that none of them is built.
  package func indexesOfHistory(at sequence: UInt64) -> [ViewDefinition] {
    let lists = projector.kept.history?.lists ?? []
    return projector.published[name].indexes.map(\.definition).filter { definition in
      lists.contains {
        $0.table.utf8.elementsEqual(name.utf8) && $0.name == definition.kept?.name
          && $0.firstSequence.map { $0 <= sequence } ?? false
      }
    }
  }
}
