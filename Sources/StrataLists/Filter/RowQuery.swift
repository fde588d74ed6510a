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
  /// The rows that are looked at.
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
  private let search: IndexSearch?

  /// - Parameter isCount: whether only the number of rows is asked for, which an index may have without them.
  ///
  /// O(indexes × ranges × log n).
  package init(_ filter: RowFilter, in table: Table, isCount: Bool = false) {
    self.table = table
    compiled = filter.compiled()
    let best = IndexSearch(filter, in: table.indexes)
    search = best.flatMap { $0.isWorthwhile(of: table.count) || isCount && $0.isExact ? $0 : nil }
  }

  package func plan() -> QueryPlan {
    guard let search else { return QueryPlan(rowsRead: table.count, rowCount: table.count) }
    return QueryPlan(
      index: search.name, fields: search.fields,
      rowsRead: search.candidateCount, rowCount: table.count)
  }

  /// Lends the rows that pass, ascending by the bytes of their ids.
  package func forEachRow<Failure: Error>(_ body: (RowView) throws(Failure) -> Void) throws(Failure) {
    guard let search else {
      return try table.forEachRow { (row) throws(Failure) in
        if compiled.matches(row, section: { .null }) { try body(row) }
      }
    }
    let ids = search.ids()
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
    if let search, search.isExact { return search.itemCount }
    var count = 0
    forEachRow { _ in count += 1 }
    return count
  }
}
