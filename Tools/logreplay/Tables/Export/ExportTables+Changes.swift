// Exports the changes of a table between two points.

internal import LogreplayEvents
internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
internal import StrataTables

extension ExportTables {
  func exportChanges() throws -> ExportTableReport {
    let target = try ExportTarget(request.target, replaces: request.replaces)
    let from = request.from ?? request.resolver.beginning
    let changes = try TableChanges(request.opened, table: table, query, from: from, to: request.to)
    try checkEnd()
    UnknownFields.report(query, in: [changes.old.table, changes.new.table])
    var report = ExportTableReport(at: request.to)
    report.chain = changes.new.chain
    report.rows = UInt64(changes.new.table.count)
    let counts =
      format == .sql
      ? try writeSQL(changes, to: target, &report) : try writeLines(changes, to: target, &report)
    report.kind = .changes(from: from, puts: counts.puts, deletes: counts.deletes)
    report.noteLeftOut(changes.selection, changes.new)
    try target.finish()
    return report
  }

  /// A line for each row: `{"kind":"put","id":"…","before":{…},"after":{…}}`, where `before` or `after` is null for a row
  /// that was not there or is gone.
  private func writeLines(
    _ changes: TableChanges, to target: ExportTarget, _ report: inout ExportTableReport
  ) throws -> (puts: UInt64, deletes: UInt64) {
    var lines = try TableJSONLines(table: table, idName: options.id, query.fields, isLossy: options.lossy)
    var counts: (puts: UInt64, deletes: UInt64) = (0, 0)
    var progress = TransferProgress(unit: "changes")
    defer { progress.end() }
    var bytes: [UInt8] = []
    var (before, after): ([UInt8], [UInt8]) = ([], [])
    func document(_ side: TableChanges.Side?, in text: inout [UInt8]) throws {
      text.removeAll(keepingCapacity: true)
      guard let side else { return text += "null".utf8 }
      try lines.appendDocument(side.row, to: &text)
    }
    try changes.forEach(reports: true) { old, new in
      try document(old, in: &before)
      try document(new, in: &after)
      let isSameSection = old.map { old in new.map { $0.section == old.section } ?? false } ?? false
      guard let side = new ?? old, before != after || !isSameSection else { return }
      if new == nil { counts.deletes += 1 } else { counts.puts += 1 }
      var line = JSONLine(movingFrom: &bytes)
      line.field("kind", new == nil ? "delete" : "put")
      line.field("id", side.row.idText)
      if query.sectionPath != nil { line.field("section", side.section) }
      line.raw("before", before)
      line.raw("after", after)
      line.finish(to: &bytes)
      bytes.append(UInt8(ascii: "\n"))
      if bytes.count >= Self.pieceSize {
        try target.write(bytes)
        bytes.removeAll(keepingCapacity: true)
      }
      progress.update(counts.puts + counts.deletes) { nil }
    }
    try target.write(bytes)
    report.note(lines)
    return counts
  }

  /// Statements that turn the table of the first point, as `export --format sql` defines it there, into that of the last.
  private func writeSQL(
    _ changes: TableChanges, to target: ExportTarget, _ report: inout ExportTableReport
  ) throws -> (puts: UInt64, deletes: UInt64) {
    let columns = try self.columns()
    var count: UInt64 = 0
    try ExportRows.table(changes.old, changes.selection).forEach(reports: false) { row, section in
      try columns.note(row, section: section)
      count += 1
    }
    columns.endNoting()
    let mark = self.mark(changes.old, columns, rowCount: count)
    let update = try SQLUpdate(changes, columns, mark, isLossy: options.lossy)
    try target.write("BEGIN;\n" + SQLiteMark.definition)
    let end = try update.write(to: target)
    try target.write("COMMIT;\n")
    report.inexact = end.inexact
    report.rows = end.rows
    return (end.puts, end.deletes)
  }

  /// The note about a state that a file has, or gets.
  func mark(_ state: TableState, _ columns: ExportColumns, rowCount: UInt64) -> SQLiteMark {
    SQLiteMark(
      name: options.name ?? table, store: request.opened.log.storeID.description, source: table,
      sequence: state.point.sequence, chain: LogPosition.hex(state.chain),
      time: state.point.time?.description,
      query: queryJSON, columns: zip(columns.names, columns.kinds.map(\.declaredType)).map { ($0, $1) },
      rowCount: rowCount)
  }
}
