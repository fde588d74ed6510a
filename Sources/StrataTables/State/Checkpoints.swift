// The state of one projection on disk: found and checked when it is first needed, and written from time to time.

internal import StrataBase
internal import StrataLog

/// Reads and writes the state of one projection of one store, in `derived/state/NAME-VERSION/`.
///
/// Nothing there is truth. A state that does not fit the log, the erasures in it, or the code that folds it, and one of
/// which any byte is damaged, is ignored: the caller folds the log instead. So no failure here is an error of the store.
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

  /// A view of a state.
  private struct TableView: Hashable {
    var table: [UInt8]
    var kept: KeptView

    init(_ table: String, _ kept: KeptView) {
      self.table = Array(table.utf8)
      self.kept = kept
    }
  }

  private struct State {
    var isWriting = false
    /// The directory as of the last checkpoint or restored state.
    var directory = Tree(pageSize: StateDirectory.pageSize)
    /// The page files that hold pages of it.
    var files: Set<UInt32> = []
    /// The page file that this process appends to.
    var current: StateFiles.PageFile?
    /// The sequence of the newest state on disk that is known to be valid; nil if there is none.
    var saved: UInt64?
    /// The views in that state.
    var savedViews: Set<TableView> = []
    var totalBytes: UInt64 = 0
    var lastBytes: UInt64 = 0
    var failure: StoreError?
  }

  private let log: Log
  private let files: StateFiles
  private let name: StateName
  private let fingerprint: UInt64
  private let state = Gate(State())

  /// Nil for a folding whose states are not kept.
  init?(_ log: Log, _ folding: Folding) {
    guard log.options.savesStates, let name = StateName(folding),
      let fingerprint = StateFingerprint.of(folding)
    else { return nil }
    self.log = log
    self.name = name
    self.fingerprint = fingerprint
    files = StateFiles(log, name)
  }

  var projectionName: String { name.name }
  /// The sequence of the newest state on disk, as far as this process knows.
  var savedSequence: UInt64? { state.withLock { $0.saved } }
  /// The bytes that this process has written for states, and those of its last checkpoint.
  var bytesWritten: (total: UInt64, last: UInt64) { state.withLock { ($0.totalBytes, $0.lastBytes) } }
  /// Why the last checkpoint could not be written.
  var failure: StoreError? { state.withLock { $0.failure } }
}

// MARK: Reading

extension Checkpoints {
  /// The newest state that is valid and holds nothing after a sequence; nil if there is none. O(bytes of the state).
  /// Blocks.
  func restore(through last: UInt64 = .max) -> Restored? {
    // A writer may have saved a state after this reader last looked at its log.
    try? log.refresh()
    let head = log.mark.sequence
    guard let erasures = try? log.erasures() else { return nil }
    var slots = files.slots()
    // A writer beside this reader may replace the files of both slots while they are read.
    for _ in 0..<4 {
      for slot in slots where slot.sequence <= last {
        if let tables = tables(of: slot, erasures) {
          return Restored(tables: tables, erasures: erasures, head: head)
        }
      }
      let again = files.slots()
      if again == slots { return nil }
      slots = again
    }
    return nil
  }

  private func tables(of slot: StateSlot, _ erasures: SegmentErasures) -> TableSet? {
    let mark = log.mark
    guard slot.storeID == log.storeID, slot.name == name.hash, slot.fingerprint == fingerprint,
      slot.sequence <= mark.sequence, slot.sequence >= mark.logBegin, slot.appends <= mark.appends,
      slot.erasures == erasures.hash(through: slot.sequence),
      (try? log.chain(after: slot.sequence)) == slot.chain
    else { return nil }
    return try? read(slot)
  }

  private func read(_ slot: StateSlot) throws(StatePage.Damage) -> TableSet {
    let parallel = log.options.machine.parallel
    guard slot.root.total > 0, let first = files.openPages(slot.root.place.file) else {
      throw StatePage.Damage("a page file is missing")
    }
    // The directory may be in several files, but says itself in which.
    var open = [slot.root.place.file: first]
    for number in (try? files.pageFiles()) ?? [] where open[number] == nil {
      open[number] = files.openPages(number)
    }
    let reader = StateReader(open)
    let directory = try reader.tree(slot.root, pageSize: StateDirectory.pageSize, on: .none) { _, _ in true }
    let entries = try StateEntries(directory)
    let recordsTouches = name.recordsTouches
    var tables: [Table] = []
    for (index, table) in entries.tables.enumerated() {
      let rows = try reader.tree(table.rows, pageSize: TreePages.table, on: parallel, StoredRow.isValid)
      let problems = try reader.tree(table.problems, pageSize: Tree().pageSize, on: .none) { _, _ in true }
      let views = entries.views.filter { $0.table == UInt32(index) }.map { view in
        ViewOnDisk(
          view.kept, view.roots, view.usage, reader, rows: view.roots.rows == table.rows ? rows : nil)
      }
      tables.append(
        Table(
          name: table.name, recordsTouches: recordsTouches, rows: rows, problems: problems, savedViews: views)
      )
    }
    state.withLock { state in
      state.directory = directory
      state.files = entries.pageFiles
      state.saved = slot.sequence
      state.savedViews = Self.views(of: entries)
    }
    return TableSet(
      sequence: slot.sequence, time: slot.time, chain: slot.chain, appendCount: slot.appends,
      recordsTouches: recordsTouches, tables: tables,
      failures: ProjectionFailures(listed: entries.failures, count: entries.failureCount))
  }
}

// MARK: Writing

extension Checkpoints {
  /// Writes the pages of a state that are not on disk yet, and makes it the one that the next open finds. Waits for
  /// another write of this object to end. Blocks.
  ///
  /// - Parameter erasures: what was erased in the log before the state's fold began. If more is erased by now, nothing
  ///   is written.
  /// - Returns: nil if the state is on disk already.
  @discardableResult
  func write(_ tables: TableSet, _ erasures: SegmentErasures) throws(StoreError) -> Written? {
    state.wait { state in
      if state.isWriting { return false }
      state.isWriting = true
      return true
    }
    defer {
      state.withLock { $0.isWriting = false }
      state.signalAll()
    }
    var known = state.withLock { $0 }
    guard needsSave(tables, known) else { return nil }
    do throws(StoreError) {
      let written = try write(tables, erasures, &known)
      known.failure = nil
      known.isWriting = true
      let result = known
      state.withLock { $0 = result }
      return written
    } catch {
      state.withLock { state in
        state.current = nil
        state.failure = error
      }
      throw error
    }
  }

  /// Whether a state has a view to be saved that no state on disk has.
  func lacksView(of tables: TableSet) -> Bool { state.withLock { lacksView(of: tables, $0) } }

  private func lacksView(of tables: TableSet, _ known: State) -> Bool {
    !Self.keptViews(of: tables).isSubset(of: known.savedViews)
  }

  private func needsSave(_ tables: TableSet, _ known: State) -> Bool {
    guard let saved = known.saved, saved >= tables.sequence else { return true }
    return saved == tables.sequence && lacksView(of: tables, known)
  }

  /// The views that a state saves, without those of which another one has the name.
  private static func keptViews(of tables: TableSet) -> Set<TableView> {
    var views: Set<TableView> = []
    for table in tables.tables where table.isWritten {
      for view in table.keptViews { views.insert(TableView(table.name, view.definition.kept!)) }
    }
    return views
  }

  private static func views(of entries: StateEntries) -> Set<TableView> {
    Set(entries.views.map { TableView(entries.tables[Int($0.table)].name, $0.kept) })
  }

  private func write(
    _ tables: TableSet, _ erasures: SegmentErasures, _ known: inout State
  ) throws(StoreError) -> Written {
    guard let chain = tables.chain else {
      throw .invalid(what: "a state inside a block cannot be saved")
    }
    try files.createFolder()
    // Open before the check: an erasure after it takes the names of everything that is written from here on.
    let stateFile = try files.openState()
    defer { stateFile.close() }
    let check: () throws(StoreError) -> Void = { [log] () throws(StoreError) in
      try log.checkWrites()
      let now = try log.erasuresOnDisk()
      guard now.hash(through: tables.sequence) == erasures.hash(through: tables.sequence) else {
        throw .invalid(what: "the state may hold content that was erased since it was folded")
      }
    }
    try check()
    var usage = StateUsage()
    for table in tables.tables {
      for tree in table.savedTrees { usage.add(tree) }
      for saved in table.savedViews { usage.add(saved as? ViewOnDisk) }
    }
    usage.add(known.directory)
    let plan = try StateGarbage.plan(usage, files, known.files, current: known.current?.number)
    var writer = StateWriter(
      files, continuing: plan.current ? known.current : nil, givingUp: plan.condemned, check: check)
    do throws(StoreError) {
      var entries = StateEntries()
      for table in tables.tables where table.isWritten {
        let (rows, problems) = (try writer.write(table.rows), try writer.write(table.problems))
        let number = UInt32(entries.tables.count)
        entries.tables.append(StateEntries.Table(name: table.name, rows: rows, problems: problems))
        for view in table.keptViews {
          entries.views.append(try Self.entry(of: view, in: table, number, rows: rows, &writer))
        }
        for case let saved as ViewOnDisk in table.savedViews {
          entries.views.append(
            StateEntries.View(table: number, kept: saved.kept, roots: saved.roots, usage: saved.usage))
        }
      }
      entries.failures = tables.failures.listed
      entries.failureCount = tables.failures.count
      var directory = known.directory
      var root = StateTreeRoot()
      repeat {
        entries.pageFiles = plan.kept.union(writer.begun).union(writer.file.map { [$0.number] } ?? [])
        entries.write(to: &directory)
        root = try writer.write(directory)
        // The directory's own pages may have needed a new file.
      } while !writer.begun.isSubset(of: entries.pageFiles)
        || writer.file.map { !entries.pageFiles.contains($0.number) } ?? false
      try writer.finish()
      try log.checkWrites()
      let slot = StateSlot(
        storeID: log.storeID, name: name.hash, fingerprint: fingerprint, sequence: tables.sequence,
        chain: chain,
        appends: tables.appendCount, time: tables.time, erasures: erasures.hash(through: tables.sequence),
        root: root)
      try files.write(slot, to: stateFile)
      known.directory = directory
      known.files = entries.pageFiles
      known.current = writer.file
      known.saved = tables.sequence
      known.savedViews = Self.views(of: entries)
      known.totalBytes += writer.bytesWritten
      known.lastBytes = writer.bytesWritten
    } catch {
      writer.abandon()
      throw error
    }
    for number in try files.pageFiles() where !known.files.contains(number) { files.removePageFile(number) }
    return Written(sequence: tables.sequence, bytes: writer.bytesWritten, pages: writer.pagesWritten)
  }

  private static func entry(
    of view: View, in table: Table, _ number: UInt32, rows: StateTreeRoot, _ writer: inout StateWriter
  ) throws(StoreError) -> StateEntries.View {
    guard let kept = view.definition.kept else { preconditionFailure("a view without a name is saved") }
    var roots = ViewOnDisk.Roots(rows: rows)
    var usage = StateUsage()
    usage.add(table.rows)
    for kind in ViewTrees.Kind.allCases {
      guard let tree = view.trees[kind] else { continue }
      roots.view[kind] = try writer.write(tree)
      usage.add(tree)
    }
    return StateEntries.View(table: number, kept: kept, roots: roots, usage: usage.bytes)
  }
}

extension Table {
  /// The views that are saved with the table: of several that have one name, the one that was asked for last.
  fileprivate var keptViews: [View] {
    var names: Set<String> = []
    return views.reversed().filter { view in
      view.definition.kept.map { names.insert($0.name).inserted } ?? false
    }
  }

  /// The trees of which a state holds every page.
  fileprivate var savedTrees: [Tree] {
    [rows, problems] + keptViews.flatMap { view in ViewTrees.Kind.allCases.compactMap { view.trees[$0] } }
  }
}
