// The rows that an index leaves of those that a filter may take.

internal import StrataBase
package import StrataTables

/// The part of an index that holds what a filter takes.
package struct IndexSearch {
  private let view: View
  private let plan: IndexPlan
  /// The ranks of the items in the plan's ranges.
  private let ranks: [Range<Int>]
  let itemCount: Int

  /// Looking a row up costs about as much as passing this number of rows one after another.
  private static let lookupCost = 4

  /// Of some indexes, the one that leaves the fewest rows; nil if none is over fields that the filter limits.
  /// O(indexes × ranges × log n).
  package init?(_ filter: RowFilter, in indexes: [View]) {
    let found = indexes.compactMap { IndexSearch(filter, $0) }
    guard let best = found.min(by: { $0.candidateCount < $1.candidateCount }) else { return nil }
    self = best
  }

  private init?(_ filter: RowFilter, _ view: View) {
    guard let plan = IndexPlan(filter.expression, fields: view.definition.keyFields) else { return nil }
    (self.view, self.plan) = (view, plan)
    ranks = plan.ranges.map { range in
      let lower = range.lower.withUnsafeBytes { view.rank(of: $0) }
      return lower..<max(lower, range.upper.withUnsafeBytes { view.rank(of: $0) })
    }
    itemCount = ranks.reduce(0) { $0 + $1.count }
  }

  var name: String { KeptIndex.name(of: view.definition.kept) }

  /// The fields of the index that the filter determines or limits.
  var fields: [FieldPath] { Array(view.definition.keyFields.prefix(plan.fieldCount)) }

  /// The number of rows that are to be looked at: those of the ranges, and those that the index cannot take.
  package var candidateCount: Int { itemCount + view.problems.count }

  /// Whether the number of items is that of the rows that pass.
  var isExact: Bool { plan.isExact && view.problems.count == 0 }

  /// Whether looking up the rows costs less than reading all rows of the table.
  package func isWorthwhile(of rowCount: Int) -> Bool { candidateCount <= rowCount / Self.lookupCost }

  /// The ids of the rows that are to be looked at, ascending and each once.
  package func ids() -> [[UInt8]] {
    var ids: [[UInt8]] = []
    ids.reserveCapacity(candidateCount)
    for ranks in ranks where !ranks.isEmpty {
      view.forEachItem(in: ranks) { ids.append(Array($0.id)) }
    }
    let problems = view.problems
    problems.forEach(in: 0..<problems.count) { id, _ in ids.append(Array(id)) }
    ids.sort { a, b in a.withUnsafeBytes { a in b.withUnsafeBytes { b in a.order(b) < 0 } } }
    return ids.indices.filter { $0 == 0 || ids[$0 - 1] != ids[$0] }.map { ids[$0] }
  }
}

/// Indexes among the kept lists of a table.
package enum KeptIndex {
  private static let prefix = "index: "

  /// The name that an index is kept under, which is that of no list that somebody keeps by accident.
  package static func keptName(_ name: String) -> String { prefix + name }

  /// The name of an index, or of a kept list that is used as one.
  package static func name(of kept: KeptView?) -> String {
    let name = kept?.name ?? ""
    return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
  }
}
