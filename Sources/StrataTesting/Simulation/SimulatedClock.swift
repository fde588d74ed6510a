// A clock that a test sets: it goes on, stands still, and jumps either way.

internal import StrataBase
public import StrataLog

/// A wall clock in the hands of a test. It stands still until it is told otherwise.
///
///     let clock = SimulatedClock()
///     options.clock = clock.storeClock
///     clock.advance(by: .seconds(5))
///     clock.set(to: 0)                      // as a machine that lost its time
public final class SimulatedClock: Sendable {
  private let state: Lock<(now: Int64, step: Int64)>

  /// - Parameters:
  ///   - nanoseconds: the first time, since 1970-01-01T00:00:00Z.
  ///   - step: how many nanoseconds pass with each look at the clock.
  public init(_ nanoseconds: Int64 = 1_767_225_600_000_000_000, step: Int64 = 0) {
    state = Lock((nanoseconds, step))
  }

  /// The time now, in nanoseconds since 1970-01-01T00:00:00Z. It saturates at the ends of its range.
  public var now: Int64 {
    state.withLock { state in
      defer { state.now = state.now.addingSaturating(state.step) }
      return state.now
    }
  }

  /// Jumps to a time.
  public func set(to nanoseconds: Int64) { state.withLock { $0.now = nanoseconds } }

  /// Jumps ahead by a positive duration, or back by a negative one.
  public func advance(by duration: Duration) {
    let (seconds, attoseconds) = duration.components
    state.withLock { $0.now = $0.now.addingSaturating(seconds * 1_000_000_000 + attoseconds / 1_000_000_000) }
  }

  /// How much time passes with each look, in nanoseconds: 0 for a clock that stands still.
  public func setStep(_ nanoseconds: Int64) { state.withLock { $0.step = nanoseconds } }

  /// The clock as a store takes it.
  public var storeClock: StoreClock { StoreClock { self.now } }
}

extension Int64 {
  fileprivate func addingSaturating(_ other: Int64) -> Int64 {
    let (sum, isOverflow) = addingReportingOverflow(other)
    return isOverflow ? (other < 0 ? .min : .max) : sum
  }
}
