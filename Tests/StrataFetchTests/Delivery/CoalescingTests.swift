// How several appends are combined into one update.

internal import StrataBase
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct CoalescingTests {
  /// The one update of a consumer that missed all steps.
  private func update(
    _ home: Household, _ steps: (DocumentCollection<Chore>) async throws -> Void
  ) async throws -> ChoreUpdate {
    var updates = home.list.updates.makeAsyncIterator()
    let first = try #require(try await updates.next())
    #expect(first.reason == .initial)
    try await steps(home.chores)
    let update = try #require(try await updates.next())
    #expect(update.before?.sequence == first.sequence)
    #expect(update.changes.fromSequence == first.sequence)
    #expect(update.changes.toSequence == home.store.head.sequence)
    return update
  }

  @Test
  func `R33 Added and then changed is added`() async throws {
    let update = try await update(Household()) { chores in
      try await chores.put(Chore(id: 9, title: "x"))
      try await chores.update(9) { $0.title = "y" }
    }
    #expect(update.changes.insertions.map(\.id) == [9])
    #expect(
      update.changes.updates.isEmpty && update.changes.moves.isEmpty && update.changes.deletions.isEmpty)
  }

  @Test
  func `R33 Added and then removed is nothing`() async throws {
    let update = try await update(Household()) { chores in
      try await chores.put(Chore(id: 9, title: "x", owner: "bob"))
      try await chores.delete(9)
      try await chores.update(0) { $0.isDone = true }
    }
    #expect(update.changes.updates.map(\.id) == [0])
    #expect(update.changes.count == 1)
  }

  @Test
  func `R33 Changed twice is changed once`() async throws {
    let update = try await update(Household()) { chores in
      try await chores.update(0) { $0.isDone = true }
      try await chores.update(0) { $0.title = "a2" }
    }
    #expect(update.changes.updates.map(\.id) == [0])
    #expect(update.changes.updates.map(\.changedFields) == [["isDone", "title"]])
    #expect(update.changes.count == 1)
  }

  @Test
  func `R33 Changed and then removed is removed from where it was`() async throws {
    let update = try await update(Household()) { chores in
      try await chores.update(0) { $0.title = "z" }
      try await chores.delete(0)
    }
    #expect(update.changes.deletions.map(\.id) == [0])
    #expect(update.changes.deletions.map(\.from) == [ListIndex(section: 0, item: 0)])
    #expect(update.changes.updates.isEmpty && update.changes.moves.isEmpty)
  }

  @Test
  func `R33 Removed and then added is changed, or moved where it stands elsewhere`() async throws {
    let update = try await update(Household("abcd")) { chores in
      try await chores.delete(0)
      try await chores.delete(1)
      try await chores.put(Chore(id: 0, title: "a", isDone: true))
      try await chores.put(Chore(id: 1, title: "z", owner: "ann"))
    }
    #expect(update.changes.updates.map(\.id) == [0])
    #expect(update.changes.moves.map(\.id) == [1])
    #expect(update.changes.moves.allSatisfy { $0.isChanged })
    #expect(update.changes.insertions.isEmpty && update.changes.deletions.isEmpty)
  }

  @Test
  func `R34 One difference over many appends is the difference of their ends`() async throws {
    let seed = SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    let home = try await Household("abcdefgh")
    var updates = home.list.updates.makeAsyncIterator()
    _ = try await updates.next()
    for _ in 0..<20 {
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let id = Int.random(in: 0..<12, using: &random)
        let title = String(UnicodeScalar(UInt8.random(in: 97...110, using: &random)))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: try await home.chores.delete(id)
        default:
          let owner = [nil, "ann", "bob"].randomElement(using: &random) ?? nil
          try await home.chores.put(Chore(id: id, title: title, owner: owner))
        }
      }
      // A separate chore, so that something changes in any case.
      try await home.chores.put(Chore(id: 100, title: "\(random.next())", owner: "eve"))
      let update = try #require(try await updates.next())
      let (old, new) = (try #require(update.before?.sequence), update.sequence)
      let ends = try await home.list.changes(from: .sequence(old), to: .sequence(new))
      #expect(update.changes == ends, "seed \(seed)")
    }
  }

  @Test
  func `R35 What the list does not show makes no update, and advances its snapshot`() async throws {
    let home = try await Household("abc", Household.open)
    let seen = Lock<[ChoreUpdate]>([])
    let following = Task {
      for try await update in home.list.updates { seen.withLock { $0.append(update) } }
    }
    await waiting { home.list.announcement.hasWaiters }
    try await home.chores.put(Chore(id: 50, title: "x", isDone: true))
    try await home.store.append([NewEvent("noted", in: "log/1", payload: EventPayload(.null))])
    let head = home.store.head.sequence
    await waiting { home.list.snapshot?.sequence == head }
    try await home.chores.put(Chore(id: 51, title: "y"))
    await waiting { seen.withLock { $0.count } == 2 }
    let last = try #require(seen.withLock { $0.last })
    #expect(last.changes.insertions.map(\.id) == [51])
    // The update begins where the previous one ended, and spans the appends that made no update.
    #expect(last.before?.sequence == 3 && last.changes.fromSequence == 3)
    following.cancel()
    try await following.value
  }

  @Test
  func `R36 Updates are of items in both lists, insertions of the new one, deletions of the old one alone`()
    async throws
  {
    let seed = SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    for request in [Household.open, Household.open.limited(to: 4), Household.all.limited(perSection: 2)] {
      let home = try await Household("abcdefgh", request)
      var updates = home.list.updates.makeAsyncIterator()
      _ = try await updates.next()
      for round in 0..<40 {
        let id = Int.random(in: 0..<10, using: &random)
        let title = ["a", "h", "q"].randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<4, using: &random) {
        case 0: try await home.chores.delete(id)
        default:
          try await home.chores.put(Chore(id: id, title: title, isDone: Bool.random(using: &random)))
        }
        // First in every list, so that there is an update in any case.
        try await home.chores.put(Chore(id: 50, title: " \(round)"))
        let update = try #require(try await updates.next())
        let old = Set(update.before?.itemIdentifiers ?? [])
        let new = Set(update.after.itemIdentifiers)
        #expect(Set(update.changes.insertions.map(\.id)) == new.subtracting(old), "seed \(seed)")
        #expect(Set(update.changes.deletions.map(\.id)) == old.subtracting(new), "seed \(seed)")
        #expect(Set(update.changes.changedItems).isSubset(of: new.intersection(old)), "seed \(seed)")
      }
    }
  }

  @Test
  func `R37 A change of content alone is an update, and no structure`() async throws {
    let home = try await Household()
    let update = try await update(home) { try await $0.update(1) { $0.isDone = true } }
    #expect(update.changes.updates.map(\.id) == [1])
    #expect(!update.changes.isStructural)
    #expect(update.before.map { ShownList($0) } == ShownList(update.after))
    let moved = try await self.update(home) { try await $0.update(0) { $0.title = "z" } }
    #expect(moved.changes.changedItems == [0] && moved.changes.isStructural)
  }

  @Test
  func `R38 A write of the same is reported by no list, and where it is asked for as an update`() async throws
  {
    let home = try await Household()
    let touched = FetchController(Household.all.reportTouches(), from: home.chores)
    var plain = home.list.updates.makeAsyncIterator()
    var touches = touched.updates.makeAsyncIterator()
    _ = try await plain.next()
    _ = try await touches.next()
    try await home.chores.put(Chore(id: 0, title: "a"))
    let update = try #require(try await touches.next())
    #expect(update.changes.updates.map(\.id) == [0] && update.changes.count == 1)
    #expect(update.changes.updates.map(\.changedFields) == [[]])
    try await home.chores.update(1) { $0.isDone = true }
    let other = try #require(try await plain.next())
    #expect(other.changes.updates.map(\.id) == [1] && other.changes.count == 1)
    // A merge that changes nothing, and a list that begins to report touches.
    try await home.store.append([
      NewEvent(DocumentEvent.merge, in: "task/2", payload: EventPayload(["title": "c"]))
    ])
    #expect(try await touches.next()?.changes.updates.map(\.id) == [2, 1])
    try await home.list.apply(Household.all.reportTouches())
    let reconfigured = try #require(try await plain.next())
    #expect(reconfigured.reason == .reconfigured && reconfigured.changes.isEmpty)
    try await home.chores.put(Chore(id: 0, title: "a"))
    #expect(try await plain.next()?.changes.updates.map(\.id) == [0])
  }

  private struct Tagged: Codable, Equatable, Identifiable, Sendable {
    struct Key: Codable, Hashable, Sendable { var number: Int }
    var id: Int
    var tags: Set<String>
    var counts: [Key: Int]

    /// Two values with the same words are equal, and their tables hold them in different orders.
    init(_ id: Int, _ words: [String], capacity: Int = 0) {
      self.id = id
      tags = Set(minimumCapacity: capacity)
      counts = Dictionary(minimumCapacity: capacity)
      for (number, word) in capacity > 0 ? words.enumerated().reversed() : Array(words.enumerated()) {
        tags.insert(word)
        counts[Key(number: number)] = word.utf8.count
      }
    }
  }

  @Test
  func `R38 A row with an equal set is reported by no list, and an update to it appends nothing`()
    async throws
  {
    let store = EventStore.inMemory()
    let rows = store.collection("tagged", of: Tagged.self)
    let words = (0..<30).map { "w\($0)" }
    #expect(Array(Tagged(1, words).tags) != Array(Tagged(1, words, capacity: 5_000).tags))
    try await rows.put(Tagged(1, words))
    try await rows.put(Tagged(2, []))
    let list = FetchController(ListRequest(Tagged.self).sorted(by: \.id), from: rows)
    var updates = list.updates(.everyCommit).makeAsyncIterator()
    _ = try await updates.next()
    try await rows.put(Tagged(1, words, capacity: 5_000))
    let head = store.head.sequence
    let update = try await rows.update(1) { $0 = Tagged(1, words, capacity: 2_000) }
    #expect(store.head.sequence == head)
    if case .changed = update { Issue.record("the update appended an equal value") }
    try await rows.put(Tagged(2, ["x"]))
    #expect(try await updates.next()?.changes.updates.map(\.id) == [2])
    try await store.close()
  }

  @Test
  func `R62 What is changed and changed back is not reported`() async throws {
    let home = try await Household()
    let before = try await home.list.performFetch()
    try await home.chores.update(0) { $0.title = "z" }
    try await home.chores.update(0) { $0.title = "a" }
    try await home.chores.delete(1)
    try await home.chores.put(Chore(id: 1, title: "b", owner: "ann"))
    try await home.chores.put(Chore(id: 7, title: "q", owner: "ann"))
    try await home.chores.delete(7)
    let after = try await home.list.performFetch()
    #expect(after.sequence == home.store.head.sequence)
    #expect(ListChanges(from: before, to: after).isEmpty)
    // The same at the end of a window, where rows are compared in another way.
    let cut = FetchController(Household.all.limited(to: 2), from: home.chores)
    let then = try await cut.performFetch()
    try await home.chores.update(0) { $0.title = "z" }
    try await home.chores.update(0) { $0.title = "a" }
    #expect(ListChanges(from: then, to: try await cut.performFetch()).isEmpty)
    #expect(after.revision(of: 0) != before.revision(of: 0))
  }

  @Test
  func `R64 Exactly the rows whose content version differs are changed`() async throws {
    let seed = SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    for request in [Household.all, Household.all.reportTouches()] {
      let home = try await Household("abcdefghij", request)
      var before = try await home.list.performFetch()
      for _ in 0..<30 {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let id = Int.random(in: 0..<10, using: &random)
          let title = ["a", "m", "z"].randomElement(using: &random) ?? ""
          try await home.chores.put(
            Chore(id: id, title: title, owner: "ann", isDone: Bool.random(using: &random)))
        }
        // A row that is changed and changed back has its old number.
        let changedBack = Int.random(in: 0..<10, using: &random)
        for _ in 0..<2 { try await home.chores.update(changedBack) { $0.isDone.toggle() } }
        let after = try await home.list.performFetch()
        let changes = ListChanges(from: before, to: after)
        let differing = (0..<10).filter { before.contentVersion(of: $0) != after.contentVersion(of: $0) }
        #expect(Set(changes.changedItems) == Set(differing), "seed \(seed)")
        before = after
      }
      #expect(before.contentVersion(of: 99) == nil && before.revision(of: 99) == nil)
    }
  }
}
