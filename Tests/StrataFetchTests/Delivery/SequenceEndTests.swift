// How each asynchronous sequence ends: one test for each row of the table in Sequences.md.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import Testing

@testable internal import StrataFetch
@testable internal import StrataLists

@Suite struct SequenceEndTests {
  /// What iterating has led to.
  private enum End: Equatable {
    case ended
    case failed(String)
  }

  /// Iterates until the sequence ends; `received` is called after each element.
  private func end<Elements: AsyncSequence & Sendable>(
    of elements: Elements, _ received: @escaping @Sendable (Int) -> Void
  ) -> Task<(end: End, count: Int), Never> {
    Task {
      var count = 0
      do {
        for try await _ in elements {
          count += 1
          received(count)
        }
        return (.ended, count)
      } catch {
        return (.failed("\(error)"), count)
      }
    }
  }

  /// Ends a task that waits after its first element.
  private func end<Elements: AsyncSequence & Sendable>(
    of elements: Elements, _ finish: (Task<(end: End, count: Int), Never>) async throws -> Void
  ) async throws -> (end: End, count: Int) {
    let count = Lock(0)
    let task = end(of: elements) { received in count.withLock { $0 = received } }
    await waiting { count.withLock { $0 } > 0 }
    try await finish(task)
    return await task.value
  }

  @Test
  func `a feed returns nil when its task is cancelled`()
    async throws
  {
    let home = try await Household()
    let end = try await end(of: home.store.feed(from: .sequence(2))) { $0.cancel() }
    #expect(end == (.ended, 1))
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var feed = home.store.feed().makeAsyncIterator()
      return try await feed.next() == nil
    }
    #expect(try await cancelled.value)
  }

  @Test func `a feed returns nil when its store is closed`() async throws {
    let home = try await Household()
    let end = try await end(of: home.store.feed(from: .sequence(2))) { _ in
      try await home.store.close()
    }
    #expect(end == (.ended, 1))
    var late = home.store.feed(from: .head).makeAsyncIterator()
    #expect(try await late.next() == nil)
  }

  @Test func `an export throws when its task is cancelled, and is whole when its store is closed`()
    async throws
  {
    let home = try await Household()
    let export = home.store.export()
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var lines = export.makeAsyncIterator()
      return try await lines.next()
    }
    await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
    var (before, after): ([UInt8], [UInt8]) = ([], [])
    for try await lines in export { before += lines }
    try await home.store.close()
    for try await lines in export { after += lines }
    #expect(!before.isEmpty && after == before)
  }

  @Test(arguments: [UpdatePolicy.latest, .everyCommit], [nil, Duration.seconds(3_600)])
  func
    `updates return nil when the task or the list is cancelled, or the store closed, and stay ended`(
      policy: UpdatePolicy, pace: Duration?
    ) async throws
  {
    for way in 0..<3 {
      let home = try await Household()
      let end = try await end(of: home.list.updates(policy, every: pace)) { task in
        switch way {
        case 0: task.cancel()
        case 1: home.list.cancel()
        default: try await home.store.close()
        }
      }
      #expect(end == (.ended, 1), "\(way)")
    }
    let home = try await Household()
    var updates = home.list.updates(policy, every: pace).makeAsyncIterator()
    #expect(try await updates.next() != nil)
    try await home.store.close()
    #expect(try await updates.next() == nil)
    #expect(try await updates.next() == nil)
    // A closed store can still be read.
    var late = home.list.updates(policy, every: pace).makeAsyncIterator()
    #expect(try await late.next()?.reason == .initial)
    #expect(try await late.next() == nil)
  }

  @Test func `joined updates return nil when the task or a list is cancelled, or the store closed`()
    async throws
  {
    for way in 0..<3 {
      let home = try await Household()
      let other = FetchController(Household.open, from: home.chores)
      let end = try await end(of: JoinedUpdates(home.list, other)) { task in
        switch way {
        case 0: task.cancel()
        case 1: other.cancel()
        default: try await home.store.close()
        }
      }
      #expect(end == (.ended, 1), "\(way)")
    }
  }

  @Test func `a consumer's run returns when its task is cancelled, or the store closed`()
    async throws
  {
    for way in 0..<2 {
      let home = try await Household()
      let count = Lock(0)
      let run = Task {
        try await home.store.consumer("worker").run { _, _ in count.withLock { $0 += 1 } }
      }
      await waiting { count.withLock { $0 } == 3 }
      if way == 0 { run.cancel() } else { try await home.store.close() }
      try await run.value
      if way == 0 {
        #expect(try await home.store.consumer("worker").status().position?.sequence == 3)
      }
    }
  }

  @Test func `an observation makes no call after its cancellation, nor after the store was closed`()
    async throws
  {
    for way in 0..<2 {
      let home = try await Household()
      let count = Lock(0)
      let observation = home.list.observe(on: .scheduled { $0() }) { _ in count.withLock { $0 += 1 }
      }
      await waiting { count.withLock { $0 } == 1 }
      if way == 0 { observation.cancel() } else { try await home.store.close() }
      if way == 0 { try await home.chores.put(Chore(id: 9, title: "x")) }
      _ = try await home.list.performFetch()
      #expect(count.withLock { $0 } == 1)
      observation.cancel()
    }
  }

  @MainActor @Test func `a live list keeps what it shows, with the phase ended`() async throws {
    for way in 0..<3 {
      let home = try await Household()
      let list = LiveList(home.list)
      while list.phase != .ready { await Task.yield() }
      switch way {
      case 0: list.cancel()
      case 1: home.list.cancel()
      default: try await home.store.close()
      }
      while list.phase != .ended { await Task.yield() }
      #expect(list.snapshot?.numberOfItems == 3)
    }
  }
}
