// The share of a thread that a piece of long work has before others get their turn.

internal import Synchronization

/// Says when long work gives up its thread. The work looks at it between its steps, which costs one load while nobody
/// else waits for a thread.
package final class TimeSlice: Sendable {
  private static let isContended: UInt8 = 1
  private static let isUnwanted: UInt8 = 2

  private let flags = Atomic<UInt8>(0)
  /// The nanosecond of the monotonic clock at which others get their turn.
  private let end = Atomic<Int64>(.max)

  package init() {}

  /// Whether the work stops where it is: others wait and it had its time, or nobody wants its result.
  package var isOver: Bool {
    let flags = flags.load(ordering: .relaxed)
    guard flags != 0 else { return false }
    return flags & Self.isUnwanted != 0 || MonotonicTime.now().nanoseconds >= end.load(ordering: .relaxed)
  }

  /// Notes whether somebody waits for the result.
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

  /// Others wait for a thread from now on.
  func contend() { flags.bitwiseOr(Self.isContended, ordering: .relaxed) }
}
