// Imports the records of an input: one append per record, in order, each record once.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// Imports records into an open store.
final class ImportRecords {
  /// How records are imported.
  struct Choices {
    var fields: ImportFieldRules
    /// Nil if the records get no ids, as for standard input without a name.
    var source: ImportSourceName?
    var skipsBad = false
    /// Where bad records are written, if they are skipped and kept.
    var badFile: String?
    /// Whether records are appended in the order of their times, and not in that of the input.
    var sortsByTime = false
    /// By how many nanoseconds a record's time may be earlier than the latest one before it.
    var timeSlack: Int64 = 0
    /// Whether a time that goes back further is raised to the latest one before it.
    var clampsTime = false
    /// Whether a record that comes before one that the store has is appended after that one.
    var appliesLate = false
  }

  let choices: Choices
  let input: ImportInput
  let reader: any ImportRecordReader
  let store: EventStore
  let note: (String) -> Void
  var report = ImportReport()
  var progress: TransferProgress
  private let run: AppendRun
  /// Appends that are submitted in one step.
  private var submitted: [(draft: AppendDraft, label: UInt64)] = []
  private static let submittedMax = 64
  private let known: ImportKnownRecords
  private let reading: ImportReading
  let badRecords: ImportBadFile?
  private var order: ImportTimeOrder
  private var future: ImportFutureTime
  private var kinds: ImportIDKinds

  /// - Parameter known: the records that are known to be in the store; those that were appended since are read.
  init(
    _ input: ImportInput, by reader: any ImportRecordReader, into store: EventStore, _ choices: Choices,
    known: ImportKnownRecords, difference: (any ImportTableRows)? = nil, note: @escaping (String) -> Void
  ) throws(CommandFailure) {
    self.choices = choices
    self.input = input
    self.reader = reader
    self.store = store
    self.note = note
    report.unit = "\(reader.noun)s"
    progress = TransferProgress(unit: report.unit)
    kinds = ImportIDKinds(choices.fields, noun: reader.noun)
    var known = known
    do throws(StoreError) {
      run = try store.log.run()
      if let source = choices.source { try known.read(source, from: store.log) }
    } catch {
      throw CommandFailure(error)
    }
    self.known = known
    reading = ImportReading(
      reader, choices, known: known, difference: difference, options: store.log.options)
    badRecords = choices.badFile.map { ImportBadFile($0) }
    let future = ImportFutureTime(now: store.machine.clock.now())
    self.future = future
    let isTimed = choices.fields.hasTimes
    order = ImportTimeOrder(
      slack: choices.timeSlack, clamps: choices.clampsTime,
      latest: isTimed ? store.lastTime?.nanoseconds : nil,
      latestNotAhead: isTimed ? try store.latestOwnTime { future.isAhead($0) } : nil)
  }

  /// Imports everything, or everything before the first line that cannot be imported.
  func importAll() throws(CommandFailure) -> ImportReport {
    var problem: CommandFailure?
    do throws(CommandFailure) {
      if choices.sortsByTime { try sortAll() } else { try readAll() }
      try badRecords?.end()
    } catch { problem = error }
    submit()
    let outcome = run.drain()
    progress.end()
    let raised = report.raised
    report.add(outcome)
    // A time that a line has as its own is not raised, wherever the log puts the append.
    report.raised = raised
    report.ahead = future.count
    if let failure = outcome.failure {
      // A failed append takes precedence over a problem that was found while reading ahead: its line comes first.
      var error = CommandFailure(failure.error)
      error.what = "\(reader.noun) \(failure.label) of \(input.name) could not be appended: \(error.what)"
      if error.place.isEmpty { error.place = store.log.layout.root }
      error.next += stayed
      throw error
    }
    if var problem {
      problem.next += stayed
      throw problem
    }
    if let rest = input.rest {
      note(
        "logreplay: \(PeopleText.printable(input.name)): what follows its \(rest) data is no \(rest) data, and was "
          + "left out")
      report.isPart = true
    }
    return report
  }

  private var stayed: String {
    let count = report.appended + report.known
    return count == 0
      ? " (nothing of this input is in the store)"
      : " (of this input, \(counted(count, reader.noun)) \(count == 1 ? "is" : "are") in the store)"
  }

  // MARK: In the order of the input

  private func readAll() throws(CommandFailure) {
    let last = known.last
    try reading.start()
    defer { reading.stop() }
    while let batch = try reading.next() {
      for entry in batch.entries {
        try count(entry.place)
        guard try take(entry, after: entry.place.number < last ? last : nil) else { return }
      }
      // What comes next may be slow to come.
      guard submit() else { return }
    }
  }

  /// Takes what a record became. Returns false if an earlier append has failed.
  private func take(_ entry: ImportBatchEntry, after newer: UInt64?) throws(CommandFailure) -> Bool {
    let place = entry.place
    switch entry.record {
    case .row(let draft, let row): return try append(draft, row, place, after: newer)
    case .bad(let bad, let bytes): try pass(bad, place, bytes)
    case .same: report.known += 1
    case .passed: report.passed += 1
    case .changed(let record): throw changed(place, record)
    case .known(let hashes): try checkKnown(place, hashes)
    }
    return true
  }

  /// Counts a record that was read.
  private func count(_ place: ImportPlace) throws(CommandFailure) {
    report.read += 1
    guard place.number <= ImportSourceName.numberMax else {
      throw CommandFailure(
        ExitStatus.corrupt, "the input has more than \(ImportSourceName.numberMax) \(reader.noun)s",
        at: input.name, next: "import it in parts")
    }
    progress.update(report.read) { [input] in input.fractionRead }
  }

  /// Checks that a record is the one of its number that the store has, and counts it.
  ///
  /// An id from before white space at a line's end was no part of the line has a hash of all of it.
  private func checkKnown(_ place: ImportPlace, _ hashes: [UInt64]) throws(CommandFailure) {
    for hash in hashes where try isInStore(appendID(place.number, hash)) {
      report.known += 1
      return
    }
    throw changed(place, .hash(hashes[0]))
  }

  private func appendID(_ number: UInt64, _ hash: UInt64) -> [UInt8] {
    choices.source?.appendID(number: number, hash: hash) ?? []
  }

  private func isInStore(_ id: [UInt8]) throws(CommandFailure) -> Bool {
    do throws(StoreError) { return try store.log.index.first(ofID: id) != nil } catch {
      throw CommandFailure(error)
    }
  }

  /// Counts the row of a record that is appended.
  private func count(_ row: ImportRow) {
    switch row.target {
    case .only: report.count(row.kind, in: choices.fields.table)
    case .table(let name): report.count(row.kind, in: name)
    case .event: break
    }
  }

  // MARK: In the order of times

  /// Reads and checks all records before the first of them is appended.
  private func sortAll() throws(CommandFailure) {
    let sorter = ImportLineSorter(in: ImportSortFile.folder(besides: store.log.layout.root))
    /// The last of the records that the store has, in the order of times.
    var last: ImportSortKey?
    while let record = try reader.next() {
      guard let result = reading.result(of: record) else { continue }
      try count(record.place)
      switch result {
      case .row(let draft, _):
        try sorter.add(ImportSortKey(time: draft.given ?? 0, line: record.number), record.bytes)
      case .known:
        _ = try take(ImportBatchEntry(place: record.place, record: result), after: nil)
        // A record may be known from an import that did not ask for its time.
        if case .row(let draft, _)? = reading.result(of: record, looksKnownUp: false) {
          let key = ImportSortKey(time: draft.given ?? 0, line: record.number)
          last = max(key, last ?? key)
        }
      default: _ = try take(ImportBatchEntry(place: record.place, record: result), after: nil)
      }
    }
    try sorter.forEach { key, bytes throws(CommandFailure) in
      let record = ImportRecord(number: key.line, line: key.line, bytes: bytes, raw: bytes)
      guard let result = reading.result(of: record) else { return true }
      return try take(
        ImportBatchEntry(place: record.place, record: result),
        after: last.flatMap { key < $0 ? $0.line : nil })
    }
  }

  // MARK: One record

  /// Appends a record. Returns false if an earlier append has failed.
  ///
  /// - Parameter newer: a record that the store has and that should come after this one; nil in general.
  private func append(
    _ draft: AppendDraft, _ row: ImportRow, _ place: ImportPlace, after newer: UInt64?
  ) throws(CommandFailure) -> Bool {
    if let newer {
      guard choices.appliesLate else { throw late(place, after: newer) }
      report.late += 1
    }
    // A record that the store has under its own id may be earlier than what came after it.
    let isKnown =
      if choices.fields.mapping?.identity == .appendID { try isInStore(draft.id) } else { false }
    if let time = draft.given, !isKnown {
      switch order.place(time, line: place.number, isAhead: future.isAhead(time), isLate: newer != nil) {
      case .kept:
        if let text = future.naming(time, of: "\(input.name):\(place.line)") { say(text) }
      case .raised(let bar):
        draft.given = bar
        report.raised += 1
      case .goesBack(let bar):
        throw goesBack(place, time, behind: bar)
      }
    }
    if row.hasRounded { report.rounded += 1 }
    do throws(StoreError) {
      if let (id, kind) = row.integerID,
        let text = try kinds.take(kind, id, line: place.number, store: store)
      {
        say("logreplay: \(PeopleText.printable(input.name)): \(PeopleText.printable(text))")
      }
      try run.check(draft)
    } catch {
      try pass(ImportBadRecord(column: 1, why: error.what), place, [])
      return true
    }
    if !isKnown { count(row) }
    submitted.append((draft, place.number))
    return submitted.count < Self.submittedMax || submit()
  }

  /// Submits the appends that were taken since the last call. Returns false if an earlier append has failed.
  @discardableResult
  private func submit() -> Bool {
    defer { submitted.removeAll(keepingCapacity: true) }
    return run.add(submitted)
  }
}
