// A walk over the rows of a table, for a comparison row by row.

/// The rows of a table in ascending order of their ids' bytes, one after another. The scan holds the rows as they were
/// when it was made.
package struct TableScan: ~Copyable {
  private var rows: TreeScan

  package init(_ table: Table) { rows = TreeScan(table.rows, 0..<table.rows.count) }

  /// The next row, nil after the last. Valid until the next call.
  package mutating func next() -> RowView? {
    guard let entry = rows.next() else { return nil }
    return StoredRow.view(id: entry.key, entry.value)
  }
}
