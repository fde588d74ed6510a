// `count`: how many rows a table had in each group, step by step over a range of the log.

internal import ArgumentParser
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataTables

package struct CountCommand: BlockingCommand, PointCommand {
  static let configuration = CommandConfiguration(
    commandName: "count",
    abstract: "Counts a table's rows by the values of fields, at the end of each hour, day, week or month.",
    discussion: """
      Each step of time has one number for each group of rows: how many there were at its end, just before the next \
      step begins, whatever happened in it. So a step in which nothing was appended has the numbers of the one before \
      it, and a group that has no rows is not there. Without --by, all rows are one group.

          logreplay count desk.strata --table ticket --by status --every 1d
          logreplay count desk.strata '2026-10-01..2026-11-01' --by status --every 1h --time-zone Europe/Berlin -o csv
          logreplay count desk.strata --by status --every 1w -o svg > status.svg

      The range is A..B, A.., ..B or two points; a single point B means ..B. A time is the begin or the end of the axis: \
      B itself is no part of it. Rows from before A are counted too. Steps begin when the clocks of the zone show it: a \
      week on Monday, and a day has 23 or 25 hours where they are changed. An append that is dated earlier than those \
      before it belongs to all steps since its time, as it does for points by time. The last step is marked if it is \
      not over yet, or if the range ends inside of it.

      Sums are exact: integers and decimals digit by digit, where a number with a fraction is the decimal that it is \
      written as, 0.1 a tenth. If all numbers of a group are integers the sum is one; otherwise it is rounded once, at \
      its end. Values that are no number, infinities and NaN are not in it: they are counted, and reported on standard \
      error with exit code 3, as are rows that have no group: with an array or an object as the value of a field.
      """)

  @OptionGroup var target: StoreArgument

  @Argument(help: "A range, or one or two points. Default: the whole log.")
  var range: [String] = []

  @Option(help: "The table. Optional if the store has only one table whose name does not begin with $.")
  var table: String?

  @Option(
    help: ArgumentHelp(
      "The projection whose saved table it is, where documents or other projections have one of that name.",
      discussion: "Its history has to be kept: the table is needed at the end of each step.",
      valueName: "projection"))
  var savedBy: String?

  @Option(
    help: "The field that makes the groups, or several: status,impact.level. Default: one group of all rows.")
  var by: String?

  @Option(help: "The length of a step: \(CountSteps.names).")
  var every: String

  @Option(help: "Also add up the numbers in this field, for each group.")
  var sum: String?

  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help:
      "Count only rows that match this expression. Write times in it as @'TIME', for example @'yesterday'.")
  var filter: String?

  @Option(
    parsing: .unconditional,
    help:
      "The zone whose clocks the steps follow, and in which times are read and shown: \(CountZone.examples). Default: the local zone."
  )
  var timeZone: String?

  @Option(
    name: [.customShort("o", allowingJoined: true), .customLong("output")],
    help: """
      The format: short (a line for each step), table, json, jsonl, csv, svg (a picture, for a browser or a page) or plot \
      (the same as blocks of text). Default: table on a terminal, short otherwise.
      """)
  var requestedFormat: CountFormat?

  @Flag(
    name: .shortAndLong,
    help: "Say on standard error whether the past was read from a history, and how many events were replayed."
  )
  var verbose = false

  @OptionGroup var people: PeopleOptions

  func perform() throws {
    let found = try report { () throws(CommandFailure) in try OpenedStore.open(target.store) }
    if requestedFormat != .svg { Pager.start() }
    var writer = OutputWriter()
    try found.report.write(as: format, to: &writer)
    try writer.flush()
    try found.report.noteEnd(found.opened)
    if found.dependsOnEnd { try found.opened.reportEnd() }
    if found.report.reportProblems() { throw ExitCode(ExitStatus.skipped) }
  }

  /// What the command shows.
  ///
  /// - Parameters:
  ///   - notes: whether the points are printed on standard error.
  ///   - open: opens the store, once the options are known to be right.
  func report(
    notes: Bool = true, from open: () throws(CommandFailure) -> OpenedStore
  ) throws -> (report: CountReport, opened: OpenedStore, dependsOnEnd: Bool) {
    let zone = try CountZone.zone(timeZone, utc: people.utc) ?? people.zone
    let step = try CountSteps.step(every)
    let times = TimeText(zone: zone)
    let points = try PointRange(range, times: times)
    let fields = try CountSteps.fields(by)
    let sum = try self.sum.map { text throws(CommandFailure) in
      try CountSteps.field(FieldPath(text, option: "--sum"), "--sum \(text)")
    }
    let filter = try self.filter.map { text throws(CommandFailure) in try ListQuery.filter(text, times) }
    guard filter?.fields.contains(FieldPath.section) != true else {
      throw CommandFailure(
        ExitStatus.usage, "there are no sections that $section could be", at: "--where",
        next: "compare the field itself")
    }
    let opened = try open()
    let source = try StoreTables(opened: opened).source(of: self.table, savedBy: savedBy)
    let table = source.table
    let resolver = PointResolver(store: opened, notes: notes)
    let begin = try points.from.map { try resolver.resolve($0) } ?? resolver.beginning
    var end = try points.to.map { try resolver.resolve($0) } ?? resolver.head()
    let (since, until) = (points.from?.point.asTime, points.to?.point.asTime)
    if let until, until > .min { end.sequence = try resolver.sequence(notAfter: until - 1) }
    if let since, let until, since >= until { throw backwards(points) }
    guard begin.sequence <= end.sequence || since != nil else { throw backwards(points) }
    let count = CountAxis(
      opened: opened, table: table, saved: source.saved,
      request: AxisRequest(by: fields, sum: sum, filter: filter), times: times)
    let axis: TimeAxis
    do {
      let found = try count.axis(
        CalendarSteps(step) { zone.offset(at: $0) }, after: min(begin.sequence, end.sequence),
        through: end.sequence, since: since, until: until)
      axis = found.axis
      if verbose, notes { source.saved == nil ? PastOrigin.say(found.counts) : PastOrigin.sayOfSaved() }
    } catch let error as StoreError {
      guard error == TimeAxisSteps.tooMany else { throw opened.failure(error) }
      throw CommandFailure(
        ExitStatus.usage, "the range has more than \(PeopleText.count(TimeAxisSteps.countMax)) steps",
        at: "--every \(every)",
        next: "give a longer step, or a shorter range")
    }
    if axis.isEmpty, source.saved == nil, let table = self.table {
      try StoreTables(opened: opened).check(table)
    }
    let report = CountReport(
      table: table, by: fields, sum: sum, step: step, filter: filter, zone: zone, zoneName: timeZone,
      axis: axis,
      from: begin, to: end, people: people.text(in: zone))
    return (report, opened, resolver.dependsOnEnd)
  }

  private var format: CountFormat { requestedFormat ?? (Terminal.isOutput ? .table : .short) }

  private func backwards(_ points: PointRange) -> CommandFailure {
    let (from, to) = (points.from?.text ?? "", points.to?.text ?? "head")
    return CommandFailure(
      ExitStatus.usage, "the range ends before it begins: \(from) is not before \(to)",
      at: range.joined(separator: " "),
      next: "write the earlier point first")
  }
}

extension Point {
  /// The moment of a point by time, in nanoseconds since 1970.
  fileprivate var asTime: Int64? { if case .time(let time) = self { time } else { nil } }
}
