// What a tree costs: pages, bytes, height.

/// How many pages some trees have and how full they are. A page that several of them share counts once.
package struct TreeStatistics: Sendable {
  package var leaves = 0
  package var innerPages = 0
  /// Leaves of one entry that was too large to share a page.
  package var largePages = 0
  /// Entries of the leaves that were counted.
  package var entries = 0
  /// Bytes of all pages, with what the runtime puts before them and without what the allocator adds.
  package var bytesAllocated = 0
  /// Bytes of the leaves, and how many of them hold something.
  package var leafBytesAllocated = 0
  package var leafBytesUsed = 0
  /// The inner pages above a leaf, of the highest tree.
  package var height = 0

  package var pages: Int { leaves + innerPages }
  /// The part of the leaves' bytes that holds something.
  package var fill: Double {
    leafBytesAllocated == 0 ? 1 : Double(leafBytesUsed) / Double(leafBytesAllocated)
  }
}

extension Tree {
  /// Counts pages and bytes. O(pages).
  package var statistics: TreeStatistics { Self.statistics(of: [self]) }

  /// Counts the pages and bytes of some trees together. O(pages that are counted).
  package static func statistics(of trees: [Tree]) -> TreeStatistics {
    var result = TreeStatistics()
    var seen: Set<ObjectIdentifier> = []
    for tree in trees {
      guard let root = tree.root else { continue }
      withExtendedLifetime(root) {
        let page = PageRef(root)
        result.height = max(result.height, page.height)
        count(page, &seen, &result)
      }
    }
    return result
  }

  private static func count(
    _ page: PageRef, _ seen: inout Set<ObjectIdentifier>, _ result: inout TreeStatistics
  ) {
    let identifier = page.reference._withUnsafeGuaranteedRef { ObjectIdentifier($0) }
    guard seen.insert(identifier).inserted else { return }
    result.bytesAllocated += page.allocatedBytes
    if page.isLeaf {
      result.leaves += 1
      result.entries += page.count
      result.largePages += page.isLarge ? 1 : 0
      result.leafBytesAllocated += page.allocatedBytes
      result.leafBytesUsed += page.usedBytes + PageHeader.overhead
    } else {
      result.innerPages += 1
      for index in 0..<page.count { count(page.children[index], &seen, &result) }
    }
  }
}
