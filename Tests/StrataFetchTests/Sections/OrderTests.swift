// The order of items: total, independent of the history, and contiguous by section.

internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct OrderTests {
  private let base = ListRequest(Ticket.self)

  @Test
  func `R16 A thousand rows with equal keys stand by their ids, however they came, in either direction`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let ids = (0..<1_000).map { "t\($0)" }
    let expected = ids.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    for _ in 0..<2 {
      let board = Board()
      _ = try await board.tickets.put(ids.shuffled(using: &random).map { Ticket(id: $0, title: "same") })
      for direction in [SortDirection.forward, .reverse] {
        let list = FetchController(base.sorted(by: \.title, direction), from: board.tickets)
        #expect(try await list.performFetch().itemIdentifiers == expected)
        // A row that is deleted and put again is where it was.
        let id = try #require(ids.randomElement(using: &random))
        _ = try await board.tickets.delete(id)
        try await board.put(Ticket(id: id, title: "same"))
        #expect(try await list.performFetch().itemIdentifiers == expected)
      }
    }
  }

  @Test
  func `R16 NaN is the last number, −0 is 0, and nil stands where it is told, in either direction`()
    async throws
  {
    let board = Board()
    for (id, score) in [
      ("one", .int(1)), ("nan", .double(.nan)), ("minus", .double(-0.0)), ("zero", .int(0)), ("nil", .null),
      ("low", .double(-.infinity)), ("high", .double(.infinity)),
    ] as [(String, DocumentValue)] {
      try await board.put(id, document: ["id": .string(id), "score": score])
    }
    let path = try FieldPath("score")
    func ids(_ direction: SortDirection, _ options: SortKeyOptions) async throws -> [String] {
      let request = ListRequest(DocumentRow.self).sorted(byField: path, direction, options)
      return try await FetchController(request, from: board.store.documents("ticket")).performFetch()
        .itemIdentifiers
    }
    let numbers = ["low", "minus", "zero", "one", "high", "nan"]
    let descending = ["nan", "high", "one", "minus", "zero", "low"]
    #expect(try await ids(.forward, []) == ["nil"] + numbers)
    #expect(try await ids(.forward, .nilsLast) == numbers + ["nil"])
    #expect(try await ids(.reverse, []) == ["nil"] + descending)
    #expect(try await ids(.reverse, .nilsLast) == descending + ["nil"])
  }

  @Test
  func `R16 Ids that Swift calls equal and whose bytes differ are two rows`() async throws {
    let board = Board()
    try await board.put("é", "x")
    try await board.put("e\u{301}", "x")
    let snapshot = try await board.show(base.sectioned(by: \.status).sorted(by: \.title))
    #expect(snapshot.numberOfItems == 2)
    #expect(snapshot.itemIdentifiers.map { Array($0.utf8) } == [Array("e\u{301}".utf8), Array("é".utf8)])
    #expect(snapshot.index(of: "é") == ListIndex(section: 0, item: 1))
    #expect(snapshot.index(of: "e\u{301}") == ListIndex(section: 0, item: 0))
  }

  @Test
  func `R18 Items of one section stand together where the sort does not begin with the section`() async throws
  {
    let board = Board()
    for index in 0..<30 {
      try await board.put(
        Ticket(
          id: "\(index)", status: ["a", "b", nil][index % 3], title: "\(index / 3)", score: Double(index)))
    }
    let orders: [ListSectionOrder<String?>] = [.key, .keyDescending, .first, .count, .list(["b"])]
    for order in orders {
      let snapshot = try await board.show(
        base.sectioned(by: \.status).sorted(by: \.score, .reverse).sectionsOrdered(by: order))
      #expect(snapshot.numberOfSections == 3)
      for ids in snapshot.ids {
        let numbers = ids.compactMap { Int($0) }
        #expect(Set(numbers.map { $0 % 3 }).count == 1 && numbers == numbers.sorted(by: >))
      }
    }
  }

  @Test
  func `R21 Without a sort rows stand as they were created, also after they are changed`() async throws {
    let board = Board()
    for id in ["c", "a", "b"] { try await board.put(id, "x") }
    #expect(try await board.show(base).itemIdentifiers == ["c", "a", "b"])
    try await board.put(Ticket(id: "c", status: "y", title: "changed"))
    #expect(try await board.show(base).itemIdentifiers == ["c", "a", "b"])
    _ = try await board.tickets.delete("a")
    try await board.put("a", "x")
    #expect(try await board.show(base).itemIdentifiers == ["c", "b", "a"])
    #expect(try await board.show(base.sectioned(by: \.status)).ids == [["b", "a"], ["c"]])
  }
}
