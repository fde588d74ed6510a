// Measures a change of one row of a store on disk, until the list and its changes are there.

internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
internal import StrataTables

extension Workload {
  /// The time from the beginning of an append that moves one row to the update of the kept list, which has the snapshot
  /// and the batch: with appends that are synced, and with appends that the system has only been given.
  static func updates(_ filled: inout StateStore) async throws {
    for (name, durability) in [("synced", .synced), ("buffered", .buffered)] as [(String, Durability)] {
      var options = StoreOptions()
      options.durability = durability
      let store = try await EventStore.open(at: filled.path, options: options)
      var updates = StateList.controller(store, StateList.kept).updates.makeAsyncIterator()
      _ = try await updates.next()
      var times: [Double] = []
      var appends: [Double] = []
      for _ in 0..<2_000 {
        let event = filled.move()
        let start = now()
        try await store.append([event])
        appends.append(now() - start)
        let update = try await updates.next()
        times.append(now() - start)
        precondition(update?.changes.count == 1, "an update has the one change")
      }
      try await store.close()
      report(
        "\(filled.name): a change, to snapshot and batch, \(name)",
        "\(microseconds(median(times))), p99 \(microseconds(percentile(99, times)))"
          + "   (of it \(microseconds(median(appends))), p99 \(microseconds(percentile(99, appends))) to append)"
      )
    }
  }
}
