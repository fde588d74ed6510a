// How long the state of a consumer gets: bounded, whatever its handler's errors say.

import StrataBase
import StrataDocuments
import StrataLog
import Testing

@testable import StrataEvents

@Suite struct ConsumerStateTests {
  /// An error with a long description.
  private struct LongRefusal: Error, CustomStringConvertible {
    var description: String { String(repeating: "x", count: 600) }
  }

  private func store(payloadSizeMax: Int) async throws -> EventStore {
    var options = StoreOptions()
    options.payloadSizeMax = payloadSizeMax
    let store = EventStore.inMemory(clock: .fixed, options: options)
    for number in 1...40 { try await store.append([NewEvent("order", in: "order/\(number)", .null)]) }
    return store
  }

  private func consumer(
    _ store: EventStore, _ name: String, onFailure policy: ConsumerFailurePolicy
  ) -> Consumer {
    var options = ConsumerOptions()
    (options.retryCount, options.retryDelay, options.saveInterval) = (0, .zero, .seconds(3600))
    options.onFailure = policy
    return store.consumer(name, options)
  }

  /// Sets all appends aside, and returns the status and the longest state that was saved.
  private func setAside(_ store: EventStore) async throws -> (status: ConsumerStatus, payloadSize: Int) {
    let consumer = consumer(store, "lenient", onFailure: .setAside)
    try await consumer.run(until: .caughtUp) { _, _ in throw LongRefusal() }
    let states = try await store.events(in: ConsumerState.stream(of: "lenient"))
    return (try await consumer.status(), states.map { $0.payload.bytes.count }.max() ?? 0)
  }

  @Test func `the texts of what was set aside are bounded together, and the sequences are all there`()
    async throws
  {
    let store = try await store(payloadSizeMax: StoreOptions().payloadSizeMax)
    let (status, payloadSize) = try await setAside(store)
    #expect(status.setAsideCount == 40 && status.lag == 0)
    #expect(status.setAside.map(\.sequence) == Array(1...40))
    // 27 texts of 600 bytes take 16,200 of 16,384.
    let whole = LongRefusal().description
    #expect(status.setAside.prefix(27).allSatisfy { $0.what == whole })
    #expect(status.setAside[27].what == whole.prefix(184 - 3) + "…")
    #expect(status.setAside.dropFirst(28).allSatisfy { $0.what.isEmpty })
    #expect(payloadSize < ConsumerState.textsLengthMax + 2_000)
    try await store.close()
  }

  @Test func `a state that is longer than the longest payload has no texts, or no list, and is saved`()
    async throws
  {
    for (limit, sequences) in [(3_000, Array(1...40)), (200, [])] as [(Int, [UInt64])] {
      let store = try await store(payloadSizeMax: limit)
      let (status, payloadSize) = try await setAside(store)
      #expect(status.setAsideCount == 40 && status.lag == 0 && payloadSize <= limit)
      #expect(status.setAside.map(\.sequence) == sequences, "\(limit)")
      #expect(status.setAside.allSatisfy { $0.what.isEmpty })
      // The one after a list that was left out is not the first.
      try await store.append([NewEvent("order", in: "order/41", .null)])
      let (later, _) = try await setAside(store)
      #expect(later.setAsideCount == 41)
      #expect(later.setAside.map(\.sequence).prefix(40) == sequences.prefix(40), "\(limit)")

      let strict = consumer(store, "strict", onFailure: .halt)
      await #expect(throws: LongRefusal.self) {
        try await strict.run(until: .caughtUp) { _, _ in throw LongRefusal() }
      }
      let text = limit == 200 ? "" : LongRefusal().description
      #expect(try await strict.status().lastError == ConsumerFailure(sequence: 1, what: text))
      try await store.close()
    }
  }

  @Test func `of a state that is too long, one part after the other is left out`() throws {
    var state = ConsumerState()
    state.at = "7@0123456789abcdef"
    state.lastError = ConsumerFailure(sequence: 8, what: "last")
    for sequence in 1...3 { state.setAside(ConsumerFailure(sequence: UInt64(sequence), what: "text")) }
    let stream = ConsumerState.stream(of: "any")
    func saved(_ limit: Int) throws -> (state: ConsumerState, size: Int) {
      let payload = try state.event(in: stream, payloadSizeMax: limit).payload
      return (try payload.document().decode(ConsumerState.self), payload.bytes.count)
    }
    var (part, size) = try saved(.max)
    #expect(part == state)
    var expected = state
    let leaveOut: [(inout ConsumerState) -> Void] = [
      { state in
        for index in state.setAside.indices { state.setAside[index].what = "" }
        state.lastError?.what = ""
      },
      { $0.setAside = [] }, { $0.lastError = nil },
    ]
    for change in leaveOut {
      change(&expected)
      // One byte less than what the state before it takes.
      (part, size) = try saved(size - 1)
      #expect(part == expected)
    }
    // Without a position the consumer would not be one: that it is too long is an error of the append.
    #expect(try saved(1).state == expected)
  }

  @Test func `a text is shortened to whole characters within a number of bytes`() {
    let text = "a\u{E9}🪨b"  // One, two, four and one byte.
    let expected = ["", "", "", "…", "a…", "a…", "a\u{E9}…", "a\u{E9}…", text, text]
    #expect((0..<10).map { text.shortened(within: $0) } == expected)
    #expect("".shortened(within: 0) == "")

    // A state of a former version has more.
    var state = ConsumerState()
    for sequence: UInt64 in 0..<100 {
      state.setAside(ConsumerFailure(sequence: sequence, what: String(repeating: "\u{E9}", count: 500)))
    }
    state.shortenTexts()
    let texts = state.setAside.map(\.what)
    #expect(texts[..<16].allSatisfy { $0.utf8.count == 1_000 })
    #expect(texts[16] == String(repeating: "\u{E9}", count: 190) + "…")
    #expect(texts[17...].allSatisfy { $0.isEmpty })
    let once = state
    state.shortenTexts()
    #expect(state == once && state.setAsideCount == 100)
  }
}
