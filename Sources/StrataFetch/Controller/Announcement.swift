// Something happened: a number that only grows, and those who wait for it to.

internal import StrataBase

/// A counter that tasks wait for. Waiting is by continuation, so no thread is held.
package final class Announcement: Sendable {
  private struct State {
    var number: UInt64 = 0
    /// Each waits for a greater number than it saw.
    var waiters = WaitList<UInt64, Void>()
  }

  private let state = Lock(State())

  package init() {}

  package var number: UInt64 { state.withLock { $0.number } }
  var hasWaiters: Bool { state.withLock { !$0.waiters.isEmpty } }

  /// Raises the number and wakes everybody.
  package func announce() {
    let waiters = state.withLock { state in
      state.number += 1
      return state.waiters.takeAll()
    }
    for continuation in waiters { continuation.resume() }
  }

  /// Suspends until the number is greater, or the task is cancelled.
  ///
  /// - Parameter began: called once the wait has begun, before anything is waited for.
  package func wait(beyond number: UInt64, began: @Sendable () -> Void) async {
    let ticket = state.withLock { $0.waiters.ticket() }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let waits = state.withLock { state in
          state.number <= number && state.waiters.add(ticket, for: number, continuation)
        }
        if waits { began() } else { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.cancel(ticket) }?.resume()
    }
    state.withLock { $0.waiters.forget(ticket) }
  }
}
