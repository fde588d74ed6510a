// Power cuts, readers and forged manifests while the front of a history goes.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct RetentionFaultTests {
  private static let folding = StateStore.documents
  /// A list whose keys the history has.
  private static let list = ("b", StateKeptViewTests.definition("kept", calls: .keys))

  private static func options(seconds: Int64 = 8) -> StoreOptions {
    var options = StateStore.options()
    options.savesStates = false
    options.fullDiskPause = .zero
    options.history = .last(nanoseconds: seconds * 1_000_000_000, bytes: nil)
    options.runLimits.changeCountMax = 4
    options.runLimits.laggingCount = 1
    options.runLimits.mergedCount = 3
    options.runLimits.baseChangeCountMin = 60
    options.runLimits.pageLength = 150
    return options
  }

  /// A store to which events are appended also where a disk calls back.
  private final class Writer: @unchecked Sendable {
    // Sendable because a test calls one method after the other.
    let store: EventStore
    private var events: StateEvents

    init(_ disk: SimulatedDisk, seed: UInt64) throws {
      (store, events) = try RetentionFaultTests.filled(disk, seed: seed)
    }

    func resume() throws {
      for _ in 0..<8 { try events.append(to: store) }
      try store.projector(RetentionFaultTests.folding).historian!.recordBlocking()
    }
  }

  private static func filled(_ disk: SimulatedDisk, seed: UInt64) throws -> (EventStore, StateEvents) {
    let store = try StateStore.open(disk, options: options())
    store.projector(folding).historian!.keep(list.1, of: list.0)
    var events = StateEvents(seed: seed)
    events.rowCount = 3
    for _ in 0..<24 { try events.append(to: store) }
    try store.projector(folding).historian!.recordBlocking()
    for _ in 0..<12 { try events.append(to: store) }
    return (store, events)
  }

  /// The first difference of the list from replays, where the history answers about it.
  private static func differenceOfList(
    _ runs: RunSet, _ store: EventStore, _ random: inout SeededGenerator
  ) throws -> String? {
    let points = [runs.begin + 1, UInt64.random(in: runs.begin + 1...runs.end, using: &random), runs.end]
    return try KeptPastTests.difference(of: list, at: points, store, folding, &random)
  }

  @Test
  func `fault 86: after a power cut at any call while the front of a history goes the answers are right`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var (olds, news) = (0, 0)
    while runs.isShort {
      let seed = random.next()
      let counted = SimulatedDisk()
      var (store, _) = try Self.filled(counted, seed: seed)
      let before = store.projector(Self.folding).historian!.runs()?.begin ?? 0
      let count = try counted.changeCount { try store.projector(Self.folding).historian!.recordBlocking() }
      let after = store.projector(Self.folding).historian!.runs()?.begin ?? 0
      guard before < after else { continue }
      for change in 1...count {
        let disk = SimulatedDisk()
        (store, _) = try Self.filled(disk, seed: seed)
        disk.cutPower(atChange: change)
        try? store.projector(Self.folding).historian!.recordBlocking()
        #expect(disk.isPoweredOff)
        let model = CrashModel.allCases.randomElement(using: &random)!
        runs.add()
        let what = "seed \(seed), change \(change), \(model)"
        let crashed = disk.crash(seed: random.next(), model: model)
        let again = try StateStore.open(crashed, options: Self.options())
        let historian = again.projector(Self.folding).historian!
        historian.keep(Self.list.1, of: Self.list.0)
        if let found = historian.runs() {
          if found.begin <= before { olds += 1 } else { news += 1 }
          #expect(try HistoryStore.difference(found, again, Self.folding) == nil, "\(what)")
          #expect(try Self.differenceOfList(found, again, &random) == nil, "\(what)")
        } else {
          #expect(model == .garbage, "\(what): what was written before is lost")
        }
        try historian.recordBlocking()
        let made = try #require(historian.runs())
        #expect(try HistoryStore.difference(made, again, Self.folding) == nil, "\(what)")
        #expect(try Self.differenceOfList(made, again, &random) == nil, "\(what)")
        #expect(made.begin > 0 && made.end + 40 > again.head.sequence, "\(what)")
        try again.closeBlocking()
      }
    }
    #expect(olds > 0 && news > 0, "\(olds), \(news)")
  }

  @Test func `fault 87: a reader during any of whose calls the front goes answers right`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var (calls, went) = (0, 0)
    while runs.isShort {
      let seed = random.next()
      for number in 1...200 {
        runs.add()
        let disk = SimulatedDisk()
        let writer = try Writer(disk, seed: seed)
        let reader = try StateStore.open(disk, .readOnly, options: StateStore.options())
        let history = try #require(reader.kept(Self.folding).reading)
        let begin = try #require(writer.store.projector(Self.folding).historian!.runs()).begin
        // Every other time it knows the runs that go.
        let held = number % 2 == 0 ? history.runs() : nil
        let step = disk.during(call: number) { try writer.resume() }
        let found = history.runs()
        disk.onOperation(nil)
        #expect(step.failure == nil && found != nil, "seed \(seed), call \(number)")
        for set in [held, found, history.runs()].compactMap(\.self) {
          let difference = try HistoryStore.difference(set, reader, Self.folding)
          #expect(difference == nil, "seed \(seed), call \(number)")
        }
        let now = try #require(history.runs())
        #expect(try Self.differenceOfList(now, reader, &random) == nil, "seed \(seed), call \(number)")
        if step.isDue, now.begin > begin { went += 1 }
        try reader.closeBlocking()
        try writer.store.closeBlocking()
        guard step.isDue else { break }
        calls += 1
      }
    }
    #expect(calls > runs.count / 2 && went > calls / 2, "\(calls), \(went)")
  }

  @Test func `fault 88: runs whose first one needs others that are not there are used by nobody`() throws {
    let disk = SimulatedDisk()
    var options = Self.options()
    options.history = .continued
    options.runLimits.mergedCount = 100
    options.runLimits.baseChangeCountMin = .max
    let store = try StateStore.open(disk, options: options)
    var events = StateEvents(seed: 5)
    for _ in 0..<30 { try events.append(to: store) }
    try store.projector(Self.folding).historian!.recordBlocking()
    let count = try #require(store.projector(Self.folding).historian!.runs()).runs.count
    #expect(count > 4)
    try store.closeBlocking()
    let path = disk.historyPaths.first { $0.hasSuffix(StoreLayout.manifestFile) }!
    let good = try #require(HistoryManifest(decoding: disk.contents(path)!))
    for first in 1..<count {
      let disk = disk.clone()
      var manifest = good
      manifest.runs.removeFirst(first)
      disk.replace(path, manifest.encoded())
      let reader = try StateStore.open(disk, .readOnly, options: StateStore.options())
      #expect(reader.kept(Self.folding).reading?.runs() == nil, "from run \(first) on")
      let again = try StateStore.open(disk, options: options)
      let historian = again.projector(Self.folding).historian!
      #expect(historian.runs() == nil, "from run \(first) on")
      try historian.recordBlocking()
      #expect(try HistoryStore.difference(try #require(historian.runs()), again, Self.folding) == nil)
      try reader.closeBlocking()
      try again.closeBlocking()
    }
  }
}
