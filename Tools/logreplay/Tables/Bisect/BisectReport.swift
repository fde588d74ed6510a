// What `bisect` found.

internal import LogreplayEvents
internal import LogreplayShell
internal import StrataEvents
internal import StrataLog

/// The append that was found, and all flips of the list if they were looked for.
struct BisectReport {
  /// The most events of the append that people see.
  private static let eventsShownMax = 10

  private let opened: OpenedStore
  private let table: String
  private let flips: ListFlips?
  /// Nil if there is none. Of a commit that is several appends, the last one.
  private let append: RecordedAppend?
  /// The first sequence of the append, or of the commit that it ends.
  private let begin: UInt64?
  /// The first sequence of the earliest append that may be the one instead, if others could not be judged.
  private let earliest: UInt64?

  /// - Parameter append: the first append that gave the list its first item; nil if none did.
  init(_ opened: OpenedStore, table: String, _ flips: ListFlips, _ append: RecordedAppend?) {
    self.init(opened, table: table, flips, append, orAfter: nil)
  }

  init(_ opened: OpenedStore, table: String, _ append: RecordedAppend, orAfter earliest: UInt64?) {
    self.init(opened, table: table, nil, append, orAfter: earliest)
  }

  private init(
    _ opened: OpenedStore, table: String, _ flips: ListFlips?, _ append: RecordedAppend?,
    orAfter earliest: UInt64?
  ) {
    (self.opened, self.table, self.flips, self.append, self.earliest) = (
      opened, table, flips, append, earliest
    )
    begin = append.map { SplitCommits.begin(of: $0, in: opened.log) }
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
      try writeText(append, options, to: &writer)
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
      line.array("append", [begin ?? sequences.lowerBound, sequences.upperBound].map { Array("\($0)".utf8) })
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

  private func writeText(
    _ append: RecordedAppend, _ options: OutputOptions, to writer: inout OutputWriter
  ) throws {
    let people = options.people.text
    let sequences = (begin ?? append.sequences.lowerBound)...append.sequences.upperBound
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
    let count = sequences.count
    lines.append(("events", PeopleText.count(count)))
    writer.bytes += KeyedText.lines(lines).utf8
    var printer = EventPrinter(options, isEndless: false)
    // Of many events, the ones about the row are shown in any case.
    let row = flips?.first?.id.map { StreamName(category: table, id: $0) }
    var sequence = sequences.lowerBound
    while sequence <= sequences.upperBound {
      let part = sequence == append.sequences.lowerBound ? append : try self.part(holding: sequence)
      for (index, event) in part.events.enumerated()
      where index < Self.eventsShownMax && sequence == sequences.lowerBound || event.stream == row {
        printer.add(event, of: part, to: &writer.bytes)
      }
      sequence = part.sequences.upperBound + 1
    }
    printer.end(to: &writer.bytes)
    guard count > Self.eventsShownMax else { return }
    let store = PeopleText.shellWord(PeopleText.printable(opened.path))
    writer.bytes +=
      "and more: logreplay log \(store) \(sequences.lowerBound - 1)..\(sequences.upperBound)\n".utf8
  }

  /// One of the appends of a commit.
  private func part(holding sequence: UInt64) throws(CommandFailure) -> RecordedAppend {
    do throws(StoreError) {
      guard let append = try opened.store.appendBlocking(holding: sequence) else { throw .closed }
      return append
    } catch { throw opened.failure(error) }
  }
}
