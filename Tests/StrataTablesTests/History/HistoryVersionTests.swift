// The histories of a projection whose version was raised: the new version has its own, and those of lower ones go.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// Counts the events of each stream.
private struct CountProjection: Projection {
  static let name = "counts"
  static let version = 1

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    try Self.count(event, by: 1, &tables)
  }

  static func count(_ event: RecordedEvent, by step: Int, _ tables: inout ProjectionTables) throws {
    let id = event.stream.text
    let known = tables[TallyProjection.rows, id]?.count ?? 0
    tables[TallyProjection.rows, id] = TallyProjection.Row(id: id, count: known + step, text: "")
  }
}

/// A later version of it, which makes other rows of the same events.
private struct NewCountProjection: Projection {
  static let name = CountProjection.name
  static let version = 2

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    try CountProjection.count(event, by: 100, &tables)
  }
}

@Suite struct HistoryVersionTests {
  private static let old = Folding.own(CountProjection())
  private static let new = Folding.own(NewCountProjection())

  private static func options() -> StoreOptions {
    var options = StateStore.options()
    options.history = .all
    options.savesStates = false
    options.runLimits.changeCountMax = 4
    options.runLimits.laggingCount = 1
    // Runs that stay as many as they were written.
    options.runLimits.mergedCount = 100
    options.runLimits.baseChangeCountMin = .max
    return options
  }

  /// Opens the store, appends, and keeps the histories of some projections.
  private static func record(_ disk: SimulatedDisk, _ foldings: [Folding]) throws {
    let store = try StateStore.open(disk, options: options())
    for folding in foldings { _ = store.projector(folding) }
    for number in 0..<20 { try store.put("\(number % 6)", ["n": .int(Int64(number))]) }
    for folding in foldings {
      let historian = try #require(store.projector(folding).historian)
      try historian.recordBlocking(writesRest: true)
      let runs = try #require(historian.runs())
      #expect(runs.firstSequence == 1 && runs.end == store.head.sequence)
      #expect(try HistoryStore.difference(runs, store, folding) == nil)
    }
    try store.closeBlocking()
  }

  private static func files(_ disk: SimulatedDisk, of folding: Folding) -> [String] {
    disk.historyPaths.filter { $0.hasPrefix("\(StateStore.layout.histories)/\(StateName(folding)!.folder)/") }
  }

  @Test
  func
    `fault 69: a version that was raised has a history of its own from the first event on, and the old one goes`()
    throws
  {
    let disk = SimulatedDisk()
    try Self.record(disk, [Self.old])
    #expect(Self.files(disk, of: Self.old).count > 2)
    // Nothing of the lower version is read as this one's, and nothing is removed before this one has a run.
    let store = try StateStore.open(disk, options: Self.options())
    let historian = try #require(store.projector(Self.new).historian)
    #expect(historian.runs() == nil)
    for sequence in [UInt64(1), 9, 20] {
      let state = try store.statesBlocking(at: [.sequence(sequence)], Self.new)[0]
      let fold = Fold(store.log, Self.new)
      try fold.run(through: sequence)
      let expected = try StateAnswers(fold.state, of: store)
      #expect(try StateAnswers(state, of: store).difference(from: expected) == nil, "at \(sequence)")
    }
    #expect(Self.files(disk, of: Self.old).count > 2)
    // The close writes a run.
    try store.closeBlocking()
    #expect(Self.files(disk, of: Self.old) == [] && Self.files(disk, of: Self.new).count > 1)
    try Self.record(disk, [Self.new])
    #expect(Self.files(disk, of: Self.old) == [] && Self.files(disk, of: Self.new).count > 2)
  }

  @Test func `fault 69: a lower version leaves the history of a higher one alone`() throws {
    let disk = SimulatedDisk()
    try Self.record(disk, [Self.new])
    let before = Self.files(disk, of: Self.new).map { ($0, disk.contents($0)) }
    try Self.record(disk, [Self.old])
    let after = Self.files(disk, of: Self.new).map { ($0, disk.contents($0)) }
    #expect(before.count > 2 && before.elementsEqual(after, by: ==))
    #expect(Self.files(disk, of: Self.old).count > 2)
    // The newer program goes on with what it has, and that has been its own all the time.
    try Self.record(disk, [Self.new])
    let runs = before.filter { !$0.0.hasSuffix(StoreLayout.manifestFile) }
    #expect(runs.count > 1 && runs.allSatisfy { disk.contents($0.0) == $0.1 })
  }

  @Test func `fault 69: a program that uses two versions keeps the histories of both, as long as it does`()
    throws
  {
    let disk = SimulatedDisk()
    try Self.record(disk, [Self.old, Self.new])
    #expect(Self.files(disk, of: Self.old).count > 2 && Self.files(disk, of: Self.new).count > 2)
    try Self.record(disk, [Self.new, Self.old])
    #expect(Self.files(disk, of: Self.old).count > 2 && Self.files(disk, of: Self.new).count > 2)
    // The first process that uses the newer one alone removes the other, although its own history is there already.
    try Self.record(disk, [Self.new])
    #expect(Self.files(disk, of: Self.old) == [] && Self.files(disk, of: Self.new).count > 2)
  }

  @Test func `fault 69: a process that lost the lock removes no history of a lower version`() throws {
    let disk = SimulatedDisk()
    try Self.record(disk, [Self.old])
    let old = Self.files(disk, of: Self.old).map { ($0, disk.contents($0)) }
    let store = try StateStore.open(disk, options: Self.options())
    let historian = try #require(store.projector(Self.new).historian)
    let folder = "\(StateStore.layout.histories)/\(StateName(Self.new)!.folder)/"
    let isGone = Lock(false)
    disk.onOperation { call in
      // What follows the manifest of the new version's first run is the removal.
      let isFirst =
        call.operation == .rename && call.path.hasPrefix(folder)
        && isGone.withLock { gone in
          defer { gone = true }
          return !gone
        }
      if isFirst { disk.delete(StateStore.layout.lock) }
      return .proceed
    }
    try? historian.recordBlocking(writesRest: true)
    disk.onOperation(nil)
    #expect(isGone.withLock { $0 })
    let after = Self.files(disk, of: Self.old).map { ($0, disk.contents($0)) }
    #expect(old.elementsEqual(after, by: ==), "another writer may be using them")
    try? store.closeBlocking()
  }
}
