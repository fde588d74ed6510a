// Ranks of many keys at once.

extension Tree {
  /// How many ways down the tree are gone side by side.
  private static let sideBySide = 8

  /// How many keys of the tree are less than each of some keys, which lie in one run of bytes, and whether it has
  /// all of these. O(k log n).
  ///
  /// In a large tree a way down is mostly waiting for memory, page after page. Several ways that are gone side
  /// by side wait together.
  package func ranks(
    of keys: [Range<Int>], in bytes: UnsafeRawBufferPointer
  ) -> (ranks: [Int], areAllFound: Bool) {
    var ranks = [Int](repeating: 0, count: keys.count)
    guard let root else { return (ranks, keys.isEmpty) }
    var areAllFound = true
    withExtendedLifetime(root) {
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

  /// - Parameter pages: memory for one page of each key.
  private static func addRanks(
    of keys: [Range<Int>], _ group: Range<Int>, in bytes: UnsafeRawBufferPointer, under root: PageRef,
    _ pages: UnsafeMutableBufferPointer<PageRef>, to ranks: inout [Int]
  ) -> Bool {
    pages.initialize(repeating: root)
    for _ in 0..<root.height {
      for index in group {
        let page = pages[index - group.lowerBound]
        let child = page.childIndex(ByteRun(UnsafeRawBufferPointer(rebasing: bytes[keys[index]])))
        let counts = page.counts
        for before in 0..<child { ranks[index] &+= Int(counts[before]) }
        page.children[child].prefetch()
        pages[index - group.lowerBound] = page.children[child]
      }
    }
    var areAllFound = true
    for index in group {
      let key = ByteRun(UnsafeRawBufferPointer(rebasing: bytes[keys[index]]))
      let page = pages[index - group.lowerBound]
      assert(page.isLeaf, "a way down the tree ended above its leaves")
      let place = page.find(key)
      ranks[index] += place.index
      assert(ranks[index] <= root.total, "a rank is above the number of entries")
      areAllFound = areAllFound && place.isFound
    }
    return areAllFound
  }
}
