// Many appends in order without waiting for each: what an import needs to be as fast as the disk.

internal import StrataBase

/// Appends that one thread submits one after another without waiting for each.
///
/// They are framed in the order in which they were submitted. The first failure refuses all later ones, so that the log
/// never has a later one without an earlier one; `failure` says which one failed. `pendingBytesMax` bounds how much may
/// be in progress at once.
package final class AppendRun: Sendable {
  /// The result of a run so far.
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
    /// The first append that failed: its label, and the error.
    package var failure: Failure?
  }

  package struct Failure: Error, Equatable {
    package var label: UInt64
    package var error: StoreError
  }

  fileprivate struct State {
    var progress = Progress()
    /// The number of submitted appends that are neither in the log nor refused yet.
    var outstanding = 0
  }

  private let state = Gate(State())
  private let queue: CommitQueue
  private let checkDraft: @Sendable (AppendDraft) throws(StoreError) -> Void

  init(queue: CommitQueue, check: @escaping @Sendable (AppendDraft) throws(StoreError) -> Void) {
    self.queue = queue
    checkDraft = check
  }

  /// Submits an append. Blocks while too much is waiting, so never call it on the cooperative pool, and only on one
  /// thread.
  ///
  /// - Parameter label: identifies the append in `failure`: a line, a number.
  /// - Throws: an error of this append itself; then it was not submitted and the run goes on. A failure of an earlier
  ///   one is not thrown: see `progress`.
  /// - Returns: false if an earlier append has failed, and this one was not submitted.
  package func add(_ draft: AppendDraft, label: UInt64) throws(StoreError) -> Bool {
    try check(draft)
    return add([(draft, label)])
  }

  /// Throws an error of an append itself, with which it is not submitted.
  package func check(_ draft: AppendDraft) throws(StoreError) { try checkDraft(draft) }

  /// Submits appends that were checked, in one step, which costs less than one by one. Blocks as `add` of one does.
  ///
  /// - Parameter drafts: the appends, with what identifies each in `failure`.
  /// - Returns: false if an earlier append has failed, and none of these was submitted.
  package func add(_ drafts: [(draft: AppendDraft, label: UInt64)]) -> Bool {
    let goesOn = state.withLock { state in
      guard state.progress.failure == nil else { return false }
      state.outstanding += drafts.count
      return true
    }
    if goesOn, !drafts.isEmpty { queue.submit(drafts, of: self) }
    return goesOn
  }

  /// Waits until every submitted append is in the log or refused.
  @discardableResult
  package func drain() -> Progress {
    state.wait { $0.outstanding == 0 ? $0.progress : nil }
  }

  package var progress: Progress { state.withLock { $0.progress } }

  /// The error for an append after one that failed.
  var refusal: StoreError? { state.withLock { $0.progress.failure?.error } }

  /// Records a failure before its group is finished, so that later appends in the group are refused.
  func fail(_ error: StoreError, label: UInt64) {
    state.withLock { state in
      if state.progress.failure == nil { state.progress.failure = Failure(label: label, error: error) }
    }
  }

  /// Records the results of appends, in their order.
  func finish(_ results: some Sequence<(result: AppendResult, given: Int64?, label: UInt64)>) {
    let isDrained = state.withLock { state in
      for (result, given, label) in results { state.finish(result, given: given, label: label) }
      return state.outstanding == 0
    }
    if isDrained { state.signalAll() }
  }
}

extension AppendRun.State {
  fileprivate mutating func finish(_ result: AppendResult, given: Int64?, label: UInt64) {
    assert(outstanding > 0, "a run finishes only submitted appends")
    outstanding -= 1
    switch result {
    case .success(let outcome) where outcome.isKnown:
      progress.known += 1
    case .success(let outcome):
      assert(outcome.first > progress.last ?? 0, "the appends of a run are in the log in order")
      progress.appended += 1
      if progress.first == nil { progress.first = outcome.first }
      progress.last = outcome.last
      if let given, given < outcome.time { progress.raised += 1 }
    case .failure(let error):
      // If a group could not be written, appends that precede a refused one in it fail as well.
      if label < progress.failure?.label ?? .max {
        progress.failure = AppendRun.Failure(label: label, error: error)
      }
    }
  }
}
