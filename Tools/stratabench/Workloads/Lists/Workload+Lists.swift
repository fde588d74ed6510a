// Measures lists: one change and many, unrelated lists, first fetches, and the predecessor's scenarios.

internal import Foundation
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataTables
internal import StrataSimulation

extension Workload {
  static func lists(_ bench: Bench) async throws {
    try oneChange(bench)
    try await manyCommits(bench)
    try unrelatedLists(bench)
    try await firstFetches(bench)
    try await scenarios(bench)
  }

  // MARK: One change

  /// Measures one change in lists of several sizes, which take turns: applying it, publishing it, and computing the
  /// batch.
  private static func oneChange(_ bench: Bench) throws {
    let sizes = [100, 1_000, 10_000, 100_000, 1_000_000]
    let perRound = 200
    var lists = try sizes.map { try MeasuredList(ListCorpus.rows($0)) }
    var arrays = sizes.map { SortedArray(ListCorpus.rows($0)) }
    var shown = lists.map { $0.version() }
    var times = [[Double]](repeating: [], count: sizes.count)
    var applying = times
    var array = times
    var difference = times
    var random = SeededGenerator(seed: 3)
    for _ in 0..<bench.rounds {
      for index in sizes.indices {
        var round: (whole: [Double], applying: [Double]) = ([], [])
        for _ in 0..<perRound {
          let change = lists[index].renewal(&random)
          let start = now()
          lists[index].apply(change)
          let applied = now()
          let new = lists[index].version()
          let batch = ListDiff(from: shown[index], to: new)
          round.whole.append(now() - start)
          round.applying.append(applied - start)
          precondition(batch.moves.count + batch.updates.count == 1)
          shown[index] = new
        }
        times[index].append(median(round.whole))
        applying[index].append(median(round.applying))
      }
      // After all lists, because a pass over a million rows of an array evicts everything else from the caches.
      for (index, size) in sizes.enumerated() {
        var peer: (array: [Double], difference: [Double]) = ([], [])
        for _ in 0..<(size > 10_000 ? 1 : 10) {
          peer.array.append(seconds { arrays[index].renew(&random) })
          peer.difference.append(seconds { precondition(arrays[index].difference().count <= 2) })
        }
        array[index].append(median(peer.array))
        difference[index].append(median(peer.difference))
      }
    }
    for (index, size) in sizes.enumerated() {
      report(
        "one change in \(size)",
        "\(microseconds(median(times[index]))) to snapshot and batch"
          + " (of it \(microseconds(median(applying[index]))) to apply)"
          + "   \(ratio(medianRatio(times[index], to: times[0]), 1)) × that of a hundred")
      report(
        "  for comparison: sorted array",
        "\(microseconds(median(array[index]))), \(ratio(medianRatio(array[index], to: times[index]), 1)) ×")
      report(
        "  and difference(from:)",
        "\(microseconds(median(difference[index]))),"
          + " \(ratio(medianRatio(difference[index], to: times[index]), 1)) ×")
    }
    let last = sizes.count - 1
    aim("at a million", median(times[last]) * 1e6, 10, "µs")
    aim("from a hundred to a million", medianRatio(times[last], to: times[0]), 4, "×")
  }

  static func aim(
    _ name: String, _ figure: Double, _ aim: Double, _ unit: String, isLeast: Bool = false
  ) {
    let isMet = isLeast ? figure >= aim : figure <= aim
    report(
      "  aim \(name)",
      String(format: "%.1f %@ of %.0f %@: %@", figure, unit, aim, unit, isMet ? "met" : "missed"))
  }

  // MARK: Many commits as one batch

  private static func manyCommits(_ bench: Bench) async throws {
    let (size, commits) = (100_000, 1_000)
    var list = try MeasuredList(ListCorpus.rows(size))
    var array = SortedArray(ListCorpus.rows(size))
    var random = SeededGenerator(seed: 5)
    var one: [Double] = []
    var each: [Double] = []
    var peer: [Double] = []
    for _ in 0..<max(3, bench.rounds / 3) {
      let first = list.version()
      var versions = [first]
      for _ in 0..<commits {
        let change = list.renewal(&random)
        list.apply(change)
        versions.append(list.version())
        array.renew(&random)
      }
      one.append(
        seconds { precondition(ListDiff(from: first, to: versions[commits]).moves.count <= commits) })
      each.append(
        seconds {
          for (old, new) in zip(versions, versions.dropFirst()) {
            precondition(ListDiff(from: old, to: new).moves.count <= 1)
          }
        })
      peer.append(seconds { precondition(!array.difference().isEmpty) })
    }
    report("\(commits) commits in \(size), one batch", milliseconds(median(one)))
    report(
      "  one batch per commit instead",
      "\(milliseconds(median(each))), \(ratio(medianRatio(each, to: one), 1)) ×"
    )
    report(
      "  for comparison: difference(from:)",
      "\(milliseconds(median(peer))), \(ratio(medianRatio(peer, to: one), 1)) ×")
    let (writing, next) = try await manyCommitsOfStore(size, commits, rounds: max(3, bench.rounds / 3))
    report(
      "  a store in memory, and one next()",
      "\(milliseconds(median(next))) to fold them and compute the changes,"
        + " after \(milliseconds(median(writing))) of writing")
  }

  /// Measures a consumer that waits for a thousand appends and then requests the changes.
  private static func manyCommitsOfStore(
    _ size: Int, _ commits: Int, rounds: Int
  ) async throws -> (writing: [Double], next: [Double]) {
    let store = try await ListedEvent.store(of: size)
    let events = store.collection("event", of: ListedEvent.self)
    var rows = ListedEvent.rows(size)
    var updates = FetchController(ListedEvent.request, from: events).updates.makeAsyncIterator()
    _ = try await updates.next()
    var random = SeededGenerator(seed: 6)
    var times: (writing: [Double], next: [Double]) = ([], [])
    for _ in 0..<rounds {
      times.writing.append(
        try await seconds {
          for _ in 0..<commits { try await events.put(ListedEvent.renewed(in: &rows, &random)) }
        })
      times.next.append(
        try await seconds {
          // The follower may have received the first of them before it became idle.
          var count = 0
          while count < commits * 9 / 10 { count += try await updates.next()?.changes.count ?? commits }
        })
    }
    try await store.close()
    return times
  }
}
