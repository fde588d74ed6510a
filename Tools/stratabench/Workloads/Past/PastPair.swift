// Asks two stores the same about their past, in turns: whether a log that is longer makes an answer slower.

/// Two stores of as many rows, of which one has more events.
struct PastPair {
  private let stores: (long: PastStore, short: PastStore)

  /// Questions of as much work in a long store as in a short one.
  private static let questions = PastQuestion.all.filter { $0.distance <= 1_000 && $0.aims.cached < 0.1 }

  /// - Parameters: stores that were made.
  init(_ long: PastStore, _ short: PastStore) { stores = (long, short) }

  /// Prints how many times as long the longer one takes: the ratio of the medians, and of the 99th percentiles.
  func ask(_ rounds: Int) async throws {
    print("  beside \(stores.short.shape.name), at points anywhere in both, cached")
    let pair = [stores.long, stores.short]
    for store in pair { readIntoPageCache(StrataPast.path(in: store.folder)) }
    for question in Self.questions {
      var random = FixedGenerator(seed: question.name.utf8.reduce(1) { $0 &* 31 &+ Int($1) })
      var libraries: [StrataPast] = []
      for store in pair { libraries.append(try await StrataPast(store.folder)) }
      var times: [[Double]] = [[], []]
      for _ in 0..<rounds {
        let place = Double.random(in: 0..<1, using: &random)
        for (index, store) in pair.enumerated() {
          let shape = store.shape
          let first = question.distance + 1
          let point = first + Int(place * Double(max(0, shape.eventCount - first)))
          let id = PastRow.firstID + Int.random(in: 0..<shape.rowCount(after: point), using: &random)
          let start = ContinuousClock.now
          _ = try await question.ask(libraries[index], .init(shape: shape, point: point, id: id))
          times[index].append(start.secondsSince)
        }
      }
      for library in libraries { try await library.close() }
      let (medians, slowest) = (times.map(median), times.map { percentile(99, $0) })
      report(
        "  \(question.name)",
        "\(microseconds(medians[0])) to \(microseconds(medians[1])): \(ratio(medians[0], medians[1])) ×, "
          + "p99 \(ratio(slowest[0], slowest[1])) ×, aim 1.50 ×")
    }
  }
}
