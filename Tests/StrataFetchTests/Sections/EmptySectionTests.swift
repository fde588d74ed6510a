// Sections without items, and the section of rows without one.

internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import Testing

@Suite struct EmptySectionTests {
  private let base = ListRequest(Ticket.self).sectioned(by: \.status)

  @Test
  func `R19 Nil and the empty string are two sections, and nil stands first or last as told`() async throws {
    let board = Board()
    for (id, status) in [("1", "b"), ("2", ""), ("3", nil), ("4", "a")] { try await board.put(id, status) }
    let last = ListRequest(Ticket.self).sectioned(by: \.status, nils: .last)
    #expect(try await board.show(base).sectionIdentifiers == [nil, "", "a", "b"])
    #expect(try await board.show(last).sectionIdentifiers == ["", "a", "b", nil])
    #expect(
      try await board.show(base.sectionsOrdered(by: .keyDescending)).sectionIdentifiers == [
        nil, "b", "a", "",
      ])
    #expect(
      try await board.show(last.sectionsOrdered(by: .keyDescending)).sectionIdentifiers == [
        "b", "a", "", nil,
      ])
    #expect(try await board.show(last.sectionsOrdered(by: ["b"])).sectionIdentifiers == ["b", "", "a", nil])
    #expect(try await board.show(last.sectionsOrdered(by: .count)).sectionIdentifiers == ["", "a", "b", nil])
    #expect(
      try await board.show(last.sectionsOrdered { _, _ in false }).sectionIdentifiers == ["", "a", "b", nil])
    let snapshot = try await board.show(last)
    #expect(snapshot.itemIdentifiers(inSection: nil) == ["3"] && snapshot.indexOfSection(nil) == 3)
    #expect(base != last && last == ListRequest(Ticket.self).sectioned(by: \.status, nils: .last))
    // It is the same section in both lists, and moves with its items.
    let changes = ListChanges(from: try await board.show(base), to: snapshot)
    #expect(changes.sectionMoves == [.init(section: nil, from: 0, to: 3)] && changes.count == 1)
  }

  @Test
  func `R19 A missing field and null are one section, also where it is last`() async throws {
    let board = Board()
    try await board.put("1", document: ["id": "1", "status": .null])
    try await board.put("2", document: ["id": "2"])
    try await board.put("3", document: ["id": "3", "status": ""])
    let request = ListRequest(DocumentRow.self).sectioned(byField: try FieldPath("status"), nils: .last)
    let snapshot = try await FetchController(request, from: board.store.documents("ticket")).performFetch()
    #expect(snapshot.sectionIdentifiers == ["", .null] && snapshot.ids == [["3"], ["1", "2"]])
  }

  @Test
  func `R19 Where a section is required, a row without one is a problem until it has one`() async throws {
    let board = Board()
    for (id, status) in [("1", "a"), ("2", nil), ("3", "")] { try await board.put(id, status) }
    let typed = FetchController(
      ListRequest(Ticket.self).sectioned(by: \.status, nils: .required), from: board.tickets)
    let untyped = FetchController(
      ListRequest(DocumentRow.self).sectioned(byField: try FieldPath("status"), nils: .required),
      from: board.store.documents("ticket"))
    #expect(try await typed.performFetch().ids == [["3"], ["1"]])
    #expect(try await untyped.performFetch().ids == [["3"], ["1"]])
    #expect(try await typed.performFetch().problems.map(\.id) == ["2"])
    let problem = try #require(try await untyped.performFetch().problems.first)
    #expect(problem.id == "2" && problem.what.contains("status") && problem.sequence == 2)
    // A row that does not pass the filter is not a problem.
    let filtered = ListRequest(Ticket.self).sectioned(by: \.status, nils: .required).filtered { $0.id != "2" }
    #expect(try await board.show(filtered).numberOfProblems == 0)
    try await board.put("2", "a")
    #expect(try await typed.performFetch().ids == [["3"], ["1", "2"]])
    #expect(try await typed.performFetch().numberOfProblems == 0)
  }

  /// The ways in which a section loses its last row.
  enum Emptying: CaseIterable { case deletion, move, filter }

  @Test(arguments: Emptying.allCases)
  func `R20 A section vanishes with its last row and appears again, however the row left it`(
    _ emptying: Emptying
  ) async throws {
    let board = Board()
    let list = FetchController(base.filtered { $0.title != "hidden" }, from: board.tickets)
    try await board.put("1", "a")
    try await board.put("2", "b")
    let before = try await list.performFetch()
    try await empty(board, emptying)
    let after = try await list.performFetch()
    #expect(after.sectionIdentifiers == ["b"])
    #expect(ListChanges(from: before, to: after).sectionDeletions == [.init(section: "a", from: 0)])
    try await board.put("1", "a")
    let again = try await list.performFetch()
    #expect(again.sectionIdentifiers == ["a", "b"])
    #expect(ListChanges(from: after, to: again).sectionInsertions == [.init(section: "a", to: 0, count: 1)])
  }

  @Test(arguments: Emptying.allCases)
  func `R20 A declared section stays when its last row leaves it, in whatever way`(_ emptying: Emptying)
    async throws
  {
    let orders: [(ListRequest<Ticket, String?>) -> ListRequest<Ticket, String?>] = [
      { $0 }, { $0.sectionsOrdered(by: .keyDescending) }, { $0.sectionsOrdered(by: .first) },
      { $0.sectionsOrdered(by: .count) }, { $0.sectionsOrdered(by: ["b", "a"]) },
      { $0.sectionsOrdered(byMaximumOf: \.score, .reverse) },
      { $0.sectionsOrdered { ($0 ?? "") > ($1 ?? "") } },
      { $0.sectionsOrdered { $0 } },
    ]
    for order in orders {
      let board = Board()
      let request = order(base.filtered { $0.title != "hidden" }.keepingEmpty(["a", "never"]))
      let list = FetchController(request, from: board.tickets)
      let first = try await list.performFetch()
      #expect(Set(first.sectionIdentifiers) == ["a", "never"] && first.numberOfItems == 0)
      try await board.put("1", "a", score: 1)
      try await board.put("2", "b", score: 2)
      let before = try await list.performFetch()
      #expect(before.itemIdentifiers(inSection: "a") == ["1"] && before.numberOfSections == 3)
      try await empty(board, emptying)
      let after = try await list.performFetch()
      #expect(Set(after.sectionIdentifiers) == ["a", "b", "never"])
      #expect(after.numberOfItems(inSection: "a") == 0 && after.numberOfItems(inSection: "never") == 0)
      let changes = ListChanges(from: before, to: after)
      #expect(changes.sectionDeletions.isEmpty && changes.sectionInsertions.isEmpty)
      #expect(changes.sectionUpdates.contains { $0.section == "a" && $0.count == 0 })
      for (place, section) in after.sectionIdentifiers.enumerated() {
        #expect(after.indexOfSection(section) == place)
      }
      // The list depends only on the rows, not on their history.
      let rebuilt = try await board.show(
        order(base.filtered { $0.title != "hidden" }.keepingEmpty(["a", "never"])))
      #expect(rebuilt.sectionIdentifiers == after.sectionIdentifiers && rebuilt.ids == after.ids)
    }
  }

  private func empty(_ board: Board, _ emptying: Emptying) async throws {
    switch emptying {
    case .deletion: _ = try await board.tickets.delete("1")
    case .move: try await board.put("1", "b", score: 1)
    case .filter: try await board.put(Ticket(id: "1", status: "a", title: "hidden", score: 1))
    }
  }

  @Test
  func `R20 An explicit order keeps its sections, empty ones stand where it puts them`() async throws {
    let board = Board()
    try await board.put("1", "closed")
    try await board.put("2", "odd")
    let request = base.sectionsOrdered(by: ["open", "waiting", "closed"], keepingEmpty: true)
    let snapshot = try await board.show(request)
    #expect(snapshot.sectionIdentifiers == ["open", "waiting", "closed", "odd"])
    #expect(snapshot.ids == [[], [], ["1"], ["2"]])
    #expect(
      request
        == base.sectionsOrdered(by: ["open", "waiting", "closed"]).keepingEmpty(["closed", "waiting", "open"])
    )
    #expect(request != base.sectionsOrdered(by: ["open", "waiting", "closed"]))
    // Declaring other sections makes one difference.
    let other = try await board.show(base.keepingEmpty(["new", nil]))
    #expect(other.sectionIdentifiers == [nil, "closed", "new", "odd"])
    let changes = ListChanges(from: snapshot, to: other)
    #expect(changes.sectionInsertions.map(\.section) == [nil, "new"] && changes.insertions.isEmpty)
    #expect(changes.sectionDeletions.map(\.section) == ["waiting", "open"] && changes.deletions.isEmpty)
  }

  @Test
  func
    `R20 A value that can be the section of no row declares none, and where items decide empty ones are last`()
    async throws
  {
    let board = Board()
    for (id, status) in [("1", "b"), ("2", "c"), ("3", "c")] { try await board.put(id, status) }
    let fields = ListRequest(DocumentRow.self).sectioned(byField: try FieldPath("status"))
      .keepingEmpty([
        .array([1]), "x", ["a": 1], .string(String(repeating: "y", count: 40_000)), .double(2), 2,
      ])
    let snapshot = try await FetchController(fields, from: board.store.documents("ticket")).performFetch()
    #expect(snapshot.sectionIdentifiers.dropLast() == [2, "b", "c", "x"])
    // One that is too long is declared by its beginning, as rows have it.
    guard case .string(let long)? = snapshot.sectionIdentifiers.last else {
      Issue.record("the long section is not there")
      return
    }
    #expect(long.hasPrefix("yyyy") && long.utf8.count <= 32_000)
    for order in [ListSectionOrder<String?>.first, .count] {
      let list = try await board.show(base.keepingEmpty(["z", "a", nil]).sectionsOrdered(by: order))
      let filled: [String?] = order == .first ? ["b", "c"] : ["c", "b"]
      #expect(list.sectionIdentifiers == filled + [nil, "a", "z"])
    }
  }

  @Test
  func `R20 Where a section is required, nil cannot be declared: such a list is refused`() async throws {
    let board = Board()
    try await board.put("1", "a")
    func isRefused<Section>(_ request: ListRequest<Ticket, Section>) async -> Bool {
      do { _ = try await board.show(request) } catch ListError.store(.invalid(let what, let next)) {
        return what.contains("nil") && next.contains("keepingEmpty")
      } catch {}
      return false
    }
    let required = ListRequest(Ticket.self).sectioned(by: \.status, nils: .required)
    #expect(await isRefused(required.keepingEmpty([nil])))
    #expect(await isRefused(required.keepingEmpty(["b"]).keepingEmpty(["a", nil])))
    #expect(await isRefused(required.sectionsOrdered(by: ["b", nil], keepingEmpty: true)))
    let field = try ListRequest(Ticket.self).sectioned(byField: FieldPath("status"), nils: .required)
    #expect(await isRefused(field.keepingEmpty([.null])))
    // What is no contradiction is not refused.
    #expect(try await board.show(required.keepingEmpty(["b"])).sectionIdentifiers == ["a", "b"])
    #expect(try await board.show(required.sectionsOrdered(by: ["b", nil])).sectionIdentifiers == ["a"])
    #expect(try await board.show(field.keepingEmpty(["", [1]])).sectionIdentifiers == ["", "a"])
    #expect(try await board.show(base.keepingEmpty([nil])).sectionIdentifiers == [nil, "a"])
  }
}
