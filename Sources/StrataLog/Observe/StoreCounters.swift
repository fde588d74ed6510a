// The counters of one open store, which several threads raise.

internal import StrataBase
internal import Synchronization

/// Numbers that only grow. Each is relaxed: it orders nothing, and is exact.
package final class StoreCounters: Sendable {
  private let appends = Atomic<UInt64>(0)
  private let events = Atomic<UInt64>(0)
  private let bytes = Atomic<UInt64>(0)
  private let groups = Atomic<UInt64>(0)
  private let syncs = Atomic<UInt64>(0)
  private let timedSyncs = Atomic<UInt64>(0)
  private let syncNanoseconds = Atomic<UInt64>(0)
  private let conflicts = Atomic<UInt64>(0)
  private let known = Atomic<UInt64>(0)
  private let cutTails = Atomic<UInt64>(0)
  private let savedStates = Atomic<UInt64>(0)
  private let failedStates = Atomic<UInt64>(0)
  private let seals = Atomic<UInt64>(0)
  private let dropped = Atomic<UInt64>(0)

  /// A group is in the log.
  func addGroup(appends: UInt64, events: UInt64, bytes: UInt64) {
    groups.add(1, ordering: .relaxed)
    self.appends.add(appends, ordering: .relaxed)
    self.events.add(events, ordering: .relaxed)
    self.bytes.add(bytes, ordering: .relaxed)
  }

  /// What a group's appends were answered with besides.
  func addAnswers(conflicts: UInt64, known: UInt64) {
    if conflicts > 0 { self.conflicts.add(conflicts, ordering: .relaxed) }
    if known > 0 { self.known.add(known, ordering: .relaxed) }
  }

  func addSync(time: Duration?) {
    syncs.add(1, ordering: .relaxed)
    guard let time else { return }
    timedSyncs.add(1, ordering: .relaxed)
    syncNanoseconds.add(UInt64(max(0, time.wholeNanoseconds)), ordering: .relaxed)
  }

  func addCutTail() { cutTails.add(1, ordering: .relaxed) }
  func addSeal() { seals.add(1, ordering: .relaxed) }
  func addDropped() { dropped.add(1, ordering: .relaxed) }
  package func addSavedState() { savedStates.add(1, ordering: .relaxed) }
  package func addFailedState() { failedStates.add(1, ordering: .relaxed) }

  package var statistics: StoreStatistics {
    var statistics = StoreStatistics()
    statistics.appendCount = appends.load(ordering: .relaxed)
    statistics.eventCount = events.load(ordering: .relaxed)
    statistics.byteCount = bytes.load(ordering: .relaxed)
    statistics.groupCount = groups.load(ordering: .relaxed)
    statistics.syncCount = syncs.load(ordering: .relaxed)
    statistics.timedSyncCount = timedSyncs.load(ordering: .relaxed)
    statistics.syncTime = .nanoseconds(Int64(clamping: syncNanoseconds.load(ordering: .relaxed)))
    statistics.conflictCount = conflicts.load(ordering: .relaxed)
    statistics.knownCount = known.load(ordering: .relaxed)
    statistics.cutTailCount = cutTails.load(ordering: .relaxed)
    statistics.savedStateCount = savedStates.load(ordering: .relaxed)
    statistics.failedStateCount = failedStates.load(ordering: .relaxed)
    statistics.sealCount = seals.load(ordering: .relaxed)
    statistics.droppedCount = dropped.load(ordering: .relaxed)
    return statistics
  }
}

extension Duration {
  /// Cut off at the range of 64 bits, which is 292 years.
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflowed) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflowed else { return seconds < 0 ? .min : .max }
    let (sum, overflowedToo) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflowedToo ? (seconds < 0 ? .min : .max) : sum
  }
}
