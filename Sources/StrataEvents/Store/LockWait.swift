// Waiting for another writer's lock without a thread.

internal import StrataBase
internal import StrataLog

/// Each try has a thread of its own, since an open may read much; between two tries there is none.
enum LockWait {
  /// The first pause is short, because a reader's probe is what has the lock most often.
  private static let pauseMin: Duration = .milliseconds(2)
  private static let pauseMax: Duration = .milliseconds(64)

  /// Tries again and again, for as long as the store is locked and the time lasts. The last try comes at its end.
  ///
  /// - Parameter body: tries once; it blocks for nothing but the disk.
  /// - Throws: what the last try throws; `CancellationError` once the task is cancelled, but for a try that is under way.
  static func trying<Value: Sendable>(
    for timeout: Duration, on machine: StoreMachine,
    _ body: @escaping @Sendable () throws(StoreError) -> Value
  ) async throws -> Value {
    let start = MonotonicTime.now()
    var pause = pauseMin
    while true {
      try Task.checkCancellation()
      let isLast = start.elapsed >= timeout
      let result = await machine.thread("strata-open").result(body)
      guard case .failure(.locked) = result, !isLast else { return try result.get() }
      // A cancelled task sleeps no longer, and ends above.
      try? await Task.sleep(for: max(.zero, min(pause, timeout - start.elapsed)))
      pause = min(pause * 2, pauseMax)
    }
  }
}
