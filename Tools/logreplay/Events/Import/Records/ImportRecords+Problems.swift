// What is said of records that are not imported: which record, where, why, and what can be done.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

extension ImportRecords {
  /// The number of skipped records that are reported one by one; further ones are only counted.
  private static let namedMax = 20

  /// Says something on standard error, in place of the progress bar.
  func say(_ text: String) {
    progress.end()
    note(text)
  }

  /// Handles a bad record: keeps, counts and reports it, or ends the import by throwing.
  func pass(_ bad: ImportBadRecord, _ record: ImportPlace, _ bytes: [UInt8]) throws(CommandFailure) {
    let line = record.line + bad.lineOffset
    let column = bad.column + (bad.lineOffset == 0 ? record.column - 1 : 0)
    let place = "\(input.name):\(line):\(column)"
    guard choices.skipsBad else {
      throw CommandFailure(
        ExitStatus.corrupt, "line \(line), column \(column): \(bad.why)", at: place,
        next: "correct the \(reader.noun) and import again, or skip bad \(reader.noun)s with --skip-bad")
    }
    report.skipped += 1
    try badRecords?.add(bad, line: line, column: column, bytes)
    guard report.skipped <= Self.namedMax + 1 else { return }
    say(
      report.skipped <= Self.namedMax
        ? "skipped \(place): \(bad.why)" : "further bad \(reader.noun)s are only counted")
  }

  /// The failure for a record that the store has with another hash.
  func changed(_ record: ImportPlace, _ now: ImportChangedRecord) -> CommandFailure {
    func text(_ hash: UInt64) -> String { String(decoding: ImportSourceName.hex(hash), as: UTF8.self) }
    var old = "unknown"
    if let source = choices.source {
      let prefix = Array(source.appendID(number: record.number, hash: 0).dropLast(16))
      if let id = try? store.log.index.ids(prefix: prefix, limit: 1).first,
        let (_, hash) = id.withUnsafeBytes({ source.parse($0) })
      {
        old = text(hash)
      }
    }
    let found =
      switch now {
      case .hash(let hash): text(hash)
      case .tooLong: "that of a \(reader.noun) too long to import"
      }
    return CommandFailure(
      ExitStatus.corrupt,
      "\(reader.noun) \(record.number) is not the \(reader.noun) that was imported: its hash was \(old) and is now "
        + found,
      at: "\(input.name):\(record.line)",
      next:
        "a source may only grow: restore the \(reader.noun), or import the file as another source with --source NAME"
    )
  }

  /// The failure for a record that should have come before one that the store has.
  func late(_ record: ImportPlace, after newer: UInt64) -> CommandFailure {
    CommandFailure(
      ExitStatus.corrupt,
      "\(reader.noun) \(record.number) comes before \(reader.noun) \(newer), which the store has, and would now be applied after it",
      at: "\(input.name):\(record.line)",
      next:
        "import the whole input into a new store, or append such \(reader.noun)s after the newer ones with --apply-late"
    )
  }

  /// The failure for a record whose time is earlier than one before it.
  func goesBack(_ record: ImportPlace, _ time: Int64, behind bar: ImportTimeOrder.Mark) -> CommandFailure {
    let (this, other) = (Timestamp(nanoseconds: time), Timestamp(nanoseconds: bar.time))
    return CommandFailure(
      ExitStatus.corrupt,
      "the time of \(reader.noun) \(record.number), \(this), is earlier than "
        + (bar.line.map { "that of \(reader.noun) \($0), \(other)" } ?? "the last one in the store, \(other)")
        + (choices.timeSlack > 0 ? ", by more than --time-slack" : ""),
      at: "\(input.name):\(record.line)",
      next: (bar.line == nil
        ? "import the inputs into a new store in the order of their times; or go on here"
        : "import the whole input with --sort-by-time into a new store; or go on here")
        + " with --clamp-time, which raises such times, or with --time-slack LENGTH, which keeps those that go back by "
        + "no more than that")
  }
}
