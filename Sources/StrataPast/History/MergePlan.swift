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
  init(again index: Int, _ level: UInt32) {
    (runs, self.level, isNewBase) = (index..<index + 1, level, false)
  }

  /// One run alone, which is written again with what lived at its begin.
  init(baseAt index: Int) { (runs, level, isNewBase) = (index..<index + 1, Self.baseLevel, true) }

  /// Nil if nothing is to be merged. O(runs).
  ///
  /// - Parameters:
  ///   - known: all runs, in order.
  ///   - rowCount: how many rows there are at their end.
  init?(_ known: [RunFacts], rowCount: UInt64, _ limits: RunLimits, _ bounds: HistoryBounds) {
    let deltas = (known.lastIndex(where: \.isBase) ?? -1) + 1..<known.count
    let changes = known[deltas].reduce(UInt64(0)) { $0.addingSaturated($1.changes) }
    if !deltas.isEmpty, changes >= max(limits.baseChangeCountMin, rowCount.addingSaturated(rowCount)) {
      (runs, level, isNewBase) = (deltas, Self.baseLevel, true)
      return
    }
    isNewBase = false
    let count = max(2, limits.mergedCount)
    var start = 0
    while start < known.count {
      let level = known[start].level
      let end = known[start...].firstIndex { $0.level != level } ?? known.count
      if end - start >= count {
        let range = start..<start + count
        let versions = known[range].reduce(UInt64(0)) { $0.addingSaturated($1.versions) }
        if level < Self.baseLevel
          || versions <= limits.mergedVersionCountMax && bounds.allowsMerging(known[range])
        {
          (runs, self.level) = (range, level + 1)
          return
        }
      }
      start = end
    }
    return nil
  }
}
