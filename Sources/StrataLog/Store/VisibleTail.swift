// The visible end of the log, and the readers that wait for it to move.

internal import StrataBase

/// The visible end: its offset in the active segment, and the state of the log up to it.
package struct VisibleMark: Equatable, Sendable {
  /// The active segment.
  package var segment: SegmentName
  /// The revision of the file that the marks' offsets refer to.
  package var revision: UInt32 = 0
  package var visible: LogMark
  package var durable: LogMark
  /// Commit time of the last append, or `FormatLimits.noTime`.
  package var time: Int64
  /// Appends in the store, the trimmed ones included.
  package var appends: UInt64
  /// The first sequence that is still in the log.
  package var logBegin: UInt64

  package var sequence: UInt64 { visible.sequence }
}

extension VisibleMark {
  /// True if the mark is an offset in an older file of a segment that has since been closed and rewritten.
  func isBefore(rewriteOf header: SegmentHeader) -> Bool {
    header.segment == segment && header.revision != revision
  }

  fileprivate func assertIsConsistent() {
    assert(durable.sequence <= visible.sequence, "what is durable is visible")
    assert(durable.offset <= visible.offset, "the durable end is not past the visible one")
    assert(logBegin <= visible.sequence + 1, "the log does not begin past its end")
  }
}

/// The visible mark, guarded by a lock. Waiting is by continuation, so it holds no thread.
package final class VisibleTail: Sendable {
  /// What a waiter waits for: an event after a sequence, visible or durable.
  private struct Wish {
    var sequence: UInt64
    var isDurable: Bool

    func isTrue(of mark: VisibleMark) -> Bool {
      (isDurable ? mark.durable.sequence : mark.visible.sequence) > sequence
    }
  }

  private struct State {
    var mark: VisibleMark
    var waiters = WaitList<Wish, Void>()
    var end: StoreError?
    /// Checks whether another process's writer has moved the end.
    var look: (@Sendable () throws(StoreError) -> Void)?
  }

  private let state: Lock<State>

  package init(_ mark: VisibleMark) {
    mark.assertIsConsistent()
    state = Lock(State(mark: mark))
  }

  package var mark: VisibleMark { state.withLock { $0.mark } }
  /// The reason why no more events will come, once there is one.
  package var end: StoreError? { state.withLock { $0.end } }
  package var hasWaiters: Bool { state.withLock { !$0.waiters.isEmpty } }

  /// Sets the function that checks whether another process's writer has moved the end. It must not retain this object.
  func setLook(_ look: @escaping @Sendable () throws(StoreError) -> Void) {
    state.withLock { $0.look = look }
  }

  /// Checks now whether the log extends past the mark. Blocks. A writer's own mark never lags.
  func refresh() throws(StoreError) { try state.withLock { $0.look }?() }

  /// Moves the end and resumes the waiters whose wait is over.
  package func publish(_ mark: VisibleMark) {
    mark.assertIsConsistent()
    let ready = state.withLock { state in
      assert(mark.sequence >= state.mark.sequence, "what was visible stays visible")
      state.mark = mark
      return state.waiters.take { $0.isTrue(of: mark) }
    }
    for continuation in ready { continuation.resume() }
  }

  /// Records that no more events will come, and resumes all waiters.
  package func finish(_ error: StoreError) {
    let all = state.withLock { state in
      state.end = state.end ?? error
      return state.waiters.takeAll()
    }
    for continuation in all { continuation.resume() }
  }

  /// Clears an end whose cause may have passed, for a caller that retries.
  func reopen() { state.withLock { if $0.end?.isPassing ?? false { $0.end = nil } } }

  /// Suspends until there is an event after `sequence`, the log ends, or the task is cancelled. The caller must check
  /// again: a return promises nothing.
  package func wait(beyond sequence: UInt64, durably isDurable: Bool = false) async {
    let ticket = state.withLock { $0.waiters.ticket() }
    let wish = Wish(sequence: sequence, isDurable: isDurable)
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let waits = state.withLock { state in
          state.end == nil && !wish.isTrue(of: state.mark)
            && state.waiters.add(ticket, for: wish, continuation)
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.cancel(ticket) }?.resume()
    }
    state.withLock { $0.waiters.forget(ticket) }
  }
}
