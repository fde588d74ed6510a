// The indexes over a table's rows: which there are, now and in the history.

internal import StrataEvents
package import StrataTables

extension Table {
  /// The views over all rows in the order of some of their fields.
  package var indexes: [View] { views.filter { !$0.definition.keyFields.isEmpty } }
}

extension RowTable {
  /// The indexes over the rows that the history answers from at an event, so that none of them is built.
  package func indexesOfHistory(at sequence: UInt64) -> [ViewDefinition] {
    let lists = projector.historian?.lists ?? []
    return projector.published[name].indexes.map(\.definition).filter { definition in
      lists.contains {
        $0.table.utf8.elementsEqual(name.utf8) && $0.name == definition.kept?.name
          && $0.firstSequence.map { $0 <= sequence } ?? false
      }
    }
  }
}
