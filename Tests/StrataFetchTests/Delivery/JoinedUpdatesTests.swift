// Several lists that are always at the same version.

internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

/// Counts chores by owner: a projection in addition to the documents.
private struct Owners: Projection {
  struct Row: Codable, Identifiable, Sendable {
    var id: String
    var chores: [Int] = []
  }

  static let name = "owners"
  static let version = 1
  static let rows = TableKey<Row>("owners")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard event.stream.category == "task", event.type == DocumentEvent.put else { return }
    let chore = try event.document().decode(Chore.self)
    for id in ["ann", "bob"] {
      var row = tables[Self.rows, id] ?? Row(id: id)
      row.chores.removeAll { $0 == chore.id }
      if chore.owner == id { row.chores.append(chore.id) }
      tables[Self.rows, id] = row
    }
  }
}

@Suite struct JoinedUpdatesTests {
  private static func owned(_ owner: String) -> ListRequest<Chore, Unsectioned> {
    ListRequest(Chore.self).sorted(by: \.id).filtered(id: "of \(owner)") { $0.owner == owner }
  }

  private func chores(
    _ count: Int, options: StoreOptions = StoreOptions()
  ) async throws -> DocumentCollection<Chore> {
    let chores = EventStore.inMemory(options: options).collection("task", of: Chore.self)
    try await chores.put((0..<count).map { Chore(id: $0, title: "t", owner: $0 % 2 == 0 ? "ann" : "bob") })
    return chores
  }

  @Test
  func `R59 Lists that are joined are at one version, and what changes in one is an update of each`()
    async throws
  {
    let chores = try await chores(4)
    let ann = FetchController(Self.owned("ann"), from: chores)
    let bob = FetchController(Self.owned("bob").reportTouches(), from: chores)
    let rows = FetchController(
      ListRequest(Owners.Row.self), from: chores.store.table(Owners.rows, of: Owners()))
    var steps = JoinedUpdates(ann, bob, rows).makeAsyncIterator()
    var step = try #require(try await steps.next())
    var (a, b, c) = step.updates
    #expect(step.sequence == 4)
    #expect(a.reason == .initial)
    #expect(b.reason == .initial)
    #expect(a.after.itemIdentifiers == [0, 2])
    #expect(b.after.itemIdentifiers == [1, 3])
    #expect(c.after.row(for: "bob")?.chores == [1, 3])
    // An append that no list shows, then a chore that moves from one list to the other.
    try await chores.put(Chore(id: 50, title: "t", owner: "eve"))
    try await chores.put(Chore(id: 2, title: "t", owner: "bob"))
    step = try #require(try await steps.next())
    (a, b, c) = step.updates
    #expect(step.sequence == 6)
    #expect(a.sequence == 6)
    #expect(b.sequence == 6)
    #expect(c.sequence == 6)
    #expect(a.changes.deletions.map(\.id) == [2])
    #expect(b.changes.insertions.map(\.id) == [2])
    #expect(c.after.row(for: "bob")?.chores == [1, 3, 2])
    #expect(a.before?.sequence == 4)
    #expect(c.before?.sequence == 4)
    // A rewrite of equal content is a change of the list that reports touches; the other lists advance unchanged.
    try await chores.put(Chore(id: 2, title: "t", owner: "bob"))
    step = try #require(try await steps.next())
    (a, b, c) = step.updates
    #expect(b.changes.updates.map(\.id) == [2])
    #expect(a.changes.isEmpty)
    #expect(a.sequence == 7)
    // Another request, and the end.
    try await ann.apply(Self.owned("ann").limited(to: 0))
    step = try #require(try await steps.next())
    (a, b, c) = step.updates
    #expect(a.reason == .reconfigured)
    #expect(a.changes.deletions.map(\.id) == [0])
    #expect(b.changes.isEmpty)
    #expect(ann.snapshot?.sequence == 7)
    #expect(bob.snapshot?.sequence == 7)
    rows.cancel()
    #expect(try await steps.next() == nil)
  }

  @Test
  func `R59 While many write, no chore is ever in both lists or in none`() async throws {
    let chores = try await chores(20)
    let ann = FetchController(Self.owned("ann"), from: chores)
    // A separate fold: both have to stop at the same append.
    let bob = FetchController(Self.owned("bob").reportTouches(), from: chores)
    let following = Task {
      var steps = 0
      var last: UInt64?
      for try await step in JoinedUpdates(ann, bob) {
        let (a, b) = step.updates
        #expect(a.sequence == step.sequence && b.sequence == step.sequence)
        #expect(a.before?.sequence == last && b.before?.sequence == last)
        let ids = a.after.itemIdentifiers + b.after.itemIdentifiers
        #expect(ids.sorted() == Array(0..<20))
        last = step.sequence
        steps += 1
      }
      return (steps, last)
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          for round in 0..<60 {
            let id = (writer * 5 + round) % 20
            try await chores.put(Chore(id: id, title: "t", owner: round % 3 == 0 ? "ann" : "bob"))
          }
        }
      }
      // Concurrent fetches of one list, so that the two folds are at different sequences.
      group.addTask { for _ in 0..<40 { try await ann.performFetch() } }
      try await group.waitForAll()
    }
    try await chores.store.close()
    let (steps, last) = try await following.value
    #expect(steps > 0)
    let changes = try await ann.changes(from: .sequence(last ?? 0), to: .head)
    #expect(changes.isEmpty)
  }

  @Test
  func `R59 Lists of different stores cannot be joined, and a cancelled task ends`() async throws {
    let (chores, others) = (try await chores(2), try await chores(2))
    let lists = (
      FetchController(Self.owned("ann"), from: chores), FetchController(Self.owned("ann"), from: others)
    )
    var steps = JoinedUpdates(lists.0, lists.1).makeAsyncIterator()
    do throws(ListError) {
      _ = try await steps.next()
      Issue.record("lists of two stores were joined")
    } catch {
      guard case .otherStore = error else { return #expect(Bool(false), "\(error)") }
    }
    #expect(try await steps.next() == nil)
    let waiting = Task { for try await _ in JoinedUpdates(lists.0) {} }
    while !lists.0.announcement.hasWaiters { await Task.yield() }
    waiting.cancel()
    try await waiting.value
    let broken = FetchController(Self.owned("ann").filtered(by: "title =="), from: chores)
    var failing = JoinedUpdates(lists.0, broken).makeAsyncIterator()
    await #expect(throws: ListError.self) { _ = try await failing.next() }
  }

  @Test
  func `R59 Lists of one store are joined also if one of them is of the store as attributed`() async throws {
    let chores = try await chores(4)
    let mine = chores.store.attributed(["by": "a7"]).collection("task", of: Chore.self)
    let ann = FetchController(Self.owned("ann"), from: chores)
    let bob = FetchController(Self.owned("bob"), from: mine)
    let joined = JoinedUpdates(ann, bob)
    var steps = joined.makeAsyncIterator()
    let first = try #require(try await steps.next())
    #expect(
      first.updates.0.after.itemIdentifiers == [0, 2] && first.updates.1.after.itemIdentifiers == [1, 3])
    try await mine.put(Chore(id: 2, title: "t", owner: "bob"))
    let second = try #require(try await steps.next())
    #expect(second.sequence == 5)
    #expect(second.updates.0.changes.deletions.map(\.id) == [2])
    #expect(second.updates.1.changes.insertions.map(\.id) == [2])
    let (a, b) = try await joined.snapshots(at: .sequence(4))
    #expect(a.itemIdentifiers == [0, 2] && b.itemIdentifiers == [1, 3])
    let (left, entered) = try await joined.changes(from: .sequence(4), to: .head)
    #expect(left.deletions.map(\.id) == [2] && entered.insertions.map(\.id) == [2])
  }

  /// The chores of somebody, in a list that a history has.
  private static func kept(_ owner: String) -> ListRequest<Chore, Unsectioned> {
    ListRequest(Chore.self).sorted(by: \.id).filtered(by: "owner == \(owner)").kept(as: "of \(owner)")
  }

  @Test(arguments: [false, true])
  func `R59 Lists that are joined are at one sequence at any point of the past`(hasHistory: Bool) async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let chores = try await chores(4, options: hasHistory ? .history(&random) : StoreOptions())
    let ann = FetchController(hasHistory ? Self.kept("ann") : Self.owned("ann"), from: chores)
    let bob = FetchController(hasHistory ? Self.kept("bob") : Self.owned("bob"), from: chores)
    let request = ListRequest(Owners.Row.self)
    let rows = FetchController(
      hasHistory ? request.kept(as: "owners") : request, from: chores.store.table(Owners.rows, of: Owners()))
    // After each event, who has which chore.
    var owners = (0..<4).map { $0 % 2 == 0 ? "ann" : "bob" }
    var states = [owners]
    for _ in 0..<30 {
      let id = Int.random(in: 0..<4, using: &random)
      owners[id] = owners[id] == "ann" ? "bob" : "ann"
      try await chores.put(Chore(id: id, title: "t", owner: owners[id]))
      states.append(owners)
    }
    let joined = JoinedUpdates(ann, bob, rows)
    if hasHistory {
      // From the first read on, the history has the lists.
      _ = try await joined.snapshots(at: .sequence(4))
      _ = try chores.store.recordHistoriesBlocking()
    }
    let before = [ann.statistics, bob.statistics, rows.statistics]
    func ids(_ owner: String, _ state: [String]) -> [Int] { state.indices.filter { state[$0] == owner } }
    for (index, state) in states.enumerated() {
      let sequence = UInt64(4 + index)
      let (a, b, c) = try await joined.snapshots(at: .sequence(sequence))
      #expect(a.sequence == sequence && b.sequence == sequence && c.sequence == sequence)
      #expect(a.itemIdentifiers == ids("ann", state) && b.itemIdentifiers == ids("bob", state))
      #expect(c.row(for: "ann")?.chores.sorted() == ids("ann", state))
    }
    let end = try await joined.snapshots(at: .head)
    #expect(end.0.sequence == 34 && end.2.row(for: "bob")?.chores.sorted() == ids("bob", owners))
    for _ in 0..<10 {
      let (from, to) = (Int.random(in: 0...30, using: &random), Int.random(in: 0...30, using: &random))
      let (a, b, _) = try await joined.changes(
        from: .sequence(UInt64(4 + from)), to: .sequence(UInt64(4 + to)))
      // What leaves the one list comes into the other.
      let moved = ids("ann", states[from]).filter { states[to][$0] == "bob" }
      #expect(a.deletions.map(\.id).sorted() == moved && b.insertions.map(\.id).sorted() == moved)
    }
    // Every answer was read from the history, of each of the lists.
    for (list, then) in zip([ann.statistics, bob.statistics, rows.statistics], before) {
      let (all, fromHistory) = (
        list.pastLists - then.pastLists, list.pastListsFromHistory - then.pastListsFromHistory
      )
      #expect(all > 30 && fromHistory == (hasHistory ? all : 0), "\(fromHistory) of \(all)")
    }
    await #expect(throws: ListError.self) { try await joined.snapshots(at: .sequence(35)) }
    let other = FetchController(Self.owned("bob"), from: try await self.chores(1))
    await #expect(throws: ListError.self) { try await JoinedUpdates(ann, other).snapshots(at: .head) }
    ann.cancel()
    await #expect(throws: CancellationError.self) { try await joined.snapshots(at: .head) }
  }
}
