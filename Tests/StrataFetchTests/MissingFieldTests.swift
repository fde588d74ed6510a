// Fields that a request names but no row has: a list of documents has no schema that could reject them.

internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import Testing

@Suite struct MissingFieldTests {
  private func path(_ text: String) throws -> FieldPath { try FieldPath(text) }

  private func store() async throws -> EventStore {
    let store = EventStore.inMemory()
    try await put("a", ["status": "Open", "n": 1, "place": ["city": "Bonn"]], in: store)
    try await put("b", ["status": .null, "late": true], in: store)
    return store
  }

  private func put(_ id: String, _ document: DocumentValue, in store: EventStore) async throws {
    try await store.append([
      NewEvent(DocumentEvent.put, in: StreamName(category: "note", id: id), payload: EventPayload(document))
    ])
  }

  @Test func `a snapshot names the fields of its request that no row has, each once`() async throws {
    let store = try await store()
    let request = ListRequest(DocumentRow.self)
      .sectioned(byField: try path("sttus")).sectionsOrdered(byMaximumOfField: try path("rank"))
      .sorted(byField: try path("late")).sorted(byField: try path("$time"))
      .filtered(by: "n != 7 && place.town == null && status != Open && !(sttus == 'x')")
      .searched(for: "", inFields: try path("nothing"))
    let snapshot = try await FetchController(request, from: store.documents("note")).performFetch()
    #expect(snapshot.numberOfItems == 1)
    #expect(snapshot.missingFields.map(\.description) == ["Open", "place.town", "rank", "sttus"])
    let search = ListRequest(DocumentRow.self).searched(
      for: "x", inFields: try path("nte"), try path("$id"), try path("status"))
    let found = try await FetchController(search, from: store.documents("note")).performFetch()
    #expect(found.numberOfItems == 0 && found.missingFields.map(\.description) == ["nte"])
  }

  @Test func `a field is there once a row has it, as null too, shown or not`() async throws {
    let store = try await store()
    let list = FetchController(
      ListRequest(DocumentRow.self).filtered(by: "new == 1 || status == 'None'").limited(to: 0),
      from: store.documents("note"))
    #expect(try await list.performFetch().missingFields.map(\.description) == ["new"])
    try await put("c", ["new": .null], in: store)
    #expect(try await list.performFetch().missingFields == [])
    try await store.append([NewEvent(DocumentEvent.delete, in: "note/c", payload: EventPayload(.null))])
    #expect(try await list.performFetch().missingFields.map(\.description) == ["new"])
  }

  @Test func `nothing is missing from a table without rows`() async throws {
    let store = EventStore.inMemory()
    let list = FetchController(
      ListRequest(DocumentRow.self).sorted(byField: try path("x")), from: store.documents("note"))
    #expect(try await list.performFetch().missingFields == [])
  }
}
