// The committer's side of the queue: it gathers, polls, sleeps, and takes a group.

internal import StrataBase
internal import Synchronization

extension CommitQueue {
  /// The work that the committer takes. With it, the committer has the turn until its next call of `take`.
  enum Work {
    case group([PendingAppend])
    case idle
    case closing
  }

  /// How many appends the committer waits for before it takes a group.
  ///
  /// The callers of the last group tend to return together. The committer gives them a moment to do so; otherwise it
  /// would sync for the first of them alone while the others wait for two syncs.
  struct Gathering {
    /// The longest time that the committer waits for the callers of the last group to return.
    static let timeMax: Duration = .microseconds(100)
    /// After a larger group it waits for only this many: by then their own cost exceeds that of a sync, and the others
    /// gather while it syncs.
    static let countMax = 64

    private var wanted = 1

    /// True if it is worth waiting for the callers of the last group.
    var isWaiting: Bool { wanted > 1 }

    mutating func begin(after lastCount: Int) { wanted = max(1, min(lastCount, Self.countMax)) }
    mutating func finish() { wanted = 1 }
    func isEnough(_ count: Int) -> Bool { count >= wanted }
  }

  /// Whether the committer polls for an append before it sleeps. It does so if the last append arrived soon enough for
  /// that to pay off, like an adaptive mutex that spins.
  struct Watching {
    /// The longest time that the committer polls before it sleeps.
    static let timeMax: Duration = .microseconds(100)
    /// With only one processor the caller could not run while the committer polls.
    private static let canWatch = DedicatedThread.processorCount > 1

    /// True if the committer's last wait was so short that polling would have been enough.
    private var isBrisk = false
    /// True while the committer polls.
    private(set) var isWatched = false

    /// Starts polling and returns true if that is worth it.
    mutating func begin() -> Bool {
      assert(!isWatched, "only one thread polls")
      isWatched = isBrisk && Self.canWatch
      return isWatched
    }

    mutating func finish() { isWatched = false }
    mutating func note(waited: Duration) { isBrisk = waited < Self.timeMax }
  }

  /// Returns the next group, of at most `bytesMax` bytes unless one append is larger. Blocks until there is work, the
  /// queue is closed and drained, or the timeout expires.
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
    // There is room for more appends now.
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

  /// Polling is only an optimisation: every new append is also signalled.
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
      // It is time to sync. If another thread has the turn now, it gives it back within one group.
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

  /// The next piece of work for the committer, and the turn with it; nil if there is none or another thread has the
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
