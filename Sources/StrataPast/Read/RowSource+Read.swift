// Reading rows: one by its id, or all of them, now or at a point of the past.

public import StrataEvents
internal import StrataLog
public import StrataTables

extension RowSource {
  /// A row in the newest state, nil if it does not exist. The read sees every append that this store had acknowledged
  /// before the call. O(log n), after the events since the last read are folded in.
  ///
  /// A store that is open for reading starts to follow its writer at its first read, and lags behind it by up to a
  /// fiftieth of a second.
  ///
  /// Throws `undecodable` if the row exists but does not decode as `Item`, or decodes as one with another id.
  public subscript(id: Item.ID) -> Item? {
    get async throws { try await table.row(id.documentID) }
  }

  /// A row as it was at a point, nil if it did not exist then: `incidents["1-364285768", at: .time(monday)]`.
  ///
  /// One read with `StoreOptions.history`. Without, for documents O(events of the one document), read from the blocks of
  /// the log that hold them, and for a table of a projection O(events up to the point).
  ///
  /// Throws what the subscript without a point throws, and `position` if the log does not have the point.
  public subscript(id: Item.ID, at point: LogPoint) -> Item? {
    get async throws { try await table.row(id.documentID, at: point) }
  }

  /// All rows at a point, ordered by the bytes of their ids. O(n); a point other than the head costs a replay, or
  /// with `StoreOptions.history` as much again.
  ///
  /// Throws `undecodable` for the first row that does not decode as `Item`, or decodes as one with another id, and
  /// `position` if the log does not have the point.
  public func all(at point: LogPoint = .head) async throws -> [Item] {
    try await table.all(at: point)
  }

  /// The fields of the rows at a point, by path, each with its most common values: what there is to filter by, and to
  /// choose from. Of objects inside a row, their fields are listed. At most a thousand fields are.
  ///
  /// Two passes over the encoded rows, O(bytes); a point other than the head costs a replay.
  ///
  /// Throws `position` if the log does not have the point.
  ///
  /// - Parameter count: how many values to return for each field.
  public func fields(at point: LogPoint = .head, commonest count: Int = 10) async throws -> [FieldSummary] {
    let rows = try await table.state(at: point)[table.name]
    var counter = FieldCounter()
    rows.forEachRow { counter.add($0.document) }
    counter.beginSecondPass()
    rows.forEachRow { counter.add($0.document) }
    return counter.summaries(commonest: count)
  }
}

extension RowTable {
  /// All items.
  fileprivate func all(at point: LogPoint) async throws -> [Item] {
    let set = try await state(at: point)
    var items: [Item] = []
    do throws(RowProblem) {
      try set[name].forEachRow { (row) throws(RowProblem) in
        items.append(try decoded(row))
      }
    } catch {
      throw StoreError.undecodable(what: error.what)
    }
    return items
  }

  /// A row as an item. A problem says which row has it.
  package func decoded(_ row: RowView) throws(RowProblem) -> Item {
    do throws(RowProblem) { return try decode(row) } catch {
      throw RowProblem(what: "\(name)/\(row.idText): \(error.what)")
    }
  }
}
