// Where the pages of one tree on disk come from.

/// Reads the pages of one tree when they are first looked into, or were dropped by the cache. Safe to use from several
/// threads.
///
/// A read of a tree cannot fail: it has no way to say so, and a missing page must not look like missing entries. So
/// `read` returns the page that the stub is for, whatever the disk says.
final class PageSource: Sendable {
  private let lineage: any AnyObject & Sendable
  /// Where leaves are kept that were read.
  let cache: PageCache
  private let read: @Sendable (PagePart, PageSource) -> PageRef

  /// - Parameters:
  ///   - lineage: the same object for sources whose places mean the same bytes if they are equal.
  ///   - read: returns the page of a stub, owned by the caller; stubs below it get the given source. Blocks for as long
  ///     as the disk does.
  init(
    _ lineage: any AnyObject & Sendable, _ cache: PageCache,
    _ read: @escaping @Sendable (PagePart, PageSource) -> PageRef
  ) {
    self.lineage = lineage
    self.cache = cache
    self.read = read
  }

  /// Whether equal places mean equal bytes in both.
  func isSameLineage(as other: PageSource) -> Bool { lineage === other.lineage }

  /// The page of a stub, owned by the caller.
  func page(_ part: PagePart) -> PageRef { read(part, self) }
}

/// Where a page is that was written again, because its file is given up.
final class PageMove: Sendable {
  let place: StoredPlace
  let source: PageSource

  init(_ place: StoredPlace, _ source: PageSource) {
    self.place = place
    self.source = source
  }
}
