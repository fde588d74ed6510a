// What is an error of a consumer's handler, what is not, and where the next run goes on.

import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct ConsumerErrorTests {
  private struct Refusal: Error, Equatable {}

  private func options(_ change: (inout ConsumerOptions) -> Void = { _ in }) -> ConsumerOptions {
    var options = ConsumerOptions()
    (options.retryDelay, options.saveInterval) = (.zero, .seconds(3600))
    change(&options)
    return options
  }

  private func append(_ store: EventStore, _ number: Int) async throws {
    try await store.append([NewEvent("order", in: "order/\(number)", .null)])
  }

  /// Runs a consumer over what there is, and returns the ids of what it handled.
  private func handled(by consumer: Consumer) async throws -> [String] {
    var ids: [String] = []
    try await consumer.run(until: .caughtUp) { append, _ in ids += append.events.map(\.stream.id) }
    return ids
  }

  // MARK: A consumer that begins at the head

  @Test(arguments: [0, 2])
  func `fault 102: a consumer that begins at the head and halts at its first append begins there again`(
    before: Int
  ) async throws {
    let store = EventStore.inMemory()
    for number in 0..<before { try await append(store, number) }
    let consumer = store.consumer("late", options { ($0.start, $0.retryCount) = (.head, 0) })
    #expect(try await handled(by: consumer) == [])
    try await append(store, 7)
    await #expect(throws: Refusal.self) {
      try await consumer.run(until: .caughtUp) { _, _ in throw Refusal() }
    }
    try await append(store, 8)
    #expect(try await consumer.status().lag == 2)
    #expect(try await handled(by: consumer) == ["7", "8"])
    #expect(try await handled(by: consumer) == [])
  }

  @Test func `fault 102: a consumer that begins at the head misses nothing after the begin of its first run`()
    async throws
  {
    let disk = SimulatedDisk()
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: StoreOptions())
    try await append(store, 1)
    let consumer = store.consumer("late", options { $0.start = .head })
    let run = Task { try await consumer.run { _, _ in } }
    while try await consumer.status().position == nil { await Task.yield() }
    // Power fails before it has saved that it handled something.
    let after = disk.crash(seed: 0, model: .dropAll)
    run.cancel()
    try await run.value
    try await store.close()
    let next = try EventStore.open(after, path: "/store", .readWrite, options: StoreOptions())
    try await append(next, 2)
    #expect(try await handled(by: next.consumer("late", options { $0.start = .head })) == ["2"])
    try await next.close()
  }

  @Test func `a consumer that is cancelled, or whose store is closed, before it begins just ends`()
    async throws
  {
    for start in [LogPoint.head, .beginning] {
      let store = EventStore.inMemory()
      try await append(store, 1)
      let consumer = store.consumer("none", options { $0.start = start })
      let run = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await consumer.run { _, _ in }
      }
      try await run.value
      try await store.close()
      try await consumer.run { _, _ in }
    }
  }

  // MARK: Errors of the handler

  @Test func `a handler whose own task is cancelled, or whose other store is closed, has failed`()
    async throws
  {
    let other = EventStore.inMemory()
    try await other.close()
    let errors: [@Sendable () async throws -> Void] = [
      {
        let task = Task { try await Task.sleep(for: .seconds(60)) }
        task.cancel()
        try await task.value
      },
      { try await other.append([NewEvent("t", in: "s/1", .null)]) },
    ]
    for failing in errors {
      let store = EventStore.inMemory()
      for number in 1...3 { try await append(store, number) }
      let strict = store.consumer("strict", options { $0.retryCount = 1 })
      var callCount = 0
      await #expect(throws: (any Error).self) {
        try await strict.run(until: .caughtUp) { append, _ in
          guard append.sequences.contains(2) else { return }
          callCount += 1
          try await failing()
        }
      }
      #expect(callCount == 2)
      #expect(try await strict.status().lastError?.sequence == 2)
      #expect(try await handled(by: strict) == ["2", "3"])

      let lenient = store.consumer("lenient", options { ($0.retryCount, $0.onFailure) = (0, .setAside) })
      try await lenient.run(until: .caughtUp) { append, _ in
        if append.sequences.contains(2) { try await failing() }
      }
      let status = try await lenient.status()
      #expect(status.setAside.map(\.sequence) == [2] && status.lag == 0)
    }
  }

  @Test func `a handler of a store that was closed ends at once`() async throws {
    let store = EventStore.inMemory()
    try await append(store, 1)
    let consumer = store.consumer("last", options { $0.retryDelay = .seconds(3600) })
    try await consumer.run { _, _ in
      try await store.close()
      try await append(store, 2)
    }
  }

  @Test func `a handler whose store can write no more ends at once`() async throws {
    let disk = SimulatedDisk()
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: StoreOptions())
    try await append(store, 1)
    let consumer = store.consumer("last", options { $0.retryDelay = .seconds(3600) })
    disk.onOperation { call in
      call.operation == .syncData || call.operation == .sync ? .fail(SystemErrorCode.inputOutput) : .proceed
    }
    var callCount = 0
    await #expect {
      try await consumer.run { _, _ in
        callCount += 1
        try await append(store, 2)
      }
    } throws: { ($0 as? StoreError)?.reason == .poisoned }
    #expect(callCount == 1)
    disk.onOperation(nil)
    try? await store.close()
  }

  // MARK: Errors of a save

  @Test(arguments: [false, true])
  func `fault 103: a disk that is full is no error of the handler`(hasEffects: Bool) async throws {
    let disk = SimulatedDisk()
    var storeOptions = StoreOptions()
    storeOptions.preallocationStep = 0
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: storeOptions)
    for number in 1...2 { try await append(store, number) }
    let failuresLeft = Lock(0)
    disk.onOperation { call in
      guard call.operation == .write, call.path.hasSuffix(".seg") else { return .proceed }
      return failuresLeft.withLock { left in
        guard left > 0 else { return .proceed }
        left -= 1
        return .fail(SystemErrorCode.noSpace)
      }
    }
    var callCount = 0
    func run(_ name: String, failing count: Int, isRefused: Bool = false) async throws -> Int {
      let consumer = store.consumer(
        name, options { ($0.selection, $0.saveCount, $0.onFailure) = (.types("order"), 1, .setAside) })
      callCount = 0
      failuresLeft.withLock { $0 = count }
      defer { failuresLeft.withLock { $0 = 0 } }
      try await consumer.run(until: .caughtUp) { append, batch in
        callCount += 1
        if isRefused { throw Refusal() }
        if hasEffects { try batch.append(NewEvent("done", in: "done/\(callCount)", .null)) }
      }
      return callCount
    }
    #expect(try await run("patient", failing: 2) == 2)
    #expect(try await store.consumer("patient").status().setAsideCount == 0)
    await #expect {
      _ = try await run("ended", failing: 1_000)
    } throws: { error in if case .full = error as? StoreError { true } else { false } }
    #expect(callCount == 1)
    let ended = try await store.consumer("ended", options()).status()
    #expect(ended.setAsideCount == 0 && ended.position == nil)
    #expect(try await run("ended", failing: 0) == 2)
    // What the handler refuses is set aside once there is room: it is called four times for each of two appends.
    #expect(try await run("refusing", failing: 3, isRefused: true) == 8)
    #expect(try await store.consumer("refusing").status().setAsideCount == 2)
    disk.onOperation(nil)
    try await store.close()
  }

  @Test func `fault 103: an append whose setting aside was not saved is not counted as set aside`()
    async throws
  {
    let store = EventStore.inMemory()
    for number in 1...3 { try await append(store, number) }
    let consumer = store.consumer("lenient", options { ($0.retryCount, $0.onFailure) = (0, .setAside) })
    let run = Task {
      try await consumer.run { append, _ in
        guard append.sequences.contains(2) else { return }
        withUnsafeCurrentTask { $0?.cancel() }
        throw Refusal()
      }
    }
    try await run.value
    let before = try await consumer.status()
    let again = try await handled(by: consumer)
    // It was set aside, or is handled now, and never both.
    #expect(again.contains("2") == (before.setAsideCount == 0))
    let after = try await consumer.status()
    #expect(after.setAsideCount == before.setAsideCount && after.lag == 0)
  }
}
