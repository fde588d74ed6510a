// Exports a table as it is at a point, or its changes between two points.

internal import ArgumentParser
internal import LogreplayEvents
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataTables

/// Writes a table of a store.
struct ExportTables {
  /// The bytes that are gathered before they are written.
  static let pieceSize = 64 << 10

  let request: ExportRequest
  let list: ListOptions
  let options: ExportTableOptions
  let format: ExportFormat
  let query: ListQuery
  let table: String

  private var opened: OpenedStore { request.opened }

  init(request: ExportRequest, list: ListOptions, options: ExportTableOptions) throws {
    (self.request, self.list, self.options) = (request, list, options)
    let times = TimeText(zone: request.output.zone)
    format = try Self.format(of: request)
    try ListQuery.check(list, times: times)
    try Self.check(format, list, options, request)
    query = try ListQuery(list, in: request.opened, times: times)
    try query.checkIsOfDocuments()
    table = try query.table ?? StoreTables(opened: request.opened).only()
  }

  func run() throws {
    var report: ExportTableReport
    if options.changes {
      report = try exportChanges()
    } else {
      switch format {
      case .jsonl: report = try exportLines()
      case .csv: report = try exportCSV(.commas)
      case .tsv: report = try exportCSV(.tabs)
      case .sql: report = try exportSQL()
      case .sqlite: report = try exportSQLite()
      case .cloudevents, .ocel, .ocelSQLite, .xes:
        throw CommandFailure(
          ExitStatus.usage, "a table is not exported as \(format.rawValue)",
          at: "--format \(format.rawValue)", next: "give --events, or another form")
      }
    }
    report.table = table
    report.format = format
    try report.print(request)
    if report.leftOut > 0 { throw ExitCode(ExitStatus.skipped) }
  }

  // MARK: Options

  private static func format(of request: ExportRequest) throws(CommandFailure) -> ExportFormat {
    if let format = request.format { return format }
    throw CommandFailure(
      ExitStatus.usage, "the format is not known by the name", at: request.target,
      next: "give --format jsonl, csv, tsv, sqlite or sql, or a name with one of these endings")
  }

  private static func check(
    _ format: ExportFormat, _ list: ListOptions, _ options: ExportTableOptions, _ request: ExportRequest
  ) throws(CommandFailure) {
    func refuse(_ condition: Bool, _ what: String, at place: String, _ next: String) throws(CommandFailure) {
      if condition { throw CommandFailure(ExitStatus.usage, what, at: place, next: next) }
    }
    let isSQL = format == .sql || format == .sqlite
    let isCSV = format == .csv || format == .tsv
    try refuse(options.id.isEmpty, "the name of the id field is empty", at: "--id", "give a name")
    try refuse(
      list.limitPerSection == 0, "no row would be exported", at: "--limit-per-section 0", "leave it out")
    try refuse(
      request.from != nil && !options.changes, "a table is exported at one point", at: "the range",
      "give one point, or --changes for what changed in the range")
    try refuse(
      options.changes && format != .jsonl && format != .sql, "changes are written as jsonl or sql",
      at: "--changes",
      format == .sqlite
        ? "leave out --changes: a file that is there is updated by the difference"
        : "choose one with --format")
    let order = [
      ("--sort", !list.sort.isEmpty), ("--section-order", list.sectionOrder != nil),
      ("--limit", list.limit != nil),
      ("--limit-per-section", list.limitPerSection != nil),
    ].first { $0.1 }
    try refuse(
      order != nil && (isSQL || options.changes),
      isSQL && !options.changes ? "a table of SQLite has no order" : "changes have no order and no limit",
      at: order?.0 ?? "", "leave it out" + (isSQL ? ", and write ORDER BY and LIMIT in SQL" : ""))
    let unused = [
      ("--null", !options.null.isEmpty && !isCSV), ("--crlf", options.crlf && !isCSV),
      ("--as", options.name != nil && !isSQL), ("--section-as", options.sectionAs != nil && format == .jsonl),
    ].first { $0.1 }
    try refuse(
      unused != nil, "\(unused?.0 ?? "") says nothing about \(format.rawValue)", at: unused?.0 ?? "",
      "leave it out")
    let isOdd = options.null.utf8.contains { [0x22, 0x0A, 0x0D, 0x2C, 0x09].contains($0) }
    try refuse(
      isOdd || options.null.hasPrefix(" ") || options.null.hasSuffix(" "),
      "the text for null would have to be in quotes", at: "--null",
      "give one without quotes, separators and spaces")
    try refuse(
      TableCSV.isValue(options.null), "null would be written as another value is",
      at: "--null \(options.null)",
      "give a text that is no number, true, false or list, such as null or \\N")
    try refuse(
      format == .sqlite && (request.target == "-" || request.target.hasSuffix(".gz")),
      "a database is a file that sqlite3 writes", at: request.target,
      "give a path that does not end in .gz, or write SQL text with --format sql")
  }

  /// The name of the column of sections; nil if there are none.
  var sectionName: String? { query.sectionPath == nil ? nil : options.sectionAs ?? "section" }

  /// What of the table is exported, as JSON: two exports with equal texts have the same columns for the same rows.
  var queryJSON: String {
    var line = JSONLine()
    line.field("id", options.id)
    line.raw(
      "fields", query.fields.chosen.map { Self.array($0.map(\.path.description)) } ?? Array("null".utf8))
    line.raw("where", Self.array(query.filters))
    line.field("section", query.sectionPath?.description)
    line.field("sectionAs", sectionName)
    return String(decoding: line.finish(), as: UTF8.self)
  }

  private static func array(_ texts: [String]) -> [UInt8] {
    var bytes = [UInt8(ascii: "[")]
    for (index, text) in texts.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      JSONWriter.append(text, to: &bytes)
    }
    return bytes + [UInt8(ascii: "]")]
  }

  func columns(known: [String] = []) throws(CommandFailure) -> ExportColumns {
    try ExportColumns(
      table: table, idName: options.id, sectionName: sectionName, query.fields, known: known)
  }

  // MARK: Rows

  /// The rows in the order of the export. A list is built only for an order of its own, since it takes memory for each
  /// row.
  func rows() throws -> (rows: ExportRows, state: ExportTableReport) {
    var report = ExportTableReport(at: request.to)
    let isOrdered =
      list.view != nil || list.sectionBy != nil || !list.sort.isEmpty || list.limit != nil
      || list.limitPerSection != nil
    if isOrdered, format != .sql, format != .sqlite {
      let replay = try ListReplay(opened, query, from: request.to.sequence)
      let state = try replay.state(at: request.to)
      try checkEnd()
      UnknownFields.report(query, state)
      report.chain = state.chain
      report.leftOut = ProblemCounts(state.version).leftOut
      _ = ListProblems.report(state)
      return (.list(state), report)
    }
    let state = try TableReplay(opened, table: table).state(at: request.to)
    try checkEnd()
    UnknownFields.report(query, in: [state.table])
    report.chain = state.chain
    return (.table(state, RowSelection(query, table: table)), report)
  }

  /// Throws if the newest state is asked for and damage follows it: what was exported would not be that.
  func checkEnd() throws(CommandFailure) {
    try opened.throwDamage(if: request.resolver.dependsOnEnd || request.hasOpenEnd)
  }

  /// Writes each row to the target, with progress.
  func write(
    _ rows: ExportRows, to sink: some ExportSink, _ report: inout ExportTableReport,
    _ append: (RowView, DocumentValue, inout [UInt8]) throws -> Void
  ) throws {
    var progress = TransferProgress(unit: "rows")
    defer { progress.end() }
    var bytes: [UInt8] = []
    let count = Double(max(1, rows.countMax))
    try rows.forEach(reports: true) { row, section in
      try append(row, section, &bytes)
      report.rows += 1
      if bytes.count >= Self.pieceSize {
        try bytes.withUnsafeBytes { try sink.write($0) }
        bytes.removeAll(keepingCapacity: true)
      }
      progress.update(report.rows) { Double(report.rows) / count }
    }
    try bytes.withUnsafeBytes { try sink.write($0) }
    report.noteLeftOut(rows)
  }

  private func exportLines() throws -> ExportTableReport {
    let target = try ExportTarget(request.target, replaces: request.replaces)
    var lines = try TableJSONLines(
      table: table, idName: options.id, query.fields, isLossy: options.lossy)
    var (rows, report) = try self.rows()
    try self.write(rows, to: target, &report) { row, _, bytes in try lines.append(row, to: &bytes) }
    try target.finish()
    report.note(lines)
    return report
  }

  private func exportCSV(_ form: CSVText) throws -> ExportTableReport {
    let target = try ExportTarget(request.target, replaces: request.replaces)
    let columns = try self.columns()
    var (rows, report) = try self.rows()
    if query.fields.chosen == nil {
      try rows.forEach(reports: false) { row, section in try columns.note(row, section: section) }
      columns.endNoting()
    }
    var csv = TableCSV(columns, form, null: options.null, usesCRLF: options.crlf)
    var header: [UInt8] = []
    csv.appendHeader(to: &header)
    try target.write(header)
    try self.write(rows, to: target, &report) { row, section, bytes in
      try csv.append(row, section: section, to: &bytes)
    }
    try target.finish()
    return report
  }
}

/// What takes the bytes of an export.
protocol ExportSink: AnyObject {
  func write(_ bytes: UnsafeRawBufferPointer) throws
}

extension ExportTarget: ExportSink {}
extension SQLiteProgram: ExportSink {}
