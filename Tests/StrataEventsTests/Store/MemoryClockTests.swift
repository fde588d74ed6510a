// The clock of a store in memory: the parameter's, or else that of the options.

import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct MemoryClockTests {
  private func firstTime(_ store: EventStore) async throws -> Timestamp? {
    try await store.append([NewEvent("t", in: "a/1", .null)])
    return store.lastTime
  }

  @Test func `a store in memory has the clock of its options`() async throws {
    var options = StoreOptions()
    options.clock = SimulatedClock(5_000_000_000).storeClock
    #expect(try await firstTime(.inMemory(options: options)) == Timestamp(nanoseconds: 5_000_000_000))
  }

  @Test func `a clock that is given goes before that of the options`() async throws {
    var options = StoreOptions()
    options.clock = SimulatedClock(5_000_000_000).storeClock
    let clock = SimulatedClock(7_000_000_000).storeClock
    #expect(
      try await firstTime(.inMemory(clock: clock, options: options)) == Timestamp(nanoseconds: 7_000_000_000))
    #expect(try await firstTime(.inMemory(clock: clock)) == Timestamp(nanoseconds: 7_000_000_000))
  }
}
