// The five scenarios of the predecessor's benchmark, P1 to P5, with five thousand rows: from opening a store to rows.

internal import Foundation
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataTables
internal import StrataSimulation

extension Workload {
  private static let count = 5_000
  private static let nearby = 400

  /// A scenario, and the predecessor's time for it on a 2015 iMac, in seconds.
  private struct Scenario {
    var name: String
    var baseline: Double?
    var times: [Double] = []
  }

  /// Opens the store again for each scenario of a round, so that every scenario folds the log; the predecessor kept its
  /// database open.
  static func scenarios(_ bench: Bench) async throws {
    let path = bench.scratch.fresh("scenarios")
    try await ListedEvent.store(of: count, at: path).close()
    var all = [
      Scenario(name: "P1 first row, main actor", baseline: 1.12),
      Scenario(name: "P2 first row, by fields", baseline: 1.09),
      Scenario(name: "P3 first row, background", baseline: 1.11),
      Scenario(name: "P4 all rows, one by one", baseline: 1.36),
      Scenario(name: "  the same by their indexes"),
      Scenario(name: "P5 all rows, 400 nearby", baseline: 1.32),
    ]
    for _ in 0..<bench.rounds {
      all[0].times.append(try await onMainActor(path))
      all[1].times.append(try await timed(path) { try await firstRowByFields($0) })
      all[2].times.append(try await timed(path) { try await firstRow($0) })
      all[3].times.append(try await timed(path) { try await rowsOneByOne($0) })
      all[4].times.append(try await timed(path) { try await rowsByPlace($0) })
      all[5].times.append(try await timed(path) { try await rowsNearby($0) })
    }
    for scenario in all {
      let baseline = scenario.baseline.map { "   predecessor, elsewhere: \(milliseconds($0))" }
      report(scenario.name, milliseconds(median(scenario.times)) + (baseline ?? ""))
    }
    try await initialList(bench)
    try await singleUpdates()
  }

  private static func timed(
    _ path: String, _ body: (EventStore) async throws -> Void
  ) async throws -> Double {
    var opened: EventStore?
    let time = try await seconds {
      let store = try await EventStore.open(at: path)
      try await body(store)
      opened = store
    }
    try await opened?.close()
    return time
  }

  @MainActor private static func onMainActor(_ path: String) async throws -> Double {
    let start = now()
    let store = try await EventStore.open(at: path)
    let list = FetchController(ListedEvent.request, from: store.collection("event", of: ListedEvent.self))
    try await list.performFetch()
    precondition(list.snapshot?.row(at: ListIndex(section: 0, item: 0)) != nil)
    let time = now() - start
    try await store.close()
    return time
  }

  private static func fetch(_ store: EventStore) async throws -> ListSnapshot<ListedEvent, String> {
    try await FetchController(ListedEvent.request, from: store.collection("event", of: ListedEvent.self))
      .performFetch()
  }

  private static func firstRow(_ store: EventStore) async throws {
    let snapshot = try await fetch(store)
    precondition(snapshot.row(at: ListIndex(section: 0, item: 0)) != nil)
  }

  private static func firstRowByFields(_ store: EventStore) async throws {
    let snapshot = try await FetchController(ListedEvent.requestByFields, from: store.documents("event"))
      .performFetch()
    precondition(snapshot.row(at: ListIndex(section: 0, item: 0)) != nil)
  }

  private static func rowsOneByOne(_ store: EventStore) async throws {
    let snapshot = try await fetch(store)
    var latest = Date.distantPast
    for id in snapshot.itemIdentifiers {
      if let row = snapshot.row(for: id) { latest = max(latest, row.timestamp) }
    }
    precondition(latest > .distantPast)
  }

  private static func rowsByPlace(_ store: EventStore) async throws {
    let snapshot = try await fetch(store)
    var latest = Date.distantPast
    for section in 0..<snapshot.numberOfSections {
      for item in 0..<snapshot.numberOfItems(inSectionAt: section) {
        let row = snapshot.row(at: ListIndex(section: section, item: item))
        if let row { latest = max(latest, row.timestamp) }
      }
    }
    precondition(latest > .distantPast)
  }

  /// Reads every row. A row that is not loaded is loaded together with those around it.
  private static func rowsNearby(_ store: EventStore) async throws {
    let snapshot = try await fetch(store)
    var latest = Date.distantPast
    var loaded = 0..<0
    var rows: [ListedEvent] = []
    for place in 0..<snapshot.numberOfItems {
      if !loaded.contains(place) {
        let start = max(0, min(place - nearby / 2, snapshot.numberOfItems - nearby))
        loaded = start..<min(start + nearby, snapshot.numberOfItems)
        rows = try await snapshot.rows(in: loaded)
      }
      latest = max(latest, rows[place - loaded.lowerBound].timestamp)
    }
    precondition(latest > .distantPast)
  }

  /// Measures one append of five thousand rows, and the delivery of their list.
  private static func initialList(_ bench: Bench) async throws {
    let rows = ListedEvent.rows(count)
    var (writing, delivery): ([Double], [Double]) = ([], [])
    for _ in 0..<bench.rounds {
      let store = EventStore.inMemory()
      let events = store.collection("event", of: ListedEvent.self)
      writing.append(try await seconds { try await events.put(rows) })
      delivery.append(
        try await seconds {
          var updates = FetchController(ListedEvent.request, from: events).updates.makeAsyncIterator()
          let update = try await updates.next()
          precondition(update?.after.numberOfItems == count)
        })
      try await store.close()
    }
    report(
      "an initial list of \(count)",
      "\(milliseconds(median(delivery))), after \(milliseconds(median(writing))) to write its rows")
  }

  /// Changes one row five thousand times, and waits for each update.
  private static func singleUpdates() async throws {
    let store = try await ListedEvent.store(of: count)
    let events = store.collection("event", of: ListedEvent.self)
    var rows = ListedEvent.rows(count)
    var array = SortedArray(ListCorpus.rows(count))
    var random = SeededGenerator(seed: 8)
    var updates = FetchController(ListedEvent.request, from: events).updates.makeAsyncIterator()
    _ = try await updates.next()
    var (writing, delivery, peer): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<count {
      let row = ListedEvent.renewed(in: &rows, &random)
      writing.append(try await seconds { try await events.put(row) })
      delivery.append(
        try await seconds {
          let update = try await updates.next()
          precondition(update?.changes.changedItems == [row.id])
        })
      peer.append(
        seconds {
          array.renew(&random)
          _ = array.difference()
        })
    }
    try await store.close()
    report(
      "\(count) updates of one row",
      "\(milliseconds(delivery.reduce(0, +))), \(microseconds(median(delivery))) each, after"
        + " \(microseconds(median(writing))) to write it")
    report(
      "  for comparison: array, difference(from:)",
      "\(milliseconds(peer.reduce(0, +))), \(ratio(medianRatio(peer, to: delivery), 1)) ×")
  }
}
