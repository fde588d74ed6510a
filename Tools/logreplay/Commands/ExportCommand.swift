// `export`: writes the events of a store, or its tables at a point, in forms that other programs read.

internal import ArgumentParser
internal import LogreplayPoints
internal import StrataEvents
internal import StrataLog

extension ExportFormat: ExpressibleByArgument {}

struct ExportCommand: BlockingCommand, PointCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes the events of a store, or its tables at a point, for other programs or another store.",
    discussion: """
      With --events, the events of the range are written as lines of JSON, without loss: an export of all events, \
      imported into an empty store by `import --events`, gives it the same events with the same times, ids and chain. \
      The range must begin and end between two appends. --stream, --category and --type choose events; what they leave \
      out is missing in the chain, so that the lines are added to a store and do not become the same one. With --table, the rows of tables are written as they are at the \
      end of the range.

      \(ExportProcessHelp.discussion)

      TO is a file, or - for standard output. A name that ends in .gz is compressed with gzip. A file is written under \
      a temporary name and gets its own when it is complete, so an export that fails leaves none. A file that exists \
      is refused unless --force is given. The form is that of TO's ending, or of --format.

      Exit codes: 64 usage, 65 damage in the store, 66 no such store or point, 73 TO cannot be created or exists, 74 \
      an I/O error or a full disk.
      """)

  @OptionGroup var source: StoreArgument

  @Argument(help: "The file to write, or - for standard output.")
  var target: String

  @Argument(help: "A range, or one or two points. Default: everything, or the newest state of tables.")
  var range: [String] = []

  @Flag(help: "Export the events of the range, as lines of JSON.")
  var events = false

  @Option(help: "Export this table as it is at the end of the range. Repeatable.")
  var table: [String] = []

  @Option(help: "The form: jsonl, csv, sqlite, sql, ocel, ocel-sqlite or xes. Default: by the ending of TO.")
  var format: ExportFormat?

  @Option(
    help:
      "ocel, ocel-sqlite, xes: the JSON file that says which field is the activity, the case and an object.")
  var mapping: String?

  @Flag(help: "Replace a file that has the name, once the export is complete.")
  var force = false

  @OptionGroup var choice: ExportEventOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    guard events != !table.isEmpty else {
      throw CommandFailure(
        ExitStatus.usage, events ? "--events and --table are two exports" : "nothing to export is given",
        next: "give --events, or --table with the name of a table")
    }
    guard events || choice.isEmpty else {
      throw CommandFailure(
        ExitStatus.usage, "--stream, --category and --type choose events",
        next: "leave them out, or give --events")
    }
    let selection = try choice.selection()
    let points = try PointRange(range, times: TimeText(zone: output.zone))
    let opened = try OpenedStore.open(source.store)
    let resolver = PointResolver(store: opened)
    let request = ExportRequest(
      opened: opened, resolver: resolver, from: try points.from.map { try resolver.resolve($0) },
      to: try points.to.map { try resolver.resolve($0) } ?? resolver.head(), target: target,
      format: format ?? ExportFormat(endingOf: target), replaces: force, output: output,
      hasOpenEnd: points.to == nil)
    let form = request.format ?? .jsonl
    guard form.isOfProcesses || mapping == nil else {
      throw CommandFailure(
        ExitStatus.usage, "--mapping applies only to ocel, ocel-sqlite and xes",
        next: "leave it out, or give --format")
    }
    if events, form.isOfProcesses {
      let mapping = try mapping.map { file throws(CommandFailure) in try ProcessMapping(file: file) }
      try ExportProcess(
        request: request, selection: selection, mapping: mapping ?? ProcessMapping(), format: form
      ).run()
    } else if events {
      try ExportEvents(request: request, selection: selection).run()
    } else {
      try ExportTables(request: request, tables: table).run()
    }
  }
}
