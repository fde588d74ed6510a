// A list that is moved through the past: each step is a batch, and kept states make the next one cheap.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataLists
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct ScrubberTests {
  @Test
  func `R69 A walk through the past gives the batches that lead from each list to the next`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for round in 0..<16 {
      // With a history, in tiny runs, and without.
      let keepsHistory = round % 4 < 2
      var log = try RandomLog(
        appends: 40, eventsMax: 9, options: keepsHistory ? .history(&random) : StoreOptions(), &random)
      if keepsHistory { _ = try log.store.recordHistoriesBlocking() }
      let request = ModelRequest.random(section: "s", &random)
      let list = log.controller(request)
      if round % 2 == 0 { try await list.performFetch() }
      let scrubber = try list.scrubber()
      var view: ArrayList<String, DocumentValue>? = scrubber.snapshot.map { ArrayList($0) }
      #expect((view == nil) == (round % 2 == 1))
      for _ in 0..<40 {
        if Int.random(in: 0..<6, using: &random) == 0 { try log.append(3, &random) }
        if keepsHistory, Bool.random(using: &random) { _ = try log.store.recordHistoriesBlocking() }
        let isHead = Int.random(in: 0..<6, using: &random) == 0
        let sequence = isHead ? log.head : UInt64.random(in: 0...log.head, using: &random)
        let update =
          try await scrubber.move(to: isHead ? .head : .sequence(sequence))
        #expect(update.reason == (view == nil ? .initial : .moved))
        try #require(update.sequence == sequence)
        let model = ModelList(request, of: log.models[Int(sequence)])
        try #require(ModelList(update.after.version) == model, "\(request) at \(sequence)")
        let next = try view?.applying(update.changes) ?? ArrayList(update.after)
        try #require(next == ArrayList(update.after))
        view = next
        let row = update.after.itemIdentifiers.first.flatMap { update.after.row(for: $0) }
        if let row {
          let known = log.models[Int(sequence)].rows[Array(row.id.utf8)]
          #expect(known?.revision == row.revision && known?.document == row.fields)
        }
      }
      let statistics = list.statistics
      #expect(statistics.pastLists > 10)
      #expect(keepsHistory ? statistics.pastListsFromHistory > 0 : statistics.pastListsFromHistory == 0)
    }
  }

  @Test
  func `R71 A list has a token wherever it was moved, also before the first event`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let log = try RandomLog(appends: 10, &random)
    let list = log.controller(ModelRequest(section: "s"))
    let scrubber = try list.scrubber()
    for sequence in [0, log.head / 2, 1, log.head, 0] {
      let token = try await scrubber.move(to: .sequence(sequence)).after.token
      #expect(token != nil)
      #expect(try await list.snapshot(at: .sequence(sequence)).token == token)
    }
  }

  @Test
  func `R69 A move that is begun while the list returns to the head is carried out after that`() async throws
  {
    let chores = EventStore.inMemory().collection("task", of: Chore.self)
    for id in 0..<10 { try await chores.put(Chore(id: id, title: "t\(id)")) }
    // The first row that is filtered, one of the newest state, blocks until the test continues.
    let (hasBegun, mayGoOn) = (Lock(false), Lock(false))
    let list = FetchController(
      ListRequest(Chore.self).filtered { _ in
        let isFirst = hasBegun.withLock { hasBegun in
          defer { hasBegun = true }
          return !hasBegun
        }
        while isFirst, !mayGoOn.withLock({ $0 }) {}
        return true
      }, from: chores)
    let scrubber = try list.scrubber()
    let first = Task { try await scrubber.move(to: .head) }
    await waiting { hasBegun.withLock { $0 } }
    let second = Task { try await scrubber.move(to: .sequence(5)) }
    for _ in 0..<2_000 where scrubber.snapshot == nil { await Task.yield() }
    mayGoOn.withLock { $0 = true }
    #expect(try await first.value.sequence == 10)
    #expect(try await second.value.sequence == 5)
    #expect(scrubber.snapshot?.sequence == 5)
  }

  @Test
  func `R69 Moves that are begun side by side are carried out one after the other, none lost`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let log = try RandomLog(appends: 30, &random)
    let scrubber = try log.controller(ModelRequest(section: "s")).scrubber()
    let points = (0..<24).map { _ in UInt64.random(in: 0...log.head, using: &random) }
    let updates = try await withThrowingTaskGroup(of: ListUpdate<DocumentRow, DocumentValue>.self) { group in
      for point in points { group.addTask { try await scrubber.move(to: .sequence(point)) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    // Each move but the first begins where another one ended, and each is right by itself.
    #expect(updates.map(\.after.sequence).sorted() == points.sorted())
    let starts = updates.compactMap { $0.before?.sequence }.sorted()
    var ends = updates.map(\.after.sequence)
    let last = try #require(scrubber.snapshot?.sequence)
    ends.remove(at: try #require(ends.firstIndex(of: last)))
    #expect(starts == ends.sorted())
    for update in updates {
      guard let before = update.before else { continue }
      #expect(try ArrayList(before).applying(update.changes) == ArrayList(update.after))
    }
  }

  @Test
  func `R69 Going back a little replays a little, going forward what lies between, and few states are kept`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let log = try RandomLog(appends: 400, eventsMax: 16, rows: 40, &random)
    let definition = try ModelRequest(section: "s").request
      .compiled { (row) throws(RowProblem) in try DocumentRow(row) }.definition
    func states() -> PastStates {
      PastStates(log.store, .documents(only: nil), view: ("t", definition))
    }
    let end = log.head - 10
    for distance: UInt64 in [1, 5, 63, 64, 65, 200, 700, 1500] {
      let past = states()
      _ = try past.state(at: end)
      #expect(past.counts.foldedEvents == end)
      _ = try past.state(at: end - distance)
      #expect(past.counts.foldedEvents - end <= max(distance, PastStates.strideMin))
      let folded = past.counts.foldedEvents
      _ = try past.state(at: end - distance + 1)
      #expect(past.counts.foldedEvents - folded <= 1)
    }
    // A long walk: there are never more kept states than allowed, and all of them are right.
    let past = states()
    let points = (0..<300).map { index in
      index % 3 == 0 ? UInt64.random(in: 0...log.head, using: &random) : UInt64(index) * 4
    }
    var hashes: [UInt64: UInt64] = [:]
    let all = try log.store.statesBlocking(at: points.map { .sequence($0) }, .documents(only: nil))
    for (point, state) in zip(points, all) { hashes[point] = state.stateHash }
    for point in points {
      let state = try past.state(at: point)
      try #require(state.sequence == point)
      try #require(state.stateHash == hashes[point])
      try #require(past.kept.count <= PastStates.keptCountMax)
    }
    #expect(past.kept.count == PastStates.keptCountMax)
    print("a walk of \(points.count) steps over \(log.head) events folded \(past.counts.foldedEvents)")
    #expect(past.counts.foldedEvents < UInt64(points.count) * log.head / 8)
  }

  @Test
  func `R69 The states that are kept take up no more bytes than they may, and one is kept in any case`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let log = try RandomLog(appends: 200, eventsMax: 16, rows: 200, &random)
    let definition = try ModelRequest(section: "s").request
      .compiled { (row) throws(RowProblem) in try DocumentRow(row) }.definition
    for keptSizeMax in [0, 100_000, 400_000, PastStates.keptSizeMaxDefault] {
      let past = PastStates(
        log.store, .documents(only: nil), view: ("t", definition), keptSizeMax: keptSizeMax)
      for _ in 0..<60 {
        let sequence = UInt64.random(in: 0...log.head, using: &random)
        #expect(try past.state(at: sequence).sequence == sequence)
        #expect(!past.kept.isEmpty && past.kept.count <= PastStates.keptCountMax)
        #expect(past.kept.count == 1 || past.keptSize <= keptSizeMax)
        let trees = past.kept.flatMap(\.trees)
        #expect(past.keptSize == Tree.statistics(of: trees).bytesAllocated)
      }
      if keptSizeMax == 0 { #expect(past.kept.count == 1) }
      if keptSizeMax == 400_000 { #expect(past.kept.count > 1) }
    }
    // The lists are the same, however little is kept.
    let request = ModelRequest(section: "s")
    let scrubber = try log.controller(request).scrubber(keptSizeMax: 0)
    for _ in 0..<10 {
      let sequence = UInt64.random(in: 0...log.head, using: &random)
      let list = try await scrubber.move(to: .sequence(sequence)).after
      #expect(ModelList(list.version) == ModelList(request, of: log.models[Int(sequence)]))
    }
  }

  @Test
  func `R69 What was erased is not shown again out of a state that was kept before`() async throws {
    let store = EventStore.inMemory()
    let chores = store.collection("task", of: Chore.self)
    for index in 0..<200 { try await chores.put(Chore(id: index % 10, title: "t\(index)", owner: nil)) }
    let list = FetchController(ListRequest(Chore.self), from: chores)
    let scrubber = try list.scrubber()
    _ = try await scrubber.move(to: .sequence(180))
    #expect(try await scrubber.move(to: .sequence(100)).after.contains(3))
    try await store.erase(Erasure(streams: ["task/3"], because: "asked to"))
    #expect(try await !scrubber.move(to: .sequence(101)).after.contains(3))
    let back = try await scrubber.move(to: .sequence(100))
    #expect(!back.after.contains(3) && back.after.contains(4))
    #expect(back.after.itemIdentifiers == (try await list.snapshot(at: .sequence(100)).itemIdentifiers))
  }
}
