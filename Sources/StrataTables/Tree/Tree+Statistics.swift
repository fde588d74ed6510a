// The cost of a tree: pages, bytes, height.

/// The number of pages of some trees in memory, and how full they are. A page that several of them share counts once.
package struct TreeStatistics: Sendable {
  package var leaves = 0
  package var innerPages = 0
  /// Leaves with a single entry that was too large to share a page.
  package var largePages = 0
  /// Entries in the counted leaves.
  package var entries = 0
  /// The bytes of all pages, including what the runtime puts before them, without the overhead of the allocator.
  package var bytesAllocated = 0
  /// The bytes of all leaves; `leafBytesUsed` of them are in use.
  package var leafBytesAllocated = 0
  package var leafBytesUsed = 0
  /// The number of inner pages above a leaf, in the highest tree.
  package var height = 0

  /// Pages that are on disk and were not read yet. Nothing else counts their entries or the pages below them.
  package var unreadPages = 0

  package var pages: Int { leaves + innerPages }
  /// The fraction of the leaves' bytes that is in use.
  package var fill: Double {
    leafBytesAllocated == 0 ? 1 : Double(leafBytesUsed) / Double(leafBytesAllocated)
  }
}

extension Tree {
  /// Counts pages and bytes, and reads none from disk. O(pages).
  package var statistics: TreeStatistics { Self.statistics(of: [self]) }

  /// Counts the pages and bytes of some trees together. O(counted pages).
  package static func statistics(of trees: [Tree]) -> TreeStatistics {
    var seen: Set<ObjectIdentifier> = []
    return statistics(of: trees, besides: &seen)
  }

  /// The same for those pages alone that were not seen before. O(counted pages).
  package static func statistics(of trees: [Tree], besides seen: inout Set<ObjectIdentifier>)
    -> TreeStatistics
  {
    var result = TreeStatistics()
    for tree in trees {
      guard let root = tree.root else { continue }
      PageReads.of(root) {
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
    if page.isStub {
      if let loaded = page.loadedPage { count(loaded, &seen, &result) } else { result.unreadPages += 1 }
    } else if page.isLeaf {
      result.leaves += 1
      result.entries += page.count
      result.largePages += page.isLarge ? 1 : 0
      result.leafBytesAllocated += page.allocatedBytes
      result.leafBytesUsed += page.usedBytes + PageHeader.overhead
    } else {
      result.innerPages += 1
      for index in 0..<page.count { count(page.link(index), &seen, &result) }
    }
  }
}
