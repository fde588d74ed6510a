// Keeping pages that are being read from being freed by the cache.

internal import CStrata

/// A read of trees that is going on: for as long as it exists, no leaf that it may have found is freed, although the
/// cache may drop it meanwhile: see `PageCache`.
///
/// Every operation on a tree makes one before it looks into the root, and holds the root too. It costs two changes of a
/// counter that few threads share, and nothing in a process that keeps no states on disk. A read that lasts long only
/// keeps memory from being freed.
@usableFromInline
package struct PageReads: ~Copyable {
  private var token: UInt32

  @usableFromInline
  package init() { token = strata_begin_read() }

  @usableFromInline
  deinit { strata_end_read(token) }

  /// Ends the read and begins another one: what was found until now may be freed.
  mutating func renew() {
    let old = token
    token = strata_begin_read()
    strata_end_read(old)
  }

  /// Runs a body that reads below a root.
  @inline(__always)
  package static func of<Result, Failure: Error>(
    _ root: Page, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let token = strata_begin_read()
    defer {
      strata_end_read(token)
      withExtendedLifetime(root) {}
    }
    return try body()
  }
}
