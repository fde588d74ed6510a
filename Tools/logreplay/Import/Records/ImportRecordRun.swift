// One import of records, from the options to the report.

internal import StrataEvents
internal import StrataLog

/// Opens the input and the store, and imports the records of one into the other.
struct ImportRecordRun {
  let file: String
  /// The format that `--format` says, and the one that the file's name says.
  let asked: ImportFormat?
  let named: ImportFormat?
  let rows: ImportRowOptions
  let formats: ImportFormatOptions
  /// Whether a source whose records are all known is noted.
  let saysWhatIsKnown: Bool

  func importAll(
    into target: ImportTarget, _ note: @escaping (String) -> Void
  ) throws(CommandFailure) -> ImportReport {
    var choices = try rows.choices(of: file)
    let input = try ImportInput(file)
    let format = try format(of: input)
    try checkOptions(of: format)
    let reader = try reader(of: format, input, choices.fields)
    // A pipe given in place of a file is named after its descriptor, and so is the next one.
    if rows.source == nil, !input.isFile { choices.source = nil }
    // What a table of SQLite has is compared with what the store has.
    let isCompared = format == .sqlite
    if isCompared { choices.source = nil }
    let known = target.knownRecords(of: choices.source)
    if choices.source == nil, !isCompared {
      note(
        "\(file == "-" ? "standard input" : "a pipe") without --source: the appends get no ids, so importing the "
          + "\(reader.noun)s again appends them again")
    }
    return try target.withStore { store throws(CommandFailure) in
      let difference =
        isCompared ? try ImportDifference(store, table: choices.fields.table) : nil
      let records = try ImportRecords(
        input, by: reader, into: store, choices, known: known, difference: difference, note: note)
      let report = try records.importAll()
      if !isCompared { noteIfAllKnown(report, reader.noun, note) }
      return report
    }
  }

  /// The format, by what is asked for, or the file's name, or its beginning.
  private func format(of input: ImportInput) throws(CommandFailure) -> ImportFormat {
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
    try ImportOwnOutput.check(beginning, of: input.name)
    return ImportFormat.ofBeginning(beginning)
  }

  private func checkOptions(of format: ImportFormat) throws(CommandFailure) {
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
    guard format != .sqlite || (rows.source == nil && !rows.merge && !rows.applyLate && !rows.sortByTime)
    else {
      throw CommandFailure(
        ExitStatus.usage, "--source, --merge, --apply-late and --sort-by-time do not apply to sqlite",
        next: "leave them out: rows are compared with those of the store, and those that differ are put")
    }
  }

  private func reader(
    of format: ImportFormat, _ input: ImportInput, _ fields: ImportFieldRules
  ) throws(CommandFailure) -> any ImportRecordReader {
    let lengthMax = ImportTarget.options.appendSizeMax
    switch format {
    case .jsonl, .git, .xes, .ocel: return ImportLineReader(input, lengthMax: lengthMax)
    case .json: return ImportJSONReader(input, lengthMax: lengthMax)
    case .csv, .tsv:
      let choices = ImportCSVReader.Choices(
        separator: try formats.separatorByte(of: format), types: try formats.columnTypes(), fields: fields)
      return try ImportCSVReader(input, choices, lengthMax: lengthMax)
    case .sqlite:
      let table = try ImportSQLiteTable(file, table: formats.fromTable ?? fields.table)
      try table.check(fields)
      return try ImportSQLiteReader(table, lengthMax: lengthMax)
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
