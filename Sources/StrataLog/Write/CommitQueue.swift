// Where callers hand their appends over, and the committer takes them as groups.

internal import StrataBase
internal import Synchronization

/// A locked shell around pure state: what waits (`WaitingAppends`), who may touch the writer's state
/// (`CommitTurn`), and how the committer waits for callers (`Gathering`, `Watching`).
///
/// Its cycle: callers hand appends over and wait for their results; the committer gives the turn up, gathers, watches,
/// sleeps, and takes a group and with it the turn. A thread that blocks may take the turn instead and commit its own
/// append, and a visitor may take it between two groups.
///
/// Everything that changes is in `State` and guarded by `gate`, except `isCalled`, which is atomic. Appends are
/// finished, and threads woken, after the lock was given back.
final class CommitQueue: Sendable {
  struct State {
    var waiting: WaitingAppends
    var turn = CommitTurn()
    var gathering = Gathering()
    var watching = Watching()
    /// Why nothing more is accepted.
    var end: StoreError?
    var isClosing = false
  }

  let gate: Gate<State>
  /// Ends the committer's watching. Means nothing while it does not.
  let isCalled = Atomic<Bool>(false)

  /// - Parameter bytesMax: how many bytes may wait before callers do.
  init(bytesMax: Int) { gate = Gate(State(waiting: WaitingAppends(bytesMax: bytesMax))) }

  // MARK: Handing over

  /// Hands an append over and suspends until it is durable or refused. Cancelling the task takes it back as
  /// long as no group has it. A draft is handed over once.
  ///
  /// - Returns: nil where it was taken back.
  func submit(_ draft: AppendDraft) async -> AppendResult? {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        enqueue(PendingAppend(draft: draft, caller: .task(continuation)))
      }
    } onCancel: {
      takeBack(draft)
    }
  }

  /// Takes an append of a task that was cancelled out again. Where it is not there yet, the task will find itself
  /// cancelled when it gets here; where a group has it, nothing is taken back.
  private func takeBack(_ draft: AppendDraft) {
    guard let taken = gate.withLock({ $0.waiting.takeBack(draft) }) else { return }
    taken.cancel()
    gate.signalAll()
  }

  /// The same for a thread that may block. Where nobody else is at it, the thread takes the turn and commits its
  /// append itself: handing it to the committer and being woken again would cost a good part of a sync.
  ///
  /// - Parameter commit: commits a group; true where the committer must look after HEAD later.
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

  /// Hands several appends over in one step, so that they are framed behind each other, and waits for all.
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

  /// Hands over the next append of a run, blocking while there is no room, and returns without waiting for it.
  func submit(_ draft: AppendDraft, of run: AppendRun, label: UInt64) {
    waitForRoom()
    enqueue(PendingAppend(draft: draft, caller: .run(run, label: label)))
  }

  private func waitForRoom() { gate.wait { $0.waiting.hasRoom || $0.end != nil } }

  private func enqueue(_ append: PendingAppend) {
    switch gate.withLock({ $0.handOver(append) }) {
    case .refused(let error): append.finish(.failure(error))
    case .cancelled: append.cancel()
    case .outside: break
    case .pending(let isEnough, let isWatched):
      // Behind the lock, or whoever watches would run into it.
      if isWatched { isCalled.store(true, ordering: .releasing) }
      if isEnough { gate.signalAll() }
    }
  }

  // MARK: Aside

  /// Keeps appends that were taken until `release`. They count for what may be pending, and can be taken back.
  func setAside(_ appends: [PendingAppend]) { gate.withLock { $0.waiting.setAside(appends) } }

  /// The drafts that are set aside, in their order.
  var draftsAside: [AppendDraft] { gate.withLock { $0.waiting.aside.appends.map(\.draft) } }

  /// Hands appends that were set aside to the committer again, before all that wait.
  ///
  /// - Returns: how many were handed over.
  @discardableResult
  func release(_ isReady: (AppendDraft) -> Bool) -> Int {
    let count = gate.withLock { $0.waiting.release(isReady) }
    if count > 0 { gate.signalAll() }
    return count
  }

  // MARK: The end

  /// Refuses everything from now on. What was accepted is still committed when `error` is `closed`; after a
  /// failure it is refused too.
  func end(_ error: StoreError, refusingPending: Bool) {
    let refused = gate.withLock { state in
      state.end = state.end ?? error
      state.isClosing = true
      return refusingPending ? state.waiting.takeAll() : state.waiting.takeOutside()
    }
    for append in refused { append.finish(.failure(error)) }
    gate.signalAll()
  }

  /// Accepts again after an end. The committer, which is about to look, has had the turn since then.
  func reopen() {
    gate.withLock { state in
      assert(state.turn.isTaken, "a committer that has ended keeps the turn")
      assert(state.waiting.isEmpty, "nothing waits for a committer that has ended")
      state.end = nil
      state.isClosing = false
      state.gathering.finish()
    }
  }

  /// Gives another reason for an end.
  func changeEnd(to error: StoreError) {
    gate.withLock { state in
      assert(state.end != nil, "an end has a reason before it has another")
      state.end = error
    }
  }

  // MARK: What can be seen

  /// Bytes that were handed over and that no group has taken.
  var pendingBytes: Int { gate.withLock { $0.waiting.bytes } }

  /// True while nothing waits for the committer, and more may come.
  var isAtRest: Bool { gate.withLock { $0.waiting.pending.isEmpty && !$0.isClosing } }

  /// True while some thread may touch the writer's state.
  var isTurnTaken: Bool { gate.withLock { $0.turn.isTaken } }

  var failure: StoreError? { gate.withLock { $0.end } }
}

extension CommitQueue.State {
  /// What happened to an append that was handed over, and what is left to do without the lock.
  enum HandOver {
    case refused(StoreError)
    /// Its task was cancelled before.
    case cancelled
    /// It waits for room, and nobody is woken.
    case outside
    /// It waits for its group: whether the committer has enough of them to look, and whether it watches.
    case pending(isEnough: Bool, isWatched: Bool)
  }

  mutating func handOver(_ append: PendingAppend) -> HandOver {
    if let end { return .refused(end) }
    assert(!isClosing, "a queue that closes says why")
    if case .task = append.caller {
      // Asked under the lock: a cancellation that comes later finds the append here.
      if Task.isCancelled { return .cancelled }
      guard waiting.addOrKeepOutside(append) else { return .outside }
    } else {
      waiting.add(append)
    }
    return .pending(
      isEnough: gathering.isEnough(waiting.pending.count), isWatched: watching.isWatched)
  }
}
