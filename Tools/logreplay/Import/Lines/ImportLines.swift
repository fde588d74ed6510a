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
    var clampsTime = false
  }

  /// The number of skipped lines that are reported one by one; further ones are only counted.
  private static let namedMax = 20

  private let choices: Choices
  private let input: ImportInput
  private let store: EventStore
  private let run: AppendRun
  private var known: ImportKnownLines
  private var encoder: ImportLineEncoder
  private var report = ImportReport()
  private var progress: ImportProgress
  /// The head's time before the import; nil once the first line was compared with it.
  private var timeToCompare: Timestamp?
  private let note: (String) -> Void

  /// - Parameter known: the lines that are known to be in the store; those that were appended since are read.
  init(
    _ input: ImportInput, into store: EventStore, _ choices: Choices, known: ImportKnownLines,
    note: @escaping (String) -> Void
  ) throws(CommandFailure) {
    self.choices = choices
    self.input = input
    self.store = store
    self.note = note
    progress = ImportProgress(unit: "lines")
    encoder = ImportLineEncoder(
      table: choices.table, idField: choices.idField, timeField: choices.timeField, isMerge: choices.isMerge,
      options: store.log.options)
    self.known = known
    do throws(StoreError) {
      run = try store.log.run()
      if let source = choices.source { try self.known.read(source, from: store.log) }
    } catch {
      throw CommandFailure(error)
    }
    let isCompared = self.known.isEmpty ? true : try store.endsAtOwnTime()
    timeToCompare = isCompared && !choices.clampsTime ? store.lastTime : nil
  }

  /// Imports everything, or everything before the first line that cannot be imported.
  func importAll() throws(CommandFailure) -> ImportReport {
    var problem: CommandFailure?
    do throws(CommandFailure) { try readAll() } catch { problem = error }
    let outcome = run.drain()
    progress.end()
    report.add(outcome)
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
    return report
  }

  private var stayed: String {
    let count = report.appended + report.known
    return count == 0 ? "" : " (of this input, \(count) lines are in the store)"
  }

  private func readAll() throws(CommandFailure) {
    let reader = ImportLineReader(input, lengthMax: store.log.options.appendSizeMax)
    var blank: UInt64?
    while let line = try reader.next() {
      if let number = blank {
        // A blank line at the very end does not count as a line. This one is followed by another.
        blank = nil
        report.read += 1
        try pass(ImportBadLine(column: 1, why: "the line is blank"), line: number)
      }
      if line.isBlank {
        blank = line.number
        continue
      }
      report.read += 1
      guard try take(line) else { return }
      progress.update(report.read) { [input] in input.fractionRead }
    }
  }

  /// Appends one line. Returns false if an earlier append has failed.
  private func take(_ line: ImportLine) throws(CommandFailure) -> Bool {
    guard line.number <= ImportSourceName.lineMax else {
      throw CommandFailure(
        ExitStatus.corrupt, "the input has more than \(ImportSourceName.lineMax) lines", at: input.name,
        next: "import it in parts")
    }
    let hash = XXH64.of(line.bytes)
    let id = choices.source?.appendID(line: line.number, hash: hash) ?? []
    if known.contains(line.number) {
      guard !line.isTooLong, try isInStore(id) else { throw changed(line, hash) }
      report.known += 1
      return true
    }
    let draft: AppendDraft
    do throws(ImportBadLine) {
      guard !line.isTooLong else {
        throw ImportBadLine(
          column: 1, why: "the line has more than \(store.log.options.appendSizeMax) bytes (appendSizeMax)")
      }
      draft = try encoder.draft(line.bytes, appendID: id)
    } catch {
      try pass(error, line: line.number)
      return true
    }
    draft.clampsTime = choices.clampsTime
    try compareTime(draft, line.number)
    do throws(StoreError) {
      return try run.add(draft, label: line.number)
    } catch {
      try pass(ImportBadLine(column: 1, why: error.what), line: line.number)
      return true
    }
  }

  private func isInStore(_ id: [UInt8]) throws(CommandFailure) -> Bool {
    do throws(StoreError) { return try store.log.index.first(ofID: id) != nil } catch {
      throw CommandFailure(error)
    }
  }

  /// Handles a bad line: counts and reports it, or ends the import by throwing.
  private func pass(_ bad: ImportBadLine, line: UInt64) throws(CommandFailure) {
    let place = "\(input.name):\(line):\(bad.column)"
    guard choices.skipsBad else {
      throw CommandFailure(
        ExitStatus.corrupt, "line \(line), column \(bad.column): \(bad.why)", at: place,
        next: "correct the line and import again, or skip bad lines with --skip-bad")
    }
    report.skipped += 1
    guard report.skipped <= Self.namedMax + 1 else { return }
    progress.end()
    note(
      report.skipped <= Self.namedMax ? "skipped \(place): \(bad.why)" : "further bad lines are only counted")
  }

  /// The failure for a line that the store has with another hash.
  private func changed(_ line: ImportLine, _ hash: UInt64) -> CommandFailure {
    func text(_ hash: UInt64) -> String { String(decoding: ImportSourceName.hex(hash), as: UTF8.self) }
    var old = "unknown"
    if let source = choices.source {
      let prefix = Array(source.appendID(line: line.number, hash: 0).dropLast(16))
      if let id = try? store.log.index.ids(prefix: prefix, limit: 1).first,
        let (_, hash) = id.withUnsafeBytes({ source.parse($0) })
      {
        old = text(hash)
      }
    }
    return CommandFailure(
      ExitStatus.corrupt,
      "line \(line.number) is not the line that was imported: its hash was \(old) and is now "
        + (line.isTooLong ? "that of a line too long to import" : text(hash)),
      at: "\(input.name):\(line.number)",
      next:
        "a source may only grow: restore the line, or import the file as another source with --source NAME")
  }

  /// Throws if the first new line is earlier than the store's head, and either the source is new or the head is of an
  /// erasure, at the time of the command and not of any source. `--clamp-time` skips this check.
  private func compareTime(_ draft: AppendDraft, _ line: UInt64) throws(CommandFailure) {
    guard let head = timeToCompare, let given = draft.given else { return }
    timeToCompare = nil
    let time = Timestamp(nanoseconds: given)
    guard time < head else { return }
    throw CommandFailure(
      ExitStatus.corrupt,
      "the store's head (\(head)) is later than the line's time (\(time)), and times never run backwards",
      at: "\(input.name):\(line)",
      next: "import into a new store, or raise the times to the head's with --clamp-time")
  }
}
