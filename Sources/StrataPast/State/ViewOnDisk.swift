// A view in a state on disk that no list of this process has asked for yet.

internal import StrataBase
internal import StrataTables

/// A saved view: opened when a list asks for it, and left on disk as it is until then.
///
/// The table may change meanwhile, so the view says which version of the rows it belongs to.
final class ViewOnDisk: SavedView {
  /// Where the trees are.
  struct Roots: Sendable, Equatable {
    var view: [ViewTrees.Kind: StateTree] = [:]
    /// The rows of the table that the view was made of.
    var rows = StateTree()
  }

  let kept: KeptView
  let roots: Roots
  /// The processes before this one, in a row, that saved a state and did not ask for the view.
  let unaskedCount: UInt64
  /// The sequence of the state in which the view was saved.
  var sequence: UInt64 { healing.sequence }
  private let table: String
  private let reader: StateReader
  private let healing: StateHealing
  /// The rows that the view belongs to, if they are open anyway.
  private let rows: Tree?
  /// The trees of the view that a list has asked for.
  private let opened = Lock<ViewTrees?>(nil)

  init(
    _ view: StateEntries.View, of table: String, _ reader: StateReader, _ healing: StateHealing, rows: Tree?
  ) {
    assert(view.sequence == healing.sequence, "a view is made again as of another sequence than its own")
    kept = view.kept
    roots = view.roots
    unaskedCount = view.unaskedCount
    self.table = table
    self.reader = reader
    self.healing = healing
    self.rows = rows
  }

  /// The page files in which the view and its rows have pages.
  var pageFiles: Set<UInt32> {
    var files = Set(roots.rows.usage.bytes.keys)
    for tree in roots.view.values { files.formUnion(tree.usage.bytes.keys) }
    return files
  }

  /// A tree of the view as it was saved, if a list has asked for the view.
  func openedTree(_ kind: ViewTrees.Kind) -> (tree: Tree, usage: PageUsage)? {
    guard let tree = opened.withLock({ $0?[kind] }), let saved = roots.view[kind] else { return nil }
    return (tree, saved.usage)
  }

  func view(_ definition: ViewDefinition, over now: Tree) -> View? {
    guard let opened = opened(definition) else { return nil }
    var view = opened.view
    view.catchUp(from: opened.rows, to: now)
    return view
  }

  /// The view as it was saved, and the rows that it is of; nil if it is not the view of this definition, or cannot be read.
  func opened(_ definition: ViewDefinition) -> (view: View, rows: Tree)? {
    guard definition.kept == kept, let trees = try? trees(definition), let view = View(definition, trees),
      let before = rows ?? (try? rowsOnDisk())
    else { return nil }
    self.opened.withLock { $0 = trees }
    return (view, before)
  }

  private func trees(_ definition: ViewDefinition) throws(PageDamage) -> ViewTrees {
    let isCompared = definition.isCompared
    var trees = ViewTrees()
    for kind in ViewTrees.Kind.allCases {
      guard let root = roots.view[kind]?.root else { continue }
      let isValid = kind.check(isCompared: isCompared)
      if kind.isReadWhole {
        trees[kind] = try reader.wholeTree(root, pageSize: kind.pageSize, isValid)
      } else {
        let healing = healing.healing(table, .view(definition, kind))
        trees[kind] = try reader.tree(root, pageSize: kind.pageSize, healing: healing, isValid)
      }
    }
    return trees
  }

  private func rowsOnDisk() throws(PageDamage) -> Tree {
    let healing = healing.healing(table, .rows)
    return try reader.tree(roots.rows.root, pageSize: TreePages.table, healing: healing, StoredRow.isValid)
  }
}
