// Rows whose sort keys or sections are too long for a tree.

internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct LongKeyTests {
  private let long = String(repeating: "m", count: 40_000)

  private func path(_ name: String) -> FieldPath { FieldPath(names: [name]) }

  @Test
  func
    `R76 A row whose sort keys are too long is shown by their beginning, and reported until they are short`()
    async throws
  {
    let board = Board()
    try await board.put(
      Ticket(id: "c", title: long + "a"), Ticket(id: "b", title: long + "b"), Ticket(id: "a", title: "m"),
      Ticket(id: "d", title: "z"), Ticket(id: "e", title: "mn"))
    for direction in [SortDirection.forward, .reverse] {
      let typed = FetchController(
        ListRequest(Ticket.self).sorted(by: \.title, direction), from: board.tickets)
      let untyped = FetchController(
        ListRequest(DocumentRow.self).sorted(byField: path("title"), direction),
        from: board.store.documents("ticket"))
      let wanted = direction == .forward ? ["a", "b", "c", "e", "d"] : ["d", "e", "b", "c", "a"]
      #expect(try await typed.performFetch().itemIdentifiers == wanted)
      let snapshot = try await untyped.performFetch()
      #expect(snapshot.itemIdentifiers == wanted)
      #expect(snapshot.numberOfProblems == 2 && snapshot.problems.map(\.id) == ["b", "c"])
      #expect(
        snapshot.problems[0].what
          == "it is shown, but its sort keys are longer than 32000 bytes, and only their beginning counts, and then its id"
      )
    }
    let list = FetchController(ListRequest(Ticket.self).sorted(by: \.title), from: board.tickets)
    _ = try await list.performFetch()
    try await board.put(Ticket(id: "b", title: "zz"))
    var snapshot = try await list.performFetch()
    #expect(snapshot.itemIdentifiers == ["a", "c", "e", "d", "b"] && snapshot.problems.map(\.id) == ["c"])
    try await board.put(Ticket(id: "d", title: long))
    snapshot = try await list.performFetch()
    #expect(
      snapshot.itemIdentifiers == ["a", "c", "d", "e", "b"] && snapshot.problems.map(\.id) == ["c", "d"])
    for id in ["c", "d"] { _ = try await board.tickets.delete(id) }
    snapshot = try await list.performFetch()
    #expect(snapshot.itemIdentifiers == ["a", "e", "b"] && snapshot.numberOfProblems == 0)
  }

  @Test func `R16, R76: Two long sections with one beginning stay two, and are found by their values`()
    async throws
  {
    let board = Board()
    try await board.put(
      Ticket(id: "1", status: long + "a"), Ticket(id: "2", status: long + "b"),
      Ticket(id: "3", status: long + "a"),
      Ticket(id: "4", status: "open"), Ticket(id: "5"))
    let orders: [ListSectionOrder<String?>] = [.key, .keyDescending, .first, .count, .list([long + "b"])]
    for order in orders {
      let request = ListRequest(Ticket.self).sectioned(by: \.status).sectionsOrdered(by: order)
        .sorted(by: \.title)
      let snapshot = try await FetchController(request, from: board.tickets).performFetch()
      #expect(snapshot.sectionIdentifiers.count == 4)
      #expect(snapshot.numberOfItems(inSection: long + "a") == 2)
      #expect(snapshot.numberOfItems(inSection: long + "b") == 1)
      for section in snapshot.sectionIdentifiers where (section ?? "").count > 10 {
        #expect(section?.hasPrefix("mmmm") == true && section?.utf8.count ?? 0 < 32_000)
        #expect(snapshot.indexOfSection(section) != nil)
      }
      #expect(snapshot.problems.map(\.id) == ["1", "2", "3"])
      #expect(snapshot.problems.allSatisfy { $0.what.contains("named by its beginning and a hash") })
    }
    let empty = ListRequest(Ticket.self).sectioned(by: \.status).keepingEmpty([long + "c", "none"])
    #expect(
      try await FetchController(empty, from: board.tickets).performFetch().sectionIdentifiers.count == 6)
  }

  @Test func `R76 A row with a long id, section and sort keys is shown in every order`() async throws {
    let store = EventStore.inMemory()
    let zeros = String(repeating: "\u{0}", count: 40_000)
    let ids = [String(repeating: "\u{0}", count: 1_020), String(repeating: "i", count: 1_020), "short"]
    for (number, id) in ids.enumerated() {
      let document: DocumentValue = ["s": .string(zeros), "v": .string(zeros + "\(number)")]
      let stream = StreamName(category: "t", id: id)
      try await store.append([NewEvent(DocumentEvent.put, in: stream, payload: EventPayload(document))])
    }
    let base = ListRequest(DocumentRow.self).sectioned(byField: path("s")).sorted(byField: path("v"))
    let requests = [
      base, base.sectionsOrdered(by: .keyDescending), base.sectionsOrdered(by: .first),
      base.sectionsOrdered(by: .count), base.sectionsOrdered(byMaximumOfField: path("v"), .reverse),
    ]
    for request in requests {
      let snapshot = try await FetchController(request, from: store.documents("t")).performFetch()
      #expect(snapshot.itemIdentifiers == ids && snapshot.sectionIdentifiers.count == 1)
      #expect(snapshot.numberOfProblems == 3)
    }
  }

  /// A section whose text is ASCII, which a text that was shortened is not.
  nonisolated struct Plain: RawRepresentable, Codable, Hashable, SortKey {
    let rawValue: String
    init?(rawValue: String) {
      guard rawValue.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
      self.rawValue = rawValue
    }
  }

  nonisolated struct Letter: Codable, Identifiable, Sendable {
    var id: String
    var sender: Plain
  }

  @Test func `R76 A row whose section is none once it is shortened is left out and reported`() async throws {
    let letters = EventStore.inMemory().collection("letter", of: Letter.self)
    let whole = try #require(Plain(rawValue: long))
    let short = try #require(Plain(rawValue: "s"))
    let request = ListRequest(Letter.self).sectioned(by: \.sender).keepingEmpty([whole])
    let requests = [
      request, request.sectionsOrdered(by: .count), request.sectionsOrdered(by: .list([whole])),
      request.sectionsOrdered(id: 1) { $0.rawValue },
    ]
    let lists = requests.map { FetchController($0, from: letters) }
    try await letters.put(Letter(id: "a", sender: short))
    let before = try await lists[0].performFetch()
    try await letters.put(Letter(id: "b", sender: whole))
    for list in lists {
      let snapshot = try await list.performFetch()
      #expect(snapshot.sectionIdentifiers == [short] && snapshot.itemIdentifiers == ["a"])
      #expect(
        snapshot.problems.map(\.what) == [
          "its section is longer than 32000 bytes, and what is kept of it is no Plain"
        ])
      #expect(try await list.why("b").outcome == .problem(snapshot.problems.first?.what ?? ""))
      #expect(ListChanges(from: before, to: snapshot).insertions.isEmpty)
    }
    try await letters.put(Letter(id: "b", sender: short))
    let after = try await lists[0].performFetch()
    #expect(after.itemIdentifiers == ["a", "b"] && after.numberOfProblems == 0)
  }

  @Test func `R16 A filter sees the whole of a section that is shortened, and so does why`() async throws {
    let board = Board()
    try await board.put(
      Ticket(id: "1", status: long + "needle"), Ticket(id: "2", status: long),
      Ticket(id: "3", status: "needle"))
    for text in ["$section contains 'needle'", "$section endswith 'needle'", "status contains 'needle'"] {
      let typed = FetchController(
        ListRequest(Ticket.self).sectioned(by: \.status).filtered(parsing: text),
        from: board.tickets)
      let untyped = FetchController(
        ListRequest(DocumentRow.self).sectioned(byField: path("status")).filtered(parsing: text),
        from: board.store.documents("ticket"))
      let named = FetchController(
        ListRequest(Ticket.self).sectioned(byField: path("status")).filtered(parsing: text),
        from: board.tickets)
      #expect(Set(try await typed.performFetch().itemIdentifiers) == ["1", "3"], "\(text)")
      #expect(Set(try await untyped.performFetch().itemIdentifiers) == ["1", "3"], "\(text)")
      #expect(Set(try await named.performFetch().itemIdentifiers) == ["1", "3"], "\(text)")
      for (id, isPassed) in [("1", true), ("2", false), ("3", true)] {
        let explained = try await [typed.why(id), untyped.why(id), named.why(id)]
        #expect(
          explained.map { $0.filters.first?.isPassed } == [isPassed, isPassed, isPassed], "\(text) \(id)")
        guard id != "3", case .string(let shown)? = explained[1].section?.value else { continue }
        #expect(shown.utf8.count < 32_000 && shown.contains("…"))
      }
    }
  }

  /// Rows whose ids are longer than those of documents.
  private struct LongIDs: Projection {
    struct Row: Codable, Identifiable, Sendable {
      var id: String
      var v: String
    }
    static let name = "long-ids"
    static let version = 1
    static let rows = TableKey<Row>("row")

    func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
      guard case .string(let value)? = try event.document()["v"] else { return }
      let id = event.stream.id + String(repeating: "i", count: 1_500)
      tables[Self.rows, id] = Row(id: id, v: value)
    }
  }

  @Test func `R16 Rows with long ids are in the order of sort keys that leave room for the ids`() async throws
  {
    let store = EventStore.inMemory()
    let most = String(repeating: "m", count: 31_000)
    for (id, value) in [("b", most + "1"), ("c", most + "2"), ("a", most + "3")] {
      let stream = StreamName(category: "t", id: id)
      try await store.append([
        NewEvent(DocumentEvent.put, in: stream, payload: EventPayload(["v": .string(value)]))
      ])
    }
    let request = ListRequest(LongIDs.Row.self).sorted(by: \.v)
    let snapshot = try await FetchController(request, from: store.table(LongIDs.rows, of: LongIDs()))
      .performFetch()
    #expect(
      snapshot.itemIdentifiers.map { $0.prefix(1) } == ["b", "c", "a"] && snapshot.numberOfProblems == 0)
  }
}
