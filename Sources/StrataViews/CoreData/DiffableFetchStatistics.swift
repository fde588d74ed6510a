// What a diffable fetch controller did so far, counted.

/// Counts since the controller was made.
public struct DiffableFetchStatistics: Hashable, Sendable {
  /// Fetches that succeeded: by `performFetch`, `configureFetch` and `process`.
  public var fetchCount = 0
  /// Changes of the list that the delegate was told, or would have been had there been one.
  public var changeCount = 0
  /// Those of them with a snapshot.
  public var snapshotCount = 0
  /// Items in them.
  public var updateCount = 0
  public var insertCount = 0
  public var deleteCount = 0
  public var moveCount = 0
  /// Failures that the delegate was told, or would have been.
  public var failureCount = 0
  /// Rows that were read for `object(with:)` and `viewObject(with:)`, neighbours included.
  public var rowReadCount = 0
  /// Calls of `viewObject(with:)` that found their row read already.
  public var cacheHitCount = 0

  mutating func count<Item, Section>(_ change: DiffableFetchChange<Item, Section>) {
    changeCount += 1
    if change.snapshot != nil { snapshotCount += 1 }
    updateCount += change.updates.count
    insertCount += change.inserts.count
    deleteCount += change.deletes.count
    moveCount += change.moves.count
  }
}
