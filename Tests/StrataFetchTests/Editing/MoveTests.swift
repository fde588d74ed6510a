// Manually ordered lists, compared with an array.

internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

nonisolated struct Card: Codable, Identifiable, Sendable, Equatable {
  var id: Int
  var lane: String
  var rank: String?
  var title = ""
  var isHidden = false
}

@Suite struct MoveTests {
  typealias Board = FetchController<Card, String>

  static let byHand = ListRequest(Card.self).sectioned(by: \.lane).sortedManually(by: \.rank)

  /// Cards 0, 1, 2 …, each created by its own event.
  private func board(
    _ lanes: [String], _ request: ListRequest<Card, String> = byHand
  ) async throws -> (DocumentCollection<Card>, Board) {
    let store = EventStore.inMemory()
    let cards = store.collection("card", of: Card.self)
    for (id, lane) in lanes.enumerated() { try await cards.put(Card(id: id, lane: lane)) }
    let list = FetchController(request, from: cards)
    try await list.performFetch()
    return (cards, list)
  }

  private func lanes(_ snapshot: ListSnapshot<Card, String>) -> [[Int]] {
    (0..<snapshot.numberOfSections).map { snapshot.itemIdentifiers(inSectionAt: $0) }
  }

  @Test(arguments: [
    SortDirection.forward, .reverse,
  ])
  func `R78 Random moves change the list as they change an array, by one event of the moved row`(
    direction: SortDirection
  ) async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let request = ListRequest(Card.self).sectioned(by: \.lane).sortedManually(by: \.rank, direction)
    let (cards, list) = try await board((0..<24).map { ["a", "b", "c"][$0 % 3] }, request)
    var model: [[Int]] = (0..<3).map { lane in
      let ids = stride(from: lane, to: 24, by: 3)
      return direction == .forward ? Array(ids) : ids.reversed()
    }
    let names = ["a", "b", "c"]
    var next = 24
    for _ in 0..<250 {
      let before = try await list.performFetch()
      try #require(lanes(before) == model.filter { !$0.isEmpty })
      if Int.random(in: 0..<10, using: &random) == 0 {
        let lane = Int.random(in: 0..<3, using: &random)
        try await cards.put(Card(id: next, lane: names[lane]))
        model[lane].insert(next, at: direction == .forward ? model[lane].count : 0)
        next += 1
        continue
      }
      // Empty sections are not shown, so nothing can be moved into them.
      let shown = (0..<3).filter { !model[$0].isEmpty }
      let from = Int.random(in: 0..<shown.count, using: &random)
      let item = Int.random(in: 0..<model[shown[from]].count, using: &random)
      let to = Int.random(in: 0..<shown.count, using: &random)
      let id = model[shown[from]].remove(at: item)
      let place = Int.random(in: 0...model[shown[to]].count, using: &random)
      let isSame = from == to && item == place
      let head = cards.store.head.sequence
      let result: ListMove
      let others = model[shown[to]]
      switch Int.random(in: 0..<4, using: &random) {
      case 0 where place < others.count: result = try await list.move(id, before: others[place])
      case 1 where place > 0: result = try await list.move(id, after: others[place - 1])
      case 2 where place == 0: result = try await list.move(id, toFrontOf: names[shown[to]])
      case 2 where place == others.count: result = try await list.move(id, toEndOf: names[shown[to]])
      default:
        result = try await list.move(
          from: ListIndex(section: from, item: item), to: ListIndex(section: to, item: place))
      }
      model[shown[to]].insert(id, at: place)
      let after = try await list.performFetch()
      let changes = ListChanges(from: before, to: after)
      if isSame {
        guard case .unchanged = result else {
          Issue.record("a move to the row's own position resulted in \(result)")
          return
        }
        try #require(cards.store.head.sequence == head && changes.isEmpty)
      } else {
        guard case .moved = result else {
          Issue.record("a move resulted in \(result)")
          return
        }
        try #require(cards.store.head.sequence == head + 1)
        try #require(changes.changedItems == [id])
      }
    }
    // The list is the same when everything is read again from the log.
    let anew = FetchController(request, from: cards)
    #expect(lanes(try await anew.performFetch()) == model.filter { !$0.isEmpty })
  }

  enum Place: String, CaseIterable, Sendable {
    case front, end, index, beforeFixed, behindFixed, leapfrog, betweenEachOther
  }

  @Test(arguments: Place.allCases)
  func `R78 A thousand moves to one place keep ranks under 64 bytes`(place: Place) async throws {
    let count = place == .betweenEachOther ? 3 : 12
    let (cards, list) = try await board(Array(repeating: "a", count: count))
    var model = Array(0..<count)
    var lengthMax = 0
    var renumbered = 0
    for move in 0..<1_000 {
      let id: Int
      let index: Int
      switch place {
      case .front: (id, index) = (model[11], 0)
      case .end: (id, index) = (model[0], 11)
      case .index: (id, index) = (model[11], 5)
      // 6 stays; the last and the first row in turn move next to it.
      case .beforeFixed: (id, index) = (model[0], model.firstIndex(of: 6)! - 1)
      case .behindFixed: (id, index) = (model[11], model.firstIndex(of: 6)! + 1)
      // 4 and 5 are moved after each other in turn.
      case .leapfrog: (id, index) = (move % 2 == 0 ? 4 : 5, model.firstIndex(of: move % 2 == 0 ? 5 : 4)!)
      // One of the outer two moves between the others.
      case .betweenEachOther: (id, index) = (model[move % 2 == 0 ? 0 : 2], 1)
      }
      model.removeAll { $0 == id }
      let head = cards.store.head.sequence
      let from = try #require(list.snapshot?.index(of: id))
      let result = try await list.move(from: from, to: ListIndex(section: 0, item: index))
      model.insert(id, at: index)
      let snapshot = try await list.performFetch()
      try #require(snapshot.itemIdentifiers == model)
      if case .renumbered(_, let rowCount) = result {
        renumbered += 1
        try #require(cards.store.head.sequence == head + UInt64(rowCount))
        for id in model { lengthMax = max(lengthMax, snapshot.row(for: id)?.rank?.utf8.count ?? 0) }
      } else {
        try #require(cards.store.head.sequence == head + 1)
        lengthMax = max(lengthMax, snapshot.row(for: id)?.rank?.utf8.count ?? 0)
      }
    }
    print("\(place): ranks of at most \(lengthMax) bytes, \(renumbered) appends with more than one row")
    #expect(lengthMax < 64)
    #expect(place == .betweenEachOther ? (1..<10).contains(renumbered) : renumbered == 0)
  }
}
