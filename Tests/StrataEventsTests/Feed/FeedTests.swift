// Feeds beyond what the property test walks through: places behind the end, other processes, lost histories.

import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct FeedTests {
  private func event(_ number: Int) -> NewEvent {
    NewEvent("t", in: "s/1", payload: .opaque([UInt8(truncatingIfNeeded: number)]))
  }

  @Test
  func `fault 33: a feed from the future waits, and never delivers anything older`()
    async throws
  {
    let store = EventStore.inMemory()
    let future = Task {
      var seen: [UInt64] = []
      for try await append in store.feed(from: .sequence(5)) { seen += append.sequences }
      return seen
    }
    let never = Task {
      for try await _ in store.feed(from: .sequence(.max)) {
        Issue.record("something stands behind the last sequence")
      }
    }
    for number in 0..<4 { try await store.append([event(number), event(number)]) }
    try await store.close()
    // The append that holds sequence 6 begins at 5, and is delivered whole.
    #expect(try await future.value == [5, 6, 7, 8])
    try await never.value
  }

  @Test
  func `a feed that waits when the store is closed first delivers what was committed`()
    async throws
  {
    for _ in 0..<60 {
      let store = EventStore.inMemory()
      try await withThrowingTaskGroup(of: Int.self) { group in
        // Many, so that some of them look at the log just before the append and at its end just behind the close.
        for _ in 0..<40 {
          group.addTask {
            var count = 0
            for try await _ in store.feed() { count += 1 }
            return count
          }
        }
        try store.appendBlocking([event(1)])
        try store.closeBlocking()
        for try await count in group { #expect(count == 1) }
      }
    }
  }

  @Test func `a feed whose task is cancelled ends, and others go on`() async throws {
    let store = EventStore.inMemory()
    try await store.append([event(1)])
    let first = Task {
      var count = 0
      for try await _ in store.feed() { count += 1 }
      return count
    }
    let second = Task {
      for try await append in store.feed(from: .head) { return append.sequences.lowerBound }
      return 0
    }
    first.cancel()
    _ = try await first.value
    while !store.log.tail.hasWaiters { await Task.yield() }
    try await store.append([event(2)])
    #expect(try await second.value == 2)
    try await store.close()
  }

  @Test func `fault 34: a consumer that was ahead of what a power cut left is told that the log diverged`()
    async throws
  {
    var options = StoreOptions()
    options.durability = .buffered
    options.headSyncInterval = .seconds(3_600)
    options.clock = .fixed
    let disk = SimulatedDisk()
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: options)
    for number in 0..<5 { try store.appendBlocking([event(number)]) }
    let ahead = store.head
    var durable = 0
    for try await _ in store.feed(until: .caughtUp, durableOnly: true) { durable += 1 }
    #expect(durable == 0, "nothing is on disk yet")
    let after = disk.crash(seed: 1, model: .dropAll)
    let again = try EventStore.open(after, path: "/store", .readWrite, options: options)
    #expect(again.head.sequence == 0)
    func expectDiverged() async {
      await #expect(throws: StoreError.diverged(sequence: 5)) {
        for try await _ in again.feed(from: .position(ahead), until: .caughtUp) {}
      }
    }
    await expectDiverged()
    for number in 10..<20 { try again.appendBlocking([event(number)]) }
    await expectDiverged()
    try store.closeBlocking()
    try again.closeBlocking()
  }

  @Test(arguments: [2, 4], [1, 12])
  func `a feed beside a writer that lost what was only buffered is told so, caught up or behind`(
    read: Int, more: Int
  ) async throws {
    var options = StoreOptions()
    options.durability = .buffered
    options.headSyncInterval = .seconds(3_600)
    options.clock = .fixed
    let disk = SimulatedDisk()
    let first = try EventStore.open(disk, path: "/store", .readWrite, options: options)
    try first.appendBlocking([event(0)])
    try first.closeBlocking()
    let writer = try EventStore.open(disk, path: "/store", .readWrite, options: options)
    for number in 1...3 { try writer.appendBlocking([event(number), event(number)]) }
    let reader = try EventStore.open(disk, path: "/store", .readOnly, options: options)
    var feed = reader.feed().makeAsyncIterator()
    for _ in 0..<read { _ = try await feed.next() }
    disk.inject(SimulatedSyncFailure(keepsData: false, isReported: true))
    #expect(throws: StoreError.self) { try writer.closeBlocking() }
    let next = try EventStore.open(disk, path: "/store", .readWrite, options: options)
    for number in 0..<more { try next.appendBlocking([event(100 + number)]) }
    await #expect(throws: StoreError.diverged(sequence: 7)) {
      while let append = try await feed.next() {
        #expect(append.sequences.upperBound <= 7 && append.events[0].payload.bytes[0] < 100)
      }
    }
    try next.closeBlocking()
    try reader.closeBlocking()
  }

  @Test func `fault 32: a slow consumer holds nobody up, and misses nothing`() async throws {
    var options = StoreOptions()
    options.segmentSizeTarget = 5_000
    let store = try EventStore.open(MemoryFileSystem(), path: "/store", .readWrite, options: options)
    var feed = store.feed().makeAsyncIterator()
    var expected: UInt64 = 1
    for round in 0..<30 {
      for number in 0..<20 { try store.appendBlocking([event(round * number)]) }
      for _ in 0..<3 {
        let append = try #require(try await feed.next())
        #expect(append.sequences == expected...expected)
        expected += 1
      }
    }
    try store.closeBlocking()
    while let append = try await feed.next() {
      #expect(append.sequences.lowerBound == expected)
      expected += 1
    }
    #expect(expected == 601)
  }
}
