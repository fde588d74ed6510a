// Reads of single events through a store: borrowed, copied, in memory and through a task.

import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct EventReadTests {
  private static func store() throws -> EventStore {
    let store = EventStore.inMemory(clock: .fixed)
    for number in 1...50 {
      try store.appendBlocking([
        NewEvent(
          "counted", in: "counter/\(number % 3)", .int(Int64(number)), metadata: ["by": .string("a\(number)")]
        )
      ])
    }
    return store
  }

  @Test func `an event is the same borrowed, copied and in its append`() async throws {
    let store = try Self.store()
    for sequence in UInt64(1)...50 {
      let expected = try #require(try await store.append(holding: sequence)?.events.first)
      #expect(try await store.event(at: sequence) == expected)
      // The second read finds it in memory.
      #expect(try await store.event(at: sequence) == expected)
      let borrowed = try store.withEventBlocking(at: sequence) { event, payload in
        #expect(event.sequence == sequence && event.time == expected.time && event.state == .whole)
        #expect(event.stream == expected.stream && event.type == expected.type)
        #expect(event.revision == expected.revision && event.codec == .cbor)
        #expect(payload.withUnsafeBytes { Array($0) } == expected.payload.bytes)
        return event.copy
      }
      #expect(borrowed == expected)
    }
    try await store.close()
  }

  @Test func `what the log does not have is nil, and what the body throws is thrown`() async throws {
    struct Refusal: Error, Equatable { var sequence: UInt64 }
    let store = try Self.store()
    for sequence in [0, 51, UInt64.max] {
      #expect(try await store.event(at: sequence) == nil)
      #expect(try store.withEventBlocking(at: sequence) { _, _ in 1 } == nil)
    }
    #expect(throws: Refusal(sequence: 7)) {
      try store.withEventBlocking(at: 7) { event, _ in throw Refusal(sequence: event.sequence) }
    }
    try await store.close()
  }

  @Test func `an erased event has no payload, whatever was read before`() async throws {
    let store = try Self.store()
    #expect(try await store.event(at: 4)?.payload.bytes.isEmpty == false)
    try store.eraseBlocking(Erasure(streams: ["counter/1"], because: "asked to"))
    let event = try #require(try await store.event(at: 4))
    #expect(event.state == .erased && event.payload.bytes.isEmpty && event.metadataBytes.isEmpty)
    let count = try store.withEventBlocking(at: 4) { event, payload in
      #expect(event.state == .erased)
      return payload.byteCount
    }
    #expect(count == 0)
    #expect(try store.eventsBlocking(in: "counter/1").allSatisfy { $0.state == .erased })
    try await store.close()
  }
}
