// One fold per projection, shared by all readers of its tables.

internal import StrataBase
package import StrataLog
package import StrataTables

/// Keeps the newest state of a projection, and folds further when a caller requests a later state.
///
/// It pulls: nothing is folded, queued or woken for tables without readers. A caller that requests a sequence waits
/// without holding a thread. One thread at a time folds for all waiting callers, up to the visible end, and publishes
/// one state. It does so in slices, between which other projectors have their turn: see `FairThreads`.
///
/// A pass begins when a caller waits and no thread is folding. It ends when it has published a state and no caller is
/// waiting, when the log cannot be read any further, or when all waiting callers were cancelled. Failed and cancelled
/// callers are answered immediately, and the next pass continues from what was folded until then. `State` is guarded by
/// its lock. `Exclusive` belongs to the thread that runs the slice; `isFolding` ensures that there is only one.
///
/// A view is built in slices of its own, while passes go on for the other callers, and a view that takes too long leaves
/// the fold: see `Projector+Views.swift`. A fold that is inside of such a view and does not come back is given up, with
/// its `Exclusive`, and another one takes over: see `Projector+Watch.swift`. So a thread that returns from `run` looks
/// whether its `Exclusive` is still the projector's before it touches it.
///
/// The first pass begins with the state that an earlier process saved, if there is one. States are saved in the
/// background, while other passes run: see `Projector+Checkpoint.swift`.
package final class Projector: Sendable {
  /// A condition on a state: it has everything up to a sequence and, if a view is named, that view.
  struct Wish {
    var sequence: UInt64
    var view: (table: String, definition: ViewDefinition)?

    func isTrue(of set: TableSet) -> Bool {
      guard set.sequence >= sequence else { return false }
      guard let (table, definition) = view else { return true }
      return set[table].view(definition.identity) != nil
    }
  }

  typealias Answer = Result<TableSet, any Error>

  /// A state as a fold published it, and what is to be known to go on from it.
  struct Folded {
    var tables: TableSet
    /// `headAtBegin` of the fold.
    var head: UInt64
    /// What was erased in the log before the fold began. It may have begun again since.
    var erasures: SegmentErasures?
  }

  struct State {
    /// The newest state, with the views that were added to it since it was folded.
    var published: TableSet
    /// The newest state without those.
    var folded: Folded
    /// What belongs to the thread that folds.
    var exclusive: Exclusive
    var waiters = WaitList<Wish, Answer>()
    var isFolding = false
    /// Whether a pass has ever begun.
    var hasBegun = false
    /// Whether a thread is saving a state.
    var isSaving = false
    /// The number of leases of each view.
    var holders: [ViewKey: Int] = [:]
    /// Views without a name and a lease, to be removed before the next fold.
    var unused: Set<ViewKey> = []
    /// Views with names.
    var keptViews = KeptViews()
    /// Views that are built or catch up beside the folding. None of them is in the fold.
    var followers: [ViewKey: Follower] = [:]
    var watched = Watched()
    /// How far the fold has come.
    var reached: ReachedSequence?
  }

  final class Exclusive: @unchecked Sendable {
    /// Nil before the first pass.
    var fold: Fold?
    /// What the fold begins with; nil for the state on disk.
    let begin: Folded?
    /// Where the current pass ends; nil before it begins.
    var target: LogMark?
    var work: FoldingWork
    /// Whether a view was ever added to the fold.
    var hasViews: Bool
    let meter: ViewMeter
    /// The error with which the fold halted, if it did.
    var halt: StoreError?
    /// How often the fold had begun again when that was last looked at.
    var restartCount = 0
    /// Over for the folding thread when other folds have their turn, and while no caller waits.
    let slice = TimeSlice()

    init(_ options: StoreOptions, begin: Folded? = nil, _ work: FoldingWork = FoldingWork()) {
      self.begin = begin
      self.work = work
      hasViews = begin != nil
      meter = ViewMeter(budget: options.viewBudget)
    }
  }

  let log: Log
  let state: Gate<State>
  let kept: KeptProjection
  let threads: FairThreads

  package convenience init(_ log: Log, _ folding: Folding) {
    self.init(log, KeptProjection(log, folding, nil), on: StoreMachine.process.folds)
  }

  init(_ log: Log, _ kept: KeptProjection, on threads: FairThreads) {
    (self.log, self.kept, self.threads) = (log, kept, threads)
    let begin = log.mark.logBegin - 1
    let tables = TableSet(sequence: begin, recordsTouches: kept.folding.recordsTouches)
    state = Gate(
      State(
        published: tables, folded: Folded(tables: tables, head: begin), exclusive: Exclusive(log.options)))
  }

  /// Not for a thread that returns from `run` before it knows that this is still its own.
  var exclusive: Exclusive { state.withLock { $0.exclusive } }

  var folding: Folding { kept.folding }
  var checkpoints: Checkpoints? { kept.checkpoints }
  var historian: Historian? { kept.historian }

  /// The newest state that was published; it may lag behind the log.
  package var published: TableSet { state.withLock { $0.published } }

  /// A state that has everything up to a sequence, or up to the end if the log is shorter.
  ///
  /// Throws `CancellationError` as soon as the task is cancelled while it waits.
  package func state(reaching sequence: UInt64) async throws -> TableSet {
    try await reach(sequence, nil)
  }

  /// The same with a view over one of the tables, which is kept up to date as long as `lease` lives.
  package func state(reaching sequence: UInt64, with lease: ViewLease) async throws -> TableSet {
    try await reach(sequence, (lease.table, lease.definition))
  }

  /// Holds a view, which is built when a state is first requested with the lease.
  package func lease(_ definition: ViewDefinition, of table: String) -> ViewLease {
    let key = ViewKey(table, definition)
    state.withLock { state in
      state.holders[key, default: 0] += 1
      state.unused.remove(key)
      if let kept = definition.kept { state.keptViews.noteLease(key, kept) }
    }
    if definition.kept != nil { kept.history?.keep(definition, of: table) }
    return ViewLease(table: table, definition: definition, projector: self)
  }

  func release(_ lease: ViewLease) {
    let key = ViewKey(lease.table, lease.definition)
    let ended = state.withLock { state -> (TableSet?, [Follower]) in
      guard let count = state.holders[key] else { return (nil, []) }
      state.holders[key] = count > 1 ? count - 1 : nil
      guard count <= 1 else { return (nil, []) }
      // Of views with one name the last leased is kept up to date, so that it can be saved as it then is.
      if let kept = lease.definition.kept {
        state.keptViews.noteRelease(key, kept)
      } else {
        state.unused.insert(key)
      }
      return (state.forgetAnswer(key), state.giveUpFollowers())
    }
    withExtendedLifetime(ended) {}
  }

  private func reach(
    _ sequence: UInt64, _ view: (table: String, definition: ViewDefinition)?
  ) async throws -> TableSet {
    // From its first read on, a store that is open for reading follows what its writer appends.
    try log.follow()
    let wish = Wish(sequence: min(sequence, log.mark.sequence), view: view)
    let (ready, ticket) = state.withLock { state in
      state.answer(to: wish).map { ($0, 0) } ?? (nil, state.waiters.ticket())
    }
    if let ready { return ready }
    let result = await withTaskCancellationHandler {
      await withUnsafeContinuation { wait(ticket, for: wish, $0) }
    } onCancel: {
      cancel(ticket)
    }
    state.withLock { $0.waiters.forget(ticket) }
    return try result.get()
  }

  private func wait(_ ticket: UInt64, for wish: Wish, _ continuation: UnsafeContinuation<Answer, Never>) {
    let (answer, work) = state.withLock { state -> (Answer?, Work) in
      // Another caller's pass may have ended in the meantime.
      if !state.waiters.isCancelled(ticket), let set = state.answer(to: wish) {
        return (.success(set), Work())
      }
      guard state.waiters.add(ticket, for: wish, continuation) else {
        return (.failure(CancellationError()), Work())
      }
      state.exclusive.slice.setWanted(true)
      return (nil, state.beginWork(for: wish))
    }
    if let answer { continuation.resume(returning: answer) }
    start(work)
  }

  private func cancel(_ ticket: UInt64) {
    let (waiter, ended) = state.withLock { state in
      let waiter = state.waiters.cancel(ticket)
      if waiter != nil, state.waiters.isEmpty { state.exclusive.slice.setWanted(false) }
      return (waiter, state.giveUpFollowers())
    }
    waiter?.resume(returning: .failure(CancellationError()))
    withExtendedLifetime(ended) {}
  }
}

// MARK: Folding

extension Projector {
  /// Runs one slice of a pass, on a thread of `threads`. Returns true if there is more to do.
  func foldOn(_ own: Exclusive) -> Bool {
    let fold = currentFold(own)
    let target = own.target ?? beginPass(fold, own)
    do throws(StoreError) {
      guard let isDone = try run(fold, through: target.sequence, own.slice, own) else { return false }
      guard isDone else { return isStillWanted(own) }
      if fold.state.sequence < target.sequence { throw .closed }
    } catch {
      guard owns(own) else { return false }
      noteIfHalted(error, own)
      saveIfHalted(fold, error, own)
      return fail(error, own)
    }
    if fold.state.sequence == target.sequence { fold.state.chain = target.chain }
    for (table, definition) in state.withLock({ $0.waiters.wishes.compactMap(\.view) }) {
      provide(definition, of: table, in: fold, own)
    }
    // Before it is published: from then on another thread may fold on.
    saveIfDue(withFollowers(fold.state), fold.erasures, own)
    return publish(fold.state, by: own)
  }

  /// Whether what belongs to the folding thread still belongs to the one that calls.
  func owns(_ own: Exclusive) -> Bool { state.withLock { $0.exclusive === own } }

  /// The fold, which begins with the state on disk if there is a valid one.
  func currentFold(_ own: Exclusive) -> Fold {
    if let fold = own.fold { return fold }
    let fold: Fold
    if let begin = own.begin {
      fold = Fold(log, folding, from: begin.tables, headAtBegin: begin.head, erasures: begin.erasures)
    } else if let restored = checkpoints?.restore() {
      fold = Fold(
        log, folding, from: restored.tables, headAtBegin: restored.head, erasures: restored.erasures)
    } else {
      fold = Fold(log, folding, marksErasures: checkpoints != nil && log.savesStates)
    }
    use(fold, own)
    // What a fold that was given up had folded is not on disk yet.
    if own.begin == nil { own.work.begin(after: fold.state) }
    state.withLock { $0.hasBegun = true }
    return fold
  }

  /// Makes a fold the one that goes on.
  func use(_ fold: Fold, _ own: Exclusive) {
    assert(fold !== own.fold, "a fold is begun once")
    fold.meter = own.meter
    own.fold = fold
    own.restartCount = fold.restartCount
    state.withLock { $0.reached = fold.reached }
  }

  private func beginPass(_ fold: Fold, _ own: Exclusive) -> LogMark {
    let target = log.mark.visible
    own.target = target
    takeInFollowers(fold, own)
    settleViews(fold)
    own.meter.beginStep()
    watch(own)
    return target
  }

  /// Whether the pass continues. If no caller waits it ends here, and the next pass continues from what is folded.
  private func isStillWanted(_ own: Exclusive) -> Bool {
    let isWanted = state.withLock { state in
      if state.waiters.isEmpty {
        own.target = nil
        state.isFolding = state.needsPass
      }
      return state.isFolding
    }
    if !isWanted { state.signalAll() }
    return isWanted
  }

  /// Publishes a state and resumes every caller whose condition it meets. Returns true if other callers still wait.
  ///
  /// - Parameter keepsFold: whether the calling thread has more to do with the fold.
  func publish(_ set: TableSet, by own: Exclusive, keepsFold: Bool = false) -> Bool {
    own.target = nil
    let folded = Folded(tables: set, head: own.fold?.headAtBegin ?? 0, erasures: own.fold?.erasures)
    shareWithHistory(folded)
    let (ready, isMore, work, old, ended) = state.withLock { state in
      let old = (state.published, state.folded)
      state.published = set
      state.folded = folded
      let ready = state.waiters.take { $0.isTrue(of: set) }
      let ended = state.dropReplaced() + state.giveUpFollowers()
      var work = Work()
      work.followers = state.beginFollowers()
      let isMore = state.needsPass
      state.isFolding = isMore || keepsFold
      return (ready, isMore, work, old, ended)
    }
    for continuation in ready { continuation.resume(returning: .success(set)) }
    start(work)
    if !isMore { state.signalAll() }
    historian?.start()
    // The pages that only the old states hold are freed outside the lock.
    withExtendedLifetime((old, ended)) {}
    return isMore
  }

  /// Lets the fold of the history go on with a state that is published.
  private func shareWithHistory(_ folded: Folded) {
    guard let historian else { return }
    guard folded.tables.chain != nil, let erasures = folded.erasures
    else { return historian.notePublished(nil) }
    historian.notePublished(PublishedState(tables: folded.tables, erasures: erasures, head: folded.head))
  }

  /// Resumes all waiting callers with an error. The failed fold may have stopped inside an append, and a partial append
  /// is never published. Returns true if a caller waits again meanwhile.
  func fail(_ error: StoreError, _ own: Exclusive) -> Bool {
    own.target = nil
    let (waiters, ended, isMore) = state.withLock { state in
      let waiters = state.waiters.takeAll()
      state.isFolding = state.needsPass
      return (waiters, state.giveUpFollowers(), state.isFolding)
    }
    for continuation in waiters { continuation.resume(returning: .failure(error)) }
    withExtendedLifetime(ended) {}
    if !isMore { state.signalAll() }
    return isMore
  }

  /// Continues with a pass for the callers that wait, or ends without one.
  func yieldFold(_ own: Exclusive) {
    let isWanted = state.withLock { state in
      guard state.exclusive === own else { return false }
      state.isFolding = state.needsPass
      return state.isFolding
    }
    if isWanted { start(Work(pass: own)) } else { state.signalAll() }
  }

  /// What a caller that waits, or a state that was published, begins.
  struct Work {
    /// Whose pass begins.
    var pass: Exclusive?
    var followers: [(key: ViewKey, follower: ViewFollower)] = []
  }

  func start(_ work: Work) {
    if let own = work.pass { threads.start(own.slice) { [self] in foldOn(own) } }
    for (key, follower) in work.followers {
      log.options.machine.views.start(follower.slice) { [self] in step(follower, key) }
    }
  }
}

/// Keeps a view of a projector's table up to date as long as the lease lives.
package final class ViewLease: Sendable {
  package let table: String
  package let definition: ViewDefinition
  private let projector: Projector

  init(table: String, definition: ViewDefinition, projector: Projector) {
    self.table = table
    self.definition = definition
    self.projector = projector
  }

  deinit { projector.release(self) }
}
