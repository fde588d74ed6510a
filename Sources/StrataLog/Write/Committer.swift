// The committer: takes groups of appends, decides about them, writes and syncs each group once, and reports the
// results.

internal import StrataBase

/// The writer of a store. It runs on its own thread, and for single groups on threads that have the turn.
///
/// Its cycle, for each group:
///
/// 1. Prepare: LOCK must still be this writer's; a torn tail is cut off; a full segment is closed and the next begun
///    (`+Failure`, `+Recovery`, `+Roll`).
/// 2. Decide: each append gets sequences, revisions and a time, is refused, or is set aside until an index is built
///    (`AppendDecider`).
/// 3. Write: one write, one sync, a check of LOCK, HEAD (`+Frame`, `+Head`).
/// 4. Answer: the visible mark moves, then each caller gets its result.
///
/// Between groups its own thread writes zeros ahead and syncs HEAD when that is due; after the last group it closes the
/// store (`+Close`). An error after which it is unknown what is on disk *poisons* the writer (`+Failure`): it accepts
/// nothing more, and only reopening the store helps.
///
/// - `state`, `decider`, `failure` and `lastSync` are accessed by the thread that has the turn. The queue passes the turn on under
///   its lock, so each thread sees the changes of the one before it.
/// - `ending` is guarded by its own lock.
/// - Everything else is immutable.
///
/// Sendable without the compiler's proof, because of the first of these.
final class Committer: @unchecked Sendable {
  let layout: StoreLayout
  let fileSystem: any FileSystem
  let options: StoreOptions
  let source: LogSource
  let index: StoreIndex
  let queue: CommitQueue
  let sealer: Sealer
  let lookups: LookupThread
  let derivedSpace: DerivedSpace
  let observation: StoreObservation
  let compressor: PartCompressor?

  var state: WriterState
  var decider: AppendDecider
  /// The reason why the writer accepts nothing more, or nil.
  var failure: StoreError?
  /// The time of the last sync, if it was timed.
  var lastSync = Duration.zero

  /// The end of a writer: why it was not a clean one, if it was not.
  struct Ending {
    var failure: StoreError?
  }
  /// How the writer ended; nil until it has.
  let ending = Gate<Ending?>(nil)

  init(
    _ state: consuming WriterState, options: StoreOptions, source: LogSource, index: StoreIndex,
    queue: CommitQueue, sealer: Sealer, observation: StoreObservation
  ) {
    layout = source.catalog.layout
    fileSystem = source.catalog.fileSystem
    self.options = options
    self.source = source
    self.index = index
    self.queue = queue
    self.sealer = sealer
    self.observation = observation
    lookups = LookupThread(index: index, queue: queue, on: options.machine)
    derivedSpace = DerivedSpace(fileSystem, layout, pause: options.fullDiskPause)
    compressor = options.writesInStep ? nil : PartCompressor(on: options.machine)
    self.state = state
    self.state.frame.compressor = compressor
    decider = AppendDecider(index: index, source: source, clock: options.clock)
  }

  /// Adopts the state that an open found after a suspension, before a thread runs this again.
  func reopen(_ state: consuming WriterState) {
    assert(failure == nil, "a failed writer is closed, not suspended")
    self.state = state
    self.state.frame.compressor = compressor
    decider.begin(count: 0)
    lookups.reopen()
    compressor?.reopen()
    ending.withLock { $0 = nil }
  }

  /// Runs the thread: commits groups until the queue is closed and drained, then closes the store.
  func run() {
    var lastCount = 0
    while true {
      if isPreallocationDue, queue.isAtRest { preallocate() }
      switch queue.take(bytesMax: options.groupSizeMax, after: lastCount, timeout: nextTimeout) {
      case .group(let group):
        lastCount = group.count
        commit(group)
      case .idle:
        lastCount = 0
        settle()
      case .closing:
        close()
        return
      }
    }
  }

  /// Commits a group for a thread that has the turn. True if HEAD, or buffered data, must still be synced.
  func commitInTurn(_ group: [PendingAppend]) -> Bool {
    commit(group)
    return nextTimeout != nil
  }

  private func commit(_ group: [PendingAppend]) {
    assert(!group.isEmpty, "a group holds an append")
    assertHasTurn()
    do throws(StoreError) {
      try makingRoom { () throws(StoreError) in try prepare() }
    } catch { return refuse(group, error) }
    write(group)
    assertHasTurn()
  }

  /// Prepares the active segment for a group.
  private func prepare() throws(StoreError) {
    try checkGoesOn()
    // Before a roll: a segment is closed only if nothing follows its last block.
    try recoverIfTorn()
    if isRollDue { _ = try roll() }
    // A rewritten segment without events cannot be closed, and nothing may follow its FOOTER.
    if state.active.header.isRewritten {
      throw .invalid(
        what: "the last segment was rewritten and holds no event, so nothing can be appended after it")
    }
  }

  private func write(_ group: [PendingAppend]) {
    state.frame.begin(
      at: state.link, syncedThrough: state.durable.offset,
      lengthMax: group.reduce(0) { $0 + $1.draft.encodedLengthMax })
    decider.begin(count: group.count)
    /// The result of each append; nil if it is set aside.
    var results: [AppendResult?] = []
    results.reserveCapacity(group.count)
    var aside: [PendingAppend] = []
    var (conflicts, known): (UInt64, UInt64) = (0, 0)
    for append in group {
      if let refusal = append.refusal {
        results.append(.failure(refusal))
        continue
      }
      if !aside.isEmpty, let order = append.order, aside.contains(where: { $0.order == order }) {
        aside.append(append)
        results.append(nil)
        continue
      }
      do throws(StoreError) {
        let builds = append.isLookedUp || options.writesInStep
        let outcome = try decider.decide(append.draft, in: &state.frame, builds: builds)
        if outcome.isKnown { known += 1 }
        results.append(.success(outcome))
      } catch {
        if error.reason == .indexMissing {
          aside.append(append)
          results.append(nil)
        } else {
          if case .conflict = error { conflicts += 1 }
          append.refuseFollowers(error)
          results.append(.failure(error))
        }
      }
    }
    assert(results.count == group.count, "each append has a result, or is set aside")
    state.frame.finish()
    if state.frame.output.count > 0 {
      do throws(StoreError) { try writeGroup() } catch {
        results = results.map { $0 == nil ? nil : .failure(error) }
        (conflicts, known) = (0, 0)
      }
    }
    observation.counters.addAnswers(conflicts: conflicts, known: known)
    PendingAppend.finish(group, results)
    setAside(aside)
  }

  /// Sets appends aside, so that others go on while the indexes that these need are built.
  private func setAside(_ appends: [PendingAppend]) {
    guard !appends.isEmpty else { return }
    if let failure { return refuse(appends, failure) }
    queue.setAside(appends)
    lookups.start()
  }

  private func refuse(_ group: [PendingAppend], _ error: StoreError) {
    for append in group { append.finish(.failure(error)) }
  }

  /// Called at the beginning and the end of everything that needs the turn.
  func assertHasTurn() {
    assert(queue.isTurnTaken, "a thread that accesses the writer's state has the turn")
    state.assertIsConsistent()
  }
}
