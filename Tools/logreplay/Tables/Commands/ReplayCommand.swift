// `replay`: rebuilds all tables from the start of the log, measures the time, and prints the state's hash.

internal import ArgumentParser
internal import LogreplayEvents
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables

package struct ReplayCommand: BlockingCommand, PointCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract:
      "Rebuilds all tables from the start of the log, and prints the time taken and the state's hash.",
    discussion: """
      The hash depends only on the names of the tables and on the ids, revisions and documents of their rows: two \
      stores with the same hash hold the same rows.
      """)

  @OptionGroup var target: StoreArgument

  @Argument(help: "The point to rebuild up to; see POINTS below. Default: head.")
  var point: String?

  @OptionGroup var output: OutputOptions

  func perform() throws {
    try output.refuse(.csv)
    let times = TimeText(zone: output.zone)
    let named = try point.map { text throws(CommandFailure) in
      PointRange.Named(text: text, point: try Point(text, times: times))
    }
    let opened = try OpenedStore.open(target.store)
    let resolver = PointResolver(store: opened)
    let end = try named.map { try resolver.resolve($0) } ?? resolver.head()
    let report = try ReplayReport(opened, through: end)
    var writer = OutputWriter()
    if output.format.isJSON {
      writer.bytes += report.json + [UInt8(ascii: "\n")]
    } else {
      writer.bytes += report.text(people: output.people.text).utf8
    }
    try writer.flush()
    if resolver.dependsOnEnd { try opened.reportEnd() }
  }
}

/// The result of a replay.
struct ReplayReport {
  private let end: ResolvedPoint
  /// All events that were read, including those that belong to no table.
  private let events: UInt64
  private let seconds: Double
  private let tables: TableCounts
  private let hash: String

  /// Blocks for as long as the replay takes.
  init(_ opened: OpenedStore, through end: ResolvedPoint) throws {
    self.end = end
    let fold = Fold(opened.log, .documents(only: nil))
    let before = fold.state.sequence
    let began = MonotonicTime.now()
    do throws(StoreError) { try fold.run(through: end.sequence) } catch { throw opened.failure(error) }
    guard fold.state.sequence == end.sequence else {
      try opened.throwDamage()
      throw opened.failure(.closed)
    }
    let elapsed = began.elapsed.components
    seconds = Double(elapsed.seconds) + (Double(elapsed.attoseconds) / 1e12).rounded() / 1e6
    events = end.sequence - before
    tables = TableCounts(fold.state, all: true)
    hash = LogPosition.hex(fold.state.stateHash)
  }

  var json: [UInt8] {
    var line = JSONLine.document()
    line.field("sequence", end.sequence)
    line.field("time", end.time?.description)
    line.field("events", events)
    line.field("seconds", .double(seconds))
    line.field("hash", hash)
    line.array("tables", tables.json)
    if end.inside != nil { line.field("partial", true) }
    return line.finish()
  }

  func text(people: PeopleText) -> String {
    let rate = seconds > 0 ? " (\(PeopleText.count(Int(Double(events) / seconds))) a second)" : ""
    return KeyedText.lines([
      ("point", "seq \(end.sequence)" + (end.time.map { ", \(people.time($0))" } ?? "")),
      ("events", PeopleText.count(Int(clamping: events), "event") + " in \(seconds) s" + rate),
      ("tables", tables.text), ("state hash", people.colored(hash, .yellow)),
    ])
  }
}
