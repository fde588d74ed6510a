// Removes a new store that an import made, and into which nothing was appended.

internal import StrataEvents
internal import StrataLog

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension EventStore {
  /// Removes an empty store that this process has open for writing, if it also made it and nothing else is in its folder.
  /// Blocks.
  ///
  /// The folder gets another name while the lock is held, so that no other process appends to what is removed: one that
  /// waits for the lock finds another LOCK at the path, or none. What cannot be removed stays, and is an empty store.
  func removeEmpty() {
    let folder = log.layout.root
    let files = PosixFileSystem()
    guard let slot = try? HeadFile.read(files, path: log.layout.head), slot.epoch == Log.firstEpoch,
      hasOwnFilesOnly(folder, files)
    else { return }
    let removed = "\(folder)-\(files.freshToken()).removed"
    do throws(StoreError) { try files.renameNew(folder, to: removed) } catch { return }
    // Something may have been put there since. It goes back to its path with the store, unless that was taken again.
    guard hasOwnFilesOnly(removed, files) else {
      try? files.renameNew(removed, to: folder)
      return
    }
    try? closeBlocking()
    try? FileManager.default.removeItem(atPath: removed)
  }

  private func hasOwnFilesOnly(_ folder: String, _ files: PosixFileSystem) -> Bool {
    (try? files.contents(ofDirectory: folder))?.allSatisfy(Log.ownNames.contains) ?? false
  }
}
