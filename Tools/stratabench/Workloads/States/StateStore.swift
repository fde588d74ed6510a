// A store of the workload of states: how it is filled, and how its rows change.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// A store of many events over a tenth of that many rows, or over as many.
struct StateStore {
  let path: String
  let eventCount: Int
  private(set) var rows: [StateRow]

  var rowCount: Int { rows.count }
  /// What figures of this store begin with.
  var name: String { "\(eventCount) events, \(rowCount) rows" }
  var layout: StoreLayout { StoreLayout(root: path) }

  /// Writes the store: each row once, and then changes of random rows. It has no state.
  ///
  /// - Parameters:
  ///   - history: whether the store keeps one meanwhile, as a process does that reads from time to time.
  ///   - body: called before the store is closed.
  init(
    _ path: String, eventCount: Int, rowCount: Int, history: StoreHistory = .off,
    _ body: (EventStore) throws -> Void = { _ in }
  ) async throws {
    self.path = path
    self.eventCount = eventCount
    rows = StateRow.rows(rowCount)
    var options = StoreOptions()
    options.savesStates = false
    options.durability = .buffered
    options.history = history
    let store = try await EventStore.open(at: path, options: options)
    var random = SystemRandomNumberGenerator()
    for start in stride(from: 0, to: eventCount, by: 1000) {
      var events: [NewEvent] = []
      for number in start..<min(start + 1000, eventCount) {
        events.append(number < rowCount ? rows[number].event : change(&random))
      }
      try await store.append(events)
      if history != .off {
        _ = try await store.documents(StateList.category)[StateRow.id(0), at: .sequence(1)]
      }
    }
    try body(store)
    try await store.close()
  }

  /// The event of a random row that gets another note, and stays where it is in the list.
  mutating func change(_ random: inout SystemRandomNumberGenerator) -> NewEvent {
    let place = Int.random(in: rows.indices, using: &random)
    rows[place].note = Int.random(in: 0..<1_000_000, using: &random)
    return rows[place].event
  }

  /// The events of random rows that get other notes.
  mutating func changes(_ count: Int) -> [NewEvent] {
    var random = SystemRandomNumberGenerator()
    return (0..<count).map { _ in change(&random) }
  }

  /// The event of a random row that moves to another position of its section.
  mutating func move() -> NewEvent {
    let place = Int.random(in: rows.indices)
    rows[place].time = Int.random(in: 0..<10_000_000)
    return rows[place].event
  }

  /// Folds everything that the log has.
  static func fold(_ store: EventStore) async throws {
    let row = try await store.documents(StateList.category)[StateRow.id(0)]
    precondition(row != nil, "the store has its rows")
  }
}
