// Which rows the events between two points changed.

internal import StrataBase
public import StrataEvents
internal import StrataLog
public import StrataTables

extension RowSource {
  /// The ids of the rows that the events between two points changed, each once, in the order of their bytes: what a copy
  /// elsewhere, a cache or a report that knows one of the points has to look at again at the other. The points may be
  /// given in either order.
  ///
  /// Every row that differs is among them. So may be one that is again as it was, or whose event had no effect.
  ///
  /// For documents O(events between the points), read from the log, whether a history is kept or not. For a table of a
  /// projection O(rows that changed) with `StoreOptions.history`, and without a replay up to the later point.
  ///
  /// Throws `position` if the log does not have a point, and `undecodable` for an id that is none of `Item`.
  public func changedIDs(between start: LogPoint, and end: LogPoint) async throws -> [Item.ID] {
    try await table.changedIDs(between: start, and: end).map { text in
      guard let id = Item.ID(documentID: text) else {
        throw StoreError.undecodable(what: "\(table.name)/\(text): its id does not decode as \(Item.ID.self)")
      }
      return id
    }
  }
}

extension RowTable {
  package func changedIDs(between start: LogPoint, and end: LogPoint) async throws -> [String] {
    let changed = ChangedIDs(store, name, folding, between: start, and: end)
    if let ids = try await store.machine.past.result({ slice in try changed.resume(slice) }) { return ids }
    let name = name
    return try await store.withStates(at: [start, end], folding, view: nil, findsChains: false) { sets in
      var ids: [String] = []
      Table.forEachChange(from: sets[0][name], to: sets[1][name]) {
        ids.append(String(decoding: $0.id, as: UTF8.self))
      }
      return ids
    }
  }
}

/// The ids of the rows of a table that changed, as far as they were found. Belongs to one thread at a time; every call
/// blocks as long as the disk does.
private final class ChangedIDs: @unchecked Sendable {
  // Sendable so that it can move from one thread to another between two slices.
  private let store: EventStore
  private let table: String
  private let folding: Folding
  private let points: [LogPoint]
  /// The event before the first that is wanted, the last one, and where the log is read.
  private var (first, last): (UInt64, UInt64) = (0, 0)
  private var cursor: LogCursor?
  private var ids: Set<[UInt8]> = []

  init(
    _ store: EventStore, _ table: String, _ folding: Folding, between start: LogPoint, and end: LogPoint
  ) {
    (self.store, self.table, self.folding, points) = (store, table, folding, [start, end])
  }

  /// Goes on. Returns nil if the slice ended first, and nil inside if only the states at both points can say.
  func resume(_ slice: TimeSlice) throws(StoreError) -> [String]?? {
    if cursor == nil {
      let ends = [try store.sequenceBlocking(of: points[0]), try store.sequenceBlocking(of: points[1])]
      (first, last) = (min(ends[0], ends[1]), max(ends[0], ends[1]))
      guard case .documents = folding else {
        let runs = RunPast(store, folding)
        return .some(runs.changedIDs(of: table, after: first, through: last))
      }
      cursor = store.log.cursor(after: first)
    }
    while let block = try nextBlock() {
      do throws(ContentProblem) { try note(block) } catch { throw error.storeError(of: block.header) }
      if slice.isOver { return nil }
    }
    return ids.sorted { $0.isBefore($1) }.map { String(decoding: $0, as: UTF8.self) }
  }

  private func nextBlock() throws(StoreError) -> DecodedBlock? {
    guard let sequence = cursor?.lastSequence, sequence < last else { return nil }
    return try cursor?.next()
  }

  private func note(_ block: DecodedBlock) throws(ContentProblem) {
    try block.forEachEvent { event, _, sequence throws(ContentProblem) in
      guard sequence > first, sequence <= last, let row = DocumentFold.target(of: event, only: [table])
      else { return }
      ids.insert(Array(row.id))
    }
  }
}
