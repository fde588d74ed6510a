// The cost of windows, counted in the items and sections that are read.

internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
internal import StrataTables
internal import Testing

@Suite struct WindowCostTests {
  /// 2,000 chores in 40 sections of 50, those of section 7 being 7, 47, 87…
  private func large() async throws -> WindowFixture {
    let fixture = WindowFixture()
    try await fixture.put(0..<2_000) { "\($0 % 40 + 100)" }
    return fixture
  }

  @Test
  func `R47 A window is filled up from the index, at the cost of what comes in and goes out`() async throws {
    let fixture = try await large()
    for window in [ListWindow.first(500, after: 1_000), .last(500, before: 500), .first(1_010)] {
      let list = fixture.list(WindowFixture.sectioned.windowed(to: window))
      let old = try await list.performFetch()
      let id = try #require(old.itemIdentifiers.dropFirst(old.numberOfItems / 2).first)
      try await fixture.chores.delete(id)
      let new = try await list.performFetch()
      let (diff, cost) = ListDiff.found(from: old.version, to: new.version)
      #expect(diff.deletions.map(\.id) == ["\(id)"] && diff.insertions.count == 1)
      #expect(cost.rows == 1 && cost.items <= 16 && cost.sections <= 8, "\(window): \(cost)")
      try await fixture.put([id]) { "\($0 % 40 + 100)" }
    }
  }

  @Test
  func `R47 A change far after a window is seen to be none of its business by a few looks`() async throws {
    let fixture = try await large()
    let list = fixture.list(WindowFixture.sectioned.windowed(to: .first(100, after: 200)))
    let old = try await list.performFetch()
    try await fixture.chores.delete(39)
    let (diff, cost) = ListDiff.found(from: old.version, to: try await list.performFetch().version)
    #expect(diff.isEmpty && cost.items <= 8 && cost.sections <= 8, "\(cost)")
  }

  @Test
  func `R47 After a commit of more rows than a window shows, its items are compared`() async throws {
    let fixture = try await large()
    let list = fixture.list(WindowFixture.sectioned.windowed(to: .first(10)))
    let old = try await list.performFetch().version
    try await fixture.put(0..<1_000) { "\($0 % 40 + 99)" }
    let new = try await list.performFetch().version
    let (diff, cost) = ListDiff.found(from: old, to: new)
    #expect(cost.rows <= 24 && cost.items == 20, "\(cost)")
    #expect(diff == ListDiff.found(from: old, to: new, rowCountMax: .max).diff && !diff.isEmpty)
  }

  @Test
  func `R47 Where sections stand by key a window is found by the index, else by walking up to its far end`()
    async throws
  {
    let fixture = try await large()
    let sectioned = WindowFixture.sectioned
    let cases: [(request: ListRequest<Chore, String?>, walked: Int)] = [
      (sectioned, 0), (sectioned.sectionsOrdered(by: .keyDescending), 0),
      (sectioned.sectionsOrdered(by: .first), 24), (sectioned.windowed(perSection: .first(50)), 24),
    ]
    for (request, walked) in cases {
      for window in [ListWindow.first(200, after: 1_000), .last(200, before: 1_000)] {
        let snapshot = try await fixture.list(request.windowed(to: window)).performFetch()
        #expect(snapshot.version.cut?.walkedCount == walked)
      }
      #expect(try await fixture.list(request).performFetch().version.cut == nil)
    }
  }

  @Test
  func `R49 A window that is moved costs the rows that come in and go out, and its view stays as it is`()
    async throws
  {
    let fixture = try await large()
    let list = fixture.list(WindowFixture.sectioned.windowed(to: .first(400, after: 300)))
    var updates = list.updates.makeAsyncIterator()
    var old = try #require(try await updates.next()).after
    let steps: [(window: ListWindow, out: Int, in: Int)] = [
      (.first(400, after: 310), 10, 10), (.first(380, after: 320), 20, 0),
      (.first(400, after: 310), 0, 20), (.last(400, before: 1_290), 0, 0), (.last(420, before: 1_280), 0, 20),
      (.first(100, after: 1_500), 420, 100),
    ]
    for step in steps {
      let new = try await list.setWindow(step.window)
      let update = try #require(try await updates.next())
      #expect(update.reason == .reconfigured)
      #expect(update.changes.deletions.count == step.out && update.changes.insertions.count == step.in)
      #expect(update.changes.moves.isEmpty && update.changes.updates.isEmpty)
      let (_, cost) = ListDiff.found(from: old.version, to: new.version)
      #expect(cost.rows == 0 && cost.items <= step.out + step.in + 16, "\(step): \(cost)")
      #expect(cost.sections <= (step.out + step.in) / 50 + 8, "\(step): \(cost)")
      #expect(new.version.view.items.isIdentical(to: old.version.view.items))
      old = new
    }
  }

  @Test
  func `R49 The windows inside sections are moved live too`() async throws {
    let fixture = WindowFixture()
    try await fixture.put(0..<12) { $0 % 3 == 0 ? "ann" : $0 % 3 == 1 ? "bob" : nil }
    let list = fixture.list(WindowFixture.sectioned.limited(perSection: 2))
    var updates = list.updates.makeAsyncIterator()
    #expect(try await updates.next()?.after.itemIdentifiers == [2, 5, 0, 3, 1, 4])
    try await list.setWindow(perSection: .first(2, after: 1))
    var changes = try #require(try await updates.next()).changes
    #expect(changes.deletions.map(\.id) == [1, 0, 2] && changes.insertions.map(\.id) == [8, 6, 7])
    try await list.setWindow(.last(4))
    let update = try #require(try await updates.next())
    #expect(update.after.itemIdentifiers == [3, 6, 4, 7])
    changes = update.changes
    #expect(changes.deletions.map(\.id) == [8, 5] && changes.sectionDeletions.map(\.section) == [nil])
    #expect(changes.count == 3)
  }

  @Test @MainActor
  func `R49 A live list changes its window by one difference`() async throws {
    let fixture = WindowFixture()
    try await fixture.put(0..<20)
    let list = LiveList(WindowFixture.flat.windowed(to: .last(5)), from: fixture.chores)
    func wait(for ids: Range<Int>) async throws {
      // The suite's time limit ends a wait that is in vain.
      while list.snapshot?.itemIdentifiers != Array(ids) { await Task.yield() }
    }
    try await wait(for: 15..<20)
    try await list.setWindow(.last(5, before: 2))
    try await wait(for: 13..<18)
    #expect(list.lastUpdate?.changes.insertions.map(\.id) == [13, 14])
    #expect(list.lastUpdate?.changes.deletions.map(\.id) == [19, 18])
    list.cancel()
  }

  @Test
  func `R50 Counts are those of all rows, however few are shown: 20 of 1,312`() async throws {
    let fixture = WindowFixture()
    try await fixture.put(0..<1_312) { $0 < 1_000 ? "ann" : "bob" }
    let list = fixture.list(WindowFixture.sectioned.windowed(to: .first(20)))
    let whole = try await list.performFetch()
    #expect(whole.numberOfItems == 20 && whole.totalNumberOfItems == 1_312)
    #expect(whole.numberOfSections == 1 && whole.totalNumberOfSections == 2)
    #expect(whole.totalNumberOfItems(inSectionAt: 0) == 1_000)
    #expect(whole.totalNumberOfItems(inSection: "bob") == 312 && whole.numberOfItems(inSection: "bob") == 0)
    let each = try await list.apply(WindowFixture.sectioned.limited(perSection: 20))
    #expect(each.numberOfItems == 40 && each.totalNumberOfItems == 1_312)
    #expect((0..<2).map { each.numberOfItems(inSectionAt: $0) } == [20, 20])
    #expect((0..<2).map { each.totalNumberOfItems(inSectionAt: $0) } == [1_000, 312])
    // A row that no window shows changes only the count of its section.
    try await fixture.put([5_000]) { _ in "bob" }
    let changes = ListChanges(from: each, to: try await list.performFetch())
    #expect(changes.count == 1 && changes.sectionUpdates.map(\.count) == [313])
  }

  @Test
  func `R50 The windows of sections are independent of each other`() async throws {
    let fixture = WindowFixture()
    try await fixture.put(0..<30) { "\($0 % 3)" }
    let list = fixture.list(WindowFixture.sectioned.windowed(perSection: .first(3, after: 2)))
    let old = try await list.performFetch()
    #expect(old.itemIdentifiers == [6, 9, 12, 7, 10, 13, 8, 11, 14])
    try await fixture.chores.delete(4)
    let new = try await list.performFetch()
    #expect(new.itemIdentifiers == [6, 9, 12, 10, 13, 16, 8, 11, 14])
    let (diff, cost) = ListDiff.found(from: old.version, to: new.version)
    #expect(diff.deletions.map(\.id) == ["7"] && diff.insertions.map(\.id) == ["16"])
    #expect(cost.items <= 16)
    // A section whose window begins after its last item is not shown.
    try await fixture.delete([1, 7, 10, 13, 16, 19, 22])
    #expect(try await list.performFetch().sectionIdentifiers == ["0", "2"])
  }
}
