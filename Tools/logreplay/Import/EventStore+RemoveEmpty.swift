// Removes a new store that an import made, and into which nothing was appended.

internal import StrataEvents
internal import StrataLog

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension EventStore {
  /// Removes an empty store that this process made and still has open for writing. Blocks.
  ///
  /// The folder gets another name while the lock is held, so that no other process appends to what is removed: one that
  /// waits for the lock finds another LOCK at the path, or none. What cannot be removed stays, and is an empty store.
  func removeEmpty() {
    let folder = log.layout.root
    let files = PosixFileSystem()
    let removed = "\(folder)-\(files.freshToken()).removed"
    do throws(StoreError) { try files.renameNew(folder, to: removed) } catch { return }
    try? closeBlocking()
    try? FileManager.default.removeItem(atPath: removed)
  }
}
