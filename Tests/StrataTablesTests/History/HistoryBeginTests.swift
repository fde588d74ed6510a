// The states with which the fold of a historian begins and goes on: whichever it is, the history is that of a replay.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct HistoryBeginTests {
  /// What happened to the store of a random history.
  private struct Met {
    var begins = HistoryBegins()
    var erasures = 0
    var damaged = 0
    var crashes = 0
    var events = 0
    /// States of a kept list that were read from runs.
    var lists = 0

    mutating func add(_ other: HistoryBegins) {
      begins.fromSaved += other.fromSaved
      begins.fromRuns += other.fromRuns
      begins.fromPublished += other.fromPublished
      begins.spilledBytes += other.spilledBytes
      begins.spillFiles += other.spillFiles
    }
  }

  /// A store that is opened again and again by processes that each do little.
  private struct Life {
    var disk = SimulatedDisk()
    let folding: Folding
    let options: StoreOptions
    let view: (table: String, definition: ViewDefinition)
    var events: StateEvents
    var met = Met()

    init(_ random: inout SeededGenerator) {
      folding = StateStore.foldings.randomElement(using: &random)!
      var options = HistoryStore.options(&random)
      options.savedFoldingMin = [.zero, .zero, .zero, .seconds(1_000)].randomElement(using: &random)!
      self.options = options
      var table = "b"
      if case .own = folding { table = "tally" }
      let order = KeptPastTests.orders.randomElement(using: &random)!
      view = (table, StateKeptViewTests.definition("kept", order, calls: .none))
      events = StateEvents(seed: random.next())
      events.rowCount = [2, 12, 40].randomElement(using: &random)!
    }

    /// The first difference of what runs hold from a replay, at some sequences.
    mutating func difference(
      _ runs: RunSet, _ store: EventStore, _ random: inout SeededGenerator
    ) throws -> String? {
      let states = try HistoryStore.replayed(store, folding)
      let sequences = HistoryStore.some(of: runs, &random)
      if let difference = try HistoryStore.difference(runs, store, folding, from: states, at: sequences) {
        return difference
      }
      for sequence in sequences {
        guard let state = try KeptPastTests.unread(sequence, store, folding, view) else { continue }
        met.lists += 1
        let difference = try KeptPastTests.difference(state, from: states[Int(sequence)], store, view)
        if let difference { return "the list at \(sequence) of \(runs.end): \(difference)" }
      }
      return nil
    }

    /// One process. Returns a difference from a replay, if there is one.
    mutating func live(_ random: inout SeededGenerator) async throws -> String? {
      let store = try StateStore.open(disk, options: options)
      let projector = store.projector(folding)
      let historian = try #require(projector.historian)
      historian.keep(view.definition, of: view.table)
      for _ in 0..<Int.random(in: 1...10, using: &random) {
        switch Int.random(in: 0..<24, using: &random) {
        case 0..<12: try events.append(to: store)
        case 12..<15: try historian.recordBlocking(writesRest: Bool.random(using: &random))
        case 15..<19: _ = try await projector.state(reaching: store.head.sequence)
        case 19: try store.checkpointBlocking()
        case 20..<23:
          guard let set = historian.runs(through: store.head.sequence) else { continue }
          if let difference = try difference(set, store, &random) { return difference }
        default:
          guard (try? store.eraseBlocking(Erasure(streams: [events.stream()], because: "asked to"))) != nil
          else { continue }
          met.erasures += 1
        }
      }
      // As at a close, before which the background thread often has caught up.
      if Bool.random(using: &random) {
        try historian.recordBlocking(writesRest: Bool.random(using: &random))
        if Bool.random(using: &random) { _ = try await projector.state(reaching: store.head.sequence) }
      }
      if let set = historian.runs(), let difference = try difference(set, store, &random) {
        return difference
      }
      met.add(historian.begins)
      met.events = Int(store.head.sequence)
      guard Int.random(in: 0..<4, using: &random) == 0 else {
        try store.closeBlocking()
        return nil
      }
      let models = [CrashModel.dropAll, .reorder, .garbage, .lossless]
      let after = disk.crash(seed: random.next(), model: models.randomElement(using: &random)!)
      try? store.closeBlocking()
      disk = after
      met.crashes += 1
      return nil
    }

    /// Changes or removes a file of a state.
    mutating func damage(_ random: inout SeededGenerator) {
      guard let path = disk.statePaths.randomElement(using: &random), var bytes = disk.contents(path),
        !bytes.isEmpty
      else { return }
      met.damaged += 1
      guard Bool.random(using: &random) else { return disk.delete(path) }
      let index = Int.random(in: 0..<bytes.count, using: &random)
      for index in index..<min(bytes.count, index + 40) { bytes[index] ^= 0x35 }
      disk.replace(path, bytes)
    }
  }

  @Test
  func `fault 94: a history that begins with saved and goes on with published states is that of the log`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns()
    var met = Met()
    while runs.next() {
      var life = Life(&random)
      for process in 0..<Int.random(in: 2...4, using: &random) {
        let difference = try await life.live(&random)
        #expect(difference == nil, "run \(runs.count), process \(process)")
        if difference != nil { return }
        if Int.random(in: 0..<4, using: &random) == 0 { life.damage(&random) }
      }
      met.add(life.met.begins)
      met.erasures += life.met.erasures
      met.damaged += life.met.damaged
      met.crashes += life.met.crashes
      met.events += life.met.events
      met.lists += life.met.lists
    }
    print("histories: \(met)")
    let count = runs.count
    // Few histories may meet less of this.
    guard count >= 100 else { return }
    #expect(met.begins.fromSaved > count / 8 && met.begins.fromPublished > count / 2, "\(met)")
    #expect(met.begins.fromRuns > count / 8 && met.damaged > count / 8 && met.crashes > count / 4, "\(met)")
    #expect(met.lists > 3 * count, "\(met)")
  }

  // MARK: What is read

  /// Counts the reads of files in two folders.
  private final class Reads: Sendable {
    let counts = Lock((states: 0, histories: 0))

    init(of disk: SimulatedDisk) {
      disk.onOperation { [counts] call in
        guard call.operation == .read else { return .proceed }
        counts.withLock { counts in
          if call.path.hasPrefix(StateStore.layout.states) { counts.states += 1 }
          if call.path.hasPrefix(StateStore.layout.histories) { counts.histories += 1 }
        }
        return .proceed
      }
    }
  }

  private static let rowCount = 3_000

  private static func options() -> StoreOptions {
    var options = StateStore.options()
    options.segmentSizeTarget = 1 << 20
    (options.pageCacheSize, options.unsavedSize) = (0, 4 << 20)
    options.history = .all
    options.runLimits.changeCountMax = 500
    return options
  }

  private static func put(_ ids: Range<Int>, _ text: String, in store: EventStore) throws {
    try store.appendAny(
      ids.map { id in
        NewEvent(
          DocumentEvent.put, in: StreamName(category: "a", id: "row \(id)"),
          payload: EventPayload(["n": .int(Int64(id)), "t": .string(text)]))
      })
  }

  /// A closed store with rows in some hundred pages.
  private static func filled(_ disk: SimulatedDisk) throws {
    let store = try StateStore.open(disk, options: options())
    for first in stride(from: 0, to: rowCount, by: 50) {
      try put(first..<first + 50, String(repeating: "\(first) ", count: 20), in: store)
    }
    try store.projector(StateStore.documents).historian?.recordBlocking()
    try store.checkpointBlocking()
    try store.closeBlocking()
  }

  @Test func `one event after an open is recorded from a few pages of the saved state, and none of all rows`()
    throws
  {
    let disk = SimulatedDisk()
    try Self.filled(disk)
    // No process saves a state, so the last one begins with a state that is two events older than the runs.
    for process in 0..<3 {
      let store = try StateStore.open(disk, options: Self.options())
      let historian = try #require(store.projector(StateStore.documents).historian)
      #expect(historian.runs()?.end == store.head.sequence)
      try Self.put(17 * process..<17 * process + 1, "new", in: store)
      let reads = Reads(of: disk)
      try historian.recordBlocking(writesRest: true)
      disk.onOperation(nil)
      #expect(historian.end == store.head.sequence, "process \(process)")
      #expect(historian.begins == HistoryBegins(fromSaved: 1), "process \(process)")
      let counts = reads.counts.withLock { $0 }
      #expect(counts.states < 25 && counts.histories < 25, "process \(process): \(counts)")
      try store.closeBlocking()
    }
    let store = try StateStore.open(disk, options: Self.options())
    let runs = try #require(store.projector(StateStore.documents).historian?.runs())
    #expect(runs.end == UInt64(Self.rowCount + 3))
    try store.closeBlocking()
  }

  @Test func `fault 93: a process that ends at once writes its events, unless all rows had to be read`()
    throws
  {
    for isSaved in [true, false] {
      let disk = SimulatedDisk()
      try Self.filled(disk)
      if !isSaved { for path in disk.statePaths { disk.delete(path) } }
      let store = try StateStore.open(disk, options: Self.options())
      let projector = store.projector(StateStore.documents)
      let historian = try #require(projector.historian)
      // As when a list is shown. This disk allows no second thread.
      historian.state.withLock { $0.isWanted = true }
      try Self.put(0..<1, "new", in: store)
      let head = store.head.sequence
      try store.closeBlocking()
      #expect(historian.begins == HistoryBegins(fromSaved: isSaved ? 1 : 0))
      let again = try StateStore.open(disk, options: Self.options())
      let runs = try #require(again.projector(StateStore.documents).historian?.runs())
      #expect(runs.end == (isSaved ? head : head - 1))
      try again.closeBlocking()
    }
  }

  // MARK: What is not used

  @Test
  func `fault 94: a saved state is used only where log, erasures and events are those of the runs`()
    throws
  {
    let disk = SimulatedDisk()
    let folding = StateStore.documents
    let store = try StateStore.open(disk, options: Self.options())
    try Self.put(0..<600, "some text", in: store)
    let projector = store.projector(folding)
    let historian = try #require(projector.historian)
    try historian.recordBlocking(writesRest: true)
    let before = try #require(historian.runs())
    try store.eraseBlocking(Erasure(streams: ["a/row 7"], because: "asked to"))
    try store.checkpointBlocking()
    try historian.recordBlocking(writesRest: true)
    let runs = try #require(historian.runs())
    let last = try #require(try historian.files.manifest()?.runs.last)

    func made(_ runs: RunSet, _ last: ManifestRun) throws -> (isOfSaved: Bool, tables: TableSet) {
      let begin = HistoryBegin(store.log, folding, runs, last, historian.savedStates())
      while true {
        if let made = try begin.resume(TimeSlice()) { return (made.checkpoints != nil, made.tables) }
      }
    }
    let good = try made(runs, last)
    #expect(good.isOfSaved && good.tables.sequence == runs.end && good.tables.chain == last.chain)
    #expect(good.tables.hasSameContent(as: try runs.tables(at: runs.end, recordsTouches: false)))
    var other = last
    other.chain ^= 1
    #expect(try !made(runs, other).isOfSaved)
    other = last
    other.appends += 1
    #expect(try !made(runs, other).isOfSaved)
    // Nothing of what was erased is in the runs, or so they say.
    #expect(before.erasures != runs.erasures)
    #expect(try !made(RunSet(runs.runs, before.erasures, head: runs.head), last).isOfSaved)
    // The state is newer than the runs.
    try Self.put(0..<1, "other text", in: store)
    try store.checkpointBlocking()
    try Self.put(0..<1, "and another", in: store)
    try store.checkpointBlocking()
    let old = try made(runs, last)
    #expect(!old.isOfSaved && old.tables.sequence == runs.end)
    try store.closeBlocking()
  }

  @Test
  func `fault 94: a published state is gone on with only where log and erasures are those of the runs`()
    throws
  {
    let store = try StateStore.open(SimulatedDisk(), options: Self.options())
    let folding = StateStore.documents
    let historian = try #require(store.projector(folding).historian)
    let none = try store.log.erasures()
    try Self.put(0..<600, "some text", in: store)
    try store.eraseBlocking(Erasure(streams: ["a/row 7"], because: "asked to"))
    try historian.recordBlocking()

    func goesOn(_ change: (inout PublishedState) -> Void) throws -> Bool {
      try Self.put(0..<1, "text \(store.head.sequence)", in: store)
      let fold = Fold(store.log, folding, marksErasures: true)
      try fold.run(through: store.head.sequence)
      try fold.findChain()
      var published = PublishedState(
        tables: fold.state, erasures: try #require(fold.erasures), head: fold.headAtBegin)
      change(&published)
      historian.notePublished(published)
      let before = historian.begins.fromPublished
      try historian.recordBlocking()
      return historian.begins.fromPublished > before
    }
    #expect(try !goesOn { $0.erasures = none })
    #expect(try !goesOn { $0.tables.chain = 1 })
    // After a state of another content, only the next run's begin is a reason to look for one.
    #expect(try !goesOn { $0.tables.failures.add(1, "of another state") })
    #expect(try !goesOn { _ in })
    try Self.put(0..<600, "other text", in: store)
    try historian.recordBlocking()
    #expect(try goesOn { _ in })
    try store.closeBlocking()
  }
}
