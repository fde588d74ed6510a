// The turn: which thread may touch the writer's state.

/// Who may touch the writer's state. One at a time has the turn: the committer, a thread that commits its own append
/// while nobody else is at it, or a visitor between two groups.
///
/// The committer has it first, gives it up when it begins to look for work, and has it again with what it finds.
/// Visitors go before both, so that none waits longer than a group.
struct CommitTurn {
  private(set) var isTaken = true
  /// How many wait for the turn between two groups.
  private(set) var visitorCount = 0
  /// True while the committer waits for nothing but the turn.
  private(set) var isWanted = false
  /// True where the committer has to look after HEAD, and would sleep without an end.
  private(set) var mustLookAgain = false
  /// True while the committer waits without a timeout, though something may have to be synced by then.
  private var isWaitUnbounded = false

  /// True where neither somebody has it nor a visitor is to get it.
  var isFree: Bool { !isTaken && visitorCount == 0 }

  mutating func take() {
    assert(!isTaken, "one thread at a time has the turn")
    isTaken = true
  }

  /// - Parameter mustSettle: whether the committer must look after HEAD later.
  mutating func giveBack(mustSettle: Bool) {
    assert(isTaken, "the turn is given back by who has it")
    isTaken = false
    if mustSettle, isWaitUnbounded { mustLookAgain = true }
  }

  // MARK: Visitors

  mutating func arrive() { visitorCount += 1 }

  mutating func leave() {
    assert(visitorCount > 0, "a visitor that leaves has arrived")
    visitorCount -= 1
  }

  /// Gives a visitor the turn. False while somebody else has it.
  mutating func enter() -> Bool {
    guard !isTaken else { return false }
    leave()
    take()
    return true
  }

  // MARK: The committer

  /// The committer begins to look for work.
  ///
  /// - Parameter isUnbounded: whether it will sleep until there is some.
  mutating func rest(isUnbounded: Bool) {
    assert(isTaken, "the committer rests after a turn of its own")
    isTaken = false
    isWanted = false
    isWaitUnbounded = isUnbounded
  }

  /// Takes the turn for the committer, which otherwise waits for nothing else from here on.
  mutating func takeOrWant() -> Bool {
    isWanted = isTaken
    guard !isTaken else { return false }
    take()
    return true
  }

  /// True once where the committer was asked to look after HEAD.
  mutating func looksAgain() -> Bool {
    defer { mustLookAgain = false }
    return mustLookAgain
  }
}
