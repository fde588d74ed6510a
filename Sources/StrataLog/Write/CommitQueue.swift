// The queue to which callers submit appends, and from which the committer takes them as groups.

internal import StrataBase
internal import Synchronization

/// A lock around pure state: the waiting appends (`WaitingAppends`), which thread may access the writer's state
/// (`CommitTurn`), and how the committer waits for callers (`Gathering`, `Watching`).
///
/// Its cycle: callers submit appends and wait for their results; the committer gives up the turn, gathers, polls,
/// sleeps, and takes a group together with the turn. A thread that blocks may take the turn instead and commit its own
/// append, and a visitor may take it between two groups.
///
/// All mutable state is in `State` and guarded by `gate`, except `isCalled`, which is atomic. Appends are finished, and
/// threads woken, after the lock was released.
final class CommitQueue: Sendable {
  struct State {
    var waiting: WaitingAppends
    var turn = CommitTurn()
    var gathering = Gathering()
    var watching = Watching()
    /// The reason why nothing more is accepted, or nil.
    var end: StoreError?
    var isClosing = false
  }

  let gate: Gate<State>
  /// Ends the committer's polling. Has no meaning while it does not poll.
  let isCalled = Atomic<Bool>(false)

  /// - Parameter bytesMax: how many bytes may wait before callers have to.
  init(bytesMax: Int) { gate = Gate(State(waiting: WaitingAppends(bytesMax: bytesMax))) }

  // MARK: Submitting

  /// Submits an append and suspends until it is durable or refused. Cancelling the task withdraws the append unless a
  /// group has it already. A draft is submitted only once.
  ///
  /// - Returns: nil if it was withdrawn.
  func submit(_ draft: AppendDraft) async -> AppendResult? {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        enqueue(PendingAppend(draft: draft, caller: .task(continuation)))
      }
    } onCancel: {
      takeBack(draft)
    }
  }

  /// Withdraws the append of a cancelled task. If it has not arrived yet, the task notices the cancellation when it
  /// does; if a group has it, nothing is withdrawn.
  private func takeBack(_ draft: AppendDraft) {
    guard let taken = gate.withLock({ $0.waiting.takeBack(draft) }) else { return }
    taken.cancel()
    gate.signalAll()
  }

  /// Submits an append of a thread that may block, and waits for its result. If the queue is idle, the thread takes the
  /// turn and commits its append itself: passing it to the committer and being woken again would cost a good part of a
  /// sync.
  ///
  /// - Parameter commit: commits a group; returns true if the committer must sync HEAD later.
  func submitBlocking(
    _ draft: AppendDraft, commit: (_ group: [PendingAppend]) -> Bool
  ) -> AppendResult {
    waitForRoom()
    let answer = Gate<AppendResult?>(nil)
    if gate.withLock({ $0.takeTurnIfIdle() }) {
      let mustSettle = commit([PendingAppend(draft: draft, caller: .thread(answer))])
      giveTurnBack(mustSettle: mustSettle)
      return answer.wait { $0 }
    }
    enqueue(PendingAppend(draft: draft, caller: .thread(answer)))
    return answer.wait { $0 }
  }

  /// Submits several appends in one step, so that they are framed consecutively, and waits for all.
  func submitBlocking(_ drafts: [AppendDraft]) -> [AppendResult] {
    waitForRoom()
    let answers = drafts.map { _ in Gate<AppendResult?>(nil) }
    let refusal = gate.withLock { state -> StoreError? in
      if let end = state.end { return end }
      let batch = answers.first.map { ObjectIdentifier($0) }
      for (draft, answer) in zip(drafts, answers) {
        state.waiting.add(PendingAppend(draft: draft, caller: .thread(answer), batch: batch))
      }
      return nil
    }
    if let refusal { return drafts.map { _ in .failure(refusal) } }
    isCalled.store(true, ordering: .releasing)
    gate.signalAll()
    return answers.map { $0.wait { $0 } }
  }

  /// Submits the next appends of a run, blocks while there is no room, and returns without waiting for their results.
  func submit(_ drafts: [(draft: AppendDraft, label: UInt64)], of run: AppendRun) {
    waitForRoom()
    let handOver = gate.withLock { state -> State.HandOver in
      if let end = state.end { return .refused(end) }
      for (draft, label) in drafts {
        state.waiting.add(PendingAppend(draft: draft, caller: .run(run, label: label)))
      }
      return .pending(
        isEnough: state.gathering.isEnough(state.waiting.pending.count), isWatched: state.watching.isWatched)
    }
    if case .refused(let error) = handOver {
      return run.finish(drafts.lazy.map { (.failure(error), $0.draft, $0.label) })
    }
    wake(after: handOver)
  }

  /// The same without waiting for room: for a run that bounds what it has in progress itself.
  func submitAtOnce(_ draft: AppendDraft, of run: AppendRun, label: UInt64) {
    enqueue(PendingAppend(draft: draft, caller: .run(run, label: label)))
  }

  private func waitForRoom() { gate.wait { $0.waiting.hasRoom || $0.end != nil } }

  private func enqueue(_ append: PendingAppend) {
    let handOver = gate.withLock { $0.handOver(append) }
    switch handOver {
    case .refused(let error): append.finish(.failure(error))
    case .cancelled: append.cancel()
    case .outside: break
    case .pending: wake(after: handOver)
    }
  }

  /// Wakes the committer after the lock was released, so that a polling thread does not run into it.
  private func wake(after handOver: State.HandOver) {
    guard case .pending(let isEnough, let isWatched) = handOver else { return }
    if isWatched { isCalled.store(true, ordering: .releasing) }
    if isEnough { gate.signalAll() }
  }

  // MARK: Aside

  /// Keeps appends that a group had until `release`. They count towards the pending bytes, and can be withdrawn.
  func setAside(_ appends: [PendingAppend]) { gate.withLock { $0.waiting.setAside(appends) } }

  /// The drafts that are set aside, in order.
  var draftsAside: [AppendDraft] { gate.withLock { $0.waiting.aside.appends.map(\.draft) } }

  /// Returns appends that were set aside to the committer, ahead of all that wait.
  ///
  /// - Returns: how many were returned.
  @discardableResult
  func release(_ isReady: (AppendDraft) -> Bool) -> Int {
    let count = gate.withLock { $0.waiting.release(isReady) }
    if count > 0 { gate.signalAll() }
    return count
  }

  // MARK: The end

  /// Refuses everything from now on. If `refusingPending` is false, appends that were accepted are still committed;
  /// otherwise they are refused too.
  func end(_ error: StoreError, refusingPending: Bool) {
    let refused = gate.withLock { state in
      state.end = state.end ?? error
      state.isClosing = true
      return refusingPending ? state.waiting.takeAll() : state.waiting.takeOutside()
    }
    for append in refused { append.finish(.failure(error)) }
    gate.signalAll()
  }

  /// Accepts appends again after an end. The committer, which is about to start, has had the turn since then.
  func reopen() {
    gate.withLock { state in
      assert(state.turn.isTaken, "an ended committer keeps the turn")
      assert(state.waiting.isEmpty, "no append waits for an ended committer")
      state.end = nil
      state.isClosing = false
      state.gathering.finish()
    }
  }

  /// Replaces the reason for an end.
  func changeEnd(to error: StoreError) {
    gate.withLock { state in
      assert(state.end != nil, "a queue has ended before the reason changes")
      state.end = error
    }
  }

  // MARK: Observing

  /// The bytes that were submitted and that no group has taken.
  var pendingBytes: Int { gate.withLock { $0.waiting.bytes } }

  /// The appends that were submitted and that no group has taken, and their bytes.
  var pendingCounts: (count: Int, bytes: Int) { gate.withLock { ($0.waiting.count, $0.waiting.bytes) } }

  /// Whether fewer bytes wait than may.
  var hasRoom: Bool { gate.withLock { $0.waiting.hasRoom } }

  /// True while no append waits for the committer, and more may come.
  var isAtRest: Bool { gate.withLock { $0.waiting.pending.isEmpty && !$0.isClosing } }

  /// True while some thread may access the writer's state.
  var isTurnTaken: Bool { gate.withLock { $0.turn.isTaken } }

  var failure: StoreError? { gate.withLock { $0.end } }
}

extension CommitQueue.State {
  /// What happened to a submitted append, and what remains to be done without the lock.
  enum HandOver {
    case refused(StoreError)
    /// Its task was already cancelled.
    case cancelled
    /// It waits for room, and no thread has to be woken.
    case outside
    /// It waits for its group: whether the committer has enough appends to take one, and whether it polls.
    case pending(isEnough: Bool, isWatched: Bool)
  }

  mutating func handOver(_ append: PendingAppend) -> HandOver {
    if let end { return .refused(end) }
    assert(!isClosing, "a closing queue has a reason")
    if case .task = append.caller {
      // Checked under the lock: a later cancellation finds the append in the queue.
      if Task.isCancelled { return .cancelled }
      guard waiting.addOrKeepOutside(append) else { return .outside }
    } else {
      waiting.add(append)
    }
    return .pending(
      isEnough: gathering.isEnough(waiting.pending.count), isWatched: watching.isWatched)
  }
}
