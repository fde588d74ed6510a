// Measures a list at points of the past: Strata with a kept list and a history, and SQLite with a table of all versions
// and a covering index.
//
// Both have the same rows and give the same answers, through public interfaces, in turns. Strata also finds the indexes
// of what changed at both points, which SQLite would have to count for each row.

internal import Foundation
internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataTables

@main
struct PastLists {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let numbers = arguments.compactMap { Int($0) }
    guard numbers.count == arguments.count, numbers.allSatisfy({ $0 > 0 }), numbers.count <= 3 else {
      FileHandle.standardError.write(Data("usage: PastLists [ROUNDS [EVENTS [ROWS]]]\n".utf8))
      exit(64)
    }
    let rounds = numbers.first ?? 15
    let eventCount = numbers.count > 1 ? numbers[1] : 1_000_000
    let rowCount = numbers.count > 2 ? numbers[2] : max(1, eventCount / 10)
    let given = ProcessInfo.processInfo.environment["PAST_STORES"]
    let root =
      given
      ?? FileManager.default.temporaryDirectory
      .appendingPathComponent("past-lists-\(ProcessInfo.processInfo.processIdentifier)").path
    defer { if given == nil { try? FileManager.default.removeItem(atPath: root) } }
    for order in PastShape.Order.allCases {
      let shape = PastShape(eventCount: eventCount, rowCount: rowCount, order: order)
      print("\n\(shape.name)")
      let folder = "\(root)/\(shape.folder)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try await make(shape, in: folder)
      report(
        "  bytes an event, all files",
        [StrataPast.path(in: folder), SQLitePast.path(in: folder)]
          .map { String(format: "%.1f", Double(bytesOnDisk($0)) / Double(eventCount)) }
          .joined(separator: "   "))
      report("  events after the end of the history", "\(try await StrataPast.uncoveredCount(in: folder))")
      try await PastTable(
        shape: shape, folder: folder, libraries: [StrataPast.self, SQLitePast.self],
        rounds: (rounds * 10, rounds)
      ).run()
    }
  }

  /// Makes the store and the database unless an earlier run has.
  private static func make(_ shape: PastShape, in folder: String) async throws {
    try await once("\(folder)/strata-is-whole", StrataPast.path(in: folder)) {
      let store = try await EventStore.open(
        at: StrataPast.path(in: folder), options: StrataPast.options(.all))
      try await StrataPast.keep(in: store)
      try await StrataPast.append(shape, to: store, keepsHistory: true)
      try await store.close()
    }
    // Each build has keys of its own: of a store that another one made, it makes them now.
    let store = try await EventStore.open(
      at: StrataPast.path(in: folder), options: StrataPast.options(.all))
    try await StrataPast.awaitHistory(of: store, in: folder)
    try await store.close()
    try await once("\(folder)/sqlite-is-whole", SQLitePast.path(in: folder)) {
      try await SQLitePast.fill(shape, in: folder)
    }
  }

  private static func once(_ mark: String, _ path: String, _ body: () async throws -> Void) async throws {
    guard !FileManager.default.fileExists(atPath: mark) else { return }
    try? FileManager.default.removeItem(atPath: path)
    try await body()
    _ = FileManager.default.createFile(atPath: mark, contents: nil)
  }
}

extension StrataPast {
  /// The events that may be too few for a run.
  private static let restCount: UInt64 = 4_096

  /// The number of events that are in no run: the lists after them are replayed from the end of the history.
  static func uncoveredCount(in folder: String) async throws -> UInt64 {
    let past = try await StrataPast(folder)
    _ = try await past.counts(at: 1)
    let reached = past.store.projections.map(\.historySequence).max() ?? 0
    let count = past.store.head.sequence - min(reached, past.store.head.sequence)
    try await past.close()
    return count
  }

  /// Waits until the history has all but the last events, and the list at each of them, and its files no longer change.
  static func awaitHistory(of store: EventStore, in folder: String) async throws {
    var bytes = -1
    while true {
      // A read of the past has it go on.
      try await keep(in: store)
      let now = bytesOnDisk("\(path(in: folder))/derived/history")
      let isWhole = store.projections.contains { projection in
        projection.historySequence + restCount > store.head.sequence
          && projection.historyLists.contains { $0.name == view && $0.firstSequence == 1 }
      }
      if isWhole, now == bytes { return }
      bytes = now
      try await Task.sleep(for: .seconds(1))
    }
  }
}
