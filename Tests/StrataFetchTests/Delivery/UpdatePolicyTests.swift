// Which states a consumer receives: the newest one, or each one.

internal import StrataBase
internal import StrataEvents
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct UpdatePolicyTests {
  /// The updates of an iteration up to a sequence.
  private func updates(
    of updates: ListUpdates<Chore, String?>, through last: UInt64
  ) async throws -> [ChoreUpdate] {
    var all: [ChoreUpdate] = []
    var iterator = updates.makeAsyncIterator()
    while all.last?.sequence != last { all.append(try #require(try await iterator.next())) }
    return all
  }

  /// Checks that each update begins where the previous one ended.
  private func expectNoGap(_ updates: [ChoreUpdate]) {
    for (old, new) in zip(updates, updates.dropFirst()) {
      #expect(new.before?.sequence == old.sequence && new.sequence > old.sequence)
      #expect(new.changes.fromSequence == old.sequence && new.changes.toSequence == new.sequence)
      #expect(new.before.map { ShownList($0) } == ShownList(old.after))
    }
  }

  @Test
  func `R57 Who is slow gets one difference, and nothing is done or kept for it meanwhile`() async throws {
    let home = try await Household()
    var slow = home.list.updates.makeAsyncIterator()
    _ = try await slow.next()
    for number in 0..<500 { try await home.chores.update(0) { $0.title = "a\(number)" } }
    #expect(home.list.statistics.fetches == 1)
    #expect(home.list.snapshot?.sequence == 3)
    let update = try #require(try await slow.next())
    #expect(update.changes.count == 1 && update.sequence == home.store.head.sequence)
    #expect(home.list.statistics.appendsCoalesced == 499)
    #expect(home.list.statistics.fetches == 2)
  }

  @Test
  func `R57 Every append since a point is an update, and the point may be inside an append`() async throws {
    let home = try await Household()
    for number in 0..<20 {
      try await home.chores.put([Chore(id: number, title: "t\(number)"), Chore(id: number + 1, title: "u")])
    }
    let head = home.store.head.sequence
    let position = try #require(try await home.store.append(holding: 9)).position
    let time = try #require(try await home.store.append(holding: 9)).time
    let atTime = try await home.store.position(at: time).sequence
    for (point, start) in [
      (.beginning, 0), (.sequence(5), 5), (.sequence(6), 5), (.position(position), 9), (.time(time), atTime),
    ] as [(LogPoint, UInt64)] {
      let every = try await updates(of: home.list.updates(.everyCommit, from: point), through: head)
      #expect(every[0].reason == .resumed && every[0].changes.isEmpty && every[0].sequence == start)
      expectNoGap(every)
      let past = try await home.list.snapshot(at: .sequence(start))
      #expect(ShownList(every[0].after) == ShownList(past))
      var latest = home.list.updates(from: point).makeAsyncIterator()
      let update = try #require(try await latest.next())
      #expect(update.before.map { ShownList($0) } == ShownList(past) && update.sequence == head)
    }
    var now = home.list.updates(.everyCommit, from: .head).makeAsyncIterator()
    #expect(try await now.next()?.reason == .initial)
    for point in [LogPoint.sequence(head + 1), .position(LogPosition(sequence: 9, chain: 1))] {
      await #expect(throws: ListError.self) {
        var refused = home.list.updates(from: point).makeAsyncIterator()
        _ = try await refused.next()
      }
    }
  }

  @Test
  func `R57 Who wants every append gets one update for each, however late it asks`() async throws {
    let home = try await Household()
    var every = home.list.updates(.everyCommit).makeAsyncIterator()
    var all = [try #require(try await every.next())]
    #expect(all[0].reason == .initial && all[0].sequence == 3)
    for number in 0..<50 { try await home.chores.update(0) { $0.title = "a\(number)" } }
    // Concurrent callers, so that a block of the log holds several appends.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for id in 10..<110 { group.addTask { try await home.chores.put(Chore(id: id, title: "t")) } }
      try await group.waitForAll()
    }
    try await home.chores.put((200..<205).map { Chore(id: $0, title: "u") })
    while let last = all.last, last.sequence < home.store.head.sequence {
      all.append(try #require(try await every.next()))
    }
    #expect(all.count == 152)
    expectNoGap(all)
    #expect(all.last?.changes.insertions.count == 5)
    #expect(home.list.statistics.appendsCoalesced == 0)
    for update in all.suffix(110) {
      let past = try await home.list.snapshot(at: .sequence(update.sequence))
      #expect(ShownList(past) == ShownList(update.after))
      // The token is that of this append, even inside a block.
      #expect(update.after.token == past.token && past.token != nil)
      #expect(update.after.token?.chain == (try home.store.log.chain(after: update.sequence)))
    }
    // Appends that change nothing make no update with this policy either, and leave no gap.
    try await home.store.append([NewEvent("noted", in: "log/1", payload: EventPayload(.null))])
    try await home.chores.delete(0)
    all.append(try #require(try await every.next()))
    expectNoGap(all)
    #expect(all.last?.changes.deletions.map(\.id) == [0])
  }

  @Test
  func `R57 Who wants every append waits at the end, and goes on with the next`() async throws {
    let home = try await Household()
    let seen = Lock<[ChoreUpdate]>([])
    let following = Task {
      for try await update in home.list.updates(.everyCommit) { seen.withLock { $0.append(update) } }
    }
    for number in 0..<10 {
      await waiting { home.list.announcement.hasWaiters }
      try await home.chores.update(0) { $0.title = "a\(number)" }
      await waiting { seen.withLock { $0.last?.sequence } == home.store.head.sequence }
    }
    try await home.store.close()
    try await following.value
    let all = seen.withLock { $0 }
    #expect(all.count == 11)
    expectNoGap(all)
  }

  @Test
  func `R22 A new request for who wants every append is one difference at the same append`() async throws {
    let home = try await Household("abcd")
    var every = home.list.updates(.everyCommit).makeAsyncIterator()
    var all = [try #require(try await every.next())]
    try await home.chores.put(Chore(id: 8, title: "h"))
    try await home.chores.put(Chore(id: 9, title: "i"))
    all.append(try #require(try await every.next()))
    try await home.list.apply(Household.all.limited(perSection: 1))
    let update = try #require(try await every.next())
    #expect(update.reason == .reconfigured && update.sequence == 5 && update.before?.sequence == 5)
    #expect(update.changes.deletions.map(\.id).sorted() == [2, 3, 8])
    try await home.list.apply(Household.all.reportTouches())
    #expect(try await every.next()?.reason == .reconfigured)
    #expect(try await every.next()?.changes.insertions.map(\.id) == [9])
    try await home.chores.put(Chore(id: 9, title: "i"))
    #expect(try await every.next()?.changes.updates.map(\.id) == [9])
  }

  @Test
  func `R57 What is erased leaves the list of who wants every append, however far behind it is`() async throws
  {
    let home = try await Household("abc")
    var every = home.list.updates(.everyCommit).makeAsyncIterator()
    _ = try await every.next()
    try await home.chores.put(Chore(id: 9, title: "i"))
    try await home.store.erase(Erasure(streams: ["task/1"], because: "asked for"))
    var last: ChoreUpdate?
    while last?.after.contains(1) != false { last = try await every.next() }
    #expect(last?.changes.deletions.map(\.id) == [1])
    #expect(last.map { ShownList($0.after) } == ShownList(try await home.list.performFetch()))
  }

  @Test
  func `R53 Updates follow each other without a gap, also over appends that are not told`() async throws {
    let home = try await Household("abc", Household.open)
    var updates = home.list.updates.makeAsyncIterator()
    var all = [try #require(try await updates.next())]
    for round in 0..<20 {
      for _ in 0..<round % 4 {
        try await home.chores.put(Chore(id: 90, title: "x\(round)", isDone: true))
        // Another fetch, so that an append that changes nothing is processed separately.
        try await home.list.performFetch()
      }
      try await home.chores.update(0) { $0.title = "a\(round)" }
      all.append(try #require(try await updates.next()))
    }
    expectNoGap(all)
    #expect(all.dropFirst().allSatisfy { $0.reason == .changed })
    let counts = home.list.statistics
    #expect(counts.updatesDelivered == 21 && counts.updates == 20)
  }

  @Test
  func `R54 The first update is the whole list, whatever was appended since the iteration was made`()
    async throws
  {
    let home = try await Household()
    try await home.list.performFetch()
    for policy in [UpdatePolicy.latest, .everyCommit] {
      var updates = home.list.updates(policy).makeAsyncIterator()
      try await home.chores.put(Chore(id: Int(home.store.head.sequence) + 5, title: "x"))
      let first = try #require(try await updates.next())
      #expect(first.reason == .initial && first.before == nil && first.changes.isEmpty)
      #expect(first.sequence == home.store.head.sequence)
    }
  }

  @Test
  func
    `R75 Every iteration is a position of its own, ends with nil on cancellation, and resumes after an error`()
    async throws
  {
    let home = try await Household()
    var first = home.list.updates.makeAsyncIterator()
    _ = try await first.next()
    try await home.chores.delete(0)
    var second = home.list.updates.makeAsyncIterator()
    let other = try #require(try await second.next())
    #expect(other.reason == .initial && other.after.numberOfItems == 2)
    #expect(try await first.next()?.changes.deletions.map(\.id) == [0])
    // A cancelled task receives nil; the others continue.
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var updates = home.list.updates.makeAsyncIterator()
      return try await updates.next()
    }
    #expect(try await cancelled.value == nil)
    // A list that cannot continue throws and keeps its content, with which a new iteration begins.
    home.store.log.tail.finish(.poisoned("a sync failed"))
    await #expect(throws: ListError.self) { try await first.next() }
    #expect(home.list.snapshot?.numberOfItems == 2)
    var third = home.list.updates.makeAsyncIterator()
    #expect(try await third.next()?.reason == .initial)
    home.list.cancel()
    #expect(try await third.next() == nil)
  }

  @Test
  func
    `R75 A failure that passes is told to every iteration of its time once, and to none that began behind it`()
    async throws
  {
    let home = try await Household()
    var first = home.list.updates.makeAsyncIterator()
    var second = home.list.updates.makeAsyncIterator()
    for title in ["x", "y"] {
      _ = (try await first.next(), try await second.next())
      try await home.chores.put(Chore(id: 0, title: title))
    }
    home.list.failFollowing(with: .store(.poisoned("a sync failed")))
    // Updates before the failure are delivered before it.
    try await home.list.performFetch()
    #expect(try await first.next()?.changes.updates.count == 1)
    await #expect(throws: ListError.self) { try await first.next() }
    #expect(try await first.next() == nil)
    // A later iteration does not consume the updates of the others.
    var third = home.list.updates.makeAsyncIterator()
    #expect(try await third.next()?.reason == .initial)
    #expect(try await second.next()?.changes.updates.count == 1)
    await #expect(throws: ListError.self) { try await second.next() }
    try await home.chores.delete(1)
    #expect(try await third.next()?.changes.deletions.map(\.id) == [1])
    // It ends as if there had been no failure.
    try await home.store.close()
    #expect(try await third.next() == nil)
  }
}
