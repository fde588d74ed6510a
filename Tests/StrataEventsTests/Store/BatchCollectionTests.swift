// Collections in a batch: only those of its own store, with the metadata that they append with.

import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct BatchCollectionTests {
  private struct Note: Codable, Identifiable, Sendable, Equatable {
    var id: String
    var text = ""
  }

  private func metadata(_ store: EventStore) async throws -> [DocumentObject] {
    var all: [DocumentObject] = []
    for try await append in store.feed(until: .caughtUp) {
      for event in append.events { all.append(try event.metadata()) }
    }
    return all
  }

  private func isOfAnotherStore(_ error: any Error) -> Bool {
    guard case .invalid(let what, _) = error as? StoreError else { return false }
    return what.contains("'note'") && what.contains("another store")
  }

  @Test func `a batch refuses a collection of another store, and appends nothing`() async throws {
    let (a, b) = (EventStore.inMemory(clock: .fixed), EventStore.inMemory(clock: .fixed))
    let other = b.collection("note", of: Note.self)
    await #expect {
      try await a.write { batch in
        try batch.append(NewEvent("t", in: "a/1", .null))
        try batch.put(Note(id: "1"), in: other)
      }
    } throws: {
      isOfAnotherStore($0)
    }
    await #expect {
      try await a.write { try $0.delete("1", in: other) }
    } throws: {
      isOfAnotherStore($0)
    }
    #expect(a.head.sequence == 0)
    #expect(b.head.sequence == 0)
    // What was refused leaves nothing in the batch: it can be used further.
    try await a.write { batch in
      #expect(throws: StoreError.self) { try batch.put(Note(id: "1"), in: other, expecting: .exactly(7)) }
      try batch.append(NewEvent("t", in: "note/1", .null), expecting: .noStream)
    }
    #expect(a.head.sequence == 1)
  }

  @Test func `an attributed store takes collections of the store that it is, and the other way round`()
    async throws
  {
    let store = EventStore.inMemory(clock: .fixed)
    let mine = store.attributed(["by": "a7"])
    try await mine.write { try $0.put(Note(id: "1"), in: store.collection("note", of: Note.self)) }
    try await store.write { try $0.put(Note(id: "2"), in: mine.collection("note", of: Note.self)) }
    #expect(try await metadata(store) == [["by": "a7"], ["by": "a7"]])
  }

  @Test func `an attributed collection gives events of a batch its metadata`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    let outer = store.attributed(["by": "store", "app": "store"])
    let notes = store.attributed(["by": "collection", "from": "collection"]).collection("note", of: Note.self)
    try await outer.write { batch in
      try batch.put(Note(id: "1"), in: notes, metadata: ["own": 1])
      try batch.delete("2", in: notes, metadata: ["by": "event"])
      try batch.append(NewEvent("t", in: "a/1", .null))
    }
    try await EventStore.attributing(["by": "task"]) {
      try await notes.put(Note(id: "3"))
      try await store.write { try $0.put(Note(id: "4"), in: notes) }
    }
    #expect(
      try await metadata(store) == [
        ["own": 1, "by": "collection", "from": "collection", "app": "store"],
        ["by": "event", "from": "collection", "app": "store"],
        ["by": "store", "app": "store"],
        ["by": "task", "from": "collection"],
        ["by": "task", "from": "collection"],
      ])
  }
}
