// The memory that the tables of a store take.

public import StrataEvents
internal import StrataLog
internal import StrataTables

/// The memory that the tables of one store take in this process, and the lists over them.
public struct StoreMemory: Sendable, Equatable {
  /// The bytes of saved rows and list entries that are in memory, those of past points included, and of what was read of
  /// histories. What is beyond the bound is dropped, and read again from the store's files when it is needed.
  public var cacheByteCount: Int
  /// The bound on them: `StoreOptions.pageCacheSize`.
  public var cacheLimit: Int
  /// The bytes of events that were read singly, or of streams, and are kept for the next such reads, with what finds them.
  /// They may have what the cache leaves of its bound, and at least a quarter of it; what is more than that, since tables
  /// were read meanwhile, is dropped by the next such reads.
  public var eventByteCount: Int
  /// The bytes that were dropped, and that a read which is going on may still use.
  public var retiredByteCount: Int
  /// The bytes of the newest version of all tables and lists, with what of them is in the cache.
  public var newestByteCount: Int
  /// The bytes that only older versions have, with what of them is in the cache: the snapshots of lists that an
  /// application keeps, and those at past points.
  public var heldByteCount: Int
  /// The bytes of lists and rows at past points that are in memory only: the rows that were changed since the saved state
  /// or the history that they were made from, the lists that were built for them, and what scrubbers keep. Most of them are
  /// in `heldByteCount` too.
  public var pastByteCount: Int
  /// The bound on them: `StoreOptions.pageCacheSize`. What is beyond it is in a file without a name, and is read again
  /// through the cache; a store that is open for reading, and one that neither saves states nor keeps a history, keeps it
  /// in memory. Work that goes on may take a quarter of the bound more: sixteen reads make states at once, and further ones
  /// wait.
  public var pastLimit: Int
  /// The number of versions that snapshots of lists hold.
  public var heldVersionCount: Int
  /// The sequence of the oldest of them. Its age in events is the difference to the store's head.
  public var oldestHeldSequence: UInt64?
}

extension EventStore {
  /// The memory that the tables take that this object was asked for. O(pages in memory); reads nothing from disk.
  public func memory() -> StoreMemory {
    let newest = projectors.inUse.flatMap { $0.projector?.published.trees ?? [] }
    let held = heldVersions.all
    let (cache, past) = (projectors.pageCache, pastMemory)
    let counted = cache.statistics
    // Each page is looked at once: what is in memory changes all the time.
    var seen: Set<ObjectIdentifier> = []
    let newestBytes = Tree.statistics(of: newest, besides: &seen).bytesAllocated
    let heldBytes = Tree.statistics(of: held.flatMap { $0.table.trees }, besides: &seen).bytesAllocated
    return StoreMemory(
      cacheByteCount: counted.byteCount, cacheLimit: cache.limit,
      eventByteCount: log.source.catalog.parts.statistics.byteCount,
      retiredByteCount: counted.retiredByteCount, newestByteCount: newestBytes,
      heldByteCount: heldBytes, pastByteCount: past.byteCount, pastLimit: past.limit,
      heldVersionCount: held.count,
      oldestHeldSequence: held.map(\.sequence).min())
  }
}
