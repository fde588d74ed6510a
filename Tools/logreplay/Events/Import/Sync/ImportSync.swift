// `import --sync`: makes a table equal to an input, by what differs alone.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// A sync of one table, in two phases.
///
/// First the input is read to its end and sorted by ids, and then, with the writer's lock, compared with the table.
/// Nothing is appended before all of that is done and nothing speaks against it. Then rows are put in the order of their
/// ids, each as its own append, and then those that are gone are deleted. So a process that ends at any time leaves a
/// table of which a part is as it was, and the next sync finds what is left to do.
final class ImportSync {
  private let target: ImportTarget
  private let input: ImportInput
  private let reader: any ImportRecordReader
  private let options: ImportSyncOptions
  private let skipsBad: Bool
  private let badRecords: ImportBadFile?
  private let note: (String) -> Void
  private var encoder: ImportRowEncoder
  private var progress: TransferProgress
  private var report = ImportSyncReport()

  /// The number of bad records that are reported one by one; further ones are only counted.
  private static let namedMax = 20

  init(
    _ input: ImportInput, by reader: any ImportRecordReader, into target: ImportTarget,
    _ choices: ImportRecords.Choices, _ options: ImportSyncOptions, note: @escaping (String) -> Void
  ) {
    self.target = target
    self.input = input
    self.reader = reader
    self.options = options
    skipsBad = choices.skipsBad
    badRecords = choices.badFile.map { ImportBadFile($0) }
    self.note = note
    encoder = ImportRowEncoder(choices.fields, options: ImportTarget.options)
    report.unit = "\(reader.noun)s"
    report.isDryRun = options.dryRun
    progress = TransferProgress(unit: report.unit)
  }

  func run() throws(CommandFailure) -> ImportSyncReport {
    let deletions = try options.deletions()
    let folder = ImportSortFile.folder(besides: target.path)
    let records = try read(in: folder)
    progress.end()
    try badRecords?.end()
    let facts = ImportSyncInput(
      name: input.name, noun: reader.noun, endsInLine: reader.endsInLine, rest: input.rest, skipsBad: skipsBad
    )
    // What is not going to be appended needs no lock, and no store.
    guard !options.dryRun, report.bad == 0 || skipsBad, !facts.endsInLine, facts.rest == nil else {
      let store = try target.reading()
      defer { try? store?.closeBlocking() }
      let plan = try plan(records, in: folder, store)
      if let refusal = plan.refusal(facts, deletions) { throw refusal }
      var report = plan.report
      report.deleted = report.bad > 0 ? 0 : report.gone
      return report
    }
    return try target.withStore { store throws(CommandFailure) in
      let plan = try plan(records, in: folder, store)
      if let refusal = plan.refusal(facts, deletions) { throw refusal }
      return try append(plan, to: store)
    }
  }

  // MARK: The first phase

  /// Reads the input to its end.
  private func read(in folder: String) throws(CommandFailure) -> ImportSorter<ImportRowKey> {
    let records = ImportSorter<ImportRowKey>(in: folder)
    do throws(CommandFailure) {
      while let record = try reader.next() {
        if record.isBlank { continue }
        report.read += 1
        progress.update(report.read) { [input] in input.fractionRead }
        do throws(ImportBadRecord) {
          guard !record.isTooLong else {
            throw ImportBadRecord(
              column: 1, why: "the \(reader.noun) has more than \(ImportTarget.options.appendSizeMax) bytes")
          }
          try encoder.encode(record.bytes, by: reader)
          try checkSize()
        } catch {
          try pass(error, record)
          continue
        }
        if encoder.row.hasRounded { report.rounded += 1 }
        let key = ImportRowKey(id: Array(encoder.id), number: record.number)
        let isDeleted = encoder.row.kind == .delete
        try encoder.payload.withUnsafeBytes { document throws(CommandFailure) in
          try records.add(
            key, UnsafeRawBufferPointer(rebasing: document[..<(isDeleted ? 0 : document.count)]))
        }
      }
    } catch {
      progress.end()
      var failure = error
      failure.next = "get the whole input, and import it again; nothing was appended"
      throw failure
    }
    return records
  }

  /// Throws if the row that was encoded last does not fit into an append, which is then found before any is made.
  private func checkSize() throws(ImportBadRecord) {
    let sizeMax = ImportTarget.options.appendSizeMax
    // Small rows fit, whatever their names and metadata are, which are measured only beside large ones.
    guard encoder.payload.count > sizeMax / 4 || !encoder.rules.metadata.fields.isEmpty else { return }
    guard encoder.draft(appendID: []).encodedLengthMax > sizeMax else { return }
    throw ImportBadRecord(column: 1, why: "the row has more than \(sizeMax) bytes (appendSizeMax)")
  }

  private func pass(_ bad: ImportBadRecord, _ record: ImportRecord) throws(CommandFailure) {
    report.bad += 1
    let line = record.line + bad.lineOffset
    let column = bad.column + (bad.lineOffset == 0 ? record.column - 1 : 0)
    try badRecords?.add(bad, line: line, column: column, Array(record.bytes))
    guard report.bad <= Self.namedMax + 1 else { return }
    progress.end()
    guard report.bad <= Self.namedMax else { return note("further bad \(reader.noun)s are only counted") }
    note("\(skipsBad ? "skipped" : "bad") \(PeopleText.printable(input.name)):\(line):\(column): \(bad.why)")
  }

  /// Compares the input with the table of a store; with no row, if there is no store.
  private func plan(
    _ records: ImportSorter<ImportRowKey>, in folder: String, _ store: EventStore?
  ) throws(CommandFailure) -> ImportSyncPlan {
    let plan = ImportSyncPlan(in: folder, report)
    var rows: (any ImportTableRows)?
    do throws(StoreError) {
      if let store { rows = try target.tables.rows(of: encoder.rules.table, in: store) }
    } catch { throw CommandFailure(reading: target.path, error) }
    try plan.compare(records, with: rows)
    return plan
  }

  // MARK: The second phase

  private func append(_ plan: ImportSyncPlan, to store: EventStore) throws(CommandFailure) -> ImportSyncReport
  {
    var report = plan.report
    let run: AppendRun
    do throws(StoreError) { run = try store.log.run() } catch { throw CommandFailure(error) }
    var label: UInt64 = 0
    var problem: CommandFailure?
    do throws(CommandFailure) {
      try plan.puts.forEach { id, document throws(CommandFailure) in
        label += 1
        return try add(encoder.draft(of: id, document), label, to: run)
      }
      if report.bad == 0 {
        try plan.deletions.forEach { id, _ throws(CommandFailure) in
          label += 1
          return try add(encoder.draft(of: id, nil), label, to: run)
        }
      }
    } catch { problem = error }
    let outcome = run.drain()
    (report.first, report.last) = (outcome.first, outcome.last)
    if let failure = outcome.failure { problem = CommandFailure(writing: failure.error, to: target.path) }
    if var problem {
      problem.next +=
        "; \(counted(outcome.appended, "row")) of \(plan.puts.count + plan.deletions.count) were "
        + "appended, and the next sync appends the rest"
      throw problem
    }
    report.deleted = report.bad == 0 ? plan.deletions.count : 0
    return report
  }

  private func add(_ draft: AppendDraft, _ label: UInt64, to run: AppendRun) throws(CommandFailure) -> Bool {
    do throws(StoreError) { return try run.add(draft, label: label) } catch {
      throw CommandFailure(writing: error, to: target.path)
    }
  }
}
