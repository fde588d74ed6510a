// Updates with a pace: fewer of them, and together the same changes.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables
internal import StrataTesting
internal import Testing

@testable internal import StrataFetch
@testable internal import StrataLists
@testable internal import StrataPast

@Suite struct PaceTests {
  @Test func `an update waits for the pace, and has everything since the one before`() async throws {
    let home = try await Household()
    let pace = Duration.milliseconds(300)
    var updates = home.list.updates(.latest, every: pace).makeAsyncIterator()
    let first = try #require(try await updates.next())
    var delivered = ContinuousClock.now
    for round in 0..<3 {
      for number in 0..<5 {
        try await home.chores.put(Chore(id: 10 + number, title: "\(round) \(number)"))
      }
      let update = try #require(try await updates.next())
      #expect(delivered.duration(to: .now) >= pace)
      delivered = .now
      #expect(update.changes.insertions.count == (round == 0 ? 5 : 0))
      #expect(update.sequence == home.store.head.sequence && update.reason == .changed)
      if round == 0 { #expect(update.before?.sequence == first.sequence) }
    }
    #expect(home.list.statistics.updatesDelivered == 4)
  }

  @Test func `changes that cancel each other within the pace make no update`() async throws {
    let home = try await Household()
    var updates = home.list.updates(.latest, every: .milliseconds(100)).makeAsyncIterator()
    _ = try await updates.next()
    try await home.chores.put(Chore(id: 9, title: "x"))
    try await home.chores.delete(9)
    let next = Task { [updates] in
      var updates = updates
      return try await updates.next()
    }
    await waiting { home.list.statistics.looksWithoutChange > 0 }
    try await home.chores.put(Chore(id: 8, title: "y"))
    #expect(try await next.value?.changes.insertions.map(\.id) == [8])
  }

  @Test func `nothing is folded for a list that waits for its pace`() async throws {
    let home = try await Household()
    var updates = home.list.updates(.latest, every: .seconds(3_600)).makeAsyncIterator()
    _ = try await updates.next()
    let next = Task { [updates] in
      var updates = updates
      return try await updates.next() == nil
    }
    let fetches = home.list.statistics.fetches
    for number in 0..<20 { try await home.chores.put(Chore(id: 10, title: "\(number)")) }
    #expect(home.list.statistics.fetches == fetches)
    next.cancel()
    #expect(try await next.value)
  }

  @Test func `under every commit, a pace leaves no update out`() async throws {
    let home = try await Household()
    var updates = home.list.updates(.everyCommit, every: .milliseconds(20)).makeAsyncIterator()
    _ = try await updates.next()
    for number in 0..<5 { try await home.chores.put(Chore(id: 10 + number, title: "\(number)")) }
    for number in 0..<5 {
      #expect(try await updates.next()?.changes.insertions.map(\.id) == [10 + number])
    }
  }

  @Test(arguments: 0..<4)
  func `while others write, paced updates lead to the same list, each from the one before`(
    number: UInt64
  )
    async throws
  {
    let seed = SeededGenerator.testSeed() &+ number
    let home = try await Household("abcdefgh")
    let writer = Task {
      var random = SeededGenerator(seed: seed)
      for _ in 0..<400 {
        let id = Int.random(in: 0..<20, using: &random)
        if Int.random(in: 0..<4, using: &random) == 0 {
          try await home.chores.delete(id)
        } else {
          let title = "\(Int.random(in: 0..<10, using: &random))"
          try await home.chores.put(Chore(id: id, title: title, owner: id % 3 == 0 ? "bob" : nil))
        }
      }
      // So that there is always a last update.
      try await home.chores.put(Chore(id: 100, title: "last"))
    }
    var updates = home.list.updates(.latest, every: .milliseconds(5)).makeAsyncIterator()
    var shown = try #require(try await updates.next()).after
    var count = 0
    while shown.index(of: 100) == nil, let update = try await updates.next() {
      let before = try #require(update.before)
      #expect(before.sequence == shown.sequence)
      #expect(update.changes == ListChanges(from: shown, to: update.after))
      shown = update.after
      count += 1
    }
    try await writer.value
    let model = try await home.chores.all()
    #expect(ShownList(shown) == ShownList(model))
    #expect(count <= 401)
  }
}
