// `keep`: keeps a list on disk under a name.

internal import ArgumentParser
internal import LogreplayEvents
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

package struct KeepCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "keep",
    abstract: "Keeps a list on disk under a name, so that showing it need not sort the table.",
    discussion: """
      `at`, `diff` and `follow` show the list with --view NAME. Its definition is a row of the table $view, and its \
      order is saved with the tables, under derived/. Who writes to the store without showing the list need not know \
      of it: the next --view follows what changed. Keeping another list under the same name replaces the first. A \
      time such as @'7d ago' in --where is kept as the moment that it names now. The event that defines the list has \
      the time of the event before it, so that an import can go on. The command takes the writer's lock.
      """)

  @OptionGroup var target: StoreArgument

  @Argument(help: "The name of the list.")
  var name: String

  @Flag(help: "Keep the list of this name no longer.")
  var remove = false

  @OptionGroup var options: ListOptions
  @OptionGroup var wait: LockWaitOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    try output.refuse(.csv)
    _ = try wait.timeout()
    let times = TimeText(zone: output.zone)
    try check(times)
    let store = try OpenedStore.openForWriting(target.store, wait)
    defer { try? store.closeBlocking() }
    let opened = OpenedStore(path: target.store, store: store)
    let report = remove ? try drop(from: opened) : try keep(in: opened, times)
    var writer = OutputWriter()
    writer.bytes += output.format.isJSON ? report.json + [UInt8(ascii: "\n")] : Array("\(report.text)\n".utf8)
    try writer.flush()
    let lacksRows = report.version.map { ListProblems.report($0, of: report.table, at: store.head.sequence) }
    try store.closeBlocking()
    if lacksRows ?? false { throw ExitCode(ExitStatus.skipped) }
  }

  private func check(_ times: TimeText) throws(CommandFailure) {
    let other: String? =
      if options.view != nil {
        "--view"
      } else if options.savedBy != nil {
        "--saved-by"
      } else if options.limit != nil {
        "--limit"
      } else if options.limitPerSection != nil {
        "--limit-per-section"
      } else if options.fields != nil { "--fields" } else { nil }
    if let other {
      throw CommandFailure(
        ExitStatus.usage, "\(other) is no part of what is kept", at: other,
        next: "give it where the list is shown, beside --view")
    }
    if remove, options.isGiven || options.table != nil {
      throw CommandFailure(
        ExitStatus.usage, "--remove needs only the name of the list", next: "leave the other options out")
    }
    guard !name.isEmpty, KeptList.stream(of: name).text.utf8.count <= 1024 else {
      throw CommandFailure(
        ExitStatus.usage, "the name of a list has 1 to 1,018 bytes", at: "NAME", next: "give another name")
    }
    try ListQuery.check(options, times: times)
  }

  private func keep(in opened: OpenedStore, _ times: TimeText) throws -> KeepReport {
    let tables = StoreTables(opened: opened)
    let table = try options.table ?? tables.only()
    try tables.check(table)
    let list = try KeptList(name, options, table: table, times: times)
    let query = try list.query(options, times: times)
    // One that this version cannot read is replaced.
    let old = try KeptList.found(name, in: opened).list
    if list != old {
      try append(NewEvent(DocumentEvent.put, in: KeptList.stream(of: name), list.document), to: opened)
    }
    try noteFixedTimes(times)
    let definition = query.list.definition
    let bars = StateBars()
    defer { bars.finish() }
    do throws(StoreError) {
      // One of the same table and name takes the place of what was saved by itself.
      let moved = old.flatMap { $0.table.utf8.elementsEqual(table.utf8) ? nil : $0.table }
      let made = try opened.store.checkpointBlocking(
        keeping: (table, definition), dropping: moved.map { ($0, name) }, progress: bars.update)
      let state = opened.store.projector(.documents(only: nil)).published
      let view = state[table].view(definition.identity)
      return KeepReport(
        name: name, table: table, items: view?.count ?? 0,
        sections: query.list.isSectioned ? view?.sectionCount ?? 0 : nil,
        bytes: made.reduce(0) { $0 + $1.byteCount },
        version: ListVersion(state, table: table, query.list))
    } catch { throw opened.failure(error) }
  }

  /// Says what the relative times of the filter are from now on.
  private func noteFixedTimes(_ times: TimeText) throws(CommandFailure) {
    guard let filter = options.filter else { return }
    var notes: [String] = []
    _ = try ListQuery.filter(filter, times) { text, instant in
      guard times.isRelative(text), let fixed = RFC3339.text(instant) else { return }
      let note = "@'\(PeopleText.printable(text))' is kept as \(fixed), and does not follow the clock"
      if !notes.contains(note) { notes.append(note) }
    }
    for note in notes { Terminal.note("logreplay: \(note)") }
  }

  private func drop(from opened: OpenedStore) throws -> KeepReport {
    guard let list = try KeptList.definition(of: name, in: opened) else {
      throw CommandFailure(
        ExitStatus.notFound, "there is no kept list '\(name)'", at: opened.path,
        next: "`logreplay at \(opened.path) --table '\(KeptList.category)'` shows those that there are")
    }
    try append(NewEvent(DocumentEvent.delete, in: KeptList.stream(of: name), .null), to: opened)
    do throws(StoreError) {
      let made = try opened.store.checkpointBlocking(keeping: nil, dropping: (list.table, name))
      return KeepReport(
        name: name, table: list.table, items: nil, sections: nil, bytes: made.reduce(0) { $0 + $1.byteCount })
    } catch { throw opened.failure(error) }
  }

  private func append(_ event: NewEvent, to opened: OpenedStore) throws(CommandFailure) {
    // At the time of the last append: what is imported next may be older than now, and would be committed then.
    do throws(StoreError) {
      let last = try opened.log.append(holding: opened.log.mark.sequence)
      try opened.store.appendBlocking([event], time: last.map { Timestamp(nanoseconds: $0.ownTime) })
    } catch {
      throw opened.failure(error)
    }
  }
}

/// What `keep` did.
private struct KeepReport {
  var name: String
  var table: String
  /// The number of items; nil if the list is kept no longer.
  var items: Int?
  /// The number of sections; nil for a list without sections.
  var sections: Int?
  /// The bytes that were written under derived/.
  var bytes: UInt64
  /// The list; nil if it is kept no longer.
  var version: ListVersion?

  var json: [UInt8] {
    var line = JSONLine.document()
    line.field("view", name)
    line.field("table", table)
    line.field("items", items.map { UInt64($0) })
    line.field("sections", sections.map { UInt64($0) })
    line.field("bytes", bytes)
    return line.finish()
  }

  var text: String {
    let name = "'\(PeopleText.printable(name))'"
    guard let items else { return "\(name) is kept no longer" }
    let sections = sections.map { " in " + PeopleText.count($0, "section") } ?? ""
    return "\(name): " + PeopleText.count(items, "item") + sections + ", \(counted(bytes, "byte")) written"
  }
}
