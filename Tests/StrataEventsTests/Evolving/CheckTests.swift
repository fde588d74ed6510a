// Checking what an application can read of its log.

import Foundation
import StrataBase
import StrataDocuments
import StrataLog
import StrataSimulation
import Testing

@testable import StrataEvents

struct CheckTests {
  private enum Note: DomainEvent {
    case opened(title: String, priority: Int)
    case closed
    static let upcasts = [Upcast("opened", to: "opened.2") { $0["priority"] = 3 }]
  }

  private enum Order: DomainEvent {
    case placed(item: String)
    static let eventPrefix = "order."
    static let eventDecoding = EventDecoding.strict
  }

  private static func store(_ events: [(String, DocumentValue)]) async throws -> EventStore {
    let store = EventStore.inMemory(clock: .fixed)
    for (type, payload) in events {
      try await store.append([NewEvent(type, in: "note/1", payload: EventPayload(payload))])
    }
    return store
  }

  @Test func `a log that the application can read has no problems`() async throws {
    let store = try await Self.store([("opened", ["title": "x"]), ("closed", [:]), ("raw", 7)])
    try await store.append([Note.opened(title: "y", priority: 1)], to: "note/2")
    try await store.append([Order.placed(item: "z")], to: "order/1")
    try await store.collection("person", of: Ticket.self).put(Ticket(id: "1", status: "x"))
    try await store.append([NewEvent("lost", in: "old/1", ["secret": 1])])
    try await store.erase(Erasure(streams: ["old/1"], because: "test"))
    let check = try await store.check(decoding: [Note.self, Order.self], otherTypes: ["raw"])
    #expect(check.problems.isEmpty, "\(check)")
    #expect(check.eventCount == 5 && check.unlistedCount == 0)
    #expect(check.description == "all 5 events can be read")
    let none = try await EventStore.inMemory().check(decoding: [Note.self])
    #expect(none == EventCheck())
  }

  @Test func `a type that begins with the byte of a dollar sign is passed over`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    let event = NewEvent("$\u{301}x", in: "note/1", [:])
    await #expect(throws: StoreError.self) { try await store.append([event]) }
    _ = try await store.append(store.draft([event], id: nil, time: nil, expecting: [:], isOwn: false))
    #expect(try await store.check(decoding: [Note.self]) == EventCheck())
  }

  @Test func `a problem has its type, its number, its first event and the first error`() async throws {
    let store = try await Self.store([
      ("opened", ["title": "x"]), ("lost", [:]), ("opened.2", ["title": "x"]), ("opened.2", ["title": 5]),
      ("order.placed", ["item": "x", "more": 1]), ("lost", [:]), ("order.gone", [:]),
    ])
    let check = try await store.check(decoding: [Note.self, Order.self])
    #expect(check.problems.map(\.type) == ["lost", "opened.2", "order.placed", "order.gone"])
    #expect(check.problems.map(\.count) == [2, 2, 1, 1])
    #expect(check.problems.map(\.firstSequence) == [2, 3, 5, 7])
    #expect(check.problems.map(\.kind) == [.unknownType, .unreadable, .unreadable, .unknownType])
    #expect(check.problems[1].what.contains("event 3") && check.problems[1].what.contains("priority"))
    #expect(check.description.hasPrefix("lost: 2 events from sequence 2 on: none of the given types"))
    // Another treatment of fields that are unknown.
    let lenient = try await store.check(decoding: [Note.self, Order.self], as: .lenient)
    #expect(lenient.problems.map(\.type) == ["lost", "opened.2", "order.gone"])
    // A part of the log.
    let part = try await store.check(decoding: [Note.self], after: .sequence(3), through: .sequence(4))
    #expect(part.eventCount == 1 && part.problems.map(\.firstSequence) == [4])
    await #expect(throws: StoreError.self) {
      try await store.check(decoding: [Note.self], through: .sequence(99))
    }
  }

  @Test func `problems and their texts are bounded, whatever the log holds`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    let long = String(repeating: "é", count: 5_000)
    try await store.append([NewEvent("order.placed", in: "note/1", .object(["item": "", long: 1]))])
    try await store.append(
      (0..<EventCheck.problemCountMax + 50).map { NewEvent("lost\($0)", in: "note/1", [:]) })
    let check = try await store.check(decoding: [Order.self])
    #expect(check.problems.count == EventCheck.problemCountMax && check.unlistedCount == 51)
    #expect(check.problems[0].what.utf8.count < 2_100)
  }

  @Test func `progress goes up to the number of events, inside an append too`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    try await store.append((0..<10).map { _ in NewEvent("closed", in: "note/1", [:]) })
    try await store.append((0..<10).map { _ in NewEvent("closed", in: "note/1", [:]) })
    let steps = Lock<[UInt64]>([])
    let check = try await store.check(decoding: [Note.self], after: .sequence(4), through: .sequence(13)) {
      (done, all) in
      steps.withLock { $0.append(done) }
      #expect(all == 9)
    }
    #expect(check.eventCount == 9)
    let seen = steps.withLock { $0 }
    #expect(seen.last == 9 && seen == seen.sorted())
  }

  @Test func `a check that is cancelled ends soon`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    for _ in 0..<40 { try await store.append((0..<100).map { _ in NewEvent("closed", in: "note/1", [:]) }) }
    let (progress, reports) = AsyncStream.makeStream(of: Void.self)
    let (resume, isCancelled) = (DispatchSemaphore(value: 0), Lock(false))
    let task = Task {
      try await store.check(decoding: [Note.self]) { done, all in
        reports.yield()
        // Only the first report waits, for the cancellation.
        if !isCancelled.withLock({ $0 }) { resume.wait() }
        #expect(done < all)
      }
    }
    for await _ in progress { break }
    task.cancel()
    isCancelled.withLock { $0 = true }
    resume.signal()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
