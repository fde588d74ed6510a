// The committer's side of the queue: it gathers, watches, sleeps, and takes a group.

internal import StrataBase
internal import Synchronization

extension CommitQueue {
  /// What the committer finds when it looks. With it, it has the turn until it looks again.
  enum Work {
    case group([PendingAppend])
    case idle
    case closing
  }

  /// How many appends the committer waits for before it looks.
  ///
  /// Those who were in the last group tend to come again together. The committer gives them a moment to do so,
  /// or it would sync for the first of them alone and let the others wait for two syncs.
  struct Gathering {
    /// The longest that the committer waits for the callers of the last group to come again.
    static let timeMax: Duration = .microseconds(100)
    /// Of a larger group it waits for so many: what they cost is more than a sync by then, and the others gather
    /// while it syncs.
    static let countMax = 64

    private var wanted = 1

    /// True where the callers of the last group are worth waiting for.
    var isWaiting: Bool { wanted > 1 }

    mutating func begin(after lastCount: Int) { wanted = max(1, min(lastCount, Self.countMax)) }
    mutating func finish() { wanted = 1 }
    func isEnough(_ count: Int) -> Bool { count >= wanted }
  }

  /// Whether the committer looks for an append without sleeping, where the last one came so soon that this paid: the
  /// adaptive spinning of mutexes.
  struct Watching {
    /// The longest that the committer looks for an append before it sleeps.
    static let timeMax: Duration = .microseconds(100)
    /// With one processor the caller could not come while the committer looks.
    private static let canWatch = DedicatedThread.processorCount > 1

    /// True where the committer's last wait was over so soon that it need not have slept.
    private var isBrisk = false
    /// True while the committer looks for an append without sleeping.
    private(set) var isWatched = false

    /// True where it pays to watch, which begins with that.
    mutating func begin() -> Bool {
      assert(!isWatched, "one thread watches")
      isWatched = isBrisk && Self.canWatch
      return isWatched
    }

    mutating func finish() { isWatched = false }
    mutating func note(waited: Duration) { isBrisk = waited < Self.timeMax }
  }

  /// The next group, of at most `bytesMax` bytes unless one append is larger. Blocks until there is work, the
  /// queue is closed and drained, or the timeout.
  ///
  /// - Parameter lastCount: how many appends were in the last group.
  func take(bytesMax: Int, after lastCount: Int, timeout: Duration?) -> Work {
    let start = MonotonicTime.now()
    let (gathers, hasVisitors) = gate.withLock { state in
      state.gathering.begin(after: lastCount)
      state.turn.rest(isUnbounded: timeout == nil)
      return (state.gathering.isWaiting, state.turn.visitorCount > 0)
    }
    if hasVisitors { gate.signalAll() }
    if gathers { gather(bytesMax: bytesMax) }
    watch(from: start)
    let work = waitForWork(bytesMax: bytesMax, from: start, timeout: timeout)
    // There is room now.
    if case .group = work { gate.signalAll() }
    return work
  }

  private func gather(bytesMax: Int) {
    _ = gate.wait(timeout: Gathering.timeMax) { state in
      state.gathering.isEnough(state.waiting.pending.count) || state.isClosing
        || state.waiting.pending.bytes >= bytesMax
    }
    gate.withLock { $0.gathering.finish() }
  }

  /// Nobody relies on being seen here; what comes is signalled as well.
  private func watch(from start: MonotonicTime) {
    let watches = gate.withLock { state in
      guard state.isIdle, state.watching.begin() else { return false }
      isCalled.store(false, ordering: .relaxed)
      return true
    }
    guard watches else { return }
    while !isCalled.load(ordering: .acquiring), start.elapsed < Watching.timeMax { DedicatedThread.relax() }
    gate.withLock { $0.watching.finish() }
  }

  private func waitForWork(bytesMax: Int, from start: MonotonicTime, timeout: Duration?) -> Work {
    var work: Work?
    let isReady: (inout State) -> Bool = { state in
      work = state.takeWork(bytesMax: bytesMax)
      guard work != nil else { return false }
      state.watching.note(waited: start.elapsed)
      return true
    }
    guard let timeout else {
      gate.wait(until: isReady)
      return work ?? .idle
    }
    if !gate.wait(timeout: timeout, until: isReady) {
      // Time to sync what is not; whoever has the turn just now is done within one group.
      gate.wait { state in isReady(&state) || state.turn.takeOrWant() }
    }
    return work ?? .idle
  }
}

extension CommitQueue.State {
  /// True while there is nothing for the committer to do.
  fileprivate var isIdle: Bool {
    waiting.pending.isEmpty && !isClosing && !turn.mustLookAgain && turn.visitorCount == 0
  }

  /// The next piece of work for the committer, and the turn with it; nil while there is none or somebody else has the
  /// turn.
  mutating func takeWork(bytesMax: Int) -> CommitQueue.Work? {
    guard turn.isFree, let work = nextWork(bytesMax: bytesMax) else { return nil }
    turn.take()
    waiting.admit()
    return work
  }

  private mutating func nextWork(bytesMax: Int) -> CommitQueue.Work? {
    if waiting.pending.isEmpty {
      if isClosing, waiting.aside.isEmpty {
        assert(waiting.bytes == 0, "a queue that was drained counts no bytes")
        return .closing
      }
      return turn.looksAgain() ? .idle : nil
    }
    let group = waiting.takeGroup(bytesMax: bytesMax)
    return group.isEmpty ? nil : .group(group)
  }
}
