// Windows: they are full after every change, and a change costs only the rows that enter and leave.

internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

/// A store of chores, and lists of them.
struct WindowFixture {
  typealias Controller = FetchController<Chore, String?>
  typealias Snapshot = ListSnapshot<Chore, String?>
  typealias Flat = ListRequest<Chore, Unsectioned>

  let store = EventStore.inMemory()
  let chores: DocumentCollection<Chore>
  static let flat = ListRequest(Chore.self).sorted(by: \.id)
  static let sectioned = ListRequest(Chore.self).sectioned(by: \.owner).sorted(by: \.id)

  init() { chores = store.collection("task", of: Chore.self) }

  func put(_ ids: some Sequence<Int>, owner: (Int) -> String? = { _ in nil }) async throws {
    try await chores.put(ids.map { Chore(id: $0, title: "t", owner: owner($0)) })
  }

  func delete(_ ids: some Sequence<Int>) async throws {
    for id in ids { try await chores.delete(id) }
  }

  func list<Section>(_ request: ListRequest<Chore, Section>) -> FetchController<Chore, Section> {
    FetchController(request, from: chores)
  }
}

@Suite struct WindowTests {
  static let windows: [ListWindow] = [
    .all, .first(5), .first(5, after: 3), .last(4), .last(4, before: 2), .first(0),
    ListWindow(length: nil, offset: 6), ListWindow(length: nil, offset: 6, pin: .end),
    .first(.max, after: .max), .last(.max, before: 1),
  ]

  @Test
  func `R44 After every commit a window holds as many of the rows after its offset as it may`() async throws {
    let fixture = WindowFixture()
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let whole = fixture.list(WindowFixture.flat)
    let lists = Self.windows.map { fixture.list(WindowFixture.flat.windowed(to: $0)) }
    for _ in 0..<40 {
      let id = Int.random(in: 0..<16, using: &random)
      if Bool.random(using: &random) {
        try await fixture.put([id])
      } else {
        try await fixture.chores.delete(id)
      }
      let ids = try await whole.performFetch().itemIdentifiers
      for (window, list) in zip(Self.windows, lists) {
        let snapshot = try await list.performFetch()
        let left = max(0, ids.count - min(window.offset, ids.count))
        #expect(snapshot.numberOfItems == min(window.length ?? .max, left), "\(window)")
        #expect(snapshot.itemIdentifiers == ModelList.cut(ids, window), "\(window)")
      }
    }
  }

  @Test
  func `R44 A negative length or offset counts as 0`() async throws {
    #expect(ListWindow.first(-1, after: -5) == .first(0) && ListWindow.first(3, after: .min) == .first(3))
    #expect(ListWindow.last(.min, before: -1) == .last(0) && ListWindow.last(3, before: -2) == .last(3))
    let fixture = WindowFixture()
    try await fixture.put(0..<4)
    let none = fixture.list(WindowFixture.flat.limited(to: -1))
    #expect(try await none.performFetch().numberOfItems == 0)
    #expect(try await none.setWindow(.first(2, after: -3)).itemIdentifiers == [0, 1])
    let sections = fixture.list(WindowFixture.sectioned.limited(perSection: -2))
    #expect(try await sections.performFetch().numberOfSections == 0)
  }

  @Test
  func `R44 What is put into a full window pushes out its far end, and what is taken out brings the next in`()
    async throws
  {
    let fixture = WindowFixture()
    try await fixture.put(stride(from: 0, to: 40, by: 2))
    let cases: [(window: ListWindow, put: (out: [Int], in: [Int]), delete: (out: [Int], in: [Int]))] = [
      (.first(3, after: 4), ([12], [11]), ([11], [12])),
      (.last(3, before: 13), ([8], [11]), ([11], [8])),
    ]
    for (window, put, delete) in cases {
      let list = fixture.list(WindowFixture.flat.windowed(to: window))
      var updates = list.updates.makeAsyncIterator()
      #expect(try await updates.next()?.after.itemIdentifiers == [8, 10, 12])
      try await fixture.put([11])
      var changes = try #require(try await updates.next()).changes
      #expect(changes.deletions.map(\.id) == put.out && changes.insertions.map(\.id) == put.in)
      try await fixture.chores.delete(11)
      changes = try #require(try await updates.next()).changes
      #expect(changes.deletions.map(\.id) == delete.out && changes.insertions.map(\.id) == delete.in)
      #expect(changes.moves.isEmpty && changes.updates.isEmpty)
    }
  }

  @Test
  func `R45 No state inside an append shows more than the window, and applying a batch never does`()
    async throws
  {
    let fixture = WindowFixture()
    try await fixture.put(0..<10)
    let list = fixture.list(WindowFixture.flat.windowed(to: .first(4, after: 2)))
    let before = try await list.performFetch()
    // One append of many puts, so that there is a state after each of them.
    let puts = (-10..<5).map { Chore(id: $0, title: "new", owner: nil) }
    let receipt = try #require(try await fixture.chores.put(puts))
    for sequence in receipt.sequences {
      #expect(try await list.snapshot(at: .sequence(sequence)).numberOfItems == 4)
    }
    let after = try await list.performFetch()
    let changes = ListChanges(from: before, to: after)
    var ids = before.itemIdentifiers
    for change in changes.deletions { ids.remove(at: change.from.item) }
    for change in changes.insertions {
      ids.insert(change.id, at: change.to.item)
      #expect(ids.count <= 4)
    }
    #expect(ids == after.itemIdentifiers && ids == Array(-8 ..< -4))
  }

  @Test
  func `R46 What is put in before a window that is pinned to the end leaves its content alone`() async throws
  {
    let fixture = WindowFixture()
    try await fixture.put(100..<120)
    let last = fixture.list(WindowFixture.flat.windowed(to: .last(5, before: 3)))
    let first = fixture.list(WindowFixture.flat.windowed(to: .first(5, after: 3)))
    let oldLast = try await last.performFetch()
    #expect(oldLast.itemIdentifiers == Array(112..<117))
    #expect(try await first.performFetch().itemIdentifiers == Array(103..<108))
    try await fixture.put(0..<4)
    try await fixture.chores.delete(105)
    var (newLast, newFirst) = (try await last.performFetch(), try await first.performFetch())
    let changes = ListChanges(from: oldLast, to: newLast)
    #expect(!changes.isStructural && changes.updates.isEmpty)
    #expect(newLast.itemIdentifiers == oldLast.itemIdentifiers)
    #expect(newFirst.itemIdentifiers == [3, 100, 101, 102, 103])
    // And in reverse: insertions after a window that is pinned to the beginning.
    try await fixture.put(200..<202)
    (newLast, newFirst) = (try await last.performFetch(), try await first.performFetch())
    #expect(newLast.itemIdentifiers == Array(114..<119))
    #expect(newFirst.itemIdentifiers == [3, 100, 101, 102, 103])
  }

  @Test
  func `R46 In each section by itself, the last ones stay though others come in before them`() async throws {
    let fixture = WindowFixture()
    try await fixture.put(100..<110) { $0 % 2 == 0 ? "ann" : "bob" }
    let list = fixture.list(WindowFixture.sectioned.windowed(perSection: .last(2)))
    let old = try await list.performFetch()
    #expect(old.itemIdentifiers == [106, 108, 107, 109])
    try await fixture.put([0]) { _ in "ann" }
    let new = try await list.performFetch()
    let changes = ListChanges(from: old, to: new)
    #expect(new.itemIdentifiers == old.itemIdentifiers && !changes.isStructural)
    #expect(changes.sectionUpdates.map(\.section) == ["ann"] && changes.sectionUpdates.map(\.count) == [6])
  }
}
