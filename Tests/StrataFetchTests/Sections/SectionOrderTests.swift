// Orders of sections that do not follow from their keys.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataPast
@testable internal import StrataViews
@testable internal import StrataFetch
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct SectionOrderTests {
  private let base = ListRequest(Ticket.self).sectioned(by: \.status)

  private func board() async throws -> Board {
    let board = Board()
    for (id, status) in [("1", "open"), ("2", "closed"), ("3", "waiting"), ("4", nil), ("5", "new")] {
      try await board.put(id, status, score: Double(id))
    }
    return board
  }

  @Test
  func `R17 Sections stand in an explicit list, and those that are not in it after it`() async throws {
    let board = try await board()
    let snapshot = try await board.show(base.sectionsOrdered(by: ["waiting", "none", "closed"]))
    #expect(snapshot.sectionIdentifiers == ["waiting", "closed", nil, "new", "open"])
  }

  @Test
  func `R17 Sections stand by a key that a closure makes of them, in either direction, ties by section`()
    async throws
  {
    let board = try await board()
    let length: @Sendable (String?) -> Int? = { $0?.count }
    let ascending = try await board.show(base.sectionsOrdered(id: "length", key: length))
    #expect(ascending.sectionIdentifiers == [nil, "new", "open", "closed", "waiting"])
    let descending = try await board.show(base.sectionsOrdered(id: "length", .reverse, key: length))
    #expect(descending.sectionIdentifiers == [nil, "waiting", "closed", "open", "new"])
    let tied = try await board.show(base.sectionsOrdered(id: "one") { _ in 1 })
    #expect(tied.sectionIdentifiers == [nil, "closed", "new", "open", "waiting"])
    for snapshot in [ascending, descending, tied] {
      for (place, section) in snapshot.sectionIdentifiers.enumerated() {
        #expect(snapshot.indexOfSection(section) == place)
      }
    }
  }

  @Test
  func `R17 Sections stand as a comparison says, and nil where it puts it`() async throws {
    let board = try await board()
    let request = base.sectionsOrdered { ($0?.count ?? .max) > ($1?.count ?? .max) }
    let list = FetchController(request, from: board.tickets)
    #expect(try await list.performFetch().sectionIdentifiers == [nil, "waiting", "closed", "open", "new"])
    try await board.put("6", "later")
    try await board.put("7", "a")
    let snapshot = try await list.performFetch()
    #expect(snapshot.sectionIdentifiers == [nil, "waiting", "closed", "later", "open", "new", "a"])
    #expect(snapshot.indexOfSection("later") == 3)
  }

  @Test
  func `R17 A comparison that contradicts itself makes some order, in which every section is found`()
    async throws
  {
    let board = Board()
    let counter = Lock(UInt64(1))
    let list = FetchController(
      base.sectionsOrdered { _, _ in
        counter.withLock { number in
          number = number &* 6_364_136_223_846_793_005 &+ 1
          return number >> 63 == 1
        }
      }, from: board.tickets)
    var old = try await list.performFetch()
    for round in 0..<60 {
      try await board.put("\(round)", "s\(round % 40)")
      if round % 3 == 0 { _ = try await board.tickets.delete("\(round / 2)") }
      let new = try await list.performFetch()
      let sections = new.sectionIdentifiers
      #expect(Set(sections).count == sections.count && new.ids.allSatisfy { !$0.isEmpty })
      for (place, section) in sections.enumerated() { #expect(new.indexOfSection(section) == place) }
      // New sections did not move the others.
      let stayed = old.sectionIdentifiers.filter { sections.contains($0) }
      #expect(sections.filter { stayed.contains($0) } == stayed)
      old = new
    }
  }

  @Test
  func `R70 Where a comparison goes in a circle, the changes to a replayed list make it all the same`()
    async throws
  {
    let board = Board()
    let next: [String: String] = ["a": "b", "b": "c", "c": "a"]
    let list = FetchController(base.sectionsOrdered { next[$0 ?? ""] == $1 }, from: board.tickets)
    try await list.performFetch()
    for status in ["c", "b", "a"] {
      try await board.put(status, status)
      try await list.performFetch()
    }
    try await board.put("b", "b", score: 7)
    let live = try await list.performFetch()
    let past = try await list.snapshot(at: .sequence(3))
    // The list that was built step by step has the sections in another order than the one that was built at once.
    try #require(live.sectionIdentifiers != past.sectionIdentifiers)
    let (now, then) = (try DiffableSnapshot(live), try DiffableSnapshot(past))
    #expect(try now.applying(ListChanges(from: live, to: past)) == then)
    #expect(try then.applying(ListChanges(from: past, to: live)) == now)
  }

  @Test
  func `R17 Sections stand by the greatest or least value of their items, those without one last`()
    async throws
  {
    let board = Board()
    for (id, status, score) in [
      ("1", "a", 1), ("2", "a", 9), ("3", "b", 5), ("4", "b", 6), ("5", "c", nil), ("6", "d", nil),
      ("7", "d", 7), ("8", "e", 9),
    ] as [(String, String, Double?)] { try await board.put(id, status, score: score) }
    func sections(_ request: ListRequest<Ticket, String?>) async throws -> String {
      try await board.show(request).sectionIdentifiers.map { $0 ?? "-" }.joined()
    }
    #expect(try await sections(base.sectionsOrdered(byMaximumOf: \.score)) == "bdaec")
    #expect(try await sections(base.sectionsOrdered(byMaximumOf: \.score, .reverse)) == "aedbc")
    #expect(try await sections(base.sectionsOrdered(byMinimumOf: \.score)) == "abdec")
    #expect(try await sections(base.sectionsOrdered(byMinimumOf: \.score, .reverse)) == "edbac")
    let path = try FieldPath("score")
    #expect(try await sections(base.sectionsOrdered(byMaximumOfField: path)) == "bdaec")
    #expect(try await sections(base.sectionsOrdered(byMinimumOfField: path, .reverse)) == "edbac")
    #expect(
      try await sections(base.sectionsOrdered(byMaximumOf: \.score, .reverse).keepingEmpty(["0"])) == "aedbc0"
    )
  }

  @Test
  func `R17 A greatest value is right after any deletions, and a section that it moves is one move`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let board = Board()
    let list = FetchController(base.sectionsOrdered(byMaximumOf: \.score, .reverse), from: board.tickets)
    var rows: [String: (status: String, score: Double?)] = [:]
    var old = try await list.performFetch()
    for _ in 0..<150 {
      let id = "\(Int.random(in: 0..<25, using: &random))"
      if Int.random(in: 0..<3, using: &random) == 0 {
        rows[id] = nil
        _ = try await board.tickets.delete(id)
      } else {
        let score = Bool.random(using: &random) ? Double.random(in: 0..<10, using: &random) : nil
        let status = "s\(Int.random(in: 0..<5, using: &random))"
        rows[id] = (status, score)
        try await board.put(id, status, score: score)
      }
      let new = try await list.performFetch()
      let scores = Dictionary(grouping: rows.values, by: \.status).mapValues {
        $0.compactMap(\.score).max() ?? -1
      }
      let expected = scores.sorted { a, b in a.value != b.value ? a.value > b.value : a.key < b.key }.map(
        \.key)
      #expect(new.sectionIdentifiers == expected)
      let changes = ListChanges(from: old, to: new)
      #expect(changes.sectionMoves.count <= 2, "one row is in two sections at most")
      old = new
    }
    // Only the value decides: the row keeps its position among the items, and its section moves.
    try await board.put("x", "s9", score: 100)
    try await board.put("y", "s8", score: 99)
    old = try await list.performFetch()
    try await board.put("y", "s8", score: 101)
    let changes = ListChanges(from: old, to: try await list.performFetch())
    #expect(changes.sectionMoves == [.init(section: "s8", from: 1, to: 0)])
    #expect(changes.moves.isEmpty && changes.updates.map(\.id) == ["y"])
  }

  @Test
  func `R17 The section that a list makes is no key of it, and times are not searched`() async throws {
    let documents = Board().store.documents("ticket")
    let (section, time) = (try FieldPath("$section"), try FieldPath("$time"))
    let rows = ListRequest(DocumentRow.self)
    func error<Section>(_ request: ListRequest<DocumentRow, Section>) async -> String {
      do {
        _ = try await FetchController(request, from: documents).performFetch()
        return ""
      } catch { return "\(error)" }
    }
    #expect(await error(rows.sorted(byField: section)).contains("$section is what the list makes"))
    #expect(await error(rows.sectioned(byField: section)).contains("$section is what the list makes"))
    let sectioned = rows.sectioned(byField: try FieldPath("s"))
    #expect(await error(sectioned.sectionsOrdered(byMaximumOfField: section)).contains("$section is what"))
    #expect(await error(sectioned.searched(for: "a", inFields: section)).contains("$section is no text"))
    #expect(await error(rows.searched(for: "a", inFields: time)).contains("$time is no text"))
    for request in [rows.sorted(byField: time), rows.searched(for: "a", inFields: .id)] {
      #expect(await error(request) == "")
    }
  }

  @Test(arguments: ["$revision", "$time"])
  func `R17 R24 A section moves where a row of equal content was written later`(path: String) async throws {
    let clock = SimulatedClock()
    let store = EventStore.inMemory(clock: clock.storeClock)
    func put(_ id: String, _ section: String, _ titles: String...) async throws {
      clock.advance(by: .seconds(1))
      try await store.append(
        titles.map { title in
          NewEvent(
            DocumentEvent.put, in: StreamName(category: "ticket", id: id),
            .object(["s": .string(section), "title": .string(title)]))
        })
    }
    let request = try ListRequest(DocumentRow.self).sectioned(byField: FieldPath("s"))
      .sectionsOrdered(byMaximumOfField: FieldPath(path), .reverse)
    let list = FetchController(request, from: store.documents("ticket"))
    try await put("a", "A", "first")
    try await put("b", "B", "first")
    var before = try await list.performFetch()
    #expect(before.sectionIdentifiers == ["B", "A"])
    // Changed and changed back, as a slow consumer sees it.
    try await put("a", "A", "other", "first")
    var after = try await list.performFetch()
    var changes = ListChanges(from: before, to: after)
    #expect(after.sectionIdentifiers == ["A", "B"])
    #expect(changes.sectionMoves.count == 1 && changes.updates.isEmpty)
    #expect(try DiffableSnapshot(before).applying(changes) == DiffableSnapshot(after))
    before = after
    try await put("c", "C", "first")
    after = try await list.performFetch()
    changes = ListChanges(from: before, to: after)
    #expect(try DiffableSnapshot(before).applying(changes) == DiffableSnapshot(after))
  }

  @Test
  func `R17 A value that is no key is a problem of its row, and a key of any length is one`() async throws {
    let board = Board()
    for (id, score) in [
      ("1", .array([1])), ("2", "text"), ("3", .string(String(repeating: "\0", count: 40_000))), ("4", 2),
    ] as [(String, DocumentValue)] {
      try await board.put(id, document: ["id": .string(id), "status": .string(id), "score": score])
    }
    let request = ListRequest(DocumentRow.self).sectioned(byField: try FieldPath("status"))
    let documents = board.store.documents("ticket")
    let snapshot = try await FetchController(
      request.sectionsOrdered(byMaximumOfField: try FieldPath("score")), from: documents
    ).performFetch()
    #expect(snapshot.itemIdentifiers == ["4", "3", "2"] && snapshot.problems.first?.id == "1")
    // A closure's key is truncated if it is too long for a tree.
    let long = try await FetchController(
      request.sectionsOrdered(key: { String(repeating: "\0", count: 100_000) + $0.json() }), from: documents
    ).performFetch()
    #expect(long.itemIdentifiers == ["1", "2", "3", "4"])
  }

  @Test
  func `R17 Orders are equal by what they read, by id, or by being copies`() {
    let named = base.sectionsOrdered(id: "x") { $0 ?? "" }
    #expect(named == base.sectionsOrdered(id: "x") { $0 ?? "" })
    #expect(named.hashValue == base.sectionsOrdered(id: "x") { $0 ?? "" }.hashValue)
    #expect(named != base.sectionsOrdered(id: "y") { $0 ?? "" })
    #expect(named != base.sectionsOrdered(id: "x", .reverse) { $0 ?? "" })
    #expect(named != base.sectionsOrdered(id: "x") { ($0 ?? "") < ($1 ?? "") })
    #expect(named != base && base.sectionsOrdered(by: ["a"]) == base.sectionsOrdered(by: .list(["a"])))
    let unnamed = base.sectionsOrdered { ($0 ?? "") < ($1 ?? "") }
    let copy = unnamed
    #expect(unnamed == copy)
    #expect(unnamed != base.sectionsOrdered { ($0 ?? "") < ($1 ?? "") })
    #expect(
      base.sectionsOrdered(byMaximumOf: \.score) == base.sectionsOrdered(byMaximumOf: \.score, .forward))
    #expect(
      base.sectionsOrdered(byMaximumOf: \.score) != base.sectionsOrdered(byMaximumOf: \.score, .reverse))
    #expect(base.sectionsOrdered(byMaximumOf: \.score) != base.sectionsOrdered(byMinimumOf: \.score))
    #expect(base.sectionsOrdered(byMaximumOf: \.score) != base.sectionsOrdered(byMaximumOf: \.title))
  }
}
