// Waiting for appends of another process, with a time limit and an eye on whoever reads the output.

internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// How the commands that follow a store wait at its end.
struct AppendWait {
  let opened: OpenedStore
  /// Gives up then.
  let deadline: MonotonicTime?

  /// The longest wait without a look at whether anybody reads the output.
  private static let pauseMax: Duration = .milliseconds(500)

  /// Returns when something stands beyond a sequence, or a little later where nothing does. Blocks.
  func wait(beyond sequence: UInt64, writing output: borrowing OutputWriter) throws {
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
    let isThere = gate.wait(timeout: pause) { $0 }
    waiting.cancel()
    if let end = opened.log.tail.end { throw opened.failure(end) }
    try output.checkReader()
    if !isThere { try checkTime() }
  }

  /// Throws once the time is up.
  func checkTime() throws(CommandFailure) {
    guard let deadline, MonotonicTime.now() >= deadline else { return }
    throw Self.timeIsUp(reading: opened.path)
  }

  static func timeIsUp(reading path: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.timeout, "the time was up before the end was reached", at: path,
      next: "raise --timeout, or go on from what was printed")
  }
}
