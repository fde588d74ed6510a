// Counters of what a store has done, which only grow, and gauges of what it has now.

/// What a store has done since it was opened. Every number only grows, so that a monitor takes differences.
///
/// Each is exact; they are read one after another while the store goes on. A store that is open for reading counts only
/// what it does itself: it appends nothing. O(1), reads nothing from disk, and takes no lock.
public struct StoreStatistics: Sendable, Equatable {
  /// Appends that were written, without those that were known.
  public var appendCount: UInt64 = 0
  /// The events of these appends.
  public var eventCount: UInt64 = 0
  /// Bytes that were written to the log for them, after compression, with their blocks' headers and padding.
  public var byteCount: UInt64 = 0
  /// Groups of appends: each was written with one write and acknowledged at once.
  public var groupCount: UInt64 = 0
  /// Times that the writer waited for syncs of the log: of groups, of buffered data, of segments that were closed, and of
  /// tails that were cut off.
  public var syncCount: UInt64 = 0
  /// How many of these were timed: no clock is read unless somebody observes the store.
  public var timedSyncCount: UInt64 = 0
  /// The time that the timed ones took.
  public var syncTime: Duration = .zero
  /// Appends that were refused because a stream did not have the expected version.
  public var conflictCount: UInt64 = 0
  /// Appends whose id was in the log already, and that appended nothing.
  public var knownCount: UInt64 = 0
  /// Torn tails that were cut off.
  public var cutTailCount: UInt64 = 0
  /// States of projections that were saved, and the attempts that failed.
  public var savedStateCount: UInt64 = 0
  public var failedStateCount: UInt64 = 0
  /// Closed segments that were rewritten, to take less room or because events were erased.
  public var sealCount: UInt64 = 0
  /// Activities and steps that were not delivered to `StoreOptions.observer`, because it took too long over earlier ones.
  public var droppedCount: UInt64 = 0

  package init() {}
}

/// What a store has at a moment. See `EventStore.gauges()`.
public struct StoreGauges: Sendable, Equatable {
  /// Appends that were submitted and that no group has taken, and their bytes. The bytes are bounded by
  /// `StoreOptions.pendingBytesMax`.
  public var pendingAppendCount: Int
  public var pendingByteCount: Int
  /// The files of the log: their number, and their bytes with what is written ahead.
  public var segmentCount: Int
  public var logByteCount: UInt64
  /// The bytes of what is derived from the log: indexes, states, histories.
  public var derivedByteCount: UInt64

  package init(
    pendingAppendCount: Int, pendingByteCount: Int, segmentCount: Int, logByteCount: UInt64,
    derivedByteCount: UInt64
  ) {
    self.pendingAppendCount = pendingAppendCount
    self.pendingByteCount = pendingByteCount
    self.segmentCount = segmentCount
    self.logByteCount = logByteCount
    self.derivedByteCount = derivedByteCount
  }
}
