// Reads the history of one projection that another process keeps.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// The history of one projection, as reads of the past use it: this process keeps it, or only reads it.
protocol KeptHistory: AnyObject, Sendable {
  /// The last event that is in a run, as far as this process knows.
  var end: UInt64 { get }
  /// The first event that the runs answer about; nil if this process knows of none.
  var firstSequence: UInt64? { get }
  /// Why the history could not be continued.
  var failure: StoreError? { get }
  /// The runs on disk, if they hold; nil if there are none. Blocks.
  func runs() -> RunSet?
  /// The same, with the events after them up to one, if this process can make a run of these in less time than a list of
  /// the past takes to fold them. Blocks.
  func runs(through sequence: UInt64) -> RunSet?
  /// To be called when one of these runs could not be read. Does nothing if they are used no longer: what has taken their
  /// place is not damaged by that.
  func noteDamage(in runs: RunSet)
  /// From now on, the runs are to have the keys of a list; those that there are get them in the background, unless this
  /// process only reads. The runs need no longer have those of another list with its name. Does nothing for a list that is
  /// not kept.
  func keep(_ definition: ViewDefinition, of table: String)
  /// The lists that this process asked for, and from which event on the history has them.
  var lists: [ListHistory] { get }
  /// Starts to work in the background if there may be something to do.
  func start()
  /// Forgets what is known of the folder, and ends all work there until `mayGoOn`. Blocks.
  func stop()
  /// To be called once for each `stop`, when the log was closed or suspended, or could not be.
  func mayGoOn()
}

/// Finds the runs that the store's writer keeps, in a process that only reads. It writes nothing.
///
/// Each read of the past begins with `runs()`. Usually MANIFEST is still the file that was read last, and the runs are
/// open; that costs a look at its name, and one at HEAD. A writer that goes on, merges or erases replaces or removes
/// MANIFEST, and then it is read again. So after an erasure was noted as done no run from before it is used, and while
/// one is being carried out, of which HEAD tells, the marks in the headers of the segments are compared each time. HEAD
/// also tells of another store in the folder, of an older copy of this one, and of a writer that opened it and may have
/// found less than the last one had appended: then the log itself is looked at, which says whether it goes on as before.
///
/// Whatever is not as it should be makes a read fall back to the log. `State` is guarded by its gate.
final class HistoryReader: KeptHistory {
  /// A manifest that was read, and its runs.
  private struct Known {
    /// The file that had the name MANIFEST. It stays open, so that no other file can be taken for it.
    var file: any File
    var entries: [ManifestRun] = []
    /// Nil if the history cannot be used as long as this is the manifest.
    var runs: RunSet?
    /// The epoch of HEAD before the log was last compared with the runs.
    var epoch: UInt64?

    /// Whether HEAD is still that of the log that the runs were compared with, whatever was appended since.
    func agrees(with head: HeadSlot, in log: Log) -> Bool {
      guard let runs, !head.isErasing, head.storeID == log.storeID else { return false }
      return head.epoch == epoch && head.visible.sequence >= runs.end
    }
  }

  private struct State {
    var isLooking = false
    var known: Known?
    var lists: [KeyOwner] = []
  }

  /// The most times that a manifest is read for one read of the past.
  static let looksMax = 5

  private let log: Log
  private let files: HistoryFiles
  private let name: StateName
  private let fingerprint: StateFingerprint
  private let cache: RunCache
  private let state = Gate(State())

  /// Nil if the log is open for writing, or nothing on disk could say which code made a history.
  init?(_ log: Log, _ folding: Folding, _ pages: PageCache? = nil) {
    guard log.isReadOnly, let name = StateName(folding),
      let fingerprint = StateFingerprint(folding, log.options)
    else { return nil }
    self.log = log
    self.name = name
    self.fingerprint = fingerprint
    files = HistoryFiles(log, name)
    cache = RunCache(
      pages ?? PageCache(log.options), openFileCountMax: log.options.runLimits.openFileCountMax)
  }

  var end: UInt64 { state.withLock { $0.known?.runs?.end ?? 0 } }
  var firstSequence: UInt64? { state.withLock { $0.known?.runs?.firstSequence } }
  var failure: StoreError? { nil }

  func runs() -> RunSet? {
    takeTurn()
    defer { endTurn() }
    guard (try? log.checkOpen()) != nil else { return nil }
    let known = state.withLock { $0.known }
    if let known, (try? known.file.isStillAtItsPath()) == true {
      guard let runs = known.runs else { return nil }
      let head = self.head
      if let head, known.agrees(with: head, in: log) { return runs }
      if isOfLog(runs) {
        state.withLock { $0.known?.epoch = head?.epoch }
        return runs
      }
    }
    let found = look(known)
    state.withLock { $0.known = found }
    return found?.runs
  }

  /// What the writer has not written is replayed.
  func runs(through sequence: UInt64) -> RunSet? { runs() }

  /// Nothing is read from these runs until the writer has replaced the manifest.
  func noteDamage(in runs: RunSet) {
    state.withLock { state in
      if let known = state.known?.runs, runs.isDamage(to: known) { state.known?.runs = nil }
    }
  }

  func keep(_ definition: ViewDefinition, of table: String) {
    state.withLock { _ = $0.lists.keep(definition, of: table) }
  }

  var lists: [ListHistory] {
    let (owners, runs) = state.withLock { ($0.lists, $0.known?.runs) }
    return owners.compactMap { ListHistory($0, in: runs) }
  }

  func start() {}

  func stop() {
    takeTurn()
    state.withLock { $0.known = nil }
    cache.removeAll()
    endTurn()
  }

  func mayGoOn() {}

  private func takeTurn() {
    state.wait { state in
      if state.isLooking { return false }
      state.isLooking = true
      return true
    }
  }

  private func endTurn() {
    state.withLock { $0.isLooking = false }
    state.signalAll()
  }

  private var head: HeadSlot? { try? HeadFile.read(files.fileSystem, path: log.layout.head) }

  /// Whether the log, as it is now, is the one that the runs are of, and nothing was erased since they were opened: who
  /// reads runs alone has not looked at it. An erasure that is done has removed their manifest.
  private func isOfLog(_ runs: RunSet) -> Bool {
    guard (try? log.refresh()) != nil else { return false }
    return (try? log.erasures().hash(through: runs.end)) == runs.erasures.hash(through: runs.end)
  }

  // MARK: Looking

  /// What the folder has now; nil if there is nothing, or the next read may find more.
  private func look(_ last: Known?) -> Known? {
    var before: (any File)?
    for _ in 0..<Self.looksMax {
      // As long as it is the same, the same files are missing.
      if let before, (try? before.isStillAtItsPath()) == true { return nil }
      guard let (file, manifest) = files.openManifest() else { return nil }
      before = file
      guard let manifest, isOwn(manifest) else { return Known(file: file) }
      if let known = try? opened(manifest, file, last) { return known }
    }
    return nil
  }

  private func isOwn(_ manifest: HistoryManifest) -> Bool {
    manifest.isOf(HistoryManifest(log, name, fingerprint))
  }

  /// Opens the runs of a manifest. Throws if a file is missing, which a writer that goes on may have removed.
  private func opened(
    _ manifest: HistoryManifest, _ file: any File, _ last: Known?
  ) throws -> Known? {
    // The log may have grown since it was last looked at. Only then the marks: of an erasure after this the log has a
    // note past this head.
    let epoch = self.head?.epoch
    try log.refresh()
    let head = log.mark.sequence
    let erasures = try log.erasures()
    let entries = try manifest.runs(validIn: log, erasures)
    guard !entries.isEmpty else { return nil }
    var readers: [RunReader] = []
    for entry in entries { readers.append(try reader(of: entry, last)) }
    let runs = try RunSet(readers, erasures, head: head)
    try runs.checkFront(of: log)
    return Known(file: file, entries: entries, runs: runs, epoch: epoch)
  }

  /// A run, which is open already if it was in the last manifest. A history that was made again can name another file
  /// by the same number.
  private func reader(
    of entry: ManifestRun, _ last: Known?
  ) throws(PageDamage) -> RunReader {
    if let last, let runs = last.runs, let index = last.entries.firstIndex(of: entry),
      runs.runs[index].isStillAtItsPath
    {
      return runs.runs[index]
    }
    return try entry.open(files, cache)
  }
}
