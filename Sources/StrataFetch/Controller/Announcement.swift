// Something happened: a number that only grows, and those who wait for it to.

internal import StrataBase

/// A counter that tasks wait for. Waiting is by continuation, so no thread is held.
package final class Announcement: Sendable {
  private struct State {
    var number: UInt64 = 0
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    /// Tickets that were cancelled before they began to wait.
    var cancelled: Set<UInt64> = []
    var nextTicket: UInt64 = 0
  }

  private let state = Lock(State())

  package init() {}

  package var number: UInt64 { state.withLock { $0.number } }
  var hasWaiters: Bool { state.withLock { !$0.waiters.isEmpty } }

  /// Raises the number and wakes everybody.
  package func announce() {
    let waiters = state.withLock { state in
      state.number += 1
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for continuation in waiters { continuation.resume() }
  }

  /// Suspends until the number is greater, or the task is cancelled.
  ///
  /// - Parameter began: called once the wait has begun, before anything is waited for.
  package func wait(beyond number: UInt64, began: @Sendable () -> Void) async {
    let ticket = state.withLock { state in
      state.nextTicket += 1
      return state.nextTicket
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.cancelled.remove(ticket) != nil || state.number > number { return true }
          state.waiters[ticket] = continuation
          return false
        }
        if isOver { continuation.resume() } else { began() }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        let waiter = state.waiters.removeValue(forKey: ticket)
        if waiter == nil { state.cancelled.insert(ticket) }
        return waiter
      }
      waiter?.resume()
    }
    state.withLock { _ = $0.cancelled.remove(ticket) }
  }
}
