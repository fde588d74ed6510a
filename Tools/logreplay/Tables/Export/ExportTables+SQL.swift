// Exports a table as SQL text, or to a file of SQLite.

internal import LogreplayEvents
internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
internal import StrataTables

extension ExportTables {
  func exportSQL() throws -> ExportTableReport {
    let target = try ExportTarget(request.target, replaces: request.replaces)
    let report = try writeWhole(to: target)
    try target.finish()
    return report
  }

  /// A file that there is, and that an earlier export made, is updated or gets one more table, in one transaction. Any
  /// other target is written under a temporary name.
  func exportSQLite() throws -> ExportTableReport {
    let name = options.name ?? table
    try TableSQL.check(name: name)
    guard !request.replaces, try isFile(request.target) else { return try writeNew() }
    switch try SQLiteMark.read(name, in: request.target) {
    case .foreign:
      throw refused("the file was not written by an export", "give another name, or replace it with --force")
    case .newer:
      throw refused(
        "the file was written by another version of this tool",
        "give another name, or replace it with --force")
    case .taken:
      throw refused(
        "the file has a table \(String(reflecting: name)) that no export wrote",
        "give the table another name with --as")
    case .absent: return try addTable()
    case .mark(let mark): return try update(mark)
    }
  }

  private func isFile(_ path: String) throws -> Bool {
    do throws(StoreError) { return try PosixFileSystem().kind(of: path) == .file } catch {
      throw CommandFailure(error)
    }
  }

  private func refused(_ what: String, _ next: String) -> CommandFailure {
    CommandFailure(ExitStatus.cannotCreate, what, at: request.target, next: next)
  }

  // MARK: Whole

  /// Writes the table with all its rows, in one transaction.
  private func writeWhole(to sink: some ExportSink) throws -> ExportTableReport {
    var (rows, report) = try self.rows()
    let columns = try self.columns()
    try rows.forEach(reports: false) { row, section in try columns.note(row, section: section) }
    columns.endNoting()
    var sql = try TableSQL(columns, name: options.name ?? table, replaces: false, isLossy: options.lossy)
    try sql.checkColumns()
    func write(_ text: String) throws { try Array(text.utf8).withUnsafeBytes { try sink.write($0) } }
    try write("BEGIN;\n" + SQLiteMark.definition + sql.definition(sql.types))
    try self.write(rows, to: sink, &report) { row, section, bytes in
      sql.put(try sql.values(of: row, section: section), to: &bytes)
    }
    var bytes: [UInt8] = []
    sql.flush(to: &bytes)
    try bytes.withUnsafeBytes { try sink.write($0) }
    report.inexact = sql.inexactCount
    guard case .table(let state, _) = rows else { return report }
    try write(mark(state, columns, rowCount: report.rows).statement + "COMMIT;\n")
    return report
  }

  private func writeNew() throws -> ExportTableReport {
    try SQLiteProgram.checkJournals(besides: request.target)
    let target = try ExportTarget(request.target, replaces: request.replaces)
    guard let path = target.temporaryPath else {
      throw refused("the path is no file", "give the path of a file")
    }
    let program = try SQLiteProgram(path, name: request.target)
    // The file has its name only when it is complete and synced, so nothing has to be undone.
    try program.write("PRAGMA journal_mode=OFF;\nPRAGMA synchronous=OFF;\n")
    let report = try writeWhole(to: program)
    try program.finish()
    try target.finish()
    return report
  }

  private func addTable() throws -> ExportTableReport {
    let program = try SQLiteProgram(request.target)
    let report = try writeWhole(to: program)
    try program.finish()
    return report
  }

  // MARK: By the difference

  private func update(_ mark: SQLiteMark) throws -> ExportTableReport {
    let opened = request.opened
    guard mark.store == opened.log.storeID.description else {
      throw refused(
        "the file is of another store, \(mark.store)", "give another name, or replace it with --force")
    }
    guard mark.source.utf8.elementsEqual(table.utf8) else {
      throw refused(
        "the table \(String(reflecting: mark.name)) of the file is of the table \(String(reflecting: mark.source))",
        "give the table another name with --as")
    }
    guard mark.query == queryJSON else {
      throw refused(
        "the file was exported with other fields, sections or filters: \(mark.query)",
        "give the same options, another name with --as, or replace the file with --force")
    }
    let from = try point(of: mark)
    let changes = try TableChanges(opened, table: table, query, from: from, to: request.to)
    try checkEnd()
    let columns = try self.columns(known: mark.columns.map(\.name))
    let program = try SQLiteProgram(request.target)
    try program.write("PRAGMA legacy_alter_table=ON;\nBEGIN IMMEDIATE;\n")
    let end = try SQLUpdate(changes, columns, mark, isLossy: options.lossy).write(to: program)
    try program.write("COMMIT;\n")
    try program.finish()
    var report = ExportTableReport(at: request.to)
    report.chain = changes.new.chain
    report.rows = end.rows
    report.inexact = end.inexact
    report.kind = .update(from: mark.sequence, puts: end.puts, deletes: end.deletes)
    report.noteLeftOut(changes.selection, changes.new)
    return report
  }

  /// The point that the file has, if the store has it too.
  private func point(of mark: SQLiteMark) throws -> ResolvedPoint {
    let log = request.opened.log
    let first = log.mark.logBegin
    let other = refused(
      "the file has the state at seq \(mark.sequence), which this store does not have",
      "replace the file with --force")
    guard mark.sequence + 1 >= first, mark.sequence <= log.mark.sequence else { throw other }
    let chain: UInt64?
    do throws(StoreError) { chain = try log.chain(after: mark.sequence) } catch {
      throw request.opened.failure(error)
    }
    guard let chain, LogPosition.hex(chain) == mark.chain else { throw other }
    return ResolvedPoint(sequence: mark.sequence)
  }
}
