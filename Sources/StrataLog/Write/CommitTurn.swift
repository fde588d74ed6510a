// The turn: which thread may access the writer's state.

/// The right to access the writer's state. One thread at a time has it: the committer, a thread that commits its own
/// append while the queue is idle, or a visitor between two groups.
///
/// The committer has it first, gives it up when it starts to wait for work, and takes it again together with the work.
/// Visitors go ahead of both, so that none waits longer than a group.
struct CommitTurn {
  private(set) var isTaken = true
  /// How many visitors wait for the turn between two groups.
  private(set) var visitorCount = 0
  /// True while the committer waits only for the turn.
  private(set) var isWanted = false
  /// True if the committer has to sync HEAD, but would sleep without a timeout.
  private(set) var mustLookAgain = false
  /// True while the committer waits without a timeout, although something may have to be synced meanwhile.
  private var isWaitUnbounded = false

  /// True if no thread has the turn and no visitor waits for it.
  var isFree: Bool { !isTaken && visitorCount == 0 }

  mutating func take() {
    assert(!isTaken, "only one thread at a time has the turn")
    isTaken = true
  }

  /// - Parameter mustSettle: whether the committer must sync HEAD later.
  mutating func giveBack(mustSettle: Bool) {
    assert(isTaken, "only the thread that has the turn gives it back")
    isTaken = false
    if mustSettle, isWaitUnbounded { mustLookAgain = true }
  }

  // MARK: Visitors

  mutating func arrive() { visitorCount += 1 }

  mutating func leave() {
    assert(visitorCount > 0, "a visitor that leaves has arrived")
    visitorCount -= 1
  }

  /// Gives a visitor the turn. False while another thread has it.
  mutating func enter() -> Bool {
    guard !isTaken else { return false }
    leave()
    take()
    return true
  }

  // MARK: The committer

  /// The committer starts to wait for work.
  ///
  /// - Parameter isUnbounded: whether it will sleep until there is work.
  mutating func rest(isUnbounded: Bool) {
    assert(isTaken, "the committer rests after a turn of its own")
    isTaken = false
    isWanted = false
    isWaitUnbounded = isUnbounded
  }

  /// Takes the turn for the committer. If another thread has it, the committer waits only for the turn from now on.
  mutating func takeOrWant() -> Bool {
    isWanted = isTaken
    guard !isTaken else { return false }
    take()
    return true
  }

  /// True, once, if the committer was told to sync HEAD.
  mutating func looksAgain() -> Bool {
    defer { mustLookAgain = false }
    return mustLookAgain
  }
}
