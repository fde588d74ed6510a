// The work of a historian: what was decided is done here, one job in each step.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables

/// The runs that are known, the fold of a historian, and what it has not written yet. Belongs to one thread at a time.
///
/// A step does one job, which follows from what is known: see `HistorySituation`.
final class HistoryWork: @unchecked Sendable {
  // Sendable so that it can move from one thread to another between two steps.
  /// What is known of the folder.
  struct Known {
    /// The one of the historian when this was looked up.
    let generation: Int
    var manifest: HistoryManifest
    var runs: RunSet
  }

  /// Nil before the folder was looked at, and while nothing is known to hold.
  var known: Known?
  /// The state at the end of the runs, while it is made.
  private var begin: HistoryBegin?
  private var recording: HistoryRecording?
  /// Where pages of its tables are that need not stay in memory; nil while all of them do.
  private var spillFile: SpillFile?
  /// Whether the fold went on with a state of the projector since the last run was begun.
  private var hasGoneOn = false
  /// How many rows there are at the end of the runs; nil before the fold has begun. What is merged follows from this, and
  /// not from how far the fold is, so that it does not depend on where slices end.
  private var rowCount: Int?
  /// The state that the fold goes on with, once it is there.
  private var published: PublishedState?
  /// Why the fold ends before an event.
  private var halt: StoreError?
  var merge: (merge: RunMerge, level: UInt32)?
  /// Above the number of every file that this process has begun.
  var nextNumber: UInt32 = 1

  /// Whether what is known is of a generation, if anything is.
  func isOf(_ generation: Int) -> Bool { known.map { $0.generation == generation } ?? true }

  /// The last event that was folded in.
  var reached: UInt64 { recording?.sequence ?? known?.runs.end ?? 0 }

  func reset() {
    (known, begin, recording, merge) = (nil, nil, nil, nil)
    (published, spillFile, rowCount, hasGoneOn, halt) = (nil, nil, nil, false, nil)
  }

  /// Does one step. Returns whether there is more to do.
  ///
  /// - Parameters:
  ///   - generation: if it is another one than before, nothing that is known holds.
  ///   - writesRest: whether events that are too few for a run are written, too, once all of the log is folded in.
  func step(
    _ historian: Historian, _ generation: Int, isDamaged: Bool, writesRest: Bool, _ slice: TimeSlice
  ) throws(RunFailure) -> Bool {
    do throws(StoreError) { try historian.log.checkWrites() } catch {
      reset()
      throw .store(error)
    }
    if !isOf(generation) { reset() }
    guard historian.mayWrite else { return false }
    guard let known else {
      try RunFailure.storing { () throws(StoreError) in
        try load(historian, generation, isDamaged: isDamaged)
      }
      return true
    }
    if spillFile?.isDamaged ?? false { foldAgain() }
    // Also where there is nothing more to fold: what is in memory only has a bound.
    if merge == nil, let recording, recording.isSpillDue {
      try spill(historian) { (file, limit) throws(StoreError) in try recording.spill(to: file, over: limit) }
    }
    switch try situation(historian, known, writesRest: writesRest).next {
    case .resumeMerging:
      if let written = try resumeMerging(historian, slice) { try endMerge(written, historian) }
    case .beginMerging(let plan): try beginMerging(plan, historian, known)
    case .leaveOut(let first): try leaveOut(before: first, historian, known)
    case .beginFold: _ = try begun(historian, slice)
    case .fold: try foldOn(historian, slice)
    case .write: try writeRun(historian, known)
    case .addKeys:
      if try beginAddingKeys(historian, known) { return true }
      fallthrough
    case nil:
      guard let halt else { return false }
      // The next step looks whether the event can be applied by then.
      self.halt = nil
      throw .store(halt)
    }
    return true
  }

  private func situation(
    _ historian: Historian, _ known: Known, writesRest: Bool
  ) throws(RunFailure) -> HistorySituation {
    var situation = HistorySituation(isMerging: merge != nil, writesRest: writesRest)
    if situation.isMerging { return situation }
    let options = historian.log.options
    situation.front = try known.front(keeping: options.history.bounds)
    if let rows = rowCount {
      situation.plan = MergePlan(
        known.facts, rowCount: UInt64(rows), options.runLimits, options.history.bounds)
    }
    let last = historian.log.mark.visible.sequence
    if let recording {
      situation.folded = HistorySituation.Folded(
        // What is before an event that cannot be applied is kept, although there is more in the log.
        isDue: recording.isDue(options.runLimits, last: halt == nil ? last : recording.sequence),
        isWhole: recording.isWhole, isAtEnd: halt != nil || recording.sequence >= last)
    }
    situation.hasEvents = hasEvents(historian, after: known)
    situation.mayLackKeys = historian.state.withLock { $0.mayLackKeys }
    return situation
  }

  /// Looks at the folder, unless what is known of it holds. What does not fit the log is removed.
  func load(_ historian: Historian, _ generation: Int, isDamaged: Bool = false) throws(StoreError) {
    if let known, known.generation == generation { return }
    assert(historian.state.withLock { $0.isInStep }, "the folder is looked at outside of a step")
    reset()
    let log = historian.log
    try log.checkWrites()
    let head = log.mark.sequence
    let erasures = try log.erasures()
    let found = try historian.files.manifest()
    var manifest = HistoryManifest(log, historian.name, historian.fingerprint)
    manifest.nextNumber = max(nextNumber, found?.nextNumber ?? 1)
    var runs = RunSet(noneOf: erasures, head: head)
    if !isDamaged, let found, found.isOf(manifest) {
      manifest.runs = try found.runs(validIn: log, erasures, isWhole: log.options.history.isWhole)
      do throws(PageDamage) {
        var readers: [RunReader] = []
        for run in manifest.runs { readers.append(try run.open(historian.files, historian.cache)) }
        let set = try RunSet(readers, erasures, head: head)
        try set.checkFront(of: log)
        runs = set
      } catch {
        // What cannot be opened now may be opened later.
        if let refusal = error.refusal { throw refusal }
        manifest.runs = []
      }
    }
    if !isDamaged, let found, !found.runs.isEmpty, manifest.runs.isEmpty {
      historian.noteDiscarded(found, manifest)
    }
    historian.files.removeOthers(than: manifest.runs.isEmpty ? nil : manifest)
    known = Known(generation: generation, manifest: manifest, runs: runs)
    historian.publish(runs, generation)
  }

  // MARK: Folding

  /// The fold, which begins with the state at the end of the runs; nil while that is being made, and if there is nothing
  /// to fold.
  ///
  /// - Parameter isShort: whether it may only begin with a saved state, so that it is not built from all rows.
  private func begun(
    _ historian: Historian, _ slice: TimeSlice, isShort: Bool = false
  ) throws(RunFailure) -> HistoryRecording? {
    if let recording { return recording }
    guard let known, hasEvents(historian, after: known) else { return nil }
    var made: HistoryBegin.Made?
    if let entry = known.manifest.runs.last {
      let begin =
        self.begin
        ?? HistoryBegin(historian.log, historian.folding, known.runs, entry, historian.savedStates())
      self.begin = begin
      if isShort, !begin.isOfSaved { return nil }
      made = try RunFailure.reading { () throws(PageDamage) in try begin.resume(slice) }
      guard let made else {
        try spill(historian) { (file, limit) throws(StoreError) in try begin.spill(to: file, over: limit) }
        return nil
      }
      self.begin = nil
      historian.note { if made.checkpoints == nil { $0.fromRuns += 1 } else { $0.fromSaved += 1 } }
    }
    let recording = HistoryRecording(historian.log, historian.folding, known.runs, from: made)
    (self.recording, rowCount) = (recording, recording.rowCount)
    return recording
  }

  private func foldOn(_ historian: Historian, _ slice: TimeSlice) throws(RunFailure) {
    guard let recording else { return }
    do throws(StoreError) {
      // After an erasure the log will be folded from its begin.
      if case .erased = try fold(recording, historian, slice) { reset() }
    } catch {
      guard error.reason == .halted else { throw .store(error) }
      halt = error
    }
  }

  /// Folds on until a run is due, or to the end of the log. Where the projector has published a state that is near, the
  /// fold goes on with that one when it is there: a process then has one state in memory, and not two.
  private func fold(
    _ recording: HistoryRecording, _ historian: Historian, _ slice: TimeSlice
  ) throws(StoreError) -> Fold.EventRun {
    let (limits, last) = (historian.log.options.runLimits, historian.log.mark.visible.sequence)
    if published.map({ $0.tables.sequence < recording.sequence }) ?? true {
      published = recording.hasOwnState ? historian.publishedState(near: recording.sequence, last) : nil
    }
    guard let published else { return try recording.run(through: last, slice, limits) }
    let end = published.tables.sequence
    if recording.sequence < end {
      let run = try recording.run(through: end, slice, limits, last: last)
      guard case .done = run, recording.sequence == end else { return run }
    }
    self.published = nil
    if published.erasures == known?.runs.erasures,
      try historian.log.chain(after: end) == published.tables.chain, recording.resume(from: published)
    {
      historian.note { $0.fromPublished += 1 }
      hasGoneOn = true
    }
    return recording.isDue(limits, last: last) ? .done : try recording.run(through: last, slice, limits)
  }

  /// Folds on, whether a run is due or not. Returns whether there is something to write then, up to the end of an append.
  private func folds(
    through last: UInt64, _ recording: HistoryRecording, _ slice: TimeSlice
  ) throws(RunFailure) -> Bool {
    var limits = RunLimits()
    (limits.changeCountMax, limits.byteCountMax, limits.laggingCount) = (.max, .max, 1)
    do throws(StoreError) {
      switch try recording.run(through: last, slice, limits) {
      case .done: return recording.isWhole
      case .paused: return false
      case .erased:
        // The log will be folded from its begin.
        reset()
        return false
      }
    } catch {
      // What is before an event that cannot be applied is kept.
      guard error.reason == .halted else { throw .store(error) }
      return recording.isWhole
    }
  }

  private func hasEvents(_ historian: Historian, after known: Known) -> Bool {
    historian.log.mark.visible.sequence > max(known.runs.end, historian.log.mark.logBegin - 1)
  }

  /// Begins again with what the runs have, and with another file for what does not fit in memory.
  private func foldAgain() { (recording, begin, spillFile) = (nil, nil, nil) }

  /// Moves pages of the fold to a file.
  ///
  /// - Parameter body: receives the file, and how many bytes may be in memory only.
  private func spill(
    _ historian: Historian, _ body: (SpillFile, Int) throws(StoreError) -> Void
  ) throws(RunFailure) {
    guard let known, let limit = historian.spillLimit,
      let file = spillFile ?? historian.makeSpillFile(known.generation)
    else { return }
    spillFile = file
    let before = file.length
    // Tables that are larger than that leave room for the cache.
    do throws(StoreError) { try body(file, before > 0 ? limit / 4 : limit) } catch {
      if case .full = error { historian.log.derivedSpace?.lacksRoom(for: file.length + UInt64(limit)) }
      // Where no further file can be opened now, the pages stay in memory.
      guard error.isShortage else { throw .store(error) }
    }
    guard file.length > before else { return }
    historian.note { begins in
      begins.spilledBytes += file.length - before
      if before == 0 { begins.spillFiles += 1 }
    }
  }

  // MARK: What was folded

  /// Writes what was folded as a run.
  private func writeRun(_ historian: Historian, _ known: Known) throws(RunFailure) {
    assert(merge == nil, "a run is written between two merges")
    guard let recording else { return }
    let entry = try write(recording, historian, known)
    try replace(known.manifest.runs.count..<known.manifest.runs.count, with: entry, historian)
    recording.beginRun()
    rowCount = recording.rowCount
    // Pages that only the fold had before it went on with others are in use by nothing any longer.
    if hasGoneOn { (spillFile, hasGoneOn) = (nil, false) }
    guard let spillFile, let limit = historian.spillLimit,
      spillFile.isMostlyUnused(by: { recording.trees }, besides: limit)
    else { return }
    foldAgain()
  }

  /// Writes the last events, although they are too few for a run, if all of them are folded in before the slice ends.
  func writeRest(_ historian: Historian, _ generation: Int, _ slice: TimeSlice) throws(RunFailure) {
    let last = historian.log.mark.visible.sequence
    guard isOf(generation), let recording = try begun(historian, slice, isShort: true),
      try folds(through: last, recording, slice), let known
    else { return }
    try writeRun(historian, known)
  }

  /// A run in memory of the events that are in none, at least up to a sequence that is near. Nil if there are none, or
  /// the fold is still to be built.
  func tail(_ historian: Historian, _ generation: Int, through sequence: UInt64) -> HistoryTail? {
    let limits = historian.log.options.runLimits
    do throws(RunFailure) {
      guard isOf(generation), let runs = known?.runs,
        let recording = try begun(historian, TimeSlice(), isShort: !runs.runs.isEmpty),
        // While no run can be written, as after a full disk, events are not kept in memory without end.
        !recording.isDue(limits, last: recording.sequence) || historian.mayWrite
      else { return nil }
      let head = historian.log.mark.visible.sequence
      let near = recording.sequence.addingSaturated(UInt64(limits.changeCountMax))
      guard try folds(through: head <= near ? head : sequence, recording, TimeSlice()) else { return nil }
      return try HistoryTail(recording, historian, after: runs)
    } catch {
      // The reader replays. The next step finds the same, and says so.
      if case .otherKeys(let list) = error { historian.leaveOut(list) }
      reset()
      return nil
    }
  }
}
