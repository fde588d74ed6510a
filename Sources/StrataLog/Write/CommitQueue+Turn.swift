// Access to the turn for threads other than the committer's.

internal import StrataBase

extension CommitQueue {
  /// Runs the body between two groups, while no other thread accesses the writer's state. Blocks until then.
  ///
  /// - Throws: the reason why the queue has ended, if it has, and the errors of the body.
  func withTurn<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    gate.withLock { $0.turn.arrive() }
    let refusal = gate.wait { state -> StoreError?? in
      guard state.end == nil else {
        state.turn.leave()
        return .some(state.end)
      }
      return state.turn.enter() ? .some(nil) : nil
    }
    if let refusal {
      // The committer may have checked while this visitor was still counted, and would sleep forever without this
      // signal.
      gate.signalAll()
      throw refusal
    }
    defer { giveTurnBack(mustSettle: true) }
    return try body()
  }

  func giveTurnBack(mustSettle: Bool) {
    if gate.withLock({ $0.giveTurnBack(mustSettle: mustSettle) }) { gate.signalAll() }
  }
}

extension CommitQueue.State {
  /// Takes the turn for a thread with its own append, if no other append or visitor is waiting.
  mutating func takeTurnIfIdle() -> Bool {
    guard waiting.pending.isEmpty, turn.isFree, end == nil else { return false }
    turn.take()
    return true
  }

  /// Gives the turn back. True if a thread waits for it.
  mutating func giveTurnBack(mustSettle: Bool) -> Bool {
    turn.giveBack(mustSettle: mustSettle)
    return turn.mustLookAgain || turn.isWanted || !waiting.pending.isEmpty || isClosing
      || turn.visitorCount > 0
  }
}
