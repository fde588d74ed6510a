// Waiting for what comes next.

package import StrataLog

extension EventStore {
  /// Suspends until something visible stands behind a sequence, or the task is cancelled. Throws where the log
  /// cannot go on; `closed` where it was closed.
  package func wait(beyond sequence: UInt64) async throws(StoreError) {
    try log.follow()
    await log.tail.wait(beyond: sequence)
    if log.mark.sequence <= sequence, let end = log.tail.end { throw end }
  }
}
