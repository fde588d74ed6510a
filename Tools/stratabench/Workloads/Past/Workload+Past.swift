// Measures a kept list at points of the past, as an application reads it, and what its history costs.

internal import Foundation
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

extension Workload {
  /// A store with random changes and one whose rows change soon after they were made.
  static func past(_ bench: Bench) async throws {
    for order in PastShape.Order.allCases {
      let shape = PastShape(eventCount: bench.corpus.count, rowCount: bench.rows, order: order)
      print("  \(shape.name)")
      let store = PastStore(shape, in: bench.stores ?? bench.scratch.path)
      let isNew = try await store.make()
      try await PastTable(
        shape: shape, folder: store.folder, libraries: [StrataPast.self],
        rounds: (bench.rounds * 40, bench.rounds * 4)
      ).run(bench.question)
      if bench.question != nil {
        memory(isNew: isNew)
        if bench.stores == nil { try FileManager.default.removeItem(atPath: store.folder) }
        continue
      }
      try await StrataPast.held(store, bench.rounds * 40)
      try tool(store, bench.rounds * 4)
      let shorter = PastStore(
        PastShape(eventCount: shape.eventCount / 10, rowCount: shape.rowCount, order: order),
        in: bench.stores ?? bench.scratch.path)
      if shorter.isMade {
        try await shorter.make()
        try await PastPair(store, shorter).ask(bench.rounds * 40)
      }
      // Not a multiple of what makes a run.
      try await StrataPast.lastEvents(
        PastShape(
          eventCount: min(103_000, shape.eventCount), rowCount: min(10_000, shape.rowCount), order: order),
        in: bench.scratch.path + "/last-\(order.rawValue)", bench.rounds * 10)
      if bench.stores == nil { try FileManager.default.removeItem(atPath: store.folder) }
    }
    if bench.question == nil { try await incidents(bench) }
  }

  /// What a process that asks one question has resident at most, of both stores. Had it made them, or keys of their list, it
  /// would be what making them takes.
  private static func memory(isNew: Bool) {
    guard !isNew else {
      return report("  resident memory", "keys were made in this process: run it once more")
    }
    guard let memory = ProcessMemory.now() else { return }
    aim("resident memory at most, while it answers", Double(memory.peak) / 1e6, 150, "MB")
  }

  /// The bytes of a history of the documents of a file, each of them once, with a list of their states.
  private static func incidents(_ bench: Bench) async throws {
    guard bench.corpus.isFromFile else { return }
    let path = bench.scratch.fresh("incidents")
    let count = bench.corpus.lines.count
    var bytes: [Int] = []
    for keepsList in [false, true] {
      try? FileManager.default.removeItem(atPath: path)
      let store = try await EventStore.open(at: path, options: StrataPast.options(.all))
      for first in stride(from: 0, to: count, by: 1_000) {
        let draft = bench.corpus.draft(first..<min(first + 1_000, count))
        for result in try store.log.appendBlocking([draft]) { _ = try result.get() }
      }
      let list = try ListRequest(DocumentRow.self).sectioned(byField: FieldPath("status"))
        .sorted(byField: FieldPath("time"), .reverse).kept(as: "by status")
      let documents = store.documents(StrataPast.category)
      if keepsList {
        _ = try await FetchController(list, from: documents).snapshot(at: .sequence(1))
      } else {
        _ = try await documents["none", at: .sequence(1)]
      }
      bytes.append(Int(try store.recordHistoriesBlocking().map(\.byteCount).reduce(0, +)))
      try await store.close()
    }
    print("  \(count) documents of the input")
    let events = Double(count)
    report("  bytes an event, of rows and their keys", String(format: "%.1f", Double(bytes[0]) / events))
    report("  of one kept list", String(format: "%.1f", Double(bytes[1] - bytes[0]) / events))
    report("  of the log", String(format: "%.1f", Double(bytesOnDisk("\(path)/log")) / events))
  }

  /// A whole process that shows the first page of the list at random points.
  private static func tool(_ store: PastStore, _ rounds: Int) throws {
    guard let logreplay = ChildProcess.beside("logreplay") else {
      return report("logreplay is not there", "build it: --product logreplay")
    }
    let (path, view) = (StrataPast.path(in: store.folder), "by product, of fields")
    // Rows of the list that was asked about are a type of this program, which the tool does not have.
    _ = try ChildProcess(
      logreplay,
      [
        "keep", path, view, "--table", StrataPast.category, "--section-by", "product", "--sort", "time:desc",
      ])
    _ = try ChildProcess(logreplay, ["checkpoint", path, "--history"])
    for isCached in [true, false] {
      if isCached { readIntoPageCache(path) }
      let times = try (0..<rounds).map { _ in
        let point = Int.random(in: 1...store.shape.eventCount)
        if !isCached { dropFromPageCache(path) }
        return try ChildProcess(
          logreplay,
          ["at", path, "\(point)", "--view", view, "--limit", "\(PastQuestion.pageLength)"]
        ).seconds
      }
      report(
        "  logreplay at --view, the whole process, \(isCached ? "cached" : "dropped")",
        "\(milliseconds(median(times))) p99 \(milliseconds(percentile(99, times)))")
      if isCached { aim("logreplay at --view", median(times) * 1e3, 60, "ms") }
    }
  }
}
