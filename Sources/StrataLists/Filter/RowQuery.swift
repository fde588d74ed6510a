// A question about rows, answered by an index or by reading all rows.

internal import StrataBase
internal import StrataDocuments
public import StrataTables

/// How a question about rows is answered.
public struct QueryPlan: Sendable, Hashable {
  /// The name of the index that is used; nil if all rows are read.
  public var index: String?
  /// The index's fields that the filter determines or limits.
  public var fields: [FieldPath] = []
  /// The rows that are looked at. A count of what an index has exactly looks at none.
  public var rowsRead: Int
  /// The rows of the table.
  public var rowCount: Int
}

extension QueryPlan: CustomStringConvertible {
  /// A sentence for people.
  public var description: String {
    guard let index else { return "reads all \(rowCount) rows: no index limits them" }
    let fields = fields.map(\.description).joined(separator: ", ")
    return "reads \(rowsRead) of \(rowCount) rows by the index \(index.debugDescription) on \(fields)"
  }
}

/// A filter over the rows of a state, with the index that limits them most.
package struct RowQuery {
  package let table: Table
  private let compiled: CompiledFilter
  private let indexed: Indexed?

  private struct Indexed {
    var view: View
    var plan: IndexPlan
    /// The ranks of the items in the plan's ranges.
    var ranks: [Range<Int>]
    var itemCount: Int
    /// The rows that are to be looked at: those of the ranges, and those that the index cannot take.
    var candidateCount: Int { itemCount + view.problems.count }
  }

  /// Looking a row up costs about as much as passing this number of rows one after another.
  private static let lookupCost = 4

  /// - Parameter isCount: whether only the number of rows is asked for, which an index may have without them.
  ///
  /// O(indexes × ranges × log n).
  package init(_ filter: RowFilter, in table: Table, isCount: Bool = false) {
    self.table = table
    compiled = filter.compiled()
    let best = table.indexes.compactMap { Self.indexed($0, filter) }
      .min { $0.candidateCount < $1.candidateCount }
    guard let best else {
      indexed = nil
      return
    }
    let isCheap = best.candidateCount <= table.count / Self.lookupCost
    indexed = isCheap || isCount && Self.isExact(best) ? best : nil
  }

  private static func indexed(_ view: View, _ filter: RowFilter) -> Indexed? {
    guard let plan = IndexPlan(filter.expression, fields: view.definition.keyFields) else { return nil }
    let ranks = plan.ranges.map { range in
      let lower = range.lower.withUnsafeBytes { view.rank(of: $0) }
      return lower..<max(lower, range.upper.withUnsafeBytes { view.rank(of: $0) })
    }
    return Indexed(view: view, plan: plan, ranks: ranks, itemCount: ranks.reduce(0) { $0 + $1.count })
  }

  /// Whether the number of items is that of the rows.
  private static func isExact(_ indexed: Indexed) -> Bool {
    indexed.plan.isExact && indexed.view.problems.count == 0
  }

  package func plan(isCount: Bool = false) -> QueryPlan {
    guard let indexed else { return QueryPlan(rowsRead: table.count, rowCount: table.count) }
    let definition = indexed.view.definition
    return QueryPlan(
      index: KeptIndex.name(of: definition),
      fields: Array(definition.keyFields.prefix(indexed.plan.fieldCount)),
      rowsRead: isCount && Self.isExact(indexed) ? 0 : indexed.candidateCount, rowCount: table.count)
  }

  /// Lends the rows that pass, ascending by the bytes of their ids.
  package func forEachRow<Failure: Error>(_ body: (RowView) throws(Failure) -> Void) throws(Failure) {
    guard let indexed else {
      return try table.forEachRow { (row) throws(Failure) in
        if compiled.matches(row, section: { .null }) { try body(row) }
      }
    }
    let ids = Self.candidates(indexed)
    table.willRead(ids)
    for id in ids {
      try id.lendBytes { (id) throws(Failure) in
        try table.withRow(id) { (row) throws(Failure) in
          if let row, compiled.matches(row, section: { .null }) { try body(row) }
        }
      }
    }
  }

  /// The id of the first row that passes.
  package func firstID() -> [UInt8]? {
    struct Found: Error { var id: [UInt8] }
    do throws(Found) {
      try forEachRow { (row) throws(Found) in throw Found(id: Array(row.id)) }
    } catch {
      return error.id
    }
    return nil
  }

  /// The number of rows that pass. O(log n) if an index has exactly those.
  package func count() -> Int {
    if let indexed, Self.isExact(indexed) { return indexed.itemCount }
    var count = 0
    forEachRow { _ in count += 1 }
    return count
  }

  /// The ids of the rows that may pass, ascending and each once; nil if those are no fewer than all rows, as far as is known.
  package var candidates: [[UInt8]]? { indexed.map(Self.candidates) }

  private static func candidates(_ indexed: Indexed) -> [[UInt8]] {
    var ids: [[UInt8]] = []
    ids.reserveCapacity(indexed.candidateCount)
    for ranks in indexed.ranks where !ranks.isEmpty {
      indexed.view.forEachItem(in: ranks) { ids.append(Array($0.id)) }
    }
    let problems = indexed.view.problems
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

  /// The name of an index, or of a list that is used as one.
  package static func name(of definition: ViewDefinition) -> String {
    let name = definition.kept?.name ?? ""
    return name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
  }
}
