// A store's list as a snapshot that can be changed: collisions and content.

internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
@testable internal import StrataPast
internal import StrataTables
internal import StrataViews
internal import Testing

private nonisolated struct Note: Codable, Identifiable, Hashable, Sendable {
  var id: String
  var folder: String
  var text = ""
}

private nonisolated struct Weight: Codable, Identifiable, Sendable {
  var id: String
  var weight: Double
}

@Suite struct DiffableFetchTests {
  private let composed = "\u{E9}"
  private let decomposed = "e\u{301}"

  private func list(
    _ notes: [Note]
  ) async throws -> (DocumentCollection<Note>, FetchController<Note, String>) {
    let collection = EventStore.inMemory().collection("note", of: Note.self)
    for note in notes { try await collection.put(note) }
    let request = ListRequest(Note.self).sectioned(by: \.folder).sorted(by: \.id)
    return (collection, FetchController(request, from: collection))
  }

  @Test
  func
    `R16 Ids that Swift calls equal do not become one: the conversion throws, and the byte-wise one does not`()
    async throws
  {
    let (_, controller) = try await list([
      Note(id: composed, folder: "a"), Note(id: "x", folder: "a"), Note(id: decomposed, folder: "b"),
    ])
    let snapshot = try await controller.performFetch()
    #expect(throws: DiffableSnapshotError.identifiersCollide(composed, decomposed)) {
      try DiffableSnapshot(snapshot)
    }
    let keys = DiffableSnapshot(byteWise: snapshot)
    #expect(keys.numberOfItems == 3 && keys.sectionIdentifiers.map(\.value) == ["a", "b"])
    #expect(keys.indexOfItem(ByteWise(id: composed)) == 1)
    #expect(keys.indexOfItem(ByteWise(id: decomposed)) == 2)
    #expect(ByteWise(id: composed) != ByteWise(id: decomposed) && composed == decomposed)
  }

  @Test
  func `R16 Sections that Swift calls equal do not become one either`() async throws {
    let (_, controller) = try await list([
      Note(id: "1", folder: composed), Note(id: "2", folder: decomposed), Note(id: "3", folder: composed),
    ])
    let snapshot = try await controller.performFetch()
    #expect(throws: DiffableSnapshotError.identifiersCollide(decomposed, composed)) {
      try DiffableSnapshot(snapshot)
    }
    let keys = DiffableSnapshot(byteWise: snapshot)
    #expect(keys.numberOfSections == 2)
    #expect(keys.itemIdentifiers.map(\.value) == ["2", "1", "3"])
    for (section, items) in [(composed, ["1", "3"]), (decomposed, ["2"])] {
      let key = ByteWise(section: section, of: snapshot)
      #expect(keys.itemIdentifiers(inSection: key).map(\.value) == items)
    }
    // A section that the list does not show has a key, too.
    #expect(keys.indexOfSection(ByteWise(section: "x", of: snapshot)) == nil)
  }

  @Test
  func `R16 A section that is not equal to itself has a key, and so has every section by a field`()
    async throws
  {
    let store = EventStore.inMemory()
    let weights = store.collection("weight", of: Weight.self)
    try await weights.put([Weight(id: "1", weight: 2), Weight(id: "2", weight: .nan)])
    let typed = try await FetchController(
      ListRequest(Weight.self).sectioned(by: \.weight), from: weights
    ).performFetch()
    #expect(throws: DiffableSnapshotError.identifiersCollide("nan", "nan")) { try DiffableSnapshot(typed) }
    let numbers = DiffableSnapshot(byteWise: typed)
    #expect(numbers.indexOfSection(ByteWise(section: .nan, of: typed)) == 1)
    #expect(numbers.indexOfSection(ByteWise(section: 2, of: typed)) == 0)

    let values: [DocumentValue] = [.double(.nan), .double(1), .null, .bytes([1]), "\u{E9}", "e\u{301}"]
    for (id, value) in values.enumerated() {
      try await store.append([
        NewEvent(
          DocumentEvent.put, in: StreamName(category: "note", id: "\(id)"), .object(["folder": value]))
      ])
    }
    let request = try ListRequest(DocumentRow.self).sectioned(byField: FieldPath("folder"))
    let list = try await FetchController(request, from: store.documents("note")).performFetch()
    let keys = DiffableSnapshot(byteWise: list)
    #expect(keys.numberOfSections == values.count)
    for (id, value) in values.enumerated() {
      let key = ByteWise(section: value, of: list)
      #expect(keys.itemIdentifiers(inSection: key).map(\.value) == ["\(id)"])
      #expect(keys.indexOfSection(key) == list.indexOfSection(value))
    }
    // Whatever the sections hold, the batch is kept as CBOR.
    var batch = ListChanges<String, DocumentValue>()
    batch.sectionDeletions = values.enumerated().map { .init(section: $1, from: $0) }
    let coded = try CBOREncoder().encode(batch)
    #expect(try CBORDecoder().decode(ListChanges<String, DocumentValue>.self, from: coded) == batch)
  }

  @Test
  func `R16 A list without collisions becomes the same snapshot both ways`() async throws {
    let (_, controller) = try await list([
      Note(id: "1", folder: "b"), Note(id: "2", folder: "a"), Note(id: "3", folder: "b"),
    ])
    let snapshot = try await controller.performFetch()
    let plain = try DiffableSnapshot(snapshot)
    #expect(plain.description == "a: 2 | b: 1, 3")
    #expect(DiffableSnapshot(byteWise: snapshot).description == "a: 2 | b: 1, 3")
    #expect(plain.indexOfItem("3") == 2)
  }

  @Test
  func `R64 A change of content alone is marked, so that a list is not mistaken for the one before`()
    async throws
  {
    let (notes, controller) = try await list([
      Note(id: "1", folder: "a"), Note(id: "2", folder: "a"), Note(id: "3", folder: "b"),
    ])
    let old = try await controller.performFetch()
    try await notes.put(Note(id: "2", folder: "a", text: "new"))
    try await notes.put(Note(id: "3", folder: "a", text: "moved"))
    try await notes.put(Note(id: "4", folder: "a"))
    try await notes.put(Note(id: "1", folder: "a"))
    let new = try await controller.performFetch()
    let marked = try DiffableSnapshot(new, reconfiguredSince: old)
    #expect(marked.reconfiguredItemIdentifiers == ["2", "3"])
    #expect(
      DiffableSnapshot(byteWise: new, reconfiguredSince: old).reconfiguredItemIdentifiers.map(\.value)
        == ["2", "3"])
    let changes = ListChanges(from: try DiffableSnapshot(old), to: marked)
    let canonical = ListChanges(from: old, to: new)
    #expect(changes.updates.map(\.id) == ["2"])
    // Snapshots of ids do not know which fields changed; the list does.
    #expect(canonical.moves.map(\.changedFields) == [["folder", "text"]])
    let unnamed = canonical.moves.map { move in
      var move = move
      move.changedFields = []
      return move
    }
    #expect(changes.moves == unnamed && changes.moves.map(\.isChanged) == [true])
    #expect(changes.updates.map(\.to) == canonical.updates.map(\.to))
    #expect(try DiffableSnapshot(new, reconfiguredSince: new).reconfiguredItemIdentifiers == [])
  }
}
