// `follow`: the events of new appends, as they come.

internal import ArgumentParser
internal import StrataEvents
internal import StrataLog

struct FollowCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "follow", abstract: "Prints the events of new appends as they come, from the head on.")

  @OptionGroup var target: StoreArgument

  @Option(help: "Begins behind this point instead of the head.")
  var from: String?

  @OptionGroup var filter: EventFilterOptions
  @OptionGroup var wait: WaitOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    try wait.check()
    let times = TimeText(now: systemNanoseconds(), zone: output.zone)
    let point = try from.map { text throws(CommandFailure) in
      PointRange.Named(text: text, point: try Point(text, times: times))
    }
    let filter = try EventFilter(filter)
    var events = EventRange(
      countMax: wait.count, follows: true, deadline: try wait.deadline())
    let opened = try OpenedStore.open(target.store)
    let resolver = PointResolver(store: opened)
    let head = opened.log.mark.sequence
    events.after = head
    if let point { events.after = try resolver.resolve(point).sequence }
    if wait.untilCaughtUp { events.through = head }
    if let path = wait.cursorFile {
      let file = CursorFile(path: path)
      events.cursorFile = file
      if let position = try file.read() {
        try resolver.check(position)
        events.after = position.sequence
      }
    }
    try EventRun(opened, events, filter: filter, output: output).run()
  }
}
