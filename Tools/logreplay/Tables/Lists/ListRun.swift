// Follows a list: prints it once, and then the changes of each append.

internal import LogreplayEvents
internal import LogreplayShell
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataTables

/// Prints a list and follows its changes. Blocks; belongs to one thread.
final class ListRun {
  /// Stops the fold once enough was printed.
  private struct Enough: Error {}

  private let replay: ListReplay
  private let range: EventRange
  private let wait: AppendWait
  private var watch: KeptListWatch?
  private let people: PeopleText
  private let format: OutputFormat
  private var output = OutputWriter()
  private var printed = 0
  /// The list as it was last printed.
  private var state: ListState
  /// The list after the last append. If nothing was printed since, it shows what `state` shows.
  private var last: ListVersion
  /// The rows that the list leaves out or shows by a shorter key, as they were last counted.
  private var problems: [Tree] = []
  private var problemCounts = ProblemCounts()
  /// What the cursor file says.
  private var written: UInt64?

  private var opened: OpenedStore { replay.opened }
  private var isFull: Bool { range.countMax.map { printed >= $0 } ?? false }

  /// - Parameters:
  ///   - range: only `through`, `countMax`, `deadline`, `cursorFile` and `dependsOnEnd` are used.
  ///   - watch: watches the definition of the list, if it is a kept one.
  init(
    _ replay: ListReplay, from start: ResolvedPoint, _ range: EventRange, _ watch: KeptListWatch?,
    output: OutputOptions
  ) throws {
    self.replay = replay
    self.range = range
    wait = AppendWait(opened: replay.opened, deadline: range.deadline)
    people = output.people.text
    format = output.format
    state = try replay.state(at: start)
    last = state.version
    self.watch = watch
    self.watch?.begin(with: replay.current)
  }

  /// Prints the list and its changes, and returns at the end of the range.
  ///
  /// - Returns: whether the list leaves out rows that it cannot show.
  func run() throws -> Bool {
    try printList()
    try flush()
    UnknownFields.report(replay.query, state)
    let limit = range.through ?? .max
    do {
      while true {
        try drain(limit)
        try flush()
        guard !isFull, replay.current.sequence < limit else { break }
        try opened.throwDamage()
        // What is not saved by now is not waited for, unless everything is.
        if replay.isOfSaved, limit < .max { break }
        let reached = replay.current.sequence
        try wait.wait(
          beyond: replay.isOfSaved ? max(reached, opened.log.mark.sequence) : reached, writing: output)
      }
    } catch let error where !(error is BrokenPipe) {
      try flush()
      throw error
    }
    if !isFull || range.dependsOnEnd { try opened.reportEnd() }
    return problemCounts.leftOut > 0
  }

  private func drain(_ limit: UInt64) throws {
    guard !isFull else { return }
    do {
      try replay.follow(through: limit) { set in
        try wait.checkTime()
        try watch?.check(set)
        guard
          let diff = try replay.comparison(
            from: state, after: &last, to: set, withRevisions: format.isJSON)
        else { return }
        try print(diff)
        state = diff.new
        printed += 1
        if isFull { throw Enough() }
      }
    } catch is Enough {}
    reportProblems()
  }

  // MARK: Printing

  private func printList() throws {
    if format.isJSON {
      try ListJSON.write(state, replay.query.fields, to: &output)
      output.bytes.append(UInt8(ascii: "\n"))
    } else {
      try ListText(replay.query, people: people, isTable: format == .table).write(state, to: &output)
    }
    reportProblems()
  }

  private func print(_ diff: ListComparison) throws {
    if format.isJSON {
      try DiffJSON(diff: diff, fields: replay.query.fields).write(to: &output)
      output.bytes.append(UInt8(ascii: "\n"))
    } else {
      try DiffText(replay.query, people: people, isTable: format == .table).write(diff, to: &output)
    }
  }

  /// Reports the rows that are left out, or shown by a shorter key, whenever the number of either has grown. They may
  /// grow while the list stays as it was printed.
  private func reportProblems() {
    let set = replay.current
    let version = replay.version(of: set)
    let found = [version.table.problems, version.view.problems]
    guard !problems.elementsEqual(found, by: { $0.isIdentical(to: $1) }) else { return }
    problems = found
    let counts = ProblemCounts(version)
    if counts.leftOut > problemCounts.leftOut || counts.shortened > problemCounts.shortened {
      _ = ListProblems.report(version, of: state.table, at: set.sequence)
    }
    problemCounts = counts
  }

  /// Writes out what was printed, and then the cursor file.
  private func flush() throws {
    try output.flush()
    guard let file = range.cursorFile else { return }
    let sequence = replay.current.sequence
    // Most waits end with nothing new.
    guard sequence != written else { return }
    try file.write(LogPosition(sequence: sequence, chain: try replay.chain(after: sequence)))
    written = sequence
  }
}
