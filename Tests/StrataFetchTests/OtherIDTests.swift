// Documents whose id is not that of their stream: put, list and read give the same answer.

internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import Testing

@Suite struct OtherIDTests {
  /// Encodes a different id than it has.
  private struct Slip: Codable, Identifiable, Sendable {
    var id: String
    var written = "b"

    enum CodingKeys: String, CodingKey { case id }

    init(id: String) { self.id = id }
    init(from decoder: any Decoder) throws {
      id = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .id)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(written, forKey: .id)
    }
  }

  @Test
  func
    `A document whose id is not its stream's is refused by put, update, lists and reads, with the same words`()
    async throws
  {
    let store = EventStore.inMemory()
    let slips = store.collection("slip", of: Slip.self)
    let what = "its stream has the id a, and the document has the id b"
    await #expect(throws: StoreError.invalid(what: "the document for slip/a is refused: \(what)")) {
      try await slips.put(Slip(id: "a"))
    }
    #expect(store.head.sequence == 0)
    // Another program may have written it.
    try await store.append([NewEvent(DocumentEvent.put, in: "slip/a", ["id": "b"])])
    let refusal = StoreError.undecodable(what: "slip/a: \(what)")
    await #expect(throws: refusal) { try await slips["a"] }
    await #expect(throws: refusal) { try await slips.all() }
    await #expect(throws: refusal) { try await slips.update("a") { $0.written = "c" } }
    let snapshot = try await FetchController(ListRequest(Slip.self), from: slips).performFetch()
    #expect(snapshot.itemIdentifiers.isEmpty && snapshot.problems.map(\.what) == [what])
    // An untyped document has the id of its stream.
    let rows = store.documents("slip")
    #expect(
      try await FetchController(ListRequest(DocumentRow.self), from: rows).performFetch().itemIdentifiers == [
        "a"
      ])
  }

  @Test
  func `Lists, reads and the past go on after their store was closed`() async throws {
    let store = EventStore.inMemory()
    let chores = store.collection("task", of: Chore.self)
    for id in 0..<5 { try await chores.put(Chore(id: id, title: "t\(id)")) }
    let list = FetchController(ListRequest(Chore.self), from: chores)
    let before = try await list.performFetch()
    let receipt = try await chores.put(Chore(id: 9, title: "last"))
    try await store.close()
    #expect(before.row(for: 3)?.title == "t3")
    #expect(try await list.fetch(through: receipt).contains(9))
    #expect(
      try await list.apply(ListRequest(Chore.self).filtered { $0.id > 2 }).itemIdentifiers == [3, 4, 9])
    #expect(try await list.snapshot(at: .sequence(2)).numberOfItems == 0)
    #expect(try await list.scrubber().move(to: .sequence(4)).after.itemIdentifiers == [3])
    #expect(try await chores[4]?.title == "t4")
    #expect(try await chores.all(at: .sequence(3)).count == 3)
    #expect(try await list.why(9).outcome == .shown(section: 0, item: 2))
    var updates = 0
    for try await _ in list.updates { updates += 1 }
    #expect(updates == 1, "an iteration must deliver the current list, and end")
  }
}
