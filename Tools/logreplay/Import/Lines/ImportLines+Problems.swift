// What is said of lines that are not imported: which line, where, why, and what can be done.

internal import StrataBase
internal import StrataEvents
internal import StrataLog

extension ImportLines {
  /// The number of skipped lines that are reported one by one; further ones are only counted.
  private static let namedMax = 20

  /// Says something on standard error, in place of the progress bar.
  func say(_ text: String) {
    progress.end()
    note(text)
  }

  /// Handles a bad line: counts and reports it, or ends the import by throwing.
  func pass(_ bad: ImportBadLine, line: UInt64) throws(CommandFailure) {
    let place = "\(input.name):\(line):\(bad.column)"
    guard choices.skipsBad else {
      throw CommandFailure(
        ExitStatus.corrupt, "line \(line), column \(bad.column): \(bad.why)", at: place,
        next: "correct the line and import again, or skip bad lines with --skip-bad")
    }
    report.skipped += 1
    guard report.skipped <= Self.namedMax + 1 else { return }
    say(
      report.skipped <= Self.namedMax ? "skipped \(place): \(bad.why)" : "further bad lines are only counted")
  }

  /// The failure for a line that the store has with another hash.
  func changed(_ line: ImportLine, _ hash: UInt64) -> CommandFailure {
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

  /// The failure for a line that should have come before one that the store has.
  func late(_ line: UInt64, after newer: UInt64) -> CommandFailure {
    CommandFailure(
      ExitStatus.corrupt,
      "line \(line) comes before line \(newer), which the store has, and would now be applied after it",
      at: "\(input.name):\(line)",
      next:
        "import the whole input into a new store, or append such lines after the newer ones with --apply-late"
    )
  }

  /// The failure for a line whose time is earlier than one before it.
  func goesBack(_ line: UInt64, _ time: Int64, behind bar: ImportTimeOrder.Mark) -> CommandFailure {
    let (this, other) = (Timestamp(nanoseconds: time), Timestamp(nanoseconds: bar.time))
    return CommandFailure(
      ExitStatus.corrupt,
      "the time of line \(line), \(this), is earlier than "
        + (bar.line.map { "that of line \($0), \(other)" } ?? "the last one in the store, \(other)")
        + (choices.timeSlack > 0 ? ", by more than --time-slack" : ""),
      at: "\(input.name):\(line)",
      next: (bar.line == nil
        ? "import the inputs into a new store in the order of their times; or go on here"
        : "import the whole input with --sort-by-time into a new store; or go on here")
        + " with --clamp-time, which raises such times, or with --time-slack LENGTH, which keeps those that go back by "
        + "no more than that")
  }
}
