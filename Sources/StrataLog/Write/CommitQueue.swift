// Where callers hand their appends over, and the committer takes them as groups.

internal import StrataBase
internal import Synchronization

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
      gate.withLock { $0 = result }
      gate.signalAll()
    case .run(let run, let label):
      run.finish(result, given: draft.given, label: label)
    }
  }

  /// Tells a task that nothing was appended, since it was cancelled.
  func cancel() {
    if case .task(let continuation) = caller { continuation.resume(returning: nil) }
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

/// A locked shell around the appends that wait. Bounded: beyond `bytesMax` they wait for room, and are not counted.
final class CommitQueue: Sendable {
  struct State {
    var pending: [PendingAppend] = []
    /// Encoded bytes of what is pending.
    var bytes = 0
    /// Appends that were taken and wait for an index, in the order in which they came, and their bytes.
    var aside: [PendingAppend] = []
    var asideBytes = 0
    /// Appends of tasks for which there is no room, in the order in which they came; none while there is.
    var outside: [PendingAppend] = []
    /// How many appends the committer waits for before it looks.
    var wanted = 1
    /// True while somebody has the turn: only one at a time may touch the writer's state. The committer has it first.
    var isTurnTaken = true
    /// True while the committer waits without a timeout, though something may have to be synced by then.
    var isWaitUnbounded = false
    var mustLookAgain = false
    /// How many wait for the turn between two groups.
    var visitorCount = 0
    /// True while the committer waits for nothing but the turn.
    var isTurnWanted = false
    /// True where the committer's last wait was over so soon that it need not have slept.
    var isBrisk = false
    /// True while the committer looks for an append without sleeping.
    var isWatched = false
    /// Why nothing more is accepted.
    var end: StoreError?
    var isClosing = false
  }

  /// The longest that the committer waits for the callers of the last group to come again.
  private static let gatheringTime: Duration = .microseconds(100)
  /// Of a larger group it waits for so many: what they cost is more than a sync by then, and the others gather
  /// while it syncs.
  private static let gatheringCountMax = 64

  /// The longest that the committer looks for an append before it sleeps.
  private static let watchingTime: Duration = .microseconds(100)
  /// With one processor the caller could not come while the committer looks.
  private static let canWatch = DedicatedThread.processorCount > 1

  let gate = Gate(State())
  private let bytesMax: Int
  /// Ends the committer's watching. Means nothing while it does not.
  private let isCalled = Atomic<Bool>(false)

  init(bytesMax: Int) { self.bytesMax = bytesMax }

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
    let taken = gate.withLock { state -> PendingAppend? in
      if let place = state.outside.firstIndex(where: { $0.draft === draft }) {
        return state.outside.remove(at: place)
      }
      let append: PendingAppend
      if let place = state.pending.firstIndex(where: { $0.draft === draft }) {
        append = state.pending.remove(at: place)
        state.bytes -= append.draft.byteCount
      } else if let place = state.aside.firstIndex(where: { $0.draft === draft }) {
        append = state.aside.remove(at: place)
        state.asideBytes -= append.draft.byteCount
      } else {
        return nil
      }
      // No group may ever come that makes room.
      state.admit(bytesMax)
      return append
    }
    guard let taken else { return }
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
    gate.wait { $0.bytesInAll < bytesMax || $0.end != nil }
    let answer = Gate<AppendResult?>(nil)
    if takeTurnIfIdle() {
      let mustSettle = commit([PendingAppend(draft: draft, caller: .thread(answer))])
      giveTurnBack(mustSettle: mustSettle)
      return answer.wait { $0 }
    }
    enqueue(PendingAppend(draft: draft, caller: .thread(answer)))
    return answer.wait { $0 }
  }

  private func takeTurnIfIdle() -> Bool {
    gate.withLock { state in
      guard state.pending.isEmpty, !state.isTurnTaken, state.visitorCount == 0, state.end == nil else {
        return false
      }
      state.isTurnTaken = true
      return true
    }
  }

  /// Runs the body between two groups, when nobody else touches the writer's state. Blocks until then.
  ///
  /// - Throws: why the queue has ended, where it has, and what the body throws.
  func withTurn<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    gate.withLock { $0.visitorCount += 1 }
    let refusal = gate.wait { state -> StoreError?? in
      guard state.end == nil else {
        state.visitorCount -= 1
        return .some(state.end)
      }
      guard !state.isTurnTaken else { return nil }
      state.visitorCount -= 1
      state.isTurnTaken = true
      return .some(nil)
    }
    if let refusal {
      // The committer may have looked while this one still counted, and would sleep without its end.
      gate.signalAll()
      throw refusal
    }
    defer { giveTurnBack(mustSettle: true) }
    return try body()
  }

  private func giveTurnBack(mustSettle: Bool) {
    let isWanted = gate.withLock { state in
      state.isTurnTaken = false
      if mustSettle, state.isWaitUnbounded { state.mustLookAgain = true }
      return state.mustLookAgain || state.isTurnWanted || !state.pending.isEmpty || state.isClosing
        || state.visitorCount > 0
    }
    if isWanted { gate.signalAll() }
  }

  /// Hands several appends over in one step, so that they are framed behind each other, and waits for all.
  func submitBlocking(_ drafts: [AppendDraft]) -> [AppendResult] {
    gate.wait { $0.bytesInAll < bytesMax || $0.end != nil }
    let answers = drafts.map { _ in Gate<AppendResult?>(nil) }
    let refusal = gate.withLock { state -> StoreError? in
      if let end = state.end { return end }
      let batch = answers.first.map { ObjectIdentifier($0) }
      for (draft, answer) in zip(drafts, answers) {
        state.pending.append(PendingAppend(draft: draft, caller: .thread(answer), batch: batch))
        state.bytes += draft.byteCount
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
    gate.wait { $0.bytesInAll < bytesMax || $0.end != nil }
    enqueue(PendingAppend(draft: draft, caller: .run(run, label: label)))
  }

  private func enqueue(_ append: PendingAppend) {
    var isEnough = false
    var isWatched = false
    var isCancelled = false
    let refusal = gate.withLock { state -> StoreError? in
      if let end = state.end { return end }
      if case .task = append.caller {
        // Asked under the lock: a cancellation that comes later finds the append here.
        if Task.isCancelled {
          isCancelled = true
          return nil
        }
        guard state.bytesInAll < bytesMax else {
          state.outside.append(append)
          return nil
        }
      }
      state.pending.append(append)
      state.bytes += append.draft.byteCount
      isEnough = state.pending.count >= state.wanted
      isWatched = state.isWatched
      return nil
    }
    if isCancelled { return append.cancel() }
    if let refusal { return append.finish(.failure(refusal)) }
    // Behind the lock, or whoever watches would run into it.
    if isWatched { isCalled.store(true, ordering: .releasing) }
    if isEnough { gate.signalAll() }
  }

  /// What the committer finds when it looks. With it, it has the turn until it looks again.
  enum Work {
    case group([PendingAppend])
    case idle
    case closing
  }

  /// The next group, of at most `bytesMax` bytes unless one append is larger. Blocks until there is work, the
  /// queue is closed and drained, or the timeout.
  ///
  /// Those who were in the last group tend to come again together. The committer gives them a moment to do so,
  /// or it would sync for the first of them alone and let the others wait for two syncs.
  func take(bytesMax groupBytesMax: Int, after lastCount: Int, timeout: Duration?) -> Work {
    let wanted = min(lastCount, Self.gatheringCountMax)
    let start = MonotonicTime.now()
    let hasVisitors = gate.withLock { state in
      state.isTurnTaken = false
      state.wanted = max(1, wanted)
      state.isWaitUnbounded = timeout == nil
      return state.visitorCount > 0
    }
    if hasVisitors { gate.signalAll() }
    if wanted > 1 {
      _ = gate.wait(timeout: Self.gatheringTime) { state in
        state.pending.count >= wanted || state.isClosing || state.bytes >= groupBytesMax
      }
      gate.withLock { $0.wanted = 1 }
    }
    watch(from: start)
    var work: Work?
    let isReady: (inout State) -> Bool = { state in
      work = state.take(groupBytesMax)
      guard work != nil else { return false }
      state.isTurnTaken = true
      state.isBrisk = start.elapsed < Self.watchingTime
      state.admit(self.bytesMax)
      return true
    }
    if let timeout {
      if !gate.wait(timeout: timeout, until: isReady) {
        // Time to sync what is not; whoever has the turn just now is done within one group.
        gate.wait { state in
          if isReady(&state) { return true }
          state.isTurnWanted = state.isTurnTaken
          guard !state.isTurnTaken else { return false }
          state.isTurnTaken = true
          work = .idle
          return true
        }
      }
    } else {
      gate.wait(until: isReady)
    }
    if case .group = work { gate.signalAll() }
    return work ?? .idle
  }

  /// Looks for an append without sleeping, where the last one came so soon that this paid: the adaptive spinning of
  /// mutexes. Nobody relies on being seen here; what comes is signalled as well.
  private func watch(from start: MonotonicTime) {
    let watches = gate.withLock { state in
      state.isWatched = state.isBrisk && state.isEmpty && Self.canWatch
      if state.isWatched { isCalled.store(false, ordering: .relaxed) }
      return state.isWatched
    }
    guard watches else { return }
    while !isCalled.load(ordering: .acquiring), start.elapsed < Self.watchingTime { DedicatedThread.relax() }
    gate.withLock { $0.isWatched = false }
  }

  /// Refuses everything from now on. What was accepted is still committed when `error` is `closed`; after a
  /// failure it is refused too.
  func end(_ error: StoreError, refusingPending: Bool) {
    let refused = gate.withLock { state in
      state.end = state.end ?? error
      state.isClosing = true
      var refused = state.outside
      state.outside = []
      guard refusingPending else { return refused }
      refused = state.aside + state.pending + refused
      state.aside = []
      state.asideBytes = 0
      state.pending = []
      state.bytes = 0
      return refused
    }
    for append in refused { append.finish(.failure(error)) }
    gate.signalAll()
  }

  /// Accepts again after an end. The committer, which is about to look, has the turn.
  func reopen() {
    gate.withLock { state in
      state.end = nil
      state.isClosing = false
      state.isTurnTaken = true
      state.wanted = 1
    }
  }

  /// Gives another reason for an end.
  func changeEnd(to error: StoreError) { gate.withLock { $0.end = error } }

  /// Bytes that were handed over and that no group has taken.
  var pendingBytes: Int { gate.withLock { $0.bytesInAll } }

  /// True while nothing waits for the committer, and more may come.
  var isAtRest: Bool { gate.withLock { $0.pending.isEmpty && !$0.isClosing } }

  var failure: StoreError? { gate.withLock { $0.end } }
}

extension CommitQueue.State {
  /// Bytes of all that no group has for good.
  var bytesInAll: Int { bytes + asideBytes }

  /// True while there is nothing for the committer to do.
  fileprivate var isEmpty: Bool { pending.isEmpty && !isClosing && !mustLookAgain && visitorCount == 0 }

  /// The next piece of work for the committer, or nil while there is none or somebody else has the turn.
  fileprivate mutating func take(_ bytesMax: Int) -> CommitQueue.Work? {
    guard !isTurnTaken, visitorCount == 0 else { return nil }
    if pending.isEmpty {
      if isClosing, aside.isEmpty { return .closing }
      guard mustLookAgain else { return nil }
      mustLookAgain = false
      return .idle
    }
    let group = holdBack(takeGroup(bytesMax))
    return group.isEmpty ? nil : .group(group)
  }

  /// The appends that wait, as far as they make a group.
  private mutating func takeGroup(_ bytesMax: Int) -> [PendingAppend] {
    if self.bytes <= bytesMax {
      defer { pending = [] }
      self.bytes = 0
      return pending
    }
    var groupBytes = 0
    var count = 0
    while count < pending.count {
      groupBytes += pending[count].draft.byteCount
      if count > 0, groupBytes > bytesMax { break }
      count += 1
    }
    let group = Array(pending[..<count])
    pending.removeSubrange(..<count)
    bytes -= group.reduce(0) { $0 + $1.draft.byteCount }
    return group
  }

  /// Lets those in for whom there is room now.
  fileprivate mutating func admit(_ bytesMax: Int) {
    var count = 0
    while count < outside.count, bytesInAll < bytesMax {
      bytes += outside[count].draft.byteCount
      pending.append(outside[count])
      count += 1
    }
    outside.removeFirst(count)
  }
}
