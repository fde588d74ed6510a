// Measures states on disk: what a start costs without one and with one, in time and memory, and what it costs to write
// them.

internal import StrataEvents
internal import StrataLog
internal import StrataTables

extension Workload {
  /// A store of as many events as rows and one of ten times as many, each with a kept list of 200 sections, and a store
  /// with an application's own projection.
  static func states(_ bench: Bench) async throws {
    let rowCount = max(1, bench.corpus.count / 10)
    var pages: [Double] = []
    for eventCount in [rowCount, bench.corpus.count] {
      let path = bench.scratch.fresh("states-\(eventCount)")
      var store = try await StateStore(path, eventCount: eventCount, rowCount: rowCount)
      try await firstRows(store, bench.rounds)
      pages.append(try await firstPages(store, bench.rounds))
      if eventCount == bench.corpus.count {
        try pageCaches(store)
        try await updates(&store)
      }
      try await checkpoints(&store)
      try await kill(&store, bench)
      if eventCount == bench.corpus.count {
        try await appendsBesideCheckpoints(&store, bench.rounds)
        try await bytesOfCheckpoints(&store)
      }
    }
    report("first page of a kept list, the longer log to the shorter one", ratio(pages[1], pages[0]))
    try await largeRow(bench)
    try await ownProjection(bench)
  }
}
