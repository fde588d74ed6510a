// The contract of consumers: what it accepts, and what it must refuse.

import Foundation
import Strata
import StrataTesting
import Synchronization
import Testing

@Suite struct ConsumerContractTests {
  enum OrderEvent: DomainEvent { case placed(cents: Int), shipped }

  private typealias Handler = @Sendable (RecordedAppend, inout WriteBatch) async throws -> Void

  private static let events = Gen<EventHistory>.histories(of: OrderEvent.self, in: ["order/1", "order/2"])
  private static var options: ConsumerOptions {
    var options = ConsumerOptions()
    options.selection = .category("order").types("shipped")
    return options
  }

  private static func check(
    batchCount: Int = 1, _ budget: Budget = Budget(cases: 30, size: 12, duration: .seconds(3_600)),
    seed: UInt64,
    handler: @escaping @Sendable (EventStore) -> Handler
  ) async throws -> CheckReport {
    var options = options
    options.batchCount = batchCount
    return try await StrataTesting.check(
      consumer: options, events: events, budget, seed: seed, name: "bills", handler: handler)
  }

  private static func bill(_ event: RecordedEvent, note: String = "") -> NewEvent {
    NewEvent("billed", in: StreamName(category: "bill", id: event.stream.id), ["note": .string(note)])
  }

  @Test func `a consumer whose effects are in its batch passes`() async throws {
    let report = try await Self.check(Budget(cases: 12, size: 10, duration: .seconds(3_600)), seed: 1) { _ in
      { append, batch in
        for event in append.events { try batch.append(Self.bill(event)) }
      }
    }
    #expect(report.cases == 12)
  }

  @Test func `a consumer whose effects are appended in batches passes`() async throws {
    let budget = Budget(cases: 12, size: 20, duration: .seconds(3_600))
    _ = try await Self.check(batchCount: 3, budget, seed: 2) { _ in
      { append, batch in
        for event in append.events { try batch.append(Self.bill(event)) }
      }
    }
  }

  @Test func `a consumer that reads what it has written is found in batches`() async throws {
    let handler: @Sendable (EventStore) -> Handler = { store in
      { append, batch in
        for event in append.events {
          let bill = Self.bill(event)
          let version = try await store.version(of: bill.stream)
          try batch.append(Self.bill(event, note: "\(version)"))
        }
      }
    }
    _ = try await #require(
      await #expect(throws: Counterexample.self) {
        try await Self.check(batchCount: 3, seed: 3, handler: handler)
      })
    // Within one append it reads the same version twice, and that is what it does at every run.
    _ = try await Self.check(
      Budget(cases: 12, size: 10, duration: .seconds(3_600)), seed: 3, handler: handler)
  }

  @Test func `a consumer that appends beside its batch is found, with one event`() async throws {
    try await expectFound(eventCount: 1) { store in
      { append, _ in
        for event in append.events { try await store.append([Self.bill(event)]) }
      }
    }
  }

  @Test func `a consumer that draws a number is found, with one event`() async throws {
    try await expectFound(eventCount: 1) { _ in
      { append, batch in
        for event in append.events { try batch.append(Self.bill(event, note: UUID().uuidString)) }
      }
    }
  }

  @Test func `a consumer that counts in memory is found, with two events`() async throws {
    try await expectFound(eventCount: 2) { _ in
      let count = Count()
      return { append, batch in
        for event in append.events { try batch.append(Self.bill(event, note: "bill \(count.next())")) }
      }
    }
  }

  @Test func `a consumer that fails at an append is found, with one event`() async throws {
    struct Refused: Error {}
    try await expectFound(eventCount: 1) { _ in { _, _ in throw Refused() } }
  }

  private func expectFound(eventCount: Int, _ handler: @escaping @Sendable (EventStore) -> Handler)
    async throws
  {
    for seed: UInt64 in 0..<1 {
      let found = try #require(
        await #expect(throws: Counterexample.self) { try await Self.check(seed: seed, handler: handler) })
      #expect(found.failure is Unfulfilled && found.foundAt <= 30, "\(found)")
      #expect(found.source.components(separatedBy: "HistoryEvent(").count - 1 <= eventCount, "\(found)")
    }
  }
}

/// Numbers from 1.
private final class Count: Sendable {
  private let last = Mutex(0)

  func next() -> Int {
    last.withLock { last in
      last += 1
      return last
    }
  }
}
