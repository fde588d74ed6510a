// Compares the saved states of projections with the log.

internal import StrataBase
package import StrataLog
internal import StrataTables

/// A read-only check of `derived/state/`. That nothing is saved is not a finding: it may be deleted at any moment.
package struct StateVerifier {
  private let log: Log

  package init(_ log: Log) { self.log = log }

  /// At most one finding for each folder: the first thing in it that is wrong. Every page of the newest state is read, of
  /// whatever program; the tables of the documents are compared with a fold of the log. O(log + bytes of the states).
  package func run() throws(StoreError) -> [StoreFinding] {
    let fileSystem = log.source.catalog.fileSystem
    let parent = log.layout.states
    guard try fileSystem.kind(of: parent) == .directory else { return [] }
    var findings: [StoreFinding] = []
    for folder in try fileSystem.contents(ofDirectory: parent).sorted() {
      guard try fileSystem.kind(of: "\(parent)/\(folder)") == .directory,
        let finding = try check(StateFiles(log, folder: folder), folder)
      else { continue }
      findings.append(finding)
    }
    return findings
  }

  private func check(_ files: StateFiles, _ folder: String) throws(StoreError) -> StoreFinding? {
    // A writer beside this check may replace the state while it is read.
    for _ in 0..<4 {
      let slots = files.slots()
      // The state may be of events that were appended since the log was opened.
      try? log.refresh()
      guard let slot = slots.first else {
        // Before its first checkpoint is done, a folder has no state.
        return try files.pageFiles().count > 1
          ? finding(folder, nil, PageDamage("no slot of STATE can be read")) : nil
      }
      let found: StoreFinding?
      if isStale(slot) {
        found = stale(folder, slot)
      } else {
        found = try problem(of: slot, in: files).map { finding(folder, slot, $0) }
      }
      if found == nil || files.slots() == slots { return found }
    }
    return nil
  }

  /// Whether a state is of events that the log does not have: they were only buffered when the power failed.
  private func isStale(_ slot: StateSlot) -> Bool {
    let mark = log.mark
    guard slot.storeID == log.storeID, slot.sequence >= mark.logBegin else { return false }
    if slot.sequence > mark.sequence { return true }
    return (try? log.chain(after: slot.sequence)).map { $0 != slot.chain } ?? false
  }

  private func stale(_ folder: String, _ slot: StateSlot) -> StoreFinding {
    StoreFinding(
      .stale, file: "\(StoreLayout.statesPath)/\(folder)/\(StoreLayout.stateFile)", offset: 0,
      first: slot.sequence &+ 1, last: slot.sequence,
      what: "the state is of events up to \(slot.sequence), which the log lost before they were durable")
  }

  private func finding(_ folder: String, _ slot: StateSlot?, _ damage: PageDamage) -> StoreFinding {
    let sequence = slot?.sequence ?? 0
    let file = damage.location?.file ?? StoreLayout.stateFile
    return StoreFinding(
      .checkpoint, file: "\(StoreLayout.statesPath)/\(folder)/\(file)", offset: damage.location?.offset ?? 0,
      first: sequence &+ 1, last: sequence, what: damage.what)
  }

  /// The damage to a state; nil if there is none.
  private func problem(of slot: StateSlot, in files: StateFiles) throws(StoreError) -> PageDamage? {
    let mark = log.mark
    guard slot.storeID == log.storeID else { return .init("the state is of another store") }
    guard slot.sequence >= mark.logBegin else { return nil }
    // Where the log cannot be read, the check of the log has a finding.
    guard (try? log.chain(after: slot.sequence)) != nil else { return nil }
    guard try log.erasures().hash(through: slot.sequence) == slot.erasures else {
      return .init("the state was saved before events of it were erased")
    }
    let saved: WholeState
    do throws(PageDamage) { saved = try WholeState(slot, files) } catch {
      var damage = error
      damage.what = "the state cannot be read: \(error.what)"
      return damage
    }
    guard slot.name == StateName(.documents(only: nil))?.hash else { return nil }
    return difference(of: saved, slot).map { PageDamage($0) }
  }

  /// Compares the tables of the documents with those that the log gives.
  private func difference(of saved: WholeState, _ slot: StateSlot) -> String? {
    let fold = Fold(log, .documents(only: nil))
    guard (try? fold.run(through: slot.sequence)) != nil, fold.state.sequence == slot.sequence else {
      return nil
    }
    guard fold.state.appendCount == slot.appends, fold.state.time == slot.time else {
      return "the state has another time or number of appends than the log"
    }
    guard fold.state.tables.map(\.name) == saved.tables.map(\.name) else {
      return "the state has other tables than the log gives"
    }
    for (folded, table) in zip(fold.state.tables, saved.tables) {
      for (name, one, other) in [
        ("rows", folded.rows, table.rows), ("problems", folded.problems, table.problems),
      ] {
        var different: [UInt8]?
        Tree.forEachDifference(from: one, to: other) { different = different ?? Array($0.key) }
        guard let different else { continue }
        return "the \(name) of the table '\(table.name)' are others than the log gives, such as "
          + "'\(String(decoding: different, as: UTF8.self))'"
      }
    }
    return nil
  }
}

/// All trees of a state, with every page read.
struct WholeState {
  struct Table {
    var name: String
    var rows: Tree
    var problems: Tree
  }

  private(set) var tables: [Table] = []

  init(_ slot: StateSlot, _ files: StateFiles) throws(PageDamage) {
    var open: [UInt32: any File] = [:]
    for number in (try? files.pageFiles()) ?? [] { open[number] = files.openPages(number) }
    let reader = StateReader(open, StateLineage(), PageCache(limit: 0))
    guard slot.root.total > 0 else { throw PageDamage("it has no directory") }
    let entries = try StateEntries(
      try reader.wholeTree(slot.root, pageSize: StateDirectory.pageSize) { _, _ in true })
    for table in entries.tables {
      tables.append(
        Table(
          name: table.name,
          rows: try reader.wholeTree(table.rows.root, pageSize: TreePages.table, StoredRow.isValid),
          problems: try reader.wholeTree(table.problems.root, pageSize: Tree().pageSize) { _, _ in true }))
    }
    for view in entries.views {
      for (kind, tree) in view.roots.view {
        // Whether labels are compared is known to the program alone.
        _ = try reader.wholeTree(tree.root, pageSize: kind.pageSize) { keyLength, value in
          kind.isValid(keyLength, value, isCompared: false)
        }
      }
    }
  }
}
