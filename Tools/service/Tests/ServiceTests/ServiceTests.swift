// Stores and consumers that start and stop with everything else.

import Logging
import ServiceLifecycle
import Strata
import StrataObservability
import StrataTesting
import Synchronization
import Testing

/// The sequences that writers were told are in the log.
private final class Acknowledged: Sendable {
  private let sequences = Mutex<[UInt64]>([])
  var all: [UInt64] { sequences.withLock { $0 } }
  func add(_ sequence: UInt64) { sequences.withLock { $0.append(sequence) } }
}

/// Holds up what asks for the time.
private final class SlowClock: Sendable {
  private let state = Mutex((isHeld: false, isAsked: false))
  func hold(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }
  /// Whether something was held up.
  var isAsked: Bool { state.withLock { $0.isAsked } }

  var clock: StoreClock {
    StoreClock { [self] in
      while holdsUp() {}
      return 1_800_000_000_000_000_000
    }
  }

  private func holdsUp() -> Bool {
    state.withLock { state in
      if state.isHeld { state.isAsked = true }
      return state.isHeld
    }
  }
}

@Suite struct ServiceTests {
  private static func group(_ services: [any Service]) -> ServiceGroup {
    ServiceGroup(services: services, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  private static func isClosed(_ store: EventStore) async -> Bool {
    do {
      try await store.append([NewEvent("a", in: "s/1", .null)])
      return false
    } catch { return (error as? StoreError)?.reason == .closed }
  }

  @Test(arguments: 0..<20)
  func `a shutdown under load keeps what was acknowledged, saves positions and closes`(moment: Int)
    async throws
  {
    let disk = SimulatedDisk()
    let store = try await disk.open(at: "/store")
    let consumer = store.consumer("mailer")
    let group = Self.group([
      StoreService(store),
      ConsumerService(consumer) { append, batch in
        try batch.append(NewEvent("sent", in: "outbox/\(append.sequences.lowerBound)", .null))
      },
    ])
    let acknowledged = Acknowledged()
    let writers = (0..<4).map { number in
      Task {
        while let receipt = try? await store.append([NewEvent("a", in: "s/\(number)", .null)]) {
          acknowledged.add(receipt.sequences.lowerBound)
        }
      }
    }
    let run = Task { try await group.run() }
    while acknowledged.all.count < moment * 5 { await Task.yield() }
    await group.triggerGracefulShutdown()
    try await run.value
    for writer in writers { await writer.value }
    #expect(await Self.isClosed(store))

    let again = try await disk.open(at: "/store")
    #expect(again.recovery == nil && again.knownDamage.isEmpty)
    for sequence in acknowledged.all {
      #expect(try await again.event(at: sequence)?.stream.category == "s")
    }
    // Each effect is there once, and the position is after the last of them.
    var options = ConsumerOptions()
    options.selection = .category("outbox")
    var sent: [String] = []
    for try await append in again.feed(of: options.selection, from: .sequence(0), until: .caughtUp) {
      sent += append.events.map(\.stream.id)
    }
    #expect(Set(sent).count == sent.count)
    try await again.close()
  }

  @Test func `a signal before run is harmless`() async throws {
    let store = EventStore.inMemory()
    let group = Self.group([StoreService(store), ConsumerService(store.consumer("c")) { _, _ in }])
    await group.triggerGracefulShutdown()
    try await group.run()
    #expect(await Self.isClosed(store))
  }

  @Test func `a group that is cancelled closes its stores`() async throws {
    let store = EventStore.inMemory()
    let run = Task { try await Self.group([StoreService(store)]).run() }
    run.cancel()
    _ = await run.result
    while !(await Self.isClosed(store)) { await Task.yield() }
  }

  @Test func `a store that cannot be closed in time is left, and the group says so`() async throws {
    let clock = SlowClock()
    let store = EventStore.inMemory(clock: clock.clock)
    clock.hold(true)
    let append = Task { try await store.append([NewEvent("a", in: "s/1", .null)]) }
    while !clock.isAsked { await Task.yield() }
    let group = Self.group([StoreService(store, timeout: .milliseconds(50))])
    let run = Task { try await group.run() }
    await group.triggerGracefulShutdown()
    await #expect(throws: StoreServiceError.timedOut(after: .milliseconds(50))) { try await run.value }
    clock.hold(false)
    _ = await append.result
    try await store.close()
  }
}
