// One import of a log of events, in XES or OCEL, from the options to the report.

internal import LogreplayPoints
package import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// Reads a whole log, sorts its events by time, and appends them.
package struct ImportProcessRun {
  let file: String
  let format: ImportFormat
  let rows: ImportRowOptions
  let formats: ImportFormatOptions

  package init(file: String, format: ImportFormat, rows: ImportRowOptions, formats: ImportFormatOptions) {
    self.file = file
    self.format = format
    self.rows = rows
    self.formats = formats
  }

  package func importAll(
    into target: ImportTarget, _ note: @escaping (String) -> Void
  ) throws(CommandFailure) -> ImportReport {
    try checkOptions()
    let input = try ImportInput(file)
    let source = try source(of: input)
    if source == nil {
      note(
        "\(input.name) without --source: the appends get no ids, so importing the log again appends its events again"
      )
    }
    let folder = ImportSortFile.folder(besides: target.path)
    if format == .xes {
      guard !input.isSQLite else { throw usage("this is a database of SQLite, and no XES") }
      var log = ImportXES(
        input, table: rows.table ?? "case", times: try rows.timeForm(), source: source, folder: folder)
      let lines = try log.read()
      if log.hasLogAttributes {
        note("logreplay: attributes of the log itself are left out: no event has them")
      }
      return try append(into: target) { body throws(CommandFailure) in
        try lines.forEach { bytes throws(CommandFailure) in try body(bytes) }
      }
    }
    var times = try rows.timeForm()
    if input.isSQLite, times.zone == nil { times.zone = .utc }
    var log = ImportOCEL(input.name, times: times, source: source, folder: folder)
    if input.isSQLite {
      guard input.isFile else { throw usage("a database of SQLite cannot be read from a pipe") }
      try ImportOCELSQLite(file).read(into: &log)
    } else {
      try ImportOCELJSON(input).read(into: &log)
    }
    try log.end()
    return try append(into: target) { body throws(CommandFailure) in
      try log.forEach { line throws(CommandFailure) in
        try line.lendBytes { bytes throws(CommandFailure) in try body(bytes) }
      }
    }
  }

  private func checkOptions() throws(CommandFailure) {
    var others = rows
    others.timeZone = nil
    guard !others.isGivenBesidesTableAndSource, !formats.isForCSV, formats.fromTable == nil,
      format == .xes || rows.table == nil
    else {
      throw usage(
        "xes takes --table, --source and --time-zone, and ocel the last two: a log says itself what its fields are"
      )
    }
    if let table = rows.table {
      guard TableName.isOne(table) else {
        throw usage("\(String(reflecting: table)) is not a table's name")
      }
    }
    guard rows.source != "" else { throw usage("--source is empty") }
  }

  private func source(of input: ImportInput) throws(CommandFailure) -> ImportSourceName? {
    let name =
      rows.source ?? (input.isFile ? file.split(separator: "/").last.map { String($0) } ?? file : nil)
    return name.map { ImportSourceName($0) }
  }

  /// Appends what a body lends, which is lines.
  private func append(
    into target: ImportTarget,
    _ forEach: ((UnsafeRawBufferPointer) throws(CommandFailure) -> Void) throws(CommandFailure) -> Void
  ) throws(CommandFailure) -> ImportReport {
    try target.withStore(ImportEvents.options(ImportTarget.options)) { store throws(CommandFailure) in
      let importer: EventImporter
      do throws(StoreError) { importer = try EventImporter(into: store, source: nil) } catch {
        throw CommandFailure(error)
      }
      var progress = TransferProgress(unit: "events")
      defer { progress.end() }
      do throws(CommandFailure) {
        try forEach { bytes throws(CommandFailure) in
          do throws(StoreError) { try importer.take(bytes) } catch { throw failure(error) }
          progress.update(importer.report.eventsRead) { nil }
        }
        let events: ImportedEvents
        do throws(StoreError) { events = try importer.finish() } catch { throw failure(error) }
        return report(events)
      } catch {
        importer.abandon()
        throw error
      }
    }
  }

  private func failure(_ error: StoreError) -> CommandFailure {
    var failure = CommandFailure(error)
    failure.what = "an event of the log could not be appended: \(failure.what)"
    failure.next += " (what comes before it in time stays, and is not appended again)"
    if failure.place.isEmpty { failure.place = file }
    return failure
  }

  private func report(_ events: ImportedEvents) -> ImportReport {
    var report = ImportReport(unit: "events")
    report.read = events.eventsRead
    report.appended = events.appended
    report.known = events.known
    report.raised = events.raised
    report.first = events.sequences?.lowerBound
    report.last = events.sequences?.upperBound
    return report
  }

  private func usage(_ what: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.usage, what, at: "--format \(format.rawValue)",
      next: "see logreplay help import, and give what it says")
  }
}
