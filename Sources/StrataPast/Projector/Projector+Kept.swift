// Views with names: of several that have one name, which are kept up to date, and which is saved.

internal import StrataBase
internal import StrataTables

extension Projector {
  /// A name that views of a table are saved under.
  struct KeptName: Hashable {
    /// The table's name as UTF-8.
    var table: [UInt8]
    var name: String
  }

  /// The views that were leased under names. Of those with one name the view that was leased last is saved, and kept
  /// up to date also without a lease; another one is kept up to date only while it is leased.
  struct KeptViews {
    /// The views of each name, in the order in which they were last leased.
    private var leased: [KeptName: [ViewKey]] = [:]
    /// The names of which the fold's views may be others, or in another order.
    private var unsettled: Set<KeptName> = []

    /// What is to be done with the views of a state.
    struct Changes {
      var unused: [ViewKey] = []
      /// Views that are saved instead of others with their names.
      var saved: [ViewKey] = []
    }

    mutating func noteLease(_ key: ViewKey, _ kept: KeptView) {
      let name = KeptName(table: key.table, name: kept.name)
      guard leased[name]?.last != key else { return }
      leased[name, default: []].removeAll { $0 == key }
      leased[name, default: []].append(key)
      unsettled.insert(name)
    }

    /// Whether a view is the one that was leased last of those with its name, as far as that is known.
    func isLast(_ key: ViewKey, _ kept: KeptView) -> Bool {
      leased[KeptName(table: key.table, name: kept.name)]?.last.map { $0 == key } ?? true
    }

    /// Notes that a view has no lease any longer.
    mutating func noteRelease(_ key: ViewKey, _ kept: KeptView) {
      unsettled.insert(KeptName(table: key.table, name: kept.name))
    }

    /// What the views of a state have to be changed to since this was last asked.
    mutating func changes(of set: TableSet, isHeld: (ViewKey) -> Bool) -> Changes {
      var changes = Changes()
      for name in unsettled { settle(name, in: set, isHeld, &changes) }
      return changes
    }

    private mutating func settle(
      _ name: KeptName, in set: TableSet, _ isHeld: (ViewKey) -> Bool, _ changes: inout Changes
    ) {
      let keys = leased[name] ?? []
      let views = set.views(ofTable: name.table)
      let present = keys.filter { key in views.contains { $0.definition.identity == key.identity } }
      let unused = present.dropLast().filter { !isHeld($0) }
      // A view that is not in the state is forgotten once it has no lease.
      let left = keys.filter { isHeld($0) || $0 == present.last }
      leased[name] = left.isEmpty ? nil : left
      if left.allSatisfy(present.contains) { unsettled.remove(name) }
      changes.unused += unused
      if let last = present.last { changes.saved.append(last) }
    }
  }

  /// Removes views of the fold that nobody uses any longer. Of those with one name, makes the one that was leased last
  /// the one that is saved.
  func settleViews(_ fold: Fold) {
    let (unused, kept) = state.withLock { state in
      defer { state.unused = [] }
      let holders = state.holders
      return (state.unused, state.keptViews.changes(of: fold.state) { holders[$0] != nil })
    }
    for key in Array(unused) + kept.unused {
      fold.state.withTable(key) { $0.removeView(key.identity) }
    }
    for key in kept.saved { fold.state.withTable(key) { $0.saveView(key.identity) } }
  }
}

extension TableSet {
  func views(ofTable name: [UInt8]) -> [View] {
    name.withUnsafeBytes { index(ofTable: $0) }.map { tables[$0].views } ?? []
  }

  fileprivate mutating func withTable(_ key: ViewKey, _ body: (inout Table) -> Void) {
    key.table.withUnsafeBytes { withTable($0, body) }
  }
}
