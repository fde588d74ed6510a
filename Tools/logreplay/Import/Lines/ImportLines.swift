// Imports JSON lines: one append per line, in order, each line once.

internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// Imports lines into an open store.
final class ImportLines {
  /// What the lines hold, and how they are imported.
  struct Choices {
    var table: String
    var idField: String
    var timeField: String?
    /// Nil if the lines get no ids, as for standard input without a name.
    var source: ImportSourceName?
    var isMerge = false
    var skipsBad = false
    /// Whether numbers that no double keeps are rounded, and not bad.
    var roundsNumbers = false
    /// Whether lines are appended in the order of their times, and not in that of the input.
    var sortsByTime = false
    /// By how many nanoseconds a line's time may be earlier than the latest one before it.
    var timeSlack: Int64 = 0
    /// Whether a time that goes back further is raised to the latest one before it.
    var clampsTime = false
    /// Whether a line that comes before one that the store has is appended after that one.
    var appliesLate = false
  }

  let choices: Choices
  let input: ImportInput
  let store: EventStore
  let note: (String) -> Void
  var report = ImportReport()
  var progress: TransferProgress
  private let run: AppendRun
  private var known: ImportKnownLines
  private var encoder: ImportLineEncoder
  private var order: ImportTimeOrder
  private var future: ImportFutureTime
  private var kinds: ImportIDKinds

  /// - Parameter known: the lines that are known to be in the store; those that were appended since are read.
  init(
    _ input: ImportInput, into store: EventStore, _ choices: Choices, known: ImportKnownLines,
    note: @escaping (String) -> Void
  ) throws(CommandFailure) {
    self.choices = choices
    self.input = input
    self.store = store
    self.note = note
    progress = TransferProgress(unit: "lines")
    encoder = ImportLineEncoder(choices, options: store.log.options)
    kinds = ImportIDKinds(table: choices.table, idField: choices.idField)
    self.known = known
    do throws(StoreError) {
      run = try store.log.run()
      if let source = choices.source { try self.known.read(source, from: store.log) }
    } catch {
      throw CommandFailure(error)
    }
    let future = ImportFutureTime(now: store.machine.clock.now())
    self.future = future
    let isTimed = choices.timeField != nil
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
    } catch { problem = error }
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
      error.what = "line \(failure.label) of \(input.name) could not be appended: \(error.what)"
      if error.place.isEmpty { error.place = store.log.layout.root }
      error.next += stayed
      throw error
    }
    if var problem {
      problem.next += stayed
      throw problem
    }
    if input.hasMoreThanGzip {
      note(
        "logreplay: \(PeopleText.printable(input.name)): what follows its gzip data is no gzip data, and was left out"
      )
      report.isPart = true
    }
    return report
  }

  private var stayed: String {
    let count = report.appended + report.known
    return count == 0
      ? " (nothing of this input is in the store)"
      : " (of this input, \(counted(count, "line")) \(count == 1 ? "is" : "are") in the store)"
  }

  // MARK: In the order of the input

  private func readAll() throws(CommandFailure) {
    let last = known.last
    try forEachLine { line throws(CommandFailure) in
      let hash = XXH64.of(line.bytes)
      guard try !isKnown(line, hash) else { return true }
      let draft: AppendDraft
      do throws(ImportBadLine) { draft = try encode(line, hash) } catch {
        try pass(error, line: line.number)
        return true
      }
      return try append(draft, line.number, after: line.number < last ? last : nil)
    }
  }

  /// Calls the body with each line that is not blank, until it returns false.
  private func forEachLine(_ body: (ImportLine) throws(CommandFailure) -> Bool) throws(CommandFailure) {
    let reader = ImportLineReader(input, lengthMax: store.log.options.appendSizeMax)
    while let line = try reader.next() {
      if line.isBlank {
        guard !known.contains(line.number) else { throw changed(line, XXH64.of(line.bytes)) }
        continue
      }
      report.read += 1
      guard line.number <= ImportSourceName.lineMax else {
        throw CommandFailure(
          ExitStatus.corrupt, "the input has more than \(ImportSourceName.lineMax) lines", at: input.name,
          next: "import it in parts")
      }
      guard try body(line) else { return }
      progress.update(report.read) { [input] in input.fractionRead }
    }
  }

  /// Whether the store has a line, which is then counted. Throws if it has another line of this number.
  ///
  /// An id from before white space at a line's end was no part of the line has a hash of all of it.
  private func isKnown(_ line: ImportLine, _ hash: UInt64) throws(CommandFailure) -> Bool {
    guard known.contains(line.number) else { return false }
    guard !line.isTooLong else { throw changed(line, hash) }
    var isThere = try isInStore(appendID(line.number, hash))
    if !isThere, line.raw.count > line.bytes.count {
      isThere = try isInStore(appendID(line.number, XXH64.of(line.raw)))
    }
    guard isThere else { throw changed(line, hash) }
    report.known += 1
    return true
  }

  private func appendID(_ line: UInt64, _ hash: UInt64) -> [UInt8] {
    choices.source?.appendID(line: line, hash: hash) ?? []
  }

  private func isInStore(_ id: [UInt8]) throws(CommandFailure) -> Bool {
    do throws(StoreError) { return try store.log.index.first(ofID: id) != nil } catch {
      throw CommandFailure(error)
    }
  }

  private func encode(_ line: ImportLine, _ hash: UInt64) throws(ImportBadLine) -> AppendDraft {
    guard !line.isTooLong else {
      throw ImportBadLine(
        column: 1, why: "the line has more than \(store.log.options.appendSizeMax) bytes (appendSizeMax)")
    }
    return try encoder.draft(line.bytes, appendID: appendID(line.number, hash))
  }

  // MARK: In the order of times

  /// Reads and checks all lines before the first of them is appended.
  private func sortAll() throws(CommandFailure) {
    let sorter = ImportLineSorter(in: ImportSortFile.folder(besides: store.log.layout.root))
    /// The last of the lines that the store has, in the order of times.
    var last: ImportSortKey?
    try forEachLine { line throws(CommandFailure) in
      let hash = XXH64.of(line.bytes)
      let isKnown = try isKnown(line, hash)
      let key: ImportSortKey
      do throws(ImportBadLine) {
        key = ImportSortKey(time: try encode(line, hash).given ?? 0, line: line.number)
      } catch {
        // A line may be known from an import that did not ask for its time.
        if !isKnown { try pass(error, line: line.number) }
        return true
      }
      if isKnown { last = max(key, last ?? key) } else { try sorter.add(key, line.bytes) }
      return true
    }
    try sorter.forEach { key, bytes throws(CommandFailure) in
      let line = ImportLine(number: key.line, bytes: bytes, raw: bytes)
      let draft: AppendDraft
      do throws(ImportBadLine) { draft = try encode(line, XXH64.of(bytes)) } catch {
        try pass(error, line: line.number)
        return true
      }
      return try append(draft, line.number, after: last.flatMap { key < $0 ? $0.line : nil })
    }
  }

  // MARK: One line

  /// Appends a line. Returns false if an earlier append has failed.
  ///
  /// - Parameter newer: a line that the store has and that should come after this one; nil in general.
  private func append(
    _ draft: AppendDraft, _ line: UInt64, after newer: UInt64?
  ) throws(CommandFailure) -> Bool {
    if let newer {
      guard choices.appliesLate else { throw late(line, after: newer) }
      report.late += 1
    }
    if let time = draft.given {
      switch order.place(time, line: line, isAhead: future.isAhead(time), isLate: newer != nil) {
      case .kept:
        if let text = future.naming(time, of: "\(input.name):\(line)") { say(text) }
      case .raised(let bar):
        draft.given = bar
        report.raised += 1
      case .goesBack(let bar):
        throw goesBack(line, time, behind: bar)
      }
    }
    if encoder.hasRounded { report.rounded += 1 }
    do throws(StoreError) {
      if let kind = encoder.id.kind,
        let text = try kinds.take(kind, encoder.id.text, line: line, store: store)
      {
        say("logreplay: \(PeopleText.printable(input.name)): \(PeopleText.printable(text))")
      }
      return try run.add(draft, label: line)
    } catch {
      try pass(ImportBadLine(column: 1, why: error.what), line: line)
      return true
    }
  }
}
