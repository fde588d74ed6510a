// Many appends in order, none of which is waited for: what an import needs to be as fast as the disk.

internal import StrataBase

/// Appends that one thread hands over one after another without waiting for each.
///
/// They are framed in the order in which they were handed over. The first that fails refuses all behind it, so
/// that the log never holds a later one without an earlier one; `failure` says which it was. How much may be
/// under way at once is bounded by `pendingBytesMax`.
package final class AppendRun: Sendable {
  /// What became of a run up to now.
  package struct Progress: Sendable, Equatable {
    /// Appends that are in the log because of this run.
    package var appended: UInt64 = 0
    /// Appends whose id was in the log already.
    package var known: UInt64 = 0
    /// Appends whose given time was earlier than the last one's, and was raised to it.
    package var raised: UInt64 = 0
    /// The first sequence that this run appended, and the last.
    package var first: UInt64?
    package var last: UInt64?
    /// The first append that failed: the label that it was handed over with, and why.
    package var failure: Failure?
  }

  package struct Failure: Error, Equatable {
    package var label: UInt64
    package var error: StoreError
  }

  private struct State {
    var progress = Progress()
    /// Handed over, and neither in the log nor refused.
    var outstanding = 0
  }

  private let state = Gate(State())
  private let queue: CommitQueue
  private let check: @Sendable (AppendDraft) throws(StoreError) -> Void

  init(queue: CommitQueue, check: @escaping @Sendable (AppendDraft) throws(StoreError) -> Void) {
    self.queue = queue
    self.check = check
  }

  /// Hands an append over. Blocks while too much waits, so never on the cooperative pool, and one thread only.
  ///
  /// - Parameter label: what `failure` names it by: a line, a number.
  /// - Throws: what is wrong with this append itself; then it was not handed over and the run goes on. A
  ///   failure of an earlier one is not thrown: see `progress`.
  /// - Returns: false where an earlier append has failed, and this one was not handed over.
  package func add(_ draft: AppendDraft, label: UInt64) throws(StoreError) -> Bool {
    try check(draft)
    let goesOn = state.withLock { state in
      guard state.progress.failure == nil else { return false }
      state.outstanding += 1
      return true
    }
    if goesOn { queue.submit(draft, of: self, label: label) }
    return goesOn
  }

  /// Waits until everything handed over is in the log, or refused.
  @discardableResult
  package func drain() -> Progress {
    state.wait { $0.outstanding == 0 ? $0.progress : nil }
  }

  package var progress: Progress { state.withLock { $0.progress } }

  /// The error for an append behind one that failed.
  var refusal: StoreError? { state.withLock { $0.progress.failure?.error } }

  /// Notes a failure before its group is finished, so that what follows in the group is refused.
  func fail(_ error: StoreError, label: UInt64) {
    state.withLock { state in
      if state.progress.failure == nil { state.progress.failure = Failure(label: label, error: error) }
    }
  }

  /// Takes in what became of one append.
  func finish(_ result: AppendResult, given: Int64?, label: UInt64) {
    let isDrained = state.withLock { state in
      assert(state.outstanding > 0, "a run finishes only what was handed over")
      state.outstanding -= 1
      switch result {
      case .success(let outcome) where outcome.isKnown:
        state.progress.known += 1
      case .success(let outcome):
        assert(outcome.first > state.progress.last ?? 0, "the appends of a run are in their order")
        state.progress.appended += 1
        if state.progress.first == nil { state.progress.first = outcome.first }
        state.progress.last = outcome.last
        if let given, given < outcome.time { state.progress.raised += 1 }
      case .failure(let error):
        // A group that could not be written takes back what stood in it before an append that was refused.
        if label < state.progress.failure?.label ?? .max {
          state.progress.failure = Failure(label: label, error: error)
        }
      }
      return state.outstanding == 0
    }
    if isDrained { state.signalAll() }
  }
}
