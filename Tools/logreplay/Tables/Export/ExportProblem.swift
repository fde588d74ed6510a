// Rows that an export refuses: each error names the row, the field, and the way out.

internal import LogreplayShell
internal import StrataTables

enum ExportProblem {
  /// A field that has the name of the id field, with a value that is not the row's id.
  static func otherID(_ row: RowView, of table: String, field: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.corrupt, "the field \(String(reflecting: field)) is not the row's id", at: place(row, table),
      next: "name with --id the field that has the row's id, or one that no document has")
  }

  /// A value for which the format has no exact form.
  static func inexact(
    _ lack: String, _ row: RowView, of table: String, field: String, format: String, instead: String
  ) -> CommandFailure {
    CommandFailure(
      ExitStatus.corrupt,
      "the field \(String(reflecting: field)) has \(lack), for which \(format) has no exact form",
      at: place(row, table),
      next: "leave the field out with --fields, the row with --where, or take \(instead) with --lossy")
  }

  static func damaged(_ row: RowView, of table: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.corrupt, "the row's document is damaged", at: place(row, table),
      next: "run logreplay verify on the store")
  }

  private static func place(_ row: RowView, _ table: String) -> String { "\(table)/\(row.idText)" }
}
