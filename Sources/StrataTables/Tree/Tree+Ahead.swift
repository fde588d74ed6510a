// Reading pages from disk before they are looked into one after another.

internal import StrataBase

extension Tree {
  /// The number of pages that a thread reads at a time.
  private static let batchSize = 32

  /// Reads the leaves that have some keys, or would have them, unless they are in memory.
  ///
  /// It goes down level by level, and asks the disk for all pages of a level before it waits for the first of them. So
  /// the disk reads many pages at a time, in an order of its own, and processors decode them together. A page that
  /// cannot be read is left to the reader that needs it.
  ///
  /// - Parameter keys: in ascending order.
  /// - Returns: the number of pages that were not in memory.
  func readAhead(_ keys: [ByteRun], on parallel: Parallel) -> Int {
    guard let root, !keys.isEmpty else { return 0 }
    return PageReads.of(root) {
      var readCount = 0
      var level = [(page: PageRef(root).loaded, keys: 0..<keys.count)]
      while level.first.map({ !$0.page.isLeaf }) == true {
        let links = level.flatMap { $0.page.links(to: keys, $0.keys) }
        let unread = UnreadPages(links.map(\.link).filter { $0.loadedPage == nil })
        for page in unread.pages { page.willRead() }
        parallel.forEach(below: (unread.pages.count + Self.batchSize - 1) / Self.batchSize) { number in
          unread.read(number * Self.batchSize..<(number + 1) * Self.batchSize)
        }
        readCount += unread.pages.count
        level = links.compactMap { link in
          link.link.isLeaf ? nil : link.link.loadedPage.map { ($0, link.keys) }
        }
      }
      return readCount
    }
  }
}

extension PageRef {
  /// The children of an inner page under which some keys are, each with its keys.
  fileprivate func links(to keys: [ByteRun], _ range: Range<Int>) -> [(link: PageRef, keys: Range<Int>)] {
    var links: [(link: PageRef, keys: Range<Int>)] = []
    var start = range.lowerBound
    while start < range.upperBound {
      let index = childIndex(keys[start])
      var end = start + 1
      while end < range.upperBound, childIndex(keys[end]) == index { end += 1 }
      links.append((link(index), start..<end))
      start = end
    }
    return links
  }
}

/// Stubs whose pages are not in memory. Sendable because the caller of the threads that read them holds their tree, and
/// `PageReads`.
private struct UnreadPages: @unchecked Sendable {
  let pages: [PageRef]

  init(_ pages: [PageRef]) { self.pages = pages }

  func read(_ range: Range<Int>) {
    for page in pages[range.clamped(to: pages.indices)] { _ = try? page.loadedOrLoss() }
  }
}
