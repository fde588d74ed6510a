// Events in each format of `-o`, appended to the output.

package import LogreplayShell
internal import StrataDocuments
package import StrataEvents

/// Formats events one after another. `settle` writes rows that were held back, `end` also writes the closing bytes.
package struct EventPrinter {
  private let format: OutputFormat
  private let people: PeopleText
  private var json = EventJSON()
  private var table: EventTable
  private var isFirst = true

  /// - Parameter isEndless: whether the output is read while it grows; JSON is then one line per event.
  package init(_ options: OutputOptions, isEndless: Bool) {
    format = options.format == .json && isEndless ? .jsonl : options.format
    people = PeopleText(zone: options.zone, isColored: options.isColored)
    table = EventTable(people: people, width: Terminal.width)
  }

  /// Writes what comes before the first event.
  package mutating func begin(to bytes: inout [UInt8]) {
    switch format {
    case .json: bytes.append(UInt8(ascii: "["))
    case .csv: bytes += EventCSV.head.utf8
    default: break
    }
  }

  package mutating func add(_ event: RecordedEvent, of append: RecordedAppend, to bytes: inout [UInt8]) {
    switch format {
    case .jsonl:
      json.append(event, of: append, to: &bytes)
      bytes.append(UInt8(ascii: "\n"))
    case .json:
      bytes += (isFirst ? "\n" : ",\n").utf8
      json.append(event, of: append, to: &bytes)
    case .csv: EventCSV.append(event, of: append, to: &bytes)
    case .short: bytes += (EventText.line(event, people: people) + "\n").utf8
    case .table: table.add(event, to: &bytes)
    }
    isFirst = false
  }

  /// Writes the rows that a table holds back to compute its column widths.
  mutating func settle(to bytes: inout [UInt8]) {
    if format == .table { table.settle(to: &bytes) }
  }

  /// Writes what comes after the last event.
  package mutating func end(to bytes: inout [UInt8]) {
    settle(to: &bytes)
    if format == .json { bytes += (isFirst ? "]\n" : "\n]\n").utf8 }
  }
}

/// Events as CSV (RFC 4180), except that a line ends with a single line feed.
enum EventCSV {
  static let head = "sequence,append_first,append_last,time,stream,version,type,id,metadata,codec,payload\n"

  static func append(_ event: RecordedEvent, of append: RecordedAppend, to bytes: inout [UInt8]) {
    let sequences = append.sequences
    let metadata = (try? event.metadata()).map { DocumentValue.object($0).json() } ?? ""
    let fields = [
      String(event.sequence), String(sequences.lowerBound), String(sequences.upperBound),
      append.time.description, event.stream.text, String(event.revision), event.type, append.id ?? "",
      metadata,
      event.state == .whole ? event.payload.codec.name : "", event.state == .whole ? event.payloadJSON() : "",
    ]
    for (index, field) in fields.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      CSVText.commas.append(field, to: &bytes)
    }
    bytes.append(UInt8(ascii: "\n"))
  }
}

extension RecordedEvent {
  /// The payload as JSON; `{"b64":…}` if its codec cannot decode it.
  func payloadJSON(_ style: JSONStyle = .compact) -> String {
    let value = (try? document()) ?? .bytes(payload.bytes)
    return value.json(style)
  }

  /// The payload for people: JSON, or the reason why there is none.
  func payloadText() -> String {
    switch state {
    case .whole: payloadJSON()
    case .erased: "(erased)"
    case .opaque(let kind): "(kind \(kind), written by a newer version)"
    }
  }
}
