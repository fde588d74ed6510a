// A store's list as a snapshot that can be changed: collisions, content, values.

internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataViews
internal import Testing

private nonisolated struct Note: Codable, Identifiable, Hashable, Sendable {
  var id: String
  var folder: String
  var text = ""
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
    #expect(keys.indexOfItem(StringKey(composed)) == 1 && keys.indexOfItem(StringKey(decomposed)) == 2)
    #expect(StringKey(composed) != StringKey(decomposed) && composed == decomposed)
    #expect(StringKey(decomposed) < StringKey(composed))
    await #expect(throws: Never.self) { try await snapshot.values() }
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
    #expect(keys.itemIdentifiers == ["2", "1", "3"])
    await #expect(throws: ListError.self) { try await snapshot.values() }
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
      DiffableSnapshot(byteWise: new, reconfiguredSince: old).reconfiguredItemIdentifiers == ["2", "3"])
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

  @Test
  func
    `R64 Values in the place of ids make a snapshot that is equal only where nothing is shown differently`()
    async throws
  {
    let (notes, controller) = try await list([
      Note(id: "1", folder: "a"), Note(id: "2", folder: "a"), Note(id: "3", folder: "b"),
    ])
    let first = try await controller.performFetch()
    let old = try await first.values()
    #expect(old == (try await first.values()) && old.itemIdentifiers.map(\.id) == ["1", "2", "3"])
    try await notes.put(Note(id: "2", folder: "a", text: "new"))
    let second = try await controller.performFetch()
    let new = try await second.values()
    #expect(try DiffableSnapshot(first) == DiffableSnapshot(second))
    #expect(old != new)
    var changes = try ListChanges(fromValues: old, toValues: new)
    #expect(changes.updates.map(\.id) == ["2"] && changes.count == 1)
    #expect(try ListChanges(fromValues: new, toValues: new).isEmpty)
    // As different items, where only their equality counts.
    #expect(ListChanges(from: old, to: new).insertions.map(\.id.text) == ["new"])
    // A property that a cell does not show makes no change.
    struct Cell: Identifiable, Hashable { var id: String }
    let cells = try await (first.values { Cell(id: $0.id) }, second.values { Cell(id: $0.id) })
    #expect(cells.0 == cells.1)
    // A moved value that changed, together with a reloaded value and a new one.
    try await notes.put(Note(id: "1", folder: "b", text: "moved"))
    try await notes.put(Note(id: "4", folder: "a"))
    var third = try await controller.performFetch().values()
    third.reloadItems(third.itemIdentifiers.filter { $0.id == "3" })
    changes = try ListChanges(fromValues: new, toValues: third)
    #expect(changes.moves.map(\.id) == ["1"] && changes.moves.map(\.isChanged) == [true])
    #expect(changes.updates.map(\.id) == ["3"] && changes.updates.map(\.isReload) == [true])
    #expect(changes.insertions.map(\.id) == ["4"])
  }

  @Test
  func `R64 Two values of one id are refused, and a mapping keeps marks`() throws {
    struct Cell: Identifiable, Hashable {
      var id: Int
      var text: String
    }
    let twice = DiffableSnapshot(sections: [("a", [Cell(id: 1, text: "a"), Cell(id: 1, text: "b")])])
    #expect(throws: DiffableSnapshotError.duplicateItem("1")) {
      try ListChanges(fromValues: .init(), toValues: twice)
    }
    var snapshot = DiffableSnapshot(sections: [("a", [1, 2]), ("b", [3])])
    snapshot.reloadItems([3])
    snapshot.reconfigureItems([1])
    snapshot.reloadSections(["b"])
    let mapped = try snapshot.mapItems { "\($0 * 10)" }
    #expect(mapped.description == "a: 10, 20 | b: 30")
    #expect(mapped.reloadedItemIdentifiers == ["30"] && mapped.reconfiguredItemIdentifiers == ["10"])
    #expect(mapped.reloadedSectionIdentifiers == ["b"])
    #expect(throws: DiffableSnapshotError.duplicateItem("0")) { try snapshot.mapItems { _ in 0 } }
  }
}
