// Rows that pass a filter, without a list.

public import StrataEvents
public import StrataLists
internal import StrataPast
public import StrataTables

extension RowSource {
  /// The rows that pass a filter at a point, ordered by the bytes of their ids. O(n); a point other than the head
  /// costs a replay, too, unless a history has it. Only the rows that pass are decoded. `$section` is null here.
  ///
  /// Throws `store(.undecodable)` for the first row that passes and does not decode as `Item`, and `store(.position)` if
  /// the log does not have the point.
  public func all(
    where filter: RowFilter, at point: LogPoint = .head
  ) async throws -> [Item] {
    let compiled = filter.compiled()
    return try await ListError.wrapping {
      try await table.all(at: point) { row in compiled.matches(row) { .null } }
    }
  }

  /// The rows that pass a filter, written as a string literal: `all(where: "impact == \(impact)")`. Interpolated
  /// values are literals of the filter and are not parsed.
  ///
  /// Throws `filter` for a syntax error, and what `all(where:at:)` throws.
  public func all(
    where template: FilterTemplate, at point: LogPoint = .head
  ) async throws -> [Item] {
    let filter: RowFilter
    do throws(FilterError) { filter = try RowFilter(template) } catch { throw ListError.filter(error) }
    return try await all(where: filter, at: point)
  }

  /// The rows that pass a filter given as a text, all of which is parsed.
  ///
  /// Throws `filter` for a syntax error, and what `all(where:at:)` throws.
  public func all(
    parsing text: some StringProtocol, at point: LogPoint = .head
  ) async throws -> [Item] {
    try await all(where: FilterTemplate(parsing: text), at: point)
  }
}
