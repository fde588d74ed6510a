// Copies of a feed into a second store: the same events, and the positions of consumers where they hold.

import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct CopyTests {
  /// A store with some appends, of which two consumers have handled some, one with effects.
  private func source(seed: UInt64) async throws -> EventStore {
    let store = EventStore.inMemory(clock: .fixed)
    var random = RandomLoad(seed: seed)
    for part in 0..<3 {
      try await store.load(random.appends(20))
      try await store.consumer("reader").run(until: .caughtUp) { _, _ in }
      guard part < 2 else { continue }
      try await store.consumer("writer").run(until: .caughtUp) { append, batch in
        try batch.append(NewEvent("seen", in: "seen/\(append.sequences.lowerBound)", .null))
      }
    }
    return store
  }

  @Test(arguments: 0..<4)
  func `a feed that is copied into an empty store is the same, and its consumers go on where they were`(
    number: Int
  ) async throws {
    let seed = StrataSimulation.SeededGenerator.testSeed() &+ UInt64(number)
    let source = try await source(seed: seed)
    let target = EventStore.inMemory()
    let receipt = try await target.load(copying: source.feed(of: .all.includingInternal(), until: .caughtUp))
    #expect(target.head == source.head, "SEED=\(seed)")
    #expect(receipt.droppedConsumers == [] && receipt.leftOutCount == 0)
    let (own, copied) = (try await source.consumers(), try await target.consumers())
    #expect(own.map(\.name) == ["reader", "writer"] && copied.map(\.name) == own.map(\.name))
    #expect(copied.map(\.position) == own.map(\.position) && copied.map(\.lag) == own.map(\.lag))
    var (first, second): ([UInt64], [UInt64]) = ([], [])
    try await source.consumer("writer").run(until: .caughtUp) { append, _ in
      first.append(append.sequences.lowerBound)
    }
    try await target.consumer("writer").run(until: .caughtUp) { append, _ in
      second.append(append.sequences.lowerBound)
    }
    #expect(first == second && !first.isEmpty)
    for store in [source, target] { try await store.close() }
  }

  @Test func `positions of other events are dropped and named, and the events are there`() async throws {
    let source = try await source(seed: 7)
    let target = EventStore.inMemory()
    try await target.append([NewEvent("own", in: "own/1", .null)])
    let receipt = try await target.load(copying: source.feed(of: .all.includingInternal(), until: .caughtUp))
    #expect(receipt.droppedConsumers == ["reader", "writer"])
    #expect(try await target.consumers() == [])
    for stream in ["kind0/0", "kind1/3", "kind2/4"] as [StreamName] {
      let (one, other) = (try await source.events(in: stream), try await target.events(in: stream))
      #expect(one.map(\.payload) == other.map(\.payload) && one.map(\.time) == other.map(\.time))
    }
    for store in [source, target] { try await store.close() }
  }

  @Test func `a consumer of which an earlier position was copied begins again where a later one is dropped`()
    async throws
  {
    let source = EventStore.inMemory(clock: .fixed)
    func handle() async throws { try await source.consumer("reader").run(until: .caughtUp) { _, _ in } }
    try await source.append([NewEvent("t", in: "a/1", .null)])
    try await handle()
    try await source.append([NewEvent("t", in: "a/2", .null)])
    try await source.erase(Erasure(streams: ["a/2"], because: "a test"))
    try await source.append([NewEvent("t", in: "a/3", .null)])
    try await handle()
    let target = EventStore.inMemory()
    let receipt = try await target.load(copying: source.feed(of: .all.includingInternal(), until: .caughtUp))
    #expect(receipt.droppedConsumers == ["reader"])
    // The erased event, the order and the notes.
    let noteCount = try await source.events(in: "$erasures").count
    #expect(noteCount >= 2 && receipt.leftOutCount == UInt64(noteCount + 1))
    #expect(try await target.consumers() == [])
    #expect(try await target.events(in: "a/3").count == 1)
    #expect(try await target.events(in: "a/2").isEmpty)
    for store in [source, target] { try await store.close() }
  }
}
