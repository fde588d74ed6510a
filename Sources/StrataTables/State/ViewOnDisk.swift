// A view in a state on disk that no list of this process has asked for yet.

internal import StrataBase

/// A saved view: read when a list asks for it, and left on disk as it is until then.
///
/// The table may change meanwhile, so the view says which version of the rows it belongs to.
final class ViewOnDisk: SavedView {
  /// Where the trees are.
  struct Roots: Sendable, Equatable {
    var view: [ViewTrees.Kind: StateTreeRoot] = [:]
    /// The rows of the table that the view was made of.
    var rows = StateTreeRoot()
  }

  let kept: KeptView
  let roots: Roots
  /// How many bytes of each page file the view and its rows use.
  let usage: [UInt32: UInt64]
  private let reader: StateReader
  /// The rows that the view belongs to, if they are in memory anyway.
  private let rows: Tree?

  init(_ kept: KeptView, _ roots: Roots, _ usage: [UInt32: UInt64], _ reader: StateReader, rows: Tree?) {
    self.kept = kept
    self.roots = roots
    self.usage = usage
    self.reader = reader
    self.rows = rows
  }

  func view(_ definition: ViewDefinition, over now: Tree, on parallel: Parallel) -> View? {
    guard definition.kept == kept, let trees = try? trees(definition, parallel),
      var view = View(definition, trees), let before = rows ?? (try? rowsOnDisk(parallel))
    else { return nil }
    view.catchUp(from: before, to: now)
    return view
  }

  private func trees(_ definition: ViewDefinition, _ parallel: Parallel) throws(StatePage.Damage) -> ViewTrees
  {
    let isCompared = definition.isCompared
    var trees = ViewTrees()
    for kind in ViewTrees.Kind.allCases {
      guard let root = roots.view[kind] else { continue }
      trees[kind] = try reader.tree(root, pageSize: kind.pageSize, on: parallel) { keyLength, value in
        kind.isValid(keyLength, value, isCompared: isCompared)
      }
    }
    return trees
  }

  private func rowsOnDisk(_ parallel: Parallel) throws(StatePage.Damage) -> Tree {
    try reader.tree(roots.rows, pageSize: TreePages.table, on: parallel, StoredRow.isValid)
  }
}
