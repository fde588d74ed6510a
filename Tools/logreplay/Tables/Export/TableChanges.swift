// The rows that differ between two states of a table.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataTables

/// Two states of one table, and which rows of them count.
struct TableChanges {
  typealias Side = (row: RowView, section: DocumentValue)

  let old: TableState
  let new: TableState
  let selection: RowSelection

  /// Both states, by one replay in the order of the log.
  init(_ opened: OpenedStore, table: String, _ query: ListQuery, from: ResolvedPoint, to: ResolvedPoint)
    throws
  {
    let replay = TableReplay(opened, table: table)
    if from.sequence <= to.sequence {
      old = try replay.state(at: from)
      new = try replay.state(at: to)
    } else {
      new = try replay.state(at: to)
      old = try replay.state(at: from)
    }
    selection = RowSelection(query, table: table)
  }

  /// Lends each row that differs, ascending by the ids' UTF-8: as it was, and as it is; nil where it is not exported. May
  /// be called again. Costs what the states do not share.
  ///
  /// - Parameter reports: whether rows that are left out now are reported.
  func forEach(reports: Bool, _ body: (_ old: Side?, _ new: Side?) throws -> Void) throws {
    try Table.forEachChange(from: old.table, to: new.table) { (change) throws in
      let before = change.old.flatMap { row in
        selection.section(of: row, reports: false).map { (row: row, section: $0) }
      }
      let after = change.new.flatMap { row in
        selection.section(of: row, reports: reports).map { (row: row, section: $0) }
      }
      if before != nil || after != nil { try body(before, after) }
    }
  }
}
