// The two stores that the workload of the past compares: one that keeps a history, and one that replays.

internal import Foundation
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// A store that is open twice: once with its history, once as if there was none.
struct PastBench {
  let filled: StateStore
  let kept: EventStore
  let replayed: EventStore
  let rounds: Int

  var name: String { filled.name }
  var eventCount: Int { filled.eventCount }

  /// The number of items that a screen shows.
  static let windowLength = 50

  static var request: StateList.Request { StateList.built.windowed(to: .first(windowLength)) }

  /// Options of a process that keeps no states, so that every read of the past is one of a history or a replay.
  static func options(_ history: StoreHistory) -> StoreOptions {
    var options = StoreOptions()
    options.savesStates = false
    options.history = history
    return options
  }

  /// Fills a store and makes its history, and prints what that takes.
  init(_ bench: Bench, eventCount: Int) async throws {
    rounds = bench.rounds
    let rowCount = max(1, eventCount / 10)
    let path = bench.scratch.fresh("past-\(eventCount)")
    let start = now()
    filled = try await StateStore(path, eventCount: eventCount, rowCount: rowCount)
    let plain = now() - start
    try await Self.importBeside(bench, eventCount, rowCount, plain: plain)
    try await Self.keep(filled)
    kept = try await EventStore.open(at: path, .readOnly, options: Self.options(.all))
    // A folder without the history, as a store of another process has it.
    let copy = bench.scratch.fresh("replayed-\(eventCount)")
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != "derived" {
      try FileManager.default.copyItem(atPath: "\(path)/\(name)", toPath: "\(copy)/\(name)")
    }
    replayed = try await EventStore.open(at: copy, options: Self.options(.off))
    try await StateStore.fold(replayed)
  }

  func close() async throws {
    try await kept.close()
    try await replayed.close()
    for path in [filled.path, replayed.log.layout.root] { try FileManager.default.removeItem(atPath: path) }
  }

  /// The time to append everything while the history is kept in the background, and until it has caught up.
  private static func importBeside(
    _ bench: Bench, _ eventCount: Int, _ rowCount: Int, plain: Double
  ) async throws {
    let path = bench.scratch.fresh("import-\(eventCount)")
    var times: (appended: Double, done: Double) = (0, 0)
    let start = now()
    _ = try await StateStore(path, eventCount: eventCount, rowCount: rowCount, history: .all) { store in
      times.appended = now() - start
      _ = try store.recordHistoriesBlocking()
      times.done = now() - start
    }
    report(
      "  import, and then also beside its history",
      "\(milliseconds(plain)), \(milliseconds(times.appended)), and until that has all \(milliseconds(times.done))"
    )
    try FileManager.default.removeItem(atPath: path)
  }

  private static func keep(_ filled: StateStore) async throws {
    let store = try await EventStore.open(at: filled.path, options: options(.all))
    var made: [HistoryCheckpoint] = []
    let time = try seconds { made = try store.recordHistoriesBlocking() }
    try await store.close()
    let bytes = made.map(\.byteCount).reduce(0, +)
    report("  the historian alone", "\(rate(filled.eventCount, time))   (\(milliseconds(time)))")
    report(
      "  bytes of the history",
      "\(bytes), \(String(format: "%.1f", Double(bytes) / Double(filled.eventCount))) an event, in "
        + "\(made.map(\.runCount).reduce(0, +)) runs; the log has \(bytesOnDisk(filled.layout.log))")
  }

  /// Prints the median and the 99th percentile of what is read from a history, beside those of replays.
  static func compare(_ name: String, _ kept: [Double], _ replayed: [Double]) {
    func figures(_ times: [Double]) -> String {
      guard !times.isEmpty else { return "not measured" }
      return "\(Self.time(median(times))) p99 \(Self.time(percentile(99, times)))"
    }
    let factor = median(replayed) / median(kept)
    report(
      "  \(name)", "\(figures(kept))   replay \(figures(replayed))   \(String(format: "%.1f", factor)) ×")
  }

  private static func time(_ seconds: Double) -> String {
    seconds < 1e-3 ? microseconds(seconds) : milliseconds(seconds)
  }
}
