// Histories of particular shapes: large documents, one busy row, a projection that halts, a log that lost its end.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct HistoryCaseTests {
  private static func options(changes: Int = 100) -> StoreOptions {
    var options = StateStore.options()
    options.segmentSizeTarget = 8 << 20
    options.history = .all
    options.runLimits.byteCountMax = 4 * largeLength
    options.runLimits.changeCountMax = changes
    options.runLimits.mergedCount = 4
    options.runLimits.baseChangeCountMin = 1_000
    return options
  }

  /// A build without optimisation takes fifty times as long for each byte.
  #if DEBUG
    private static let largeLength = 100_000
  #else
    private static let largeLength = 1_000_000
  #endif

  private static func historian(_ store: EventStore, _ folding: Folding = StateStore.documents) -> Historian {
    store.projector(folding).historian!
  }

  @Test func `a document of a megabyte that changes fifty times is written whole a few times only`() throws {
    var random = SeededGenerator(seed: 5)
    let disk = SimulatedDisk()
    let store = try StateStore.open(disk, options: Self.options())
    let text = String(
      decoding: (0..<Self.largeLength).map { _ in UInt8.random(in: 0x21...0x7E, using: &random) },
      as: UTF8.self)
    for number in 0..<50 { try store.put("1", ["a": .int(Int64(number)), "t": .string(text)]) }
    let historian = Self.historian(store)
    try historian.recordBlocking()
    let set = try #require(historian.runs())
    let bytes = disk.historyPaths.reduce(0) { $0 + disk.contents($1)!.count }
    #expect(bytes < 18 * Self.largeLength, "\(bytes)")
    let key = try #require(set.key(of: "1", in: "a"))
    for sequence in set.begin + 1..<set.end + 1 {
      let found = try #require(try set.version(of: key, at: sequence))
      let document = try DocumentValue(cbor: found.bytes)
      #expect(document["a"] == .int(Int64(sequence) - 1))
      #expect(found.bytes.suffix(1_000).elementsEqual(text.utf8.suffix(1_000)))
      #expect(found.bytes.count > Self.largeLength && found.bytes.count < Self.largeLength + 20)
    }
    try store.closeBlocking()
  }

  @Test
  func
    `a document of a megabyte of which a field changes a thousand times is written whole less than a hundred times`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let disk = SimulatedDisk()
    let store = try StateStore.open(disk, options: Self.options())
    let text = String(
      decoding: (0..<Self.largeLength).map { _ in UInt8.random(in: 0x21...0x7E, using: &random) },
      as: UTF8.self)
    try store.put("1", ["a": 1, "t": .string(text)])
    for first in stride(from: 2, through: 1_000, by: 100) {
      try store.appendAny(
        (first..<min(first + 100, 1_001)).map { number in
          NewEvent(
            DocumentEvent.merge, in: StreamName(category: "a", id: "1"),
            payload: EventPayload(["a": .int(Int64(number))]))
        })
    }
    let historian = Self.historian(store)
    try historian.recordBlocking(writesRest: true)
    let set = try #require(historian.runs())
    #expect(set.end == 1_000)
    let bytes = disk.historyPaths.reduce(0) { $0 + disk.contents($1)!.count }
    // The first of each page, of which a run has one at least, is whole too.
    #expect(bytes < 100 * Self.largeLength, "\(bytes)")
    let key = try #require(set.key(of: "1", in: "a"))
    for sequence in [set.begin + 1, set.end] + (0..<150).map({ _ in .random(in: 1...1_000, using: &random) })
    {
      let found = try #require(try set.version(of: key, at: sequence))
      let document = try DocumentValue(cbor: found.bytes)
      #expect(document == ["a": .int(Int64(sequence)), "t": .string(text)], "at \(sequence)")
      #expect(found.version.sequence == sequence)
    }
    try store.closeBlocking()
  }

  @Test func `a row that goes to and fro between sections a hundred thousand times is in one at each`() throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let count = 100_000
    var options = StateStore.options()
    options.history = .all
    let store = try StateStore.open(SimulatedDisk(), options: options)
    let historian = Self.historian(store)
    let definition = StateKeptViewTests.definition("kept", calls: .keys)
    historian.keep(definition, of: "a")
    func put(_ id: String, _ number: Int) -> NewEvent {
      NewEvent(
        DocumentEvent.put, in: StreamName(category: "a", id: id),
        payload: EventPayload(["n": .int(Int64(number))]))
    }
    try store.appendAny([put("first", 1), put("second", 2), put("third", 3)])
    for first in stride(from: 4, through: count, by: 1_000) {
      try store.appendAny((first..<min(first + 1_000, count + 1)).map { put("to and fro", 1 + $0 % 2) })
    }
    try historian.recordBlocking(writesRest: true)
    let set = try #require(historian.runs())
    #expect(set.end == UInt64(count) && set.runs.count > 2)
    let key = try #require(set.key(of: "to and fro", in: "a"))
    // Two lists that are folded by a replay: the others are equal to one of them.
    let expected = try store.statesBlocking(at: [.sequence(4), .sequence(5)], StateStore.documents).map {
      StateKeptViewTests.content(View(definition, of: $0["a"]))
    }
    #expect(expected[0] != expected[1])
    let past = RunPast(store, StateStore.documents, view: ("a", definition))
    let ends = set.runs.flatMap { [$0.root.end - 1, $0.root.end, $0.root.end + 1] }.filter { $0 <= set.end }
    for sequence in ends + (0..<200).map({ _ in .random(in: 4...set.end, using: &random) }) {
      guard case .done(var state, _) = past.tablesUnread(at: sequence) else {
        Issue.record("the runs lack the keys at \(sequence)")
        break
      }
      state.withTable("a") { $0.addView(definition) }
      let view = try #require(state["a"].view(definition.identity))
      #expect(StateKeptViewTests.content(view) == expected[Int(sequence % 2)], "at \(sequence)")
      #expect(try set.version(of: key, at: sequence)?.version.sequence == sequence)
    }
    #expect(try set.changedKeys(after: 10, through: set.end) == [key])
    try store.closeBlocking()
  }

  @Test func `a row that comes and goes thousands of times is found at each of them`() throws {
    let disk = SimulatedDisk()
    let store = try StateStore.open(disk, options: Self.options())
    let stream = StreamName(category: "a", id: "1")
    for number in 0..<600 {
      try store.appendAny([
        NewEvent(DocumentEvent.put, in: stream, payload: EventPayload(["n": .int(Int64(number))])),
        NewEvent(DocumentEvent.delete, in: stream, payload: EventPayload(.null)),
      ])
    }
    let historian = Self.historian(store)
    try historian.recordBlocking()
    let set = try #require(historian.runs())
    let key = try #require(set.key(of: "1", in: "a"))
    #expect(set.runs.contains { $0.root.isBase } && set.end > 1_100)
    #expect(try set.versions(of: key).map(\.version.sequence) == Array(1...set.end))
    for sequence in set.begin + 1..<set.end + 1 {
      let found = try #require(try set.version(of: key, at: sequence))
      #expect(found.version.sequence == sequence && (found.version.kind == .gone) == (sequence % 2 == 0))
    }
    #expect(try set.changedKeys(after: 10, through: 11) == [key])
    try store.closeBlocking()
  }

  @Test func `a history that lags behind has longer runs, and short ones once it has caught up`() throws {
    let disk = SimulatedDisk()
    var options = Self.options(changes: 5)
    options.runLimits.mergedCount = 100
    let store = try StateStore.open(disk, options: options)
    let historian = Self.historian(store)
    func append(_ count: Int) throws {
      for number in 0..<count {
        try store.put("\(number % 9)", ["n": .int(Int64(store.head.sequence))])
      }
      try historian.recordBlocking()
    }
    try append(100)
    #expect(historian.runs()!.runs.map(\.root.end) == [40, 80, 95, 100])
    try append(5)
    try append(3)
    try append(50)
    let ends = historian.runs()!.runs.map(\.root.end)
    #expect(ends == [40, 80, 95, 100, 105, 145, 153, 158])
    // A long run after short ones is merged with them.
    let manifest = try #require(try historian.files.manifest())
    #expect(manifest.runs.map(\.level) == [1, 1, 0, 0, 0, 0, 0, 0])
    #expect(try HistoryStore.difference(historian.runs()!, store, StateStore.documents) == nil)
    try store.closeBlocking()
  }

  private struct Halting: Projection {
    struct Row: Codable, Identifiable { var id: String }
    struct Refusal: Error {}
    static let name = "halting history"
    static let version = 1
    static let onFailure = ProjectionFailurePolicy.halt
    static let rows = TableKey<Row>("row")

    func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
      if event.type == "bad" { throw Refusal() }
      tables[Self.rows, event.stream.id] = Row(id: event.stream.id)
    }
  }

  @Test(arguments: [5, 40])
  func `the history of a projection that halts ends before the event`(changes: Int) async throws {
    let disk = SimulatedDisk()
    let store = try StateStore.open(disk, options: Self.options(changes: changes))
    for number in 0..<40 {
      try store.appendAny([NewEvent(number == 30 ? "bad" : "good", in: StreamName("x/\(number)"), .null)])
    }
    let halting = Folding.own(Halting())
    let historian = Self.historian(store, halting)
    #expect(throws: StoreError.self) { try historian.recordBlocking() }
    #expect(historian.failure?.reason == .halted && historian.end == (changes == 5 ? 30 : 0))
    #expect(throws: StoreError.self) { try historian.recordBlocking(writesRest: true) }
    #expect(historian.end == 30)
    // A list that is asked for later gets its keys all the same.
    let definition = StateKeptViewTests.definition("late", .key, calls: .none)
    let owner = try #require(KeyOwner("row", definition))
    historian.keep(definition, of: "row")
    #expect(throws: StoreError.self) { try historian.recordBlocking() }
    #expect(historian.runs()?.runs.allSatisfy { $0.hasKeys(of: owner) } == true)
    let set = try #require(historian.runs())
    for sequence in UInt64(1)...30 {
      let fold = Fold(store.log, halting)
      try fold.run(through: sequence)
      let state = try set.tables(at: sequence, recordsTouches: false)
      #expect(try StateAnswers(state, of: store) == StateAnswers(fold.state, of: store))
    }
    #expect(try await store.states(at: [.sequence(25)], halting)[0].rowCount == 25)
    await #expect(throws: StoreError.self) { try await store.states(at: [.sequence(35)], halting) }
    try store.closeBlocking()
  }

  @Test func `runs of events that the log has lost are left out`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var shortened = 0
    for seed in 0..<30 {
      let disk = SimulatedDisk()
      var options = Self.options(changes: 4)
      options.durability = .buffered
      options.runLimits.baseChangeCountMin = 30
      let store = try StateStore.open(disk, options: options)
      var events = StateEvents(seed: UInt64(seed))
      for _ in 0..<20 { try events.append(to: store) }
      try Self.historian(store).recordBlocking()
      let end = Self.historian(store).end
      let after = disk.crash(seed: random.next(), model: .reorder)
      guard let again = try? StateStore.open(after, options: options) else { continue }
      if again.head.sequence < end { shortened += 1 }
      for _ in 0..<10 { try events.append(to: again) }
      let historian = Self.historian(again)
      if let set = historian.runs() {
        #expect(try HistoryStore.difference(set, again, StateStore.documents) == nil, "seed \(seed)")
      }
      try historian.recordBlocking()
      let difference = try HistoryStore.difference(historian.runs()!, again, StateStore.documents)
      #expect(difference == nil, "seed \(seed)")
      try again.closeBlocking()
    }
    #expect(shortened > 5)
  }

  @Test func `fault 78: a history of another build, projection or store is made again`() throws {
    let disk = SimulatedDisk()
    var store = try StateStore.open(disk, options: Self.options(changes: 3))
    for number in 0..<30 { try store.put("\(number % 4)", ["n": .int(Int64(number))]) }
    try Self.historian(store).recordBlocking()
    try store.closeBlocking()
    let path = disk.historyPaths.first { $0.hasSuffix(StoreLayout.manifestFile) }!
    let good = try #require(HistoryManifest(decoding: disk.contents(path)!))
    let changes: [(inout HistoryManifest) -> Void] = [
      { _ in }, { $0.build += 1 }, { $0.fingerprint += 1 }, { $0.name += 1 },
      { $0.storeID = StoreID(low: 5, high: 6) }, { $0.runs[0].begin = 1 }, { $0.runs.removeFirst() },
      { $0.runs[$0.runs.count - 1].erasures += 1 }, { $0.runs[0].address = $0.runs[1].address },
      { $0.runs[0].number = $0.runs[1].number },
    ]
    for (number, change) in changes.enumerated() {
      let other = disk.clone()
      var manifest = good
      change(&manifest)
      other.replace(path, manifest.encoded())
      store = try StateStore.open(other, options: Self.options(changes: 3))
      #expect((Self.historian(store).runs() == nil) == (number > 0), "change \(number)")
      try Self.historian(store).recordBlocking()
      let found = try #require(Self.historian(store).runs())
      #expect(try HistoryStore.difference(found, store, StateStore.documents) == nil, "change \(number)")
      #expect(found.end == 30)
      // No number of a file is used again.
      if number > 0 {
        #expect(found.runs.allSatisfy { run in !good.runs.contains { $0.number == run.number } })
      }
      try store.closeBlocking()
    }
  }

  @Test func `the histories of lower versions are removed, and those of higher ones stay`() throws {
    let disk = SimulatedDisk()
    let tally = StateName(StateStore.tally)!
    let lower = StateName(name: tally.name, version: 1, recordsTouches: false).folder
    let higher = StateName(name: tally.name, version: 9, recordsTouches: false).folder
    for folder in [lower, higher] {
      disk.add("\(StateStore.layout.histories)/\(folder)/\(StoreLayout.runFileName(3))", [1, 2, 3])
    }
    let store = try StateStore.open(disk, options: Self.options(changes: 3))
    var events = StateEvents(seed: 3)
    for _ in 0..<40 { try events.append(to: store) }
    try Self.historian(store, StateStore.tally).recordBlocking()
    #expect(!disk.historyPaths.contains { $0.contains("/\(lower)/") })
    #expect(disk.historyPaths.contains { $0.contains("/\(higher)/") })
    try store.closeBlocking()
  }
}
