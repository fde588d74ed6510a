// The tables of a past state with a kept list. Nothing of them is read before somebody looks into it.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// How pages of a past state are made, also where the runs have lost them.
struct PastHealing: Sendable {
  let state: StateHealing
  /// Names the history: states of one name are of the same rows.
  let history: String
  let limits: RunLimits
  /// The threads that count the ranks of many keys.
  let parallel: Parallel
  let noteDamage: @Sendable () -> Void
}

extension RunSet {
  /// The state after an event that the runs have, with a kept list; nil if a run does not have the list's keys. Reads the
  /// tallies of the keys of its rows, and all else once it is looked at. O(keys of rows / 256).
  func unreadTables(
    at sequence: UInt64, recordsTouches: Bool, keeping owner: KeyOwner, _ cache: PageCache,
    _ healing: PastHealing
  ) throws(PageDamage) -> TableSet? {
    guard let list = owner.list, let kept = list.definition.kept,
      runs(holding: sequence).allSatisfy({ $0.hasKeys(of: owner) }),
      let rowKeys = try KeysAt(self, .rows, of: .rows, at: sequence, healing.limits),
      let refused = try KeysAt(self, .refused, of: .rows, at: sequence, healing.limits)
    else { return nil }
    let moment = try moment(sequence)
    let failures = try allFailures(at: sequence, count: moment.failures)
    var made: [Table] = []
    for table in tables where table.first <= sequence {
      let prefix = RunKey.make(table.number, UnsafeRawBufferPointer(start: nil, count: 0))
      let end = RunKey.make(table.number + 1, UnsafeRawBufferPointer(start: nil, count: 0))
      let isListed = table.name.utf8.elementsEqual(list.table.utf8)
      let rows = try PastTree.make(
        of: rowKeys, prefix: prefix, end: end, pageSize: TreePages.table, bottomPageCount: 1,
        hasAll: tables.count == 1, isWanted: isListed, cache,
        healing.state.healing(table.name, .rows), noteDamage: healing.noteDamage, storedRows(at: sequence))
      let problems = try PastTree.make(
        of: refused, prefix: prefix, end: end, pageSize: Tree().pageSize, bottomPageCount: 1,
        hasAll: tables.count == 1, isWanted: isListed, cache,
        healing.state.healing(table.name, .problems), noteDamage: healing.noteDamage, reasons(at: sequence))
      let view = PastView(kept, of: rows, self, owner, at: sequence, cache, healing)
      made.append(
        Table(
          name: table.name, recordsTouches: recordsTouches, rows: rows, problems: problems,
          savedViews: isListed ? [view] : [],
          past: PastRows(rows, self, table: table.number, at: sequence, healing)))
    }
    return TableSet(
      sequence: sequence, time: moment.time, chain: nil, appendCount: moment.appends,
      recordsTouches: recordsTouches, tables: made, failures: failures)
  }

  private func storedRows(at sequence: UInt64) -> PastTree.Values {
    { (keys, body) throws(PageDamage) in
      let rows = RunRows(self, at: sequence, areThere: true)
      var stored: [UInt8] = []
      for key in keys {
        guard let (version, bytes) = try rows.version(of: key.bytes), version.kind == .document,
          bytes.count <= Tree.valueLengthMax - StoredRow.headLength
        else { throw PageDamage("a key is there without its row") }
        key.bytes.withUnsafeBytes { bytesOfKey in
          let row = RowView(
            id: RunKey.id(bytesOfKey), revision: version.sequence, created: version.created,
            time: version.time,
            document: bytes)
          StoredRow.write(row, to: &stored)
        }
        stored.withUnsafeBytes { body(key, $0) }
      }
    }
  }

  private func reasons(at sequence: UInt64) -> PastTree.Values {
    { (keys, body) throws(PageDamage) in
      let rows = RunRows(self, at: sequence, areThere: true)
      for key in keys {
        guard let (version, bytes) = try rows.version(of: key.bytes), version.kind == .problem else {
          throw PageDamage("a key is there without its row")
        }
        body(key, bytes)
      }
    }
  }
}

/// A kept list in a past state.
final class PastView: SavedView {
  let kept: KeptView
  /// The rows that it is a list of.
  private let rows: Tree
  private let set: RunSet
  private let owner: KeyOwner
  private let sequence: UInt64
  private let cache: PageCache
  private let healing: PastHealing

  /// - Parameter set: runs that have the list's keys.
  init(
    _ kept: KeptView, of rows: Tree, _ set: RunSet, _ owner: KeyOwner, at sequence: UInt64,
    _ cache: PageCache, _ healing: PastHealing
  ) {
    (self.kept, self.rows, self.set, self.owner) = (kept, rows, set, owner)
    (self.sequence, self.cache, self.healing) = (sequence, cache, healing)
  }

  /// The view of the rows as they are now: events after those that the runs have may have changed them.
  func view(_ definition: ViewDefinition, over now: Tree) -> View? {
    guard definition.kept == kept else { return nil }
    do throws(PageDamage) {
      var view = try view(definition)
      view?.catchUp(from: rows, to: now)
      return view
    } catch {
      healing.noteDamage()
      return nil
    }
  }

  private func view(_ definition: ViewDefinition) throws(PageDamage) -> View? {
    let lengths: PastTree.Values = { keys, body in
      for key in keys {
        var lengths = ItemKey.lengths(section: key.sectionLength, id: key.idLength)
        withUnsafeBytes(of: &lengths) { body(key, $0) }
      }
    }
    let sections = try KeysAt.sections(set, of: owner, at: sequence)
    let count = sections.reduce(0) { $0 + $1.count }
    guard let keys = try keys(.items, count), let unplacedKeys = try self.keys(.unplaced) else { return nil }
    let items = try tree(keys, definition, .items, lengths)
    let unplaced = try tree(unplacedKeys, definition, .problems, reasons(definition))
    var values: Tree?
    if definition.holdsValues {
      values = try self.keys(.values, count).map { (keys) throws(PageDamage) in
        try tree(keys, definition, .values, lengths)
      }
    }
    var view = View(definition, items: items, values: values, problems: unplaced, sections)
    let source = PastItems.Source(set: set, owner: owner.number, sequence: sequence, healing: healing)
    view.past = PastItems(items, source, keys, sections)
    return view
  }

  /// - Parameter count: how many there are, if that is known.
  private func keys(_ kind: KeyOwner.Kind, _ count: Int? = nil) throws(PageDamage) -> KeysAt? {
    try KeysAt(set, kind, of: owner, at: sequence, healing.limits, total: count)
  }

  private func tree(
    _ keys: KeysAt, _ definition: ViewDefinition, _ part: ViewTrees.Kind,
    _ values: @escaping PastTree.Values
  ) throws(PageDamage) -> Tree {
    try PastTree.make(
      of: keys, pageSize: part.pageSize, cache,
      healing.state.healing(owner.list?.table ?? "", .view(definition, part)),
      noteDamage: healing.noteDamage, values)
  }

  /// Why rows are not placed, or placed by a shorter key, which the rows themselves say.
  private func reasons(_ definition: ViewDefinition) -> PastTree.Values {
    let (set, table, sequence) = (set, owner.list?.table ?? "", sequence)
    return { (keys, body) throws(PageDamage) in
      guard let number = set.number(ofTable: table) else { return }
      let rows = RunRows(set, at: sequence, areThere: true)
      var placed = PlacedKey()
      var writer = SortKeyWriter()
      for key in keys {
        let rowKey = key.bytes.withUnsafeBytes { RunKey.make(number, $0) }
        guard let (version, bytes) = try rows.version(of: rowKey), version.kind == .document else {
          throw PageDamage("a key is there without its row")
        }
        key.bytes.withUnsafeBytes { id in
          let row = RowView(
            id: id, revision: version.sequence, created: version.created, time: version.time, document: bytes)
          placed.place(row, by: definition, &writer)
        }
        var what = placed.report?.what ?? ""
        what.withUTF8 { body(key, UnsafeRawBufferPointer($0)) }
      }
    }
  }
}
