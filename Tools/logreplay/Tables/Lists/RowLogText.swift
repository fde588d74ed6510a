// The versions of a row in each format of `-o`.

internal import LogreplayEvents
internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataPast
internal import StrataTables

/// Writes the versions of a row. Without changes they are written as `log` writes their events.
///
/// With changes, for people:
///
/// ```
///      17  2026-11-20 21:15:03.120+00:00  incident/1-42  $put
///          +status: "Queued"
///      23  2026-11-20 21:17:40.003+00:00  incident/1-42  $merge
///          -status: "Queued"
///          +status: "Accepted"
/// incident/1-42 has
///   status: "Accepted"  since 23  2026-11-20 21:17:40.003+00:00  $merge
/// ```
struct RowLogText {
  let log: RowLog
  let row: RowName
  let options: OutputOptions
  private static let margin = "         "

  /// Writes the events alone.
  func writeEvents(to writer: inout OutputWriter) throws {
    var printer = EventPrinter(options, isEndless: false)
    printer.begin(to: &writer.bytes)
    for step in log.steps {
      printer.add(step.event, of: step.append, to: &writer.bytes)
      try writer.flushIfLarge()
    }
    printer.end(to: &writer.bytes)
  }

  func writeChanges(to writer: inout OutputWriter) throws {
    switch options.format {
    case .json: try writeJSON(to: &writer)
    case .jsonl: try writeLines(to: &writer)
    case .short, .table, .csv: try writeText(to: &writer)
    }
  }

  // MARK: For people

  private func writeText(to writer: inout OutputWriter) throws {
    let people = options.people.text
    for step in log.steps {
      try writer.line(EventText.head(step.event, people: people))
      for change in step.changes {
        let name = PeopleText.printable(change.name)
        for (mark, value, color) in [("-", change.old, PeopleText.Color.red), ("+", change.new, .green)] {
          guard let value else { continue }
          let text = "\(mark)\(name): \(PeopleText.printable(value.json()))"
          try writer.line(Self.margin + people.colored(text, color))
        }
      }
      if let problem = step.problem {
        try writer.line(Self.margin + "no row: \(PeopleText.printable(problem))")
      } else if !step.exists {
        try writer.line(Self.margin + "no row")
      } else if step.changes.isEmpty {
        try writer.line(Self.margin + "no field")
      }
    }
    guard !log.origins.isEmpty else { return }
    try writer.line("\(PeopleText.printable(row.text)) has")
    for (field, event) in log.origins {
      let value = "\(PeopleText.printable(field.name)): \(PeopleText.printable(field.value.json()))"
      try writer.line(
        "  \(value)  since \(people.colored(String(event.sequence), .yellow))  "
          + people.colored(people.time(event.time), .dim) + "  "
          + people.colored(PeopleText.printable(event.type), .green))
    }
  }

  // MARK: For programs

  /// `{"schema":1,"table":…,"id":…,"versions":[…],"fields":{…}}`.
  func writeJSON(to writer: inout OutputWriter) throws {
    var line = JSONLine.document()
    line.field("table", row.table)
    line.field("id", row.id)
    line.array("versions", log.steps.map(Self.json))
    line.field("fields", fields)
    writer.bytes += line.finish() + [UInt8(ascii: "\n")]
  }

  /// A line for each version, and one for the fields.
  private func writeLines(to writer: inout OutputWriter) throws {
    for step in log.steps {
      writer.bytes += Self.json(step) + [UInt8(ascii: "\n")]
      try writer.flushIfLarge()
    }
    var line = JSONLine.document()
    line.field("table", row.table)
    line.field("id", row.id)
    line.field("fields", fields)
    writer.bytes += line.finish() + [UInt8(ascii: "\n")]
  }

  /// The object that `log` prints of the event, and what the event changed.
  private static func json(_ step: RowStep) -> [UInt8] {
    var bytes: [UInt8] = []
    var json = EventJSON()
    json.append(step.event, of: step.append, to: &bytes) { line in
      line.field("exists", step.exists)
      if let problem = step.problem { line.field("problem", problem) }
      var changes = DocumentObject()
      for change in step.changes {
        var values = DocumentObject()
        values["old"] = change.old
        values["new"] = change.new
        changes[change.name] = .object(values)
      }
      line.field("changes", .object(changes))
    }
    return bytes
  }

  /// The event that gave each field its value.
  private var fields: DocumentValue {
    var fields = DocumentObject()
    for (field, event) in log.origins {
      fields[field.name] = [
        "value": field.value, "sequence": .int(Int64(clamping: event.sequence)),
        "time": .string(event.time.description), "type": .string(event.type),
      ]
    }
    return .object(fields)
  }
}
