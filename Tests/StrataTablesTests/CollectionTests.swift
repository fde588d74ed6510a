// Reading and changing documents.

internal import Foundation
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataSimulation
internal import Testing

private struct Page: Codable, Identifiable, Sendable, Equatable {
  var id: String
  var title: String
  var note: String?
  var count = 0
}

@Suite struct CollectionTests {
  @Test
  func `A document reads back, at the head and at any point, and is gone when it is deleted`() async throws {
    let store = EventStore.inMemory()
    let pages = store.collection("page", of: Page.self)
    #expect(try await pages["a"] == nil)
    try await pages.put(Page(id: "a", title: "A"))
    try await pages.put([Page(id: "b", title: "B"), Page(id: "é", title: "E")])
    #expect(try await pages["a"]?.title == "A")
    #expect(try await pages["e\u{301}"] == nil, "ids are compared by their bytes")
    #expect(try await pages.all().map(\.id) == ["a", "b", "é"])
    try await pages.delete("a")
    #expect(try await pages["a"] == nil)
    #expect(try await pages.all(at: .sequence(1)).map(\.id) == ["a"])
    #expect(try await pages.all(at: .beginning).isEmpty)
    #expect(try await pages.all(at: .time(Date.distantPast)).isEmpty)
    #expect(try await pages.all(at: .time(Date.distantFuture)).count == 2)
  }

  @Test
  func `An update appends the merge patch of what changed, and nothing where nothing did`() async throws {
    let store = EventStore.inMemory()
    let pages = store.collection("page", of: Page.self)
    try await pages.put(Page(id: "a", title: "A", note: "n"))
    let update = try await pages.update("a") { page in
      page.title = "AA"
      page.note = nil
    }
    guard case .changed(let page, let receipt) = update else { return #expect(Bool(false)) }
    #expect(page == Page(id: "a", title: "AA") && receipt.sequences == 2...2)
    let event = try await store.events(in: "page/a").last
    #expect(event?.type == DocumentEvent.merge)
    #expect(try event?.document() == ["title": "AA", "note": .null])
    guard case .unchanged = try await pages.update("a", { $0.title = "AA" }) else {
      return #expect(Bool(false))
    }
    guard case .absent = try await pages.update("zz", { $0.title = "AA" }) else {
      return #expect(Bool(false))
    }
    #expect(store.head.sequence == 2)
    await #expect(throws: StoreError.self) { try await pages.update("a") { $0.id = "b" } }
    #expect(store.head.sequence == 2)
  }

  @Test
  func `An update keeps the fields that the type does not know`() async throws {
    let store = EventStore.inMemory()
    try await store.append([
      NewEvent(
        DocumentEvent.put, in: "page/a",
        payload: EventPayload(["id": "a", "title": "A", "count": 0, "extra": ["x": 1]]))
    ])
    let pages = store.collection("page", of: Page.self)
    try await pages.update("a") { $0.count = 5 }
    let documents = try await store.documents("page").table.row("a")
    #expect(documents?.fields == ["id": "a", "title": "A", "count": 5, "extra": ["x": 1]])
  }

  @Test
  func `A null that a merge patch cannot say becomes a whole document, with the unknown fields in it`()
    async throws
  {
    struct Loose: Codable, Identifiable, Sendable {
      struct Part: Codable, Sendable { var known: DocumentValue }

      var id: String
      var value: DocumentValue
      var part: Part
    }
    let store = EventStore.inMemory()
    try await store.append([
      NewEvent(
        DocumentEvent.put, in: "loose/a",
        payload: EventPayload([
          "id": "a", "value": 1, "extra": true, "part": ["known": 1, "extra": [1]],
        ]))
    ])
    let loose = store.collection("loose", of: Loose.self)
    try await loose.update("a") {
      $0.value = ["x": .null]
      $0.part.known = 2
    }
    #expect(try await store.events(in: "loose/a").last?.type == DocumentEvent.put)
    let document = try await store.documents("loose").table.row("a")
    #expect(
      document?.fields == [
        "id": "a", "value": ["x": .null], "extra": true, "part": ["known": 2, "extra": [1]],
      ])
  }

  @Test func `a row has the id of an item in the one form in which the id's type writes it`() {
    func isNamed(_ text: String, _ id: some DocumentID) -> Bool {
      Array(text.utf8).withUnsafeBytes { bytes in
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        let row = RowView(id: bytes, revision: 1, created: 1, time: 0, document: nothing)
        return (try? row.check(id)) != nil
      }
    }
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var numbers = [0, 1, -1, 9, -9, 10, -10, 99, 100, .max, .min, .max - 1, .min + 1]
    for _ in 0..<1_000 {
      numbers.append(
        Int.random(in: .min ... .max, using: &random) >> Int.random(in: 0..<63, using: &random))
    }
    for number in numbers {
      let text = String(number)
      let others = [
        "0" + text, "+" + text, "-" + text, " " + text, text + "0", text + " ", String(text.dropFirst()),
        String(text.dropLast()), String(text.dropFirst()) + "0", "", "-", "-0", "+0", "00",
      ]
      #expect(isNamed(text, number) && isNamed(text, Int64(number)))
      for other in others where other != text {
        #expect(!isNamed(other, number) && !isNamed(other, Int64(number)), "\(other) for \(number)")
      }
    }
  }
}
