// Many tasks that change one document: every update is carried out, whatever else is written.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import Testing

private struct Counter: Codable, Identifiable, Sendable, Equatable {
  var id = "a"
  var count = 0
  var note: Int?
}

@Suite struct UpdateFaultTests {
  private struct Refusal: Error {}

  private static let stream = StreamName("counter/a")

  /// - Parameter isTimed: false for updates that never time out, however slow the machine is.
  private func counters(isTimed: Bool = true) async throws -> DocumentCollection<Counter> {
    let counters = EventStore.inMemory().collection("counter", of: Counter.self)
    if !isTimed {
      _ = counters.store.attachment {
        DocumentTurns(pace: RetryPace(now: { MonotonicTime(nanoseconds: 0) }))
      }
    }
    try await counters.put(Counter())
    return counters
  }

  /// A concurrent write of another field, without a version check.
  private func note(_ number: Int, in store: EventStore) throws {
    let event = NewEvent(DocumentEvent.merge, in: Self.stream, ["note": .int(Int64(number))])
    let draft = try store.draft([event], id: nil, time: nil, expecting: [:], isOwn: false)
    _ = try store.log.appendBlocking(draft)
  }

  @Test func `fault 54: of many tasks that update one document each succeeds, and decides once`() async throws
  {
    let counters = try await counters()
    let runs = Lock(0)
    try await withThrowingTaskGroup { group in
      for _ in 0..<64 {
        group.addTask {
          for _ in 0..<4 {
            try await counters.update("a") { counter in
              runs.withLock { $0 += 1 }
              counter.count += 1
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await counters["a"]?.count == 256)
    #expect(runs.withLock { $0 } == 256, "an update was decided more than once")
    #expect(counters.store.head.sequence == 257)
  }

  @Test func `fault 54: an update that others write past decides anew until it succeeds, and loses nothing`()
    async throws
  {
    let counters = try await counters(isTimed: false)
    let store = counters.store
    // More often than any plausible limit on attempts.
    for interruptions in [1, 20] {
      var left = interruptions
      var runs = 0
      try await counters.update("a") { counter in
        runs += 1
        if left > 0 { try note(left, in: store) }
        left -= 1
        counter.count += 1
      }
      #expect(runs == interruptions + 1)
    }
    #expect(try await counters["a"] == Counter(count: 2, note: 1))
    #expect(!store.documentTurns.turns.isBusy)
  }

  @Test
  func `Updates beside puts that look at nothing all succeed, each on what was there before it`() async throws
  {
    let counters = try await counters(isTimed: false)
    let isDone = Lock(false)
    let puts = Task {
      var number = 1_000_000
      while !isDone.withLock({ $0 }) {
        number += 1_000
        try await counters.put(Counter(count: number))
        // Takes as long as an update reads, so that a put interferes with every second update and not with each.
        for _ in 0..<2 { _ = try await counters["a"] }
      }
    }
    let receipts = try await withThrowingTaskGroup(of: [UInt64].self) { group in
      for _ in 0..<16 {
        group.addTask {
          var receipts: [UInt64] = []
          for _ in 0..<4 {
            guard case .changed(_, let receipt) = try await counters.update("a", { $0.count += 1 }) else {
              throw Refusal()
            }
            receipts.append(receipt.sequences.lowerBound)
          }
          return receipts
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    isDone.withLock { $0 = true }
    try await puts.value
    #expect(Set(receipts).count == 64)
    for receipt in receipts {
      let sets = try counters.store.statesBlocking(
        at: [.sequence(receipt - 1), .sequence(receipt)], .documents(only: nil))
      let counts = try sets.map { try $0["counter"].row("a", as: Counter.self)?.count }
      #expect(counts[1] == counts[0].map { $0 + 1 }, "the update at \(receipt) lost the write before it")
    }
  }

  @Test
  func `An update whose time is over says conflict, after pauses that stay short`() async throws {
    let time = Lock(MonotonicTime(nanoseconds: 0))
    let pauses = Lock<[Duration]>([])
    let counters = try await counters()
    let store = counters.store
    _ = store.attachment {
      DocumentTurns(
        pace: RetryPace(now: { time.withLock { $0 } }) { pause in
          pauses.withLock { $0.append(pause) }
          time.withLock { $0 = $0.advanced(by: pause) }
        })
    }
    let error = await #expect(throws: StoreError.self) {
      try await counters.update("a") { counter in
        try note(1, in: store)
        counter.count += 1
      }
    }
    guard case .conflict(Self.stream.text, _, _) = error else {
      return #expect(Bool(false), "\(error as Any)")
    }
    #expect(try await counters["a"]?.count == 0)
    let waited = pauses.withLock { $0 }
    #expect(waited.reduce(.zero, +) >= DocumentCollection<Counter>.updateTimeMax)
    #expect(waited.allSatisfy { $0 <= Retries.pauseMax })
    #expect(waited.prefix(5).reduce(.zero, +) <= Retries.pauseMin * 31)
    #expect(Set(waited).count > waited.count / 2, "the pauses must differ, so that retries do not coincide")
    #expect(!store.documentTurns.turns.isBusy)
  }

  /// Starts updates that wait while the test holds the turn, in the order of their numbers.
  private func waiting(
    _ count: Int, in counters: DocumentCollection<Counter>, _ order: Lock<[Int]>
  ) async throws -> [Task<Void, any Error>] {
    let turns = counters.store.documentTurns.turns
    var updates: [Task<Void, any Error>] = []
    for number in 0..<count {
      updates.append(
        Task {
          try await counters.update("a") { counter in
            order.withLock { $0.append(number) }
            if number == 1 { throw Refusal() }
            if number != 2 { counter.count += 1 }
          }
        })
      while turns.waitingCount(of: Self.stream) <= number { await Task.yield() }
    }
    return updates
  }

  @Test
  func
    `The turn is given on in the order of the calls, past one that throws, one that changes nothing and one that finds nothing`()
    async throws
  {
    let counters = try await counters()
    let turns = counters.store.documentTurns.turns
    let order = Lock<[Int]>([])
    try await turns.take(Self.stream)
    let updates = try await waiting(5, in: counters, order)
    turns.give(Self.stream)
    for (number, update) in updates.enumerated() {
      if number == 1 {
        await #expect(throws: Refusal.self) { try await update.value }
      } else {
        try await update.value
      }
    }
    #expect(order.withLock { $0 } == [0, 1, 2, 3, 4])
    #expect(try await counters["a"]?.count == 3)
    for _ in 0..<2 {
      guard case .absent = try await counters.update("b", { $0.count = 1 }) else { throw Refusal() }
      await #expect(throws: StoreError.self) { try await counters.update("a") { $0.id = "b" } }
    }
    #expect(!turns.isBusy)
  }

  @Test
  func `An update that is cancelled while it waits ends at once, and those after it get their turn`()
    async throws
  {
    let counters = try await counters()
    let turns = counters.store.documentTurns.turns
    let order = Lock<[Int]>([])
    try await turns.take(Self.stream)
    let updates = try await waiting(6, in: counters, order)
    for number in [0, 3, 5] {
      updates[number].cancel()
      // The turn is still held.
      await #expect(throws: CancellationError.self) { try await updates[number].value }
    }
    #expect(turns.waitingCount(of: Self.stream) == 3)
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await counters.update("a") { $0.count += 100 }
    }
    await #expect(throws: CancellationError.self) { try await late.value }
    turns.give(Self.stream)
    await #expect(throws: Refusal.self) { try await updates[1].value }
    for number in [2, 4] { try await updates[number].value }
    #expect(order.withLock { $0 } == [1, 2, 4])
    #expect(try await counters["a"]?.count == 1)
    #expect(!turns.isBusy)
  }

  @Test
  func `Updates of different documents do not wait for each other`() async throws {
    let counters = try await counters()
    try await counters.put(Counter(id: "b"))
    let turns = counters.store.documentTurns.turns
    try await turns.take(Self.stream)
    try await counters.update("b") { $0.count += 1 }
    #expect(try await counters["b"]?.count == 1)
    turns.give(Self.stream)
    #expect(!turns.isBusy)
  }

  @Test
  func `However tasks are cancelled, one at a time has the turn, and everybody else gets it`() async throws {
    let turns = Turns<StreamName>()
    let having = Lock(0)
    let (taken, refused) = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<2_000 {
        let task = Task {
          do { try await turns.take(Self.stream) } catch {
            return false
          }
          #expect(
            having.withLock {
              $0 += 1; return $0
            } == 1)
          if number % 3 == 0 { await Task.yield() }
          having.withLock { $0 -= 1 }
          turns.give(Self.stream)
          return true
        }
        group.addTask {
          if number % 2 == 0 {
            for _ in 0..<number % 7 { await Task.yield() }
            task.cancel()
          }
          return await task.value
        }
      }
      return await group.reduce(into: (0, 0)) { if $1 { $0.0 += 1 } else { $0.1 += 1 } }
    }
    #expect(taken >= 1_000 && taken + refused == 2_000)
    #expect(!turns.isBusy)
  }
}
