// Reading documents: by id, and all of them.

public import StrataEvents
internal import StrataLog

extension DocumentCollection {
  /// A document as the newest state has it, nil where there is none. It sees every append that this store had
  /// acknowledged before the call. O(log n), after the events since the last read are folded in.
  ///
  /// A store that is open for reading begins with its first read to look at what its writer appends, and is
  /// behind it by up to a fiftieth of a second.
  ///
  /// Throws `invalid` where the document is there and does not decode as `Item`, or decodes as one with another id.
  public subscript(id: Item.ID) -> Item? {
    get async throws { try await table.row(id.documentID) }
  }

  /// All documents at a point, by the bytes of their ids. O(n); a point other than the head costs a replay.
  ///
  /// Throws `invalid` for the first document that does not decode as `Item`, or decodes as one with another id.
  public func all(at point: LogPoint = .head) async throws -> [Item] {
    try await all(at: point) { _ in true }
  }

  /// All documents that pass.
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
