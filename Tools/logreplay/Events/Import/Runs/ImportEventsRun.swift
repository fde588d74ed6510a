// One import of events, from the options to the report.

package import LogreplayShell
internal import StrataEvents

/// Opens the input and the store, and imports the events of one into the other.
package struct ImportEventsRun {
  let file: String
  /// Of these only the source may be given.
  let rows: ImportRowOptions
  let formats: ImportFormatOptions

  package init(file: String, rows: ImportRowOptions, formats: ImportFormatOptions) {
    self.file = file
    self.rows = rows
    self.formats = formats
  }

  package static var otherOptions: CommandFailure {
    CommandFailure(
      ExitStatus.usage, "--events takes --source, --wait and -o, and no other option",
      next: "leave the others out: each line says all about its event")
  }

  package func importAll(
    into target: ImportTarget, _ note: @escaping (String) -> Void
  ) throws(CommandFailure) -> ImportReport {
    guard rows.table == nil, !rows.isGivenBesidesTableAndSource, !formats.isForCSV, formats.fromTable == nil
    else { throw Self.otherOptions }
    guard rows.source != "" else {
      throw CommandFailure(
        ExitStatus.usage, "--source is empty", next: "give it a value, or leave it out")
    }
    let input = try ImportInput(file)
    let name =
      rows.source ?? (input.isFile ? file.split(separator: "/").last.map { String($0) } ?? file : nil)
    return try target.withStore(ImportEvents.options(ImportTarget.options)) { store throws(CommandFailure) in
      try ImportEvents(input, into: store, source: name, note: note).importAll()
    }
  }
}
