// Work that gives up its thread after every event, inside of one append: no event is decoded again when it goes on.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct SlicedFoldTests {
  private static let count = 400
  private static let documents = Folding.documents(only: nil)
  private static let rows = Folding.own(GatedProjection())
  private static let foldings = [documents, rows, .touching(documents), StateStore.tally]

  private static func options(_ threads: FairThreads) -> StoreOptions {
    var options = StoreOptions()
    (options.machine.folds, options.machine.follows, options.machine.past) = (threads, threads, threads)
    options.sealsInBackground = false
    return options
  }

  private static func events(_ numbers: Range<Int>) -> [NewEvent] {
    numbers.map { NewEvent(DocumentEvent.put, in: "page/\($0 % 50)", ["n": .int(Int64($0))]) }
  }

  /// A store with one append of many events.
  private static func store(
    _ threads: FairThreads, _ change: (inout StoreOptions) -> Void = { _ in }
  ) throws -> EventStore {
    var options = options(threads)
    change(&options)
    let store = EventStore.inMemory(options: options)
    try store.appendBlocking(events(0..<count))
    return store
  }

  /// A slice that is always over.
  private static var over: TimeSlice {
    let slice = TimeSlice()
    slice.setWanted(false)
    return slice
  }

  /// Counts the events that some work decodes, which are to be no more than its events and its slices.
  private static func expectOnce(
    _ store: EventStore, _ crowd: CrowdedThreads? = nil, events: Int = count, _ body: () async throws -> Int
  ) async throws {
    let (decoded, turns) = (store.log.foldedEvents.count, crowd?.turnCount ?? 0)
    let known = try await body()
    let slices = crowd.map { $0.turnCount - turns } ?? known
    // The crowd misses turns while its thread gets no processor. An append that is decoded again at each stop would cost
    // half of its events each time, so that a tenth of the stops is more than enough to see it.
    #expect(slices * 10 >= events, "the work was stopped only \(slices) times in \(events) events")
    #expect(store.log.foldedEvents.count - decoded <= UInt64(events + min(slices, events)))
  }

  @Test func `fault 118: folds that share threads decode an append once for each, whoever waits`()
    async throws
  {
    let crowd = CrowdedThreads()
    let store = try Self.store(crowd.threads)
    try await Self.expectOnce(store, crowd, events: Self.foldings.count * Self.count) {
      try await withThrowingTaskGroup(of: UInt64.self) { group in
        // Three reads of each at once, as of a program that begins.
        for folding in Self.foldings + Self.foldings + Self.foldings {
          group.addTask { try await store.projector(folding).state(reaching: .max).sequence }
        }
        for try await sequence in group { #expect(sequence == UInt64(Self.count)) }
      }
      return 0
    }
  }

  @Test func `fault 118: reads at past points decode an append once, whatever they stop at`() async throws {
    let crowd = CrowdedThreads()
    let store = try Self.store(crowd.threads)
    for folding in Self.foldings {
      try await Self.expectOnce(store, crowd) {
        let points = [100, 250, 399, 400].map { LogPoint.sequence($0) }
        let states = try await store.states(at: points, folding)
        #expect(states.map(\.sequence) == [100, 250, 399, 400])
        for state in states {
          let expected = try Self.stateHash(at: state.sequence, folding)
          #expect(state.stateHash == expected)
        }
        return 0
      }
    }
  }

  /// What another store makes of the same events in one go.
  private static func stateHash(at sequence: UInt64, _ folding: Folding) throws -> UInt64 {
    let other = EventStore.inMemory()
    try other.appendBlocking(Self.events(0..<count))
    let fold = Fold(other.log, folding)
    try fold.run(through: sequence)
    return fold.state.stateHash
  }

  @Test func `fault 118: a walk from event to event of an append decodes it once`() async throws {
    let store = try Self.store(FairThreads(name: "walk"))
    let view = StateKeptViewTests.definition(nil, StateKeptViewTests.orders[0].1, calls: .filters)
    let past = PastStates(store, Self.documents, view: ("page", view))
    try await Self.expectOnce(store) {
      for sequence in 1...UInt64(Self.count) {
        let state = try past.state(at: sequence)
        #expect(state.sequence == sequence)
      }
      return Self.count
    }
  }

  @Test func `fault 118: the history of a projection's row decodes an append once`() async throws {
    let crowd = CrowdedThreads()
    let store = try Self.store(crowd.threads)
    let table = store.table(GatedProjection.rows, of: GatedProjection())
    try await Self.expectOnce(store, crowd) {
      let versions = try await table.history(of: "200")
      #expect(versions.map(\.sequence) == [200])
      return 0
    }
  }

  @Test
  func `fault 118: a fold that begins again after an erasure decodes an append once more, not more often`()
    async throws
  {
    let store = try Self.store(FairThreads(name: "erased"))
    for folding in Self.foldings {
      let fold = Fold(store.log, folding)
      while try !fold.run(through: 100, Self.over) {}
      try store.eraseBlocking(Erasure(streams: ["page/3"], because: "asked to"))
      let head = Int(store.head.sequence)
      // What was read before an erasure is read again after it: up to the note, from the begin, and what follows.
      try await Self.expectOnce(store, events: 2 * head - 100) {
        var slices = 1
        while try !fold.run(through: UInt64(head), Self.over) { slices += 1 }
        #expect(fold.state.sequence == UInt64(head) && fold.restartCount == 1)
        return slices
      }
    }
  }

  @Test func `fault 118: states at the ends of appends are taken from a block that is walked once`()
    async throws
  {
    let store = try EventStore.open(
      SimulatedDisk(), path: "/store", .readWrite, options: Self.options(FairThreads(name: "appends")))
    for number in 0..<80 { try store.appendBlocking(Self.events(number..<number + 5)) }
    try store.sealBlocking()
    let fold = Fold(store.log, Self.documents)
    try await Self.expectOnce(store) {
      var (slices, ends) = (0, [UInt64]())
      while fold.state.sequence < 400 {
        slices += 1
        ends += try fold.statesByAppend(through: .max, countMax: 1, Self.over)?.map(\.sequence) ?? []
      }
      #expect(ends == (1...80).map { 5 * $0 })
      return slices
    }
  }

  @Test func `fault 118: the fold of a history decodes an append once`() async throws {
    for folding in Self.foldings {
      let store = try Self.store(FairThreads(name: "history")) { options in
        options.history = .all
        options.runLimits.stepTime = .zero
      }
      let historian = try #require(store.projector(folding).historian)
      try await Self.expectOnce(store) {
        let slices = Lock(0)
        try historian.recordBlocking(writesRest: true) { _ in slices.withLock { $0 += 1 } }
        return slices.withLock { $0 }
      }
      #expect(historian.end == UInt64(Self.count))
    }
  }

  @Test
  func `fault 118: a fold whose rows are on disk decodes an append once for them, and once to apply it`()
    async throws
  {
    let disk = MemoryFileSystem()
    try await LazyStateTests.saveLarge(disk)
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: LazyStateTests.options())
    let events = (0..<2_500).map { number in
      NewEvent(DocumentEvent.put, in: "row/row \(number)", ["n": .int(Int64(number % 20))])
    }
    try store.appendBlocking(events)
    let fold = Fold.resuming(store.log, Self.documents)
    #expect(fold.state.sequence == 3_000)
    try await Self.expectOnce(store, events: 2 * 2_500) {
      var slices = 2_500
      while try !fold.run(through: .max, Self.over) { slices += 1 }
      return slices
    }
    try LazyStateTests.compare(fold.state, store)
    try await store.close()
  }
}
