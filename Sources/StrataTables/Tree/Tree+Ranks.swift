// Ranks of many keys at once.

extension Tree {
  /// The number of searches that run side by side.
  private static let sideBySide = 8

  /// The number of keys in the tree that are less than each of the given keys, which lie in one run of bytes, and
  /// whether the tree has all of the given keys. O(k log n).
  ///
  /// In a large tree a search mostly waits for memory, page after page. Several searches that run side by side wait at
  /// the same time.
  package func ranks(
    of keys: [Range<Int>], in bytes: UnsafeRawBufferPointer
  ) -> (ranks: [Int], areAllFound: Bool) {
    var ranks = [Int](repeating: 0, count: keys.count)
    guard let root else { return (ranks, keys.isEmpty) }
    var areAllFound = true
    PageReads.of(root) {
      withUnsafeTemporaryAllocation(of: PageRef.self, capacity: Self.sideBySide) { pages in
        for start in stride(from: 0, to: keys.count, by: Self.sideBySide) {
          let group = start..<min(start + Self.sideBySide, keys.count)
          let areFound = Self.addRanks(of: keys, group, in: bytes, under: PageRef(root), pages, to: &ranks)
          areAllFound = areAllFound && areFound
        }
      }
    }
    return (ranks, areAllFound)
  }

  /// - Parameter pages: memory for one page per key of the group.
  private static func addRanks(
    of keys: [Range<Int>], _ group: Range<Int>, in bytes: UnsafeRawBufferPointer, under root: PageRef,
    _ pages: UnsafeMutableBufferPointer<PageRef>, to ranks: inout [Int]
  ) -> Bool {
    pages.initialize(repeating: root)
    for _ in 0..<root.height {
      for index in group {
        let page = pages[index - group.lowerBound].loaded
        let child = page.childIndex(ByteRun(UnsafeRawBufferPointer(rebasing: bytes[keys[index]])))
        let counts = page.counts
        for before in 0..<child { ranks[index] &+= Int(counts[before]) }
        // Whether the child is a stub is seen when its own turn comes: by then its header has arrived.
        let link = page.link(child)
        link.prefetch()
        pages[index - group.lowerBound] = link
      }
    }
    var areAllFound = true
    for index in group {
      let key = ByteRun(UnsafeRawBufferPointer(rebasing: bytes[keys[index]]))
      let page = pages[index - group.lowerBound].loaded
      assert(page.isLeaf, "a search ended above the leaves")
      let slot = page.find(key)
      ranks[index] += slot.index
      assert(ranks[index] <= root.total, "a rank is above the number of entries")
      areAllFound = areAllFound && slot.isFound
    }
    return areAllFound
  }
}
