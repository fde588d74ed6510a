// The trees of a state on disk, held until the next one is written.

internal import StrataBase
internal import StrataTables

/// The trees of the last checkpoint or restored state, and how much of the page files each takes: what the next
/// checkpoint finds its garbage with.
///
/// They are held, so that none of their pages is changed in place, and those that a newer tree lacks can be counted.
struct SavedTrees {
  enum Part: Hashable {
    case rows, problems
    /// A tree of the view with a name.
    case view(String, ViewTrees.Kind)
  }

  struct Key: Hashable {
    /// The name's UTF-8, which distinguishes tables.
    let table: [UInt8]
    let part: Part

    init(_ table: String, _ part: Part) {
      self.table = Array(table.utf8)
      self.part = part
    }
  }

  private struct ViewKey: Hashable {
    var table: [UInt8]
    var name: String
  }

  private var trees: [Key: (tree: Tree, usage: PageUsage)] = [:]
  /// The views of a restored state, whose trees are not open before a list asks for them.
  private var views: [ViewKey: ViewOnDisk] = [:]

  subscript(key: Key) -> (tree: Tree, usage: PageUsage)? {
    get {
      if let saved = trees[key] { return saved }
      guard case .view(let name, let kind) = key.part else { return nil }
      return views[ViewKey(table: key.table, name: name)]?.openedTree(kind)
    }
    set { trees[key] = newValue }
  }

  mutating func add(_ views: [ViewOnDisk], of table: String) {
    for view in views { self.views[ViewKey(table: Array(table.utf8), name: view.kept.name)] = view }
  }
}
