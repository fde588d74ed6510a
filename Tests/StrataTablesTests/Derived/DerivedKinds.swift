// The kinds of derived data: saved states, and histories.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

struct SavedStates: DerivedKind {
  let name = "state"
  let headFile = StoreLayout.stateFile
  // STATE has two slots.
  let writeCountKept = 2
  let damageStep = 3
  let readsEveryByte = false
  let oracleCommand = "states"
  let savesLists = true

  func dataFile(_ number: UInt32) -> String { StoreLayout.pageFileName(number) }
  func options() -> StoreOptions { StateStore.options() }
  func begin(_ store: EventStore, _ folding: Folding) { _ = store.projector(folding) }

  func write(_ store: EventStore, _ folding: Folding) throws {
    _ = try store.projector(folding).save(isForced: true)
  }

  func expected(_ store: EventStore, _ folding: Folding) throws -> [UInt64: StateAnswers] {
    let answers = try StateAnswers(folding: folding, of: store)
    return [answers.sequence: answers]
  }

  func read(
    _ store: EventStore, _ folding: Folding, _ expected: [UInt64: StateAnswers]?
  ) throws -> DerivedReading {
    let projector = Projector(store.log, folding)
    let fold = projector.currentFold()
    var reading = DerivedReading(end: fold.state.sequence)
    try fold.run(through: .max)
    let answers = try StateAnswers(fold.state, of: store)
    let known = try expected ?? self.expected(store, folding)
    reading.difference = try answers.difference(from: #require(known[answers.sequence]))
    reading.lostCount = projector.checkpoints?.faults.count ?? 0
    return reading
  }

  func state(_ store: EventStore, _ folding: Folding) async throws -> TableSet {
    try await store.projector(folding).state(reaching: store.head.sequence)
  }

  func difference(_ store: EventStore, _ folding: Folding) async throws -> String? {
    try await store.difference(of: folding)
  }

  func findings(_ log: Log) throws -> [StoreFinding] { try StateVerifier(log).run() }
}

/// Rows, and the keys of lists.
struct Histories: DerivedKind {
  let name = "history"
  let headFile = StoreLayout.manifestFile
  let writeCountKept = 1
  let damageStep = 23
  let readsEveryByte = true
  let oracleCommand = "histories"
  let savesLists = false

  private static let table = "b"
  /// Sections by values of their items, which a history has as keys, too.
  private static let list = StateKeptViewTests.definition(
    "greatest", StateKeptViewTests.orders[7].1, calls: .keys)

  func dataFile(_ number: UInt32) -> String { StoreLayout.runFileName(number) }

  func options() -> StoreOptions {
    var options = StateStore.options()
    options.savesStates = false
    options.history = .all
    options.runLimits.changeCountMax = 6
    options.runLimits.laggingCount = 1
    options.runLimits.mergedCount = 2
    options.runLimits.baseChangeCountMin = 24
    options.runLimits.mergedVersionCountMax = 0
    options.runLimits.pageLength = 150
    options.runLimits.largeLength = 120
    options.runLimits.wholeInterval = 3
    options.runLimits.keyCountMax = 2
    options.runLimits.groupKeyCountMax = 5
    options.runLimits.directoryPageCountMin = 2
    options.runLimits.chunkChangeCountMin = 3
    return options
  }

  func options(_ random: inout SeededGenerator) -> StoreOptions {
    var options = HistoryStore.keyOptions(&random)
    options.savesStates = false
    options.runLimits.laggingCount = 1
    return options
  }

  private func isListed(_ folding: Folding) -> Bool { StateName(folding) == StateName(StateStore.documents) }

  func begin(_ store: EventStore, _ folding: Folding) {
    if isListed(folding) { store.kept(folding).history?.keep(Self.list, of: Self.table) }
  }

  func write(_ store: EventStore, _ folding: Folding) throws {
    try store.projector(folding).historian?.recordBlocking(writesRest: true)
  }

  func expected(_ store: EventStore, _ folding: Folding) throws -> [UInt64: StateAnswers] {
    var answers: [UInt64: StateAnswers] = [:]
    for state in try HistoryStore.replayed(store, folding) {
      answers[state.sequence] = try StateAnswers(state, of: store)
    }
    return answers
  }

  func read(
    _ store: EventStore, _ folding: Folding, _ expected: [UInt64: StateAnswers]?
  ) throws -> DerivedReading {
    let history: (any KeptHistory)? =
      store.log.isReadOnly ? HistoryReader(store.log, folding) : Historian(store.log, folding)
    guard let runs = history?.runs() else { return DerivedReading() }
    var reading = DerivedReading(end: runs.end)
    // What tables do not need: the filters, and the keys.
    for run in runs.runs where (try? run.mayContain(1)) == nil { reading.lostCount += 1 }
    readKeys(runs, &reading)
    let known = try expected ?? self.expected(store, folding)
    for sequence in HistoryStore.all(of: runs) {
      guard let set = try? runs.tables(at: sequence, recordsTouches: folding.recordsTouches) else {
        reading.lostCount += 1
        continue
      }
      let difference = try StateAnswers(set, of: store).difference(from: #require(known[sequence]))
      reading.difference = reading.difference ?? difference.map { "at \(sequence): \($0)" }
    }
    return reading
  }

  /// Reads all keys. What can be read agrees with its own counts at every event.
  private func readKeys(_ runs: RunSet, _ reading: inout DerivedReading) {
    for run in runs.runs {
      for owner in run.keys.map(KeyOwner.init(known:)) {
        for kind in owner.kinds {
          do {
            guard let set = try run.keySet(kind, of: owner) else { continue }
            var (cursor, records): (KeyRecordCursor, [KeyRecord]) = (KeyRecordCursor(set), [])
            while try cursor.next() { records.append(cursor.record()) }
            for sequence in run.root.begin...run.root.end {
              let total = try set.groupCounts(at: sequence)?.before.last ?? 0
              let ofSections = try set.sectionCounts(at: sequence).counts.reduce(0, +)
              var alive: Int64 = 0
              for record in records {
                if record.isAlive != (record.moments.count { $0 <= sequence } % 2 == 1) { alive += 1 }
                if !run.root.isBase, record.isAlive { alive -= 1 }
              }
              guard alive == total, alive == ofSections || !kind.hasSections else {
                reading.difference = reading.difference ?? "\(kind) of run \(run.number) at \(sequence)"
                continue
              }
            }
          } catch { reading.lostCount += 1 }
        }
      }
    }
  }

  func state(_ store: EventStore, _ folding: Folding) async throws -> TableSet {
    let end = store.kept(folding).history?.runs()?.end ?? store.head.sequence
    return try #require(try store.statesBlocking(at: [.sequence(end)], folding).first)
  }

  func difference(_ store: EventStore, _ folding: Folding) async throws -> String? {
    let replayed = try HistoryStore.replayed(store, folding)
    let points = Set([1, store.head.sequence / 2, store.head.sequence].filter { $0 > 0 }).sorted()
    let states = try store.statesBlocking(at: points.map { .sequence($0) }, folding)
    guard states.count == points.count else { return "states are missing" }
    for (sequence, state) in zip(points, states) {
      let expected = try StateAnswers(replayed[Int(sequence)], of: store)
      if let difference = try StateAnswers(state, of: store).difference(from: expected) {
        return "at \(sequence): \(difference)"
      }
    }
    let history = store.kept(folding).history
    guard let history, let runs = history.runs() else { return nil }
    do {
      if let difference = try HistoryStore.difference(runs, store, folding, from: replayed) {
        return difference
      }
      guard isListed(folding), (history as? Historian)?.state.withLock({ !$0.mayLackKeys }) ?? false else {
        return nil
      }
      var random = SeededGenerator(seed: runs.end)
      let list = (Self.table, Self.list)
      return try KeptPastTests.difference(
        of: list, at: [runs.begin + 1, runs.end / 2 + 1, runs.end], store, folding, &random)
    } catch is PageDamage {
      // As a read does that comes across it.
      noteDamage(store, folding)
      return nil
    }
  }

  func noteDamage(_ store: EventStore, _ folding: Folding) {
    guard let history = store.kept(folding).history, let runs = history.runs() else { return }
    history.noteDamage(in: runs)
  }

  func findings(_ log: Log) throws -> [StoreFinding] { try HistoryVerifier(log).run() }
}
