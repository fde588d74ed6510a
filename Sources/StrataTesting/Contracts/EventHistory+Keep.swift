// A history as a store on disk, for a look at it with the tool.

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataPast

extension EventHistory {
  /// Writes the events into a store in a folder, in place of the one that an earlier run wrote there.
  ///
  /// - Parameter folder: the folder; by default that of the environment variable `CHECK_FAILURES`, or else the
  ///   system's for temporary files.
  /// - Parameter reading: reads from a table of a projection. Its tables are then saved with the store, at every event.
  /// - Returns: lines for a counterexample: where the store is, and how to look at it.
  nonisolated(nonsending) func keep(
    in folder: String?, name: String, reading: (@Sendable (EventStore) async throws -> Void)? = nil
  ) async -> [String] {
    let files = FileManager.default
    let folder =
      folder ?? ProcessInfo.processInfo.environment["CHECK_FAILURES"]
      ?? files.temporaryDirectory.appendingPathComponent("strata-check").path
    let plain = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
    let path = "\(folder)/\(plain).strata"
    do {
      try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
      if files.fileExists(atPath: path) { try files.removeItem(atPath: path) }
      var options = StoreOptions()
      options.history = reading == nil ? .off : .all
      let store = try await EventStore.open(at: path, options: options)
      try await append(to: store)
      let hasTables = if let reading { await saves(of: store, reading) } else { false }
      try await store.close()
      let tables = "the tables of the projection are in it, at each event: logreplay at \(path) \(eventCount)"
      return ["its \(eventCount) events are in a store: logreplay log \(path)"] + (hasTables ? [tables] : [])
    } catch {
      return ["its events could not be written to \(path): \(error)"]
    }
  }

  /// Saves the tables of a store's projections, and their history. Returns whether there are any: a projection that is looked
  /// at because something is wrong with it may have made none, or halt.
  private nonisolated(nonsending) func saves(
    of store: EventStore, _ reading: @Sendable (EventStore) async throws -> Void
  ) async -> Bool {
    guard eventCount > 0, (try? await reading(store)) != nil, (try? await store.checkpoint()) != nil else {
      return false
    }
    let thread = store.machine.thread("strata-check")
    let saved = await thread.result { () throws(StoreError) in
      _ = try store.recordHistoriesBlocking()
      return try SavedTables.all(of: store.log)
    }
    return (try? saved.get())?.contains { !$0.tableNames.isEmpty && $0.history != nil } ?? false
  }
}
