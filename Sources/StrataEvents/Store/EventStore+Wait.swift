// Waiting for events after a sequence.

package import StrataLog

extension EventStore {
  /// Suspends the task until an event after a sequence is visible, or the task is cancelled. Throws if the log cannot
  /// continue; `closed` if it was closed.
  package func wait(beyond sequence: UInt64) async throws(StoreError) {
    try log.follow()
    await log.tail.wait(beyond: sequence)
    if log.mark.sequence <= sequence, let end = log.tail.end { throw end }
  }
}
