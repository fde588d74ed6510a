// What a store says of itself, as an application sees it.

import StrataBase
import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct ObserveTests {
  private struct Refusal: Error, CustomStringConvertible {
    let description = "no stamps left"
  }

  /// Keeps the contexts of calls.
  private final class Calls: StoreCallObserver {
    @TaskLocal static var context: String?
    let received = Gate<[(work: StoreStep.Work, context: String?)]>([])

    func store(did activity: StoreActivity) {}
    func store(took step: StoreStep) {
      received.withLock { $0.append((step.work, step.context as? String)) }
      received.signalAll()
    }
    func contextOfCall() -> (any Sendable)? { Self.context }
  }

  @Test func `statistics count appends, conflicts and known ids, and activities end with the store`()
    async throws
  {
    let store = EventStore.inMemory()
    #expect(store.statistics == StoreStatistics() && store.recovery == nil)
    try await store.append([NewEvent("a", in: "s/1", .null), NewEvent("b", in: "s/1", .null)], id: "one")
    try await store.append([NewEvent("a", in: "s/1", .null), NewEvent("b", in: "s/1", .null)], id: "one")
    await #expect(throws: StoreError.self) {
      try await store.append([NewEvent("a", in: "s/1", .null)], expecting: ["s/1": .noStream])
    }
    let counted = store.statistics
    #expect(counted.appendCount == 1 && counted.eventCount == 2 && counted.groupCount == 1)
    #expect(counted.knownCount == 1 && counted.conflictCount == 1 && counted.byteCount > 0)
    // A store with metadata is the same store.
    #expect(store.attributed(["by": "a7"]).statistics == counted)
    let gauges = try await store.gauges()
    #expect(gauges.segmentCount == 1 && gauges.pendingAppendCount == 0)
    try await store.close()
    var count = 0
    for await _ in store.activities { count += 1 }
    #expect(count == 0)
  }

  @Test func `a consumer that halts says where and why`() async throws {
    let store = EventStore.inMemory()
    try await store.append([NewEvent("order", in: "order/1", .null)])
    var options = ConsumerOptions()
    (options.retryCount, options.retryDelay) = (0, .zero)
    await #expect(throws: Refusal.self) {
      try await store.consumer("mailer", options).run(until: .caughtUp) { _, _ in throw Refusal() }
    }
    var iterator = store.activities.makeAsyncIterator()
    #expect(
      await iterator.next()
        == .halted(.consumer, name: "mailer", sequence: 1, what: "no stamps left"))
    try await store.close()
  }

  @Test func `a call's step has the context of the task that made it, and no context means no step`()
    async throws
  {
    let calls = Calls()
    var options = StoreOptions()
    options.observer = calls
    let store = EventStore.inMemory(options: options)
    try await store.append([NewEvent("a", in: "s/1", .null)])
    try await Calls.$context.withValue("request 7") {
      _ = try await store.append([NewEvent("a", in: "s/1", .null), NewEvent("b", in: "s/1", .null)])
    }
    _ = try Calls.$context.withValue("request 8") {
      try store.appendBlocking([NewEvent("a", in: "s/1", .null)])
    }
    calls.received.wait { $0.count == 5 }
    let appends = calls.received.withLock { $0 }.filter { if case .append = $0.work { true } else { false } }
    #expect(appends.map(\.context) == ["request 7", "request 8"])
    #expect(appends.map(\.work) == [.append(eventCount: 2), .append(eventCount: 1)])
    try await store.close()
  }
}
