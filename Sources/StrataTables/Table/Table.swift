// A table: rows by id, and the views over them.

package import StrataBase
internal import StrataLog

/// Rows by the bytes of their ids, and views over them. A value: a copy is O(1) and never changes, and a later write
/// copies only the pages that it changes.
package struct Table: Sendable {
  package let name: String
  /// The name's UTF-8.
  package let nameBytes: [UInt8]
  /// Row id → `StoredRow`.
  package private(set) var rows: Tree
  /// Row id → why the last event of the row could not be applied, as UTF-8.
  package private(set) var problems: Tree
  package private(set) var views: [View] = []
  /// Views that took more of a step of a fold than they may, and the rows that they are of.
  package private(set) var left: [(view: View, rows: Tree)] = []
  /// Views that were saved with the table, and that no list of this process has asked for yet.
  package private(set) var savedViews: [any SavedView] = []
  /// Whether a write of an equal document raises its row's revision.
  package let recordsTouches: Bool
  /// Whether an event was ever about the table. False if only a request named it.
  package private(set) var isWritten = false
  /// What runs know of the rows, if the table is of a state of the past. The tree may have changed since.
  private let past: (any KnownRows)?

  /// A table as a state on disk, or one of the past, holds it.
  package init(
    name: String, recordsTouches: Bool, rows: Tree, problems: Tree, savedViews: [any SavedView],
    past: (any KnownRows)? = nil
  ) {
    self.init(name: name, recordsTouches: recordsTouches, past: past)
    self.savedViews = savedViews
    self.rows = rows
    self.problems = problems
    isWritten = true
  }

  package init(name: String, recordsTouches: Bool = false) {
    self.init(name: name, recordsTouches: recordsTouches, past: nil)
  }

  private init(name: String, recordsTouches: Bool, past: (any KnownRows)?) {
    self.name = name
    self.past = past
    self.recordsTouches = recordsTouches
    nameBytes = Array(name.utf8)
    rows = Tree(pageSize: TreePages.table)
    problems = Tree()
  }

  package var count: Int { rows.count }

  /// Lends each tree whose leaves may move to a file, also those of its lists.
  mutating func forEachTree<Failure: Error>(
    _ body: (inout Tree, TablePart) throws(Failure) -> Void
  ) throws(Failure) {
    try body(&rows, .rows)
    try body(&problems, .problems)
    for index in views.indices {
      let definition = views[index].definition
      try views[index].forEachTree { (tree, kind) throws(Failure) in
        try body(&tree, .view(definition, kind))
      }
    }
  }

  /// Lends a row, nil if the table does not have it. O(log n).
  package func withRow<Result, Failure: Error>(
    _ id: UnsafeRawBufferPointer, _ body: (RowView?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if let past, past.tree.isIdentical(to: rows), let row = past.row(id) { return try row.withRow(id, body) }
    return try rows.withValue(of: id) { (value) throws(Failure) in
      try body(value.map { StoredRow.view(id: id, $0) })
    }
  }

  /// Whether rows are read from files, and sooner if it is known which.
  package var readsRows: Bool { past?.tree.isIdentical(to: rows) ?? false }

  /// Does what makes it sooner to read some rows, one after another. Best effort; may block.
  package func willRead(_ ids: [[UInt8]]) { if readsRows { past?.willRead(ids) } }

  /// Lends every row, in ascending order of ids. O(n).
  package func forEachRow<Failure: Error>(
    _ body: (RowView) throws(Failure) -> Void
  ) throws(Failure) {
    try rows.forEach(in: 0..<rows.count) { (id, value) throws(Failure) in
      try body(StoredRow.view(id: id, value))
    }
  }

  /// A row in two versions of a table. Valid only inside the call that lends it.
  package struct Change {
    package var id: UnsafeRawBufferPointer
    package var old: RowView?
    package var new: RowView?
  }

  /// Lends every row that differs between two versions, in ascending order of ids. Costs what they do not share.
  package static func forEachChange<Failure: Error>(
    from old: Table, to new: Table, _ body: (Change) throws(Failure) -> Void
  ) throws(Failure) {
    // What was made from one state shares its pages.
    guard let one = old.past, let other = new.past, one !== other,
      let changes = one.changes(to: other)
    else { return try forEachDifference(from: old, to: new, after: nil, body) }
    let inTree = (old: ids(from: one.tree, to: old.rows), new: ids(from: other.tree, to: new.rows))
    guard inTree.old.isEmpty, inTree.new.isEmpty else {
      return try forEachChange(from: old, to: new, among: changes, inTree, body)
    }
    var last: [UInt8]?
    var failure: Failure?
    while let exists = changes.next() {
      guard exists else { return }
      last = changes.id
      lend(changes.id, changes.old, changes.new) { change in
        do throws(Failure) { try body(change) } catch { failure = error }
      }
      if let failure { throw failure }
    }
    try forEachDifference(from: old, to: new, after: last, body)
  }

  /// About how many rows are read to find those that differ between two versions; nil if it is not known before.
  package static func changeCost(from old: Table, to new: Table) -> Int? {
    guard old.past !== new.past else { return nil }
    let all = old.count + new.count
    // A state of the past shares no page with one that was folded, nor with another one that the runs do not know.
    guard let one = old.past, let other = new.past, let count = one.changeCount(to: other) else { return all }
    // However often each of them changed.
    return min(count, all)
  }

  /// Lends one row as it is in two versions; nil if it is the same in both, or in neither. O(log n).
  package static func withChange<Result, Failure: Error>(
    of id: UnsafeRawBufferPointer, from old: Table, to new: Table,
    _ body: (Change?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try old.withRow(id) { (before) throws(Failure) in
      try new.withRow(id) { (after) throws(Failure) in
        let isSame = before.map { before in after.map { before.isSame(as: $0) } ?? false } ?? (after == nil)
        return try body(isSame ? nil : Change(id: id, old: before, new: after))
      }
    }
  }

  private static func forEachDifference<Failure: Error>(
    from old: Table, to new: Table, after last: [UInt8]?, _ body: (Change) throws(Failure) -> Void
  ) throws(Failure) {
    try Tree.forEachDifference(from: old.rows, to: new.rows) { (difference) throws(Failure) in
      let id = difference.key
      if let last, last.withUnsafeBytes({ $0.order(id) >= 0 }) { return }
      try body(
        Change(
          id: id, old: difference.oldValue.map { StoredRow.view(id: id, $0) },
          new: difference.newValue.map { StoredRow.view(id: id, $0) }))
    }
  }

  // MARK: States of the past

  /// The ids of the rows that differ between two trees that share pages.
  private static func ids(from old: Tree, to new: Tree) -> Set<[UInt8]> {
    var ids: Set<[UInt8]> = []
    Tree.forEachDifference(from: old, to: new) { ids.insert(Array($0.key)) }
    return ids
  }

  /// Lends a row that the runs have. Not generic over an error: each of the four closures would look up its types at
  /// every row.
  private static func lend(_ id: [UInt8], _ old: KnownRow, _ new: KnownRow, _ body: (Change) -> Void) {
    id.withUnsafeBytes { id in
      old.withRow(id) { before in new.withRow(id) { after in lend(id, before, after, body) } }
    }
  }

  private static func lend<Failure: Error>(
    _ id: UnsafeRawBufferPointer, _ old: RowView?, _ new: RowView?,
    _ body: (Change) throws(Failure) -> Void
  ) throws(Failure) {
    if let old, let new, old.isSame(as: new) { return }
    if old != nil || new != nil { try body(Change(id: id, old: old, new: new)) }
  }

  /// Lends the rows that differ, where rows were changed in the trees after what the runs say of them.
  private static func forEachChange<Failure: Error>(
    from old: Table, to new: Table, among changes: any KnownChanges,
    _ inTree: (old: Set<[UInt8]>, new: Set<[UInt8]>), _ body: (Change) throws(Failure) -> Void
  ) throws(Failure) {
    var ids = inTree.old.union(inTree.new)
    while let exists = changes.next() {
      if exists {
        ids.insert(changes.id)
        continue
      }
      for id in ids.sorted(by: { $0.isBefore($1) }) {
        try id.lendBytes { (bytes) throws(Failure) in
          try old.withRow(bytes, isInTree: inTree.old.contains(id)) { (before) throws(Failure) in
            try new.withRow(bytes, isInTree: inTree.new.contains(id)) { (after) throws(Failure) in
              try lend(bytes, before, after, body)
            }
          }
        }
      }
      return
    }
    try forEachDifference(from: old, to: new, after: nil, body)
  }

  /// Lends a row of the tree, or one that the tree has from the runs.
  private func withRow<Failure: Error>(
    _ id: UnsafeRawBufferPointer, isInTree: Bool, _ body: (RowView?) throws(Failure) -> Void
  ) throws(Failure) {
    if !isInTree, let row = past?.row(id) { return try row.withRow(id, body) }
    try rows.withValue(of: id) { (value) throws(Failure) in
      try body(value.map { StoredRow.view(id: id, $0) })
    }
  }
}

extension Table {
  /// How a row that is put into the table relates to the one that it has.
  package enum Putting {
    /// If its document is the one that the table has, nothing changes, unless touches are recorded.
    case ifOther
    /// It changed, even if its document is the one that the table has. A row of the table keeps its creation.
    case changed
    /// It was created.
    case created
  }

  /// Sets a row's document. A document equal to the row's current one leaves the row unchanged, unless touches are
  /// recorded.
  package mutating func put(
    id: UnsafeRawBufferPointer, document: UnsafeRawBufferPointer, at stamp: Stamp, _ scratch: FoldScratch
  ) {
    let row = RowView(
      id: id, revision: stamp.sequence, created: stamp.sequence, time: stamp.time, document: document)
    StoredRow.write(row, to: &scratch.value)
    scratch.value.withUnsafeMutableBytes { put(id: id, stored: $0, .ifOther, scratch) }
  }

  /// Sets a row to a value with its revision, its time, and the creation that it has if the table lacks it.
  @inline(__always)
  package mutating func put(
    id: UnsafeRawBufferPointer, stored: UnsafeMutableRawBufferPointer, _ putting: Putting,
    _ scratch: FoldScratch
  ) {
    isWritten = true
    clearProblem(id)
    let isForced = recordsTouches || putting != .ifOther
    guard
      Self.set(
        id, stored, in: &rows, keepsOld: !views.isEmpty, isForced: isForced,
        keepsCreation: putting != .created, scratch)
    else { return }
    scratch.rows.note(id, of: nameBytes)
    scratch.bytesLeft -= stored.count
    if !views.isEmpty { changeViews(id, to: StoredRow.view(id: id, UnsafeRawBufferPointer(stored)), scratch) }
    assertAgreement()
  }

  /// Sets a row if its document differs, and copies the value that it had for the views, in one descent of the tree.
  /// Returns false if nothing changed.
  private static func set(
    _ id: UnsafeRawBufferPointer, _ new: UnsafeMutableRawBufferPointer, in rows: inout Tree, keepsOld: Bool,
    isForced: Bool, keepsCreation: Bool, _ scratch: FoldScratch
  ) -> Bool {
    var isChanged = true
    scratch.old.removeAll(keepingCapacity: true)
    _ = rows.set(id, UnsafeRawBufferPointer(new)) { value in
      guard let value else { return true }
      let old = StoredRow.view(id: id, value)
      if !isForced,
        old.document.hasSameBytes(
          as: UnsafeRawBufferPointer(rebasing: new[StoredRow.headLength...]))
      {
        isChanged = false
        return false
      }
      if keepsCreation { StoredRow.setCreated(old.created, in: new) }
      if keepsOld { scratch.old.append(contentsOf: value) }
      return true
    }
    return isChanged
  }

  /// Notes that an event is about the table, before its rows are put into it.
  package mutating func noteWritten() { isWritten = true }

  /// Notes that no event up to the state was about the table.
  mutating func noteUnwritten() { isWritten = false }

  /// Removes a row. Does nothing if the table does not have it.
  package mutating func remove(id: UnsafeRawBufferPointer, _ scratch: FoldScratch) {
    isWritten = true
    if clearProblem(id) { scratch.rows.note(id, of: nameBytes) }
    scratch.old.removeAll(keepingCapacity: true)
    let keepsOld = !views.isEmpty
    guard rows.remove(id, { value in if keepsOld { scratch.old.append(contentsOf: value) } }) else { return }
    scratch.rows.note(id, of: nameBytes)
    if keepsOld { changeViews(id, to: nil, scratch) }
    assertAgreement()
  }

  /// Lets the views follow the change of a row. The program's code may take its time: no page of a tree is being read or
  /// changed meanwhile.
  private mutating func changeViews(
    _ id: UnsafeRawBufferPointer, to new: RowView?, _ scratch: FoldScratch
  ) {
    let meter = scratch.meter
    var leaves = false
    meter?.beginRow()
    scratch.old.withUnsafeBytes { bytes in
      let old = bytes.isEmpty ? nil : StoredRow.view(id: id, bytes)
      for index in views.indices {
        meter?.enter(views[index].definition)
        scratch.keys.change(&views[index], id: id, from: old, to: new)
        if let meter, meter.leave(&views[index].spending) {
          views[index].isLeaving = true
          leaves = true
        }
      }
    }
    if leaves { letViewsLeave(scratch) }
  }

  private mutating func letViewsLeave(_ scratch: FoldScratch) {
    for index in views.indices.reversed() where views[index].isLeaving {
      var view = views.remove(at: index)
      view.isLeaving = false
      left.append((view, rows))
    }
    scratch.meter?.noteLeft()
  }

  /// Takes the views that have left.
  package mutating func takeLeft() -> [(view: View, rows: Tree)] {
    defer { left = [] }
    return left
  }

  /// Removes a row and records the reason: its last event could not be applied.
  package mutating func refuse(id: UnsafeRawBufferPointer, because what: String, _ scratch: FoldScratch) {
    remove(id: id, scratch)
    var what = what
    what.withUTF8 { text in _ = problems.set(id, UnsafeRawBufferPointer(text)) }
    scratch.rows.note(id, of: nameBytes)
  }

  /// Returns whether the row had a problem.
  @discardableResult
  private mutating func clearProblem(_ id: UnsafeRawBufferPointer) -> Bool {
    problems.count > 0 && problems.remove(id)
  }

  /// Whether a row has exactly this document. O(log n).
  func holds(_ document: UnsafeRawBufferPointer, id: UnsafeRawBufferPointer) -> Bool {
    withRow(id) { row in row.map { $0.document.hasSameBytes(as: document) } ?? false }
  }
}

extension Table {
  /// The view with an identity, nil if it was not added.
  package func view(_ identity: ViewIdentity) -> View? {
    views.first { $0.definition.identity == identity }
  }

  /// Adds a view over the current rows, which is kept up to date from then on: the saved one if it was saved, otherwise
  /// a new one. O(n log n), or for a saved one what opening it costs: see `SavedView`.
  package mutating func addView(_ definition: ViewDefinition, on parallel: Parallel = .none) {
    guard view(definition.identity) == nil, !openView(definition) else { return }
    views.append(View(definition, of: self, on: parallel))
  }

  /// Adds the saved view of a definition. Returns false if none was saved, or the saved one is of another definition or
  /// cannot be read; it is then forgotten.
  package mutating func openView(_ definition: ViewDefinition) -> Bool {
    guard let name = definition.kept?.name, let saved = savedViews.first(where: { $0.kept.name == name })
    else {
      return false
    }
    let view = saved.view(definition, over: rows)
    savedViews.removeAll { $0 === saved }
    if let view { views.append(view) }
    return view != nil
  }

  /// Adds a view that was built from the current rows.
  package mutating func add(_ view: View) {
    assert(self.view(view.definition.identity) == nil, "a table has a view once")
    if let kept = view.definition.kept { removeSavedView(kept.name) }
    views.append(view)
  }

  /// Takes the saved view of a definition; nil if none was saved, or the saved one is of another definition.
  package mutating func takeSavedView(_ definition: ViewDefinition) -> (any SavedView)? {
    guard let kept = definition.kept, let saved = savedViews.first(where: { $0.kept.name == kept.name })
    else {
      return nil
    }
    savedViews.removeAll { $0 === saved }
    return saved.kept == kept ? saved : nil
  }

  /// Adds a view that was saved with an earlier version of the rows.
  package mutating func add(saved view: any SavedView) { savedViews.append(view) }

  /// Begins a new lineage of states in each view.
  mutating func beginLines() {
    for index in views.indices { views[index].beginLine() }
  }

  /// Gives up the saved view of a name, which the next state on disk then lacks.
  package mutating func removeSavedView(_ name: String) { savedViews.removeAll { $0.kept.name == name } }

  /// Makes a view the one that is saved of those with its name: the last of them.
  package mutating func saveView(_ identity: ViewIdentity) {
    guard let index = views.firstIndex(where: { $0.definition.identity == identity }),
      let name = views[index].definition.kept?.name,
      views[(index + 1)...].contains(where: { $0.definition.kept?.name == name })
    else { return }
    views.append(views.remove(at: index))
  }

  package mutating func removeView(_ identity: ViewIdentity) {
    views.removeAll { $0.definition.identity == identity }
  }
}

/// The event that changes a row.
package struct Stamp: Sendable {
  package var sequence: UInt64
  /// The own time of its append.
  package var time: Int64

  package init(sequence: UInt64, time: Int64) {
    self.sequence = sequence
    self.time = time
  }
}
