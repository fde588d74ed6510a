// The tables of imports: their filters, and the rows that a store has, so that only what differs is appended.

internal import LogreplayEvents
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// What imports know of tables.
struct StoredImportTables: ImportTables {
  func condition(
    _ filter: String, takesID: Bool
  ) throws(ImportConditionError) -> ImportCondition {
    let parsed: RowFilter
    do throws(FilterError) { parsed = try RowFilter(parsing: filter) } catch {
      throw .syntax("\(error)")
    }
    if let own = parsed.fields.first(where: { $0.subject != .field && !($0.subject == .id && takesID) }) {
      throw .ofRows("\(own)")
    }
    let compiled = parsed.compiled()
    return ImportCondition { record, id in
      let row = RowView(id: id, revision: 0, created: 0, time: 0, document: record)
      return compiled.matches(row, section: { .null })
    }
  }

  func rows(of table: String, in store: EventStore) throws(StoreError) -> any ImportTableRows {
    try StoredTableRows(table, in: store)
  }

  func extendState(of store: EventStore) { store.extendDocumentState() }
}

private final class StoredTableRows: ImportTableRows, @unchecked Sendable {
  /// Keeps what the rows are read from.
  private let past: PastReader
  private let rows: Table

  /// Folds the table, or takes what is saved of it. Blocks.
  init(_ table: String, in store: EventStore) throws(StoreError) {
    past = PastReader(store, .documents(only: [table]))
    let head = store.head.sequence
    let state = try past.fold(at: head).state
    guard state.sequence == head else { throw .closed }
    rows = state[table]
  }

  func isEqual(_ id: UnsafeRawBufferPointer, _ document: UnsafeRawBufferPointer?) -> Bool {
    rows.withRow(id) { row in
      guard let row, let document else { return row == nil && document == nil }
      return document.hasSameBytes(as: row.document)
    }
  }

  var count: Int { rows.count }

  func scan() -> any ImportTableScan { StoredTableScan(rows) }
}

private final class StoredTableScan: ImportTableScan {
  private var rows: TableScan
  private var row: RowView?

  init(_ table: Table) { rows = TableScan(table) }

  func next() -> UnsafeRawBufferPointer? {
    row = rows.next()
    return row?.id
  }

  func hasDocument(_ document: UnsafeRawBufferPointer) -> Bool {
    row?.document.hasSameBytes(as: document) ?? false
  }
}
