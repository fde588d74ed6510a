// Kept views that no process asks for any longer: given up after a bound, and never while one of them asks.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct ForgottenViewTests {
  private static func definition(_ name: String) -> ViewDefinition {
    ViewDefinition(
      identity: ViewIdentity(name), sectionOrder: .key,
      kept: KeptView(name: name, identity: "length", fingerprint: 1)
    ) { row, writer in
      writer.append(Int64(row.document.count % 5))
      return PlacedLengths(section: writer.count)
    }
  }

  /// A store that is opened and closed by one process after the other, on days that a test sets.
  private final class Shop {
    let disk = SimulatedDisk()
    private let day = Lock(1.0)
    private(set) var count = 0

    /// One process: appends something, asks for views, and closes the store.
    ///
    /// - Parameter hasMuch: whether it folds as much as is worth a state.
    func process(
      after days: Double, asking names: [String] = [], hasMuch: Bool = true,
      _ body: (EventStore) throws -> Void = { _ in }
    ) async throws {
      day.withLock { $0 += days }
      count += 1
      var options = StateStore.options(savingFrom: hasMuch ? .zero : .seconds(60))
      options.clock = StoreClock { [day] in Int64(day.withLock { $0 } * 86_400e9) }
      let store = try StateStore.open(disk, options: options)
      try store.put("\(count % 7)", ["t": .string(String(repeating: "x", count: count))])
      try body(store)
      let projector = store.projector(StateStore.documents)
      for name in names {
        let lease = projector.lease(ForgottenViewTests.definition(name), of: "a")
        let table = try await projector.state(reaching: store.head.sequence, with: lease)["a"]
        let view = try #require(table.view(lease.definition.identity))
        let new = View(lease.definition, of: table, on: .none)
        #expect(view.count == new.count && view.sectionCount == new.sectionCount)
        Tree.forEachDifference(from: view.items, to: new.items) { _ in Issue.record("the view is another") }
      }
      _ = try await projector.state(reaching: store.head.sequence)
      if hasMuch { try store.checkpointBlocking() }
      try store.put("later", ["n": .int(Int64(count))])
      try store.closeBlocking()
    }

    /// The names of the views on disk.
    func names() throws -> Set<String> {
      let reader = try StateStore.open(disk, .readOnly)
      defer { try? reader.closeBlocking() }
      return Set(Fold.resuming(reader.log, StateStore.documents).state.savedViews.map(\.kept.name))
    }
  }

  @Test func `fault 70: a kept view that nobody asks for is given up, and built when somebody does`()
    async throws
  {
    let shop = Shop()
    try await shop.process(after: 1, asking: ["a", "b"])
    for day in 1...45 {
      try await shop.process(after: 1, asking: ["b"])
      #expect(try shop.names() == (day < 30 ? ["a", "b"] : ["b"]), "day \(day)")
    }
    try await shop.process(after: 1, asking: ["a", "b"])
    #expect(try shop.names() == ["a", "b"])
    // From then on it counts from the beginning.
    for day in 1...29 {
      try await shop.process(after: 1)
      #expect(try shop.names() == ["a", "b"], "day \(day)")
    }
    try await shop.process(after: 2)
    #expect(try shop.names() == [])
  }

  @Test func `neither many processes in a short time nor a long time with few of them make a view forgotten`()
    async throws
  {
    let many = Shop()
    try await many.process(after: 1, asking: ["a"])
    for _ in 0..<60 { try await many.process(after: 0.01) }
    #expect(try many.names() == ["a"])
    let few = Shop()
    try await few.process(after: 1, asking: ["a"])
    for number in 1...17 {
      try await few.process(after: 100)
      #expect(try few.names() == (number <= 16 ? ["a"] : []), "process \(number)")
    }
  }

  @Test func `a view that is asked for now and then stays, whatever other processes do`() async throws {
    let shop = Shop()
    for number in 0..<60 {
      try await shop.process(after: 10, asking: number % 14 == 0 ? ["a"] : [])
      #expect(try shop.names() == ["a"], "process \(number)")
    }
  }

  @Test func `a process that asks for a view and has nothing else to save counts, too`() async throws {
    let shop = Shop()
    try await shop.process(after: 1, asking: ["a"])
    for day in 1...90 {
      for _ in 0..<2 { try await shop.process(after: 0.4) }
      let before = shop.disk.statePaths
      try await shop.process(after: 0.2, asking: ["a"], hasMuch: false)
      #expect(try shop.names() == ["a"], "day \(day)")
      // It saves a state only now and then.
      if day % 4 != 0 { #expect(shop.disk.statePaths == before, "day \(day)") }
    }
  }

  @Test func `a view that a row of its table defines is never given up`() async throws {
    let shop = Shop()
    try await shop.process(after: 1, asking: ["a", "b"]) { store in
      try store.put("b", in: "$view", ["table": "a"])
    }
    for _ in 0..<40 { try await shop.process(after: 5) }
    #expect(try shop.names() == ["b"])
    try await shop.process(after: 1) { store in
      try store.appendAny([NewEvent(DocumentEvent.delete, in: "$view/b", payload: EventPayload(.null))])
    }
    #expect(try shop.names() == [])
  }

  @Test func `a process that gives a view up and then asks for it shows it, and saves it again`() async throws
  {
    let shop = Shop()
    try await shop.process(after: 1, asking: ["a"])
    for _ in 0..<20 { try await shop.process(after: 1) }
    try await shop.process(after: 40, asking: ["a"]) { store in
      try store.checkpointBlocking()
      #expect(try shop.names() == [])
    }
    for number in 0..<3 {
      #expect(try shop.names() == ["a"], "process \(number)")
      try await shop.process(after: 1, asking: ["a"])
    }
    #expect(try shop.disk.findings(inStore: StateStore.path) == [])
  }

  @Test func `the room of a view that was given up is free again`() async throws {
    let shop = Shop()
    let random = Lock(SeededGenerator(seed: SeededGenerator.testSeed()))
    @Sendable func text() -> DocumentValue {
      random.withLock { random in
        let bytes = (0..<1_900).map { _ in UInt8.random(in: 0x21...0x7E, using: &random) }
        return .string(String(decoding: bytes, as: UTF8.self))
      }
    }
    try await shop.process(after: 1, asking: ["a", "b", "c"]) { store in
      for number in 0..<300 { try store.put("\(number)", ["t": text()]) }
    }
    func size() -> Int { shop.disk.pageFiles().reduce(0) { $0 + shop.disk.contents($1)!.count } }
    // Every row is another one since: the views hold rows that nothing else does.
    try await shop.process(after: 1) { store in
      for number in 0..<300 { try store.put("\(number)", ["t": text()]) }
    }
    let before = size()
    for _ in 0..<16 { try await shop.process(after: 3) }
    #expect(try shop.names() == [])
    #expect(size() < before * 3 / 4, "\(size()) of \(before) bytes")
  }
}
