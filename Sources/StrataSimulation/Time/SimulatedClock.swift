// A clock that a test sets: it can advance, stop, and jump forwards and backwards.

internal import StrataBase
public import StrataLog

/// A wall clock that a test controls. It does not advance until the test changes it.
///
///     let clock = SimulatedClock()
///     options.clock = clock.storeClock
///     clock.advance(by: .seconds(5))
///     clock.set(to: 0)                      // like a machine that has lost its time
public final class SimulatedClock: Sendable {
  private let state: Lock<(now: Int64, step: Int64)>

  /// - Parameters:
  ///   - nanoseconds: the initial time, since 1970-01-01T00:00:00Z.
  ///   - step: the nanoseconds by which each read advances the clock.
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

  /// Sets the time.
  public func set(to nanoseconds: Int64) { state.withLock { $0.now = nanoseconds } }

  /// Moves the time forwards by a positive duration, or backwards by a negative one.
  public func advance(by duration: Duration) {
    let (seconds, attoseconds) = duration.components
    state.withLock { $0.now = $0.now.addingSaturating(seconds * 1_000_000_000 + attoseconds / 1_000_000_000) }
  }

  /// Sets the nanoseconds by which each read advances the clock: 0 for a clock that does not advance.
  public func setStep(_ nanoseconds: Int64) { state.withLock { $0.step = nanoseconds } }

  /// The clock in the form that a store's options take.
  public var storeClock: StoreClock { StoreClock { self.now } }
}

extension Int64 {
  fileprivate func addingSaturating(_ other: Int64) -> Int64 {
    let (sum, isOverflow) = addingReportingOverflow(other)
    return isOverflow ? (other < 0 ? .min : .max) : sum
  }
}
