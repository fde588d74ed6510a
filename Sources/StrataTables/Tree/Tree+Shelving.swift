// After a checkpoint: pages that are on disk now need not stay in memory.

/// What a checkpoint wrote of trees.
package struct WrittenPages {
  /// The inner pages.
  package var inner: Set<UnsafeMutableRawPointer> = []
  /// The new addresses of leaves that a stub is for, by stub.
  package var moved: [UnsafeMutableRawPointer: PageAddress] = [:]
  /// Whether files are given up: then no stub may name one of them any longer.
  package var areFilesGivenUp = false

  package init() {}
}

extension Tree {
  /// Puts stubs in the place of the leaves that are on disk, so that the cache may drop them, and tells stubs where their
  /// pages are now. O(inner pages that were written), or O(inner pages in memory) if files are given up.
  ///
  /// Called by the thread that writes states, which holds the tree and is the only one that replaces references in
  /// shared pages. Other threads may read the tree meanwhile, and change other trees that share its pages.
  package func shelve(_ written: WrittenPages, _ source: PageSource) {
    guard let root else { return }
    withExtendedLifetime(root) {
      let page = PageRef(root)
      guard !page.isLeaf, written.concerns(page) else { return }
      page.shelveLeaves(low: nil, high: nil, written, source)
    }
  }
}

extension WrittenPages {
  /// Where the page of a reference is, once what was written is durable.
  package func address(of page: PageRef) -> PageAddress {
    moved[page.reference.toOpaque()] ?? page.addressOnDisk
  }

  fileprivate func concerns(_ page: PageRef) -> Bool {
    areFilesGivenUp || inner.contains(page.reference.toOpaque())
  }
}

extension PageRef {
  fileprivate func shelveLeaves(
    low: [UInt8]?, high: [UInt8]?, _ written: WrittenPages, _ source: PageSource
  ) {
    var buffer = KeyBuffer()
    buffer.begin(self)
    var before = low
    for index in 0..<count {
      let after = index + 1 < count ? Array(buffer.separator(self, index).buffer) : high
      let child = link(index)
      if child.isStub, written.areFilesGivenUp {
        child.move(to: written.address(of: child), source)
      }
      if child.isLeaf {
        if !child.isStub, !child.address.pointee.isNone { shelve(child, index, before, after, source) }
      } else if let page = child.loadedPage, written.concerns(page) {
        page.shelveLeaves(low: before, high: after, written, source)
      }
      before = after
    }
  }

  private func shelve(
    _ leaf: PageRef, _ index: Int, _ low: [UInt8]?, _ high: [UInt8]?, _ source: PageSource
  ) {
    let part = PagePart(
      address: leaf.address.pointee, height: 0, total: UInt32(truncatingIfNeeded: leaf.total), low: low,
      high: high)
    // If a later version of the tree has the leaf too, the next checkpoint writes it again.
    leaf.address.pointee = .none
    // The stub takes over the reference to the leaf that the page had.
    let stub = PageRef(stubFor: part, in: source, loaded: leaf)
    let old = exchange(index, with: stub)
    assert(old == leaf, "two threads replace the references of one page")
    source.cache.add(PageStub.of(stub.header))
  }
}
