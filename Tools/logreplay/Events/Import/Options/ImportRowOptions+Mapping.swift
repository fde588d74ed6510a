// The options of records that a mapping leaves to the command line.

internal import LogreplayShell

extension ImportRowOptions {
  /// Whether any option is given that says what a mapping says.
  var isMapped: Bool {
    id != nil || time != nil || timeFormat != nil || timeZone != nil || deleteWhen != nil || !meta.isEmpty
      || merge
  }

  /// The rules of an import by a mapping.
  func mappedRules(_ mapping: any ImportRecordMapping) throws(CommandFailure) -> ImportFieldRules {
    guard !isMapped else {
      throw CommandFailure(
        ExitStatus.usage,
        "--id, --time, --time-format, --time-zone, --delete-when, --merge and --meta do not apply to events and to "
          + "records with a mapping", next: "leave them out: the mapping or the format says all this")
    }
    guard mapping.identity == .source || (source == nil && !applyLate) else {
      throw CommandFailure(
        ExitStatus.usage, "--source and --apply-late do not apply where records are known by themselves",
        next: "leave them out: a record is known by its own id, or by its row")
    }
    guard mapping.identity != .rows || !sortByTime else {
      throw CommandFailure(
        ExitStatus.usage, "--sort-by-time does not apply where rows are compared with those of the store",
        next: "leave it out, or sort the input")
    }
    let rows = mapping as? ImportMapping
    // The id of rows whose ids are not one field is no field at all.
    return ImportFieldRules(
      table: rows?.onlyTable ?? "", id: rows?.onlyID ?? ImportFieldPath(name: ""),
      roundsNumbers: roundNumbers, mapping: mapping)
  }
}
