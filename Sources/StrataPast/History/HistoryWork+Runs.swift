// How the runs of a history are written, merged and left out.

internal import StrataBase
internal import StrataLog
internal import StrataTables

// MARK: Writing

extension HistoryWork {
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
  private func check(_ historian: Historian, through end: UInt64) throws(StoreError) {
    try historian.log.checkWrites()
    guard let known, historian.state.withLock({ $0.generation }) == known.generation,
      try historian.log.erasures().hash(through: end) == known.runs.erasures.hash(through: end)
    else { throw .invalid(what: "the history may hold content that was erased since it was folded") }
  }

  private func beginFile(_ historian: Historian, through end: UInt64) throws(StoreError) -> RunOutput {
    guard let known else { throw .closed }
    try historian.files.createFolder()
    let (number, file) = try historian.files.beginRun(from: known.manifest.nextNumber)
    nextNumber = number + 1
    self.known?.manifest.nextNumber = nextNumber
    // After the file was created: an erasure after this takes its name.
    try check(historian, through: end)
    let removalCount = historian.log.derivedSpace?.removalCount ?? 0
    let log = historian.log
    return RunOutput(historian.files, number, file, durable: { log.mark.durable.sequence }) {
      () throws(StoreError) in
      try log.derivedSpace?.checkRoom(since: removalCount)
    }
  }

  /// Writes what was recorded after the runs. Returns what the manifest is to say of it.
  func write(
    _ recording: HistoryRecording, _ historian: Historian, _ known: Known
  ) throws(RunFailure) -> ManifestRun {
    let limits = historian.log.options.runLimits
    let makings = historian.makings(of: recording, after: known.runs)
    let (written, chain) = try write(historian) { () throws(RunFailure) in
      let end = recording.pending.end
      let (chain, output) = try RunFailure.storing { () throws(StoreError) in
        guard let chain = try historian.log.chain(after: end) else { throw StoreError.closed }
        return (chain, try beginFile(historian, through: end))
      }
      return (try recording.pending.write(to: output, limits, makings, recording.withRowBefore), chain)
    }
    let (root, runs) = (written.root, known.manifest.runs)
    // A long run is one of the next level, unless it would separate runs that are to be merged.
    let isLong = root.counts.changes >= UInt64(limits.changeCountMax) * 4 && limits.laggingCount > 1
    return ManifestRun(
      number: written.number, level: isLong && runs.last?.level != 0 ? 1 : 0, length: written.length,
      address: written.address, begin: root.begin, end: root.end, chain: chain,
      appends: root.appends + root.counts.appends, time: recording.time,
      erasures: known.runs.erasures.hash(through: root.end))
  }

  /// Puts a run into the manifest, in place of those in a range, and makes it one that reads use.
  func replace(_ range: Range<Int>, with entry: ManifestRun, _ historian: Historian) throws(RunFailure) {
    guard var manifest = known?.manifest else { return }
    manifest.runs.replaceSubrange(range, with: [entry])
    try replace(with: manifest, range, through: entry.end, historian) { () throws(PageDamage) in
      [try entry.open(historian.files, historian.cache)]
    }
    if manifest.runs.count == 1 { historian.removeLowerVersions() }
  }

  /// Makes a manifest the one on disk, and its runs those that reads use.
  ///
  /// - Parameters:
  ///   - range: the runs that it lacks, in whose place it has what `opened` opens.
  ///   - end: the last event that is in what is new in it.
  private func replace(
    with manifest: HistoryManifest, _ range: Range<Int>, through end: UInt64, _ historian: Historian,
    opened: () throws(PageDamage) -> [RunReader] = { [] }
  ) throws(RunFailure) {
    try write(historian) { () throws(RunFailure) in
      try RunFailure.storing { () throws(StoreError) in
        try historian.files.replaceManifest(with: manifest) { () throws(StoreError) in
          try check(historian, through: end)
        }
      }
    }
    guard let known else { return }
    self.known?.manifest = manifest
    let old = known.runs
    let runs = try RunFailure.reading { () throws(PageDamage) in
      var readers = old.runs
      readers.replaceSubrange(range, with: try opened())
      return try RunSet(readers, old.erasures, head: old.head)
    }
    self.known?.runs = runs
    historian.publish(runs, known.generation)
    historian.files.remove(old.runs[range])
  }
}

// MARK: Merging

extension HistoryWork {
  func beginMerging(_ plan: MergePlan, _ historian: Historian, _ known: Known) throws(RunFailure) {
    let runs = known.runs
    try write(historian) { () throws(RunFailure) in
      let output = try RunFailure.storing { () throws(StoreError) in
        try beginFile(historian, through: runs.runs[plan.runs.upperBound - 1].root.end)
      }
      let begun = try RunFailure.reading { () throws(PageDamage) in
        try RunMerge(
          runs, plan.runs, isNewBase: plan.isNewBase, historian.keyOwners, output,
          historian.log.options.runLimits)
      }
      merge = (begun, plan.level)
    }
  }

  /// Begins to write a run again that lacks the keys of a list. The newest first: most reads are about the last events.
  /// Returns whether there is more to do.
  func beginAddingKeys(_ historian: Historian, _ known: Known) throws(RunFailure) -> Bool {
    let owners = historian.keyOwners
    if let lacking = known.runs.indexLackingKeys(of: owners) {
      try beginMerging(MergePlan(again: lacking, known.manifest.runs[lacking].level), historian, known)
      return true
    }
    return historian.state.withLock { state in
      // Another list may have come meanwhile.
      let lists = owners.dropFirst().map(\.number)
      if state.keptLists.map(\.number) == lists { state.mayLackKeys = false }
      return state.mayLackKeys
    }
  }

  func resumeMerging(_ historian: Historian, _ slice: TimeSlice) throws(RunFailure) -> WrittenRun? {
    try write(historian) { () throws(RunFailure) in try merge?.merge.resume(slice) }
  }

  func endMerge(_ written: WrittenRun, _ historian: Historian) throws(RunFailure) {
    guard let merge, let runs = known?.manifest.runs,
      let first = runs.firstIndex(where: { $0.number == merge.merge.merged[0].number })
    else { return }
    self.merge = nil
    historian.state.withLock { $0.noteMerged(makesKeysOfProgram: merge.merge.makesKeysOfProgram) }
    let range = first..<first + merge.merge.merged.count
    var entry = runs[range.upperBound - 1]
    (entry.number, entry.level, entry.length) = (written.number, merge.level, written.length)
    (entry.address, entry.begin) = (written.address, written.root.begin)
    try replace(range, with: entry, historian)
  }
}

// MARK: Retention

extension HistoryWork {
  /// Leaves out the runs before one that has what lived at its begin.
  func leaveOut(before first: Int, _ historian: Historian, _ known: Known) throws(RunFailure) {
    var manifest = known.manifest
    manifest.runs.removeFirst(first)
    try replace(with: manifest, 0..<first, through: known.runs.end, historian)
  }
}

extension HistoryWork.Known {
  /// What decides which runs are merged or go.
  var facts: [RunFacts] { zip(runs.runs, manifest.runs).map { RunFacts($0, $1) } }

  /// The first run that stays, if those before it are older than what is kept, and whether it has what lived at its begin.
  func front(keeping bounds: HistoryBounds) throws(RunFailure) -> (first: Int, isBase: Bool)? {
    let cut = try RunFailure.reading { () throws(PageDamage) in
      try FrontCut(facts, bounds) { (index) throws(PageDamage) in
        try RunChangesCursor(runs.runs[index]).next()?.time
      }
    }
    return cut.map { ($0.first, runs.runs[$0.first].root.isBase) }
  }
}
