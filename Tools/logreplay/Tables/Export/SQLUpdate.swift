// The statements that turn a table of SQLite from one state into another.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
internal import StrataTables

/// Writes the difference of two states, inside of a transaction that the caller begins and commits.
struct SQLUpdate {
  /// What was written.
  struct End {
    var puts: UInt64 = 0
    var deletes: UInt64 = 0
    var inexact: UInt64 = 0
    /// The rows that the table then has.
    var rows: UInt64 = 0
  }

  private let changes: TableChanges
  private let columns: ExportColumns
  private let mark: SQLiteMark

  private let isLossy: Bool

  /// - Parameters:
  ///   - columns: have the columns of the mark, in their order.
  ///   - mark: what the file has.
  init(_ changes: TableChanges, _ columns: ExportColumns, _ mark: SQLiteMark, isLossy: Bool) throws {
    (self.changes, self.columns, self.mark, self.isLossy) = (changes, columns, mark, isLossy)
  }

  /// Writes the statements. They fail, where what reads them stops at an error, if the file is not in the state of the
  /// mark any longer, or does not have its rows.
  func write(to sink: some ExportSink) throws -> End {
    let old = mark.columns.map(\.type)
    try changes.forEach(reports: false) { _, new in
      if let new { try columns.note(new.row, section: new.section) }
    }
    columns.endNoting()
    var sql = try TableSQL(columns, name: mark.name, replaces: true, isLossy: isLossy)
    try sql.checkColumns()
    let new = types(old)
    try write(mark.guardStatements + sql.redefinition(from: old, to: new), to: sink)
    let end = try writeRows(&sql, to: sink)
    var next = mark
    next.sequence = changes.new.point.sequence
    next.chain = LogPosition.hex(changes.new.chain)
    next.time = changes.new.point.time?.description
    next.rowCount = end.rows
    next.columns = zip(columns.names, new).map { ($0, $1) }
    try write(next.statement + next.countStatements, to: sink)
    return end
  }

  /// The types of all columns. One that has a type keeps it if the rows that changed have no other values there.
  private func types(_ old: [String]) -> [String] {
    columns.kinds.enumerated().map { index, kinds in
      guard index < old.count else { return kinds.declaredType }
      return kinds.isEmpty || kinds.declaredType == old[index] ? old[index] : ""
    }
  }

  private func writeRows(_ sql: inout TableSQL, to sink: some ExportSink) throws -> End {
    var end = End()
    var (inserted, removed): (UInt64, UInt64) = (0, 0)
    var bytes: [UInt8] = []
    var progress = TransferProgress(unit: "changes")
    defer { progress.end() }
    try changes.forEach(reports: true) { old, new in
      guard let new else {
        guard let old else { return }
        _ = try columns.read(old.row, section: old.section)
        sql.delete(id: sql.lastID(), to: &bytes)
        end.deletes += 1
        removed += 1
        return
      }
      let before = try old.map { old in
        (values: try sql.values(of: old.row, section: old.section, counts: false), id: sql.lastID())
      }
      let values = try sql.values(of: new.row, section: new.section)
      if let before {
        // Only a field changed that is not exported.
        if before.values == values { return }
        if before.id != sql.lastID() { sql.delete(id: before.id, to: &bytes) }
      } else {
        inserted += 1
      }
      sql.put(values, to: &bytes)
      end.puts += 1
      if bytes.count >= ExportTables.pieceSize {
        try bytes.withUnsafeBytes { try sink.write($0) }
        bytes.removeAll(keepingCapacity: true)
      }
      progress.update(end.puts + end.deletes) { nil }
    }
    sql.flush(to: &bytes)
    try bytes.withUnsafeBytes { try sink.write($0) }
    end.inexact = sql.inexactCount
    // A file that lost rows is found out by this number, which must not be less than 0.
    end.rows = mark.rowCount + inserted - min(removed, mark.rowCount + inserted)
    return end
  }

  private func write(_ text: String, to sink: some ExportSink) throws {
    try Array(text.utf8).withUnsafeBytes { try sink.write($0) }
  }
}
