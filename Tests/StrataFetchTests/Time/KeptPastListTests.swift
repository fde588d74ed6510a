// Changes between points of a kept list, whose keys a history has: they are those of lists that are built.

internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct KeptPastListTests {
  static func options(_ random: inout SeededGenerator) -> StoreOptions {
    var options = StoreOptions.history(&random)
    options.runLimits.keyCountMax = [1, 2, 5, 32].randomElement(using: &random)!
    options.runLimits.groupKeyCountMax = [1, 3, 20, 256].randomElement(using: &random)!
    options.runLimits.directoryPageCountMin = [1, 2, 7, 128].randomElement(using: &random)!
    options.runLimits.chunkChangeCountMin = [1, 4, 30, 1_024].randomElement(using: &random)!
    options.runLimits.wholeKeyCountMax = [0, 8, 64].randomElement(using: &random)!
    options.runLimits.uncountedKeyCountMax = [0, 3, 32].randomElement(using: &random)!
    options.runLimits.sweptKeyCountMin = [1, 5, 64].randomElement(using: &random)!
    options.runLimits.sweepLength = [1, 300, 8_192].randomElement(using: &random)!
    return options
  }

  /// Two lists of one request, of which the first is kept.
  private static func lists(
    _ log: RandomLog, _ random: inout SeededGenerator
  ) -> [FetchController<DocumentRow, DocumentValue>] {
    let request = ModelRequest.random(section: "s", &random).request
    return [request.kept(as: "kept"), request].map { FetchController($0, from: log.store.documents("t")) }
  }

  @Test
  func `R70 The batch between two points of a kept list is that of a list that is built for them`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var changed = 0
    for round in 0..<24 {
      var log = try RandomLog(
        appends: 12, eventsMax: 6, problems: round % 3 == 0, options: Self.options(&random), &random)
      let lists = Self.lists(log, &random)
      // From the first read on, the history has the keys.
      _ = try await lists[0].snapshot(at: .sequence(1))
      _ = try log.store.recordHistoriesBlocking()
      for _ in 0..<12 {
        if Int.random(in: 0..<4, using: &random) == 0 { try log.append(3, &random) }
        if Int.random(in: 0..<4, using: &random) == 0 { _ = try log.store.recordHistoriesBlocking() }
        let points = (0..<2).map { _ in LogPoint.sequence(UInt64.random(in: 0...log.head, using: &random)) }
        let parts = try await lists[0].snapshot(at: points[0])
        try #require(ArrayList(parts) == ArrayList(try await lists[1].snapshot(at: points[0])))
        var batches: [ListChanges<String, DocumentValue>] = []
        for list in lists { batches.append(try await list.changes(from: points[0], to: points[1])) }
        try #require(batches[0] == batches[1], "round \(round), \(points)")
        changed += batches[0].changedItems.count + batches[0].moves.count + batches[0].insertions.count
      }
      let statistics = lists[0].statistics
      #expect(statistics.pastListsFromHistory > 10)
      try await log.store.close()
    }
    #expect(changed > 400)
  }

  private struct Ticket: Codable, Identifiable, Sendable {
    var id: String
    var state: Int
    var title: String
  }

  @Test
  func
    `R70 The batch between two points is the same for a kept list of a type, whose keys the program makes`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var changed = 0
    for round in 0..<24 {
      let store = EventStore.inMemory(options: Self.options(&random))
      let tickets = store.collection("ticket", of: Ticket.self)
      let request = ListRequest(Ticket.self).sectioned(by: \.state).sorted(by: \.title)
      let lists = [request.kept(as: "by state"), request].map { FetchController($0, from: tickets) }
      for number in 0..<120 {
        let id = "\(Int.random(in: 0..<30, using: &random))"
        if Int.random(in: 0..<6, using: &random) == 0 {
          _ = try await tickets.delete(id)
        } else {
          let title = "\(Int.random(in: 0..<9, using: &random))"
          _ = try await tickets.put(
            Ticket(id: id, state: Int.random(in: 0..<4, using: &random), title: title))
        }
        // Some of them before the history has the list.
        if number == 40 { _ = try await lists[0].snapshot(at: .sequence(1)) }
        if number % 50 == 40 { _ = try store.recordHistoriesBlocking() }
      }
      for _ in 0..<12 {
        let points = (0..<2).map { _ in
          LogPoint.sequence(UInt64.random(in: 0...store.head.sequence, using: &random))
        }
        var batches: [ListChanges<String, Int>] = []
        for list in lists { batches.append(try await list.changes(from: points[0], to: points[1])) }
        try #require(batches[0] == batches[1], "round \(round), \(points)")
        changed += batches[0].changedItems.count + batches[0].moves.count + batches[0].insertions.count
      }
      #expect(lists[0].statistics.pastListsFromHistory > 5)
      try await store.close()
    }
    #expect(changed > 400)
  }

  @Test
  func `R69 A walk through the past of a kept list gives the batches from each list to the next`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for round in 0..<12 {
      var log = try RandomLog(appends: 40, eventsMax: 9, options: Self.options(&random), &random)
      let lists = Self.lists(log, &random)
      _ = try await lists[0].snapshot(at: .sequence(1))
      _ = try log.store.recordHistoriesBlocking()
      let scrubbers = try lists.map { try $0.scrubber() }
      for _ in 0..<30 {
        if Int.random(in: 0..<6, using: &random) == 0 { try log.append(3, &random) }
        if Int.random(in: 0..<6, using: &random) == 0 { _ = try log.store.recordHistoriesBlocking() }
        let sequence = UInt64.random(in: 0...log.head, using: &random)
        var updates: [ListUpdate<DocumentRow, DocumentValue>] = []
        for scrubber in scrubbers { updates.append(try await scrubber.move(to: .sequence(sequence))) }
        try #require(updates[0].changes == updates[1].changes, "round \(round), to \(sequence)")
        try #require(ArrayList(updates[0].after) == ArrayList(updates[1].after))
        for id in updates[0].after.itemIdentifiers.prefix(4) {
          let rows = updates.map { $0.after.row(for: id) }
          #expect(rows[0]?.revision == rows[1]?.revision && rows[0]?.fields == rows[1]?.fields)
          #expect(updates[0].after.index(of: id) == updates[1].after.index(of: id))
        }
      }
      try await log.store.close()
    }
  }

  @Test
  func `R47 A window of the past is compared by the items that it shows, however many rows changed`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let store = EventStore.inMemory(options: Self.options(&random))
    let tickets = store.collection("ticket", of: Ticket.self)
    let request = ListRequest(Ticket.self).sectioned(by: \.state).sorted(by: \.title)
      .windowed(to: .first(10)).kept(as: "by state")
    for number in 0..<1_000 {
      try await tickets.put(Ticket(id: "\(number % 290)", state: number % 3, title: "\(number * 7 % 11)"))
    }
    let list = FetchController(request, from: tickets)
    // From the first read on, the history has the keys.
    _ = try await list.snapshot(at: .sequence(1))
    _ = try store.recordHistoriesBlocking()
    var rowCount = 0
    for _ in 0..<40 {
      let ends = (0..<2).map { _ in UInt64.random(in: 0...1_000, using: &random) }
      let old = try await list.snapshot(at: .sequence(ends[0])).version
      let new = try await list.snapshot(at: .sequence(ends[1])).version
      let (diff, cost) = ListDiff.found(from: old, to: new)
      if ends[0].distance(to: ends[1]).magnitude > 200 {
        #expect(cost.rows == 0 && cost.items == old.itemCount + new.itemCount, "\(ends): \(cost)")
      }
      let byRows = ListDiff.found(from: old, to: new, rowCountMax: .max)
      #expect(diff == byRows.diff, "from \(ends[0]) to \(ends[1])")
      rowCount += byRows.cost.rows
    }
    #expect(rowCount > 1_000)
    // Nor is every row of a past state read to compare it with the newest one.
    let head = try await list.performFetch().version
    let past = try await list.snapshot(at: .sequence(700)).version
    for (old, new) in [(past, head), (head, past)] {
      let (diff, cost) = ListDiff.found(from: old, to: new)
      #expect(cost.rows == 0 && cost.items == old.itemCount + new.itemCount, "\(cost)")
      #expect(diff == ListDiff.found(from: old, to: new, rowCountMax: .max).diff)
    }
    try await store.close()
  }
}
