// Measures many tasks that update one document, in wall-clock time.

internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataTables

extension Workload {
  private struct Counter: Codable, Identifiable, Sendable {
    var id = "a"
    var count = 0
  }

  /// Measures 64 tasks that update one document of a store in memory. Every update must succeed.
  static func updatesOfOneDocument(rounds: Int) async throws {
    let (taskCount, updateCount) = (64, 32)
    var rates: [Double] = []
    for _ in 0..<rounds {
      let counters = EventStore.inMemory().collection("counter", of: Counter.self)
      try await counters.put(Counter())
      let start = ContinuousClock.now
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<taskCount {
          group.addTask {
            for _ in 0..<updateCount { try await counters.update("a") { $0.count += 1 } }
          }
        }
        try await group.waitForAll()
      }
      let time = ContinuousClock.now - start
      guard try await counters["a"]?.count == taskCount * updateCount else {
        throw StoreError.invalid(what: "updates of one document were lost")
      }
      rates.append(Double(taskCount * updateCount) / (time / .seconds(1)))
    }
    report("\(taskCount) tasks that update one document", "\(Int(median(rates))) updates/s, none rejected")
  }
}
