// The metadata of edits: each event that an edit of a list appends has what the call was given.

internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import Testing

@Suite struct EditMetadataTests {
  private let cards = EventStore.inMemory().collection("card", of: Card.self)

  /// Cards 0 to 5 in the section "a", without ranks unless some are given.
  private func list(ranks: [Int: String] = [:]) async throws -> FetchController<Card, String> {
    for id in 0..<6 { try await cards.put(Card(id: id, lane: "a", rank: ranks[id])) }
    return FetchController(MoveTests.byHand, from: cards)
  }

  /// The metadata of the events after a sequence.
  private func metadata(after sequence: UInt64) async throws -> [DocumentObject] {
    var all: [DocumentObject] = []
    for try await append in cards.store.feed(until: .caughtUp) {
      for event in append.events where event.sequence > sequence { all.append(try event.metadata()) }
    }
    return all
  }

  /// A row that writes a lane of nil as null.
  private struct Slip: Codable, Identifiable, Sendable {
    let id: String
    var rank: String?
    var lane: String?

    enum CodingKeys: CodingKey { case id, rank, lane }

    init(id: String, lane: String?) {
      self.id = id
      self.lane = lane
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(id, forKey: .id)
      try container.encodeIfPresent(rank, forKey: .rank)
      try container.encode(lane, forKey: .lane)
    }
  }

  @Test func `R78 Each edit of a list appends its event with the metadata that it was given`() async throws {
    let list = try await list()
    let shown = try await list.performFetch()
    let head = cards.store.head.sequence
    func index(_ item: Int) -> ListIndex { ListIndex(section: 0, item: item) }
    try await list.update(0, metadata: ["by": "update"]) { $0.title = "x" }
    try await list.update(at: index(1), metadata: ["by": "update at"]) { $0.title = "x" }
    try await list.update(at: index(1), of: shown, metadata: ["by": "update of"]) { $0.title = "y" }
    try await list.move(from: index(5), to: index(0), of: shown, metadata: ["by": "move"])
    try await list.move(0, before: 4, metadata: ["by": "before"])
    try await list.move(1, after: 4, metadata: ["by": "after"])
    try await list.move(3, toFrontOf: "a", metadata: ["by": "front"])
    try await list.move(2, toEndOf: "a", metadata: ["by": "end"])
    try await list.delete(4, metadata: ["by": "delete"])
    try await list.delete(at: index(0), of: shown, metadata: ["by": "delete at"])
    #expect(
      try await metadata(after: head).map { $0["by"] } == [
        "update", "update at", "update of", "move", "before", "after", "front", "end", "delete", "delete at",
      ])
  }

  @Test func `R78 A move that gives other rows new ranks appends each event with the metadata`() async throws
  {
    let list = try await list(ranks: [3: "B", 4: "B", 5: "B"])
    let head = cards.store.head.sequence
    guard case .renumbered(_, let count) = try await list.move(0, after: 3, metadata: ["by": "ann", "n": 1])
    else {
      Issue.record("a rank was found between two equal ranks")
      return
    }
    #expect(count > 1)
    #expect(
      try await metadata(after: head) == Array(repeating: ["by": "ann", "n": 1], count: count))
  }

  @Test func `R78 A row whose change no merge patch can express is moved with the metadata`() async throws {
    // A patch cannot set a member to null, so the whole document is written.
    let slips = cards.store.collection("slip", of: Slip.self)
    try await slips.put(Slip(id: "1", lane: "a"))
    try await slips.put(Slip(id: "2", lane: nil))
    let request = ListRequest(Slip.self).sectioned(by: \.lane).sortedManually(by: \.rank)
    let list = FetchController(request, from: slips)
    let head = cards.store.head.sequence
    try await list.move("1", before: "2", metadata: ["by": "ann"])
    #expect(try await metadata(after: head) == [["by": "ann"]])
    #expect(try await cards.store.append(holding: head + 1)?.events.map(\.type) == ["$put"])
  }

  @Test func `R78 Edits without metadata append none, and others go before that of the store`() async throws {
    let list = try await list()
    let store = cards.store.attributed(["by": "store", "at": "home"])
    let mine = FetchController(MoveTests.byHand, from: store.collection("card", of: Card.self))
    let head = cards.store.head.sequence
    try await list.move(5, before: 0)
    try await list.update(0) { $0.title = "x" }
    try await list.delete(1)
    try await mine.move(4, before: 0, metadata: ["by": "move"])
    try await mine.update(2, metadata: ["by": "update"]) { $0.title = "x" }
    try await mine.delete(3, metadata: ["by": "delete"])
    #expect(
      try await metadata(after: head) == [
        [:], [:], [:], ["by": "move", "at": "home"], ["by": "update", "at": "home"],
        ["by": "delete", "at": "home"],
      ])
  }

  @MainActor
  @Test func `R78 A list on a screen is edited with metadata`() async throws {
    _ = try await self.list()
    let list = LiveList(MoveTests.byHand, from: cards)
    while list.snapshot == nil { await Task.yield() }
    let head = cards.store.head.sequence
    func index(_ item: Int) -> ListIndex { ListIndex(section: 0, item: item) }
    try await list.move(from: index(3), to: index(0), metadata: ["by": "move"])
    try await list.update(at: index(0), metadata: ["by": "update"]) { $0.title = "x" }
    try await list.delete(at: index(0), metadata: ["by": "delete at"])
    while list.snapshot?.numberOfItems != 5 { await Task.yield() }
    try await list.delete(try #require(list.snapshot?.itemIdentifiers.last), metadata: ["by": "delete"])
    #expect(
      try await metadata(after: head).map { $0["by"] } == ["move", "update", "delete at", "delete"])
  }
}
