// A store whose past is asked about: how many events and rows it has, and which row each event changes.

/// The sizes of a store, and the order of its events. The same shape gives the same events in every run.
struct PastShape: Sendable {
  enum Order: String, CaseIterable, Sendable {
    /// Every row is made first, then random rows change.
    case random
    /// Rows are made one after another, and change soon afterwards, as incidents do.
    case arrival
  }

  var eventCount: Int
  var rowCount: Int
  var order: Order

  /// The number of rows that are made before a row no longer changes, where they change as they arrive.
  private static let openCount = 1_000

  var name: String { "\(eventCount) events, \(rowCount) rows, \(order.rawValue)" }
  /// The name of the folder of its stores.
  var folder: String { "past-\(eventCount)-\(rowCount)-\(order.rawValue)" }

  /// The events of a row.
  private var eventsOfRow: Int { max(1, eventCount / rowCount) }

  /// The number of rows after an event.
  func rowCount(after event: Int) -> Int {
    let made = order == .random ? event : (event + eventsOfRow - 1) / eventsOfRow
    return min(made, rowCount)
  }

  /// Which row an event changes; nil if it makes one.
  fileprivate func changedRow(_ event: Int, _ random: inout FixedGenerator) -> Int? {
    let rows = rowCount(after: event - 1)
    guard rowCount(after: event) == rows else { return nil }
    let first = order == .random ? 0 : max(0, rows - Self.openCount)
    return Int.random(in: first..<rows, using: &random)
  }
}

/// The events of a shape, from the first one.
struct PastChanges: Sequence, IteratorProtocol {
  struct Change {
    var number: Int
    var version: PastVersion
  }

  private let shape: PastShape
  private var random = FixedGenerator(seed: 18)
  private var event = 0
  /// The section of each row that was made.
  private var sections: [UInt8] = []

  init(_ shape: PastShape) {
    self.shape = shape
    sections.reserveCapacity(shape.rowCount)
  }

  /// A change gives a row another index in the list; every tenth one also another section.
  mutating func next() -> Change? {
    guard event < shape.eventCount else { return nil }
    event += 1
    let changed = shape.changedRow(event, &random)
    let number = changed ?? sections.count
    if changed == nil {
      sections.append(Self.section(&random))
    } else if random.next() % 10 == 0 {
      sections[number] = Self.section(&random)
    }
    let time = shape.order == .random ? Int.random(in: 0..<1_000_000_000, using: &random) : event
    return Change(
      number: number,
      version: PastVersion(
        section: Int(sections[number]), time: time, note: Int(random.next() % 1_000_000)))
  }

  /// Sections are uneven: the first holds a fourteenth of the rows, the last a four hundredth.
  private static func section(_ random: inout FixedGenerator) -> UInt8 {
    let part = Double.random(in: 0..<1, using: &random)
    return UInt8(part * part * Double(PastRow.sectionCount))
  }
}
