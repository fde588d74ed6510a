// The time for which a piece of long work may keep its thread while other work waits.

internal import Synchronization

/// A flag that tells long work when to release its thread.
///
/// The work checks it between its steps. While no other work waits for a thread, a check costs one atomic load.
package final class TimeSlice: Sendable {
  private static let isContended: UInt8 = 1
  private static let isUnwanted: UInt8 = 2

  private let flags = Atomic<UInt8>(0)
  /// The end of the slice, in nanoseconds of the monotonic clock.
  private let end = Atomic<Int64>(.max)

  package init() {}

  /// A slice that ends at a time, whether other work waits or not.
  package init(until end: MonotonicTime) {
    begin(until: end.nanoseconds)
    contend()
  }

  /// Whether the work should stop now: other work waits and the slice has passed, or the result is no longer wanted.
  package var isOver: Bool {
    let flags = flags.load(ordering: .relaxed)
    guard flags != 0 else { return false }
    return flags & Self.isUnwanted != 0 || MonotonicTime.now().nanoseconds >= end.load(ordering: .relaxed)
  }

  /// Records whether the result is still wanted.
  package func setWanted(_ isWanted: Bool) {
    if isWanted {
      flags.bitwiseAnd(~Self.isUnwanted, ordering: .relaxed)
    } else {
      flags.bitwiseOr(Self.isUnwanted, ordering: .relaxed)
    }
  }

  /// Begins another slice.
  func begin(until end: Int64) {
    self.end.store(end, ordering: .relaxed)
    flags.bitwiseAnd(~Self.isContended, ordering: .relaxed)
  }

  /// Records that other work waits for a thread from now on.
  func contend() { flags.bitwiseOr(Self.isContended, ordering: .relaxed) }
}
