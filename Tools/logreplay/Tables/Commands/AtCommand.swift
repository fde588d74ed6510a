// `at`: a list as it was at a point of the log.

internal import ArgumentParser
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataBase
internal import StrataEvents

package struct AtCommand: BlockingCommand, PointCommand {
  static let configuration = CommandConfiguration(
    commandName: "at", abstract: "Shows a table's list at a point of the log.",
    discussion: """
      The list is the state after all events up to and including the point. The state at a time is the state after \
      the last append that is not later. The state at a sequence inside an append holds only part of that append, \
      and the output says so.
      """)

  @OptionGroup var target: StoreArgument

  @Argument(
    help:
      "The point: a sequence, head, head~N, first, 0, id:APPEND or a time; see POINTS below. Default: head."
  )
  var point: String?

  @Flag(
    name: .shortAndLong,
    help: "Say on standard error whether the past was read from a history, and how many events were replayed."
  )
  var verbose = false

  @OptionGroup var options: ListOptions
  @OptionGroup var aggregates: AggregateOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    let times = TimeText(zone: output.zone)
    let named = try point.map { text throws(CommandFailure) in
      PointRange.Named(text: text, point: try Point(text, times: times))
    }
    _ = try aggregates.added(to: ListQuery.check(options, times: times))
    try aggregates.check(output)
    let opened = try OpenedStore.open(target.store)
    let query = try aggregates.added(to: ListQuery(options, in: opened, times: times))
    let resolver = PointResolver(store: opened)
    let end = try named.map { try resolver.resolve($0) } ?? resolver.head()
    let replay = try ListReplay(opened, query, from: end.sequence, takesEarlier: true)
    let state = try replay.state(at: end)
    Pager.start()
    var writer = OutputWriter()
    switch output.format {
    case .json:
      try ListJSON.write(state, query.fields, to: &writer)
      writer.bytes.append(UInt8(ascii: "\n"))
    case .jsonl: try ListJSON.writeLines(state, query.fields, to: &writer)
    case .csv: try ListCSV.write(state, query.fields, to: &writer)
    case .short, .table:
      let text = ListText(query, people: output.people.text, isTable: output.format == .table)
      try text.write(state, to: &writer)
    }
    try writer.flush()
    if verbose { replay.sayOrigin() }
    UnknownFields.report(query, state)
    if resolver.dependsOnEnd { try opened.reportEnd() }
    if ListProblems.report(state) { throw ExitCode(ExitStatus.skipped) }
  }
}
