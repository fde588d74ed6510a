// Measures how much sealing saves, how long it takes, and how much it slows down concurrent writers.

internal import Foundation
internal import StrataBase
internal import StrataEvents
internal import StrataLog

extension Workload {
  static func seal(_ bench: Bench) async throws {
    for eventsPerAppend in [1, appendSize] {
      let count = eventsPerAppend == 1 ? min(bench.corpus.count, 100_000) : bench.corpus.count
      var times: [Double] = []
      var receipt: SealReceipt?
      for _ in 0..<bench.rounds {
        let store = try await filled(bench, count, eventsPerAppend, seals: false)
        times.append(try await seconds { receipt = try await store.seal() })
        try await store.close()
      }
      guard let receipt else { return }
      let before = Double(receipt.bytesBefore)
      let name = eventsPerAppend == 1 ? "groups of 1 to 64 events" : "appends of \(appendSize) events"
      report(
        name,
        String(
          format: "%.1f → %.1f MB (ratio %.2f), %.0f MB/s of the original bytes", before / 1e6,
          Double(receipt.bytesAfter) / 1e6, Double(receipt.bytesAfter) / before,
          before / 1e6 / median(times)))
    }
    var with: [Double] = []
    var without: [Double] = []
    for _ in 0..<bench.rounds {
      for seals in [true, false] {
        let start = MonotonicTime.now()
        let store = try await filled(bench, bench.corpus.count, appendSize, seals: seals)
        seals ? with.append(start.seconds) : without.append(start.seconds)
        try await store.close()
      }
    }
    report(
      "bulk appends while sealing", with, limit: without, count: bench.corpus.count,
      limitName: "not sealed")
  }

  /// A buffered store, filled by appends of one event from 64 tasks or of many events from four tasks.
  private static func filled(
    _ bench: Bench, _ count: Int, _ eventsPerAppend: Int, seals: Bool
  ) async throws -> EventStore {
    var options = StoreOptions()
    options.durability = .buffered
    options.sealsInBackground = seals
    let store = try await EventStore.open(at: bench.scratch.fresh("seal"), options: options)
    let tasks = eventsPerAppend == 1 ? 64 : 4
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          for start in stride(from: task * eventsPerAppend, to: count, by: tasks * eventsPerAppend) {
            _ = try await store.append(bench.corpus.draft(start..<min(start + eventsPerAppend, count)))
          }
        }
      }
      try await group.waitForAll()
    }
    return store
  }
}
