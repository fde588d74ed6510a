// The store of a shape: made once, in a folder that later runs use again, and what making it costs.

internal import Foundation
internal import StrataBase
internal import StrataEvents
internal import StrataFetch
internal import StrataLog
internal import StrataPast
internal import StrataTables

struct PastStore {
  let shape: PastShape
  let folder: String

  private var path: String { StrataPast.path(in: folder) }
  /// Says that the folder is whole.
  private var mark: String { "\(folder)/strata-is-whole" }
  var isMade: Bool { FileManager.default.fileExists(atPath: mark) }

  init(_ shape: PastShape, in folder: String) {
    (self.shape, self.folder) = (shape, "\(folder)/\(shape.folder)")
  }

  /// Makes the store unless an earlier run has, and prints what that takes. Returns whether anything was made.
  @discardableResult
  func make() async throws -> Bool {
    guard !isMade else { return try await renew() }
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let alone = try await write(.off)
    let log = bytesOnDisk("\(path)/log")
    let rows = try await record(keepsList: false)
    try FileManager.default.removeItem(atPath: "\(path)/derived/history")
    let list = try await record(keepsList: true)
    report("  the historian, rows and their keys", text(rows))
    report("  the historian with one kept list", text(list))
    let events = Double(shape.eventCount)
    Workload.aim("the historian with one kept list", events / list.seconds / 1e3, 200, "k/s", isLeast: true)
    report(
      "  bytes an event, of rows and their keys",
      String(format: "%.1f; the log has %.1f", rows.bytes / events, Double(log) / events))
    Workload.aim("bytes an event, of rows and their keys", rows.bytes / events, 70, "bytes")
    Workload.aim("bytes an event, of one kept list", (list.bytes - rows.bytes) / events, 30, "bytes")
    try await importBeside(alone)
    _ = FileManager.default.createFile(atPath: mark, contents: nil)
    return true
  }

  /// Makes the keys of the list that this build makes: each build of a program has its own, and a store that an earlier one
  /// made would be read without. Returns whether they were missing.
  private func renew() async throws -> Bool {
    let store = try await EventStore.open(at: path, options: StrataPast.options(.all))
    try await StrataPast.keep(in: store)
    let before = try files()
    _ = try store.recordHistoriesBlocking()
    try await store.close()
    return try files() != before
  }

  /// The names of the files of the history.
  private func files() throws -> Set<String> {
    Set(try FileManager.default.subpathsOfDirectory(atPath: "\(path)/derived/history"))
  }

  /// Writes the log; returns the seconds until it was appended, and until everything was closed.
  private func write(_ history: StoreHistory, to path: String? = nil) async throws -> [Double] {
    let start = now()
    let store = try await EventStore.open(at: path ?? self.path, options: StrataPast.options(history))
    if history != .off { try await StrataPast.keep(in: store) }
    try await StrataPast.append(shape, to: store, keepsHistory: history != .off)
    let appended = now() - start
    if history != .off { _ = try store.recordHistoriesBlocking() }
    let recorded = now() - start
    try await store.close()
    return [appended, recorded]
  }

  /// What it took to make a history.
  private struct Recorded {
    var seconds: Double
    var processorSeconds: Double
    var bytes: Double
  }

  private func text(_ recorded: Recorded) -> String {
    let processor = microseconds(recorded.processorSeconds / Double(shape.eventCount))
    return "\(rate(shape.eventCount, recorded.seconds)), processor time \(processor) an event"
  }

  /// Makes the history, with the keys of the list or without.
  private func record(keepsList: Bool) async throws -> Recorded {
    let store = try await EventStore.open(at: path, options: StrataPast.options(.all))
    let progress = PastProgress("recorded", of: shape.eventCount)
    let (start, processor) = (now(), ProcessorTime.now())
    if keepsList {
      try await StrataPast.keep(in: store)
    } else {
      _ = try await store.documents(StrataPast.category)["none", at: .sequence(1)]
    }
    let made = try store.recordHistoriesBlocking {
      if case .events(let count, _) = $0 { progress.reached(count) }
    }
    let recorded = Recorded(
      seconds: now() - start, processorSeconds: processor.seconds,
      bytes: Double(made.map(\.byteCount).reduce(0, +)))
    try await store.close()
    return recorded
  }

  /// The same import beside the history of the list.
  private func importBeside(_ alone: [Double]) async throws {
    let path = "\(folder)/import"
    try? FileManager.default.removeItem(atPath: path)
    let beside = try await write(.all, to: path)
    try FileManager.default.removeItem(atPath: path)
    report(
      "  import, then beside its history",
      "\(milliseconds(alone[0])), \(milliseconds(beside[0])), and until that has all "
        + milliseconds(beside[1]))
    Workload.aim("import beside its history, to import", beside[0] / alone[0], 2, "×")
  }
}
