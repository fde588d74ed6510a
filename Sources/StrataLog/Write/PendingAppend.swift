// One append on its way to its group, and its result on the way back.

internal import StrataBase

/// What became of an append.
package struct AppendOutcome: Sendable, Equatable {
  package var first: UInt64
  package var last: UInt64
  /// The commit time.
  package var time: Int64
  /// True where an append with this id was in the log already, and nothing was appended.
  package var isKnown: Bool
}

package typealias AppendResult = Result<AppendOutcome, StoreError>

/// One append that waits for its group, and whom to tell.
struct PendingAppend {
  enum Caller {
    /// Resumed with nil where the task was cancelled first.
    case task(UnsafeContinuation<AppendResult?, Never>)
    case thread(Gate<AppendResult?>)
    case run(AppendRun, label: UInt64)
  }

  var draft: AppendDraft
  var caller: Caller
  /// What it was handed over with, in one step.
  var batch: ObjectIdentifier?
  /// What it needs of closed segments was looked up before, so that little is left to build, or nothing.
  var isLookedUp = false

  /// Of the appends that have the same one, none is framed before one that was handed over earlier.
  var order: ObjectIdentifier? {
    if case .run(let run, _) = caller { ObjectIdentifier(run) } else { batch }
  }

  func finish(_ result: AppendResult) {
    switch caller {
    case .task(let continuation):
      continuation.resume(returning: result)
    case .thread(let gate):
      gate.withLock { answer in
        assert(answer == nil, "an append is finished once")
        answer = result
      }
      gate.signalAll()
    case .run(let run, let label):
      run.finish(result, given: draft.given, label: label)
    }
  }

  /// Tells a task that nothing was appended, since it was cancelled.
  func cancel() {
    guard case .task(let continuation) = caller else {
      return assertionFailure("only tasks are cancelled")
    }
    continuation.resume(returning: nil)
  }

  /// Why this append is refused whatever it says: one before it in its run failed.
  var refusal: StoreError? {
    if case .run(let run, _) = caller { run.refusal } else { nil }
  }

  /// Tells the run, if there is one, that what follows this append is refused.
  func refuseFollowers(_ error: StoreError) {
    if case .run(let run, let label) = caller { run.fail(error, label: label) }
  }
}
