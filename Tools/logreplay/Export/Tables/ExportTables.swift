// Exports tables as they are at a point.

/// Writes tables of a store.
struct ExportTables {
  let request: ExportRequest
  /// The names of the tables, in the order of the command.
  let tables: [String]

  func run() throws {
    throw CommandFailure(
      ExitStatus.usage, "tables cannot be exported yet", at: "--table",
      next: "export the events with --events")
  }
}
