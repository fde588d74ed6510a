// Events for people: one line each, a table, or one event in full.

package import LogreplayShell
internal import StrataDocuments
package import StrataEvents

/// One event as text.
package enum EventText {
  /// Sequence, time, stream, type and payload in one line.
  static func line(_ event: RecordedEvent, people: PeopleText) -> String {
    head(event, people: people) + "  " + PeopleText.printable(event.payloadText())
  }

  /// The same without the payload.
  package static func head(_ event: RecordedEvent, people: PeopleText) -> String {
    let sequence = String(event.sequence)
    let padding = String(repeating: " ", count: max(0, 7 - sequence.count))
    return padding + people.colored(sequence, .yellow) + "  " + people.colored(people.time(event.time), .dim)
      + "  " + people.colored(PeopleText.printable(event.stream.text), .cyan) + "  "
      + people.colored(PeopleText.printable(event.type), .green)
  }

  /// An event with all its fields, on several lines.
  static func whole(_ event: RecordedEvent, of append: RecordedAppend, people: PeopleText) -> String {
    var lines: [(String, String)] = []
    let sequences = append.sequences
    let isAlone = sequences.count == 1
    lines.append(("event", people.colored(String(event.sequence), .yellow)))
    lines.append(
      ("append", isAlone ? "\(sequences.lowerBound)" : "\(sequences.lowerBound)…\(sequences.upperBound)"))
    if let id = append.id { lines.append(("id", PeopleText.printable(id))) }
    lines.append(("time", people.time(append.time)))
    if let given = append.givenTime { lines.append(("given time", people.time(given))) }
    lines.append(("stream", people.colored(PeopleText.printable(event.stream.text), .cyan)))
    lines.append(("version", String(event.revision)))
    lines.append(("type", people.colored(PeopleText.printable(event.type), .green)))
    if !event.metadataBytes.isEmpty {
      let metadata = (try? event.metadata()).map { DocumentValue.object($0) } ?? .bytes(event.metadataBytes)
      lines.append(("metadata", PeopleText.printable(metadata.json())))
    }
    var text = ""
    if event.state == .whole {
      lines.append(("codec", "\(event.payload.codec.name), \(counted(event.payload.bytes.count, "byte"))"))
      lines.append(("payload", ""))
      for line in event.payloadJSON(.pretty).split(separator: "\n") {
        text += "  \(PeopleText.printable(String(line)))\n"
      }
    } else {
      lines.append(("payload", event.payloadText()))
    }
    return KeyedText.lines(lines) + text
  }
}

/// Names and values, with the values aligned.
package enum KeyedText {
  package static func lines(_ pairs: [(String, String)]) -> String {
    let width = pairs.map(\.0.count).max() ?? 0
    return pairs.map { name, value in
      let padding = String(repeating: " ", count: width - name.count + 2)
      return value.isEmpty ? "\(name)\n" : "\(name)\(padding)\(value)\n"
    }.joined()
  }
}

/// Events in columns. The widths are those of the first rows; a wider value in a later row shifts that row only. On a
/// terminal no row is wider than it: streams and types are cut if they leave the payload too little room.
struct EventTable {
  private static let titles = ["SEQ", "TIME", "STREAM", "VERSION", "TYPE", "PAYLOAD"]
  private static let colors: [PeopleText.Color?] = [.yellow, .dim, .cyan, nil, .green, nil]
  /// Rows that are held back to compute the widths.
  private static let rowsHeldMax = 200
  private static let widthMax = 48
  private static let gap = 2
  private static let (stream, type, payload) = (2, 4, 5)
  /// What a narrow terminal leaves of a stream and of a type, before the payload has its share.
  private static let (streamLeast, typeLeast) = (14, 8)

  private let people: PeopleText
  /// The width of the terminal in characters; nil if lines are not cut.
  private let width: Int?
  private var rows: [[String]] = []
  private var widths: [Int]?

  init(people: PeopleText, width: Int?) {
    self.people = people
    self.width = width
  }

  mutating func add(_ event: RecordedEvent, to bytes: inout [UInt8]) {
    rows.append([
      String(event.sequence), people.time(event.time), PeopleText.printable(event.stream.text),
      String(event.revision), PeopleText.printable(event.type), PeopleText.printable(event.payloadText()),
    ])
    if widths != nil || rows.count >= Self.rowsHeldMax { settle(to: &bytes) }
  }

  mutating func settle(to bytes: inout [UInt8]) {
    guard !rows.isEmpty else { return }
    if widths == nil {
      widths = fitted(
        (0..<Self.titles.count).map { column in
          let needed = ([Self.titles] + rows).map { length(of: $0[column], in: column) }.max() ?? 0
          return column == Self.payload ? needed : min(Self.widthMax, needed)
        })
      write(Self.titles, isTitle: true, to: &bytes)
    }
    for row in rows { write(row, isTitle: false, to: &bytes) }
    rows.removeAll(keepingCapacity: true)
  }

  /// How many characters a value has. Payloads may be long, so those that no terminal can show are not counted.
  private func length(of value: String, in column: Int) -> Int {
    guard column == Self.payload else { return value.count }
    return width.map { value.prefix($0 + 1).count } ?? 0
  }

  /// The widths of columns that need the given ones: those of the stream and the type are reduced, as far as the row
  /// would not fit or the payload would have less than a quarter of the terminal.
  private func fitted(_ needed: [Int]) -> [Int] {
    guard let width else { return needed }
    var fitted = needed
    let fixed = needed.enumerated().reduce(Self.gap * (needed.count - 1)) { sum, column in
      [Self.stream, Self.type, Self.payload].contains(column.offset) ? sum : sum + column.element
    }
    let (stream, type) = (needed[Self.stream], needed[Self.type])
    let least = min(stream, Self.streamLeast) + min(type, Self.typeLeast)
    let room = max(least, width - fixed - min(needed[Self.payload], width / 4))
    guard stream + type > room else { return needed }
    // The stream has three fifths and the type two; what one of them does not need goes to the other.
    fitted[Self.type] = min(type, max(room * 2 / 5, room - stream))
    fitted[Self.stream] = min(stream, room - fitted[Self.type])
    return fitted
  }

  private func write(_ row: [String], isTitle: Bool, to bytes: inout [UInt8]) {
    let widths = widths ?? []
    let needed = row.enumerated().map { column, value in
      let length = length(of: value, in: column)
      return column == Self.payload ? length : max(length, widths[column])
    }
    let limits = fitted(needed)
    let gap = String(repeating: " ", count: Self.gap)
    var line = ""
    var left = width ?? .max
    for (column, value) in row.enumerated() where column == 0 || left > gap.count {
      if column > 0 {
        line += gap
        left -= gap.count
      }
      let limit = column == Self.payload ? left : min(left, limits[column])
      let isCut = length(of: value, in: column) > limit
      let value = isCut ? String(value.prefix(limit - 1)) + "…" : value
      let shown = Self.colors[column].map { people.colored(value, isTitle ? .dim : $0) } ?? value
      guard column != Self.payload else {
        line += shown
        break
      }
      let padding = PeopleText.padding(value, to: min(limit, widths[column]))
      // Numbers are right-aligned.
      line += column == 0 || column == 3 ? padding + shown : shown + padding
      left -= value.count + padding.count
    }
    bytes += (line + "\n").utf8
  }
}
