// `show`: shows one event in full.

internal import ArgumentParser
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

package struct ShowCommand: BlockingCommand, PointCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Shows one event in full: the last event of a point.")

  @OptionGroup var target: StoreArgument

  @Argument(help: "The point: a sequence, head, head~N, first, id:APPEND or a time; see POINTS below.")
  var point: String

  @OptionGroup var output: OutputOptions

  func perform() throws {
    let times = TimeText(zone: output.zone)
    let named = PointRange.Named(text: point, point: try Point(point, times: times))
    let opened = try OpenedStore.open(target.store)
    let resolver = PointResolver(store: opened)
    let found = try resolver.resolve(named)
    guard let append = try appendHolding(found.sequence, in: opened),
      let event = append.events.first(where: { $0.sequence == found.sequence })
    else { throw resolver.missing("there is no event at seq \(found.sequence)") }
    Pager.start()
    var writer = OutputWriter()
    switch output.format {
    case .json, .jsonl:
      var json = EventJSON()
      json.append(event, of: append, isPartial: found.inside != nil, to: &writer.bytes)
      writer.bytes.append(UInt8(ascii: "\n"))
    case .csv:
      writer.bytes += EventCSV.head.utf8
      EventCSV.append(event, of: append, to: &writer.bytes)
    case .short, .table:
      let people = PeopleText(zone: output.zone, isColored: output.isColored)
      writer.bytes += EventText.whole(event, of: append, people: people).utf8
    }
    try writer.flush()
    if resolver.dependsOnEnd { try opened.reportEnd() }
  }

  private func appendHolding(_ sequence: UInt64, in opened: OpenedStore) throws -> RecordedAppend? {
    guard sequence > 0 else { return nil }
    do throws(StoreError) { return try opened.store.appendBlocking(holding: sequence) } catch {
      throw opened.failure(error)
    }
  }
}
