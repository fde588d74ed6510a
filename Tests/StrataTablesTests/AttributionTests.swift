// Who wrote what: metadata and expected versions on every way to write.

import StrataDocuments
import StrataEvents
import StrataLog
@testable internal import StrataPast
import StrataTables
import Testing

@Suite struct AttributionTests {
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

  @Test func `every way to write a document takes metadata`() async throws {
    let store = EventStore.inMemory()
    let notes = store.collection("note", of: Note.self)
    try await notes.put(Note(id: "1"), metadata: ["by": "put"])
    try await notes.put([Note(id: "2"), Note(id: "3")], metadata: ["by": "many"])
    try await notes.update("1", metadata: ["by": "update"]) { $0.text = "x" }
    try await notes.delete("2", metadata: ["by": "delete"])
    try await store.write { batch in
      try batch.put(Note(id: "4"), in: notes, metadata: ["by": "batch"])
      try batch.delete("3", in: notes, metadata: ["by": "batch, too"])
    }
    #expect(
      try await metadata(store).map { $0["by"] } == [
        "put", "many", "many", "update", "delete", "batch", "batch, too",
      ])
  }

  @Test func `every way to write a document can expect a version`() async throws {
    let store = EventStore.inMemory()
    let notes = store.collection("note", of: Note.self)
    try await notes.put(Note(id: "1"), expecting: .noStream)
    func isConflict(_ body: () async throws -> Void) async -> Bool {
      do { try await body() } catch {
        if case .conflict(stream: "note/1", _, actual: 1) = error as? StoreError { return true }
      }
      return false
    }
    #expect(await isConflict { try await notes.put(Note(id: "1"), expecting: .noStream) })
    #expect(await isConflict { try await notes.put([Note(id: "2")], expecting: ["1": .exactly(2)]) })
    #expect(await isConflict { try await notes.update("1", expecting: .exactly(2)) { $0.text = "x" } })
    #expect(await isConflict { try await notes.delete("1", expecting: .exactly(2)) })
    #expect(
      await isConflict {
        try await store.write { try $0.put(Note(id: "1"), in: notes, expecting: .exactly(2)) }
      })
    #expect(
      await isConflict {
        try await store.write { try $0.delete("1", in: notes, expecting: .noStream) }
      })
    #expect(store.head.sequence == 1)
    try await notes.update("1", expecting: .exactly(1)) { $0.text = "x" }
    try await store.write { try $0.delete("1", in: notes, expecting: .exactly(2)) }
    #expect(try await notes["1"] == nil)
  }

  @Test func `the event's own metadata goes first, then the task's, then the store's`() async throws {
    let store = EventStore.inMemory()
    let mine = store.attributed(["by": "store", "from": "store", "at": "store"]).attributed(["at": "nearer"])
    try await EventStore.attributing(["by": "outer", "from": "task"]) {
      try await EventStore.attributing(["by": "task"]) {
        try await mine.append([NewEvent("t", in: "a/1", .null, metadata: ["by": "event", "own": 1])])
        async let child = mine.append([NewEvent("t", in: "a/1", .null)])
        _ = try await child
        try await store.append([NewEvent("t", in: "a/1", .null)])
      }
    }
    try await mine.collection("note", of: Note.self).put(Note(id: "1"))
    try await store.append([NewEvent("t", in: "a/1", .null)])
    #expect(
      try await metadata(store) == [
        ["by": "event", "own": 1, "from": "task", "at": "nearer"],
        ["by": "task", "from": "task", "at": "nearer"],
        ["by": "task", "from": "task"],
        ["by": "store", "from": "store", "at": "nearer"],
        [:],
      ])
  }

  @Test func `an attributed store is the same store`() async throws {
    let store = EventStore.inMemory()
    let mine = store.attributed(["by": "a7"])
    let notes = mine.collection("note", of: Note.self)
    try await notes.put(Note(id: "1"))
    // Its collections reserve their categories in both, and its tables are folded once.
    await #expect(throws: StoreError.self) { try await store.append([NewEvent("t", in: "note/1", .null)]) }
    #expect(try await store.collection("note", of: Note.self)["1"] == Note(id: "1"))
    #expect(
      mine.collection("note", of: Note.self).table.projector
        === store.collection("note", of: Note.self).table.projector)
    try await mine.close()
    await #expect(throws: StoreError.self) { try await store.append([NewEvent("t", in: "a/1", .null)]) }
  }

  @Test func `positions of consumers are not attributed`() async throws {
    let store = EventStore.inMemory().attributed(["by": "a7"])
    try await store.append([NewEvent("t", in: "a/1", .null)])
    try await store.consumer("c").run(until: .caughtUp) { _, batch in
      try batch.append(NewEvent("u", in: "b/1", .null))
    }
    var all: [DocumentObject] = []
    for try await append in store.feed(of: .all.includingInternal(), until: .caughtUp) {
      for event in append.events { all.append(try event.metadata()) }
    }
    #expect(all == [["by": "a7"], ["by": "a7"], [:]])
  }
}
