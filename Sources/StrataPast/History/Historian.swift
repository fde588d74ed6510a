// Follows the log and keeps the history of one projection on disk.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Keeps every version of every row of one projection, in runs.
///
/// It has a fold and a position of its own, so it holds up neither appends nor reads; it lags behind the log, and catches
/// up. It works in slices on a thread of the store's machine, as long as there is something to do: it folds events, writes
/// a run, or merges runs. A close writes what is in no run yet; a process that is killed loses it, and the next one folds it
/// again.
///
/// Nothing here is truth. A failure stops the work until it is started again; after damage to a run the whole history
/// is made again. If that is damaged too, either the disk or this code is broken: the files are removed, and the past is
/// replayed until the process ends. `HistorianState` is guarded by its gate, and says who works: `HistoryWork` belongs to the
/// thread that runs a step.
final class Historian: KeptHistory {
  let log: Log
  let folding: Folding
  let files: HistoryFiles
  let name: StateName
  let fingerprint: StateFingerprint
  let cache: RunCache
  let state: Gate<HistorianState>
  /// Those of the projector; nil if no states are saved.
  let checkpoints: Checkpoints?
  let work = HistoryWork()
  /// How long a close folds events that are in no run yet.
  private static let restTime = Duration.milliseconds(50)
  /// How long a read waits for the background thread, before it replays.
  private static let turnTime = Duration.milliseconds(50)

  /// Nil if no history is kept: the options say so, the log is open for reading, or nothing on disk could say which code
  /// made it.
  init?(
    _ log: Log, _ folding: Folding, _ checkpoints: Checkpoints? = nil, _ pages: PageCache? = nil
  ) {
    guard log.options.keepsHistory, !log.isReadOnly, let name = StateName(folding),
      let fingerprint = StateFingerprint(folding, log.options)
    else { return nil }
    self.log = log
    self.folding = folding
    self.name = name
    self.checkpoints = checkpoints
    self.fingerprint = fingerprint
    files = HistoryFiles(log, name)
    cache = RunCache(
      pages ?? PageCache(log.options), openFileCountMax: log.options.runLimits.openFileCountMax)
    state = Gate(HistorianState())
    log.derivedSpace?.add(self)
  }

  var failure: StoreError? {
    stepFailure
      ?? state.withLock { $0.leftOut.first?.list }.map { list in
        .invalid(
          what: """
            the code of the list \(list.definition.kept?.name ?? "") over \(list.table) made other keys of the same rows
            """,
          next:
            "its past is built from the rows until the process starts again; let the code depend on the row alone"
        )
      }
  }

  /// The same, unless the work goes on.
  private var stepFailure: StoreError? {
    state.withLock { state in
      guard state.isGivenUp else { return state.failure }
      return .invalid(
        what: "the history of \(name.name) was damaged again after it was made again from the log",
        next: "check the disk; the past is replayed until the process starts again")
    }
  }
  /// The last event that is in a run, as far as this process knows.
  var end: UInt64 { state.withLock { $0.runs?.end ?? 0 } }
  var firstSequence: UInt64? { state.withLock { $0.runs?.firstSequence } }

  /// Starts to work in the background if there may be something to do.
  func start() {
    // A simulated disk sees the calls of one thread only.
    guard !log.options.writesInStep else { return }
    // A state that was published just before a suspension may lead here after it. The next append or read tries again.
    let isSuspended = log.isSuspended
    let begins = state.withLock { $0.start(through: log.mark.visible.sequence, isSuspended: isSuspended) }
    guard begins else { return }
    // Between two steps, the work does not keep the store alive.
    log.options.machine.follows.start(TimeSlice()) { [weak self] in self?.resume() ?? false }
  }

  /// One step in the background. Returns whether there is more to do.
  private func resume() -> Bool {
    if runStep() { return true }
    endTurn()
    // The log may have grown meanwhile. After a failure the next append or read tries again.
    if stepFailure == nil, mayWrite { start() }
    return false
  }

  /// Catches up with the log. Waits for the background thread, if that works. Blocks.
  ///
  /// - Parameters:
  ///   - writesRest: whether the last events are written too, if they are too few for a run.
  ///   - progress: called from time to time with the last event that was folded in.
  func recordBlocking(
    writesRest: Bool = false, progress: ((UInt64) -> Void)? = nil
  ) throws(StoreError) {
    takeTurn()
    defer { endTurn() }
    while runStep(writesRest: writesRest) { progress?(state.withLock { $0.reached }) }
    if let stepFailure { throw stepFailure }
  }

  /// Ends the work until `mayGoOn`, and forgets what is known of the folder: another process may soon write there. The last
  /// events are written before if they are soon folded. Blocks for as long as a step and a run take, and the removal of
  /// what a lower version has left.
  func stop() {
    let (generation, mayRun, isWanted) = state.withLock { state in
      state.stop()
      return (state.generation, !state.isDamaged, state.isWanted)
    }
    takeTurn()
    step {
      if mayRun, mayWrite {
        // A process that ends soon may not have had the time to look at the folder.
        if isWanted { try? work.load(self, generation) }
        // What cannot be written now is folded again by the next process.
        try? work.writeRest(
          self, generation, TimeSlice(until: MonotonicTime.now().advanced(by: Self.restTime)))
        // A process that used a lower version, too, has left its history.
        if state.withLock({ $0.runs.map { !$0.runs.isEmpty } ?? false }) { removeLowerVersions() }
      }
      forget()
      work.reset()
    }
    endTurn()
  }

  func removeLowerVersions() { log.removeLowerVersions(of: name, in: log.layout.histories) }

  /// Lets the work begin again.
  func mayGoOn() { state.withLock { $0.mayGoOn() } }

  /// The runs on disk, if they hold; nil if there are none. Waits until the folder was looked at. Blocks.
  func runs() -> RunSet? {
    guard (try? log.checkWrites()) != nil, !state.withLock({ $0.isStopping }) else { return nil }
    let known = state.wait { state -> RunSet?? in
      if let runs = state.runs { return .some(runs) }
      return state.takeTurn() ? .some(nil) : nil
    }
    if let known { return known.runs.isEmpty ? nil : known }
    defer { endTurn() }
    let (generation, isDamaged) = state.withLock { ($0.generation, $0.isDamaged) }
    let isLoaded = step { (try? work.load(self, generation, isDamaged: isDamaged)) != nil }
    guard isLoaded else { return nil }
    return state.withLock { state in state.runs.flatMap { $0.runs.isEmpty ? nil : $0 } }
  }

  /// The same, with what is in no run yet as one more run in memory, unless replaying it from the runs costs less, or the
  /// fold is not near or has no time. What is written later is in a file, so this is made again when the log has grown.
  /// Blocks.
  func runs(through sequence: UInt64) -> RunSet? {
    let runs = runs()
    if let runs, runs.end >= sequence { return runs }
    let (tail, owners, reached) = state.withLock { ($0.tail, $0.keptLists, $0.reached) }
    if let tail, tail.isComplete(for: owners), tail.suffices(through: sequence) { return tail.runs }
    let isNear = sequence <= reached.addingSaturated(UInt64(log.options.runLimits.changeCountMax))
    guard isNear, takeTurn(within: Self.turnTime) else { return runs }
    defer {
      endTurn()
      // What was appended meanwhile has started nothing.
      start()
    }
    let (generation, mayMake) = state.withLock { ($0.generation, !$0.isStopping && !$0.isDamaged) }
    guard mayMake else { return runs }
    return step {
      guard let made = work.tail(self, generation, through: sequence) else { return runs }
      // What was erased meanwhile may be in it.
      let reached = work.reached
      return state.withLock { $0.publish(made, reached: reached, of: generation) } ? made.runs : nil
    }
  }

  func noteDamage(in runs: RunSet) {
    let isNew = state.withLock { state in
      guard let known = state.runs, runs.isDamage(to: known) else { return false }
      state.noteDamage()
      return true
    }
    if isNew { noteDiscarded("a file of it is damaged") }
  }

  /// Notes that the runs are damaged which this process knows.
  func noteDamage() { state.withLock { $0.noteDamage() } }

  func forget() { state.withLock { $0.forget() } }

  // MARK: States of the projector

  /// What finds the state that is saved, for a fold of its own; nil if there is none.
  func savedStates() -> Checkpoints? { checkpoints.map(Checkpoints.init(beside:)) }

  /// Notes the newest state that the projector published; nil if it is not one to go on with.
  func notePublished(_ published: PublishedState?) {
    let old = state.withLock { state in
      defer { state.published = published }
      return state.published
    }
    // The pages that only the old state holds are freed outside the lock.
    withExtendedLifetime(old) {}
  }

  /// The newest state that was published, if the fold is soon there.
  func publishedState(near sequence: UInt64, _ last: UInt64) -> PublishedState? {
    let end = min(last, sequence.addingSaturated(UInt64(log.options.runLimits.changeCountMax)))
    guard var published = state.withLock({ $0.published }), published.tables.sequence >= sequence,
      published.tables.sequence <= end
    else { return nil }
    // Until the fold is there, nothing holds older pages of the lists.
    published.tables = published.tables.withoutViews
    return published
  }

  func note(_ change: (inout HistoryBegins) -> Void) { state.withLock { change(&$0.begins) } }

  /// How often the fold began with which state.
  var begins: HistoryBegins { state.withLock { $0.begins } }

  /// Whether a file may be written that nobody has asked for: not on a disk that was full a short time ago.
  var mayWrite: Bool { log.derivedSpace?.allowsWriting ?? false }

  /// Runs one step. Returns whether there is more to do.
  private func runStep(writesRest: Bool = false) -> Bool {
    let (generation, isDamaged, mayRun) = state.withLock { state in
      state.failure = nil
      return (state.generation, state.isDamaged, !state.isStopping && !state.isGivenUp)
    }
    guard mayRun else { return false }
    return step { runStep(generation, isDamaged: isDamaged, writesRest: writesRest) }
  }

  private func runStep(_ generation: Int, isDamaged: Bool, writesRest: Bool) -> Bool {
    let slice = TimeSlice(until: MonotonicTime.now().advanced(by: log.options.runLimits.stepTime))
    do throws(RunFailure) {
      let isMore = try work.step(self, generation, isDamaged: isDamaged, writesRest: writesRest, slice)
      noteReached(generation)
      return isMore
    } catch {
      if case .otherKeys(let list) = error {
        leaveOut(list)
        work.reset()
        return true
      }
      if case .store(let error) = error {
        // The next try begins at the event that the projection cannot apply.
        if error.reason != .halted { work.reset() }
        // What was forgotten meanwhile has not failed.
        state.withLock { if $0.generation == generation { $0.failure = error } }
        noteReached(generation)
        return false
      }
      work.reset()
      noteDiscarded("a file of it is damaged")
      // Not what was removed or made again meanwhile.
      state.withLock { if $0.generation == generation { $0.noteDamage() } }
      return goesOnAfterDamage()
    }
  }

  private func noteReached(_ generation: Int) {
    let reached = work.reached
    _ = state.withLock { $0.publish(reached: reached, of: generation) }
  }

  /// Whether the history is made again after damage was noted. Otherwise its files are removed.
  private func goesOnAfterDamage() -> Bool {
    let (generation, isGivenUp) = state.withLock { ($0.generation, $0.isGivenUp) }
    // What cannot be removed now is removed by the next process.
    if isGivenUp { try? work.load(self, generation, isDamaged: true) }
    return !isGivenUp
  }

  /// Makes runs those that reads use, unless they hold no longer.
  func publish(_ runs: RunSet, _ generation: Int) {
    state.withLock { $0.publish(runs, of: generation) }
    state.signalAll()
  }
}

// MARK: Erasures and full disks

extension Historian: DerivedFileUser {
  var derivedFolder: String { files.folder }

  func evict(isErasing: Bool) { drop() }

  func willErase() { drop() }

  func didErase() {
    drop()
    cache.removeAll()
    state.withLock { $0.noteErased() }
  }
}
