// What a historian does in one step: fold events, write a run, or merge runs.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables

/// The fold of a historian, and what it has not written yet. Belongs to one thread at a time.
final class HistoryWork: @unchecked Sendable {
  // Sendable so that it can move from one thread to another between two steps.
  private var generation: Int?
  private var manifest: HistoryManifest?
  private var runs: RunSet?
  /// The state at the end of the runs, while it is made.
  private var begin: HistoryBegin?
  private var recording: HistoryRecording?
  /// Where pages of its tables are that need not stay in memory; nil while all of them do.
  private var spillFile: SpillFile?
  /// Whether the fold went on with a state of the projector since the last run was begun.
  private var hasGoneOn = false
  /// How many rows there were when the fold last began again.
  private var rowCount: Int?
  /// The state that the fold goes on with, once it is there.
  private var published: PublishedState?
  private var merge: (merge: RunMerge, level: UInt32)?
  /// Above the number of every file that this process has begun.
  private var nextNumber: UInt32 = 1

  /// Whether what is known is of a generation, if anything is.
  func isOf(_ generation: Int) -> Bool { self.generation.map { $0 == generation } ?? true }

  /// The last event that was folded in.
  var reached: UInt64 { recording?.sequence ?? runs?.end ?? 0 }

  func reset() {
    (generation, manifest, runs, begin, recording, merge) = (nil, nil, nil, nil, nil, nil)
    (published, spillFile, rowCount, hasGoneOn) = (nil, nil, nil, false)
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
    if self.generation != generation || manifest == nil {
      do throws(StoreError) { try load(historian, generation, isDamaged: isDamaged) } catch {
        throw .store(error)
      }
      return true
    }
    if merge != nil {
      if let written = try goOnMerging(historian, slice) { try endMerge(written, historian, generation) }
      return true
    }
    if try dropFront(historian) { return true }
    if try beginMerge(historian) { return true }
    if spillFile?.isDamaged ?? false { foldAgain() }
    guard let recording = try recording(historian, slice) else {
      if begin != nil { return true }
      return try beginAddingKeys(historian)
    }
    if recording.isSpillDue {
      try spill(historian) { (file, limit) throws(StoreError) in try recording.spill(to: file, over: limit) }
    }
    let limits = historian.log.options.runLimits
    let last = historian.log.mark.visible.sequence
    if !recording.isDue(limits, last: last) {
      let run: Fold.EventRun
      do throws(StoreError) {
        run = try fold(recording, historian, last: last, slice)
      } catch {
        // What is before an event that cannot be applied is kept, although there is more in the log.
        guard error.reason == .halted else { throw .store(error) }
        if recording.isDue(limits, last: recording.sequence) || (writesRest && recording.isWhole) {
          try cut(recording, historian, generation)
          return true
        }
        if try beginAddingKeys(historian) { return true }
        throw .store(error)
      }
      switch run {
      case .erased:
        // The log will be folded from its begin.
        reset()
        return true
      case .paused: return true
      case .done where !recording.isDue(limits, last: last):
        if recording.sequence < historian.log.mark.visible.sequence { return true }
        guard writesRest, recording.isWhole else {
          return try beginAddingKeys(historian)
        }
      case .done: break
      }
    }
    try cut(recording, historian, generation)
    return true
  }

  // MARK: Loading

  /// Looks at the folder, unless what is known of it holds. What does not fit the log is removed.
  func load(_ historian: Historian, _ generation: Int, isDamaged: Bool = false) throws(StoreError) {
    if self.generation == generation, manifest != nil { return }
    reset()
    let log = historian.log
    try log.checkWrites()
    let head = log.mark.sequence
    let erasures = try log.erasures()
    let found = try historian.files.manifest()
    var manifest = HistoryManifest(log, historian.name, historian.fingerprint)
    manifest.nextNumber = max(nextNumber, found?.nextNumber ?? 1)
    var readers: [RunReader] = []
    if !isDamaged, let found, found.isOf(manifest) {
      manifest.runs = try found.runs(validIn: log, erasures, isWhole: log.options.history.isWhole)
      do throws(StatePage.Damage) {
        for run in manifest.runs { readers.append(try run.open(historian.files, historian.cache)) }
      } catch {
        // What cannot be opened now may be opened later.
        if let refusal = error.refusal { throw refusal }
        (manifest.runs, readers) = ([], [])
      }
    }
    do throws(StatePage.Damage) {
      let set = try RunSet(readers, erasures, head: head)
      try set.checkFront(of: log)
      runs = set
    } catch {
      (manifest.runs, readers) = ([], [])
      do throws(StatePage.Damage) { runs = try RunSet([], erasures, head: head) } catch {
        assertionFailure("no runs cannot be damaged")
      }
    }
    historian.files.removeOthers(than: manifest.runs.isEmpty ? nil : manifest)
    self.manifest = manifest
    self.generation = generation
    historian.publish(runs, generation)
  }

  /// The fold, with what it found; nil if there is nothing to fold, or while its first state is being built.
  ///
  /// - Parameter isShort: whether it may only begin with a saved state, so that it is not built from all rows.
  private func recording(
    _ historian: Historian, _ slice: TimeSlice, isShort: Bool = false
  ) throws(RunFailure) -> HistoryRecording? {
    if let recording { return recording }
    guard let runs, historian.log.mark.visible.sequence > max(runs.end, historian.log.mark.logBegin - 1)
    else { return nil }
    guard let entry = manifest?.runs.last else {
      let recording = HistoryRecording(historian.log, historian.folding, runs)
      self.recording = recording
      return recording
    }
    let begin =
      self.begin ?? HistoryBegin(historian.log, historian.folding, runs, entry, historian.savedStates())
    self.begin = begin
    if isShort, !begin.isOfSaved { return nil }
    let made: HistoryBegin.Made?
    do throws(StatePage.Damage) { made = try begin.goOn(slice) } catch { throw RunFailure(error) }
    guard let made else {
      try spill(historian) { (file, limit) throws(StoreError) in try begin.spill(to: file, over: limit) }
      return nil
    }
    self.begin = nil
    historian.note { begins in
      if made.checkpoints == nil { begins.fromRuns += 1 } else { begins.fromSaved += 1 }
    }
    let recording = HistoryRecording(historian.log, historian.folding, runs, from: made)
    self.recording = recording
    return recording
  }

  /// Folds on until a run is due, or to the end of the log. Where the projector has published a state that is near, the
  /// fold goes on with that one when it is there: a process then has one state in memory, and not two.
  private func fold(
    _ recording: HistoryRecording, _ historian: Historian, last: UInt64, _ slice: TimeSlice
  ) throws(StoreError) -> Fold.EventRun {
    let limits = historian.log.options.runLimits
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
    if published.erasures == runs?.erasures, try historian.log.chain(after: end) == published.tables.chain,
      recording.goOn(from: published)
    {
      historian.note { $0.fromPublished += 1 }
      hasGoneOn = true
    }
    return recording.isDue(limits, last: last) ? .done : try recording.run(through: last, slice, limits)
  }

  // MARK: Writing

  /// Writes a new run, in a file that no manifest names yet.
  private func write<Result>(
    _ historian: Historian, _ body: () throws(RunFailure) -> Result
  ) throws(RunFailure) -> Result {
    guard let space = historian.log.derivedSpace else { throw .store(.readOnly) }
    var failure: RunFailure?
    do throws(StoreError) {
      return try space.write { () throws(StoreError) in
        do throws(RunFailure) { return try body() } catch {
          failure = error
          guard case .store(let error) = error else { throw .closed }
          throw error
        }
      }
    } catch {
      if case .full = error { space.lacksRoom(for: UInt64(historian.log.options.runLimits.byteCountMax)) }
      throw failure ?? .store(error)
    }
  }

  /// Throws if nothing may be written that was made from the log so far.
  ///
  /// Only a process that has the store's lock erases. So what this one knows of its files is what is erased: it learns of
  /// its own erasures before the files of histories are removed, and of others' when it takes the lock again. A file that
  /// was created before it learned of one is removed with the others.
  private func check(_ historian: Historian, _ generation: Int, through end: UInt64) throws(StoreError) {
    try historian.log.checkWrites()
    guard let runs, historian.state.withLock({ $0.generation }) == generation,
      try historian.log.erasures().hash(through: end) == runs.erasures.hash(through: end)
    else { throw .invalid(what: "the history may hold content that was erased since it was folded") }
  }

  private func beginFile(
    _ historian: Historian, _ generation: Int, through end: UInt64
  ) throws(StoreError) -> RunOutput {
    guard var manifest else { throw .closed }
    try historian.files.createFolder()
    let (number, file) = try historian.files.beginRun(from: manifest.nextNumber)
    manifest.nextNumber = number + 1
    nextNumber = number + 1
    self.manifest = manifest
    // After the file was created: an erasure after this takes its name.
    try check(historian, generation, through: end)
    let removalCount = historian.log.derivedSpace?.removalCount ?? 0
    let log = historian.log
    return RunOutput(historian.files, number, file, durable: { log.mark.durable.sequence }) {
      () throws(StoreError) in
      try log.derivedSpace?.checkRoom(since: removalCount)
    }
  }

  /// Writes what was recorded as a run.
  private func cut(
    _ recording: HistoryRecording, _ historian: Historian, _ generation: Int
  ) throws(RunFailure) {
    guard let runs, let manifest else { return }
    let makings = historian.makings(of: recording, after: runs)
    let (written, chain) = try write(historian) { () throws(RunFailure) in
      let end = recording.pending.end
      let (chain, output): (UInt64, RunOutput)
      do throws(StoreError) {
        guard let found = try historian.log.chain(after: end) else { throw StoreError.closed }
        (chain, output) = (found, try beginFile(historian, generation, through: end))
      } catch { throw RunFailure(error) }
      let written = try recording.pending.write(
        to: output, historian.log.options.runLimits, makings, recording.withRowBefore)
      return (written, chain)
    }
    historian.noteKeys(of: makings)
    let limits = historian.log.options.runLimits
    // A long run is one of the next level, unless it would separate runs that are to be merged.
    let isLong = written.root.counts.changes >= UInt64(limits.changeCountMax) * 4 && limits.laggingCount > 1
    let entry = ManifestRun(
      number: written.number, level: isLong && manifest.runs.last?.level != 0 ? 1 : 0, length: written.length,
      place: written.place,
      begin: written.root.begin, end: written.root.end, chain: chain,
      appends: written.root.appends + written.root.counts.appends, time: recording.time,
      erasures: runs.erasures.hash(through: written.root.end))
    try replace(0..<0, at: manifest.runs.count, with: entry, historian, generation)
    recording.beginRun()
    // Pages that only the fold had before it went on with others are in use by nothing any longer.
    if hasGoneOn { (spillFile, hasGoneOn) = (nil, false) }
    guard let spillFile, let limit = historian.spillLimit,
      spillFile.isMostlyUnused(by: { recording.trees }, besides: limit)
    else { return }
    foldAgain()
  }

  /// Begins again with what the runs have, and with another file for what does not fit in memory.
  private func foldAgain() {
    rowCount = recording?.rowCount ?? rowCount
    (recording, begin, spillFile) = (nil, nil, nil)
  }

  /// Moves pages of the fold to a file.
  ///
  /// - Parameter body: receives the file, and how many bytes may be in memory only.
  private func spill(
    _ historian: Historian, _ body: (SpillFile, Int) throws(StoreError) -> Void
  ) throws(RunFailure) {
    guard let generation, let limit = historian.spillLimit,
      let file = spillFile ?? historian.makeSpillFile(generation)
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

  /// Puts a run into the manifest, in place of some others, and makes it the one that reads use.
  private func replace(
    _ old: Range<Int>, at index: Int, with entry: ManifestRun, _ historian: Historian, _ generation: Int
  ) throws(RunFailure) {
    guard var manifest, let runs else { return }
    let range = old.isEmpty ? index..<index : old
    manifest.runs.replaceSubrange(range, with: [entry])
    try replace(with: manifest, through: entry.end, historian, generation)
    do throws(StatePage.Damage) {
      var readers = runs.runs
      readers.replaceSubrange(range, with: [try entry.open(historian.files, historian.cache)])
      self.runs = try RunSet(readers, runs.erasures, head: runs.head)
    } catch { throw RunFailure(error) }
    historian.publish(self.runs, generation)
    historian.files.remove(runs.runs[range])
    if manifest.runs.count == 1 { historian.removeLowerVersions() }
  }

  /// Makes a manifest the one on disk, and the one that this process knows.
  ///
  /// - Parameter end: the last event that is in what is new in it.
  private func replace(
    with manifest: HistoryManifest, through end: UInt64, _ historian: Historian, _ generation: Int
  ) throws(RunFailure) {
    try write(historian) { () throws(RunFailure) in
      do throws(StoreError) {
        try historian.files.replaceManifest(with: manifest) { () throws(StoreError) in
          try check(historian, generation, through: end)
        }
      } catch { throw RunFailure(error) }
    }
    self.manifest = manifest
  }

  /// Writes the last events, although they are too few for a run, if all of them are folded in before the slice ends.
  func writeRest(
    _ historian: Historian, _ generation: Int, _ slice: TimeSlice
  ) throws(RunFailure) {
    let last = historian.log.mark.visible.sequence
    guard self.generation == generation,
      let recording = try recording(historian, slice, isShort: true),
      try folds(through: last, recording, slice)
    else { return }
    try cut(recording, historian, generation)
  }

  /// A run in memory of the events that are in none, at least up to a sequence that is near. Nil if there are none, or
  /// the fold is still to be built.
  func tail(_ historian: Historian, _ generation: Int, through sequence: UInt64) -> HistoryTail? {
    do throws(RunFailure) {
      guard self.generation == generation, let runs,
        let recording = try recording(historian, TimeSlice(), isShort: !runs.runs.isEmpty),
        // While no run can be written, as after a full disk, events are not kept in memory without end.
        !recording.isDue(historian.log.options.runLimits, last: recording.sequence)
          || historian.mayWrite
      else { return nil }
      let head = historian.log.mark.visible.sequence
      let near = recording.sequence.addingSaturated(UInt64(historian.log.options.runLimits.changeCountMax))
      guard try folds(through: head <= near ? head : sequence, recording, TimeSlice()) else { return nil }
      return try HistoryTail(recording, historian, after: runs)
    } catch {
      // The reader replays. The next step finds the same, and says so.
      reset()
      return nil
    }
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

  // MARK: Merging

  /// Begins a merge if one is due.
  private func beginMerge(_ historian: Historian) throws(RunFailure) -> Bool {
    guard let runs, let manifest, let generation, let rows = recording?.rowCount ?? rowCount,
      let plan = MergePlan(runs, manifest, rowCount: UInt64(rows), historian.log.options)
    else { return false }
    try begin(plan, runs, historian, generation)
    return true
  }

  /// Begins to write a run again that lacks the keys of a list. The newest first: most reads are about the last events.
  private func beginAddingKeys(_ historian: Historian) throws(RunFailure) -> Bool {
    guard let runs, let manifest, let generation, historian.state.withLock({ $0.mayLackKeys }) else {
      return false
    }
    let owners = historian.keyOwners
    guard let lacking = runs.indexLackingKeys(of: owners) else {
      historian.state.withLock { state in
        // Another list may have come meanwhile.
        let lists = owners.dropFirst().map(\.number)
        if state.keptLists.map(\.number) == lists || owners.isEmpty { state.mayLackKeys = false }
      }
      return historian.state.withLock { $0.mayLackKeys }
    }
    let plan = MergePlan(again: lacking, manifest)
    try begin(plan, runs, historian, generation)
    return true
  }

  private func begin(
    _ plan: MergePlan, _ runs: RunSet, _ historian: Historian, _ generation: Int
  ) throws(RunFailure) {
    try write(historian) { () throws(RunFailure) in
      let output: RunOutput
      do throws(StoreError) {
        output = try beginFile(historian, generation, through: runs.runs[plan.runs.upperBound - 1].root.end)
      } catch { throw RunFailure(error) }
      do throws(StatePage.Damage) {
        let begun = try RunMerge(
          runs, plan.runs, isNewBase: plan.isNewBase, historian.keyOwners, output,
          historian.log.options.runLimits)
        merge = (begun, plan.level)
      } catch { throw RunFailure(error) }
    }
  }

  private func goOnMerging(
    _ historian: Historian, _ slice: TimeSlice
  ) throws(RunFailure) -> WrittenRun? {
    try write(historian) { () throws(RunFailure) in try merge?.merge.goOn(slice) }
  }

  private func endMerge(
    _ written: WrittenRun, _ historian: Historian, _ generation: Int
  ) throws(RunFailure) {
    guard let merge, let manifest,
      let first = manifest.runs.firstIndex(where: { $0.number == merge.merge.merged[0].number })
    else { return }
    self.merge = nil
    historian.noteKeys(of: merge.merge)
    let range = first..<first + merge.merge.merged.count
    var entry = manifest.runs[range.upperBound - 1]
    (entry.number, entry.level, entry.length) = (written.number, merge.level, written.length)
    (entry.place, entry.begin) = (written.place, written.root.begin)
    try replace(range, at: first, with: entry, historian, generation)
  }
}

// MARK: Retention

extension HistoryWork {
  /// Leaves out the runs that are older than what is kept, or begins to write the base that the rest needs. Returns false
  /// if there is nothing to do.
  private func dropFront(_ historian: Historian) throws(RunFailure) -> Bool {
    guard let runs, var manifest, let generation, let last = manifest.runs.last else { return false }
    let bounds = historian.log.options.history.bounds
    let cut = try RunFailure.reading { () throws(StatePage.Damage) in
      try FrontCut(runs, time: last.time, bounds)
    }
    guard let first = cut?.first else { return false }
    guard runs.runs[first].root.isBase else {
      try begin(MergePlan(baseAt: first), runs, historian, generation)
      return true
    }
    manifest.runs.removeFirst(first)
    try replace(with: manifest, through: last.end, historian, generation)
    self.runs = try RunFailure.reading { () throws(StatePage.Damage) in
      try RunSet(Array(runs.runs[first...]), runs.erasures, head: runs.head)
    }
    historian.publish(self.runs, generation)
    historian.files.remove(runs.runs[..<first])
    return true
  }
}

/// Which runs are merged next.
private struct MergePlan {
  /// The level of the first bases, which no delta reaches.
  static let baseLevel: UInt32 = 1_000

  var runs: Range<Int>
  var level: UInt32
  var isNewBase: Bool

  /// One run alone, which is written again as it is.
  init(again index: Int, _ manifest: HistoryManifest) {
    (runs, level, isNewBase) = (index..<index + 1, manifest.runs[index].level, false)
  }

  /// One run alone, which is written again with what lived at its begin.
  init(baseAt index: Int) { (runs, level, isNewBase) = (index..<index + 1, Self.baseLevel, true) }

  /// Nil if nothing is to be merged.
  init?(_ set: RunSet, _ manifest: HistoryManifest, rowCount: UInt64, _ options: StoreOptions) {
    let (limits, bounds) = (options.runLimits, options.history.bounds)
    let deltas = (set.runs.lastIndex { $0.root.isBase } ?? -1) + 1..<set.runs.count
    let changes = set.runs[deltas].reduce(UInt64(0)) { $0.addingSaturated($1.root.counts.changes) }
    if !deltas.isEmpty, changes >= max(limits.baseChangeCountMin, rowCount.addingSaturated(rowCount)) {
      (runs, level, isNewBase) = (deltas, Self.baseLevel, true)
      return
    }
    isNewBase = false
    let count = max(2, limits.mergedCount)
    var start = 0
    while start < manifest.runs.count {
      let level = manifest.runs[start].level
      let end = manifest.runs[start...].firstIndex { $0.level != level } ?? manifest.runs.count
      if end - start >= count {
        let range = start..<start + count
        let versions = set.runs[range].reduce(UInt64(0)) { $0.addingSaturated($1.root.versionCount) }
        let isAllowed =
          versions <= limits.mergedVersionCountMax
          && bounds.allowsMerging(
            set.runs[range], from: set.runs[start].root.time, to: manifest.runs[range.upperBound - 1].time)
        if level < Self.baseLevel || isAllowed {
          (runs, self.level) = (range, level + 1)
          return
        }
      }
      start = end
    }
    return nil
  }
}
