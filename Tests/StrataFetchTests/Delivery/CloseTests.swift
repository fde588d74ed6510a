// Consumers that wait for a blocked fold when the store is closed or a task is cancelled.

internal import StrataBase
@testable internal import StrataEvents
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import Testing

/// A projection that waits at an event in the category `door` until the door with the stream's id is open.
private struct Waiting: Projection {
  struct Row: Codable, Identifiable, Sendable { var id: String }

  static let name = "waiting"
  static let version = 1
  static let rows = TableKey<Row>("rows")
  static let list = ListRequest(Row.self)

  static let doors = Gate<(open: Set<String>, arrived: Set<String>)>(([], []))

  static func open(_ door: String) {
    doors.withLock { _ = $0.open.insert(door) }
    doors.signalAll()
  }

  /// Waits until an event has arrived at a door.
  static func arrives(at door: String) async {
    await IOThreads(name: "test", threadCountMax: 1).run { doors.wait { $0.arrived.contains(door) } }
  }

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    if event.stream.category == "door" {
      let door = event.stream.id
      Self.doors.withLock { _ = $0.arrived.insert(door) }
      Self.doors.signalAll()
      Self.doors.wait { $0.open.contains(door) }
    }
    let id = "\(event.sequence)"
    tables[Self.rows, id] = Row(id: id)
  }
}

@Suite struct CloseTests {
  /// A store whose folds have their own threads.
  private func store() -> EventStore {
    var limits = FairThreads.Limits()
    limits.patience = .milliseconds(1)
    var options = StoreOptions()
    let threads = FairThreads(name: "close", limits: limits)
    options.machine.folds = threads
    options.machine.follows = threads
    return EventStore.inMemory(options: options)
  }

  private func append(_ stream: StreamName, to store: EventStore) async throws {
    try await store.append([NewEvent("t", in: stream, .null)])
  }

  @Test
  func `An iteration over every append that is cancelled ends at once, however long its fold takes`()
    async throws
  {
    let store = store()
    try await append("x/1", to: store)
    let list = FetchController(Waiting.list, from: store.table(Waiting.rows, of: Waiting()))
    try await list.performFetch()
    let prepared = try list.prepared()
    let set = try await prepared.rows.projector.state(reaching: 1, with: prepared.lease)
    let follower = AppendFollower(prepared.rows, from: set, keeping: prepared.list.definition)
    let iteration = Task {
      var counts: [Int] = []
      for try await update in list.updates(.everyCommit) { counts.append(update.after.numberOfItems) }
      return counts
    }
    while list.statistics.updatesDelivered < 1 { await Task.yield() }
    try await append("door/follower", to: store)
    let next = Task { try await follower.next(through: 2) }
    let fetch = Task { try await list.performFetch() }
    await Waiting.arrives(at: "follower")
    // The door is closed.
    next.cancel()
    fetch.cancel()
    iteration.cancel()
    #expect(try await iteration.value == [1])
    await #expect(throws: CancellationError.self) { _ = try await next.value }
    await #expect(throws: CancellationError.self) { _ = try await fetch.value }
    Waiting.open("follower")
    // The same append again, while the abandoned fold may still be running.
    #expect(try await follower.next(through: 2)?.sequence == 2)
    #expect(try await list.performFetch().numberOfItems == 2)
  }

  @Test
  func `Reads and iterations that wait for a fold when the store is closed get what was appended before`()
    async throws
  {
    let store = store()
    try await append("x/1", to: store)
    try await append("door/reads", to: store)
    let table = store.table(Waiting.rows, of: Waiting())
    let list = FetchController(Waiting.list, from: table)
    let reads = (0..<4).map { _ in Task { try await table["2"]?.id } }
    let fetch = Task { try await list.performFetch().numberOfItems }
    let past = Task { try await list.snapshot(at: .sequence(2)).numberOfItems }
    let iteration = Task {
      var counts: [Int] = []
      for try await update in list.updates { counts.append(update.after.numberOfItems) }
      return counts
    }
    await Waiting.arrives(at: "reads")
    // A blocked fold does not delay the end of the log, either.
    try await store.close()
    Waiting.open("reads")
    for read in reads { #expect(try await read.value == "2") }
    #expect(try await fetch.value == 2)
    #expect(try await past.value == 2)
    #expect(try await iteration.value.allSatisfy { $0 == 2 })
    #expect(try await table["1"]?.id == "1", "what was appended must be readable after the store was closed")
  }

  @Test
  func `What waits for a later append ends when the store is closed`() async throws {
    let store = store()
    let chores = store.collection("task", of: Chore.self)
    var receipt = try await chores.put(Chore(id: 1, title: "a"))
    receipt.sequences = 9...9
    let later = receipt
    let list = FetchController(Household.all, from: chores)
    let other = FetchController(Household.open, from: chores)
    let reaches = Task { try await list.fetch(through: later) }
    let iterations = [UpdatePolicy.latest, .everyCommit].map { policy in
      Task {
        var count = 0
        for try await _ in list.updates(policy) { count += 1 }
        return count
      }
    }
    let joined = Task {
      var count = 0
      for try await _ in JoinedUpdates(list, other) { count += 1 }
      return count
    }
    let feed = Task {
      var sequences: [UInt64] = []
      for try await append in store.feed() { sequences.append(append.sequences.upperBound) }
      return sequences
    }
    while list.statistics.updatesDelivered < 3 || !store.log.tail.hasWaiters { await Task.yield() }
    try await store.close()
    let error = await #expect(throws: ListError.self) { try await reaches.value }
    guard case .store(.closed) = error else { return #expect(Bool(false), "\(error as Any)") }
    for iteration in iterations { #expect(try await iteration.value == 1) }
    #expect(try await joined.value == 1)
    #expect(try await feed.value == [1])
  }

  @Test
  func `Edits that wait for their turn when the store is closed are refused, one after the other`()
    async throws
  {
    let store = store()
    let cards = store.collection("card", of: Card.self)
    for id in 0..<3 { try await cards.put(Card(id: id, lane: "a")) }
    let list = FetchController(MoveTests.byHand, from: cards)
    try await list.performFetch()
    let stream: StreamName = "card/1"
    let turns = store.documentTurns.turns
    try await turns.take(stream)
    let updates = (0..<3).map { number in
      Task { try await cards.update(1) { $0.title = "\(number)" } }
    }
    let deletion = Task { try await list.delete(1) }
    let move = Task { try await list.move(1, before: 0) }
    while turns.waitingCount(of: stream) < 5 { await Task.yield() }
    let second = Task { try await list.move(2, before: 0) }
    try await store.close()
    turns.give(stream)
    for update in updates { await #expect(throws: StoreError.closed) { _ = try await update.value } }
    await #expect(throws: ListEditError.self) { _ = try await deletion.value }
    await #expect(throws: ListEditError.self) { _ = try await move.value }
    await #expect(throws: ListEditError.self) { _ = try await second.value }
    #expect(!turns.isBusy)
    #expect(store.head.sequence == 3)
  }

  @Test
  func `Edits of one row by many tasks all succeed: updates, moves, and one of the deletions`() async throws {
    let cards = EventStore.inMemory().collection("card", of: Card.self)
    for id in 0..<4 { try await cards.put(Card(id: id, lane: "a")) }
    let list = FetchController(MoveTests.byHand, from: cards)
    try await list.performFetch()
    try await withThrowingTaskGroup { group in
      for number in 0..<32 {
        group.addTask { _ = try await list.update(1) { $0.title += "\(number % 10)" } }
        group.addTask { _ = try await list.move(1, after: [0, 2, 3][number % 3]) }
      }
      try await group.waitForAll()
    }
    #expect(try await cards[1]?.title.count == 32)
    let deletions = (0..<16).map { _ in Task { try await list.delete(1) } }
    var deleted = 0
    for deletion in deletions {
      do { _ = try await deletion.value } catch ListEditError.absent { continue }
      deleted += 1
    }
    #expect(deleted == 1)
  }
}
