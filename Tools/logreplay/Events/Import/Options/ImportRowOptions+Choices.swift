// The options of records, checked and parsed.

internal import LogreplayShell

extension ImportRowOptions {
  /// What the options say of a file's records.
  ///
  /// - Parameter mapping: what says which field is what, in place of the options.
  func choices(
    of file: String, by mapping: (any ImportRecordMapping)? = nil, _ tables: any ImportTables
  ) throws(CommandFailure) -> ImportRecords.Choices {
    let fields = if let mapping { try mappedRules(mapping) } else { try fieldRules(tables) }
    guard source != "" else { throw usage("--source is empty", next: "give it a value, or leave it out") }
    guard fields.hasTimes || (!sortByTime && timeSlack == nil) else {
      throw usage(
        "--sort-by-time and --time-slack need the times of lines",
        next: mapping == nil
          ? "name the field of the time with --time" : "name the field of the time in the mapping")
    }
    let slack = try timeSlack.map { text throws(CommandFailure) in
      let (seconds, attoseconds) = try lengthOfTime(text, of: "--time-slack").components
      return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
    return ImportRecords.Choices(
      fields: fields, source: sourceName(of: file).map { ImportSourceName($0) },
      skipsBad: skipBad || skipErrors != nil, badFile: try badFile(of: file),
      sortsByTime: sortByTime, timeSlack: slack ?? 0, clampsTime: clampTime, appliesLate: applyLate)
  }

  /// Which field is what.
  func fieldRules(_ tables: any ImportTables) throws(CommandFailure) -> ImportFieldRules {
    guard let table else { throw usage("the table is missing", next: "name it with --table") }
    guard TableName.isOne(table) else {
      throw usage(
        "\(String(reflecting: table)) is not a table's name",
        next: "a table's name is not empty, contains no slash, and does not begin with a dollar sign")
    }
    guard let id, !id.isEmpty else {
      throw usage("the id field is missing", next: "name the field that holds a line's id with --id")
    }
    guard time != "" else { throw usage("--time is empty", next: "give it a value, or leave it out") }
    return ImportFieldRules(
      table: table, id: try ImportFieldPath(id, option: "--id"),
      time: try time.map { text throws(CommandFailure) in try ImportFieldPath(text, option: "--time") },
      timeFormat: try timeForm(), isMerge: merge,
      roundsNumbers: roundNumbers,
      deleteWhen: try deleteWhen.map { text throws(CommandFailure) in try condition(text, tables) },
      metadata: try ImportMetadata(meta))
  }

  /// The form of times.
  func timeForm() throws(CommandFailure) -> ImportTimeFormat {
    try ImportTimeFormat(timeFormat, zone: timeZone) { "--\($0)" }
  }

  private func condition(
    _ text: String, _ tables: any ImportTables
  ) throws(CommandFailure) -> ImportCondition {
    do throws(ImportConditionError) { return try tables.condition(text, takesID: true) } catch {
      switch error {
      case .syntax(let why):
        throw CommandFailure(ExitStatus.usage, "the filter has an error", at: "--delete-when", next: why)
      case .ofRows(let own):
        throw CommandFailure(
          ExitStatus.usage, "a record has no \(own) before it is imported", at: "--delete-when",
          next: "name fields of the record, or $id")
      }
    }
  }

  /// The file for bad records, which must not be the one that is read.
  private func badFile(of file: String) throws(CommandFailure) -> String? {
    guard let skipErrors else { return nil }
    guard !skipErrors.isEmpty, !ImportBadFile.isSame(skipErrors, as: file) else {
      throw CommandFailure(
        ExitStatus.usage, "--skip-errors names no file of its own", at: "--skip-errors",
        next: "name a file that is made for the bad records")
    }
    return skipErrors
  }

  /// The name of the source in append ids: the file's own name unless `--source` gives one; nil for standard input.
  func sourceName(of file: String) -> String? {
    source ?? (file == "-" ? nil : file.split(separator: "/").last.map { String($0) } ?? file)
  }

  private func usage(_ what: String, next: String) -> CommandFailure {
    CommandFailure(ExitStatus.usage, what, next: next)
  }
}
