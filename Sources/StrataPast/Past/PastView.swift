// A kept list of a past state, made of the keys that the runs have.

internal import StrataBase
internal import StrataLog
internal import StrataTables

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
