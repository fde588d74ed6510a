// Threads for which other work always waits, so that every slice is over at once.

package import StrataBase

/// A pool with one thread, for which some work waits all the time that does nothing: whatever else runs there loses its
/// thread as soon as it looks whether its slice is over, and goes on after a turn of that work.
package final class CrowdedThreads: Sendable {
  package let threads: FairThreads
  private let turns = Lock(0)
  private let isEnding = Lock(false)

  package init() {
    var limits = FairThreads.Limits()
    (limits.activeCountMax, limits.threadCountMax) = (1, 2)
    (limits.slice, limits.patience) = (.zero, .seconds(3_600))
    threads = FairThreads(name: "crowded", limits: limits)
    threads.start(TimeSlice()) { [turns, isEnding] in
      turns.withLock { $0 += 1 }
      return !isEnding.withLock { $0 }
    }
  }

  deinit { isEnding.withLock { $0 = true } }

  /// How many turns the work has had that always waits. Each slice of other work is before one of them.
  package var turnCount: Int { turns.withLock { $0 } }
}
