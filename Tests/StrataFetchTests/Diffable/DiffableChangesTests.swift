// The changes between two snapshots: one test for each rule, with its example.

internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
@testable internal import StrataPast
internal import StrataTables
internal import StrataViews
internal import Testing

@Suite struct DiffableChangesTests {
  private typealias Snapshot = DiffableSnapshot<Int, String>

  private func changes(_ old: [(id: String, items: [Int])], _ new: [(id: String, items: [Int])]) throws
    -> ListChanges<Int, String>
  {
    let (a, b) = (Snapshot(sections: old), Snapshot(sections: new))
    let changes = ListChanges(from: a, to: b)
    #expect(try a.applying(changes) == b)
    return changes
  }

  private func place(_ section: Int, _ item: Int) -> ListIndex { ListIndex(section: section, item: item) }

  @Test(arguments: [
    ([1, 2, 3], [3, 1, 2], 1), ([0, 1, 2], [1, 2, 0], 1), ([0, 1, 2, 3], [3, 2, 1, 0], 3),
    ([1, 2, 3, 4, 5], [1, 4, 3, 2, 5], 2), ([1, 2, 3], [1, 2, 3], 0), ([1, 2, 3, 4], [9, 2, 8, 4], 0),
  ])
  func `R31 Moves between two snapshots are as few as can be: n − LIS`(_ old: [Int], _ new: [Int], moves: Int)
    throws
  {
    let items = try changes([("a", old)], [("a", new)])
    #expect(items.moves.count == moves && items.updates.isEmpty)
    let sections = try changes(old.map { ("\($0)", []) }, new.map { ("\($0)", []) })
    #expect(sections.sectionMoves.count == moves && !sections.isEmpty == (old != new))
  }

  @Test
  func `R24 An item that changes delete is no longer in a snapshot in which no position was looked up`()
    throws
  {
    var snapshot = Snapshot(sections: [("a", [1, 2, 3])])
    var changes = ListChanges<Int, String>()
    changes.deletions = [.init(id: 2, from: ListIndex(section: 0, item: 1))]
    try snapshot.apply(changes)
    #expect(!snapshot.contains(2) && snapshot.contains(3))
    changes = ListChanges<Int, String>()
    changes.insertions = [.init(id: 2, to: ListIndex(section: 0, item: 0))]
    try snapshot.apply(changes)
    #expect(snapshot.contains(2) && snapshot.itemIdentifiers == [2, 1, 3])
  }

  @Test
  func `R16 R24 An id is replaced by one that Swift calls equal, and so is a section`() async throws {
    let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    let store = EventStore.inMemory()
    func put(_ id: String) -> NewEvent {
      NewEvent(
        DocumentEvent.put, in: StreamName(category: "note", id: id), .object(["folder": .string(id)]))
    }
    let request = try ListRequest(DocumentRow.self).sectioned(byField: FieldPath("folder"))
    let list = FetchController(request, from: store.documents("note"))
    try await store.append([put(composed), put("z")])
    let before = try await list.performFetch()
    let delete = NewEvent(DocumentEvent.delete, in: StreamName(category: "note", id: composed), .null)
    try await store.append([delete, put(decomposed)])
    let after = try await list.performFetch()
    let result = try DiffableSnapshot(before).applying(ListChanges(from: before, to: after))
    #expect(result == (try DiffableSnapshot(after)) && result.numberOfItems == 2)
    #expect(result.itemIdentifiers.map { Array($0.utf8) } == after.itemIdentifiers.map { Array($0.utf8) })
    #expect(result.itemIdentifiers.contains { Array($0.utf8) == Array(decomposed.utf8) })
    #expect(result.contains(decomposed))
    // The same id twice is refused still.
    var changes = ListChanges<String, DocumentValue>()
    changes.insertions = [.init(id: decomposed, to: ListIndex(section: 0, item: 0))]
    #expect(throws: DiffableSnapshotError.self) { try result.applying(changes) }
  }

  @Test
  func `R32 A move is decided by the section's identity and the order, not by numbers that are equal`() throws
  {
    // Index 0 is another section now: from == to, but still a move.
    var batch = try changes([("a", [1]), ("b", [])], [("new", [1]), ("a", []), ("b", [])])
    #expect(batch.moves.map(\.from) == [place(0, 0)] && batch.moves.map(\.to) == [place(0, 0)])
    // The section shifted, and its items with it: no move.
    batch = try changes([("a", [1, 2])], [("new", []), ("a", [1, 2])])
    #expect(batch.moves.isEmpty && batch.sectionInsertions.map(\.to) == [0])
    // One insertion before, one move across: the indices stay the same, the order does not.
    batch = try changes([("a", [1, 2, 3, 4])], [("a", [9, 4, 1, 2, 3])])
    #expect(batch.moves.map(\.id) == [4] && batch.insertions.map(\.to) == [place(0, 0)])
    // An insertion and a deletion that leave the index as it was: nothing moves.
    batch = try changes([("a", [1, 2, 3])], [("a", [9, 2, 3])])
    #expect(batch.moves.isEmpty && batch.count == 2)
  }

  @Test
  func `R27 The batch is complete by item, whatever happens to the sections around it`() throws {
    let batch = try changes([("a", [1, 2]), ("b", [3, 4])], [("c", [2, 5]), ("b", [3, 1])])
    #expect(batch.deletions.map(\.id) == [4] && batch.insertions.map(\.id) == [5])
    #expect(batch.moves.map(\.id) == [2, 1])
    #expect(batch.sectionDeletions.map(\.section) == ["a"] && batch.sectionInsertions.map(\.section) == ["c"])
    #expect(batch.sectionInsertions.map(\.count) == [2] && batch.sectionUpdates.isEmpty)
    let emptied = try changes([("a", [1]), ("b", [3, 4])], [])
    #expect(emptied.deletions.map(\.id) == [4, 3, 1] && emptied.sectionDeletions.map(\.from) == [1, 0])
  }

  @Test
  func `R12 A reload wins over a reconfiguration, and marks become updates of what both snapshots have`() {
    let old = Snapshot(sections: [("a", [0, 1, 2, 3]), ("b", [4]), ("gone", [])])
    var new = Snapshot(sections: [("x", []), ("b", [4]), ("a", [9, 3, 0, 1, 2])])
    new.reconfigureItems([1, 2, 3, 9])
    new.reloadItems([2])
    new.reconfigureItems([2])
    #expect(new.reloadedItemIdentifiers == [2] && new.reconfiguredItemIdentifiers == [9, 3, 1])
    new.reloadSections(["x", "b", "gone"])
    let batch = ListChanges(from: old, to: new)
    #expect(batch.updates.map(\.id) == [1, 2] && batch.updates.map(\.isReload) == [false, true])
    #expect(batch.updates.map(\.from) == [place(0, 1), place(0, 2)])
    #expect(batch.updates.map(\.to) == [place(2, 3), place(2, 4)])
    #expect(batch.moves.map(\.id) == [3] && batch.moves[0].isChanged && !batch.moves[0].isReload)
    #expect(batch.insertions.map(\.id) == [9])
    // The inserted section is not updated. The reloaded one has both indices, the other one a new count.
    #expect(batch.sectionUpdates.map(\.section) == ["b", "a"])
    #expect(batch.sectionUpdates.map(\.isReload) == [true, false])
    #expect(batch.sectionUpdates.map(\.from) == [1, 0] && batch.sectionUpdates.map(\.to) == [1, 2])
    #expect(batch.sectionUpdates.map(\.count) == [1, 5])
    new.reloadItems([3])
    #expect(ListChanges(from: old, to: new).moves.map(\.isReload) == [true])
    #expect(ListChanges(from: new, to: old).updates.isEmpty)
  }

  @Test
  func `R12 Marks of a copy are changes, though its structure is the same`() {
    let old = Snapshot(sections: [("a", [0, 1]), ("b", [2])])
    var new = old
    new.reconfigureItems([2])
    new.reloadSections(["a"])
    let batch = ListChanges(from: old, to: new)
    #expect(batch.updates.map(\.id) == [2] && batch.sectionUpdates.map(\.section) == ["a"])
    #expect(!batch.isStructural && ListChanges(from: old, to: old).isEmpty)
    // Marks of one kind alone are enough.
    var items = old
    items.reconfigureItems([2])
    #expect(ListChanges(from: old, to: items).updates.map(\.id) == [2])
    var sections = old
    sections.reloadSections(["a"])
    #expect(ListChanges(from: old, to: sections).sectionUpdates.map(\.section) == ["a"])
  }

  @Test
  func `R24 Changes of another snapshot do not fit, and are refused`() throws {
    let a = Snapshot(sections: [("a", [0, 1]), ("b", [2])])
    let b = Snapshot(sections: [("b", [2, 0]), ("c", [7])])
    let batch = ListChanges(from: a, to: b)
    #expect(try a.applying(batch) == b)
    let others = [
      Snapshot(), b, Snapshot(sections: [("a", [0, 1, 7]), ("b", [2])]),
      Snapshot(sections: [("a", [0, 1]), ("b", [2]), ("c", [])]),
      Snapshot(sections: [("b", [2]), ("a", [0, 1])]),
      Snapshot(sections: [("a", [0, 1, 5]), ("b", [2])]), Snapshot(sections: [("a", [0, 1]), ("b", [])]),
    ]
    for other in others {
      #expect(throws: DiffableSnapshotError.self, "\(other)") { try other.applying(batch) }
    }
    // Batches that do not come from a difference.
    let edits: [(inout ListChanges<Int, String>) -> Void] = [
      { $0.insertions += $0.insertions }, { $0.insertions[0].to.item = 1 },
      { $0.insertions[0].to.item = .max },
      { $0.insertions[0].to.item = .min }, { $0.insertions[0].to.section = 7 }, { $0.insertions[0].id = 2 },
      { $0.moves += $0.moves }, { $0.moves[0].from.section = -1 }, { $0.moves[0].to.section = .min },
      { $0.deletions += $0.deletions }, { $0.deletions[0].from.item = .max }, { $0.deletions = [] },
      { $0.sectionDeletions += $0.sectionDeletions }, { $0.sectionDeletions[0].from = .min },
      { $0.sectionInsertions += $0.sectionInsertions }, { $0.sectionInsertions[0].section = "b" },
      { $0.sectionInsertions[0].to = .max }, { $0.sectionInsertions[0].to = .min },
      { $0.sectionUpdates[0].to = .max }, { $0.sectionUpdates[0].from = .min },
    ]
    for (number, edit) in edits.enumerated() {
      var edited = batch
      edit(&edited)
      #expect(throws: DiffableSnapshotError.self, "\(number)") { try a.applying(edited) }
    }
    // The same for an update at a wrong index.
    var marked = a
    marked.reloadItems([2])
    marked.reloadSections(["b"])
    let updates = ListChanges(from: a, to: marked)
    #expect(try a.applying(updates) == a)
    #expect(throws: DiffableSnapshotError.self) { try b.applying(updates) }
  }

  @Test
  func `R72 The same two snapshots give the same batch, in the same order, however they were made`() {
    let old = DiffableSnapshot(sections: [("a", (0..<50).map { "\($0)" }), ("b", (50..<99).map { "\($0)" })])
    var new = DiffableSnapshot(sections: [("b", (0..<99).reversed().map { "\($0)" }), ("a", ["x", "y"])])
    new.reloadItems(["3", "x", "77", "10"])
    let batch = ListChanges(from: old, to: new)
    var again = new
    again.deleteItems(["x"])
    again.insertItems(["x"], beforeItem: "y")
    #expect(ListChanges(from: old, to: again) == batch)
    #expect(batch.updates.map(\.to) == batch.updates.map(\.to).sorted())
  }
}
