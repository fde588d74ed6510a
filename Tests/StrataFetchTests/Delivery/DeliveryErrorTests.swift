// Errors are reported and work is counted, and neither ends a list.

internal import StrataBase
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

private actor Desk {}

@Suite struct DeliveryErrorTests {
  @Test
  func `R61 A store that cannot be read on is an error of the fetch, and the list before stays`() async throws
  {
    let disk = SimulatedDisk()
    var options = StoreOptions()
    options.segmentSizeTarget = 1
    let home = try await Household(
      "abcdef", store: EventStore.open(disk, path: "/store", .readWrite, options: options))
    let shown = try await home.list.snapshot(at: .sequence(2))
    #expect(shown.numberOfItems == 2)
    try await home.store.close()
    let again = try EventStore.open(disk, path: "/store", .readOnly, options: options)
    let list = FetchController(Household.all, from: again.collection("task", of: Chore.self))
    // One byte of an event's content is changed.
    let path = StoreLayout(root: "/store").segment(4)
    let file = try disk.open(path, .readWrite)
    let place = try Int64(file.size()) - 3
    var byte: UInt8 = 0
    _ = try withUnsafeMutableBytes(of: &byte) { try file.read(into: $0, at: place) }
    byte ^= 0xFF
    try withUnsafeBytes(of: &byte) { try file.write($0, at: place) }
    file.close()
    for _ in 0..<2 { await #expect(throws: ListError.self) { try await list.performFetch() } }
    #expect(list.snapshot == nil)
    var updates = list.updates.makeAsyncIterator()
    await #expect(throws: ListError.self) { _ = try await updates.next() }
    // The past up to that point can still be read.
    #expect(try await list.snapshot(at: .sequence(2)).numberOfItems == 2)
  }

  @Test
  func `R61 A disk that reads nothing for a while is told, not again and again, and is gone on from`()
    async throws
  {
    let disk = SimulatedDisk()
    let home = try await Household(
      "ab", store: EventStore.open(disk, path: "/store", .readWrite, options: StoreOptions()))
    let (told, errors) = (Lock<[ChoreUpdate]>([]), Lock(0))
    let observation = home.list.observe(
      .everyCommit, on: .actor(Desk()), failed: { _ in errors.withLock { $0 += 1 } },
      { update in told.withLock { $0.append(update) } })
    await waiting { told.withLock { $0.count } == 1 && home.list.announcement.hasWaiters }
    for round in 1...5 {
      let errorCount = errors.withLock { $0 }
      disk.inject(SimulatedFailure(of: [.read], isLasting: true))
      try await home.chores.put(Chore(id: 10 + round, title: "t\(round)"))
      await waiting { errors.withLock { $0 } > errorCount }
      for _ in 0..<300 { await Task.yield() }
      // The failures of the follower and of the list's own fold.
      #expect(errors.withLock { $0 } - errorCount <= 2)
      disk.clearFailures()
      try await home.list.performFetch()
      await waiting { told.withLock { $0.count } == round + 1 }
    }
    #expect(told.withLock { $0.last }?.after.numberOfItems == 7)
    withExtendedLifetime(observation) {}
  }

  @Test
  func `R76 Rows that cannot be shown are listed with id, sequence and coding path, a hundred of them`()
    async throws
  {
    let home = try await Household()
    for number in 0..<150 {
      try await home.store.append([
        NewEvent(
          DocumentEvent.put, in: StreamName(category: "task", id: "\(1000 + number)"),
          payload: EventPayload(["id": .int(Int64(1000 + number)), "title": ["a": 1], "isDone": false]))
      ])
    }
    let snapshot = try await home.list.performFetch()
    #expect(snapshot.numberOfItems == 3 && snapshot.numberOfProblems == 150)
    #expect(snapshot.problems.count == 100)
    #expect(snapshot.problems.map(\.id) == (1000..<1100).map(String.init))
    #expect(snapshot.problems.map(\.sequence) == (4..<104).map { UInt64($0) })
    #expect(snapshot.problems.allSatisfy { $0.what.contains(" at title") })
    // They do not end the list.
    try await home.chores.delete(0)
    #expect(try await home.list.performFetch().itemIdentifiers == [2, 1])
  }

  @Test
  func `R77 A write that is cancelled before it is in a group throws and leaves nothing in the list`()
    async throws
  {
    let home = try await Household("")
    let refused = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await home.chores.put(Chore(id: 1, title: "a"))
    }
    await #expect(throws: CancellationError.self) { try await refused.value }
    #expect(try await home.list.performFetch().numberOfItems == 0 && home.store.head.sequence == 0)
    // At various moments: a task that receives a cancellation has written nothing, and every other task has written.
    var written: [Int] = []
    for id in 0..<300 {
      let write = Task { try await home.chores.put(Chore(id: id, title: "t")) }
      for _ in 0..<id % 30 { await Task.yield() }
      write.cancel()
      do {
        _ = try await write.value
        written.append(id)
      } catch {
        #expect(error is CancellationError)
      }
    }
    let list = try await home.list.performFetch()
    #expect(list.itemIdentifiers.sorted() == written)
    // A late cancellation is ignored.
    let late = Task { try await home.chores.put(Chore(id: 999, title: "t")) }
    let receipt = try await late.value
    late.cancel()
    #expect(try await home.list.fetch(through: receipt).contains(999))
  }

  @Test
  func `D11 What a list does is counted`() async throws {
    let home = try await Household("abcd")
    #expect(home.list.statistics == ListStatistics())
    var updates = home.list.updates.makeAsyncIterator()
    _ = try await updates.next()
    try await home.chores.put(Chore(id: 9, title: "i"))
    try await home.chores.delete(1)
    try await home.chores.update(3) { $0.isDone = true }
    try await home.chores.update(0) { $0.title = "z" }
    _ = try await updates.next()
    var counts = home.list.statistics
    #expect(counts.fetches == 2 && counts.updatesDelivered == 2)
    #expect(counts.appendsCoalesced == 3)
    #expect([counts.insertions, counts.deletions, counts.moves, counts.updates] == [1, 1, 1, 1])
    #expect(counts.sectionChanges == 2)
    let decoded = counts.rowsDecoded
    #expect(decoded >= 4)
    _ = home.list.snapshot?.row(for: 0)
    #expect(home.list.statistics.rowsDecoded > decoded)
    // What is already there is not requested again.
    try await home.list.performFetch()
    #expect(home.list.statistics.fetches == 2)
    try await home.list.apply(Household.open)
    try await home.store.append([NewEvent("noted", in: "log/1", payload: EventPayload(.null))])
    try await home.list.performFetch()
    counts = home.list.statistics
    #expect(counts.requestsReplaced == 1 && counts.resultsRefused == 0 && counts.fetches == 4)
  }
}
