// `bisect`: finds the append that made a list what it is.

internal import ArgumentParser
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables

package struct BisectCommand: BlockingCommand, PointCommand {
  static let configuration = CommandConfiguration(
    commandName: "bisect",
    abstract: "Finds the first append after which something is true of a table's list.",
    discussion: """
      With --where, or with --view, that is the first append after --good after which a row matches: the list was \
      empty, and has an item. All appends in between are looked at, in one pass over them. With --all-flips, every \
      append is listed that gave the list its first item or took its last one.

      With --run, a program decides. It gets the list on standard input, as `at -o jsonl` prints it, and the variables \
      LOGREPLAY_SEQ and LOGREPLAY_TIME; what it prints goes to standard error. Exit code 0 means good, 1 to 124 bad, \
      125 that it cannot be said, and anything else ends the search. The first bad append is found by halves, so the \
      program is asked about few of them; it has to call --good good and --bad bad.

      The exit code is 1 if there is no such append, or the program does not call --good good and --bad bad, and 3 if \
      appends that could not be judged leave several, or the list leaves out rows that it cannot show. With \
      --all-flips it is 1 if there is no flip. Any other end of the program is 74.
      """)

  @OptionGroup var target: StoreArgument

  @Option(
    parsing: .unconditional,
    help: "The point to begin after, at which it is not true yet. Default: before the first event.")
  var good: String?

  @Option(parsing: .unconditional, help: "The point to end at. Default: head.")
  var bad: String?

  @Flag(help: "With --where or --view, list every append that made it true or false.")
  var allFlips = false

  @OptionGroup var options: ListOptions
  @OptionGroup var output: OutputOptions

  @Option(
    parsing: .remaining,
    help: "Ask this program, with its arguments: all that follows is its own, so it comes last.")
  var run: [String] = []

  func perform() throws {
    try check()
    let times = TimeText(zone: output.zone)
    let named = try [good, bad].map { text throws(CommandFailure) in
      try text.map { text throws(CommandFailure) in
        PointRange.Named(text: text, point: try Point(text, times: times))
      }
    }
    try ListQuery.check(options, times: times).checkShowsItems()
    let opened = try OpenedStore.open(target.store)
    let query = try ListQuery(options, in: opened, times: times)
    let resolver = PointResolver(store: opened)
    let begin = try named[0].map { try resolver.resolve($0) } ?? resolver.beginning
    let end = try named[1].map { try resolver.resolve($0) } ?? resolver.head()
    try check(begin, "--good")
    try check(end, "--bad")
    guard opened.log.mark.sequence > 0 else { throw resolver.missing("there is no append to look at") }
    guard begin.sequence < end.sequence else {
      if resolver.dependsOnEnd { try opened.throwDamage() }
      throw CommandFailure(
        ExitStatus.usage, "there is no append after seq \(begin.sequence) up to seq \(end.sequence)",
        at: "--good, --bad", next: "give a point for --good that is before that for --bad")
    }
    let found: Found
    do {
      found =
        try run.isEmpty
        ? flips(opened, query, from: begin, to: end) : search(opened, query, from: begin, to: end)
    } catch let failure as CommandFailure where failure.code == ExitStatus.negative {
      // What a damaged log lacks may be what was looked for.
      if resolver.dependsOnEnd { try opened.throwDamage() }
      throw failure
    }
    var writer = OutputWriter()
    try found.report.write(to: &writer, output, listsFlips: allFlips)
    try writer.flush()
    if resolver.dependsOnEnd { try opened.reportEnd() }
    if found.report.isEmpty {
      let range = "after seq \(begin.sequence) up to seq \(end.sequence)"
      Terminal.note(
        found.report.begins ? "it is true at each append \(range)" : "no append \(range) made it true")
    }
    if found.isShort { throw ExitCode(ExitStatus.skipped) }
    if found.report.isEmpty { throw ExitCode(ExitStatus.negative) }
  }

  private func check() throws(CommandFailure) {
    try output.refuse(.csv)
    func refuse(_ condition: Bool, _ what: String, _ next: String) throws(CommandFailure) {
      if condition { throw CommandFailure(ExitStatus.usage, what, next: next) }
    }
    try refuse(
      run.isEmpty && options.filter == nil && options.view == nil, "it is not said what should be true",
      "give --where EXPR, the name of a kept list with --view, or a program with --run")
    let shown = [
      ("--section-order", options.sectionOrder != nil), ("--sort", !options.sort.isEmpty),
      ("--limit", options.limit != nil),
      ("--limit-per-section", options.limitPerSection != nil), ("--fields", options.fields != nil),
    ].first { run.isEmpty && $0.1 }
    try refuse(
      shown != nil, "\(shown?.0 ?? "") says how a list is shown, and no list is shown",
      "leave it out, or ask a program about the list with --run")
    try refuse(
      run.first == "" || run == ["--"], "the name of the program is empty", "give a program after --run")
    try refuse(
      !run.isEmpty && allFlips, "--run searches by halves, and sees few of the changes",
      "leave out --all-flips, or say what should be true with --where")
  }

  /// A list is looked at after whole appends.
  private func check(_ point: ResolvedPoint, _ option: String) throws(CommandFailure) {
    guard let inside = point.inside else { return }
    throw CommandFailure(
      ExitStatus.usage, "appends are looked at as wholes, and seq \(point.sequence) is inside one",
      at: option,
      next: inside.upperBound > point.sequence
        ? "give \(inside.lowerBound - 1), before that append, or \(inside.upperBound), after it"
        : "give \(inside.lowerBound - 1), before that commit, or import the rest of it first")
  }

  /// What was found, and whether rows or appends were left out meanwhile.
  private typealias Found = (report: BisectReport, isShort: Bool)

  // MARK: In one pass

  private func flips(
    _ opened: OpenedStore, _ query: ListQuery, from begin: ResolvedPoint, to end: ResolvedPoint
  ) throws -> Found {
    let replay = try ListReplay(opened, query, from: begin.sequence)
    let flips = try ListFlips(replay, after: begin, through: end.sequence, findsAll: allFlips)
    guard allFlips || !flips.begins else {
      throw CommandFailure(
        ExitStatus.usage, "the list has items at seq \(begin.sequence) already", at: "--good",
        next: "give an earlier point, or list every change with --all-flips")
    }
    let found = try flips.first.map { try append(endingAt: $0.sequence, opened) }
    if found == nil { UnknownFields.report(query, try replay.state(at: end)) }
    let last = replay.current
    return (
      BisectReport(opened, table: replay.table, flips, found),
      ListProblems.report(replay.version(of: last), of: replay.table, at: last.sequence)
    )
  }

  // MARK: By halves

  private func search(
    _ opened: OpenedStore, _ query: ListQuery, from begin: ResolvedPoint, to end: ResolvedPoint
  ) throws -> Found {
    let program = BisectProgram(words: run.first == "--" ? Array(run.dropFirst()) : run)
    var last: ListState?
    func verdict(at point: ResolvedPoint) throws -> BisectVerdict {
      let state = try ListReplay(opened, query, from: point.sequence).state(at: point)
      if point.sequence == end.sequence { last = state }
      let verdict = try program.verdict(on: state, query.fields)
      Terminal.note("seq \(point.sequence) is \(verdict == .skipped ? "skipped" : "\(verdict)")")
      return verdict
    }
    for (point, option, expected) in [(begin, "good", BisectVerdict.good), (end, "bad", .bad)] {
      let found = try verdict(at: point)
      guard found != expected else { continue }
      let said =
        found == .skipped ? "cannot judge seq \(point.sequence)" : "calls seq \(point.sequence) \(found)"
      throw CommandFailure(
        ExitStatus.negative, "the program \(said), which is --\(option)", at: run[0],
        next: "give a --good that it calls good, and a --bad that it calls bad")
    }
    let commits = SplitCommits(opened.log)
    var search = HalvingSearch(
      good: commits.step(ofOrdinal: try ordinal(of: begin, opened)),
      bad: commits.step(ofOrdinal: try ordinal(of: end, opened)))
    while let next = search.next {
      let append = try append(ordinal: commits.ordinal(ofStep: next), opened)
      let point = ResolvedPoint(sequence: append.sequences.upperBound, time: append.ownTime)
      search.note(try verdict(at: point), of: next)
    }
    let leavesOut = last.map { ListProblems.report($0) } ?? false
    let isShort = search.bad - search.good > 1
    // The appends of one commit are one: what is after the last good one begins the next.
    let earliest =
      try isShort
      ? append(ordinal: commits.ordinal(ofStep: search.good) + 1, opened).sequences.lowerBound : nil
    let bad = try append(ordinal: commits.ordinal(ofStep: search.bad), opened)
    return (
      BisectReport(opened, table: last?.table ?? "", bad, orAfter: earliest),
      isShort || leavesOut
    )
  }

  // MARK: Appends

  /// The number of appends up to a point.
  private func ordinal(of point: ResolvedPoint, _ opened: OpenedStore) throws -> UInt64 {
    guard point.sequence >= opened.log.mark.logBegin else {
      // The first append of the log has the number after those that are not in it any more.
      return try place(of: opened.log.mark.logBegin, opened).ordinal - 1
    }
    return try place(of: point.sequence, opened).ordinal
  }

  private func append(ordinal: UInt64, _ opened: OpenedStore) throws -> RecordedAppend {
    let place: AppendPosition?
    do throws(StoreError) { place = try opened.log.append(ordinal: ordinal) } catch {
      throw opened.failure(error)
    }
    guard let place else { throw opened.failure(.closed) }
    return try append(endingAt: place.last, opened)
  }

  private func append(endingAt sequence: UInt64, _ opened: OpenedStore) throws -> RecordedAppend {
    do throws(StoreError) {
      guard let append = try opened.store.appendBlocking(holding: sequence) else { throw .closed }
      return append
    } catch { throw opened.failure(error) }
  }

  private func place(of sequence: UInt64, _ opened: OpenedStore) throws -> AppendPosition {
    do throws(StoreError) {
      guard let place = try opened.log.append(holding: sequence) else { throw .closed }
      return place
    } catch { throw opened.failure(error) }
  }
}
