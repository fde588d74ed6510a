// Counts of what a diffable fetch controller has done.

/// Counts since the controller was made.
public struct DiffableFetchStatistics: Hashable, Sendable {
  /// Fetches that succeeded: by `performFetch`, `apply(changing:)` and `process`.
  public var fetchCount = 0
  /// Changes of the list that were delivered, counted with or without a delegate.
  public var changeCount = 0
  /// The changes that had a snapshot.
  public var snapshotCount = 0
  /// Items in the changes.
  public var updateCount = 0
  public var insertCount = 0
  public var deleteCount = 0
  public var moveCount = 0
  /// Failures that were delivered, counted with or without a delegate.
  public var failureCount = 0
  /// Rows that were read for `object(with:)` and `viewObject(with:)`, neighbours included.
  public var rowReadCount = 0
  /// Calls of `viewObject(with:)` whose row had been read before.
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
