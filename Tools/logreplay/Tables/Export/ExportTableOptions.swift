// The options of `export` for tables, beside those of lists.

internal import ArgumentParser

/// How rows are written.
struct ExportTableOptions: ParsableArguments, Sendable {
  @Option(
    help: ArgumentHelp(
      """
      Tables: the field that has the row's id, as `import --id` names it. A document without it gets it; one that has \
      another value there is refused.
      """, valueName: "field"))
  var id = "id"

  @Flag(
    help: """
      Tables: write the changes from A to B of the range A..B, as JSON lines with what each row was and is, or as SQL \
      statements that turn the table of A into that of B.
      """)
  var changes = false

  @Flag(
    help: """
      Tables: write a value for which the format has no exact form in its nearest one, and count its row. In JSON lines \
      these are bytes, NaN, infinities and tagged values, which become objects such as {"b64":"AQID"}; in SQLite NaN, \
      which becomes NULL. Otherwise such a value ends the export.
      """)
  var lossy = false

  @Option(
    help: ArgumentHelp(
      """
      csv, tsv: what null is written as. Default: as a missing value, an empty field. A text that is a value, such as 0 \
      or true, is refused: null and that value would be one.
      """, valueName: "text"))
  var null = ""

  @Flag(help: "csv, tsv: end each record with a carriage return and a line feed.")
  var crlf = false

  @Option(name: .customLong("as"), help: "sqlite, sql: the table's name there. Default: as in the store.")
  var name: String?

  @Option(help: "csv, tsv, sqlite, sql: the name of the column that has the section. Default: section.")
  var sectionAs: String?

  /// The first option that is given and says nothing about events.
  var firstGiven: String? {
    if id != "id" { return "--id" }
    if changes { return "--changes" }
    if lossy { return "--lossy" }
    if !null.isEmpty { return "--null" }
    if crlf { return "--crlf" }
    if name != nil { return "--as" }
    return sectionAs != nil ? "--section-as" : nil
  }
}
