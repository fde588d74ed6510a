// Time that never goes backwards, for timeouts and durations. It is never stored.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Nanoseconds of the monotonic clock, which is never set back. They have no meaning after a restart of the machine.
package struct MonotonicTime: Sendable, Comparable {
  package var nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  package static func now() -> MonotonicTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// The time that has passed since this moment.
  package var elapsed: Duration { .nanoseconds(MonotonicTime.now().nanoseconds - nanoseconds) }

  /// Returns the moment after a duration. If the sum is out of range, returns the end of the range.
  package func advanced(by duration: Duration) -> MonotonicTime {
    let (seconds, attoseconds) = duration.components
    let (scaled, overflowed) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflowed else { return MonotonicTime(nanoseconds: seconds < 0 ? .min : .max) }
    let (sum, overflowedToo) = nanoseconds.addingReportingOverflow(scaled &+ attoseconds / 1_000_000_000)
    guard !overflowedToo else { return MonotonicTime(nanoseconds: seconds < 0 ? .min : .max) }
    return MonotonicTime(nanoseconds: sum)
  }

  package static func < (a: MonotonicTime, b: MonotonicTime) -> Bool { a.nanoseconds < b.nanoseconds }
}
