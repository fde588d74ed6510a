// Waiting for appends of another process, with a deadline and a check that the output is still read.

package import LogreplayShell
package import StrataBase
internal import StrataEvents
internal import StrataLog

/// Waits at the end of a store, for the commands that follow it.
package struct AppendWait {
  let opened: OpenedStore
  /// The time at which waiting gives up.
  let deadline: MonotonicTime?

  package init(opened: OpenedStore, deadline: MonotonicTime?) {
    self.opened = opened
    self.deadline = deadline
  }

  /// The longest wait between two checks that the output is still read.
  private static let pauseMax: Duration = .milliseconds(500)

  /// Returns when the log goes beyond a sequence, or after a short pause if it does not. Blocks.
  package func wait(beyond sequence: UInt64, writing output: borrowing OutputWriter) throws {
    do throws(StoreError) { try opened.log.follow() } catch { throw opened.failure(error) }
    let gate = Gate(false)
    let waiting = Task { [tail = opened.log.tail] in
      await tail.wait(beyond: sequence)
      gate.withLock { $0 = true }
      gate.signalAll()
    }
    var pause = Self.pauseMax
    if let deadline {
      pause = min(pause, .nanoseconds(max(0, deadline.nanoseconds - MonotonicTime.now().nanoseconds)))
    }
    let exists = gate.wait(timeout: pause) { $0 }
    waiting.cancel()
    if let end = opened.log.tail.end { throw opened.failure(end) }
    try output.checkReader()
    if !exists, isTimeUp { throw timeIsUp(waitingAfter: sequence) }
  }

  /// Throws once the deadline has passed, although there is more to read.
  package func checkTime() throws(CommandFailure) {
    if isTimeUp { throw Self.timeIsUp(reading: opened.path) }
  }

  private var isTimeUp: Bool { deadline.map { MonotonicTime.now() >= $0 } ?? false }

  private func timeIsUp(waitingAfter sequence: UInt64) -> CommandFailure {
    CommandFailure(
      ExitStatus.timeout, "the time was up, and no event had come after seq \(sequence), the end",
      at: opened.path,
      next: "raise --timeout to wait longer, or leave it out")
  }

  package static func timeIsUp(reading path: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.timeout, "the time was up before the end was reached", at: path,
      next: "raise --timeout, or continue after the last event that was printed")
  }
}
