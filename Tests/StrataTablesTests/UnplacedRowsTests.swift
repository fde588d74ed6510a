// Rows that events changed and that are put into their tables later: what is seen of them in the meantime.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
internal import StrataTables
internal import StrataSimulation
internal import Testing

private struct Counter: Codable, Sendable, Equatable { var count = 0 }

private enum CounterEvent: DomainEvent {
  case counted(by: Int)
  case removed
}

/// Counts the events of each stream, of all of them, and the rows.
private struct Counters: Projection {
  static let name = "counters"
  static let version = 1
  static let onFailure = ProjectionFailurePolicy.halt
  static let counters = TableKey<Counter>("counter")
  static let sums = TableKey<Counter>("sum")

  struct Negative: Error {}

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    switch try event.decode(CounterEvent.self) {
    case .counted(let number):
      tables[Self.counters, event.stream.id, default: Counter()].count += number
      tables[Self.counters, "all", default: Counter()].count += number
      if number < 0 { throw Negative() }
    case .removed: tables[Self.counters, event.stream.id] = nil
    case nil: break
    }
    tables[Self.sums, "rows"] = Counter(count: tables.count(of: Self.counters))
    tables[Self.sums, "ids"] = Counter(count: tables.ids(of: Self.counters).count)
  }
}

extension ProjectionTables {
  fileprivate subscript<Row>(key: TableKey<Row>, id: String, default row: Row) -> Row {
    mutating get { self[key, id] ?? row }
    set { self[key, id] = newValue }
  }
}

/// The tables of the event before, which an impure projection keeps.
private final class Shelf: @unchecked Sendable {
  static let shared = Shelf()
  var tables: ProjectionTables?
}

@Suite struct UnplacedRowsTests {
  private func store(_ events: [(stream: StreamName, event: CounterEvent)]) throws -> EventStore {
    let store = EventStore.inMemory(clock: .fixed)
    for (stream, event) in events {
      let (type, payload) = try event.encoded()
      try store.appendBlocking([NewEvent(type, in: stream, payload: payload)])
    }
    return store
  }

  private func rows(_ set: TableSet) -> [String] {
    var rows: [String] = []
    for table in set.tables {
      table.forEachRow { row in
        rows.append(
          "\(table.name) \(row.idText) \(row.revision) \(row.created) \(row.time) \(Array(row.document))")
      }
    }
    return rows
  }

  @Test
  func `A fold that halts has put into its tables what was folded before`() throws {
    let store = try store([("c/a", .counted(by: 1)), ("c/b", .counted(by: 2)), ("c/a", .counted(by: -1))])
    let fold = Fold(store.log, .own(Counters()))
    for _ in 0..<2 {
      #expect(throws: StoreError.self) { try fold.run(through: .max) }
      #expect(fold.state.sequence == 2)
      #expect(try fold.state["counter"].row("all", as: Counter.self) == Counter(count: 3))
      #expect(fold.state["counter"].count == 3)
    }
  }

  @Test
  func `An event sees the count and the ids of rows that are not in their tables yet`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var events: [(stream: StreamName, event: CounterEvent)] = []
    var ids = Set<String>()
    for _ in 0..<400 {
      let id = "\(Int.random(in: 0..<20, using: &random))"
      let isRemoved = Bool.random(using: &random)
      events.append((StreamName("c/\(id)"), isRemoved ? .removed : .counted(by: 1)))
      if isRemoved { ids.remove(id) } else { ids.formUnion([id, "all"]) }
      guard events.count % 40 == 0 else { continue }
      let fold = Fold(
        try store(events).log, .own(Counters()), unplacedCountMax: events.count % 3 == 0 ? 7 : 4_096)
      try fold.run(through: .max)
      for sum in ["rows", "ids"] {
        #expect(try fold.state["sum"].row(sum, as: Counter.self) == Counter(count: ids.count))
      }
    }
  }

  @Test
  func `Tables are in the order in which they were first written to, and no table is lost among many`() throws
  {
    struct Many: Projection {
      static let name = "many"
      static let version = 1
      func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
        let number = Int(event.sequence)
        for table in [100 - number, number * 7 % 50] {
          tables[TableKey<Counter>("table-\(table)"), "a"] = Counter(count: number)
        }
        tables[TableKey<Counter>("table-0"), "a"] = nil
      }
    }
    let store = try store(Array(repeating: ("c/a", .counted(by: 1)), count: 60))
    let whole = Fold(store.log, .own(Many()))
    try whole.run(through: .max)
    let single = Fold(store.log, .own(Many()))
    for sequence in 1...60 as ClosedRange<UInt64> { try single.run(through: sequence) }
    #expect(whole.state.tables.map(\.name) == single.state.tables.map(\.name))
    #expect(rows(whole.state) == rows(single.state))
    #expect(whole.state.tables.count > 80)
  }

  @Test
  func `Tables of an older event that are put in the place of the newest hold what they held`() throws {
    struct Returning: Projection {
      static let name = "returning"
      static let version = 1
      static let rows = TableKey<Counter>("row")

      func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
        let number = Int(event.sequence)
        if number == 5, let old = Shelf.shared.tables { return tables = old }
        tables[Self.rows, "a"] = Counter(count: number)
        tables[Self.rows, "\(number)"] = Counter(count: number)
        if number == 3 { Shelf.shared.tables = tables }
      }
    }
    let store = try store(Array(repeating: ("c/a", .counted(by: 1)), count: 8))
    var states: [[String]] = []
    for step in [1, 2, 3, 8] as [UInt64] {
      let fold = Fold(store.log, .own(Returning()))
      for sequence in stride(from: step, through: 8, by: Int(step)) { try fold.run(through: sequence) }
      try fold.run(through: 8)
      states.append(rows(fold.state))
      Shelf.shared.tables = nil
    }
    #expect(states[0].map { $0.split(separator: " ")[1] } == ["1", "2", "3", "6", "7", "8", "a"])
    for state in states { #expect(state == states[0]) }
  }
}
