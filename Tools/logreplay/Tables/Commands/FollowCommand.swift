// `follow`: prints the events of new appends, or what they change in a list, as they arrive.

internal import ArgumentParser
internal import LogreplayEvents
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

package struct FollowCommand: BlockingCommand, PointCommand {
  static let configuration = CommandConfiguration(
    commandName: "follow",
    abstract: "Prints new appends as they arrive: their events, or what they change in a list.",
    discussion: """
      With --table or any other list option, it prints the list at the head, and then what each append changes in \
      it; an append that changes nothing in the list is not printed. As JSON this is one object like the output of \
      `at`, followed by objects like the output of `diff`, one per line. --count then counts the changes printed \
      after the list. A table that --table names need not be there yet, unless --until-caught-up is given.
      """)

  @OptionGroup var target: StoreArgument

  @Option(parsing: .unconditional, help: "Begin after this point instead of the head.")
  var from: String?

  @OptionGroup(title: "Events") var filter: EventFilterOptions
  @OptionGroup(title: "A list") var list: ListOptions
  @OptionGroup(title: "A list") var aggregates: AggregateOptions
  @OptionGroup var wait: WaitOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    try wait.check()
    let isOfList = list.table != nil || list.view != nil || list.isGiven || !aggregates.aggregate.isEmpty
    if isOfList {
      try output.refuse(.csv)
      guard filter.isEmpty else {
        throw CommandFailure(
          ExitStatus.usage, "the options that choose events do not apply to a list",
          next: "choose rows with --where, or leave out the list options")
      }
    }
    let times = TimeText(zone: output.zone)
    let point = try from.map { text throws(CommandFailure) in
      PointRange.Named(text: text, point: try Point(text, times: times))
    }
    if isOfList { try aggregates.added(to: ListQuery.check(list, times: times)).checkShowsItems() }
    let eventFilter = try EventFilter(filter)
    var events = EventRange(
      countMax: wait.count, follows: true,
      deadline: try wait.armedDeadline(reading: target.store, isJSON: output.format.isJSON))
    let opened = try OpenedStore.open(target.store)
    let resolver = PointResolver(store: opened)
    if wait.untilCaughtUp { events.through = opened.log.mark.sequence }
    var given = try point.map { try resolver.resolve($0) }
    if let path = wait.cursorFile {
      let file = CursorFile(path: path)
      events.cursorFile = file
      if let position = try file.begin() { given = try resolver.point(of: position) }
    }
    let start = try given ?? resolver.head()
    events.after = start.sequence
    events.dependsOnEnd = resolver.dependsOnEnd
    guard isOfList else { return try EventRun(opened, events, filter: eventFilter, output: output).run() }
    let watch = list.view.map { KeptListWatch($0, in: opened) }
    let query = try aggregates.added(to: ListQuery(list, in: opened, times: times))
    let replay = try ListReplay(
      opened, query, from: start.sequence, takesEarlier: true, isFollowing: !wait.untilCaughtUp)
    let run = try ListRun(replay, from: start, events, watch, output: output)
    if try run.run() { throw ExitCode(ExitStatus.skipped) }
  }
}
