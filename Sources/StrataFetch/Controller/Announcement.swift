// A counter of announcements, and the tasks that wait for it to grow.

internal import StrataBase

/// A counter that tasks wait for. A wait is a continuation, so it blocks no thread.
final class Announcement: Sendable {
  private struct Wish: Sendable {
    /// The number that the task has seen: a greater one ends the wait.
    var number: AnnouncementNumber
    /// Whether the log is to be followed during the wait.
    var follows: Bool
  }

  private struct State {
    var number = AnnouncementNumber.none
    var waiters = WaitList<Wish, Void>()
  }

  private let state = Lock(State())

  var number: AnnouncementNumber { state.withLock { $0.number } }
  var hasWaiters: Bool { state.withLock { !$0.waiters.isEmpty } }
  /// Whether a task waits that needs the log followed.
  var hasFollowingWaiters: Bool { state.withLock { $0.waiters.wishes.contains { $0.follows } } }

  /// Raises the number and wakes every waiter.
  func announce() {
    let waiters = state.withLock { state in
      state.number = state.number.next
      return state.waiters.takeAll()
    }
    for continuation in waiters { continuation.resume() }
  }

  /// Suspends until the number is greater than `number`, or the task is cancelled.
  ///
  /// - Parameters:
  ///   - follows: whether the log is to be followed for this wait.
  ///   - began: called once the wait has begun, before the task suspends.
  func wait(
    beyond number: AnnouncementNumber, follows: Bool = false, began: @Sendable () -> Void = {}
  ) async {
    let ticket = state.withLock { $0.waiters.ticket() }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let wish = Wish(number: number, follows: follows)
        let waits = state.withLock { state in
          state.number <= number && state.waiters.add(ticket, for: wish, continuation)
        }
        if waits { began() } else { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.cancel(ticket) }?.resume()
    }
    state.withLock { $0.waiters.forget(ticket) }
  }
}
