// `log`: the events of a range.

internal import ArgumentParser
internal import LogreplayPoints
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// The options of commands that wait for new events.
struct WaitOptions: ParsableArguments, Sendable {
  @Flag(help: "Ends once it has printed what was there when it began.")
  var untilCaughtUp = false

  @Option(help: "Ends after this many events.")
  var count: Int?

  @Option(help: "Gives up after this long, with exit code 124: 10s, 500ms, 2m.")
  var timeout: String?

  @Option(help: "Begins behind the cursor in this file, and keeps it up to date.")
  var cursorFile: String?

  /// The moment at which `--timeout` is over.
  func deadline() throws(CommandFailure) -> MonotonicTime? {
    guard let timeout else { return nil }
    let length =
      TimeText.duration(timeout) ?? Double(timeout).flatMap { Int64(exactly: ($0 * 1e9).rounded()) }
    guard let length, length >= 0 else {
      throw CommandFailure(
        ExitStatus.usage, "'\(timeout)' is no length of time", at: "--timeout",
        next: "write a number and a unit, such as 10s, 500ms or 2m")
    }
    return MonotonicTime.now().advanced(by: .nanoseconds(length))
  }

  /// The same for a command that reads a store, which ends then whatever it is doing.
  func armedDeadline(reading path: String, isJSON: Bool) throws -> MonotonicTime? {
    guard let deadline = try deadline() else { return nil }
    try CommandEnding.end(at: deadline, with: AppendWait.timeIsUp(reading: path), isJSON: isJSON)
    return deadline
  }

  func check() throws(CommandFailure) {
    if let count, count < 0 {
      throw CommandFailure(ExitStatus.usage, "--count is at least 0", at: "--count", next: "give a count")
    }
  }
}

struct LogCommand: BlockingCommand, PointCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "Lists the events of a range, oldest first.",
    discussion: """
      A range is A..B, A.., ..B or two points: the events behind A up to B. One point alone is ..B. Without a \
      range the whole log is listed.
      """)

  @OptionGroup var target: StoreArgument

  @Argument(help: "A range, or one or two points.")
  var range: [String] = []

  @Option(
    name: [.customShort("n", allowingJoined: true), .customLong("lines")],
    help: "Only the last so many events.")
  var last: Int?

  @Flag(name: [.customShort("r"), .customLong("reverse")], help: "Newest first.")
  var isReversed = false

  @Flag(name: [.customShort("f"), .customLong("follow")], help: "Goes on with events as they are appended.")
  var follows = false

  @Option(parsing: .unconditional, help: "Only events at this time or later; -2h is two hours ago.")
  var since: String?

  @Option(parsing: .unconditional, help: "Only events at this time or earlier.")
  var until: String?

  @OptionGroup var filter: EventFilterOptions
  @OptionGroup var wait: WaitOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    try check()
    let times = TimeText(now: systemNanoseconds(), zone: output.zone)
    let points = try PointRange(range, times: times)
    let bounds = (since: try time(since, "--since", times), until: try time(until, "--until", times))
    let filter = try EventFilter(filter)
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
      events.after = max(events.after, try resolver.sequence(before: since))
    }
    if let until = bounds.until {
      events.through = min(events.through ?? .max, try resolver.sequence(notAfter: until))
    }
    if let path = wait.cursorFile {
      let file = CursorFile(path: path)
      events.cursorFile = file
      if let position = try file.read() {
        try resolver.check(position)
        events.after = max(events.after, position.sequence)
      }
    }
    events.dependsOnEnd = resolver.dependsOnEnd
    if !events.follows { Pager.start() }
    try EventRun(opened, events, filter: filter, output: output).run()
  }

  /// `diff` reads a range either way; a list of events has nothing to show for one that ends before it begins.
  private func noteBackwards(_ from: String, _ to: String) {
    let what = "\(from) is after \(to), and a range is what lies after its first point; write \(to)..\(from)"
    Terminal.note("logreplay: warning: \(PeopleText.printable(what))")
  }

  private func check() throws(CommandFailure) {
    try wait.check()
    func refuse(_ condition: Bool, _ what: String) throws(CommandFailure) {
      if condition {
        throw CommandFailure(ExitStatus.usage, what, next: "leave one of them out; see logreplay log --help")
      }
    }
    try refuse(last.map { $0 < 0 } ?? false, "-n is at least 0")
    try refuse(follows && isReversed, "-f goes forward and -r backward")
    try refuse(follows && until != nil, "-f has no end and --until is one")
    try refuse(wait.cursorFile != nil && isReversed, "a cursor file goes forward and -r backward")
    try refuse(wait.cursorFile != nil && last != nil, "a cursor file and -n both say where to begin")
  }

  private func time(_ text: String?, _ option: String, _ times: TimeText) throws(CommandFailure) -> Int64? {
    guard let text else { return nil }
    if let time = times.nanoseconds(text) { return time }
    throw CommandFailure(
      ExitStatus.usage, "'\(text)' is no time", at: option,
      next: "write \(PointGrammar.timeExamples)")
  }
}
