// An ordered map from bytes to bytes: the shape that the tables are built on.

/// A counted, persistent, ordered map over byte strings: a B+tree of flat pages.
///
/// A tree is a value. A copy is O(1) and shares every page; a change copies the pages between the root and
/// one leaf, and only those that another tree has too. Keys have at most 65,535 bytes, values at most 2³¹;
/// both may be empty.
///
/// Sendable without the compiler's proof: a page that more than one tree can reach is never written.
@usableFromInline
package struct Tree: @unchecked Sendable {
  @usableFromInline
  internal var root: Page?
  /// Bytes of a whole page.
  package let pageSize: Int

  package static let keyLengthMax = Int(UInt16.max)
  package static let valueLengthMax = 1 << 31

  /// An empty tree.
  /// - Parameter pageSize: bytes of a page, 256 to 32,768. An entry of more than half a page has its own.
  package init(pageSize: Int = 4096) {
    precondition((256...32768).contains(pageSize), "a page has 256 to 32,768 bytes")
    self.pageSize = pageSize
  }

  init(pageSize: Int, owned root: PageRef?) {
    assert(root.map { $0.isLeaf || $0.count > 1 } ?? true, "a root has one child only")
    self.pageSize = pageSize
    self.root = root?.reference.takeRetainedValue()
  }

  /// How many entries. O(1).
  package var count: Int {
    guard let root else { return 0 }
    return withExtendedLifetime(root) {
      assert(PageRef(root).total > 0, "a tree of pages has no entry")
      return PageRef(root).total
    }
  }

  package var isEmpty: Bool { root == nil }

  /// True where both are the same pages, so that nothing is different. O(1).
  ///
  /// False says nothing: trees that were built one by one may be equal too.
  package func isIdentical(to other: Tree) -> Bool { root === other.root }

  var layout: PageLayout { PageLayout(pageSize: pageSize) }
}
