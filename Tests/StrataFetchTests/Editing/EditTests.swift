// Editing a list: rejected edits, concurrent writers, windows and filters.

internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct EditTests {
  private func board(
    _ count: Int = 6, lanes: [String] = ["a"]
  ) async throws -> DocumentCollection<Card> {
    let cards = EventStore.inMemory().collection("card", of: Card.self)
    for id in 0..<count {
      try await cards.put(Card(id: id, lane: lanes[id % lanes.count], isHidden: id % 2 == 1))
    }
    return cards
  }

  private func isNotEditable(_ body: () async throws -> Void) async -> Bool {
    do { try await body() } catch ListEditError.notEditable { return true } catch { return false }
    return false
  }

  @Test
  func `R78 A row is deleted by its place or its id, and of two who delete it one is told that it is gone`()
    async throws
  {
    let cards = try await board()
    let list = FetchController(MoveTests.byHand, from: cards)
    let shown = try await list.performFetch()
    try await list.delete(at: ListIndex(section: 0, item: 1))
    #expect(try await list.performFetch().itemIdentifiers == [0, 2, 3, 4, 5])
    // The index is one in the caller's snapshot.
    try await list.delete(at: ListIndex(section: 0, item: 2), of: shown)
    #expect(try await list.performFetch().itemIdentifiers == [0, 3, 4, 5])
    let head = cards.store.head.sequence
    let gone = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          do { try await list.delete(4) } catch ListEditError.absent { return true } catch {}; return false
        }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(gone == 7)
    #expect(cards.store.head.sequence == head + 1)
    await #expect(throws: ListEditError.self) { try await list.delete(at: ListIndex(section: 0, item: 9)) }
    await #expect(throws: ListEditError.self) { try await list.delete(at: ListIndex(section: 1, item: 0)) }
  }

  @Test
  func `R78 A row is changed by its place, and only what changed is appended`() async throws {
    let cards = try await board()
    let list = FetchController(MoveTests.byHand, from: cards)
    try await list.performFetch()
    let result = try await list.update(at: ListIndex(section: 0, item: 2)) { $0.title = "new" }
    guard case .changed(let card, let receipt) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(card.id == 2 && receipt.sequences.count == 1)
    #expect(try await list.performFetch().row(for: 2)?.title == "new")
  }

  @Test
  func `R78 Moves of many tasks at once are carried out one after the other, and none is lost`() async throws
  {
    let cards = try await board(20)
    let list = FetchController(MoveTests.byHand, from: cards)
    try await list.performFetch()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for id in 0..<10 { group.addTask { try await list.move(id, after: 15) } }
      try await group.waitForAll()
    }
    let ids = try await list.performFetch().itemIdentifiers
    // All of them are after 15, and the others are where they were.
    #expect(ids.filter { $0 >= 10 } == Array(10..<20))
    #expect(Set(ids[ids.firstIndex(of: 15)! + 1..<ids.firstIndex(of: 16)!]) == Set(0..<10))
    let ranks = try await cards.all().compactMap(\.rank)
    #expect(Set(ranks).count == 10)
  }

  @Test
  func `R78 A row is put where its neighbours are now; where both have left the section it is a conflict`()
    async throws
  {
    let cards = try await board(6)
    let list = FetchController(MoveTests.byHand, from: cards)
    let shown = try await list.performFetch()
    try await list.move(2, toFrontOf: "a")
    // Dropped between 2 and 3, as the caller sees them.
    try await list.move(from: ListIndex(section: 0, item: 5), to: ListIndex(section: 0, item: 3), of: shown)
    #expect(try await list.performFetch().itemIdentifiers == [2, 5, 0, 1, 3, 4])
    try await cards.delete(2)
    try await list.move(from: ListIndex(section: 0, item: 4), to: ListIndex(section: 0, item: 3), of: shown)
    #expect(try await list.performFetch().itemIdentifiers == [5, 0, 1, 4, 3])
    try await cards.update(3) { $0.lane = "b" }
    await #expect(throws: ListEditError.self) {
      try await list.move(from: ListIndex(section: 0, item: 0), to: ListIndex(section: 0, item: 2), of: shown)
    }
    #expect(try await list.performFetch().itemIdentifiers(inSection: "a") == [5, 0, 1, 4])
  }

  @Test
  func `R78 A row that is moved next to itself stays where it is, also at the ends of its section`()
    async throws
  {
    let cards = try await board(4, lanes: ["a", "b"])
    let list = FetchController(MoveTests.byHand, from: cards)
    let shown = try await list.performFetch()
    for id in 0..<4 {
      #expect(try await list.move(id, before: id).receipt == nil, "\(id)")
      #expect(try await list.move(id, after: id).receipt == nil, "\(id)")
    }
    #expect(try await list.performFetch().sequence == shown.sequence)
  }

  @Test
  func
    `R78 Through a window rows are put among those that it hides; through a filter between those it shows`()
    async throws
  {
    let cards = try await board(8)
    let windowed = FetchController(MoveTests.byHand.limited(to: 3), from: cards)
    try await windowed.performFetch()
    try await windowed.move(from: ListIndex(section: 0, item: 0), to: ListIndex(section: 0, item: 2))
    let whole = FetchController(MoveTests.byHand, from: cards)
    #expect(try await whole.performFetch().itemIdentifiers == [1, 2, 0, 3, 4, 5, 6, 7])
    #expect(try await windowed.performFetch().itemIdentifiers == [1, 2, 0])
    let even = FetchController(MoveTests.byHand.filtered(id: "even") { !$0.isHidden }, from: cards)
    #expect(try await even.performFetch().itemIdentifiers == [2, 0, 4, 6])
    try await even.move(6, after: 2)
    #expect(try await even.performFetch().itemIdentifiers == [2, 6, 0, 4])
    #expect(try await whole.performFetch().itemIdentifiers.filter { $0 % 2 == 0 } == [2, 6, 0, 4])
    await #expect(throws: ListEditError.self) { try await even.move(3, after: 2) }
  }

  @Test(arguments: [
    MoveTests.byHand.limited(to: 1), MoveTests.byHand.limited(perSection: 1),
    MoveTests.byHand.windowed(to: .last(1)), MoveTests.byHand.windowed(perSection: .last(1)),
    MoveTests.byHand.windowed(to: .first(3, after: 4)),
  ])
  func `R78 A row that is dropped where it is shown stays, also where the window shows no other one`(
    _ request: ListRequest<Card, String>
  ) async throws {
    let cards = try await board(10)
    let list = FetchController(request, from: cards)
    let count = try await list.performFetch().numberOfItems
    for item in 0..<count {
      let index = ListIndex(section: 0, item: item)
      #expect(try await list.move(from: index, to: index).receipt == nil, "\(item)")
    }
    #expect(cards.store.head.sequence == 10)
  }

  @Test
  func `R78 A row that is dropped where the caller shows it stays where it was put since`() async throws {
    let cards = try await board(6)
    let list = FetchController(MoveTests.byHand, from: cards)
    let shown = try await list.performFetch()
    try await list.move(2, toFrontOf: "a")
    try await list.move(4, toFrontOf: "b")
    for item in [2, 3, 4] {
      let index = ListIndex(section: 0, item: item)
      #expect(try await list.move(from: index, to: index, of: shown).receipt == nil)
    }
    #expect(try await list.performFetch().ids == [[2, 0, 1, 3, 5], [4]])
  }

  @Test
  func `R78 In a section that shows nothing a row is put before the hidden ones, at a pinned end after them`()
    async throws
  {
    let declared = MoveTests.byHand.keepingEmpty(["a", "b", "c"])
    let (first, last) = (declared.limited(to: 3), declared.windowed(to: .last(3)))
    for (request, from, place, expected) in [
      (first, 0, 1, [[0, 4, 6], [2, 1, 3, 5, 7], []]), (first, 0, 2, [[0, 4, 6], [1, 3, 5, 7], [2]]),
      (last, 1, 0, [[0, 2, 4, 6, 5], [1, 3, 7], []]), (last, 1, 2, [[0, 2, 4, 6], [1, 3, 7], [5]]),
    ] {
      let cards = try await board(8, lanes: ["a", "b"])
      let list = FetchController(request, from: cards)
      #expect(try await list.performFetch().numberOfItems(inSectionAt: place) == 0)
      try await list.move(
        from: ListIndex(section: from, item: 1), to: ListIndex(section: place, item: 0))
      #expect(try await FetchController(declared, from: cards).performFetch().ids == expected)
    }
  }

  @Test
  func `R78 A row that goes to another section gets its value: of a property, of a field, of none`()
    async throws
  {
    let cards = try await board(6, lanes: ["a", "b"])
    let list = FetchController(MoveTests.byHand, from: cards)
    try await list.performFetch()
    try await list.move(0, after: 3)
    #expect(try await list.performFetch().itemIdentifiers(inSection: "b") == [1, 3, 0, 5])
    #expect(try await cards[0]?.lane == "b")
    try await list.move(2, toEndOf: "new")
    #expect(try await cards[2]?.lane == "new")
    let byField = ListRequest(Card.self).sectioned(byField: FieldPath(names: ["lane"]))
      .sortedManually(byField: FieldPath(names: ["rank"]))
    let fields = FetchController(byField, from: cards)
    #expect(try await fields.performFetch().itemIdentifiers == [4, 1, 3, 0, 5, 2])
    try await fields.move(5, before: 4)
    #expect(try await fields.performFetch().itemIdentifiers == [5, 4, 1, 3, 0, 2])
    let moved = try #require(try await cards[5])
    #expect(moved.lane == "a" && moved.rank.map(FractionalRank.isRank) == true)
    // The same order, by the property of that field.
    #expect(try await list.performFetch().itemIdentifiers == [5, 4, 1, 3, 0, 2])
    let computed = ListRequest(Card.self).sectioned(by: \.title.count).sortedManually(by: \.rank)
    let readOnly = FetchController(computed, from: cards)
    try await cards.update(1) { $0.title = "xx" }
    #expect(await isNotEditable { try await readOnly.move(1, after: 4) })
  }

  @Test
  func `R78 What cannot be edited by hand says so, and nothing is appended`() async throws {
    let cards = try await board(3)
    let head = cards.store.head.sequence
    let plain = FetchController(ListRequest(Card.self), from: cards)
    #expect(await isNotEditable { try await plain.move(0, after: 1) })
    let second = FetchController(
      ListRequest(Card.self).sorted(by: \.title).sortedManually(by: \.rank), from: cards)
    #expect(await isNotEditable { try await second.move(0, after: 1) })
    struct Copy: Projection {
      static let name = "copy"
      static let version = 1
      static let cards = TableKey<Card>("copies")
      func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
        tables[Self.cards, event.stream.id] = try event.document().decode(Card.self)
      }
    }
    let projected = FetchController(MoveTests.byHand, from: cards.store.table(Copy.cards, of: Copy()))
    #expect(try await projected.performFetch().itemIdentifiers == [0, 1, 2])
    #expect(await isNotEditable { try await projected.move(0, after: 1) })
    #expect(await isNotEditable { try await projected.delete(0) })
    let list = FetchController(MoveTests.byHand, from: cards)
    try await list.performFetch()
    for (from, to) in [(0, 3), (3, 0), (0, -1), (-1, 0)] {
      await #expect(throws: ListEditError.self) {
        try await list.move(from: ListIndex(section: 0, item: from), to: ListIndex(section: 0, item: to))
      }
    }
    await #expect(throws: ListEditError.self) { try await list.move(0, after: 99) }
    #expect(cards.store.head.sequence == head)
  }

  @Test
  func
    `R78 What is no rank counts as none, and rows of one rank get others when something goes between them`()
    async throws
  {
    let cards = EventStore.inMemory().collection("card", of: Card.self)
    for (id, rank) in [(0, "not a rank"), (1, nil), (2, ""), (3, "B"), (4, "B"), (5, "B")] as [(Int, String?)]
    {
      try await cards.put(Card(id: id, lane: "a", rank: rank))
    }
    let list = FetchController(MoveTests.byHand, from: cards)
    #expect(try await list.performFetch().itemIdentifiers == [0, 1, 2, 3, 4, 5])
    guard case .renumbered(_, let count) = try await list.move(0, after: 3) else {
      Issue.record("a rank was found between two equal ranks")
      return
    }
    #expect(count == 3 || count == 4)
    #expect(try await list.performFetch().itemIdentifiers == [1, 2, 3, 0, 4, 5])
    // Even where the order of the ids would put them like this.
    #expect(Set(try await cards.all().filter { [0, 3, 4].contains($0.id) }.map(\.rank)).count == 3)
    guard case .moved = try await list.move(1, after: 3) else {
      Issue.record("there is no room after a row that was just given a new rank")
      return
    }
    #expect(try await list.performFetch().itemIdentifiers == [2, 3, 1, 0, 4, 5])
  }

  @MainActor
  @Test
  func `R78 A list on a screen is edited by the places that it shows`() async throws {
    let cards = try await board(4)
    let list = LiveList(MoveTests.byHand, from: cards)
    while list.snapshot == nil { await Task.yield() }
    try await list.move(from: ListIndex(section: 0, item: 3), to: ListIndex(section: 0, item: 0))
    while list.snapshot?.itemIdentifiers != [3, 0, 1, 2] { await Task.yield() }
    try await list.update(at: ListIndex(section: 0, item: 0)) { $0.title = "first" }
    while list.snapshot?.row(for: 3)?.title != "first" { await Task.yield() }
    try await list.delete(at: ListIndex(section: 0, item: 1))
    while list.snapshot?.itemIdentifiers != [3, 1, 2] { await Task.yield() }
  }

  /// A row whose changes are in the instance that was read.
  private final class Note: Codable, Identifiable, @unchecked Sendable {
    let id: Int
    var lane = "a"
    var rank: String?
    var title = ""
    init(id: Int) { self.id = id }
  }

  @Test
  func `R78 Rows that are instances of a class are changed and moved as others are`() async throws {
    let notes = EventStore.inMemory().collection("note", of: Note.self)
    for id in 0..<3 { try await notes.put(Note(id: id)) }
    let request = ListRequest(Note.self).sectioned(by: \.lane).sortedManually(by: \.rank)
    let list = FetchController(request, from: notes)
    try await list.performFetch()
    guard case .moved = try await list.move(2, toFrontOf: "a") else {
      Issue.record("the row was not moved")
      return
    }
    #expect(try await list.performFetch().itemIdentifiers == [2, 0, 1])
    guard case .changed(_, let receipt) = try await notes.update(1, { $0.title = "new" }) else {
      Issue.record("the row was not changed")
      return
    }
    #expect(receipt.sequences.count == 1)
    #expect(try await notes.all().first { $0.id == 1 }?.title == "new")
  }

  private struct Slip: Codable, Identifiable, Sendable {
    let id: String
    var place: DocumentValue?
  }

  @Test
  func `R78 A row whose field is inside something else than an object is not moved, and stays as it is`()
    async throws
  {
    let slips = EventStore.inMemory().collection("slip", of: Slip.self)
    try await slips.put(Slip(id: "a", place: ["rank": "m"]))
    try await slips.put(Slip(id: "b", place: "text"))
    try await slips.put(Slip(id: "c", place: .null))
    try await slips.put(Slip(id: "d"))
    let request = ListRequest(Slip.self).sortedManually(byField: try FieldPath("place.rank"))
    let list = FetchController(request, from: slips)
    try await list.performFetch()
    let head = slips.store.head.sequence
    #expect(await isNotEditable { try await list.move("b", before: "a") })
    #expect(slips.store.head.sequence == head)
    for id in ["c", "d"] { try await list.move(id, before: "a") }
    let shown = try await list.performFetch().itemIdentifiers
    #expect(shown == ["b", "c", "d", "a"])
    #expect(try await slips.all().first { $0.id == "b" }?.place == "text")
  }

  private struct Typed: Codable, Identifiable, Sendable {
    let id: Int
    var order: [Int]?
  }

  @Test
  func `R78 A row that its type could not read after a move is not moved`() async throws {
    let rows = EventStore.inMemory().collection("typed", of: Typed.self)
    for id in 0..<2 { try await rows.put(Typed(id: id)) }
    let request = ListRequest(Typed.self).sortedManually(byField: try FieldPath("order"))
    let list = FetchController(request, from: rows)
    try await list.performFetch()
    let head = rows.store.head.sequence
    #expect(await isNotEditable { try await list.move(1, before: 0) })
    #expect(rows.store.head.sequence == head)
  }
}
