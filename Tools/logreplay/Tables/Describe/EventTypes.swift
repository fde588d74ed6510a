// `info --types`: which types of events the log has.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// How many events of each type the log has, and which are the first and the last one.
struct EventTypes {
  private struct Count {
    var events: UInt64 = 0
    var first: (sequence: UInt64, time: Int64)
    var last: (sequence: UInt64, time: Int64)
  }

  private var types: [[UInt8]: Count] = [:]
  /// Events of types beyond the most that are distinguished.
  private var others: UInt64 = 0
  private let sequence: UInt64

  /// The most types that are distinguished.
  private static let typeCountMax = 10_000

  /// Reads the whole log once. Blocks.
  ///
  /// - Parameter all: whether the events of streams are counted whose names begin with `$`.
  init(_ opened: OpenedStore, all: Bool) throws {
    let log = opened.log
    sequence = log.mark.sequence
    let blocks = log.blocksAhead(after: log.mark.logBegin - 1)
    defer { blocks.pause() }
    blocks.begin(events: sequence, log.options.machine)
    do throws(StoreError) {
      while let block = try blocks.next(), block.header.firstSequence <= sequence {
        do throws(ContentProblem) {
          try block.forEachEvent { event, append, number throws(ContentProblem) in
            guard number <= sequence, all || event.stream.first != UInt8(ascii: "$") else { return }
            add(Array(event.type), (number, append.ownTime))
          }
        } catch { throw error.storeError(of: block.header) }
      }
    } catch { throw opened.failure(error) }
  }

  private mutating func add(_ type: [UInt8], _ event: (sequence: UInt64, time: Int64)) {
    if let index = types.index(forKey: type) {
      types.values[index].events += 1
      types.values[index].last = event
    } else if types.count < Self.typeCountMax {
      types[type] = Count(events: 1, first: event, last: event)
    } else {
      others += 1
    }
  }

  /// Ascending by name.
  private var sorted: [(name: String, count: Count)] {
    types.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map {
      (String(decoding: $0.key, as: UTF8.self), $0.value)
    }
  }

  var json: [UInt8] {
    var line = JSONLine.document()
    line.field("sequence", sequence)
    line.array(
      "types",
      sorted.map { name, count in
        var line = JSONLine()
        line.field("type", name)
        line.field("events", count.events)
        line.field("first", count.first.sequence)
        line.field("firstTime", Timestamp(nanoseconds: count.first.time).description)
        line.field("last", count.last.sequence)
        line.field("lastTime", Timestamp(nanoseconds: count.last.time).description)
        return line.finish()
      })
    if others > 0 { line.field("others", others) }
    return line.finish()
  }

  func write(_ people: PeopleText, to writer: inout OutputWriter) throws {
    func place(_ event: (sequence: UInt64, time: Int64)) -> [String] {
      ["\(event.sequence)", people.time(Timestamp(nanoseconds: event.time))]
    }
    let cells =
      [["type", "events", "first", "", "last", ""]]
      + sorted.map { name, count in
        [PeopleText.printable(name), PeopleText.count(Int(clamping: count.events))] + place(count.first)
          + place(count.last)
      }
    let widths = (0..<6).map { column in cells.map { $0[column].count }.max() ?? 0 }
    for (index, row) in cells.enumerated() {
      let line = row.enumerated().map { column, cell in
        let padding = PeopleText.padding(cell, to: widths[column])
        return [1, 2, 4].contains(column) ? padding + cell : cell + padding
      }.joined(separator: "  ").trimmingEnd()
      try writer.line(index == 0 ? people.colored(line, .dim) : line)
    }
    if others > 0 {
      try writer.line("and \(PeopleText.count(Int(clamping: others), "event")) of other types")
    }
  }
}

extension String {
  fileprivate func trimmingEnd() -> String {
    var rest = Substring(self)
    while rest.last == " " { rest.removeLast() }
    return String(rest)
  }
}
