// Where the pages of one tree on disk come from.

/// Reads the pages of one tree when they are first looked into, or were dropped by the cache. Safe to use from several
/// threads.
///
/// A read of a tree cannot fail: it has no way to say so, and a missing page must not look like missing entries. So
/// `read` makes a page again that the disk has lost. If nothing is left that it could be made of, a read ends the process:
/// its caller waits for bytes that exist nowhere any longer, and a wrong answer is worse. What writes states can give up.
package final class PageSource: Sendable {
  private let lineage: any AnyObject & Sendable
  /// Where leaves are kept that were read.
  package let cache: PageCache
  private let read: @Sendable (PagePart, PageSource) throws(PageLoss) -> PageRef
  /// Asks the disk for the bytes at an address, and does not wait for them.
  let willRead: @Sendable (PageAddress) -> Void

  /// - Parameters:
  ///   - lineage: the same object for sources whose places mean the same bytes if they are equal.
  ///   - read: returns the page of a stub, owned by the caller; stubs below it get the given source. Blocks for as long
  ///     as the disk does.
  ///   - willRead: asks the disk for the bytes at an address, and does not wait for them.
  package init(
    _ lineage: any AnyObject & Sendable, _ cache: PageCache,
    willRead: @escaping @Sendable (PageAddress) -> Void = { _ in },
    _ read: @escaping @Sendable (PagePart, PageSource) throws(PageLoss) -> PageRef
  ) {
    self.lineage = lineage
    self.cache = cache
    self.willRead = willRead
    self.read = read
  }

  /// Whether equal addresses mean equal bytes in both.
  func isSameLineage(as other: PageSource) -> Bool { lineage === other.lineage }

  /// Whether the pages are in the files of a lineage.
  func isOf(_ lineage: AnyObject) -> Bool { self.lineage === lineage }

  /// The page of a stub, owned by the caller.
  func page(_ part: PagePart) throws(PageLoss) -> PageRef { try read(part, self) }
}

/// A page that is lost for good.
package struct PageLoss: Error {
  /// What was lost and why, in sentences.
  package var what: String

  package init(what: String) { self.what = what }

  /// Ends the process with a message.
  func stop() -> Never {
    fatalError("\(what) What is under derived/ may be deleted: it is folded from the log again.")
  }
}

/// Where a page is that was written again, because its file is given up.
final class PageMove: Sendable {
  let address: PageAddress
  let source: PageSource

  init(_ address: PageAddress, _ source: PageSource) {
    self.address = address
    self.source = source
  }
}
