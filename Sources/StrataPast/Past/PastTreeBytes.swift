// What trees of states of the past have in memory, as states come and go.

internal import StrataTables

/// Counts the leaves of trees that are in memory only, each as long as anybody holds a tree that has it, for which the
/// root is the sign.
///
/// The trees of one line are made one from the other, by events that change some leaves. A leaf is counted for the oldest
/// tree that has it. When that tree is released, the leaf is the next one's, if it was not changed in between: whether it
/// was is not looked at, so the count may be too high, but never by more than the next tree has.
struct PastTreeBytes {
  /// One tree of a fold, and what it was before.
  struct Line: Hashable {
    var fold: Int
    var table: String
    /// The index among the trees of the table.
    var index: Int
  }

  private struct Counted {
    weak var root: Page?
    var bytes: Int
    /// At most how many more bytes of its leaves are counted for older trees.
    var shared: Int
  }

  /// From the oldest tree of a line to the newest.
  private var lines: [Line: [Counted]] = [:]

  mutating func byteCount() -> Int {
    lines = lines.compactMapValues { counted in
      let held = Self.held(counted)
      return held.isEmpty ? nil : held
    }
    return lines.values.reduce(0) { $1.reduce($0) { $0 + $1.bytes } }
  }

  /// Counts the newest tree of a line.
  ///
  /// - Parameters:
  ///   - bytes: those of the leaves that no older tree has.
  ///   - shared: at most how many more there are.
  mutating func note(_ root: Page, bytes: Int, shared: Int, in line: Line) {
    assert(bytes >= 0 && shared >= 0, "a tree takes less than nothing")
    var held = Self.held(lines[line] ?? [])
    held.removeAll { $0.root === root }
    held.append(Counted(root: root, bytes: bytes, shared: shared))
    lines[line] = held
  }

  /// The trees that are held, each with what it may have from those before it that are not.
  private static func held(_ counted: [Counted]) -> [Counted] {
    var held: [Counted] = []
    var released = 0
    for var tree in counted {
      guard tree.root != nil else {
        released += tree.bytes
        continue
      }
      let inherited = min(released, tree.shared)
      tree.bytes += inherited
      if tree.shared < .max { tree.shared -= inherited }
      released = 0
      held.append(tree)
    }
    return held
  }
}
