// Which runs of a history are merged next.

internal import StrataBase
internal import StrataLog

/// Runs that are written again as one.
struct MergePlan: Equatable {
  /// The level of the first bases, which no delta reaches.
  private static let baseLevel: UInt32 = 1_000

  var runs: Range<Int>
  var level: UInt32
  var isNewBase: Bool

  /// One run alone, which is written again as it is.
  init(again index: Int, _ manifest: HistoryManifest) {
    (runs, level, isNewBase) = (index..<index + 1, manifest.runs[index].level, false)
  }

  /// One run alone, which is written again with what lived at its begin.
  init(baseAt index: Int) { (runs, level, isNewBase) = (index..<index + 1, Self.baseLevel, true) }

  /// Nil if nothing is to be merged.
  init?(_ set: RunSet, _ manifest: HistoryManifest, rowCount: UInt64, _ options: StoreOptions) {
    let (limits, bounds) = (options.runLimits, options.history.bounds)
    let deltas = (set.runs.lastIndex { $0.root.isBase } ?? -1) + 1..<set.runs.count
    let changes = set.runs[deltas].reduce(UInt64(0)) { $0.addingSaturated($1.root.counts.changes) }
    if !deltas.isEmpty, changes >= max(limits.baseChangeCountMin, rowCount.addingSaturated(rowCount)) {
      (runs, level, isNewBase) = (deltas, Self.baseLevel, true)
      return
    }
    isNewBase = false
    let count = max(2, limits.mergedCount)
    var start = 0
    while start < manifest.runs.count {
      let level = manifest.runs[start].level
      let end = manifest.runs[start...].firstIndex { $0.level != level } ?? manifest.runs.count
      if end - start >= count {
        let range = start..<start + count
        let versions = set.runs[range].reduce(UInt64(0)) { $0.addingSaturated($1.root.versionCount) }
        let isAllowed =
          versions <= limits.mergedVersionCountMax
          && bounds.allowsMerging(
            set.runs[range], from: set.runs[start].root.time, to: manifest.runs[range.upperBound - 1].time)
        if level < Self.baseLevel || isAllowed {
          (runs, self.level) = (range, level + 1)
          return
        }
      }
      start = end
    }
    return nil
  }
}
