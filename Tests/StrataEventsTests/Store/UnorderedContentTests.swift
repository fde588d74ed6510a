// Equal sets are equal content: of an append that is repeated, and of a document that is written again.

import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct UnorderedContentTests {
  private enum Tagging: DomainEvent, Equatable {
    case tagged(tags: Set<String>)
    case weighed([UnorderedKey: Double])
  }

  private struct Note: Codable, Equatable, Identifiable, Sendable {
    var id: String
    var tags: Set<String>
    var counts: [UnorderedKey: Int]?
  }

  private static let words = (0..<40).map { "w\($0)" }

  private static func tags(_ capacity: Int) -> Set<String> {
    var tags = Set<String>(minimumCapacity: capacity)
    for word in capacity > 100 ? words.reversed() : words { tags.insert(word) }
    return tags
  }

  private static func counts<Count>(_ capacity: Int, _ count: Count) -> [UnorderedKey: Count] {
    var counts = [UnorderedKey: Count](minimumCapacity: capacity)
    for word in capacity > 100 ? words.reversed() : words {
      counts[UnorderedKey(first: word.utf8.count, second: word)] = count
    }
    return counts
  }

  private static func open(_ disk: SimulatedDisk) throws -> EventStore {
    var options = StoreOptions()
    options.clock = .fixed
    options.writesInStep = true
    return try EventStore.open(disk, path: "/store", .readWrite, options: options)
  }

  @Test func `an append with a set is known when it is repeated, now and after a restart`() async throws {
    let disk = SimulatedDisk()
    var store = try Self.open(disk)
    func events(_ capacity: Int) -> [Tagging] {
      [.tagged(tags: Self.tags(capacity)), .weighed(Self.counts(capacity, 0.5))]
    }
    #expect(Array(Self.tags(1)) != Array(Self.tags(5_000)), "the tables happen to have one order")
    try await store.append(events(1), to: "x/1", id: "one")
    #expect(try await store.append(events(5_000), to: "x/1", id: "one").wasKnown)
    try await store.close()
    store = try Self.open(disk)
    #expect(try await store.append(events(5_000), to: "x/1", id: "one").wasKnown)
    #expect(try await store.append(events(1), to: "x/1", id: "one").wasKnown)
    let other = [Tagging.tagged(tags: Self.tags(1).union(["more"]))]
    await #expect(throws: StoreError.self) { try await store.append(other, to: "x/1", id: "one") }
    #expect(try await store.events(in: "x/1").map { try $0.decode(Tagging.self) } == events(1))
    try await store.close()
  }

  @Test func `a document with an equal set is written with the same bytes`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    let notes = store.collection("note", of: Note.self)
    for capacity in [1, 5_000] {
      try await notes.put(
        Note(id: "1", tags: Self.tags(capacity), counts: Self.counts(capacity, capacity / capacity)))
    }
    let payloads = try await store.events(in: "note/1").map(\.payload.bytes)
    #expect(payloads.count == 2 && payloads[0] == payloads[1])
    try await store.close()
  }
}
