// The state of one projection on disk: found and checked when it is first needed, and written from time to time.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Reads and writes the state of one projection of one store, in `derived/state/NAME-VERSION/`. A process that only reads
/// writes to a folder beside it: see `StateHome`.
///
/// Nothing there is truth. A state that does not fit the log, the erasures in it, or the code that folds it, or whose
/// directory or roots are damaged, is ignored: the caller folds the log instead. All other pages are read when they are
/// first needed; one that is damaged is made again from the log, and the next checkpoint gives up the file that it is
/// in. So no failure here is an error of the store.
final class Checkpoints: Sendable {
  /// A state from disk.
  struct Restored {
    var tables: TableSet
    /// What was erased in the log before the state was read. Nothing of that is in the state.
    var erasures: SegmentErasures
    /// The head of the log before the state was read: the notes of erasures up to there do not concern the state.
    var head: UInt64
  }

  /// What a checkpoint wrote.
  struct Written: Sendable, Equatable {
    /// The sequence of the state.
    var sequence: UInt64
    var bytes: UInt64
    var pages: Int
  }

  struct LiveHealing {
    weak var healing: StateHealing?
  }

  /// A view of a state.
  struct TableView: Hashable {
    var table: [UInt8]
    var kept: KeptView

    init(_ table: String, _ kept: KeptView) {
      self.table = Array(table.utf8)
      self.kept = kept
    }
  }

  struct State {
    var isWriting = false
    /// The trees of the last checkpoint or restored state.
    var trees = SavedTrees()
    /// The directory as of the last checkpoint or restored state.
    var directory = Tree(pageSize: StateDirectory.pageSize)
    /// The page files that hold pages of it.
    var files: Set<UInt32> = []
    /// The page file that this process appends to.
    var current: StateFiles.PageFile?
    /// The slot of the newest state that was read or written.
    var slot: StateSlot?
    /// The folder of that state.
    var folder = ""
    /// The sequence of the newest state on disk that is known to be valid; nil if there is none.
    var saved: UInt64?
    /// The views in that state.
    var savedViews: Set<TableView> = []
    var writes = StateWrites()
    var failure: StoreError?
    /// When that was.
    var lastFailure: MonotonicTime?
    /// Whether the state was removed because the log needed the room, and no other one was written since.
    var wasEvicted = false
  }

  let log: Log
  private let folding: Folding
  /// The folder of the store's writer.
  let files: StateFiles
  /// Where a process writes that only reads; nil until then.
  let home = Lock<StateHome?>(nil)
  let name: StateName
  let fingerprint: StateFingerprint
  let state = Gate(State())
  /// Guarded by itself: a read of any thread may find a fault.
  private let faultsFound: Lock<StateFaults>
  /// The files of the newest state that was read or written.
  let reader = Lock<StateReader?>(nil)
  let cache: PageCache
  /// What makes pages again of the states that somebody holds.
  let healings = Lock<[LiveHealing]>([])

  /// Nil for a folding whose states are not kept.
  ///
  /// - Parameter cache: keeps the leaves that are read; nil for one of its own.
  init?(_ log: Log, _ folding: Folding, _ cache: PageCache? = nil) {
    guard log.options.savesStates, let name = StateName(folding),
      let fingerprint = StateFingerprint(folding, log.options)
    else { return nil }
    self.log = log
    self.folding = folding
    self.name = name
    self.fingerprint = fingerprint
    files = StateFiles(log, name)
    self.cache = cache ?? PageCache(log.options)
    faultsFound = Lock(StateFaults())
    if !log.isReadOnly { state.withLock { $0.folder = files.folder } }
    log.derivedSpace?.add(self)
  }

  /// An object that reads the same states for a second fold. It has files of its own open, which give way as the others
  /// do, and the two share the cache and the list of damaged pages.
  init(beside other: Checkpoints) {
    (log, folding, name, fingerprint) = (other.log, other.folding, other.name, other.fingerprint)
    (files, cache, faultsFound) = (other.files, other.cache, other.faultsFound)
    log.derivedSpace?.add(self)
  }

  var projectionName: String { name.name }
  /// The sequence of the newest state on disk, as far as this process knows.
  var savedSequence: UInt64? { state.withLock { $0.saved } }
  /// The bytes that this process has written for states.
  var bytesWritten: UInt64 { state.withLock { $0.writes.bytes } }

  /// The bytes that this process will have written when it has saved a state, estimated.
  func bytesWritten(saving set: TableSet) -> UInt64 {
    state.withLock { state in
      let events = set.sequence - min(state.saved ?? 0, set.sequence)
      return state.writes.bytes.addingSaturated(state.writes.expected(forEvents: events))
    }
  }

  /// Why the last checkpoint could not be written.
  var failure: StoreError? { state.withLock { $0.failure } }
  /// The pages that could not be read.
  var faults: StateFaults { faultsFound.withLock { $0 } }
  /// What was read from disk since the state was restored, besides roots and what was read at once.
  var loaded: StateReader.Loaded { reader.withLock { $0 }?.loaded ?? StateReader.Loaded() }

  /// Whether a page of the newest state on disk could not be read, so that it should be written again.
  var isDamaged: Bool {
    let damaged = faults.files
    if damaged.isEmpty { return false }
    return state.withLock { !$0.files.isDisjoint(with: damaged) }
  }

  /// Faults in these files concern nothing any longer.
  func forgetFaults(in files: Set<UInt32>) { faultsFound.withLock { $0.files.subtract(files) } }
}

// MARK: Reading

extension Checkpoints {
  /// The newest state that is valid and holds nothing after a sequence; nil if there is none. O(tables): other pages than
  /// roots are read later. Blocks.
  func restore(through last: UInt64 = .max) -> Restored? {
    var before: (slots: [StateSlot], head: UInt64)?
    // A writer beside this reader may replace the files of both slots while they are read.
    for _ in 0..<5 {
      // It may also have saved a state after this reader last looked at its log.
      try? log.refresh()
      let head = log.mark.sequence
      guard let erasures = try? log.erasures() else { return nil }
      var found: [(files: StateFiles, slot: StateSlot)] = []
      for files in folders { found += files.slots().map { (files, $0) } }
      let slots = found.map(\.slot)
      if let before, before == (slots, head) { return nil }
      found.sort { ($0.slot.sequence, $0.slot.generation) > ($1.slot.sequence, $1.slot.generation) }
      for (files, slot) in found where slot.sequence <= last {
        if let tables = tables(of: slot, in: files, erasures) {
          return Restored(tables: tables, erasures: erasures, head: head)
        }
      }
      before = (slots, head)
    }
    return nil
  }

  /// The newest valid state that holds nothing after a sequence. What would be needed to write another one is
  /// forgotten, so that pages that the caller replaces are freed.
  func restoreBeside(through last: UInt64) -> Restored? {
    defer {
      state.withLock { state in
        (state.trees, state.directory) = (SavedTrees(), Tree(pageSize: StateDirectory.pageSize))
      }
    }
    return restore(through: last)
  }

  private func tables(
    of slot: StateSlot, in files: StateFiles, _ erasures: SegmentErasures
  ) -> TableSet? {
    if let why = refusal(of: slot, erasures) {
      noteDiscarded(why)
      return nil
    }
    do throws(PageDamage) { return try read(slot, files) } catch {
      noteDiscarded(error.what)
      return nil
    }
  }

  private func read(_ slot: StateSlot, _ files: StateFiles) throws(PageDamage) -> TableSet {
    let (entries, reader, directory) = try slot.entries(files, cache)
    let (tables, trees) = try self.tables(entries, reader, slot, in: files.folder)
    self.reader.withLock { $0 = reader }
    state.withLock { state in
      state.trees = trees
      state.directory = directory
      state.files = entries.pageFiles
      state.slot = slot
      state.folder = files.folder
      state.saved = slot.sequence
      state.savedViews = Self.views(of: entries)
    }
    return TableSet(
      sequence: slot.sequence, time: slot.time, chain: slot.chain, appendCount: slot.appends,
      recordsTouches: name.recordsTouches, tables: tables,
      failures: ProjectionFailures(listed: entries.failures, count: entries.failureCount))
  }

  private func tables(
    _ entries: StateEntries, _ reader: StateReader, _ slot: StateSlot, in folder: String
  ) throws(PageDamage) -> ([Table], SavedTrees) {
    var trees = SavedTrees()
    var tables: [Table] = []
    let healing = healing(slot.sequence, chain: slot.chain, in: folder)
    // A view may have been saved in an older state, and left as it was since then.
    var healings = [slot.sequence: healing]
    for (index, table) in entries.tables.enumerated() {
      let rows = try reader.tree(
        table.rows.root, pageSize: TreePages.table,
        healing: healing.healing(table.name, .rows), StoredRow.isValid)
      let problems = try reader.tree(
        table.problems.root, pageSize: Tree().pageSize,
        healing: healing.healing(table.name, .problems)
      ) { _, _ in true }
      trees[SavedTrees.Key(table.name, .rows)] = (rows, table.rows.usage)
      trees[SavedTrees.Key(table.name, .problems)] = (problems, table.problems.usage)
      var views: [ViewOnDisk] = []
      for view in entries.views where view.table == UInt32(index) {
        guard view.sequence <= slot.sequence else { throw PageDamage("a view is newer than its state") }
        let healing = healings[view.sequence] ?? self.healing(view.sequence, chain: nil, in: folder)
        healings[view.sequence] = healing
        let isOfRows = view.roots.rows.root == table.rows.root
        views.append(ViewOnDisk(view, of: table.name, reader, healing, rows: isOfRows ? rows : nil))
      }
      trees.add(views, of: table.name)
      tables.append(
        Table(
          name: table.name, recordsTouches: name.recordsTouches, rows: rows, problems: problems,
          savedViews: views))
    }
    return (tables, trees)
  }

  private func healing(_ sequence: UInt64, chain: UInt64?, in folder: String) -> StateHealing {
    let healing = StateHealing(
      log, folding, sequence: sequence, chain: chain, folder: folder, faults: faultsFound,
      noteFold: { [observation = log.observation, projectionName] _ in
        observation.note(
          .discarded(
            .state, projection: projectionName,
            why: "pages of it could not be read, and were made from the log"))
      })
    healings.withLock { healings in
      healings.removeAll { $0.healing == nil }
      healings.append(LiveHealing(healing: healing))
    }
    return healing
  }
}

// MARK: After a checkpoint

extension Checkpoints {
  /// Opens the page files of a state that is being written; nil if one of them is missing.
  ///
  /// - Parameter isOwn: whether the state adds to the one that was read or written last.
  func openFiles(_ numbers: Set<UInt32>, in files: StateFiles, isOwn: Bool) -> StateReader? {
    let last = reader.withLock { $0 }
    var open: [UInt32: any File] = [:]
    for number in numbers {
      guard let file = (isOwn ? last?.file(number) : nil) ?? files.openPages(number) else { return nil }
      open[number] = file
    }
    let lineage = (isOwn ? last?.lineage : nil) ?? StateLineage(counts: last?.lineage.counts)
    return StateReader(open, lineage, cache)
  }

  /// Lets the cache drop the leaves of a state that is on disk now.
  func shelve(_ tables: TableSet, _ written: WrittenPages, _ reader: StateReader, in folder: String) {
    let healing = healing(tables.sequence, chain: tables.chain, in: folder)
    for table in tables.tables where table.isWritten {
      table.rows.shelve(
        written, reader.source(of: table.rows, healing.healing(table.name, .rows), StoredRow.isValid))
      table.problems.shelve(
        written, reader.source(of: table.problems, healing.healing(table.name, .problems)) { _, _ in true })
      for view in table.keptViews {
        let definition = view.definition
        for kind in ViewTrees.Kind.allCases where !kind.isReadWhole {
          guard let tree = view.trees[kind] else { continue }
          let healing = healing.healing(table.name, .view(definition, kind))
          tree.shelve(
            written, reader.source(of: tree, healing, kind.check(isCompared: definition.isCompared)))
        }
      }
    }
    self.reader.withLock { $0 = reader }
  }
}

extension PageCache {
  /// The cache of a store: pages of its states and records of its histories share one bound.
  convenience init(_ options: StoreOptions) { self.init(limit: options.pageCacheSize) }
}
