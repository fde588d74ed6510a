// The end of the log as everybody may see it, and those who wait for it to move.

internal import StrataBase

/// The visible end: where it is in the active segment, and what stands before it.
package struct VisibleMark: Equatable, Sendable {
  /// The active segment.
  package var segment: SegmentName
  /// The revision of the file in which the marks are offsets.
  package var revision: UInt32 = 0
  package var visible: LogMark
  package var durable: LogMark
  /// Commit time of the last append, or `FormatLimits.noTime`.
  package var time: Int64
  /// Appends in the store, the trimmed ones included.
  package var appends: UInt64
  /// The first sequence that the log still has.
  package var logBegin: UInt64

  package var sequence: UInt64 { visible.sequence }
}

extension VisibleMark {
  /// True where the mark is a place in a file of the segment that was closed and rewritten since.
  func isBefore(rewriteOf header: SegmentHeader) -> Bool {
    header.segment == segment && header.revision != revision
  }

  fileprivate func assertIsConsistent() {
    assert(durable.sequence <= visible.sequence, "what is durable is visible")
    assert(durable.offset <= visible.offset, "the durable end is not behind the visible one")
    assert(logBegin <= visible.sequence + 1, "the log does not begin behind its end")
  }
}

/// A locked shell around the visible mark. Waiting is by continuation, so no thread is held.
package final class VisibleTail: Sendable {
  /// That something stands behind a sequence.
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
    /// Looks whether another process's writer has moved the end.
    var look: (@Sendable () throws(StoreError) -> Void)?
  }

  private let state: Lock<State>

  package init(_ mark: VisibleMark) {
    mark.assertIsConsistent()
    state = Lock(State(mark: mark))
  }

  package var mark: VisibleMark { state.withLock { $0.mark } }
  /// Why nothing more will come, once that is so.
  package var end: StoreError? { state.withLock { $0.end } }
  package var hasWaiters: Bool { state.withLock { !$0.waiters.isEmpty } }

  /// Sets how to look whether another process's writer has moved the end. It must not keep this alive.
  func setLook(_ look: @escaping @Sendable () throws(StoreError) -> Void) {
    state.withLock { $0.look = look }
  }

  /// Looks now whether there is more than the mark says. Blocks. A writer's own mark is never behind.
  func refresh() throws(StoreError) { try state.withLock { $0.look }?() }

  /// Moves the end and wakes those whose wait is over.
  package func publish(_ mark: VisibleMark) {
    mark.assertIsConsistent()
    let ready = state.withLock { state in
      assert(mark.sequence >= state.mark.sequence, "what was visible stays visible")
      state.mark = mark
      return state.waiters.take { $0.isTrue(of: mark) }
    }
    for continuation in ready { continuation.resume() }
  }

  /// Says that nothing more will come, and wakes everybody.
  package func finish(_ error: StoreError) {
    let all = state.withLock { state in
      state.end = state.end ?? error
      return state.waiters.takeAll()
    }
    for continuation in all { continuation.resume() }
  }

  /// Takes back an end that may have passed, for somebody who tries again.
  func reopen() { state.withLock { if $0.end?.isPassing ?? false { $0.end = nil } } }

  /// Suspends until something stands behind `sequence`, the log ends, or the task is cancelled. The caller
  /// looks again: a return promises nothing.
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
