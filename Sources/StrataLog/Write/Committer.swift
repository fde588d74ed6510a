// The committer: takes groups of appends, decides about them, writes and syncs each group once, and answers.

internal import StrataBase

/// The writer of a store. It runs on a thread of its own, and for single groups on threads that have the turn.
///
/// Its cycle, for each group:
///
/// 1. Prepare: LOCK must still be this writer's; a torn tail is cut off; a full segment is closed and the next begun
///    (`+Failure`, `+Recovery`, `+Roll`).
/// 2. Decide: each append gets sequences, revisions and a time, is refused, or is set aside until an index was built
///    (`AppendDecider`).
/// 3. Write: one write, one sync, a look at LOCK, HEAD (`+Frame`, `+Head`).
/// 4. Answer: the visible mark moves, then each caller gets its result.
///
/// Between groups its own thread writes zeros ahead and syncs HEAD when that is due; after the last it closes the store
/// (`+Close`). An error after which it is not known what is on disk *poisons* the writer (`+Failure`): it accepts
/// nothing any more, and only an open goes on.
///
/// - `state`, `decider` and `failure` belong to the thread that has the turn. The queue hands the turn on under its
///   lock, so each thread sees what the one before it did.
/// - `ending` is guarded by its own lock.
/// - Everything else does not change.
///
/// Sendable without the compiler's proof, for the first of these.
final class Committer: @unchecked Sendable {
  let layout: StoreLayout
  let fileSystem: any FileSystem
  let options: StoreOptions
  let source: LogSource
  let index: StoreIndex
  let queue: CommitQueue
  let sealer: Sealer
  let lookups: LookupThread

  var state: WriterState
  var decider: AppendDecider
  /// Why the writer accepts nothing any more.
  var failure: StoreError?

  /// The end of a writer: why it was not a clean one, if it was not.
  struct Ending {
    var failure: StoreError?
  }
  /// How the thread left the store; nil until it has.
  let ending = Gate<Ending?>(nil)

  init(
    _ state: consuming WriterState, options: StoreOptions, source: LogSource, index: StoreIndex,
    queue: CommitQueue, sealer: Sealer
  ) {
    layout = source.catalog.layout
    fileSystem = source.catalog.fileSystem
    self.options = options
    self.source = source
    self.index = index
    self.queue = queue
    self.sealer = sealer
    lookups = LookupThread(index: index, queue: queue, on: options.machine)
    self.state = state
    decider = AppendDecider(index: index, source: source, clock: options.clock)
  }

  /// Takes over what an open found after a suspension, before a thread runs this again.
  func reopen(_ state: consuming WriterState) {
    assert(failure == nil, "a writer that has failed is closed, and not suspended")
    self.state = state
    decider.begin()
    lookups.reopen()
    ending.withLock { $0 = nil }
  }

  /// The thread's life: groups until the queue is closed and drained, then the end of the store.
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

  /// Commits a group for a thread that has the turn. True where HEAD, or what is buffered, is still to be synced.
  func commitInTurn(_ group: [PendingAppend]) -> Bool {
    commit(group)
    return nextTimeout != nil
  }

  private func commit(_ group: [PendingAppend]) {
    assert(!group.isEmpty, "a group holds an append")
    assertHasTurn()
    do throws(StoreError) { try prepare() } catch { return refuse(group, error) }
    write(group)
    assertHasTurn()
  }

  /// Makes the active segment one that takes a group.
  private func prepare() throws(StoreError) {
    try checkGoesOn()
    // Before a roll: a segment is closed only when nothing stands behind its last block.
    try recoverIfTorn()
    if isRollDue { _ = try roll() }
    // One without events cannot be closed, and nothing may follow its FOOTER.
    if state.active.header.isRewritten {
      throw .invalid(what: "the last segment was rewritten and holds no event to go on behind")
    }
  }

  private func write(_ group: [PendingAppend]) {
    state.frame.begin(at: state.link, syncedThrough: state.durable.offset)
    decider.begin()
    /// What became of each; nil where it is set aside.
    var results: [AppendResult?] = []
    results.reserveCapacity(group.count)
    var aside: [PendingAppend] = []
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
        results.append(.success(try decider.decide(append.draft, in: &state.frame, builds: builds)))
      } catch {
        if error.reason == .indexMissing {
          aside.append(append)
          results.append(nil)
        } else {
          append.refuseFollowers(error)
          results.append(.failure(error))
        }
      }
    }
    assert(results.count == group.count, "each append has an answer, or is set aside")
    state.frame.finish()
    if state.frame.output.count > 0 {
      do throws(StoreError) { try writeFrame() } catch {
        results = results.map { $0 == nil ? nil : .failure(error) }
      }
    }
    for (append, result) in zip(group, results) {
      if let result { append.finish(result) }
    }
    setAside(aside)
  }

  /// Others go on while an index is built that these need.
  private func setAside(_ appends: [PendingAppend]) {
    guard !appends.isEmpty else { return }
    if let failure { return refuse(appends, failure) }
    queue.setAside(appends)
    lookups.start()
  }

  private func refuse(_ group: [PendingAppend], _ error: StoreError) {
    for append in group { append.finish(.failure(error)) }
  }

  /// At the beginning and the end of everything that is done with the turn.
  func assertHasTurn() {
    assert(queue.isTurnTaken, "whoever touches the writer's state has the turn")
    state.assertIsConsistent()
  }
}
