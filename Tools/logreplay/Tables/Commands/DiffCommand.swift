// `diff`: shows what changed in a list between two points.

internal import ArgumentParser
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLists

package struct DiffCommand: BlockingCommand, PointCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Shows what changed in a table's list between two points.",
    discussion: """
      The range is A..B, A.., ..B or two points, and means the changes made by the events after A, up to and \
      including B. A single point B means ..B: all changes up to it. B may be before A.

      What was changed and changed back is no change. With -o json, the batch turns the list at A, as `at` prints \
      it, into the list at B. For that, rows of which only the revision differs are named after the changes, under \
      "revisions"; with -o jsonl, in lines with the op "revision".
      """)

  @OptionGroup var target: StoreArgument

  @Argument(help: "A range, or two points.")
  var range: [String]

  @Flag(help: "Print only the number of changes, per section and in total.")
  var stat = false

  @Flag(help: "Print only the total number of changes, on one line.")
  var summary = false

  @Flag(help: "Exit with code 1 if anything changed.")
  var exitCode = false

  @Flag(name: [.customShort("R"), .customLong("reverse")], help: "Swap the two points.")
  var isReversed = false

  @Flag(
    name: .shortAndLong,
    help: "Say on standard error whether the past was read from a history, and how many events were replayed."
  )
  var verbose = false

  @OptionGroup var options: ListOptions
  @OptionGroup var aggregates: AggregateOptions
  @OptionGroup var output: DiffOutputOptions

  func perform() throws {
    let times = TimeText(zone: output.people.zone)
    let points = try PointRange(range, times: times)
    try aggregates.added(to: ListQuery.check(options, times: times)).checkShowsItems()
    if stat || summary, output.format == .patch || (stat && summary) {
      throw CommandFailure(
        ExitStatus.usage, "--stat, --summary and -o patch cannot be combined", next: "choose one of them")
    }
    let opened = try OpenedStore.open(target.store)
    let query = try aggregates.added(to: ListQuery(options, in: opened, times: times))
    let resolver = PointResolver(store: opened)
    let from = try points.from.map { try resolver.resolve($0) } ?? resolver.beginning
    let to = try points.to.map { try resolver.resolve($0) } ?? resolver.head()
    // One replay produces both states, so they are read in the order of the log.
    let isForward = from.sequence <= to.sequence
    let replay = try ListReplay(opened, query, from: min(from.sequence, to.sequence))
    let earlier = try replay.state(at: isForward ? from : to)
    let later = try replay.state(at: isForward ? to : from)
    let diff =
      isForward != isReversed
      ? ListComparison(from: earlier, to: later) : ListComparison(from: later, to: earlier)
    Pager.start()
    var writer = OutputWriter()
    try write(diff, query, to: &writer)
    try writer.flush()
    if verbose { replay.sayOrigin() }
    UnknownFields.report(query, earlier, later)
    if resolver.dependsOnEnd { try opened.reportEnd() }
    if ListProblems.report(earlier, later) { throw ExitCode(ExitStatus.skipped) }
    if exitCode, !diff.batch.isEmpty { throw ExitCode(ExitStatus.negative) }
  }

  private func write(_ diff: ListComparison, _ query: ListQuery, to writer: inout OutputWriter) throws {
    let people = output.people.text
    guard !stat, !summary else {
      let counts = DiffStat(diff)
      writer.bytes +=
        output.format.isJSON
        ? counts.json(perSection: stat) : Array(counts.text(perSection: stat, people: people).utf8)
      return
    }
    switch output.format {
    case .json:
      try DiffJSON(diff: diff, fields: query.fields).write(to: &writer)
      writer.bytes.append(UInt8(ascii: "\n"))
    case .jsonl: try DiffJSON(diff: diff, fields: query.fields).writeLines(to: &writer)
    case .patch: try DiffPatch(diff: diff, fields: query.fields, people: people).write(to: &writer)
    case .short, .table:
      let text = DiffText(query, people: people, isTable: output.format == .table)
      try text.write(diff, to: &writer)
    }
  }
}

/// The output formats of a diff.
enum DiffFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
  case short, table, json, jsonl, patch

  var isJSON: Bool { self == .json || self == .jsonl }
}

/// The options that say how a diff is shown.
struct DiffOutputOptions: ParsableArguments, Sendable {
  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("output")],
    help: "The format: short, table, json, jsonl or patch. Default: table on a terminal, short otherwise.")
  var requestedFormat: DiffFormat?

  @OptionGroup var people: PeopleOptions

  var format: DiffFormat { requestedFormat ?? (Terminal.isOutput ? .table : .short) }
}
