// `diff`: what changed in a list between two points.

internal import ArgumentParser
internal import StrataEvents
internal import StrataFetch
internal import StrataLog

struct DiffCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Shows what changed in a table's list between two points.",
    discussion: """
      A range is A..B, A.., ..B or two points: what the events behind A up to B did. One point alone is ..B, all \
      that happened up to it. B may be before A.
      """)

  @OptionGroup var target: StoreArgument

  @Argument(help: "A range, or two points.")
  var range: [String]

  @Flag(help: "Only how much changed, for each section and in all.")
  var stat = false

  @Flag(help: "Only how much changed in all, in one line.")
  var summary = false

  @Flag(help: "Ends with exit code 1 where something changed.")
  var exitCode = false

  @Flag(name: [.customShort("R"), .customLong("reverse")], help: "Swaps the two points.")
  var isReversed = false

  @OptionGroup var options: ListOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    let times = TimeText(now: systemNanoseconds(), zone: output.zone)
    let points = try PointRange(range, times: times)
    let query = try ListQuery(options)
    let opened = try OpenedStore.open(target.store)
    let resolver = PointResolver(store: opened)
    let replay = try ListReplay(opened, query)
    let from = try points.from.map { try resolver.resolve($0) } ?? resolver.beginning
    let to = try points.to.map { try resolver.resolve($0) } ?? resolver.head()
    // One replay serves both points, in the order of the log.
    let isForward = from.sequence <= to.sequence
    let earlier = try replay.state(at: isForward ? from : to)
    let later = try replay.state(at: isForward ? to : from)
    let diff =
      isForward != isReversed
      ? ListComparison(from: earlier, to: later) : ListComparison(from: later, to: earlier)
    Pager.start()
    var writer = OutputWriter()
    let json = DiffJSON(diff: diff, fields: query.fields)
    switch output.format {
    case .json:
      try json.write(to: &writer)
      writer.bytes.append(UInt8(ascii: "\n"))
    case .jsonl: try json.writeLines(to: &writer)
    case .csv, .short, .table: break
    }
    try writer.flush()
    if ListProblems.report(earlier, later) { throw ExitCode(ExitStatus.skipped) }
    if exitCode, !diff.batch.isEmpty { throw ExitCode(ExitStatus.negative) }
  }
}
