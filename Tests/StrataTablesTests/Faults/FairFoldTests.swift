// Slow folds, and work that must not wait for them.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct FairFoldTests {
  /// - Parameter patience: an hour by default, so that only the end of a slice lets other folds continue.
  private func threads(
    active: Int = 1, most: Int = 8, slice: Duration = .zero, patience: Duration = .seconds(3600)
  ) -> FairThreads {
    var limits = FairThreads.Limits()
    (limits.activeCountMax, limits.threadCountMax) = (active, most)
    (limits.slice, limits.patience) = (slice, patience)
    return FairThreads(name: "fair", limits: limits)
  }

  private func read(_ store: EventStore) async throws -> TableSet {
    try await store.projector(.own(GatedProjection())).state(reaching: .max)
  }

  private func whole(_ store: EventStore) throws -> UInt64 {
    let fold = Fold(store.log, .own(GatedProjection()))
    try fold.run(through: .max)
    return fold.state.stateHash
  }

  @Test func `fault 55: a fold gives up its thread after a slice, and goes on when the others had theirs`()
    async throws
  {
    let threads = threads()
    let (begin, end) = (Door.named("slice begin"), Door.named("slice end"))
    let long = try EventStore.gated(
      ["slice begin"] + Array(repeating: nil, count: 50) + ["slice end"], on: threads)
    let short = try EventStore.gated(Array(repeating: nil, count: 20), on: threads)
    let first = Task { try await read(long) }
    await begin.waits()
    let second = Task { try await read(short) }
    while threads.waitingCount == 0 { await Task.yield() }
    begin.open()
    // Otherwise the only thread would wait at the other door, which is closed.
    #expect(try await second.value.sequence == 20)
    #expect(!first.isCancelled)
    end.open()
    let state = try await first.value
    #expect(state.sequence == 52 && state.appendCount == 52)
    #expect(try state.stateHash == whole(long))
  }

  @Test func `fault 55: while folds hold every thread, another store's read is answered`() async throws {
    let threads = threads(active: 2, most: 6, patience: .milliseconds(1))
    let door = Door.named("every thread")
    let slow = try (0..<4).map { _ in try EventStore.gated(["every thread"], on: threads) }
    let reads = slow.map { store in Task { try await read(store) } }
    await door.waits(for: 4)
    let small = try EventStore.gated([], on: threads)
    try small.appendBlocking([NewEvent(DocumentEvent.put, in: "page/a", ["title": "A"])])
    #expect(try await small.documents("page").table.row("a")?.fields["title"] == "A")
    #expect(try await small.states(at: [.sequence(1)], .documents(only: nil)).map(\.sequence) == [1])
    door.open()
    for read in reads { #expect(try await read.value.sequence == 1) }
    #expect(threads.threadCount <= 6)
  }

  @Test(.timeLimit(.minutes(3)))
  func `fault 117: a step that was given up keeps no thread from other work`() async throws {
    let threads = threads(active: 1, most: 2)
    let gate = Gate((arrived: 0, isOpen: false))
    for number in 0..<4 {
      let slice = TimeSlice()
      threads.start(slice) {
        gate.withLock { $0.arrived += 1 }
        gate.wait { $0.isOpen }
        return false
      }
      while gate.withLock({ $0.arrived }) <= number { await Task.yield() }
      threads.giveUp(slice)
    }
    let other = Lock(false)
    threads.start(TimeSlice()) {
      other.withLock { $0 = true }
      return false
    }
    while !other.withLock({ $0 }) { await Task.yield() }
    gate.withLock { $0.isOpen = true }
    gate.signalAll()
    // The threads above the limit end.
    while threads.threadCount > 2 { await Task.yield() }
  }

  @Test func `fault 55: a read that is cancelled ends at once, and the fold goes on for the others`()
    async throws
  {
    let threads = threads()
    let door = Door.named("cancelled")
    let store = try EventStore.gated([nil, "cancelled", nil, nil], on: threads)
    let reads = (0..<3).map { _ in Task { try await read(store) } }
    await door.waits()
    for cancelled in [0, 2] {
      reads[cancelled].cancel()
      // The door is closed.
      await #expect(throws: CancellationError.self) { try await reads[cancelled].value }
    }
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await read(store)
    }
    await #expect(throws: CancellationError.self) { try await late.value }
    door.open()
    let state = try await reads[1].value
    #expect(state.sequence == 4)
    #expect(try state.stateHash == whole(store))
  }

  @Test func `fault 55: a fold that nobody waits for any more stops, and the next read goes on there`()
    async throws
  {
    // The slice is so long that only the end of the wait stops the fold.
    let threads = threads(slice: .seconds(3600))
    let (first, second) = (Door.named("unwanted 1"), Door.named("unwanted 2"))
    let store = try EventStore.gated([nil, "unwanted 1", nil, "unwanted 2", nil], on: threads)
    let unwanted = Task { try await read(store) }
    await first.waits()
    unwanted.cancel()
    await #expect(throws: CancellationError.self) { try await unwanted.value }
    first.open()
    // Runs on the only thread, once the fold has given it up. If a read were still waiting, the fold would be at the
    // second door.
    let arrived = try await threads.result { _ -> Int? in second.arrivedCount }
    #expect(arrived == 0)
    #expect(store.projector(.own(GatedProjection())).published.sequence == 0)
    second.open()
    let state = try await read(store)
    #expect(state.sequence == 5)
    #expect(try state.stateHash == whole(store))
    #expect(second.arrivedCount == 2 && first.arrivedCount == 2, "the store's fold, and this test's")
  }

  @Test
  func `A replay that is cancelled ends at once, and its thread goes on with the next`() async throws {
    let threads = threads()
    let door = Door.named("replay")
    let store = try EventStore.gated([nil, "replay", nil], on: threads)
    let replay = Task { try await store.states(at: [.sequence(1), .head], .own(GatedProjection())) }
    await door.waits()
    let next = Task { try await store.states(at: [.sequence(1)], .own(GatedProjection())) }
    while threads.waitingCount == 0 { await Task.yield() }
    replay.cancel()
    await #expect(throws: CancellationError.self) { try await replay.value }
    // A cancelled replay no longer waits for a thread.
    let never = Task { try await store.states(at: [.sequence(1)], .own(GatedProjection())) }
    while threads.waitingCount == 1 { await Task.yield() }
    never.cancel()
    await #expect(throws: CancellationError.self) { try await never.value }
    #expect(threads.waitingCount == 1)
    door.open()
    #expect(try await next.value.map(\.sequence) == [1])
  }

  @Test
  func `Threads that are not needed any more end, but for those that are active and one that watches`()
    async throws
  {
    let threads = threads(active: 2, most: 7, patience: .milliseconds(1))
    let door = Door.named("spare")
    let slow = try (0..<7).map { _ in try EventStore.gated(["spare"], on: threads) }
    let reads = slow.map { store in Task { try await read(store) } }
    await door.waits(for: 7)
    #expect(threads.threadCount == 7)
    door.open()
    for read in reads { _ = try await read.value }
    while threads.threadCount > 3 { await Task.yield() }
    // The remaining threads still work.
    for store in slow {
      #expect(try await store.states(at: [.head], .own(GatedProjection()))[0].sequence == 1)
    }
  }

  @Test
  func `Work that begins again before its thread is back counts once, however often it does`() async throws {
    let threads = threads(active: 2, most: 3)
    let store = try EventStore.gated([nil], on: threads)
    for sequence in 2...400 {
      try store.appendBlocking([NewEvent("t", in: "open/a", .null)])
      #expect(try await read(store).sequence == UInt64(sequence))
    }
    // Both threads are free: the two reads need one each.
    let (one, two) = (Door.named("again 1"), Door.named("again 2"))
    let doors = try ["again 1", "again 2"].map { try EventStore.gated([$0], on: threads) }
    let reads = doors.map { store in Task { try await read(store) } }
    await one.waits()
    await two.waits()
    one.open()
    two.open()
    for read in reads { #expect(try await read.value.sequence == 1) }
  }

  @Test
  func `A fold that stops after every event comes to the states that it comes to in one go`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let store = EventStore.inMemory()
    for _ in 0..<60 {
      let events = (0..<Int.random(in: 1...7, using: &random)).map { _ in
        let id = Int.random(in: 0..<20, using: &random)
        return NewEvent(
          DocumentEvent.put, in: StreamName("page/\(id)"),
          ["n": .int(Int64.random(in: 0...9, using: &random))])
      }
      let draft = try store.draft(events, id: nil, time: nil, expecting: [:], isOwn: false)
      _ = try store.log.appendBlocking(draft)
    }
    let slice = TimeSlice()
    slice.setWanted(false)
    var states: [UInt64: UInt64] = [:]
    let whole = Fold(store.log, .documents(only: nil))
    try whole.runByAppend(through: .max) { states[$0.sequence] = $0.stateHash }
    let (stopping, byAppend) = (
      Fold(store.log, .documents(only: nil)), Fold(store.log, .documents(only: nil))
    )
    var stops = 0
    var taken: [TableSet] = []
    let head = store.head.sequence
    while try !stopping.run(through: head, slice) { stops += 1 }
    #expect(stops == Int(head) - 1)
    #expect(stopping.state.stateHash == whole.state.stateHash)
    while taken.count < 60 {
      if let more = try byAppend.statesByAppend(through: head, countMax: 5, slice) { taken += more }
    }
    #expect(taken.allSatisfy { states[$0.sequence] == $0.stateHash } && taken.count == states.count)
    try store.eraseBlocking(Erasure(streams: ["page/3", "page/4"], because: "asked to"))
    let end = store.head.sequence
    let anew = Fold(store.log, .documents(only: nil))
    try anew.run(through: end)
    for fold in [stopping, byAppend] {
      while try !fold.run(through: end, slice) { stops += 1 }
      #expect(fold.state.sequence == end && fold.state.stateHash == anew.state.stateHash)
    }
    #expect(stops > 3 * Int(head) - 10, "a fold that begins again from the start must stop, too")
  }
}
