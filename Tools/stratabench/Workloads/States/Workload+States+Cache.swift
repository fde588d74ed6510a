// Measures a page cache that holds a quarter of a state: its memory and its speed, beside one that holds everything.

internal import Foundation
internal import StrataEvents
internal import StrataLog

extension Workload {
  /// 100,000 random rows, and then every row in the order of the list, read by a process with a page cache of a quarter
  /// of the bytes that the state has on disk, and by one whose cache has no bound. The resident memory may be that of a
  /// process that has opened nothing, the cache, and 64 MiB.
  static func pageCaches(_ filled: StateStore) throws {
    let bytes = bytesOnDisk(filled.layout.states)
    var times: [String: Double] = [:]
    for (name, cache) in [("of a quarter of the state", bytes / 4), ("without a bound", 1 << 40)] {
      let figures = try StateProbe.read(filled.path, count: 100_000, cache: cache)
      let bound = (figures["base"] ?? 0) + Double(cache)
      let title = "\(filled.name): a page cache \(name)"
      report(title, cache < bytes ? mebibytes(Double(cache)) : "for comparison")
      for (key, what) in [("reads", "100000 random rows"), ("walk", "a walk through all rows")] {
        let time = figures[key] ?? .nan
        let beside = times[key].map { "   the quarter takes \(ratio($0, time)) × as long" } ?? ""
        times[key] = time
        report("  \(what)", milliseconds(time) + beside)
      }
      report(
        "  pages read, and bytes in the cache at the end",
        "\(Int(figures["pages"] ?? 0)), \(mebibytes(figures["cached"] ?? .nan))")
      guard let resident = figures["resident"], let peak = figures["peak"] else { continue }
      report(
        "  resident memory",
        "\(mebibytes(resident)) at the end, at most \(mebibytes(peak)), "
          + "\(mebibytes(figures["base"] ?? .nan)) before the store was opened")
      if cache < bytes { aim("beyond process and cache", (peak - bound) / Double(1 << 20), 64, "MiB") }
    }
  }
}
