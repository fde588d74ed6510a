// How often, and for how long, a request is tried again.

internal import StrataBase

/// When a request that had no answer, or one that says so, is sent again: after a pause that doubles, and of which a
/// random part is taken, so that many machines do not come back at the same time.
struct BucketRetry: Sendable {
  /// From the first try on. No try begins after it.
  var limit: Duration = .seconds(20)
  var pauseMin: Duration = .milliseconds(100)
  var pauseMax: Duration = .seconds(5)

  /// The longest pause before a try.
  ///
  /// - Parameter count: how many tries there were.
  func pause(after count: Int) -> Duration { min(pauseMax, pauseMin * (1 << min(count - 1, 16))) }
}

/// The time, as a request sees it. Tests have one of their own.
struct BucketClock: Sendable {
  var now: @Sendable () -> MonotonicTime
  var pause: @Sendable (Duration) -> Void
  /// A random part, from 0 to 1.
  var random: @Sendable () -> Double

  static let system = BucketClock(
    now: MonotonicTime.now,
    pause: { duration in
      let pause = Gate(())
      _ = pause.wait(timeout: duration) { _ in false }
    },
    random: { Double.random(in: 0...1) })
}
