// Random histories: what runs answer is what a replay of the log answers.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct HistoryLawTests {
  /// A store with random events, and the runs of one projection.
  private struct Past {
    let store: EventStore
    let folding: Folding
    let historian: Historian
    let runs: RunSet

    init(_ random: inout SeededGenerator) throws {
      let disk = SimulatedDisk()
      store = try StateStore.open(disk, options: HistoryStore.options(&random))
      folding = StateStore.foldings.randomElement(using: &random)!
      historian = try #require(Historian(store.log, folding))
      var events = StateEvents(seed: random.next())
      events.rowCount = [2, 12, 40].randomElement(using: &random)!
      for _ in 0..<HistoryStore.appendCount(&random) {
        try events.append(to: store)
        if Int.random(in: 0..<4, using: &random) == 0 { try historian.recordBlocking() }
      }
      repeat {
        try events.append(to: store)
        try historian.recordBlocking()
      } while historian.runs() == nil
      runs = try #require(historian.runs())
    }
  }

  @Test func `the state at every sequence is that of a replay`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var met = HistoryStore.Met()
    let runs = StateRuns()
    while runs.next() {
      let past = try Past(&random)
      let difference = try HistoryStore.difference(
        past.runs, past.store, past.folding, at: HistoryStore.all(of: past.runs))
      #expect(difference == nil, "run \(runs.count)")
      if difference != nil { return }
      met.add(past.runs)
      try past.store.closeBlocking()
    }
    // Few histories may happen to have no base, or nothing merged.
    guard runs.count >= 20 else { return }
    #expect(
      met.states > 10 * runs.count && met.bases > runs.count / 25 && met.merged > runs.count / 10, "\(met)")
  }

  @Test func `a row at a sequence, and all its versions, are those of a replay`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var versionCount = 0
    while runs.next() {
      let past = try Past(&random)
      let set = past.runs
      let states = try HistoryStore.replayed(past.store, past.folding).map(HistoryStore.rows)
      var keys: Set<[UInt8]> = []
      for (name, rows) in states.joined() {
        guard let number = set.number(ofTable: name) else { continue }
        for id in rows.keys { keys.insert(id.withUnsafeBytes { RunKey.make(number, $0) }) }
      }
      for key in keys {
        let name = set.tables[Int(key.withUnsafeBytes { RunKey.table($0) })].name
        let id = Array(key[RunKey.tableLength...])
        var expected: [(sequence: UInt64, row: HistoryStore.Row?)] = []
        for sequence in 1..<set.end + 1 {
          let row = states[Int(sequence)][name]?[id]
          let found = try set.version(of: key, at: sequence)
          let made = found.flatMap { version, bytes -> HistoryStore.Row? in
            if version.kind == .gone { return nil }
            let isProblem = version.kind == .problem
            return HistoryStore.Row(
              kind: version.kind, sequence: isProblem ? 0 : version.sequence,
              created: isProblem ? 0 : version.created, bytes: bytes)
          }
          #expect(made == row, "run \(runs.count), \(name)/\(id) at \(sequence)")
          if row != (states[Int(sequence) - 1][name]?[id]) { expected.append((sequence, row)) }
        }
        let versions = try set.versions(of: key)
        #expect(versions.map(\.version.sequence) == expected.map(\.sequence), "run \(runs.count)")
        for (version, row) in zip(versions, expected) {
          #expect(version.bytes == row.row?.bytes ?? [] && version.version.kind == row.row?.kind ?? .gone)
        }
        versionCount += versions.count
      }
      #expect(try set.version(of: [0, 0, 0, 0, 7, 7, 7], at: set.end) == nil)
      try past.store.closeBlocking()
    }
    #expect(versionCount > runs.count * 10)
  }

  @Test func `the rows that changed between two sequences are those that differ`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns()
    while runs.next() {
      let past = try Past(&random)
      let set = past.runs
      let states = try HistoryStore.replayed(past.store, past.folding).map(HistoryStore.rows)
      for _ in 0..<20 {
        let last = UInt64.random(in: 0...set.end, using: &random)
        let first = UInt64.random(in: 0...last, using: &random)
        var expected: Set<[UInt8]> = []
        for table in set.tables {
          let (old, new) = (states[Int(first)][table.name] ?? [:], states[Int(last)][table.name] ?? [:])
          for id in Set(old.keys).union(new.keys) where old[id] != new[id] {
            expected.insert(id.withUnsafeBytes { RunKey.make(table.number, $0) })
          }
        }
        let keys = try set.changedKeys(after: first, through: last)
        #expect(Set(keys).isSuperset(of: expected), "run \(runs.count), from \(first) to \(last)")
        // Each once, and of no row that no event was about: one that is the same came back to what it was.
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
        for key in Set(keys).subtracting(expected) {
          let versions = try set.versions(of: key).map(\.version)
          #expect(versions.contains { $0.sequence > first && $0.sequence <= last })
        }
      }
      try past.store.closeBlocking()
    }
  }
}
