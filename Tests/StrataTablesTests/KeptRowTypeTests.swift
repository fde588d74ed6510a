// Types of rows that a fold must not keep, or not compare by what the program calls equal.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
internal import StrataTables
internal import StrataSimulation
internal import Testing

/// A property of this row is not encoded.
private struct Forgetful: Codable, Sendable {
  var number = 0
  var reads = 0
  enum CodingKeys: CodingKey { case number }
}

/// A row that can change after it was set.
private final class Shared: Codable, @unchecked Sendable {
  var number: Int
  init(_ number: Int) { self.number = number }
}

/// A row with such an object in it.
private struct Holder: Codable, Sendable { var shared: Shared }

/// Two of these rows are equal if their ids are.
private struct Named: Codable, Sendable, Equatable {
  var id: String
  var text: String
  static func == (a: Named, b: Named) -> Bool { a.id == b.id }
}

private struct Short: Codable, Sendable { var id: String }

private struct Counter: Codable, Sendable, Equatable { var count = 0 }

/// Uses all of these types at each event.
private struct Types: Projection {
  static let name = "types"
  static let version = 1
  static let forgetful = TableKey<Forgetful>("forgetful")
  static let shared = TableKey<Shared>("shared")
  static let holders = TableKey<Holder>("holder")
  static let named = TableKey<Named>("named")
  static let short = TableKey<Short>("named")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    let number = Int(event.sequence)
    // What an event sees must not depend on what the fold kept of the events before.
    var row = tables[Self.forgetful, "a"] ?? Forgetful()
    row.number += row.reads + 1
    row.reads += 1
    tables[Self.forgetful, "a"] = row
    if let shared = tables[Self.shared, "a"] {
      shared.number += 1
      if number % 3 == 0 { tables[Self.shared, "a"] = shared }
    } else {
      tables[Self.shared, "a"] = Shared(number)
    }
    if let holder = tables[Self.holders, "a"] {
      holder.shared.number += 10
      if number % 3 == 0 { tables[Self.holders, "a"] = holder }
    } else {
      tables[Self.holders, "a"] = Holder(shared: Shared(number))
    }
    tables[Self.named, "a"] = Named(id: "a", text: number % 2 == 0 ? "é" : "e\u{301}")
    if number % 4 == 0 { tables[Self.short, "a"] = Short(id: tables[Self.short, "a"]?.id ?? "none") }
    if number % 4 == 0, tables[Self.short, "a"] != nil { tables[Self.named, "b"] = Named(id: "b", text: "") }
    if number % 5 == 0 { throw CancellationError() }
  }
}

/// Counts the events of each stream.
private struct Counting: Projection {
  static let name = "counting"
  static let version = 1
  static let counters = TableKey<Counter>("counter")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard event.stream.category == "s" else { return }
    tables[Self.counters, event.stream.id] = Counter(
      count: (tables[Self.counters, event.stream.id]?.count ?? 0) + 1)
    tables[Self.counters, "all"] = Counter(count: (tables[Self.counters, "all"]?.count ?? 0) + 1)
  }
}

@Suite struct KeptRowTypeTests {
  @Test
  func `Rows that do not come back from their encoding as they were leave no trace in what is folded`() throws
  {
    let store = EventStore.inMemory(clock: .fixed)
    for _ in 0..<40 { try store.appendBlocking([NewEvent("t", in: "s/1", .null)]) }
    let expected = Fold(store.log, .own(Types()), keptRowCountMax: 0)
    let kept = Fold(store.log, .own(Types()))
    for sequence in 1...40 as ClosedRange<UInt64> {
      try expected.run(through: sequence)
      try kept.run(through: sequence)
      #expect(kept.state.stateHash == expected.state.stateHash, "after event \(sequence)")
      let anew = Fold(store.log, .own(Types()), from: kept.state)
      try anew.run(through: 40)
      let rest = Fold(store.log, .own(Types()), from: expected.state, keptRowCountMax: 0)
      try rest.run(through: 40)
      #expect(anew.state.stateHash == rest.state.stateHash, "continued after event \(sequence)")
    }
    #expect(kept.state.failures == expected.state.failures && kept.state.failures.count == 8)
    // What is not encoded is not seen by the next event.
    #expect(try kept.state["forgetful"].row("a", as: Forgetful.self)?.number == 32)
  }

  @Test
  func `A row that the program calls equal to the last one has changed if its bytes have`() throws {
    let store = EventStore.inMemory(clock: .fixed)
    for _ in 0..<3 { try store.appendBlocking([NewEvent("t", in: "s/1", .null)]) }
    let fold = Fold(store.log, .own(Types()))
    for sequence in 1...3 as ClosedRange<UInt64> {
      try fold.run(through: sequence)
      let text = try #require(try fold.state["named"].row("a", as: Named.self)).text
      #expect(text.unicodeScalars.count == (sequence % 2 == 0 ? 1 : 2))
    }
  }

  @Test
  func `A fold that begins anew after an erasure forgets the rows that it kept`() throws {
    var options = StoreOptions()
    options.clock = .fixed
    options.sealsInBackground = false
    options.segmentSizeTarget = 6_000
    let store = try EventStore.open(SimulatedDisk(), path: "/store", .readWrite, options: options)
    for number in 0..<30 {
      try store.appendBlocking([NewEvent("t", in: StreamName("s/\(number % 3)"), .null)])
    }
    let fold = Fold(store.log, .own(Counting()))
    try fold.run(through: .max)
    #expect(try fold.state["counter"].row("all", as: Counter.self)?.count == 30)
    try store.eraseBlocking(Erasure(streams: ["s/1"], because: "asked to"))
    try fold.run(through: .max)
    for number in 0..<6 {
      try store.appendBlocking([NewEvent("t", in: StreamName("s/\(number % 3)"), .null)])
    }
    try fold.run(through: .max)
    let anew = Fold(store.log, .own(Counting()), keptRowCountMax: 0)
    try anew.run(through: .max)
    #expect(fold.state.stateHash == anew.state.stateHash)
    #expect(try fold.state["counter"].row("all", as: Counter.self)?.count == 26)
    try store.closeBlocking()
  }

  @Test
  func `A copy of the tables is a value: it keeps what it had, during the event and after it`() throws {
    struct Copying: Projection {
      static let name = "copying"
      static let version = 1
      static let counters = TableKey<Counter>("counter")

      func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
        tables[Self.counters, "a"] = Counter(count: 1)
        var copy = tables
        tables[Self.counters, "a"] = Counter(count: 2)
        copy[Self.counters, "b"] = Counter(count: 3)
        guard copy[Self.counters, "a"] == Counter(count: 1), tables[Self.counters, "b"] == nil,
          copy.count(of: Self.counters) == 2, tables.count(of: Self.counters) == 1
        else { throw CancellationError() }
        // The trial is taken over at every second event.
        if event.sequence % 2 == 0 { tables = copy }
        if event.sequence % 2 == 0 { tables[Self.counters, "b"] = nil }
      }
    }
    let store = EventStore.inMemory(clock: .fixed)
    for _ in 0..<6 { try store.appendBlocking([NewEvent("t", in: "s/1", .null)]) }
    let fold = Fold(store.log, .own(Copying()))
    for sequence in 1...6 as ClosedRange<UInt64> {
      try fold.run(through: sequence)
      #expect(fold.state.failures.count == 0)
      let count = try fold.state["counter"].row("a", as: Counter.self)?.count
      #expect(count == (sequence % 2 == 0 ? 1 : 2) && fold.state["counter"].count == 1)
    }
  }
}
