// The tables of a past state with a kept list, of which nothing is read before somebody looks into it.

internal import StrataBase
internal import StrataLog

/// How pages of a past state are made, also where the runs have lost them.
struct PastHealing: Sendable {
  let state: StateHealing
  /// See `RunLimits.wholeKeyCountMax`.
  let wholeCountMax: Int
  let noteDamage: @Sendable () -> Void
}

extension RunSet {
  /// The state after an event that the runs have, with a kept list; nil if a run does not have the list's keys. Reads the
  /// tallies of the keys alone, and rows once they are looked at. O(sections + pages of keys of the runs).
  func unreadTables(
    at sequence: UInt64, recordsTouches: Bool, keeping owner: KeyOwner, _ cache: PageCache,
    _ healing: PastHealing
  ) throws(StatePage.Damage) -> TableSet? {
    guard let list = owner.list, let view = try PastView(self, owner, at: sequence, cache, healing),
      let rowKeys = try KeysAt(self, .rows, of: .rows, at: sequence, wholeCountMax: healing.wholeCountMax),
      let refused = try KeysAt(self, .refused, of: .rows, at: sequence, wholeCountMax: healing.wholeCountMax)
    else { return nil }
    let moment = try moment(sequence)
    let failures = try allFailures(at: sequence, count: moment.failures)
    var made: [Table] = []
    for table in tables where table.first <= sequence {
      let prefix = RunKey.make(table.number, UnsafeRawBufferPointer(start: nil, count: 0))
      let end = RunKey.make(table.number + 1, UnsafeRawBufferPointer(start: nil, count: 0))
      let rows = try PastTree.make(
        of: rowKeys, prefix: prefix, end: end, pageSize: TreePages.table, cache,
        healing.state.healing(table.name, .rows), noteDamage: healing.noteDamage, storedRows(at: sequence))
      let problems = try PastTree.make(
        of: refused, prefix: prefix, end: end, pageSize: Tree().pageSize, cache,
        healing.state.healing(table.name, .problems), noteDamage: healing.noteDamage, reasons(at: sequence))
      let isListed = table.name.utf8.elementsEqual(list.table.utf8)
      made.append(
        Table(
          name: table.name, recordsTouches: recordsTouches, rows: rows, problems: problems,
          savedViews: isListed ? [view] : []))
    }
    return TableSet(
      sequence: sequence, time: moment.time, chain: nil, appendCount: moment.appends,
      recordsTouches: recordsTouches, tables: made, failures: failures)
  }

  private func storedRows(at sequence: UInt64) -> PastTree.Values {
    { (keys, body) throws(StatePage.Damage) in
      let rows = RunRows(self, at: sequence)
      var stored: [UInt8] = []
      for key in keys {
        guard let (version, bytes) = try rows.version(of: key.bytes), version.kind == .document,
          bytes.count <= Tree.valueLengthMax - StoredRow.headLength
        else { throw StatePage.Damage("a key is there without its row") }
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
    { (keys, body) throws(StatePage.Damage) in
      let rows = RunRows(self, at: sequence)
      for key in keys {
        guard let (version, bytes) = try rows.version(of: key.bytes), version.kind == .problem else {
          throw StatePage.Damage("a key is there without its row")
        }
        body(key, bytes)
      }
    }
  }
}

/// A kept list in a past state.
final class PastView: SavedView {
  let kept: KeptView
  private let table: String
  private let rows: RunSet
  private let owner: KeyOwner
  private let sequence: UInt64
  private let cache: PageCache
  private let healing: PastHealing

  /// Nil if a run does not have the list's keys.
  init?(
    _ set: RunSet, _ owner: KeyOwner, at sequence: UInt64, _ cache: PageCache, _ healing: PastHealing
  ) throws(StatePage.Damage) {
    guard let (table, definition) = owner.list, let kept = definition.kept,
      set.runs(holding: sequence).allSatisfy({ $0.hasKeys(of: owner) })
    else { return nil }
    (self.table, self.kept, rows, self.owner) = (table, kept, set, owner)
    (self.sequence, self.cache, self.healing) = (sequence, cache, healing)
  }

  /// The view of the rows as they were. They are looked at before anything changes them.
  func view(_ definition: ViewDefinition, over now: Tree) -> View? {
    guard definition.kept == kept else { return nil }
    do throws(StatePage.Damage) { return try view(definition) } catch {
      healing.noteDamage()
      return nil
    }
  }

  private func view(_ definition: ViewDefinition) throws(StatePage.Damage) -> View? {
    let lengths: PastTree.Values = { keys, body in
      for key in keys {
        var lengths = ItemKey.lengths(section: key.sectionLength, id: key.idLength)
        withUnsafeBytes(of: &lengths) { body(key, $0) }
      }
    }
    guard let items = try tree(.items, definition, .items, lengths),
      let unplaced = try tree(.unplaced, definition, .problems, reasons(definition))
    else { return nil }
    var values: Tree?
    if definition.holdsValues { values = try tree(.values, definition, .values, lengths) }
    let sections = try KeysAt.sections(rows, of: owner, at: sequence)
    guard sections.reduce(0, { $0 + $1.count }) == items.count,
      values.map({ $0.count == items.count }) ?? true
    else { throw StatePage.Damage("the runs count other items than their sections have") }
    return View(definition, items: items, values: values, problems: unplaced, sections)
  }

  private func tree(
    _ kind: KeyOwner.Kind, _ definition: ViewDefinition, _ part: ViewTrees.Kind,
    _ values: @escaping PastTree.Values
  ) throws(StatePage.Damage) -> Tree? {
    guard let keys = try KeysAt(rows, kind, of: owner, at: sequence, wholeCountMax: healing.wholeCountMax)
    else { return nil }
    return try PastTree.make(
      of: keys, pageSize: part.pageSize, cache, healing.state.healing(table, .view(definition, part)),
      noteDamage: healing.noteDamage, values)
  }

  /// Why rows are not placed, which the rows themselves say.
  private func reasons(_ definition: ViewDefinition) -> PastTree.Values {
    let (set, table, sequence) = (rows, table, sequence)
    return { (keys, body) throws(StatePage.Damage) in
      guard let number = set.number(ofTable: table) else { return }
      let rows = RunRows(set, at: sequence)
      var placed = PlacedKey()
      var writer = SortKeyWriter()
      for key in keys {
        let rowKey = key.bytes.withUnsafeBytes { RunKey.make(number, $0) }
        guard let (version, bytes) = try rows.version(of: rowKey), version.kind == .document else {
          throw StatePage.Damage("a key is there without its row")
        }
        key.bytes.withUnsafeBytes { id in
          let row = RowView(
            id: id, revision: version.sequence, created: version.created, time: version.time, document: bytes)
          placed.place(row, by: definition, &writer)
        }
        var what = placed.problem?.what ?? ""
        what.withUTF8 { body(key, UnsafeRawBufferPointer($0)) }
      }
    }
  }
}

extension View {
  /// A view with items that were placed before, and the sections that they are in. O(sections · log n).
  fileprivate init(
    _ definition: ViewDefinition, items: Tree, values: Tree?, problems: Tree,
    _ sections: [(section: [UInt8], count: Int)]
  ) {
    self.init(empty: definition)
    self.items = items
    if let values { self.values = values }
    self.problems = problems
    for (section, count) in sections {
      section.withUnsafeBytes { section in
        setCount(count, of: section)
        insertOrder(of: section)
      }
    }
    addDeclaredSections()
  }
}
