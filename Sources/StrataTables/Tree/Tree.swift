// An ordered map from bytes to bytes, on which the tables are built.

/// A counted, persistent, ordered map over byte strings: a B+tree of flat pages.
///
/// A tree is a value. A copy is O(1) and shares every page. A change copies the pages on the path from the root to one
/// leaf, and of these only the pages that are shared with another tree. The root may be a stub (see `PageStub`), and is
/// then read, or made, when the tree is first looked into. Keys have at most 65,535 bytes, values at most
/// 2³¹; both may be empty.
///
/// Sendability is not checked by the compiler. It holds because a page that more than one tree can reach is never
/// written.
@usableFromInline
package struct Tree: @unchecked Sendable {
  @usableFromInline
  package var root: Page?
  /// The size of a full page in bytes.
  package let pageSize: Int

  package static let keyLengthMax = Int(UInt16.max)
  package static let valueLengthMax = 1 << 31

  /// An empty tree.
  /// - Parameter pageSize: bytes per page, 256 to 32,768. An entry of more than half a page gets a page of its own.
  package init(pageSize: Int = 4096) {
    precondition((256...32768).contains(pageSize), "a page has 256 to 32,768 bytes")
    self.pageSize = pageSize
  }

  package init(pageSize: Int, owned root: PageRef?) {
    assert(root.map { $0.isLeaf || $0.isStub || $0.count > 1 } ?? true, "a root has only one child")
    self.pageSize = pageSize
    self.root = root?.reference.takeRetainedValue()
  }

  /// The number of entries. O(1).
  package var count: Int {
    guard let root else { return 0 }
    return withExtendedLifetime(root) {
      assert(PageRef(root).total > 0, "a tree of pages has no entry")
      return PageRef(root).total
    }
  }

  package var isEmpty: Bool { root == nil }

  /// Whether both trees have the same pages, so that nothing differs. O(1).
  ///
  /// False does not mean that they differ: trees that were built separately may be equal too.
  package func isIdentical(to other: Tree) -> Bool { root === other.root }

  package var layout: PageLayout { PageLayout(pageSize: pageSize) }
}
