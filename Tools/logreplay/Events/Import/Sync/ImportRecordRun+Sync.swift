// `import --sync` of records, from the options to the report.

package import LogreplayShell

extension ImportRecordRun {
  /// Makes the table equal to the records of the input.
  package func sync(
    _ target: ImportTarget, _ options: ImportSyncOptions, _ note: @escaping (String) -> Void
  ) throws(CommandFailure) -> ImportSyncReport {
    let other: String? =
      if rows.merge {
        "--merge"
      } else if rows.time != nil {
        "--time"
      } else if rows.source != nil {
        "--source"
      } else if rows.applyLate { "--apply-late" } else { rows.clampTime ? "--clamp-time" : nil }
    if let other {
      throw CommandFailure(
        ExitStatus.usage, "\(other) does not apply to --sync", at: other,
        next:
          "leave it out: rows are compared whole with those of the table, and those that differ are put now")
    }
    let choices = try rows.choices(of: file, target.tables)
    let input = try ImportInput(file)
    let format = try format(of: input)
    try checkOptions(of: format)
    let reader = try reader(of: format, input, choices.fields)
    let sync = ImportSync(input, by: reader, into: target, choices, options, note: note)
    return try sync.run()
  }
}
