// Consumers by name: where they go on, what they do after errors, and what other feeds see of them.

import StrataBase
import StrataEvents
import StrataLog
import Testing

@Suite struct ConsumerTests {
  private struct Refusal: Error, Equatable { var sequence: UInt64 }

  private func store(orders: Int) async throws -> EventStore {
    let store = EventStore.inMemory()
    for number in 1...orders { try await store.append([order(number)]) }
    return store
  }

  private func order(_ number: Int) -> NewEvent {
    NewEvent("order", in: "order/\(number)", .int(Int64(number)))
  }

  private func options(_ change: (inout ConsumerOptions) -> Void = { _ in }) -> ConsumerOptions {
    var options = ConsumerOptions()
    options.retryDelay = .zero
    // Otherwise a busy machine saves a position early, and later events have other sequences.
    options.saveInterval = .seconds(3600)
    change(&options)
    return options
  }

  /// Runs a consumer over what there is, and returns the first sequences of what it handled.
  private func handled(by consumer: Consumer, refusing refused: Set<UInt64> = []) async throws -> [UInt64] {
    var handled: [UInt64] = []
    try await consumer.run(until: .caughtUp) { append, _ in
      if refused.contains(append.sequences.lowerBound) {
        throw Refusal(sequence: append.sequences.lowerBound)
      }
      handled.append(append.sequences.lowerBound)
    }
    return handled
  }

  @Test func `a consumer goes on behind what it has handled`() async throws {
    let store = try await store(orders: 3)
    let consumer = store.consumer("printer", options())
    #expect(try await handled(by: consumer) == [1, 2, 3])
    #expect(try await handled(by: consumer) == [])
    try await store.append([order(4)])
    let status = try await consumer.status()
    #expect(status.position == (try await store.append(holding: 3))?.positionOrNil && status.lag == 1)
    #expect(try await handled(by: consumer) == [5])
    #expect(try await handled(by: store.consumer("another", options())) == [1, 2, 3, 5])
    #expect(try await store.consumers().map(\.name) == ["another", "printer"])
  }

  @Test func `The events that wait are those that the consumer selects`() async throws {
    let store = try await store(orders: 3)
    let selections: [(String, EventSelection, whileNoise: UInt64, afterwards: UInt64)] = [
      ("all", .all, 100, 102), ("order", .category("order"), 0, 1), ("one", .stream("order/2"), 0, 0),
      ("noise", .types("noise", "other"), 100, 101),
      ("both", .category("order").types("order", "noise"), 0, 1),
      (
        "filtered",
        .category("order").satisfying(EventCondition(.payload) { $0.sequence % 2 == 1 }), 0, 1
      ),
    ]
    func lags() async throws -> [String: UInt64] {
      let statuses = try await store.consumers()
      #expect(statuses.filter { !$0.isLagExact }.map(\.name) == ["filtered"])
      return Dictionary(uniqueKeysWithValues: statuses.map { ($0.name, $0.lag) })
    }
    for (name, selection, _, _) in selections {
      _ = try await handled(by: store.consumer(name, options { $0.selection = selection }))
    }
    #expect(try await lags().allSatisfy { $0.value == 0 })
    for number in 0..<100 { try await store.append([NewEvent("noise", in: "noise/\(number)", .null)]) }
    var waiting = try await lags()
    for (name, _, count, _) in selections where waiting[name] != nil {
      #expect(waiting[name] == count, "\(name)")
    }
    try await store.append([NewEvent("other", in: "noise/1", .null), order(4)])
    waiting = try await lags()
    for (name, selection, _, count) in selections where waiting[name] != nil {
      #expect(waiting[name] == count, "\(name)")
      // The consumer itself counts with the conditions.
      let status = try await store.consumer(name, options { $0.selection = selection }).status()
      #expect(
        status.isLagExact && status.lag <= count && (name == "filtered" || status.lag == count), "\(name)")
    }
    // Nothing that "noise" selects was handled when it first ran, so it has no position yet, and is listed from then on.
    #expect(waiting["noise"] == nil && waiting.count == 5)
    let noise = store.consumer("noise", options { $0.selection = .types("noise", "other") })
    _ = try await handled(by: noise)
    #expect(try await lags()["noise"] == 0)
  }

  @Test func `effects and position are one append, which no other feed sees as more than the effects`()
    async throws
  {
    let store = try await store(orders: 2)
    let consumer = store.consumer("biller", options { $0.selection = .types("order") })
    try await consumer.run(until: .caughtUp) { append, batch in
      for event in append.events { try batch.append(NewEvent("bill", in: "bill/\(event.sequence)", .null)) }
    }
    let appends = try await Array(store.feed(of: .types("bill"), until: .caughtUp))
    #expect(appends.map { $0.events.map(\.stream.text) } == [["bill/1"], ["bill/2"]])
    // The append has the position too, which is left out.
    #expect(appends.map(\.sequences) == [3...4, 5...6])
    #expect(
      try await Array(store.feed(until: .caughtUp)).flatMap(\.events).map(\.type) == [
        "order", "order", "bill", "bill",
      ])
    let everything = store.feed(of: .all.includingInternal(), until: .caughtUp)
    #expect(
      try await Array(everything).flatMap(\.events).filter { $0.stream == "$consumer/biller" }.count == 2)
    // A consumer of everything does not feed itself.
    #expect(try await handled(by: store.consumer("all", options())) == [1, 2, 3, 5])
  }

  @Test func `a consumer that halts says where, and begins there again`() async throws {
    let store = try await store(orders: 4)
    let consumer = store.consumer("strict", options { $0.retryCount = 2 })
    var tries = 0
    await #expect(throws: Refusal(sequence: 3)) {
      try await consumer.run(until: .caughtUp) { append, batch in
        try batch.append(NewEvent("done", in: "done/\(append.sequences.lowerBound)", .null))
        guard append.sequences.contains(3) else { return }
        tries += 1
        throw Refusal(sequence: 3)
      }
    }
    #expect(tries == 3)
    let status = try await consumer.status()
    #expect(status.lastError == ConsumerFailure.at(3, Refusal(sequence: 3)))
    #expect(status.position?.sequence == 2 && status.setAsideCount == 0)
    // Nothing of the refused append was appended.
    #expect(try await store.version(of: "done/3") == 0)
    #expect(try await handled(by: consumer).first == 3)
    #expect(try await consumer.status().lastError == nil)
  }

  @Test func `what is set aside is recorded, and the rest is handled`() async throws {
    let store = try await store(orders: 300)
    let consumer = store.consumer("lenient", options { ($0.retryCount, $0.onFailure) = (0, .setAside) })
    let refused = Set((1...300).filter { $0 % 2 == 0 }.map(UInt64.init))
    #expect(
      try await handled(by: consumer, refusing: refused) == (1...300).filter { $0 % 2 == 1 }.map(UInt64.init))
    let status = try await consumer.status()
    #expect(status.setAsideCount == 150 && status.lag == 0)
    #expect(status.setAside == refused.sorted().prefix(100).map { .at($0, Refusal(sequence: $0)) })
    #expect(try await store.consumers().map(\.setAsideCount) == [150])
  }

  @Test func `a refused expectation of the handler's own is an error of the handler`() async throws {
    let store = try await store(orders: 1)
    let consumer = store.consumer("careful", options { $0.retryCount = 1 })
    var tries = 0
    await #expect(throws: StoreError.self) {
      try await consumer.run(until: .caughtUp) { _, batch in
        tries += 1
        try batch.append(NewEvent("t", in: "new/1", .null), expecting: .exactly(7))
      }
    }
    #expect(tries == 2)
    #expect(try await consumer.status().position == nil)
    #expect(try await consumer.status().lastError?.sequence == 1)
  }

  @Test func `a deleted consumer begins anew`() async throws {
    let store = try await store(orders: 2)
    let consumer = store.consumer("gone", options())
    #expect(try await handled(by: consumer) == [1, 2])
    try await consumer.delete()
    #expect(try await store.consumers().isEmpty)
    #expect(try await consumer.status().position == nil)
    #expect(try await handled(by: consumer) == [1, 2])
  }

  @Test func `of two runs of one consumer, the one that saves second ends`() async throws {
    let store = try await store(orders: 2)
    let consumer = store.consumer("twice", options { $0.saveCount = 1 })
    await #expect {
      try await consumer.run(until: .caughtUp) { append, _ in
        // The other one begins and ends while this one handles its first append.
        if append.sequences.contains(1) { _ = try await self.handled(by: consumer) }
      }
    } throws: { error in
      guard let error = error as? StoreError, error.reason == .consumedElsewhere else { return false }
      return error.what.contains("another run of the consumer twice") && error.place == "$consumer/twice"
    }
  }

  @Test func `a position is saved after a while, and at the end`() async throws {
    let store = try await store(orders: 3)
    let consumer = store.consumer(
      "slow", options { ($0.saveCount, $0.saveInterval) = (1000, .milliseconds(20)) })
    let run = Task {
      try await consumer.run { _, _ in }
    }
    while try await consumer.status().position?.sequence != 3 { try await Task.sleep(for: .milliseconds(5)) }
    run.cancel()
    try await run.value
    let late = store.consumer("late", options { ($0.saveCount, $0.saveInterval) = (1000, .seconds(3600)) })
    let (handled, handle) = AsyncStream.makeStream(of: UInt64.self)
    let other = Task {
      try await late.run { append, _ in handle.yield(append.sequences.upperBound) }
    }
    for await sequence in handled where sequence == 3 { break }
    other.cancel()
    try await other.value
    #expect(try await late.status().position?.sequence == 3)
  }

  @Test func `the stream of a consumer takes no events of the application`() async throws {
    let store = try await store(orders: 1)
    await #expect(throws: StoreError.self) {
      try await store.append([NewEvent("t", in: "$consumer/x", .null)])
    }
    let consumer = store.consumer("x", options())
    await #expect(throws: StoreError.self) {
      try await consumer.run(until: .caughtUp) { _, batch in
        try batch.append(NewEvent("t", in: "$consumer/y", .null))
      }
    }
  }

  @Test func `a position that was erased is an error that says what to do`() async throws {
    let store = try await store(orders: 1)
    let consumer = store.consumer("lost", options())
    _ = try await handled(by: consumer)
    _ = try await store.erase(Erasure(streams: ["$consumer/lost"], because: "a test"))
    await #expect {
      try await consumer.run(until: .caughtUp) { _, _ in }
    } throws: { ($0 as? StoreError)?.next.contains("delete the consumer") == true }
    // It does not hide the others.
    _ = try await handled(by: store.consumer("other", options()))
    let all = try await store.consumers()
    #expect(all.map(\.name) == ["lost", "other"])
    #expect(all[0].position == nil && all[0].lastError?.what.contains("delete the consumer") == true)
    #expect(!all[0].isLagExact && all[1].lag == 0)
    try await consumer.delete()
    #expect(try await handled(by: consumer).first == 1)
  }
}

extension ConsumerFailure {
  fileprivate static func at(_ sequence: UInt64, _ error: any Error) -> ConsumerFailure {
    ConsumerFailure(sequence: sequence, what: "\(error)")
  }
}

extension RecordedAppend {
  fileprivate var positionOrNil: LogPosition? { try? position }
}

extension Array {
  /// The elements of a sequence that ends.
  fileprivate init<Elements: AsyncSequence>(_ elements: Elements) async throws
  where Elements.Element == Element {
    self = []
    for try await element in elements { append(element) }
  }
}
