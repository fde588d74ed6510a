// Rows that pass a filter, without a list: all of them, the first one, and how many there are.

internal import StrataBase
public import StrataEvents
public import StrataLists
internal import StrataLog
internal import StrataPast
public import StrataTables

extension RowSource {
  /// The rows that pass a filter at a point, ordered by the bytes of their ids. Only the rows that pass are decoded.
  /// `$section` is null here.
  ///
  /// O(n) without an index. With one that limits the rows, see `index(_:on:)`, O(log n + r log n) for the r rows that the
  /// index leaves. A point other than the head costs a replay, too, unless a history has it.
  ///
  /// Throws `store(.undecodable)` for the first row that passes and does not decode as `Item`, and `store(.position)` if
  /// the log does not have the point.
  public func all(
    where filter: RowFilter, at point: LogPoint = .head
  ) async throws -> [Item] {
    let table = table
    let found = try await table.query(filter, at: point) { query in
      Result { () throws(StoreError) in try table.items(of: query) }
    }
    return try await ListError.wrapping { try found.get() }
  }

  /// The rows that pass a filter, written as a string literal: `all(where: "impact == \(impact)")`. Interpolated
  /// values are literals of the filter and are not parsed.
  ///
  /// Throws `filter` for a syntax error, and what `all(where:at:)` throws.
  public func all(
    where template: FilterTemplate, at point: LogPoint = .head
  ) async throws -> [Item] {
    try await all(where: template.parsed(), at: point)
  }

  /// The rows that pass a filter given as a text, all of which is parsed.
  ///
  /// Throws `filter` for a syntax error, and what `all(where:at:)` throws.
  public func all(
    parsing text: some StringProtocol, at point: LogPoint = .head
  ) async throws -> [Item] {
    try await all(where: FilterTemplate(parsing: text), at: point)
  }

  /// The row that passes a filter and whose id comes first by its bytes; nil if none passes. Costs at most what
  /// `all(where:at:)` costs, and decodes one row.
  ///
  /// Throws what `all(where:at:)` throws.
  public func first(
    where filter: RowFilter, at point: LogPoint = .head
  ) async throws -> Item? {
    let table = table
    let found = try await table.query(filter, at: point) { query in
      Result { () throws(StoreError) in try table.firstItem(of: query) }
    }
    return try await ListError.wrapping { try found.get() }
  }

  /// The same for a filter written as a string literal.
  ///
  /// Throws `filter` for a syntax error, and what `all(where:at:)` throws.
  public func first(
    where template: FilterTemplate, at point: LogPoint = .head
  ) async throws -> Item? {
    try await first(where: template.parsed(), at: point)
  }

  /// The number of rows that pass a filter at a point. No row is decoded, and none is read if an index has exactly the
  /// rows that pass: then O(log n), however many there are.
  ///
  /// Throws `store(.position)` if the log does not have the point.
  public func count(
    where filter: RowFilter, at point: LogPoint = .head
  ) async throws -> Int {
    try await table.query(filter, at: point, isCount: true) { $0.count() }
  }

  /// The same for a filter written as a string literal.
  ///
  /// Throws `filter` for a syntax error, and what `count(where:at:)` throws.
  public func count(
    where template: FilterTemplate, at point: LogPoint = .head
  ) async throws -> Int {
    try await count(where: template.parsed(), at: point)
  }

  /// How `all(where:at:)` would be answered now: by which index, and how many rows it would look at. `count(where:at:)` may
  /// look at none of them.
  ///
  /// Throws `store(.position)` if the log does not have the point.
  public func explain(
    where filter: RowFilter, at point: LogPoint = .head
  ) async throws -> QueryPlan {
    try await table.query(filter, at: point) { $0.plan() }
  }

  /// The same for a filter written as a string literal.
  ///
  /// Throws `filter` for a syntax error, and what `explain(where:at:)` throws.
  public func explain(
    where template: FilterTemplate, at point: LogPoint = .head
  ) async throws -> QueryPlan {
    try await explain(where: template.parsed(), at: point)
  }
}

extension FilterTemplate {
  fileprivate func parsed() throws -> RowFilter {
    do throws(FilterError) { return try RowFilter(self) } catch { throw ListError.filter(error) }
  }
}

extension RowTable {
  /// What is made of a question about the rows at a point.
  fileprivate func query<Result: Sendable>(
    _ filter: RowFilter, at point: LogPoint, isCount: Bool = false,
    _ body: @escaping @Sendable (RowQuery) -> Result
  ) async throws -> Result {
    try await ListError.wrapping {
      guard point != .head else {
        let set = try await state(at: .head)
        return body(RowQuery(filter, in: set[name], isCount: isCount))
      }
      let found = await store.machine.reads.result { () throws(StoreError) in
        try store.sequenceBlocking(of: point)
      }
      let sequence = try found.get()
      // Without the history, an index of the past would be built from all rows.
      let index = indexesOfHistory(at: sequence)
        .compactMap { index in
          IndexPlan(filter.expression, fields: index.keyFields).map { (index, $0.fieldCount) }
        }
        .max { $0.1 < $1.1 }?.0
      return try await store.withStates(
        at: [.sequence(sequence)], folding, view: index.map { (name, $0) }, findsChains: false
      ) { [name] sets in body(RowQuery(filter, in: sets[0][name], isCount: isCount)) }
    }
  }

  fileprivate func items(of query: RowQuery) throws(StoreError) -> [Item] {
    var items: [Item] = []
    do throws(RowProblem) {
      try query.forEachRow { (row) throws(RowProblem) in items.append(try decoded(row)) }
    } catch {
      throw .undecodable(what: error.what)
    }
    return items
  }

  fileprivate func firstItem(of query: RowQuery) throws(StoreError) -> Item? {
    var first: Item?
    do throws(RowProblem) {
      guard let id = query.firstID() else { return nil }
      first = try id.lendBytes { (id) throws(RowProblem) in
        try query.table.withRow(id) { (row) throws(RowProblem) in
          guard let row else { return nil }
          return try decoded(row)
        }
      }
    } catch {
      throw .undecodable(what: error.what)
    }
    return first
  }
}
