// Resuming from a token or a point: a replay rebuilds the list as it was there.

internal import StrataBase
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

extension FetchController {
  /// The point from which an iteration resumes.
  enum Resumption: Sendable {
    /// The current list.
    case none
    /// The state at the token, which holds the view of the request.
    case at(TableSet, Prepared)
    /// What was shown at the token cannot be rebuilt: the log ends before it, or some of it was erased since.
    case fromTheBeginning
  }

  /// Finds the state at a point, or at the beginning of the append that the point is inside of.
  func resumption(from point: LogPoint) async throws -> Resumption {
    let prepared = try prepared()
    let store = prepared.rows.store
    let sequence = try await store.lookingUp { builds throws(StoreError) in
      let sequence = try store.sequenceBlocking(of: point, builds: builds)
      guard let append = try store.log.append(holding: sequence), append.last > sequence else {
        return sequence
      }
      return append.first - 1
    }
    let states = try await ListError.wrapping {
      try await store.states(
        at: [.sequence(sequence)], prepared.rows.folding,
        view: (prepared.rows.name, prepared.list.definition))
    }
    return .at(states[0], prepared)
  }

  /// Finds the state at a token.
  func resumption(from token: ListToken) async throws -> Resumption {
    let prepared = try prepared()
    let store = prepared.rows.store
    guard token.storeID == store.log.storeID else {
      throw ListError.otherStore(token.store, expected: store.log.storeID.description)
    }
    let result = await store.machine.reads.result { () throws(StoreError) in
      try store.chainBlocking(at: token.sequence)
    }
    let chain: UInt64?
    do throws(StoreError) { chain = try result.get() } catch {
      if case .position(.trimmed(let first)) = error {
        throw ListError.tokenExpired(oldestAvailable: first - 1)
      }
      throw ListError.store(error)
    }
    guard let chain else { return .fromTheBeginning }
    guard chain == token.chain else { throw ListError.store(.diverged(sequence: token.sequence)) }
    // If nothing was appended since, the newest state is the one at the token.
    if token.sequence == store.head.sequence {
      let newest = try await ListError.wrapping {
        try await prepared.rows.projector.state(reaching: token.sequence, with: prepared.lease)
      }
      if newest.sequence == token.sequence { return .at(newest, prepared) }
    }
    let states = try await ListError.wrapping {
      try await store.states(
        at: [.sequence(token.sequence)], prepared.rows.folding,
        view: (prepared.rows.name, prepared.list.definition))
    }
    // After the replay: what was erased before it ended is missing from its state, and may have been shown.
    let isErased = try await ListError.wrapping {
      try await store.lookingUp { [store] builds throws(StoreError) in
        try store.erased(after: token.sequence, builds: builds)
      }
    }
    return isErased ? .fromTheBeginning : .at(states[0], prepared)
  }
}

extension EventStore {
  /// Whether the log notes an erasure after a sequence. Blocks.
  fileprivate func erased(after sequence: UInt64, builds: Bool) throws(StoreError) -> Bool {
    try log.refresh()
    return try log.index.hasEvents(
      of: Array(ErasureEvent.stream.text.utf8), after: sequence, builds: builds)
  }

  /// The chain after a sequence, nil if the log ends before the sequence. Blocks. Throws `trimmed` if the log begins
  /// after it.
  fileprivate func chainBlocking(at sequence: UInt64) throws(StoreError) -> UInt64? {
    // The token may come from a reader that has seen more of the writer's log than this one.
    if sequence > log.mark.sequence { try log.refresh() }
    let mark = log.mark
    guard sequence <= mark.sequence else { return nil }
    guard sequence >= mark.logBegin - 1 else { throw .trimmed(firstAvailable: mark.logBegin) }
    return try log.chain(after: sequence)
  }
}
