// Positions of consumers when events are copied to a second store.

import StrataBase
import StrataDocuments
import StrataEvents
import StrataLog
import Testing

@Suite struct TransferConsumerTests {
  private func handled(by consumer: Consumer) async throws -> [String] {
    var handled: [String] = []
    try await consumer.run(until: .caughtUp) { append, _ in handled += append.events.map(\.type) }
    return handled
  }

  private func append(_ numbers: ClosedRange<Int>, to store: EventStore) async throws {
    for number in numbers { try await store.append([NewEvent("n\(number)", in: "a/1", .int(Int64(number)))]) }
  }

  @Test
  func `consumers go on in a copy with the same chain, and are named where their positions are left out`()
    async throws
  {
    let store = EventStore.inMemory(clock: .fixed)
    try await append(1...3, to: store)
    for name in ["printer", "é", "gone"] { #expect(try await handled(by: store.consumer(name)).count == 3) }
    try await store.consumer("gone").delete()
    try await append(4...5, to: store)
    let lines = try TransferStores.lines(store)

    let copy = EventStore.inMemory(clock: .fixed)
    let same = try TransferStores.take(lines, into: copy)
    #expect(same.relation == .same && same.consumersLeftOut.isEmpty && same.ownLeftOut == 0)
    #expect(try await copy.consumers().map(\.position) == store.consumers().map(\.position))
    #expect(try await copy.consumers().map(\.name) == ["printer", "é"])
    #expect(try await handled(by: copy.consumer("printer")) == ["n4", "n5"])

    // Beside other events the positions would be those of another chain.
    let other = EventStore.inMemory(clock: .fixed)
    try await other.append([NewEvent("first", in: "b/1", .int(0))])
    let added = try TransferStores.take(lines, into: other)
    #expect(added.relation == .added && added.consumersLeftOut == ["printer", "é"], "\(added)")
    #expect(try await other.consumers().isEmpty)
    #expect(try await handled(by: other.consumer("printer")) == ["first", "n1", "n2", "n3", "n4", "n5"])

    // The copy has events of its own by now: it keeps the position that it has, which is of events that both have.
    try await append(6...6, to: store)
    #expect(try await handled(by: store.consumer("é")) == ["n4", "n5", "n6"])
    let later = try TransferStores.take(try TransferStores.lines(store), into: copy)
    #expect(later.relation == .added && later.consumersLeftOut == ["é"], "\(later)")
    #expect(try await handled(by: copy.consumer("é")) == ["n4", "n5", "n6"])
  }

  @Test func `no more than a thousand consumers are named`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    for number in 0..<1_010 {
      let draft = AppendDraft()
      Array("$consumer/\(number)".utf8).withUnsafeBytes { stream in
        Array("$consumed".utf8).withUnsafeBytes { type in
          let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
          draft.add(
            stream: stream, type: type, codec: PayloadCodec.cbor.rawValue, salt: nothing, metadata: nothing,
            payload: nothing)
        }
      }
      _ = try store.log.appendBlocking(draft)
    }
    let other = EventStore.inMemory(clock: .fixed)
    try await other.append([NewEvent("first", in: "b/1", .int(0))])
    let report = try TransferStores.take(try TransferStores.lines(store), into: other)
    #expect(report.ownLeftOut == 1_010 && report.consumersLeftOut.count == 1_000)
  }
}
