// A walk over entries in ascending order.

/// The entries in a range of ranks, one after another. The scan holds the tree that it walks over.
@usableFromInline
package struct TreeScan: ~Copyable {
  private let root: Page?
  private var reads = PageReads()
  /// The number of entries that remain.
  private var left: Int
  private var page: PageRef?
  private var index = 0
  /// The inner page above the leaf, and the index of the leaf in it.
  private var parent: PageRef?
  private var childIndex = 0
  private var nextRank: Int
  private var buffer = KeyBuffer()

  /// - Parameter ranks: must be within the tree's ranks.
  @usableFromInline
  package init(_ tree: Tree, _ ranks: Range<Int>) {
    precondition(ranks.lowerBound >= 0 && ranks.upperBound <= tree.count, "the ranks are not in the tree")
    root = tree.root
    left = ranks.count
    nextRank = ranks.lowerBound
  }

  @usableFromInline
  deinit {
    withExtendedLifetime(reads) {}
    withExtendedLifetime(root) {}
  }

  /// The next entry, nil after the last. Key and value are valid until the next call.
  @usableFromInline
  package mutating func next() -> (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
    guard left > 0 else { return nil }
    if page == nil || index == page!.count { advance() }
    let page = page!
    assert(index < page.count, "a scan is past the end of its leaf")
    let key = buffer.leafKey(page, index)
    let value = page.value(index)
    index += 1
    left -= 1
    return (key.buffer, value)
  }

  /// Moves to the leaf that has the entry at `nextRank`.
  @inline(never)
  private mutating func advance() {
    // Nobody uses the last leaf any longer. Otherwise a long scan would keep every leaf that the cache drops meanwhile.
    reads.renew()
    if let parent, childIndex + 1 < parent.count {
      childIndex += 1
      index = 0
      enter(parent.child(childIndex))
      return
    }
    var page = PageRef(root!).loaded
    var rank = nextRank
    while !page.isLeaf {
      let counts = page.counts
      var child = 0
      while rank >= Int(counts[child]) {
        rank -= Int(counts[child])
        child += 1
        assert(child < page.count, "the counts of a page are less than its total")
      }
      parent = page
      childIndex = child
      page = page.child(child)
    }
    index = rank
    enter(page)
  }

  private mutating func enter(_ leaf: PageRef) {
    page = leaf
    nextRank += leaf.count - index
    buffer.begin(leaf)
  }
}
