// What a list costs where the history has not been written yet.

internal import Foundation
internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataTables

extension StrataPast {
  /// Pages of the list at events that are in no run, in the process that appended them.
  static func lastEvents(_ shape: PastShape, in folder: String, _ rounds: Int) async throws {
    let store = try await EventStore.open(at: folder, options: options(.all))
    let past = try StrataPast(store)
    try await append(shape, to: store, keepsHistory: true)
    try await keep(in: store)
    // The history follows in the background, until what is left is too little for a run.
    var written = -1
    while true {
      let now = store.projections.map(\.historySequence).max().map { Int($0) } ?? 0
      if now == written { break }
      written = now
      try await Task.sleep(for: .seconds(1))
    }
    let unwritten = shape.eventCount - written
    guard unwritten > 0 else { return try await store.close() }
    var times: [Double] = []
    for round in 0...rounds {
      let point = round == 0 ? shape.eventCount : Int.random(in: written + 1...shape.eventCount)
      let start = ContinuousClock.now
      _ = try await past.ids(0..<PastQuestion.pageLength, at: point)
      times.append(start.secondsSince)
    }
    report(
      "  first page, \(unwritten) events after the last run",
      "the first time \(milliseconds(times[0])), then \(milliseconds(median(Array(times.dropFirst()))))")
    try await store.close()
  }
}
