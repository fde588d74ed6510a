// Kept lists in histories: histories that lack them get them, and say from which event on they have them.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct HistoryListsTests {
  private static let definition = StateKeptViewTests.definition("kept", .count, calls: .keys)
  private static let view = (table: "b", definition: definition)
  private static let folding = StateStore.documents

  /// A store whose runs were written before a list was asked for, and the boundaries of these runs.
  private static func filled(
    _ disk: SimulatedDisk, _ random: inout SeededGenerator
  ) throws -> (options: StoreOptions, ends: [UInt64]) {
    var options = HistoryStore.keyOptions(&random)
    // Several bases, which stay.
    options.runLimits.changeCountMax = Int.random(in: 1...6, using: &random)
    options.runLimits.laggingCount = 1
    options.runLimits.baseChangeCountMin = UInt64.random(in: 6...20, using: &random)
    options.runLimits.mergedVersionCountMax = 0
    let store = try StateStore.open(disk, options: options)
    var events = StateEvents(seed: random.next())
    events.rowCount = 3
    for _ in 0..<Int.random(in: 20...45, using: &random) { try events.append(to: store) }
    let historian = try #require(store.projector(folding).historian)
    try historian.recordBlocking(writesRest: true)
    let runs = try #require(historian.runs())
    #expect(runs.runs.allSatisfy { $0.keys.map(\.owner) == [KeyOwner.rows.number] })
    try store.closeBlocking()
    return (options, runs.runs.map(\.root.end))
  }

  /// Whether the runs have the list after an event, as reads find out.
  private static func isListed(
    _ sequence: UInt64, _ store: EventStore, _ definition: ViewDefinition = definition
  ) -> Bool {
    let past = RunPast(store, folding, view: ("b", definition))
    guard case .done = past.tablesUnread(at: sequence) else { return false }
    return true
  }

  @Test func `runs without the keys of a list get them where they are, and are read as before until then`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns()
    var partial = 0
    while runs.next() {
      let disk = SimulatedDisk()
      let (options, ends) = try Self.filled(disk, &random)
      let store = try StateStore.open(disk, options: options)
      let historian = try #require(store.projector(Self.folding).historian)
      // Runs get keys that the program's code makes from a base on, and others from the newest one back.
      let calls = [ProgramCalls.keys, .none].randomElement(using: &random)!
      let definition = StateKeptViewTests.definition("kept", .count, calls: calls)
      historian.keep(definition, of: "b")
      #expect(historian.runs()!.runs.map(\.root.end) == ends)
      #expect(historian.lists == [ListHistory(table: "b", name: "kept", firstSequence: nil)])
      #expect(!Self.isListed(historian.end, store, definition))
      // After any call that fails, some runs have the keys.
      let (writes, failing) = (Lock(0), Int.random(in: 1...2 * ends.count, using: &random))
      disk.onOperation { call in
        // A read that fails is damage: then everything is made again.
        guard call.path.hasPrefix(StateStore.layout.histories), call.operation == .write else {
          return .proceed
        }
        return writes.withLock { writes in
          writes += 1
          return writes == failing ? .fail(SystemErrorCode.inputOutput) : .proceed
        }
      }
      try? historian.recordBlocking()
      disk.onOperation(nil)
      if let found = historian.runs(), let list = historian.lists.first {
        #expect(found.runs.map(\.root.end) == ends, "only their keys are made")
        if let first = list.firstSequence {
          for sequence in first...found.end {
            #expect(Self.isListed(sequence, store, definition), "run \(runs.count)")
          }
          if first > 1 {
            partial += 1
            #expect(!Self.isListed(first - 1, store, definition), "run \(runs.count)")
          }
        }
        let sequences = HistoryStore.some(of: found, &random)
        let difference = try HistoryStore.difference(found, store, Self.folding, at: sequences)
        #expect(difference == nil, "run \(runs.count)")
      }
      try historian.recordBlocking()
      #expect(store.projections.first?.historyLists.map(\.firstSequence) == [1])
      let made = try #require(historian.runs())
      #expect(made.runs.map(\.root.end) == ends && made.runs.allSatisfy { $0.keys.count == 2 })
      #expect(try HistoryStore.difference(made, store, Self.folding) == nil, "run \(runs.count)")
      try store.closeBlocking()
    }
    // Few histories may happen to have no such point.
    if runs.count >= 100 { #expect(partial > runs.count / 20, "\(partial)") }
  }

  @Test(arguments: [ProgramCalls.none, .keys])
  func `of lists that no build asks for any more, a few of the newest keep their keys`(
    calls: ProgramCalls
  ) throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let disk = SimulatedDisk()
    let (options, ends) = try Self.filled(disk, &random)
    var builds: [UInt64] = []
    for build in UInt64(1)...12 {
      // The last build asks for six lists, and so many others keep their keys.
      let names = build < 12 ? ["kept"] : (1...6).map { "kept \($0)" }
      let definitions = names.map {
        StateKeptViewTests.definition($0, .count, fingerprint: build, calls: calls)
      }
      let owners = definitions.compactMap { KeyOwner("b", $0)?.number }
      let store = try StateStore.open(disk, options: options)
      let historian = try #require(store.projector(Self.folding).historian)
      for definition in definitions { historian.keep(definition, of: "b") }
      try historian.recordBlocking()
      let made = try #require(historian.runs())
      #expect(made.runs.map(\.root.end) == ends)
      // A run that already has all keys that are asked for is not written again.
      let former = builds.suffix(max(4, owners.count)).count
      for run in made.runs {
        let lists = run.keys.map(\.owner).filter { $0 != KeyOwner.rows.number }
        #expect(run.hasKeys(of: .rows) && Set(owners).isSubset(of: lists), "build \(build)")
        let others = lists.filter { !owners.contains($0) }
        #expect(others == Array(builds.reversed().prefix(others.count)), "build \(build)")
        #expect(others.count == (build < 12 ? former : 5), "build \(build)")
      }
      for definition in definitions {
        let past = RunPast(store, Self.folding, view: ("b", definition))
        guard case .done = past.tablesUnread(at: made.end) else {
          Issue.record("build \(build) cannot read its list")
          return
        }
      }
      builds += owners
      try store.closeBlocking()
    }
  }

  @Test func `of lists with one name the history keeps the one that was asked for last`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let disk = SimulatedDisk()
    let (options, _) = try Self.filled(disk, &random)
    let store = try StateStore.open(disk, options: options)
    let historian = try #require(store.projector(Self.folding).historian)
    for modulus: Int64 in [2, 3, 5] {
      historian.keep(StateKeptViewTests.definition("kept", .count, modulus: modulus, calls: .keys), of: "b")
    }
    historian.keep(Self.definition, of: "b")
    #expect(historian.lists.map(\.name) == ["kept"])
    try historian.recordBlocking()
    #expect(store.projections.first?.historyLists.map(\.firstSequence) == [1])
    #expect(try #require(historian.runs()).runs.allSatisfy { $0.keys.count == 2 })
    // Neither another name nor another table takes its place; a list that no history can hold does.
    historian.keep(StateKeptViewTests.definition("other", .count, calls: .keys), of: "b")
    historian.keep(Self.definition, of: "a")
    #expect(historian.lists.map { "\($0.table) \($0.name)" } == ["b kept", "b other", "a kept"])
    historian.keep(StateKeptViewTests.definition("kept", .count, calls: .filters), of: "b")
    #expect(historian.lists.map { "\($0.table) \($0.name)" } == ["b other", "a kept"])
    try store.closeBlocking()
  }

  @Test func `a reader says which lists the history has that its writer keeps`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let disk = SimulatedDisk()
    let (options, _) = try Self.filled(disk, &random)
    let writer = try StateStore.open(disk, options: options)
    let reader = try StateStore.open(disk, .readOnly, options: StateStore.options())
    #expect(reader.listHistoriesBlocking([Self.view]).map(\.firstSequence) == [nil])
    _ = try writer.recordHistoriesBlocking(keeping: [Self.view])
    #expect(reader.listHistoriesBlocking([Self.view]).map(\.firstSequence) == [1])
    // Once it has asked for the list, its status says so too.
    _ = try reader.statesBlocking(at: [.sequence(9)], Self.folding, view: Self.view)
    #expect(reader.projections.first?.historyLists.map(\.name) == ["kept"])
    try reader.closeBlocking()
    try writer.closeBlocking()
  }

  @Test func `keys that do not fit in memory are sorted in parts, of which no file is left`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns()
    while runs.next() {
      let disk = SimulatedDisk()
      let store = try StateStore.open(disk, options: HistoryStore.keyOptions(&random))
      let files = try #require(store.projector(Self.folding).historian).files
      try files.createFolder()
      let parts = KeyParts(files) {}
      let keys = UnsortedKeys()
      var expected: [[UInt8]: [UInt64]] = [:]
      var sequence: UInt64 = 5
      for _ in 0..<Int.random(in: 0...300, using: &random) {
        let key = (0..<Int.random(in: 1...3, using: &random)).map { _ in
          UInt8.random(in: 0...9, using: &random)
        }
        sequence += 1
        key.withUnsafeBytes { bytes in
          keys.append(bytes, 1, 1, sequence, isBirth: expected[key, default: []].count % 2 == 0)
        }
        expected[key, default: []].append(sequence)
        if Int.random(in: 0..<40, using: &random) == 0 { try keys.spill(to: parts) }
      }
      try keys.end(parts)
      var (record, found) = (KeyRecord(), [([UInt8], [UInt64])]())
      while try keys.next(&record, after: 5) {
        #expect(!record.isAlive && record.sectionLength == 1 && record.idLength == 1)
        found.append((record.key, record.moments))
      }
      let sorted = expected.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      #expect(found.map(\.0) == sorted.map(\.key) && found.map(\.1) == sorted.map(\.value))
      #expect(disk.historyPaths == [])
      try store.closeBlocking()
    }
  }
}
