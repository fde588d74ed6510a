// When the state of a projection is saved: in the background from time to time, and at a close.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// How much has been folded that is not on disk: its time, and the bytes of the log that it took.
struct FoldingWork {
  private(set) var nanoseconds: Int64 = 0
  private(set) var bytes: UInt64 = 0
  /// The bytes of the log that were folded since the process began to.
  private(set) var totalBytes: UInt64 = 0
  /// The bytes of the log that were folded since then, before compression.
  private var rawBytes: UInt64 = 0
  /// The last event and the number of rows of the state that it counts from.
  private var begin: UInt64 = 0
  private var beginRows = 0
  /// The sequence at which it was last looked at whether much is in memory only.
  private(set) var lastLook: UInt64 = 0

  /// What a fold had read before a step.
  struct Before {
    let time = MonotonicTime.now()
    fileprivate let bytes: UInt64
    fileprivate let rawBytes: UInt64
    let sequence: UInt64

    init(_ fold: Fold) {
      (bytes, rawBytes, sequence) = (fold.bytesRead, fold.rawBytesRead, fold.state.sequence)
    }
  }

  /// Counts a step of a fold.
  mutating func add(_ fold: Fold, since before: Before) {
    nanoseconds += MonotonicTime.now().nanoseconds - before.time.nanoseconds
    // A fold that began again is another one, whose bytes are counted as they come.
    let new = fold.bytesRead - min(before.bytes, fold.bytesRead)
    bytes += new
    totalBytes += new
    rawBytes += fold.rawBytesRead - min(before.rawBytes, fold.rawBytesRead)
  }

  /// Counts the time of a saved view that was built beside the folding.
  mutating func add(_ nanoseconds: Int64) { self.nanoseconds += nanoseconds }

  /// A view that is saved counts as folding: without a saved one it would have to be built again.
  ///
  /// - Parameter progress: called every 50 ms.
  mutating func addView(
    _ definition: ViewDefinition, of table: String, to fold: Fold, _ progress: SaveProgress? = nil
  ) {
    let begin = MonotonicTime.now().nanoseconds
    while !fold.addView(definition, of: table, progress == nil ? TimeSlice() : .short) {
      if let (done, count) = fold.viewProgress { progress?(.rows(done, of: count)) }
    }
    if definition.kept != nil { nanoseconds += MonotonicTime.now().nanoseconds - begin }
  }

  func takes(_ least: Duration) -> Bool { Duration.nanoseconds(nanoseconds) >= least }

  /// About how many bytes of a state are in memory only, by its new rows and the length of the events.
  func unsavedBytes(of set: TableSet) -> (ofRows: UInt64, ofEvents: UInt64) {
    let events = set.sequence - min(begin, set.sequence)
    guard events > 0 else { return (0, 0) }
    let rows = UInt64(max(0, set.rowCount - beginRows))
    return (min(rows, events) * (rawBytes / events), rawBytes)
  }

  mutating func look(at set: TableSet) { lastLook = set.sequence }

  /// Begins to count again after a state that is on disk, or soon will be.
  mutating func begin(after set: TableSet) {
    (nanoseconds, bytes, rawBytes) = (0, 0, 0)
    (begin, beginRows) = (set.sequence, set.rowCount)
  }
}

typealias SaveProgress = (StateProgress) -> Void

extension TimeSlice {
  /// A slice between two reports of progress.
  fileprivate static var short: TimeSlice {
    TimeSlice(until: MonotonicTime.now().advanced(by: .milliseconds(50)))
  }
}

extension Projector {
  /// Starts to save a state on another thread if that is due in the background: see `SaveDecision`.
  func saveIfDue(_ set: TableSet, _ erasures: SegmentErasures?, _ own: Exclusive) {
    guard let checkpoints, let erasures, log.savesStates, !log.options.writesInStep, set.chain != nil
    else { return }
    guard saveDecision(checkpoints, set, own).isDue(.background) else { return }
    let begins = state.withLock { state in
      defer { state.isSaving = true }
      return !state.isSaving
    }
    guard begins else { return }
    own.work.begin(after: set)
    let thread = try? log.options.machine.start("strata-checkpoint") { [self] in
      // A failure is kept in `checkpoints`: nothing was promised.
      _ = try? save(set, erasures, checkpoints)
      endSaving()
    }
    if thread == nil { endSaving() }
  }

  /// Folds up to a sequence. A state of which much is in memory only is saved on the way: a log that is folded for the
  /// first time can make more rows than fit there, and a process that ends before need not begin again.
  ///
  /// - Returns: false if the slice ended first; nil if the fold was given up meanwhile, and what belonged to its thread
  ///   is another thread's.
  func run(
    _ fold: Fold, through last: UInt64, _ slice: TimeSlice, _ own: Exclusive
  ) throws(StoreError) -> Bool? {
    while true {
      // A fold that began again is before what it had looked at.
      let look = min(own.work.lastLook, fold.state.sequence)
      let step = min(last, max(look.addingSaturated(log.options.foldedStepLength), fold.state.sequence))
      let before = FoldingWork.Before(fold)
      var failure: StoreError?
      var isDone = false
      do throws(StoreError) { isDone = try fold.run(through: step, slice) } catch { failure = error }
      guard owns(own) else { return nil }
      own.work.add(fold, since: before)
      noteStep(of: fold, since: before)
      takeLeft(fold, own)
      if let failure { throw failure }
      guard isDone else { return false }
      // The log may be shorter.
      guard fold.state.sequence == step, step < last else { return true }
      own.work.look(at: fold.state)
      try saveOnTheWay(fold, own)
      if slice.isOver { return false }
    }
  }

  /// The same on a thread of its own while the calling one waits, if the fold may be inside of a view that does not
  /// return: who closes or saves waits no longer than until that fold is given up.
  private func runBeside(
    _ fold: Fold, through last: UInt64, _ slice: TimeSlice, _ own: Exclusive
  ) throws(StoreError) -> Bool? {
    // Where a simulated disk sees the calls of one thread only, no fold is given up.
    guard own.hasViews, !log.options.writesInStep, fold.state.sequence < last else {
      return try run(fold, through: last, slice, own)
    }
    let ended = Lock<Result<Bool?, StoreError>?>(nil)
    let thread = try? log.options.machine.start("strata-save") { [self] in
      let result = Result { () throws(StoreError) in try runOwn(through: last, slice, own) }
      state.withLock { _ in ended.withLock { $0 = result } }
      state.signalAll()
    }
    guard thread != nil else { return try run(fold, through: last, slice, own) }
    let result = state.wait { state -> Result<Bool?, StoreError>? in
      state.exclusive === own ? ended.withLock { $0 } : .success(nil)
    }
    if state.withLock({ $0.exclusive !== own }) { slice.setWanted(false) }
    return try result.get()
  }

  private func runOwn(
    through last: UInt64, _ slice: TimeSlice, _ own: Exclusive
  ) throws(StoreError) -> Bool? {
    try run(currentFold(own), through: last, slice, own)
  }

  private func saveOnTheWay(_ fold: Fold, _ own: Exclusive) throws(StoreError) {
    let (ofRows, ofEvents) = own.work.unsavedBytes(of: fold.state)
    let size = UInt64(log.options.unsavedSize ?? log.options.pageCacheSize)
    // Events that change the same rows again and again leave less.
    guard log.savesStates, ofRows / 4 > size || ofEvents / 16 > size else { return }
    try fold.findChain()
    if log.options.writesInStep {
      saveInStep(fold, own)
    } else {
      saveIfDue(withFollowers(fold.state), fold.erasures, own)
    }
  }

  private func saveInStep(_ fold: Fold, _ own: Exclusive) {
    guard let checkpoints, let erasures = fold.erasures, checkpoints.mayBeSaved else { return }
    own.work.begin(after: fold.state)
    // Nothing was promised.
    let set = withFollowers(fold.state)
    _ = try? save(set, erasures, checkpoints)
  }

  /// Writes a state, and forgets what was on disk of its views.
  private func save(
    _ set: TableSet, _ erasures: SegmentErasures, _ checkpoints: Checkpoints
  ) throws(StoreError) -> Checkpoints.Written? {
    let written = try checkpoints.write(set, erasures)
    noteSaved(set)
    return written
  }

  private func endSaving() {
    state.withLock { $0.isSaving = false }
    state.signalAll()
  }

  /// Folds what the log holds, for as long as the options allow, and saves the state unless folding again what is not
  /// on disk is quick. Waits for a save that runs. Does nothing if nobody has asked for the state yet, unless it must.
  /// Blocks.
  ///
  /// - Parameters:
  ///   - isForced: whether the state is folded and saved in any case.
  ///   - kept: a view of a table to be saved with it.
  ///   - dropped: the name of a saved view of a table that is given up.
  ///   - progress: called from time to time while a forced save folds and builds.
  /// - Returns: what was written; nil if there was nothing to write, or the state could not be folded in time.
  @discardableResult
  func save(
    isForced: Bool = false, keeping kept: (table: String, definition: ViewDefinition)? = nil,
    dropping dropped: (table: String, name: String)? = nil, progress: SaveProgress? = nil
  ) throws(StoreError) -> Checkpoints.Written? {
    guard let checkpoints, log.savesStates else { return nil }
    let limit = log.options.closeFoldingMax
    let deadline = MonotonicTime.now().advanced(by: limit)
    guard isForced || state.withLock({ $0.hasBegun || $0.isFolding }) else { return nil }
    let take: (inout State) -> Bool = { state in
      guard !state.isFolding, !state.isSaving else { return false }
      state.isFolding = true
      return true
    }
    if isForced {
      state.wait(until: take)
    } else {
      guard state.wait(timeout: limit, until: take) else { return nil }
    }
    let own = exclusive
    defer { yieldFold(own) }
    let fold = currentFold(own)
    let target = log.mark.visible
    takeInFollowers(fold, own, isSaved: true)
    // What leaves the fold now is not saved with it. But readers wait for no list longer than that.
    own.meter.beginStep(limit: limit)
    watch(own)
    let slice = isForced ? TimeSlice() : TimeSlice(until: deadline)
    var end: Bool?
    do throws(StoreError) {
      repeat {
        end = try runBeside(fold, through: target.sequence, progress == nil ? slice : .short, own)
        if end == false { progress?(.events(Int(fold.state.sequence), of: Int(target.sequence))) }
      } while isForced && end == false
    } catch {
      if owns(own) { saveHalted(fold, error, isForced: isForced, own) }
      throw error
    }
    guard let isDone = end else {
      return try save(isForced: isForced, keeping: kept, dropping: dropped, progress: progress)
    }
    if isDone {
      if fold.state.sequence == target.sequence { fold.state.chain = target.chain }
      if let kept { addView(kept.definition, of: kept.table, to: fold, progress, own) }
      settleViews(fold)
      if let dropped {
        fold.state.withTable(dropped.table) { $0.removeSavedView(dropped.name) }
        dropSaved(dropped.name, of: dropped.table)
      }
      _ = publish(fold.state, by: own, keepsFold: true)
    }
    // A fold that did not come to its end may be inside an append; what was published is not.
    let folded = state.withLock { $0.folded }
    let set = withFollowers(folded.tables)
    guard isForced || saveDecision(checkpoints, set, own).isDue(.close), set.chain != nil,
      let erasures = folded.erasures
    else { return nil }
    let written = try save(set, erasures, checkpoints)
    own.work.begin(after: set)
    return written
  }

  /// Adds a view that is saved with the state, as if it had been leased.
  private func addView(
    _ definition: ViewDefinition, of table: String, to fold: Fold, _ progress: SaveProgress?,
    _ own: Exclusive
  ) {
    let ended = state.withLock { $0.followers.removeValue(forKey: ViewKey(table, definition)) }
    withExtendedLifetime(ended) {}
    own.work.addView(definition, of: table, to: fold, progress)
    own.hasViews = true
    guard let kept = definition.kept else { return }
    state.withLock { $0.keptViews.noteLease(ViewKey(table, definition), kept) }
  }
}
