// When the state of a projection is saved: in the background from time to time, and at a close.

internal import StrataBase
internal import StrataLog

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

  mutating func run(_ fold: Fold, through last: UInt64, _ slice: TimeSlice) throws(StoreError) -> Bool {
    let (begin, read, raw) = (MonotonicTime.now().nanoseconds, fold.bytesRead, fold.rawBytesRead)
    defer {
      nanoseconds += MonotonicTime.now().nanoseconds - begin
      // A fold that began again is another one, whose bytes are counted as they come.
      let new = fold.bytesRead - min(read, fold.bytesRead)
      bytes += new
      totalBytes += new
      rawBytes += fold.rawBytesRead - min(raw, fold.rawBytesRead)
    }
    return try fold.run(through: last, slice)
  }

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

  /// Opens a saved view. Returns false if there is none, or it is of another definition.
  mutating func open(_ definition: ViewDefinition, of table: String, in fold: Fold) -> Bool {
    let begin = MonotonicTime.now().nanoseconds
    defer { nanoseconds += MonotonicTime.now().nanoseconds - begin }
    return fold.state.withTable(table) { $0.openView(definition) }
  }

  /// Adds a view that was built beside the folding.
  mutating func add(_ awaited: AwaitedView, to fold: Fold) {
    fold.state.withTable(awaited.table) { table in
      awaited.follow(table.rows)
      if let view = awaited.view { table.add(view) }
    }
    if awaited.building.definition.kept != nil { nanoseconds += awaited.nanoseconds }
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
  /// The bytes written for states are at most this many times the growth of the log, as far as `StateWrites` can tell
  /// what the next one takes.
  private static let growthFactorMax: UInt64 = 8

  /// Starts to save a state on another thread if folding what is not on disk takes long, unless that would write much
  /// more than the log has grown. A kept view that is not on disk at all is saved in any case, and so is a state of
  /// which a page could not be read, that was removed from a full disk, or that is on disk as one of another build.
  /// While the disk is full nothing is saved, and nothing that goes back to the tables of another build.
  func saveIfDue(_ set: TableSet, _ erasures: SegmentErasures?) {
    guard let checkpoints, let erasures, log.savesStates, !log.options.writesInStep, set.chain != nil,
      otherBuild == nil
    else { return }
    let work = exclusive.work
    let takesLong = work.takes(log.options.savedFoldingMin)
    // After a failure a view waits, as the rest does, until there is more to save.
    let isUrgent =
      isWanting(checkpoints, set) && (takesLong || checkpoints.failure == nil) || checkpoints.gaveWay
    guard isUrgent || takesLong && isInProportion(checkpoints, set), checkpoints.mayBeSaved else { return }
    let begins = state.withLock { state in
      defer { state.isSaving = true }
      return !state.isSaving
    }
    guard begins else { return }
    exclusive.work.begin(after: set)
    let thread = try? log.options.machine.start("strata-checkpoint") { [self] in
      // A failure is kept in `checkpoints`: nothing was promised.
      _ = try? checkpoints.write(set, erasures)
      endSaving()
    }
    if thread == nil { endSaving() }
  }

  /// Folds up to a sequence. A state of which much is in memory only is saved on the way: a log that is folded for the
  /// first time can make more rows than fit there, and a process that ends before need not begin again.
  ///
  /// - Returns: false if the slice ended first.
  func run(_ fold: Fold, through last: UInt64, _ slice: TimeSlice) throws(StoreError) -> Bool {
    while true {
      // A fold that began again is before what it had looked at.
      let look = min(exclusive.work.lastLook, fold.state.sequence)
      let step = min(last, max(look.addingSaturated(log.options.foldedStepLength), fold.state.sequence))
      guard try exclusive.work.run(fold, through: step, slice) else { return false }
      // The log may be shorter.
      guard fold.state.sequence == step, step < last else { return true }
      exclusive.work.look(at: fold.state)
      try saveOnTheWay(fold)
      if slice.isOver { return false }
    }
  }

  private func saveOnTheWay(_ fold: Fold) throws(StoreError) {
    let (ofRows, ofEvents) = exclusive.work.unsavedBytes(of: fold.state)
    let size = UInt64(log.options.unsavedSize ?? log.options.pageCacheSize)
    // Events that change the same rows again and again leave less.
    guard log.savesStates, ofRows / 4 > size || ofEvents / 16 > size else { return }
    try fold.findChain()
    if log.options.writesInStep {
      saveInStep(fold)
    } else {
      saveIfDue(fold.state, fold.erasures)
    }
  }

  private func saveInStep(_ fold: Fold) {
    guard let checkpoints, let erasures = fold.erasures, checkpoints.mayBeSaved, otherBuild == nil else {
      return
    }
    exclusive.work.begin(after: fold.state)
    // Nothing was promised.
    _ = try? checkpoints.write(fold.state, erasures)
  }

  /// Whether the state on disk lacks something that folding does not give. A reader leaves it to the writer.
  private func isWanting(_ checkpoints: Checkpoints, _ set: TableSet) -> Bool {
    !log.isReadOnly
      && (checkpoints.lacksView(of: set) || checkpoints.isDamaged || isSavedByOtherBuild)
  }

  private func isInProportion(_ checkpoints: Checkpoints, _ set: TableSet) -> Bool {
    checkpoints.bytesWritten(saving: set) / Self.growthFactorMax <= exclusive.work.totalBytes
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
  /// - Returns: what was written; nil if there was nothing to write, the state could not be folded in time, or its
  ///   tables go back to those of another build and were not compared yet.
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
    defer { yieldFold() }
    takeConfirmation()
    let fold = currentFold()
    let target = log.mark.visible
    let slice = isForced ? TimeSlice() : TimeSlice(until: deadline)
    let isDone: Bool
    do throws(StoreError) {
      if isForced, let progress {
        while try !run(fold, through: target.sequence, .short) {
          progress(.events(Int(fold.state.sequence), of: Int(target.sequence)))
        }
      }
      isDone = try run(fold, through: target.sequence, slice)
    } catch {
      saveHalted(fold, error, isForced: isForced)
      throw error
    }
    if isDone {
      if fold.state.sequence == target.sequence { fold.state.chain = target.chain }
      noteOrigin(fold)
      if let kept { addView(kept.definition, of: kept.table, to: fold, progress) }
      settleViews(fold)
      if let dropped { fold.state.withTable(dropped.table) { $0.removeSavedView(dropped.name) } }
      _ = publish(fold.state, keepsFold: true)
    }
    // A fold that did not come to its end may be inside an append; what was published is not.
    let set = published
    let isDue =
      exclusive.work.takes(log.options.savedFoldingMin) || isWanting(checkpoints, set) || checkpoints.gaveWay
    // Rows of another build, which this one has folded on, would pass for the other's: it would never compare them.
    guard isForced || isDue && checkpoints.mayBeSaved, set.chain != nil, exclusive.publishedBuild == nil,
      let erasures = exclusive.publishedErasures
    else { return nil }
    let written = try checkpoints.write(set, erasures)
    exclusive.work.begin(after: set)
    return written
  }

  /// Adds a view that is saved with the state, as if it had been leased.
  private func addView(
    _ definition: ViewDefinition, of table: String, to fold: Fold, _ progress: SaveProgress?
  ) {
    exclusive.work.addView(definition, of: table, to: fold, progress)
    guard let kept = definition.kept else { return }
    state.withLock { $0.keptViews.noteLease(ViewKey(table, definition), kept) }
  }
}
