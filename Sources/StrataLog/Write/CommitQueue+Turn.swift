// Threads other than the committer's that take the turn.

internal import StrataBase

extension CommitQueue {
  /// Runs the body between two groups, when nobody else touches the writer's state. Blocks until then.
  ///
  /// - Throws: why the queue has ended, where it has, and what the body throws.
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
      // The committer may have looked while this one still counted, and would sleep without its end.
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
  /// Takes the turn for a thread with an append of its own, where that goes ahead of nobody.
  mutating func takeTurnIfIdle() -> Bool {
    guard waiting.pending.isEmpty, turn.isFree, end == nil else { return false }
    turn.take()
    return true
  }

  /// True where somebody waits for what the turn was taken from.
  mutating func giveTurnBack(mustSettle: Bool) -> Bool {
    turn.giveBack(mustSettle: mustSettle)
    return turn.mustLookAgain || turn.isWanted || !waiting.pending.isEmpty || isClosing
      || turn.visitorCount > 0
  }
}
