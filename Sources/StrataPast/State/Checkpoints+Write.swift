// Writing a state: the pages that are not on disk yet, and then STATE.

internal import StrataBase
internal import StrataLog
internal import StrataTables

extension Checkpoints {
  /// Writes the pages of a state that are not on disk yet, and makes it the one that the next open finds. Waits for
  /// another write of this object to end. Blocks.
  ///
  /// - Parameters:
  ///   - erasures: what was erased in the log before the state's fold began. If more is erased by now, nothing is
  ///     written.
  /// - Returns: nil if the state is on disk already.
  @discardableResult
  func write(
    _ tables: TableSet, _ erasures: SegmentErasures
  ) throws(StoreError) -> Written? {
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
    if isSavedByWriter(&known) {
      let result = known
      state.withLock { $0 = result }
      return nil
    }
    // Somebody may have removed the state or a part of it, or written another one while the store was suspended.
    let exists = home(at: known.folder).map { files in
      let present = (try? files.pageFiles()) ?? []
      return files.slots().first == known.slot && present.isSuperset(of: known.files)
    }
    guard tables.sequence >= log.mark.logBegin, exists != true || needsSave(tables, known) else {
      return nil
    }
    do throws(StoreError) {
      let written = try writing { () throws(StoreError) in try write(tables, erasures, &known) }
      (known.failure, known.lastFailure) = (nil, nil)
      known.wasEvicted = false
      known.isWriting = true
      let result = known
      state.withLock { $0 = result }
      noteSaved(written)
      return written
    } catch {
      noteFailed(error)
      state.withLock { state in
        state.current = nil
        (state.failure, state.lastFailure) = (error, error == StateHome.taken(name) ? nil : .now())
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
    if saved == tables.sequence, !faults.files.isDisjoint(with: known.files) { return true }
    return saved == tables.sequence && lacksView(of: tables, known)
  }

  /// The views that a state saves: of several with one name, only one.
  private static func keptViews(of tables: TableSet) -> Set<TableView> {
    var views: Set<TableView> = []
    for table in tables.tables where table.isWritten {
      for kept in table.keptViews.compactMap(\.definition.kept) { views.insert(TableView(table.name, kept)) }
    }
    return views
  }

  /// The views of a state, without those that will soon be forgotten: a process that asks for one of them saves it, even
  /// if it has nothing else to save.
  static func views(of entries: StateEntries) -> Set<TableView> {
    let lasting = entries.views.filter { $0.unaskedCount < ForgottenView.processCountMin / 2 }
    return Set(lasting.map { TableView(entries.tables[Int($0.table)].name, $0.kept) })
  }

  private func write(
    _ tables: TableSet, _ erasures: SegmentErasures, _ known: inout State
  ) throws(StoreError) -> Written {
    guard let chain = tables.chain else {
      throw .invalid(what: "a state inside a block cannot be saved")
    }
    assert(state.withLock { $0.isWriting }, "one thread writes at a time")
    let removalCount = log.derivedSpace?.removalCount ?? 0
    try checkMayWrite()
    let files = try filesToWrite()
    // Open before the check: an erasure after it takes the names of everything that is written from here on.
    let stateFile = try files.openState()
    defer { stateFile.close() }
    let check: () throws(StoreError) -> Void = { [self] () throws(StoreError) in
      try checkMayWrite()
      let now = try log.erasuresOnDisk()
      guard now.hash(through: tables.sequence) == erasures.hash(through: tables.sequence) else {
        throw .invalid(what: "the state may hold content that was erased since it was folded")
      }
    }
    let goesOn: () throws(StoreError) -> Void = { [self] () throws(StoreError) in
      try checkRoom(since: removalCount)
    }
    try check()
    let damaged = faults.files.intersection(known.files)
    var trees: LiveTrees
    do throws(PageLoss) {
      trees = try LiveTrees(tables, known.trees, damaged, without: forgottenViews(of: tables))
      trees.usage.add(try PageUsage(all: known.directory))
    } catch {
      throw StoreError(error)
    }
    let isOwn = files.folder == known.folder && StateFiles.newestSlot(in: stateFile) == known.slot
    let plan = try StateGarbage.plan(
      trees.usage, files, known.files, damaged: damaged, current: known.current?.number,
      isOwn: isOwn)
    var writer = StateWriter(
      files, continuing: plan.current ? known.current : nil, givingUp: plan.condemned,
      above: known.files.max() ?? 0, goesOn: goesOn,
      durable: { [log] in log.mark.durable.sequence }, check: check)
    var directory = known.directory
    let reader: StateReader?
    do throws(StoreError) {
      var entries = try trees.write(tables, keeping: plan.kept, &writer)
      var root = StateTree()
      repeat {
        entries.pageFiles = plan.kept.union(writer.begun).union(writer.file.map { [$0.number] } ?? [])
        entries.write(to: &directory)
        root = try writer.write(directory, live: PageUsage())
        // The directory's own pages may have needed a new file.
      } while !writer.begun.isSubset(of: entries.pageFiles)
        || writer.file.map { !entries.pageFiles.contains($0.number) } ?? false
      try writer.finish()
      try goesOn()
      reader = openFiles(entries.pageFiles, in: files, isOwn: isOwn)
      try checkMayWrite()
      let slot = StateSlot(
        storeID: log.storeID, name: name.hash, fingerprint: fingerprint.code, build: fingerprint.build,
        sequence: tables.sequence, chain: chain, appends: tables.appendCount, time: tables.time,
        erasures: erasures.hash(through: tables.sequence),
        root: root.root)
      known.slot = try files.write(slot, to: stateFile)
      known.folder = files.folder
      known.trees = trees.saved
      known.directory = directory
      known.files = entries.pageFiles
      known.current = writer.file
      known.writes.add(
        writer.bytesWritten, forEvents: tables.sequence - min(known.saved ?? 0, tables.sequence),
        keeping: trees.usage.trees.byteCount(besides: plan.condemned))
      known.saved = tables.sequence
      known.savedViews = Self.views(of: entries)
    } catch {
      if case .full = error { log.derivedSpace?.lacksRoom(for: writer.bytesMade) }
      writer.abandon()
      throw error
    }
    if let reader {
      shelve(tables, writer.written, reader, in: files.folder)
    } else {
      // Somebody removes the files at this moment. The next state is written whole: stubs name the old files still, so
      // what was counted of the new ones does not hold.
      (known.slot, known.current, known.saved) = (nil, nil, nil)
      (known.trees, known.savedViews) = (SavedTrees(), [])
    }
    forgetFaults(in: damaged)
    // What cannot be removed now is removed after a later checkpoint.
    for number in (try? files.pageFiles()) ?? [] where !known.files.contains(number) {
      files.removePageFile(number)
    }
    removeOldStates(tables.sequence)
    return Written(sequence: tables.sequence, bytes: writer.bytesWritten, pages: writer.pagesWritten)
  }
}

/// The trees of a state that is being written.
private struct LiveTrees {
  /// What the state uses of the page files that there are.
  var usage = StateUsage()
  /// The trees, once they are on disk.
  private(set) var saved = SavedTrees()
  private let before: SavedTrees
  /// The pages of each tree that are on disk, in the order in which trees are written.
  private var live: [SavedTrees.Key: PageUsage] = [:]
  private let damaged: Set<UInt32>
  private let forgotten: Set<Checkpoints.TableView>

  /// - Parameters:
  ///   - saved: the trees that were written last.
  ///   - damaged: files with pages that could not be read.
  ///   - forgotten: views that are given up.
  init(
    _ tables: TableSet, _ saved: SavedTrees, _ damaged: Set<UInt32>,
    without forgotten: Set<Checkpoints.TableView>
  ) throws(PageLoss) {
    before = saved
    self.damaged = damaged
    self.forgotten = forgotten
    for table in tables.tables where table.isWritten {
      for (part, tree) in table.savedTrees {
        let key = SavedTrees.Key(table.name, part)
        let used = try PageUsage.live(tree, since: before[key])
        live[key] = used
        usage.add(used)
        if part == .rows { usage.note(rows: tree) }
      }
      for view in unopenedViews(of: table) { usage.add(view) }
    }
  }

  /// Views that no list has asked for. One with a page in a damaged file is given up, and built again when it is asked
  /// for.
  private func unopenedViews(of table: Table) -> [ViewOnDisk] {
    table.savedViews.compactMap { $0 as? ViewOnDisk }.filter { view in
      damaged.isDisjoint(with: view.pageFiles)
        && !forgotten.contains(Checkpoints.TableView(table.name, view.kept))
    }
  }

  /// Writes every tree. Returns the entries of the directory.
  ///
  /// - Parameter files: the page files that stay.
  mutating func write(
    _ tables: TableSet, keeping files: Set<UInt32>, _ writer: inout StateWriter
  ) throws(StoreError) -> StateEntries {
    var entries = StateEntries()
    for table in tables.tables where table.isWritten {
      let number = UInt32(entries.tables.count)
      let rows = try write(table.rows, SavedTrees.Key(table.name, .rows), &writer)
      let problems = try write(table.problems, SavedTrees.Key(table.name, .problems), &writer)
      entries.tables.append(StateEntries.Table(name: table.name, rows: rows, problems: problems))
      for view in table.keptViews {
        guard let kept = view.definition.kept else { preconditionFailure("a view without a name is saved") }
        var roots = ViewOnDisk.Roots(rows: rows)
        for kind in ViewTrees.Kind.allCases {
          guard let tree = view.trees[kind] else { continue }
          roots.view[kind] = try write(tree, SavedTrees.Key(table.name, .view(kept.name, kind)), &writer)
        }
        entries.views.append(
          StateEntries.View(table: number, kept: kept, roots: roots, sequence: tables.sequence))
      }
      let unopened = unopenedViews(of: table).filter { files.isSuperset(of: $0.pageFiles) }
      for view in unopened {
        entries.views.append(
          StateEntries.View(
            table: number, kept: view.kept, roots: view.roots, sequence: view.sequence,
            unaskedCount: view.unaskedCount.addingSaturated(1)))
      }
      saved.add(unopened, of: table.name)
    }
    entries.failures = tables.failures.listed
    entries.failureCount = tables.failures.count
    return entries
  }

  private mutating func write(
    _ tree: Tree, _ key: SavedTrees.Key, _ writer: inout StateWriter
  ) throws(StoreError) -> StateTree {
    var made = try writer.write(tree, live: live[key] ?? PageUsage())
    // What was below a damaged page on disk is not known.
    if !damaged.isEmpty {
      do throws(PageLoss) { made.usage = try PageUsage(all: tree, writer.written) } catch {
        throw StoreError(error)
      }
    }
    saved[key] = (tree, made.usage)
    return made
  }
}

extension Table {
  /// The views that are saved with the table: of several that have one name, the last, which was leased last.
  var keptViews: [View] {
    var names: Set<String> = []
    return views.reversed().filter { view in
      view.definition.kept.map { names.insert($0.name).inserted } ?? false
    }
  }

  /// The trees whose pages a state holds all.
  fileprivate var savedTrees: [(part: SavedTrees.Part, tree: Tree)] {
    var trees: [(part: SavedTrees.Part, tree: Tree)] = [(.rows, rows), (.problems, problems)]
    for view in keptViews {
      guard let name = view.definition.kept?.name else { continue }
      for kind in ViewTrees.Kind.allCases {
        if let tree = view.trees[kind] { trees.append((.view(name, kind), tree)) }
      }
    }
    return trees
  }
}
