// Many appends in order without waiting for each: what an import needs to be as fast as the disk.

internal import StrataBase

/// Appends that one thread or one task submits one after another without waiting for each.
///
/// They are framed in the order in which they were submitted. The first failure refuses all later ones, so that the log
/// never has a later one without an earlier one; `failure` says which one failed.
///
/// How much may be in progress at once: a thread that blocks waits for room in the queue, of `pendingBytesMax`. A task
/// waits for the run itself (`room`), with a bound of its own.
package final class AppendRun: Sendable {
  /// The most ids of known appends that a run keeps.
  package static let knownIDsMax = 1_000

  /// The result of a run so far.
  package struct Progress: Sendable, Equatable {
    /// Appends that are in the log because of this run.
    package var appended: UInt64 = 0
    /// Appends whose id was in the log already.
    package var known: UInt64 = 0
    /// The ids of the first `knownIDsMax` of them.
    package var knownIDs: [[UInt8]] = []
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
    /// The number of submitted appends that are neither in the log nor refused yet, and their bytes.
    var outstanding = 0
    var outstandingBytes = 0
    /// The task that waits until fewer than that many bytes are in progress.
    var waiters = WaitList<Int, Void>()

    mutating func submit(_ draft: AppendDraft) {
      outstanding += 1
      outstandingBytes += draft.byteCount
    }
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
      for (draft, _) in drafts { state.submit(draft) }
      return true
    }
    if goesOn, !drafts.isEmpty { queue.submit(drafts, of: self) }
    return goesOn
  }

  /// Submits an append as `add` does, and never blocks: the calling task has waited for `room`.
  package func addWithRoom(_ draft: AppendDraft, label: UInt64) throws(StoreError) -> Bool {
    try check(draft)
    let goesOn = state.withLock { state in
      guard state.progress.failure == nil else { return false }
      state.submit(draft)
      return true
    }
    if goesOn { queue.submitAtOnce(draft, of: self, label: label) }
    return goesOn
  }

  /// Suspends until fewer than this many bytes of the run are in progress, or the task is cancelled. While the queue is
  /// full, with what others submitted too, nothing may be in progress: then each of the runs of a store adds only one
  /// append at a time to what waits.
  package func room(below bytesMax: Int) async {
    let bytes = queue.hasRoom ? bytesMax : 1
    let ticket = state.withLock { $0.outstandingBytes < bytes ? nil : $0.waiters.ticket() }
    guard let ticket else { return }
    await withTaskCancellationHandler {
      await wait(ticket, below: bytes)
    } onCancel: {
      state.withLock { $0.waiters.cancel(ticket) }?.resume()
    }
    state.withLock { $0.waiters.forget(ticket) }
  }

  /// Suspends until every submitted append is in the log or refused, also if the task is cancelled.
  @discardableResult
  package func drained() async -> Progress {
    let ticket = state.withLock { $0.waiters.ticket() }
    // An append has bytes, so none is in progress then.
    await wait(ticket, below: 1)
    let (progress, isDrained) = state.withLock { state in
      state.waiters.forget(ticket)
      return (state.progress, state.outstanding == 0)
    }
    assert(isDrained, "a run without bytes in progress has no append in progress")
    return progress
  }

  private func wait(_ ticket: UInt64, below bytes: Int) async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      let waits = state.withLock { state in
        state.outstandingBytes >= bytes && state.waiters.add(ticket, for: bytes, continuation)
      }
      if !waits { continuation.resume() }
    }
  }

  /// Waits until every submitted append is in the log or refused. Blocks.
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
  func finish(_ results: some Sequence<(result: AppendResult, draft: AppendDraft, label: UInt64)>) {
    let (isDrained, ready) = state.withLock { state in
      for (result, draft, label) in results { state.finish(result, of: draft, label: label) }
      let bytes = state.outstandingBytes
      return (state.outstanding == 0, state.waiters.take { bytes < $0 })
    }
    if isDrained { state.signalAll() }
    for continuation in ready { continuation.resume() }
  }
}

extension AppendRun.State {
  fileprivate mutating func finish(_ result: AppendResult, of draft: AppendDraft, label: UInt64) {
    assert(outstanding > 0, "a run finishes only submitted appends")
    outstanding -= 1
    outstandingBytes -= draft.byteCount
    switch result {
    case .success(let outcome) where outcome.isKnown:
      progress.known += 1
      if progress.knownIDs.count < AppendRun.knownIDsMax { progress.knownIDs.append(draft.id) }
    case .success(let outcome):
      assert(outcome.first > progress.last ?? 0, "the appends of a run are in the log in order")
      progress.appended += 1
      if progress.first == nil { progress.first = outcome.first }
      progress.last = outcome.last
      if let given = draft.given, given < outcome.time { progress.raised += 1 }
    case .failure(let error):
      // If a group could not be written, appends that precede a refused one in it fail as well.
      if label < progress.failure?.label ?? .max {
        progress.failure = AppendRun.Failure(label: label, error: error)
      }
    }
  }
}
