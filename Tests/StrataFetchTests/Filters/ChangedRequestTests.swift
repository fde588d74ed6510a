// Requests that are changed while their list is shown: a condition, a search and an order that replace the ones before.

internal import StrataEvents
internal import StrataFetch
internal import StrataLists
@testable internal import StrataPast
internal import StrataTables
internal import Testing

@Suite struct ChangedRequestTests {
  private static let all = ListRequest(Chore.self).sorted(by: \.id)

  /// A list of chores whose ids are the indexes of their titles.
  private func list(
    _ titles: String..., request: ListRequest<Chore, Unsectioned> = Self.all
  ) async throws -> FetchController<Chore, Unsectioned> {
    let chores = EventStore.inMemory().collection("task", of: Chore.self)
    try await chores.put(titles.enumerated().map { Chore(id: $0.offset, title: $0.element) })
    return FetchController(request, from: chores)
  }

  @Test
  func `A filter whose value changes replaces the one before, and one that is added does not`()
    async throws
  {
    let list = try await list("a", "b", "c", "d", "e")
    for limit in [3, 1, 2, -1] {
      let snapshot = try await list.apply(changing: {
        $0 = $0.unfiltered().filtered(by: "id > \(limit)")
      })
      #expect(snapshot.itemIdentifiers == Array((limit + 1)..<5))
      #expect(list.request == Self.all.filtered(by: "id > \(limit)"))
    }
    for (limit, least) in [(2, 3), (0, 3), (3, 4)] {
      let snapshot = try await list.apply(changing: { $0 = $0.filtered(by: "id > \(limit)") })
      #expect(snapshot.itemIdentifiers == Array(least..<5), "a filter that is added widened the list")
    }
    #expect(try await list.apply(changing: { $0 = $0.unfiltered() }).itemIdentifiers == [0, 1, 2, 3, 4])
  }

  @Test
  func `A search widens when letters are deleted, and the filters of the request stay`() async throws {
    let list = try await list(
      "cab", "bob", "lab", "mat", "abbey", request: Self.all.filtered(by: "id != 2"))
    for (text, ids) in [
      ("a", [0, 3, 4]), ("ab", [0, 4]), ("abb", [4]), ("a", [0, 3, 4]), ("", [0, 1, 3, 4]),
    ] {
      let snapshot = try await list.apply(changing: {
        $0 = $0.unsearched().searched(for: text, in: \.title)
      })
      #expect(snapshot.itemIdentifiers == ids, "\(text)")
    }
    #expect(list.request == Self.all.filtered(by: "id != 2"))
  }

  @Test
  func `Filters of every kind are removed together, and of them searches alone`() async throws {
    let typed = Self.all.searched(for: "a", in: \.title).filtered { $0.id > 0 }
      .searched(for: "b", inFields: try FieldPath("title")).filtered(id: "odd") { $0.id % 2 == 1 }
    let list = try await list("ab", "ba", "b", "c", request: typed)
    #expect(try await list.performFetch().itemIdentifiers == [1])
    #expect(try await list.apply(changing: { $0 = $0.unsearched() }).itemIdentifiers == [1, 3])
    #expect(try await list.apply(changing: { $0 = $0.unfiltered() }).itemIdentifiers == [0, 1, 2, 3])
    #expect(typed.unfiltered() == Self.all)
    #expect(Self.all.unfiltered() == Self.all && Self.all.unsearched() == Self.all)
    // What is malformed is removed too.
    #expect(Self.all.filtered(by: "title ==").unfiltered() == Self.all)
  }

  @Test
  func `An order that is removed first is replaced, and otherwise the key only breaks ties`() async throws {
    let list = try await list("b", "a", "b")
    #expect(
      try await list.apply(changing: { $0 = $0.unsorted().sorted(by: \.title) }).itemIdentifiers == [1, 0, 2])
    let ties = try await list.apply(changing: { $0 = $0.sorted(by: \.id, .reverse) })
    #expect(ties.itemIdentifiers == [1, 2, 0])
    let replaced = try await list.apply(changing: { $0 = $0.unsorted().sorted(by: \.id, .reverse) })
    #expect(replaced.itemIdentifiers == [2, 1, 0])
    #expect(list.request == ListRequest(Chore.self).sorted(by: \.id, .reverse))
    // Without a key, rows are in the order of their creation.
    #expect(try await list.apply(changing: { $0 = $0.unsorted() }).itemIdentifiers == [0, 1, 2])
  }
}
