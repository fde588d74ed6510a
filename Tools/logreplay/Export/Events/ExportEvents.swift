// Exports the events of a range as lines.

/// Writes the events of a store.
struct ExportEvents {
  let request: ExportRequest

  func run() throws {
    throw CommandFailure(
      ExitStatus.usage, "events cannot be exported yet", at: "--events", next: "use log -o jsonl")
  }
}
