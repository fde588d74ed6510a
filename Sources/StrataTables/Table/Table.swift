// A table: rows by id, and the views over them.

package import StrataBase

/// Rows by the bytes of their ids, and views over them. A value: a copy is O(1) and never changes, and a later write
/// copies only the pages that it changes.
package struct Table: Sendable {
  package let name: String
  /// The name's UTF-8.
  let nameBytes: [UInt8]
  /// Row id → `StoredRow`.
  package private(set) var rows: Tree
  /// Row id → why the last event of the row could not be applied, as UTF-8.
  package private(set) var problems: Tree
  package private(set) var views: [View] = []
  /// Views that were saved with the table, and that no list of this process has asked for yet.
  private(set) var savedViews: [any SavedView] = []
  /// Whether a write of an equal document raises its row's revision.
  package let recordsTouches: Bool
  /// Whether an event was ever about the table. False if only a request named it.
  package private(set) var isWritten = false

  /// A table as a state on disk holds it.
  init(name: String, recordsTouches: Bool, rows: Tree, problems: Tree, savedViews: [any SavedView]) {
    self.init(name: name, recordsTouches: recordsTouches)
    self.savedViews = savedViews
    self.rows = rows
    self.problems = problems
    isWritten = true
  }

  package init(name: String, recordsTouches: Bool = false) {
    self.name = name
    self.recordsTouches = recordsTouches
    nameBytes = Array(name.utf8)
    rows = Tree(pageSize: TreePages.table)
    problems = Tree()
  }

  package var count: Int { rows.count }

  /// Lends a row, nil if the table does not have it. O(log n).
  package func withRow<Result, Failure: Error>(
    _ id: UnsafeRawBufferPointer, _ body: (RowView?) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try rows.withValue(of: id) { (value) throws(Failure) in
      try body(value.map { StoredRow.view(id: id, $0) })
    }
  }

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
    try Tree.forEachDifference(from: old.rows, to: new.rows) { (difference) throws(Failure) in
      let id = difference.key
      try body(
        Change(
          id: id, old: difference.oldValue.map { StoredRow.view(id: id, $0) },
          new: difference.newValue.map { StoredRow.view(id: id, $0) }))
    }
  }
}

extension Table {
  /// What is known of a row that is put into the table.
  enum Putting {
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
  mutating func put(
    id: UnsafeRawBufferPointer, stored: UnsafeMutableRawBufferPointer, _ putting: Putting,
    _ scratch: FoldScratch
  ) {
    isWritten = true
    clearProblem(id)
    scratch.prepare(viewCount: views.count)
    let isForced = recordsTouches || putting != .ifOther
    guard
      Self.set(
        id, stored, in: &rows, views, isForced: isForced, keepsCreation: putting != .created, scratch)
    else { return }
    let row = StoredRow.view(id: id, UnsafeRawBufferPointer(stored))
    for index in views.indices {
      scratch.new[index].place(row, by: views[index].definition, &scratch.writer)
      views[index].change(id: id, from: scratch.old[index], to: scratch.new[index])
    }
    assertAgreement()
  }

  /// Sets a row if its document differs, and finds the previous positions in the views, in one descent of the
  /// tree. Returns false if nothing changed.
  private static func set(
    _ id: UnsafeRawBufferPointer, _ new: UnsafeMutableRawBufferPointer, in rows: inout Tree, _ views: [View],
    isForced: Bool, keepsCreation: Bool, _ scratch: FoldScratch
  ) -> Bool {
    var isChanged = true
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
      for index in views.indices {
        scratch.old[index].place(old, by: views[index].definition, &scratch.writer)
      }
      return true
    }
    return isChanged
  }

  /// Notes that an event is about the table, before its rows are put into it.
  mutating func noteWritten() { isWritten = true }

  /// Notes that no event up to the state was about the table.
  mutating func noteUnwritten() { isWritten = false }

  /// Removes a row. Does nothing if the table does not have it.
  package mutating func remove(id: UnsafeRawBufferPointer, _ scratch: FoldScratch) {
    isWritten = true
    clearProblem(id)
    scratch.prepare(viewCount: views.count)
    guard Self.remove(id, from: &rows, views, scratch) else { return }
    for index in views.indices {
      views[index].change(id: id, from: scratch.old[index], to: scratch.new[index])
    }
    assertAgreement()
  }

  private static func remove(
    _ id: UnsafeRawBufferPointer, from rows: inout Tree, _ views: [View], _ scratch: FoldScratch
  ) -> Bool {
    rows.remove(id) { value in
      let old = StoredRow.view(id: id, value)
      for index in views.indices {
        scratch.old[index].place(old, by: views[index].definition, &scratch.writer)
      }
    }
  }

  /// Removes a row and records the reason: its last event could not be applied.
  package mutating func refuse(id: UnsafeRawBufferPointer, because what: String, _ scratch: FoldScratch) {
    remove(id: id, scratch)
    var what = what
    what.withUTF8 { text in _ = problems.set(id, UnsafeRawBufferPointer(text)) }
  }

  private mutating func clearProblem(_ id: UnsafeRawBufferPointer) {
    if problems.count > 0 { problems.remove(id) }
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
    views.append(view)
  }

  /// Begins a new lineage of states in each view.
  mutating func beginLines() {
    for index in views.indices { views[index].beginLine() }
  }

  /// Gives up the saved view of a name, which the next state on disk then lacks.
  mutating func removeSavedView(_ name: String) { savedViews.removeAll { $0.kept.name == name } }

  package mutating func removeView(_ identity: ViewIdentity) {
    views.removeAll { $0.definition.identity == identity }
  }
}

/// The event that changes a row.
package struct Stamp: Sendable {
  package var sequence: UInt64
  /// The commit time of its append.
  package var time: Int64

  package init(sequence: UInt64, time: Int64) {
    self.sequence = sequence
    self.time = time
  }
}
