// `export`: writes the events of a store, or its tables at a point, in forms that other programs read.

internal import ArgumentParser
internal import LogreplayEvents
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataEvents
internal import StrataLog

extension ExportFormat: ExpressibleByArgument {}

package struct ExportCommand: BlockingCommand, PointCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes the events of a store, or its tables at a point, for other programs or another store.",
    discussion: """
      With --events, the events of the range are written as lines of JSON, without loss: an export of all events, \
      imported into an empty store by `import --events`, gives it the same events with the same times, ids and chain. \
      The range must begin and end between two appends. --stream, --category and --type choose events; what they leave \
      out is missing in the chain, so that the lines are added to a store and do not become the same one.

      With --table, or --view for a kept list, the rows of a table are written as they are at a point: as JSON lines, \
      one document a line, which `import --table --id` takes back; as csv (RFC 4180) or tsv; as a file of SQLite, \
      through the program sqlite3; or as the SQL text of one. Without --sort, sections and limits the rows ascend by \
      their ids, and memory does not grow with the table. Where sections are given, csv and SQLite have a column of \
      them. A file of SQLite that an export wrote is updated to another point by the rows that differ, in one \
      transaction: an update that fails or is killed leaves the old state.

      With --changes, what differs between the points A and B of the range is written: as lines \
      {"kind":"put","id":…,"before":…,"after":…}, or as SQL statements that turn the table of A into that of B, to be \
      read by sqlite3 -bail. What was changed and changed back is no change.

      A value for which the format has no exact form, and a document with another value in the id field, end the \
      export with the names of the row and the field. The page MovingData.md has a table of what each format keeps.

      --events --format cloudevents --source URI writes CloudEvents 1.0 in JSON, a line each, for programs that read \
      those. Each has the id SEQUENCE, the stream as its subject, and what is simple of its metadata as attributes; \
      `import --format cloudevents` gives each its stream, type, time, payload and metadata again. Strata's own events \
      and erased ones are left out.

      \(ExportProcessHelp.discussion)

      TO is a file, or - for standard output. A name that ends in .gz is compressed with gzip. A file is written under \
      a temporary name and gets its own when it is complete, so an export that fails leaves none. A file that exists \
      is refused unless --force is given, except by an update of SQLite. The form is that of TO's ending, or of --format.

      Exit codes: 3 rows that cannot be shown were left out, 64 usage, 65 damage in the store, or a value that the \
      format cannot keep, 66 no such store, table or point, 73 TO cannot be created, exists, or is a file of another \
      export, 74 an I/O error or a full disk, 75 another program has the file of SQLite locked.
      """)

  @OptionGroup var source: StoreArgument

  @Argument(help: "The file to write, or - for standard output.")
  var target: String

  @Argument(help: "A range, or one or two points. Default: everything, or the newest state of tables.")
  var range: [String] = []

  @Flag(help: "Export the events of the range, as lines of JSON.")
  var events = false

  @Option(
    help: """
      The form: jsonl, csv, tsv, sqlite, sql, cloudevents, ocel, ocel-sqlite or xes. Default: by the ending of TO.
      """)
  var format: ExportFormat?

  @Option(
    name: .customLong("source"),
    help: ArgumentHelp(
      "--format cloudevents: the source of the events, a URI that is that of this store alone.",
      valueName: "uri"))
  var eventSource: String?

  @Option(
    help:
      "ocel, ocel-sqlite, xes: the JSON file that says which field is the activity, the case and an object.")
  var mapping: String?

  @Flag(help: "Replace a file that has the name, once the export is complete.")
  var force = false

  @OptionGroup var choice: ExportEventOptions
  @OptionGroup var list: ListOptions
  @OptionGroup var tables: ExportTableOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    try check()
    let selection = try choice.selection()
    let points = try PointRange(range, times: TimeText(zone: output.zone))
    let opened = try OpenedStore.open(
      source.store, scratch: ImportSortFile.folder(besides: source.store))
    let resolver = PointResolver(store: opened)
    let request = ExportRequest(
      opened: opened, resolver: resolver, from: try points.from.map { try resolver.resolve($0) },
      to: try points.to.map { try resolver.resolve($0) } ?? resolver.head(), target: target,
      format: format ?? ExportFormat(endingOf: target), replaces: force, output: output,
      hasOpenEnd: points.to == nil)
    if request.format == .cloudevents {
      guard events else {
        throw CommandFailure(
          ExitStatus.usage, "only events are exported as CloudEvents", at: "--format cloudevents",
          next: "give --events")
      }
      return try ExportCloudEvents(request, selection, source: eventSource).run()
    }
    guard eventSource == nil else {
      throw CommandFailure(
        ExitStatus.usage, "--source is that of CloudEvents", at: "--source",
        next: "leave it out, or give --format cloudevents")
    }
    let form = request.format ?? .jsonl
    guard form.isOfProcesses || mapping == nil else {
      throw CommandFailure(
        ExitStatus.usage, "--mapping applies only to ocel, ocel-sqlite and xes",
        next: "leave it out, or give --format")
    }
    if form.isOfProcesses {
      guard events else {
        throw CommandFailure(
          ExitStatus.usage, "only events are exported as \(form.rawValue)", at: "--format \(form.rawValue)",
          next: "give --events")
      }
      let rules = try mapping.map { file throws(CommandFailure) in try ProcessMapping(file: file) }
      try ExportProcess(
        request: request, selection: selection, mapping: rules ?? ProcessMapping(), format: form
      ).run()
    } else if events {
      try ExportEvents(request: request, selection: selection).run()
    } else {
      try ExportTables(request: request, list: list, options: tables).run()
    }
  }

  private func check() throws(CommandFailure) {
    let isOfTable = list.table != nil || list.view != nil
    guard events != isOfTable else {
      throw CommandFailure(
        ExitStatus.usage, events ? "--events and --table are two exports" : "nothing to export is given",
        next: "give --events, or --table with the name of a table")
    }
    guard events || choice.isEmpty else {
      throw CommandFailure(
        ExitStatus.usage, "--stream, --category and --type choose events",
        next: "leave them out, or give --events")
    }
    if events, let option = list.isGiven ? "an option of lists" : tables.firstGiven {
      throw CommandFailure(
        ExitStatus.usage, "\(option) says nothing about events", at: "--events",
        next: "leave it out, or export a table with --table")
    }
  }
}
