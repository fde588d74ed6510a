// What a list costs where the history has not been written yet.

internal import Foundation
internal import StrataEvents
internal import StrataLog
internal import StrataTables

extension StrataPast {
  /// Pages of the list at events that are in no run, in the process that appended them.
  static func lastEvents(_ shape: PastShape, in folder: String, _ rounds: Int) async throws {
    let store = try await EventStore.open(at: folder, options: options(.all))
    let past = try StrataPast(store)
    try await append(shape, to: store, keepsHistory: true)
    try await keep(in: store)
    // The history follows in the background.
    var written = -1
    while true {
      let now = store.projections.map(\.historySequence).max().map { Int($0) } ?? 0
      if now == written, shape.eventCount - now < 16_384 { break }
      written = now
      try await Task.sleep(for: .milliseconds(300))
    }
    let unwritten = shape.eventCount - written
    func page(_ point: Int) async throws -> Double {
      let start = ContinuousClock.now
      _ = try await past.ids(0..<PastQuestion.pageLength, at: point)
      return start.secondsSince
    }
    let first = try await page(shape.eventCount)
    let others = try await mapped(0..<rounds) { _ in
      try await page(Int.random(in: written + 1...shape.eventCount))
    }
    report(
      "  first page, \(unwritten) events after the last run",
      "the first time \(milliseconds(first)), then \(milliseconds(median(others)))")
    try await store.close()
  }

  private static func mapped<Value>(
    _ range: Range<Int>, _ body: (Int) async throws -> Value
  ) async rethrows -> [Value] {
    var values: [Value] = []
    for number in range { values.append(try await body(number)) }
    return values
  }
}
