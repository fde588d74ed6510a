// Why a list shows an item, compared with what it shows.

internal import Foundation
internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct WhyTests {
  static let filters = [
    "k == 7", "l != null", "$section != 'x'", "$id contains 'row'", "$revision > 9", "flag == true || k < 3",
  ]

  @Test
  func `R69 What a list says of an item is what it shows, at any point, and each filter by itself agrees`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var seen: [String: Int] = [:]
    // Ten logs, and more if ten did not happen to have every outcome.
    for number in 0..<100 where number < 10 || seen.count < 6 {
      let log = try RandomLog(appends: 12, problems: true, &random)
      let plain = ModelRequest.random(section: Bool.random(using: &random) ? "s" : nil, &random)
      var request = plain.request
      for text in Self.filters where Int.random(in: 0..<4, using: &random) == 0 {
        request = request.filtered(parsing: text)
      }
      let list = FetchController(request, from: log.store.documents("t"))
      for sequence in [log.head / 3, log.head / 2, log.head] {
        let point: LogPoint = sequence == log.head ? .head : .sequence(sequence)
        let snapshot = try await list.snapshot(at: point)
        var whole = request
        whole.window = .all
        let all = try await list.snapshot(at: point, request: whole)
        var alone: [ListSnapshot<DocumentRow, DocumentValue>] = []
        for filter in request.filters {
          var single = whole
          single.filters = [filter]
          alone.append(try await list.snapshot(at: point, request: single))
        }
        let problems = Set(snapshot.problems.map { Array($0.id.utf8) })
        for id in log.ids {
          let why = try await list.why(id, at: point)
          let row = log.models[Int(sequence)].rows[Array(id.utf8)]
          seen[why.index == nil ? String("\(why.outcome)".prefix(11)) : "shown", default: 0] += 1
          try #require(why.index == snapshot.index(of: id), "\(why)")
          try #require(why.created?.sequence == row?.created)
          try #require(why.changed?.sequence == row?.revision)
          try #require((why.deleted != nil) == (why.outcome == .deleted))
          if case .problem = why.outcome {
            try #require(problems.contains(Array(id.utf8)))
          } else {
            try #require(!problems.contains(Array(id.utf8)))
          }
          guard row != nil else {
            let last = log.models[...Int(sequence)].lastIndex { $0.rows[Array(id.utf8)] != nil }
            try #require(why.outcome == (last == nil ? .absent : .deleted))
            try #require(why.deleted?.sequence == last.map { UInt64($0) + 1 }, "\(why)")
            continue
          }
          try #require((why.outcome == .leftOut) == why.filters.contains { $0.isPassed == false })
          for (filter, list) in zip(why.filters, alone) {
            let isTaken = list.contains(id) || list.problems.contains { $0.id.utf8.elementsEqual(id.utf8) }
            try #require(filter.isPassed == isTaken, "\(filter) of \(why)")
          }
          try check(why, all, snapshot)
        }
      }
    }
    print(seen)
    // All outcomes but one: limits cut after what they show, never before.
    #expect(seen.count == 6)
  }

  /// Checks that the rank is the position in the list without a window, and that the window cuts where it says.
  private func check(
    _ why: ListExplanation, _ all: ListSnapshot<DocumentRow, DocumentValue>,
    _ shown: ListSnapshot<DocumentRow, DocumentValue>
  ) throws {
    let index = all.index(of: why.id)
    try #require((why.rank == nil) == (index == nil))
    guard let index, let rank = why.rank else { return }
    let before = (0..<index.section).reduce(0) { $0 + all.numberOfItems(inSectionAt: $1) }
    try #require(rank.inSection == index.item)
    try #require(rank.inList == before + index.item)
    try #require(rank.sectionCount == all.numberOfItems(inSectionAt: index.section))
    try #require(rank.listCount == all.numberOfItems)
    if case .behindWindow(let count) = why.outcome {
      // A list without sections has a single section, which has no value.
      let isSectioned = shown.version.isSectioned
      let inSection =
        isSectioned
        ? shown.numberOfItems(inSection: all.sectionIdentifier(at: index.section)) : shown.numberOfItems
      let isOwnEnd = inSection > 0
      if isOwnEnd {
        try #require(count == index.item - inSection + 1, "\(why)")
      } else {
        try #require(count > 0)
      }
    }
  }

  @Test
  func `R69 A list says how far before or after its window a row stands`() async throws {
    let chores = EventStore.inMemory().collection("task", of: Chore.self)
    for (id, owner) in "aaaabcccc".enumerated() {
      try await chores.put(Chore(id: id, title: "\(id)", owner: String(owner)))
    }
    let whole = ListRequest(Chore.self).sectioned(by: \.owner).sorted(by: \.title)
    func outcomes(_ request: ListRequest<Chore, String?>) async throws -> [ListExplanation.Outcome] {
      let list = FetchController(request, from: chores)
      var outcomes: [ListExplanation.Outcome] = []
      for id in 0..<9 { outcomes.append(try await list.why(id).outcome) }
      return outcomes
    }
    #expect(
      try await outcomes(whole.windowed(to: .first(2, after: 3))) == [
        .beforeWindow(by: 3), .beforeWindow(by: 2), .beforeWindow(by: 1), .shown(section: 0, item: 0),
        .shown(section: 1, item: 0), .behindWindow(by: 1), .behindWindow(by: 2), .behindWindow(by: 3),
        .behindWindow(by: 4),
      ])
    #expect(
      try await outcomes(whole.windowed(to: .last(2))) == [
        .beforeWindow(by: 7), .beforeWindow(by: 6), .beforeWindow(by: 5), .beforeWindow(by: 4),
        .beforeWindow(by: 3), .beforeWindow(by: 2), .beforeWindow(by: 1), .shown(section: 0, item: 0),
        .shown(section: 0, item: 1),
      ])
    // These show nothing of the second section, because it ends before its window begins.
    let inSections: [ListExplanation.Outcome] = [
      .beforeWindow(by: 1), .shown(section: 0, item: 0), .shown(section: 0, item: 1), .behindWindow(by: 1),
      .beforeWindow(by: 1), .beforeWindow(by: 1), .shown(section: 1, item: 0), .shown(section: 1, item: 1),
      .behindWindow(by: 1),
    ]
    #expect(try await outcomes(whole.windowed(perSection: .first(2, after: 1))) == inSections)
    var fromTheEnd = inSections
    fromTheEnd[4] = .behindWindow(by: 1)
    #expect(try await outcomes(whole.windowed(perSection: .last(2, before: 1))) == fromTheEnd)
  }

  @Test
  func `R69 A list says in sentences why it shows an item`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    let chores = store.collection("task", of: Chore.self)
    try await chores.put([Chore(id: 1, title: "b", owner: "ann"), Chore(id: 2, title: "a", owner: "ann")])
    try await chores.update(1) { $0.isDone = true }
    try await chores.put(Chore(id: 3, title: "c", owner: nil))
    try await chores.delete(3)
    let list = FetchController(
      ListRequest(Chore.self).sectioned(by: \.owner).sorted(by: \.title, .reverse)
        .filtered(by: "title != 'z' && isDone == false").limited(to: 1), from: chores)
    let first = try await list.why(1, at: .sequence(2))
    #expect(first.outcome == .shown(section: 0, item: 0))
    #expect(first.created?.append == 1...2)
    #expect(first.section?.value == .string("ann"))
    #expect(first.sorts.map(\.values) == [[.string("b")], [.string("1")]])
    #expect(first.sorts.map(\.isReverse) == [true, false])
    let text = first.description
    #expect(text.hasPrefix("task/1 at 2: shown at [0, 0]\nmade by event 1 in the append 1 to 2, "))
    #expect(text.contains("passes title != 'z' && isDone == false: isDone is false, title is \"b\""))
    #expect(text.hasSuffix("is number 1 of 2 in its section, number 1 of 2 in the list"))
    let second = try await list.why(2, at: .sequence(2))
    #expect(second.outcome == .behindWindow(by: 1))
    let done = try await list.why(1)
    #expect(done.outcome == .leftOut)
    #expect(done.changed?.sequence == 3 && done.changed?.type == "$merge")
    #expect(done.filters.map(\.isPassed) == [false])
    #expect(done.description.contains("does not pass title != 'z'"))
    let gone = try await list.why(3)
    #expect(gone.outcome == .deleted && gone.deleted?.sequence == 5)
    #expect(try await list.why(3, at: .sequence(3)).outcome == .absent)
    #expect(try await list.why(77).outcome == .absent)
    for why in [first, second, done, gone] {
      let coded = try JSONDecoder().decode(ListExplanation.self, from: JSONEncoder().encode(why))
      #expect(coded == why)
    }
  }

  @Test
  func `R76 A list says why it leaves a row out that does not decode, and what filters make of it`()
    async throws
  {
    let store = EventStore.inMemory()
    let chores = store.collection("task", of: Chore.self)
    try await store.append([NewEvent(DocumentEvent.put, in: "task/5", ["id": 5, "title": 7])])
    let list = FetchController(
      ListRequest(Chore.self).filtered(by: "title == 7").filtered(id: "closure") { _ in true }, from: chores)
    let why = try await list.why(5)
    guard case .problem(let what) = why.outcome else {
      Issue.record("a row that does not decode is \(why.outcome)")
      return
    }
    #expect(what.contains("title"))
    #expect(why.filters.map(\.isPassed) == [true, nil])
    #expect(try await list.performFetch().problems.map(\.what) == [what])
  }
}
