// Merge patches of documents in a batch.

import StrataDocuments
import StrataEvents
import StrataLog
@testable internal import StrataPast
import StrataTables
import Testing

@Suite struct BatchMergeTests {
  private struct Note: Codable, Identifiable, Sendable, Equatable {
    var id: String
    var text = ""
    var mark: String?
  }

  private struct Numbered: Codable, Identifiable, Sendable {
    var id: Int
    var text = ""
  }

  private func what(_ body: () async throws -> Void) async -> String {
    do { try await body() } catch {
      if case .invalid(let what, _) = error as? StoreError { return what }
      return "\(error)"
    }
    return "nothing was thrown"
  }

  @Test func `a patch changes the fields that it names, of several documents in one append`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    let notes = store.collection("note", of: Note.self)
    try await store.append([
      NewEvent("$put", in: "note/1", ["id": "1", "text": "a", "mark": "x", "extra": ["p": 1, "q": 2]]),
      NewEvent("$put", in: "note/2", ["id": "2", "text": "b"]),
    ])
    let receipt = try await store.attributed(["by": "a7"]).write { batch in
      try batch.merge(
        "1", ["text": "c", "mark": .null, "extra": ["q": .null, "r": 3]], in: notes, expecting: .exactly(1),
        metadata: ["why": "test"])
      try batch.merge("2", ["mark": "y"], in: notes)
      try batch.merge("3", ["id": "3", "text": "new"], in: notes, expecting: .noStream)
    }
    #expect(receipt?.sequences == 3...5)
    #expect(try await notes["1"] == Note(id: "1", text: "c"))
    #expect(try await notes["2"] == Note(id: "2", text: "b", mark: "y"))
    #expect(try await notes["3"] == Note(id: "3", text: "new"))
    // What the type does not know stays, and is merged too.
    let row = try #require(try await store.documents("note")["1"])
    #expect(row.fields == ["id": "1", "text": "c", "extra": ["p": 1, "r": 3]])
    let event = try #require(try await store.events(in: "note/1").last)
    #expect(event.type == DocumentEvent.merge)
    #expect(try event.metadata() == ["by": "a7", "why": "test"])
  }

  @Test func `a patch that is refused or meets another version appends nothing`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    let notes = store.collection("note", of: Note.self)
    let numbers = store.collection("number", of: Numbered.self)
    let others = EventStore.inMemory(clock: .fixed).collection("note", of: Note.self)
    try await notes.put(Note(id: "1", text: "a"))
    func refusal(_ body: (inout WriteBatch) throws -> Void) async -> String {
      await what { try await store.write(body) }
    }
    #expect(await refusal { try $0.merge("1", ["id": "2"], in: notes) }.contains("changes the document's id"))
    #expect(await refusal { try $0.merge(7, ["id": 8], in: numbers) }.contains("changes the document's id"))
    #expect(
      await refusal { try $0.merge("1", ["id": .null], in: notes) }.contains("removes the document's id"))
    #expect(await refusal { try $0.merge("", ["text": "b"], in: notes) }.contains("id is empty"))
    #expect(await refusal { try $0.merge("1", ["text": "b"], in: others) }.contains("another store"))
    await #expect(throws: StoreError.conflict(stream: "note/1", expected: .exactly(2), actual: 1)) {
      try await store.write { try $0.merge("1", ["text": "b"], in: notes, expecting: .exactly(2)) }
    }
    #expect(store.head.sequence == 1)
    // The same id is no change of it.
    try await store.write {
      try $0.merge("1", ["id": "1", "text": "b"], in: notes)
      try $0.merge(7, ["id": 7, "text": "c"], in: numbers)
    }
    #expect(try await notes["1"] == Note(id: "1", text: "b"))
    #expect(try await numbers[7]?.text == "c")
  }
}
