// The sections whose aggregates differ between two lists.

internal import StrataTables

extension DiffFinder {
  /// Adds the sections of both lists whose aggregates differ, also those in which no item changed. O(d log n) for d values
  /// that differ, and O(sections shown) if the lists have other aggregates.
  mutating func findChangedAggregates() {
    guard let oldTotals = old.totals, let newTotals = new.totals,
      oldTotals.plan.identity == newTotals.plan.identity
    else {
      guard old.totals != nil || new.totals != nil else { return }
      // All of them are others, or there are none any longer.
      for index in 0..<new.sectionCount {
        noteAggregated(new.withSection(at: index) { key, _, _ in Array(key) })
      }
      return
    }
    var candidates: Set<[UInt8]> = []
    newTotals.forEachChangedSection(since: oldTotals) { candidates.insert(Array($0)) }
    for section in candidates.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      let isSame = section.withUnsafeBytes { oldTotals.values(in: $0) == newTotals.values(in: $0) }
      if !isSame { noteAggregated(section) }
    }
  }

  private mutating func noteAggregated(_ section: [UInt8]) {
    aggregated.insert(section.withUnsafeBytes { sections.index(of: $0) })
  }
}
