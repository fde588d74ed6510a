// Measures a consumer whose effects are in the store: each append on its own, and in batches.

internal import Foundation
internal import StrataEvents
internal import StrataLog

extension Workload {
  /// Writes single appends by 512 tasks, and handles them in each round with an effect for each event: a part of them
  /// one by one, and all in batches.
  static func consumers(_ bench: Bench) async throws {
    let count = 20_000
    let store = try await EventStore.open(at: bench.scratch.fresh("consumers"))
    let writing = try await seconds {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<512 {
          group.addTask {
            for number in stride(from: task, to: count, by: 512) {
              try await store.append([
                NewEvent("order", in: "order/\(number % 100)", ["number": .int(Int64(number))])
              ])
            }
          }
        }
        try await group.waitForAll()
      }
    }
    report("written, by 512 tasks", rate(count, writing))
    var figures: [Int: [Double]] = [:]
    let (sizes, single) = ([1, 16, 256], 1_000)
    for round in 0..<bench.rounds {
      for size in sizes {
        var options = ConsumerOptions()
        options.selection = .types("order")
        options.batchCount = size
        let consumer = store.consumer("round \(round) by \(size)", options)
        let expected = size == 1 ? single : count
        var handled = 0
        let time = try await seconds {
          do {
            try await consumer.run(until: .caughtUp) { append, batch in
              if handled == expected { throw CancellationError() }
              for event in append.events {
                try batch.append(
                  NewEvent("done", in: "done/\(handled % 100)", ["of": .int(Int64(event.sequence))]))
              }
              handled += 1
            }
          } catch is CancellationError {}
        }
        precondition(handled == expected)
        figures[size, default: []].append(time / Double(expected))
      }
    }
    let one = figures[1] ?? []
    for size in sizes {
      let times = figures[size] ?? []
      report(
        "handled, in batches of \(size)",
        "\(rate(1, median(times)))   \(ratio(medianRatio(one, to: times), 1)) ×")
    }
    aim("with batches of 256", 1 / median(figures[256] ?? []), 20_000, "events/s", isLeast: true)
    try await store.close()
  }

  private static func rate(_ count: Int, _ seconds: Double) -> String {
    String(format: "%.0f events/s", Double(count) / seconds)
  }
}
