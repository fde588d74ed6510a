// Which rows a list takes: evaluated again at every change, whatever the form of the condition.

internal import Foundation
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataTables
internal import Testing

@Suite struct MembershipTests {
  private static let base = ListRequest(Ticket.self)

  /// One condition in four forms: the note contains the word "yes".
  enum Condition: CaseIterable {
    case closure, filter, predicate, search, fieldSearch

    var request: ListRequest<Ticket, Unsectioned> {
      switch self {
      case .closure: base.filtered { $0.note?.contains("yes") ?? false }
      case .filter: base.filtered(by: "note contains 'yes'")
      case .predicate: base.filtered(by: #Predicate { $0.note == "yes" || $0.note == "yes!" })
      case .search: base.searched(for: "yes", in: \.note)
      case .fieldSearch: base.searched(for: "yes", inFields: FieldPath(names: ["note"]))
      }
    }
  }

  @Test(arguments: Condition.allCases)
  func `R23 A row that begins to pass is inserted, one that stays is updated, one that stops is deleted`(
    _ condition: Condition
  ) async throws {
    let board = Board()
    let list = FetchController(condition.request, from: board.tickets)
    var old = try await list.performFetch()
    func step(_ ticket: Ticket) async throws -> String {
      try await board.put(ticket)
      let new = try await list.performFetch()
      defer { old = new }
      let changes = ListChanges(from: old, to: new)
      return
        "\(changes.insertions.count) \(changes.updates.count) \(changes.deletions.count) \(changes.moves.count)"
    }
    #expect(try await step(Ticket(id: "1", note: "no")) == "0 0 0 0")
    #expect(try await step(Ticket(id: "1", note: "yes")) == "1 0 0 0")
    #expect(try await step(Ticket(id: "1", note: "yes!")) == "0 1 0 0")
    #expect(try await step(Ticket(id: "1", title: "t", note: "yes!")) == "0 1 0 0")
    #expect(try await step(Ticket(id: "1", title: "t", note: nil)) == "0 0 1 0")
    #expect(try await step(Ticket(id: "1", note: "yes")) == "1 0 0 0")
  }

  @Test
  func `R23 A predicate that throws makes its row a problem, until the row is another one`() async throws {
    let board = Board()
    try await board.put(Ticket(id: "1", note: "yes"), Ticket(id: "2"))
    let request = Self.base.filtered(id: "long", by: #Predicate<Ticket> { $0.note!.count > 2 })
    let list = FetchController(request, from: board.tickets)
    #expect(try await list.performFetch().itemIdentifiers == ["1"])
    #expect(try await list.performFetch().problems.map(\.id) == ["2"])
    try await board.put(Ticket(id: "2", note: "no"))
    #expect(try await list.performFetch().numberOfProblems == 0)
    try await board.put(Ticket(id: "2", note: "now"))
    #expect(try await list.performFetch().itemIdentifiers == ["1", "2"])
  }

  @Test
  func `R23 Predicates with an id are equal by their ids alone`() {
    let (predicate, other) = (#Predicate<Ticket> { $0.title == "x" }, #Predicate<Ticket> { $0.title == "y" })
    let named = Self.base.filtered(id: "x", by: predicate)
    #expect(
      named == Self.base.filtered(id: "x", by: other) && named != Self.base.filtered(id: "y", by: predicate))
    #expect(named != Self.base.filtered(by: predicate) && named != Self.base)
  }
}
