// What `bisect` found.

internal import StrataEvents

/// The append that was found, and all flips of the list if they were looked for.
struct BisectReport {
  /// The most events of the append that people see.
  private static let eventsShownMax = 10

  private let opened: OpenedStore
  private let table: String
  private let flips: ListFlips?
  /// Nil if there is none.
  private let append: RecordedAppend?
  /// The first sequence of the earliest append that may be the one instead, if others could not be judged.
  private let earliest: UInt64?

  /// - Parameter append: the first append that gave the list its first item; nil if none did.
  init(_ opened: OpenedStore, table: String, _ flips: ListFlips, _ append: RecordedAppend?) {
    (self.opened, self.table, self.flips, self.append, earliest) = (opened, table, flips, append, nil)
  }

  init(_ opened: OpenedStore, table: String, _ append: RecordedAppend, orAfter earliest: UInt64?) {
    (self.opened, self.table, self.append, self.earliest) = (opened, table, append, earliest)
    flips = nil
  }

  /// Whether the list has items at the begin of the range.
  var begins: Bool { flips?.begins ?? false }

  /// Whether nothing was found.
  var isEmpty: Bool { append == nil && (flips?.all.isEmpty ?? true) }

  func write(to writer: inout OutputWriter, _ options: OutputOptions, listsFlips: Bool) throws {
    if options.format.isJSON {
      writer.bytes += json + [UInt8(ascii: "\n")]
    } else if listsFlips {
      try writeFlips(options.people.text, to: &writer)
    } else if let append {
      writeText(append, options, to: &writer)
    }
  }

  /// `{"schema":1,"table":…,"first":N,"append":[a,b],"time":…,"id":…}` with `"earliest":N` where several are left, and of a
  /// list that was searched in one pass `"row":…,"begins":…,"flips":[N,…]`. `id` is the id of the append. Where nothing
  /// was found, the values are null.
  private var json: [UInt8] {
    var line = JSONLine.document()
    line.field("table", table)
    line.field("first", append?.sequences.upperBound)
    if let sequences = append?.sequences {
      line.array("append", [sequences.lowerBound, sequences.upperBound].map { Array("\($0)".utf8) })
    } else {
      line.null("append")
    }
    line.field("time", append?.ownTime.description)
    line.field("id", append?.id)
    if let earliest { line.field("earliest", earliest) }
    if let flips {
      line.field("row", flips.first?.id)
      line.field("begins", flips.begins)
      line.array("flips", flips.all.map { Array("\($0.sequence)".utf8) })
    }
    return line.finish()
  }

  private func writeFlips(_ people: PeopleText, to writer: inout OutputWriter) throws {
    for flip in flips?.all ?? [] {
      let sequence = String(flip.sequence)
      let padding = String(repeating: " ", count: max(0, 7 - sequence.count))
      let what =
        flip.id.map { "true   " + people.colored(PeopleText.printable("\(table)/\($0)"), .cyan) } ?? "false"
      let time = flip.time.map { people.time($0) } ?? ""
      try writer.line(
        padding + people.colored(sequence, .yellow) + "  " + people.colored(time, .dim) + "  " + what)
    }
  }

  private func writeText(_ append: RecordedAppend, _ options: OutputOptions, to writer: inout OutputWriter) {
    let people = options.people.text
    let sequences = append.sequences
    func range(from first: UInt64) -> String {
      first == sequences.upperBound ? "\(first)" : "\(first)…\(sequences.upperBound)"
    }
    var lines = [("append", people.colored(range(from: sequences.lowerBound), .yellow))]
    if let earliest { lines.append(("or any in", range(from: earliest))) }
    if let id = append.id { lines.append(("id", PeopleText.printable(id))) }
    lines.append(("time", people.time(append.ownTime)))
    if let id = flips?.first?.id {
      lines.append(("row", people.colored(PeopleText.printable("\(table)/\(id)"), .cyan)))
    }
    lines.append(("events", PeopleText.count(append.events.count)))
    writer.bytes += KeyedText.lines(lines).utf8
    var printer = EventPrinter(options, isEndless: false)
    // Of many events, the ones about the row are shown in any case.
    let row = flips?.first?.id.map { StreamName(category: table, id: $0) }
    for (index, event) in append.events.enumerated() where index < Self.eventsShownMax || event.stream == row
    {
      printer.add(event, of: append, to: &writer.bytes)
    }
    printer.end(to: &writer.bytes)
    guard append.events.count > Self.eventsShownMax else { return }
    let store = PeopleText.shellWord(PeopleText.printable(opened.path))
    writer.bytes +=
      "and more: logreplay log \(store) \(sequences.lowerBound - 1)..\(sequences.upperBound)\n".utf8
  }
}
