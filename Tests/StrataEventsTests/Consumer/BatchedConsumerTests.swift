// Consumers whose effects are appended in batches: what is in the log, and how often the handler is called.

import StrataBase
import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct BatchedConsumerTests {
  private struct Refusal: Error {}

  private func options(batchCount: Int, _ change: (inout ConsumerOptions) -> Void = { _ in })
    -> ConsumerOptions
  {
    var options = ConsumerOptions()
    (options.retryDelay, options.saveInterval) = (.zero, .seconds(3600))
    options.selection = .types("order")
    options.batchCount = batchCount
    change(&options)
    return options
  }

  private func fill(_ store: EventStore, _ count: Int) async throws {
    for number in 0..<count {
      try await store.append([NewEvent("order", in: "order/\(number)", .int(Int64(number)))])
    }
  }

  /// The appends that have effects, without the positions.
  private func effects(_ store: EventStore) async throws -> [RecordedAppend] {
    var appends: [RecordedAppend] = []
    for try await append in store.feed(of: .types("done"), until: .caughtUp) { appends.append(append) }
    return appends
  }

  @Test func `effects of what waits are one append for each batch, in order, and each knows its order`()
    async throws
  {
    let store = EventStore.inMemory()
    try await fill(store, 1_000)
    let consumer = store.consumer("worker", options(batchCount: 256))
    var handled: [UInt64] = []
    try await consumer.run(until: .caughtUp) { append, batch in
      handled.append(append.sequences.lowerBound)
      try batch.append(NewEvent("done", in: "done/all", .int(Int64(append.sequences.lowerBound))))
    }
    #expect(handled == Array(1...1_000))
    let appends = try await effects(store)
    #expect(appends.map(\.events.count) == [256, 256, 256, 232])
    for event in appends.flatMap(\.events) {
      let cause = try await store.cause(of: event.sequence)
      #expect(try event.document() == .int(Int64(cause?.sequence ?? 0)) && cause?.consumer == "worker")
    }
    let status = try await consumer.status()
    #expect(status.position?.sequence == 1_000 && status.lag == 0)
    // What is no effect has no cause.
    #expect(try await store.cause(of: 1) == nil)
    #expect(try await store.cause(of: appends[0].sequences.upperBound) == nil)
    #expect(try await store.cause(of: 1_000_000) == nil)
  }

  @Test func `nothing waits for a batch to fill`() async throws {
    let store = EventStore.inMemory()
    let (handled, handle) = AsyncStream.makeStream(of: Int.self)
    let consumer = store.consumer("worker", options(batchCount: 256))
    let run = Task {
      try await consumer.run { _, batch in try batch.append(NewEvent("done", in: "done/all", .null)) }
    }
    let watch = Task {
      var count = 0
      for try await append in store.feed(of: .types("done")) {
        count += append.events.count
        handle.yield(count)
      }
    }
    var counts = handled.makeAsyncIterator()
    for number in 1...20 {
      try await store.append([NewEvent("order", in: "order/1", .null)])
      while let count = await counts.next(), count < number {}
    }
    run.cancel()
    watch.cancel()
    try await run.value
    #expect(try await effects(store).map(\.events.count) == Array(repeating: 1, count: 20))
  }

  @Test func `a batch stays below the longest append`() async throws {
    var storeOptions = StoreOptions()
    (storeOptions.payloadSizeMax, storeOptions.appendSizeMax) = (100_000, 400_000)
    let store = EventStore.inMemory(clock: .fixed, options: storeOptions)
    try await fill(store, 60)
    var callCount = 0
    try await store.consumer("worker", options(batchCount: 1_000)).run(until: .caughtUp) { append, batch in
      callCount += 1
      let text = String(repeating: "x", count: append.sequences.lowerBound == 7 ? 99_000 : 50_000)
      try batch.append(NewEvent("done", in: "done/all", .string(text)))
    }
    // None was refused, and handled again for that.
    #expect(callCount == 60)
    let counts = try await effects(store).map(\.events.count)
    #expect(counts.reduce(0, +) == 60 && counts.allSatisfy { (4...5).contains($0) || $0 == counts.last })
  }

  @Test func `after a refusal, each append of the batch is handled on its own`() async throws {
    let store = EventStore.inMemory()
    try await fill(store, 10)
    let consumer = store.consumer(
      "worker", options(batchCount: 4) { ($0.retryCount, $0.onFailure) = (0, .setAside) })
    var handled: [UInt64] = []
    try await consumer.run(until: .caughtUp) { append, batch in
      let number = append.sequences.lowerBound
      handled.append(number)
      if number == 3 { throw Refusal() }
      // The ninth meets no expectation, which only the store finds.
      try batch.append(
        NewEvent("done", in: "done/\(number)", .null), expecting: number == 9 ? .exactly(5) : .noStream)
    }
    #expect(handled == [1, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 9, 10])
    #expect(try await effects(store).map(\.events.count) == [1, 1, 1, 4, 1])
    let status = try await consumer.status()
    #expect(status.setAside.map(\.sequence) == [3, 9] && status.lag == 0)
  }

  @Test func `a run that is cancelled inside a batch has appended what it handled`() async throws {
    let store = EventStore.inMemory()
    try await fill(store, 10)
    let consumer = store.consumer("worker", options(batchCount: 100))
    let run = Task {
      try await consumer.run { append, batch in
        try batch.append(NewEvent("done", in: "done/all", .null))
        if append.sequences.contains(4) { withUnsafeCurrentTask { $0?.cancel() } }
      }
    }
    try await run.value
    #expect(try await effects(store).map(\.events.count) == [4])
    #expect(try await consumer.status().position?.sequence == 4)
  }

  @Test func `a consumer whose selection nothing can match says so`() async throws {
    let store = EventStore.inMemory()
    try await fill(store, 1)
    let nothing: [EventSelection] = [
      .types([]), .types("order").types("paid"), .types(""), .types(String(repeating: "x", count: 256)),
      .category(String(repeating: "x", count: 1_025)), .stream(""), .types("$consumed"), .types("$erased"),
    ]
    for (index, selection) in nothing.enumerated() {
      let status = try await store.consumer("\(index)", options(batchCount: 1) { $0.selection = selection })
        .status()
      #expect(status.selectsNothing && status.lag == 0, "\(selection)")
    }
    let some: [EventSelection] = [
      .all, .types("order", ""), .types("never"), .category("none"), .stream("$consumer/x"), .types("$put"),
      .types("$consumed").includingInternal(), .category("order").types("a").types("a", "b"), .category(""),
    ]
    for (index, selection) in some.enumerated() {
      let consumer = store.consumer("some \(index)", options(batchCount: 1) { $0.selection = selection })
      #expect(try await !consumer.status().selectsNothing, "\(selection)")
      try await consumer.run(until: .caughtUp) { _, _ in }
    }
    #expect(try await store.consumers().allSatisfy { !$0.selectsNothing })
  }
}
