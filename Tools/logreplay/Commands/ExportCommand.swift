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
      With --events, the events of the range are written as lines of JSON, without loss: imported into an empty store, \
      they give the same events with the same chain. With --table, the rows of tables are written as they are at the \
      end of the range.

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

  @Option(help: "The form: jsonl, csv, tsv, sqlite or sql. Default: by the ending of TO.")
  var format: ExportFormat?

  @Flag(help: "Replace a file that has the name, once the export is complete.")
  var force = false

  @OptionGroup var list: ListOptions
  @OptionGroup var tables: ExportTableOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    try check()
    let points = try PointRange(range, times: TimeText(zone: output.zone))
    let opened = try OpenedStore.open(
      source.store, scratch: ImportSortFile.folder(besides: source.store))
    let resolver = PointResolver(store: opened)
    let request = ExportRequest(
      opened: opened, resolver: resolver, from: try points.from.map { try resolver.resolve($0) },
      to: try points.to.map { try resolver.resolve($0) } ?? resolver.head(), target: target,
      format: format ?? ExportFormat(endingOf: target), replaces: force, output: output)
    if events {
      try ExportEvents(request: request).run()
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
    if events, let option = list.isGiven ? "an option of lists" : tables.firstGiven {
      throw CommandFailure(
        ExitStatus.usage, "\(option) says nothing about events", at: "--events",
        next: "leave it out, or export a table with --table")
    }
  }
}
