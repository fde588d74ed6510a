// A list on a screen, edited by the ids of rows.

internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
@testable internal import StrataPast
internal import StrataTables
internal import Testing

@Suite @MainActor struct LiveListEditTests {
  private let cards = EventStore.inMemory().collection("card", of: Card.self)

  @Test func `R78 A list on a screen is edited by ids as its controller is`() async throws {
    for id in 0..<4 { try await cards.put(Card(id: id, lane: "a", rank: nil)) }
    let list = LiveList(MoveTests.byHand, from: cards)
    func shows(_ ids: [Int]) async throws -> Bool {
      try await list.controller.performFetch().itemIdentifiers == ids
    }
    guard case .changed(let card, _) = try await list.update(1, metadata: ["by": "ann"], { $0.title = "x" })
    else { throw ListEditError.absent("nothing was changed") }
    #expect(card == Card(id: 1, lane: "a", title: "x"))
    try await list.move(3, before: 1)
    #expect(try await shows([0, 3, 1, 2]))
    try await list.move(0, after: 1)
    #expect(try await shows([3, 1, 0, 2]))
    try await list.move(2, toFrontOf: "a")
    #expect(try await shows([2, 3, 1, 0]))
    try await list.move(2, toEndOf: "a")
    #expect(try await shows([3, 1, 0, 2]))
    // To a section that shows nothing yet.
    guard case .moved(let receipt) = try await list.move(1, toEndOf: "b", metadata: ["by": "bob"]) else {
      throw ListEditError.absent("nothing was moved")
    }
    #expect(try await shows([3, 0, 2, 1]))
    #expect(try await cards[1]?.lane == "b")
    let append = try #require(try await cards.store.append(holding: receipt.sequences.lowerBound))
    #expect(try append.events.map { try $0.metadata() } == [["by": "bob"]])
    await #expect(throws: ListEditError.self) { try await list.move(1, before: 99) }
    while list.snapshot?.itemIdentifiers != [3, 0, 2, 1] { await Task.yield() }
  }
}
