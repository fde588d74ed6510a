// Waiting for another writer's lock without occupying a thread.

internal import StrataBase
internal import StrataLog

/// Retries an open while another process holds the lock. Each try runs on a new thread, since an open may read much;
/// no thread waits between two tries.
enum LockWait {
  /// The first pause is short, because the lock is most often held by a reader's short probe.
  private static let pauseMin: Duration = .milliseconds(2)
  private static let pauseMax: Duration = .milliseconds(64)

  /// Retries while the store is locked, until the timeout. The last try is made when the timeout has elapsed.
  ///
  /// - Parameter body: tries once; it blocks only for the disk.
  /// - Throws: what the last try throws; `CancellationError` once the task is cancelled, except that a try that is
  ///   running is finished first.
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
      // The sleep of a cancelled task ends early, and the check above then throws.
      try? await Task.sleep(for: max(.zero, min(pause, timeout - start.elapsed)))
      pause = min(pause * 2, pauseMax)
    }
  }
}
