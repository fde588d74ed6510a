// States that are visited one after the other, in any order: whatever way is taken to one, it is that of a replay.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct PastStatesTests {
  /// Costs with which each of the ways is taken, whatever the numbers of events and rows are.
  static let costs: [PastCosts] = {
    var (steps, wholes, replays) = (PastCosts(), PastCosts(), PastCosts())
    (steps.change, steps.version) = (0, 1e9)
    (wholes.change, wholes.version, wholes.row) = (1e9, 0, 0)
    (replays.change, replays.version) = (1e9, 1e9)
    var unread = PastCosts()
    unread.unread = 0
    (steps.unread, wholes.unread) = (0, 0)
    return [PastCosts(), steps, steps, wholes, replays, unread]
  }()

  /// A store with a history in tiny runs, and a walk through its past.
  private struct Walk {
    let store: EventStore
    let folding: Folding
    let table: String
    let definition: ViewDefinition
    let past: PastStates
    private var events: StateEvents
    private(set) var expected: [TableSet] = []
    private(set) var met: (steps: Int, backwards: Int) = (0, 0)
    private var last: UInt64 = 0

    init(
      _ disk: SimulatedDisk, _ random: inout SeededGenerator, _ folding: Folding? = nil,
      costs: PastCosts? = nil,
      options: StoreOptions? = nil
    ) throws {
      self.folding = folding ?? StateStore.foldings.randomElement(using: &random)!
      store = try StateStore.open(disk, options: options ?? HistoryStore.keyOptions(&random, keepsAll: false))
      events = StateEvents(seed: random.next())
      events.rowCount = [3, 12, 40].randomElement(using: &random)!
      if case .own = self.folding { table = "tally" } else { table = "b" }
      // Of a kept list the first state is read from keys, and the others are made from it.
      let isKept = Bool.random(using: &random)
      definition = StateKeptViewTests.definition(
        isKept ? "kept" : nil, StateKeptViewTests.orders.randomElement(using: &random)!.1,
        calls: isKept ? .keys : .filters)
      past = PastStates(
        store, self.folding, view: (table, definition),
        keptSizeMax: [0, 100_000, PastStates.keptSizeMaxDefault].randomElement(using: &random)!,
        costs: costs ?? PastStatesTests.costs.randomElement(using: &random)!)
    }

    /// Appends, and makes the history go on.
    mutating func append(_ count: Int, records: Bool = true) throws {
      for _ in 0..<count { try events.append(to: store) }
      if records { try record() }
      expected = try HistoryStore.replayed(store, folding)
    }

    func record() throws { try store.projector(folding).historian!.recordBlocking() }

    mutating func forget() throws { expected = try HistoryStore.replayed(store, folding) }

    mutating func move(to sequence: UInt64, _ what: String) throws {
      let before = past.counts
      let state = try past.state(at: sequence)
      try check(state, sequence, what)
      let isRead = past.counts.fromHistory > before.fromHistory
      if isRead, past.counts.foldedEvents == before.foldedEvents {
        met.steps += 1
        if sequence < last { met.backwards += 1 }
      }
      #expect(past.counts.states == before.states + 1)
      last = sequence
    }

    private func check(_ state: TableSet, _ sequence: UInt64, _ what: String) throws {
      let answers = try StateAnswers(state, of: store)
      let difference = try answers.difference(from: StateAnswers(expected[Int(sequence)], of: store))
      try #require(difference == nil, "\(what), at \(sequence)")
      #expect(state.chain == answers.chain)
      for table in state.tables { #expect(table.checkInvariants() == nil, "\(what), at \(sequence)") }
      let view = try #require(state[table].view(definition.identity))
      try #require(
        StateKeptViewTests.content(view) == StateKeptViewTests.content(View(definition, of: state[table])),
        "\(what), at \(sequence)")
      // A table that no event had written to is behind the others, and there only if a list asked for it.
      let unwritten = state.tables.filter { !$0.isWritten }
      #expect(unwritten.allSatisfy { $0.name == table && $0.count == 0 }, "\(what), at \(sequence)")
      #expect(state.tables.suffix(unwritten.count).allSatisfy { !$0.isWritten }, "\(what), at \(sequence)")
    }
  }

  @Test func `a walk to random points gives the states and views of a replay, whatever way is taken to each`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var met = (steps: 0, backwards: 0)
    while runs.next() {
      var walk = try Walk(SimulatedDisk(), &random)
      try walk.append(Int.random(in: 5...30, using: &random))
      var sequence: UInt64 = 0
      for move in 0..<20 {
        // Runs are written and merged meanwhile, and the newest events are in none.
        if Int.random(in: 0..<8, using: &random) == 0 {
          try walk.append(Int.random(in: 1...9, using: &random), records: Bool.random(using: &random))
        }
        let head = walk.store.head.sequence
        let far = UInt64.random(in: 0...head, using: &random)
        let near = min(head, max(sequence, 5) - 5 + UInt64.random(in: 0...10, using: &random))
        sequence = Bool.random(using: &random) ? far : near
        try walk.move(to: sequence, "run \(runs.count), move \(move)")
      }
      met = (met.steps + walk.met.steps, met.backwards + walk.met.backwards)
      try walk.store.closeBlocking()
    }
    #expect(met.steps > 2 * runs.count && met.backwards > runs.count / 2, "\(met)")
  }

  @Test
  func `a step through runs replays nothing, backwards as forwards, and keeps the pages of all other rows`()
    throws
  {
    var options = StateStore.options()
    options.history = .all
    // No page of a state goes to a file.
    options.unsavedSize = 1 << 24
    options.runLimits.changeCountMax = 64
    options.runLimits.baseChangeCountMin = 500
    let store = try StateStore.open(SimulatedDisk(), options: options)
    for first in stride(from: 0, to: 4_000, by: 100) {
      try store.appendAny(
        (first..<first + 100).map { number in
          let stream = StreamName(category: "a", id: "row \(number * 7 % 1_000)")
          return NewEvent(DocumentEvent.put, in: stream, payload: EventPayload(["n": .int(Int64(number))]))
        })
    }
    try store.projector(StateStore.documents).historian!.recordBlocking()
    let definition = StateKeptViewTests.definition(nil)
    var costs = PastCosts()
    (costs.change, costs.version, costs.row) = (0, 0, 0.001)
    let past = PastStates(store, .documents(only: ["a"]), view: ("a", definition), costs: costs)
    _ = try past.state(at: 2_000)
    for (number, sequence) in ([1_990, 2_010, 1_995, 2_400, 1_800, 1_001, 3_900] as [UInt64]).enumerated() {
      let state = try past.state(at: sequence)
      #expect(state["a"].count == 1_000)
      #expect(past.counts == PastCosts.read(number + 2))
    }
    let (a, b) = (try past.state(at: 1_990), try past.state(at: 1_995))
    let pages = Tree.statistics(of: [a["a"].rows, b["a"].rows]).bytesAllocated
    #expect(pages < Tree.statistics(of: [a["a"].rows]).bytesAllocated * 5 / 4)
    try store.closeBlocking()
  }

  @Test func `the way that costs least is taken, by the numbers of events and of rows`() throws {
    var options = StateStore.options()
    options.history = .all
    // No page of a state goes to a file.
    options.unsavedSize = 1 << 24
    options.runLimits.changeCountMax = 64
    let store = try StateStore.open(SimulatedDisk(), options: options)
    for number in 0..<3_000 { try store.put("\(number % 500)", ["n": .int(Int64(number))]) }
    try store.projector(StateStore.documents).historian!.recordBlocking()
    let definition = StateKeptViewTests.definition(nil)
    var costs = PastCosts()
    (costs.change, costs.version, costs.row) = (2, 0, 1)
    let past = PastStates(store, StateStore.documents, view: ("a", definition), costs: costs)
    // A few events from the begin of the log.
    _ = try past.state(at: 20)
    #expect(past.counts == PastCounts(states: 1, fromHistory: 0, foldedEvents: 20))
    // Far from it: 500 rows are less than 2,000 events.
    _ = try past.state(at: 2_000)
    #expect(past.counts == PastCounts(states: 2, fromHistory: 1, foldedEvents: 20))
    // Forwards an event costs less than a row.
    _ = try past.state(at: 2_100)
    #expect(past.counts == PastCounts(states: 3, fromHistory: 2, foldedEvents: 120))
    // Backwards there is no state to replay from.
    let before = try past.state(at: 2_000)["a"]
    let back = try past.state(at: 1_900)["a"]
    #expect(past.counts == PastCounts(states: 5, fromHistory: 4, foldedEvents: 120))
    #expect(Tree.statistics(of: [before.rows, back.rows]).pages < 2 * Tree.statistics(of: [back.rows]).pages)
    // Past the end of the runs, what is in none is replayed.
    for number in 0..<20 { try store.put("\(number)", ["n": 0]) }
    _ = try past.state(at: 3_020)
    #expect(past.counts.states == 6 && past.counts.fromHistory == 5)
    #expect(past.counts.foldedEvents > 120 && past.counts.foldedEvents <= 120 + 84)
    try store.closeBlocking()
  }

  @Test func `two states that are made from one are of different lines, as those of two replays are`() throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let options = HistoryStore.keyOptions(&random)
    var walk = try Walk(
      SimulatedDisk(), &random, StateStore.documents, costs: Self.costs[1], options: options)
    try walk.append(60)
    var views: [View] = []
    for sequence in [40, 30, 35] as [UInt64] {
      views.append(try #require(try walk.past.state(at: sequence)["b"].view(walk.definition.identity)))
    }
    for (a, b) in [(0, 1), (1, 2), (0, 2)] { #expect(views[a].isApart(from: views[b])) }
    try walk.store.closeBlocking()
  }

  @Test
  func `a run with rows of a table that it does not have, or too long ones, is damaged and never a crash`()
    throws
  {
    let store = try StateStore.open(SimulatedDisk())
    let files = HistoryFiles(store.log, folder: "hostile-1")
    try files.createFolder()
    for (table, length) in [(7, 3), (UInt32.max, 0), (0, 70_000)] as [(UInt32, Int)] {
      let (number, file) = try files.beginRun(from: 1)
      let output = RunOutput(files, number, file) {}
      var writer = RunWriter(
        output, begin: 0, time: nil, appends: 0, failures: 0, isBase: false, RunLimits())
      let key = [UInt8](repeating: 0x61, count: length).withUnsafeBytes { RunKey.make(table, $0) }
      try key.lendBytes { key throws(StoreError) in try writer.beginRow(key) }
      for sequence in 1...3 as ClosedRange<UInt64> {
        let version = RunVersion(kind: .document, sequence: sequence, created: 1, time: 1)
        try [0xA0].lendBytes { bytes throws(StoreError) in try writer.add(version, bytes) }
      }
      let row = writer.endRow()
      try writer.endRows()
      for sequence in 1...3 as ClosedRange<UInt64> {
        try writer.add(RunEvent(sequence: sequence, time: 1, endsAppend: true, hasFailed: false), [row])
      }
      let written = try writer.finish([RunTable(number: 0, first: 1, name: "a")], [])
      let reader = try RunReader(files, number, root: written.address, RunCache(PageCache(limit: 0)))
      let set = try RunSet([reader], store.log.erasures(), head: 0)
      for (start, end) in [(1, 3), (3, 1)] as [(UInt64, UInt64)] {
        #expect(throws: PageDamage.self, "table \(table), \(length) bytes") {
          let step = try RunStep(set, from: TableSet(sequence: start), to: end, only: nil)
          while try step.resume(nil) == nil {}
        }
      }
    }
    try store.closeBlocking()
  }

  @Test
  func `what was erased is not shown by states that are made from kept ones, and nothing of it is mixed in`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var erased = 0
    while runs.next() {
      var walk = try Walk(SimulatedDisk(), &random, costs: Self.costs[1])
      try walk.append(Int.random(in: 10...30, using: &random))
      for move in 0..<12 {
        if Int.random(in: 0..<5, using: &random) == 0 {
          let first = UInt64.random(in: 1...walk.store.head.sequence, using: &random)
          let last = min(first + 2, walk.store.head.sequence)
          _ = try walk.store.eraseBlocking(Erasure(sequences: [first...last], because: "asked to"))
          if Bool.random(using: &random) { try walk.record() }
          try walk.forget()
          erased += 1
        }
        let sequence = UInt64.random(in: 0...walk.store.head.sequence, using: &random)
        try walk.move(to: sequence, "run \(runs.count), move \(move)")
      }
      try walk.store.closeBlocking()
    }
    #expect(erased > runs.count)
  }

  @Test func `events that are erased at any read of a move are gone after it`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var erased = 0
    for access in [EventStore.Access.readWrite, .readOnly] {
      for number in 1...60 {
        let disk = SimulatedDisk()
        var options = HistoryStore.options(&random)
        (options.pageCacheSize, options.unsavedSize) = (0, options.unsavedSize ?? options.pageCacheSize)
        options.savesStates = false
        let writer = try StateStore.open(disk, options: options)
        for sequence in 1...40 as ClosedRange<Int64> {
          // What is erased made one row, and a part of another one that changes during the move.
          switch sequence {
          case 3: try writer.put("x", ["first": 1])
          case 4: try writer.put("y", ["first": 1])
          case 22:
            let stream = StreamName(category: "a", id: "x")
            try writer.appendAny([
              NewEvent(DocumentEvent.merge, in: stream, payload: EventPayload(["second": 1]))
            ])
          default: try writer.put("\(sequence % 3)", ["n": .int(sequence)])
          }
        }
        let historian = writer.projector(StateStore.documents).historian!
        try historian.recordBlocking()
        let store = access == .readWrite ? writer : try StateStore.open(disk, .readOnly, options: options)
        let past = PastStates(
          store, StateStore.documents, view: ("a", StateKeptViewTests.definition(nil)), costs: Self.costs[1])
        _ = try past.state(at: 20)
        let before = try StateAnswers(HistoryStore.replayed(store, StateStore.documents)[24], of: store)
          .tables
        let isDue = Lock((left: number, error: (any Error)?.none))
        disk.onOperation { call in
          guard call.path.hasPrefix(StateStore.layout.histories) else { return .proceed }
          let isNow = isDue.withLock { state in
            state.left -= 1
            return state.left == 0
          }
          guard isNow else { return .proceed }
          do {
            _ = try writer.eraseBlocking(Erasure(sequences: [3...9], because: "asked to"))
            try historian.recordBlocking()
          } catch { isDue.withLock { $0.error = error } }
          return .proceed
        }
        let moved = try StateAnswers(past.state(at: 24), of: store).tables
        disk.onOperation(nil)
        let (left, error) = isDue.withLock { $0 }
        #expect(error == nil)
        if left <= 0 { erased += 1 }
        try store.log.refresh()
        let expected = try HistoryStore.replayed(store, StateStore.documents)
        let after = try StateAnswers(expected[24], of: store).tables
        #expect(moved == before || moved == after, "read \(number), \(access)")
        for sequence in [24, 20, 12, 26, 24] as [UInt64] {
          let difference = try StateAnswers(past.state(at: sequence), of: store).difference(
            from: StateAnswers(expected[Int(sequence)], of: store))
          #expect(difference == nil, "read \(number), \(access), at \(sequence)")
        }
        if access == .readOnly { try store.closeBlocking() }
        try writer.closeBlocking()
        if left > 0 { break }
      }
    }
    // How many reads a move takes depends on the limits of the runs, which are random.
    #expect(erased >= 2, "\(erased)")
  }

  @Test func `where runs are damaged or missing, the states are those of a replay`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var fallen = 0
    while runs.next() {
      let disk = SimulatedDisk()
      var options = HistoryStore.options(&random)
      (options.pageCacheSize, options.unsavedSize) = (0, options.unsavedSize ?? options.pageCacheSize)
      var walk = try Walk(disk, &random, costs: Self.costs[1], options: options)
      try walk.append(Int.random(in: 10...40, using: &random))
      try walk.store.closeBlocking()
      guard let path = disk.historyPaths.randomElement(using: &random) else { continue }
      if Int.random(in: 0..<4, using: &random) == 0 {
        disk.delete(path)
      } else {
        disk.flipBit(path, Int.random(in: 0..<8 * disk.contents(path)!.count, using: &random))
      }
      walk = try Walk(disk, &random, walk.folding, costs: Self.costs[1], options: options)
      try walk.forget()
      for move in 0..<10 {
        let sequence = UInt64.random(in: 0...walk.store.head.sequence, using: &random)
        try walk.move(to: sequence, "run \(runs.count), move \(move)")
        if Int.random(in: 0..<4, using: &random) == 0 { try walk.record() }
      }
      if walk.past.counts.fromHistory < walk.past.counts.states { fallen += 1 }
      try walk.store.closeBlocking()
    }
    #expect(fallen > runs.count / 8, "\(fallen)")
  }
}

extension PastCosts {
  /// The counts of states that were read, and for which nothing was replayed.
  fileprivate static func read(_ count: Int) -> PastCounts {
    PastCounts(states: count, fromHistory: count, foldedEvents: 0)
  }
}
