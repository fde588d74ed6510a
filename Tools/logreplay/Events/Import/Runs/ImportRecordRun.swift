// One import of records, from the options to the report.

package import LogreplayShell
internal import StrataEvents
internal import StrataLog

/// Opens the input and the store, and imports the records of one into the other.
package struct ImportRecordRun {
  let file: String
  /// The format that `--format` says, and the one that the file's name says.
  let asked: ImportFormat?
  let named: ImportFormat?
  let rows: ImportRowOptions
  let formats: ImportFormatOptions
  /// What makes events of records: the text of `--mapping`; nil if there is none.
  let mapping: String?
  /// Whether a source whose records are all known is noted.
  let saysWhatIsKnown: Bool

  package init(
    file: String, asked: ImportFormat?, named: ImportFormat?, rows: ImportRowOptions,
    formats: ImportFormatOptions, mapping: String?, saysWhatIsKnown: Bool
  ) {
    self.file = file
    self.asked = asked
    self.named = named
    self.rows = rows
    self.formats = formats
    self.mapping = mapping
    self.saysWhatIsKnown = saysWhatIsKnown
  }

  package func importAll(
    into target: ImportTarget, _ note: @escaping (String) -> Void
  ) throws(CommandFailure) -> ImportReport {
    let input = try ImportInput(file)
    // What a file is comes before what it is to become; what a pipe has is waited for only if the options are right.
    let formatOfFile = input.isFile ? try self.format(of: input) : nil
    var choices = try rows.choices(of: file, by: try recordMapping(target.tables), target.tables)
    let format = if let formatOfFile { formatOfFile } else { try self.format(of: input) }
    try checkOptions(of: format)
    let reader = try reader(of: format, input, choices.fields)
    // A pipe given in place of a file is named after its descriptor, and so is the next one.
    if rows.source == nil, !input.isFile { choices.source = nil }
    // What a table of SQLite has is compared with what the store has.
    let identity = choices.fields.mapping?.identity ?? (format == .sqlite ? .rows : .source)
    let isCompared = identity == .rows
    if identity != .source { choices.source = nil }
    let known = target.knownRecords(of: choices.source)
    if choices.source == nil, identity == .source {
      note(
        "\(file == "-" ? "standard input" : "a pipe") without --source: the appends get no ids, so importing the "
          + "\(reader.noun)s again appends them again")
    }
    return try target.withStore { store throws(CommandFailure) in
      var difference: (any ImportTableRows)?
      do throws(StoreError) {
        if isCompared { difference = try target.tables.rows(of: choices.fields.table, in: store) }
      } catch { throw CommandFailure(error) }
      let records = try ImportRecords(
        input, by: reader, into: store, choices, known: known, difference: difference, note: note)
      let report = try records.importAll()
      if identity == .source { noteIfAllKnown(report, reader.noun, note) }
      return report
    }
  }

  /// What makes events of records, if the options do not say which field is what.
  private func recordMapping(
    _ tables: any ImportTables
  ) throws(CommandFailure) -> (any ImportRecordMapping)? {
    guard asked == .cloudevents else {
      return try mapping.map { name throws(CommandFailure) in
        try ImportMappingFiles.read(
          ImportMappingSource(
            name: name, table: rows.table, roundsNumbers: rows.roundNumbers, tables: tables))
      }
    }
    guard mapping == nil, rows.table == nil else {
      throw CommandFailure(
        ExitStatus.usage,
        "--mapping and --table do not apply to CloudEvents, which say their streams themselves",
        at: "--format cloudevents", next: "leave them out; or import with --format jsonl and a mapping")
    }
    return ImportCloudEvents()
  }

  /// The format, by what is asked for, or the file's name, or its beginning.
  func format(of input: ImportInput) throws(CommandFailure) -> ImportFormat {
    if input.isSQLite {
      guard (asked ?? .sqlite) == .sqlite else {
        throw CommandFailure(
          ExitStatus.usage, "this is a database of SQLite", at: input.name,
          next: "import it with --format sqlite")
      }
      guard input.isFile else {
        throw CommandFailure(
          ExitStatus.usage, "a database of SQLite cannot be read from a pipe", at: input.name,
          next: "put it into a file, and import that")
      }
      return .sqlite
    }
    guard asked != .sqlite else {
      throw CommandFailure(
        ExitStatus.corrupt, "this is not a database of SQLite", at: input.name,
        next: "check the path, or name the format with --format")
    }
    let beginning = try input.peek()
    // Compressed data may be no text either.
    switch ImportBeginning.of(beginning) {
    case .foreign(let what, let command):
      try ImportBeginning.foreign(what: what, command: command).check(input.name)
    case .gzip, .lz4, .sqlite:
      throw CommandFailure(
        ExitStatus.usage, "what is compressed here is a database, or compressed again", at: input.name,
        next: "decompress it to a file, and import that")
    case nil: break
    }
    if let asked { return asked }
    if let named { return named }
    if formats.isForCSV { return .csv }
    if mapping == nil { try ImportOwnOutput.check(beginning, of: input.name) }
    return ImportFormat.ofBeginning(beginning)
  }

  func checkOptions(of format: ImportFormat) throws(CommandFailure) {
    guard format == .csv || format == .tsv || !formats.isForCSV else {
      throw CommandFailure(
        ExitStatus.usage, "--separator and --types apply only to csv and tsv",
        at: "--format \(format.rawValue)",
        next: "leave them out, or import with --format csv")
    }
    guard format == .sqlite || formats.fromTable == nil else {
      throw CommandFailure(
        ExitStatus.usage, "--from-table applies only to sqlite", at: "--format \(format.rawValue)",
        next: "leave it out")
    }
    if format == .sqlite, mapping != nil { return }
    guard format != .sqlite || (rows.source == nil && !rows.merge && !rows.applyLate && !rows.sortByTime)
    else {
      throw CommandFailure(
        ExitStatus.usage, "--source, --merge, --apply-late and --sort-by-time do not apply to sqlite",
        next: "leave them out: rows are compared with those of the store, and those that differ are put")
    }
  }

  func reader(
    of format: ImportFormat, _ input: ImportInput, _ fields: ImportFieldRules
  ) throws(CommandFailure) -> any ImportRecordReader {
    let lengthMax = ImportTarget.options.appendSizeMax
    switch format {
    case .jsonl, .git, .xes, .ocel: return ImportLineReader(input, lengthMax: lengthMax)
    case .json: return ImportJSONReader(input, lengthMax: lengthMax)
    case .cloudevents:
      return ImportFormat.ofBeginning(try input.peek()) == .json
        ? ImportJSONReader(input, lengthMax: lengthMax) : ImportLineReader(input, lengthMax: lengthMax)
    case .csv, .tsv:
      let choices = ImportCSVReader.Choices(
        separator: try formats.separatorByte(of: format), types: try formats.columnTypes(), fields: fields)
      return try ImportCSVReader(input, choices, lengthMax: lengthMax)
    case .sqlite:
      try checkMapped(fields)
      let table = try ImportSQLiteTable(file, table: formats.fromTable ?? fields.table)
      try table.check(fields)
      return try ImportSQLiteReader(table, lengthMax: lengthMax)
    }
  }

  /// Throws if rows of SQLite, which have no numbers of their own, could not be known again.
  private func checkMapped(_ fields: ImportFieldRules) throws(CommandFailure) {
    guard let mapping = fields.mapping else { return }
    guard mapping.identity != .source else {
      throw CommandFailure(
        ExitStatus.usage, "rows of SQLite have no numbers by which they are known again", at: "--mapping",
        next: "add \"compare\":true to the mapping, or an \"append-id\"")
    }
    guard formats.fromTable != nil || !fields.table.isEmpty else {
      throw CommandFailure(
        ExitStatus.usage, "nothing says which table of the database is read", at: "--mapping",
        next: "name it with --from-table")
    }
  }

  /// The file may be another one of the same name, whose records are equal to those that the store has.
  private func noteIfAllKnown(_ report: ImportReport, _ noun: String, _ note: (String) -> Void) {
    guard saysWhatIsKnown, rows.source == nil, let source = rows.sourceName(of: file), report.read > 0,
      report.known == report.read
    else { return }
    note(
      "logreplay: every \(noun) is known from the source \(PeopleText.printable(source)); if this is another file, "
        + "name it with --source")
  }
}
