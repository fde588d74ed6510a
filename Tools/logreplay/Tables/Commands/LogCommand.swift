// `log`: lists the events of a range.

internal import ArgumentParser
internal import LogreplayEvents
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// The options of commands that wait for new events.
struct WaitOptions: ParsableArguments, Sendable {
  @Flag(help: "Stop after printing the events that were there at the start.")
  var untilCaughtUp = false

  @Option(help: "Stop after this many events.")
  var count: Int?

  @Option(help: "Give up after this time, such as 10s, 500ms or 2m, with exit code 124.")
  var timeout: String?

  @Option(help: "Begin after the cursor in this file, and keep the file up to date.")
  var cursorFile: String?

  /// The moment at which `--timeout` expires.
  func deadline() throws(CommandFailure) -> MonotonicTime? {
    guard let timeout else { return nil }
    return MonotonicTime.now().advanced(by: try lengthOfTime(timeout, of: "--timeout"))
  }

  /// The same moment, for a command that reads a store: the process ends at that moment, whatever it is doing.
  func armedDeadline(reading path: String, isJSON: Bool) throws -> MonotonicTime? {
    guard let deadline = try deadline() else { return nil }
    try CommandEnding.end(at: deadline, with: AppendWait.timeIsUp(reading: path), isJSON: isJSON)
    return deadline
  }

  func check() throws(CommandFailure) {
    if let count, count < 0 {
      throw CommandFailure(
        ExitStatus.usage, "--count must be at least 0", at: "--count", next: "give a count")
    }
    if cursorFile?.isEmpty == true {
      throw CommandFailure(
        ExitStatus.usage, "the path of the cursor file is empty", at: "--cursor-file",
        next: "give the path of a file; it is created if it does not exist")
    }
  }
}

package struct LogCommand: BlockingCommand, PointCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "Lists the events of a range, oldest first.",
    discussion: """
      The range is A..B, A.., ..B or two points, and means the events after A, up to and including B. A single \
      point B means ..B. Without a range, the whole log is listed.

      With --row, only the events are listed that changed one row: each made a version of it. With -p too, the old and \
      new value of each field that an event changed is shown, and at the end which event gave each field the value \
      that it has at the end of the range. If the store has a history, as `logreplay checkpoint --history` makes, the \
      versions are read there; without one, from the events of the row.

      A filter of --where has the fields that -o json prints of an event: type, stream, version, metadata and payload, \
      and their members, as in "type == 'closed' && payload.priority > 2 && metadata.user != 'bot'". $id is the part of \
      the stream after the first /, $revision the sequence, $time the own time of the event. What was erased passes no \
      filter that reads it.
      """)

  @OptionGroup var target: StoreArgument

  @Argument(help: "A range, or one or two points.")
  var range: [String] = []

  @Option(
    name: [.customShort("n", allowingJoined: true), .customLong("lines")],
    help: "Show only the last N events.")
  var last: Int?

  @Flag(name: [.customShort("r"), .customLong("reverse")], help: "Show the newest events first.")
  var isReversed = false

  @Flag(
    name: [.customShort("f"), .customLong("follow")], help: "Continue with new events as they are appended.")
  var follows = false

  @Option(parsing: .unconditional, help: "Show only events at this time or later; -2h means two hours ago.")
  var since: String?

  @Option(parsing: .unconditional, help: "Show only events at this time or earlier.")
  var until: String?

  @Option(help: "Show only the events that changed this row, given as TABLE/ID.")
  var row: String?

  @Flag(
    name: [.customShort("p"), .customLong("patch")],
    help: "With --row, show what each event changed in the row.")
  var showsChanges = false

  @Flag(
    name: [.customShort("v"), .customLong("verbose")],
    help:
      "With --row, say on standard error if it was read from a history, and how many events were replayed."
  )
  var saysOrigin = false

  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help:
      "Show only events that match this expression. Write times in it as @'TIME', for example @'yesterday'.")
  var condition: String?

  @OptionGroup var filter: EventFilterOptions
  @OptionGroup var wait: WaitOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    try check()
    let times = TimeText(zone: output.zone)
    let points = try PointRange(range, times: times)
    let bounds = (since: try time(since, "--since", times), until: try time(until, "--until", times))
    let (options, name) = (
      try EventFilter(self.filter), try row.map { text throws(CommandFailure) in try RowName(text) }
    )
    var filter = options
    if let condition {
      let condition = try EventWhere(condition, times: times)
      filter.condition = { condition.passes($0) }
    }
    var events = EventRange(
      countMax: wait.count, last: last, isReversed: isReversed, follows: follows && !wait.untilCaughtUp,
      deadline: try wait.armedDeadline(reading: target.store, isJSON: output.format.isJSON))
    let opened = try OpenedStore.open(target.store)
    let resolver = PointResolver(store: opened)
    events.after = opened.log.mark.logBegin - 1
    if let from = points.from { events.after = try resolver.resolve(from).sequence }
    if let to = points.to { events.through = try resolver.resolve(to).sequence }
    if let from = points.from, let to = points.to, events.after > events.through ?? .max {
      noteBackwards(from.text, to.text)
    }
    if let since = bounds.since {
      events.since = since
      events.after = max(events.after, try resolver.sequence(committedBefore: since))
    }
    if let until = bounds.until {
      events.until = until
      events.through = min(events.through ?? .max, try resolver.sequence(notAfter: until))
    }
    if let path = wait.cursorFile {
      let file = CursorFile(path: path)
      events.cursorFile = file
      if let position = try file.begin() {
        try resolver.check(position)
        events.after = max(events.after, position.sequence)
      }
    }
    events.dependsOnEnd = resolver.dependsOnEnd
    if !events.follows { Pager.start() }
    if let name { return try write(name, events, opened) }
    try EventRun(opened, events, filter: filter, output: output).run()
  }

  /// Writes the versions of a row.
  private func write(_ name: RowName, _ events: EventRange, _ opened: OpenedStore) throws {
    let log = try RowLog(opened, name, events)
    let text = RowLogText(log: log, row: name, options: output)
    var writer = OutputWriter()
    if showsChanges { try text.writeChanges(to: &writer) } else { try text.writeEvents(to: &writer) }
    try writer.flush()
    if saysOrigin { PastOrigin.say(log.past) }
    if events.dependsOnEnd || events.through == nil { try opened.reportEnd() }
  }

  /// Warns that the range ends before it begins: `diff` accepts such a range, and `log` finds no events in it.
  private func noteBackwards(_ from: String, _ to: String) {
    let what = "\(from) is after \(to), so the range holds no events; write \(to)..\(from)"
    Terminal.note("logreplay: warning: \(PeopleText.printable(what))")
  }

  private func check() throws(CommandFailure) {
    try wait.check()
    func refuse(_ condition: Bool, _ what: String) throws(CommandFailure) {
      if condition {
        throw CommandFailure(ExitStatus.usage, what, next: "leave one of them out; see logreplay log --help")
      }
    }
    try refuse(last.map { $0 < 0 } ?? false, "-n must be at least 0")
    try refuse(follows && isReversed, "-f reads forward and -r reads backward")
    try refuse(follows && until != nil, "-f has no end, and --until sets one")
    try refuse(wait.cursorFile != nil && isReversed, "a cursor file reads forward and -r reads backward")
    try refuse(showsChanges && row == nil, "-p shows what events changed in a row, and no row is given")
    try refuse(saysOrigin && row == nil, "-v says where a row was read, and no row is given")
    try refuse(
      showsChanges && output.format == .csv, "-p shows several values for each event, and -o csv one line")
    try refuse(
      row != nil && (!filter.isEmpty || condition != nil),
      "--row and the options that choose events both say which are shown")
    try refuse(
      row != nil && (follows || wait.cursorFile != nil),
      "--row shows what there is, and -f and a cursor file go on")
    try refuse(wait.cursorFile != nil && last != nil, "a cursor file and -n both set where to begin")
  }

  private func time(_ text: String?, _ option: String, _ times: TimeText) throws(CommandFailure) -> Int64? {
    guard let text else { return nil }
    if let time = times.nanoseconds(text) { return time }
    throw CommandFailure(
      ExitStatus.usage, "'\(text)' is not a time", at: option,
      next: "write \(PointGrammar.timeExamples)")
  }
}
