// Reading documents: one by its id, or all of them.

public import StrataEvents
internal import StrataLog

extension DocumentCollection {
  /// A document in the newest state, nil if it does not exist. The read sees every append that this store had
  /// acknowledged before the call. O(log n), after the events since the last read are folded in.
  ///
  /// A store that is open for reading starts to follow its writer at its first read, and lags behind it by up to a
  /// fiftieth of a second.
  ///
  /// Throws `invalid` if the document exists but does not decode as `Item`, or decodes as one with another id.
  public subscript(id: Item.ID) -> Item? {
    get async throws { try await table.row(id.documentID) }
  }

  /// All documents at a point, ordered by the bytes of their ids. O(n); a point other than the head costs a replay.
  ///
  /// Throws `invalid` for the first document that does not decode as `Item`, or decodes as one with another id.
  public func all(at point: LogPoint = .head) async throws -> [Item] {
    try await all(at: point) { _ in true }
  }

  /// All documents whose rows satisfy a predicate.
  package func all(
    at point: LogPoint, where passes: (RowView) -> Bool
  ) async throws -> [Item] {
    let (source, set) = (table, try await table.state(at: point))
    var items: [Item] = []
    do throws(RowProblem) {
      try set[category].forEachRow { (row) throws(RowProblem) in
        guard passes(row) else { return }
        do throws(RowProblem) { items.append(try source.decode(row)) } catch {
          throw RowProblem(what: "\(category)/\(row.idText): \(error.what)")
        }
      }
    } catch {
      throw StoreError.invalid(what: error.what)
    }
    return items
  }
}
