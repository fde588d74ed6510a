// A file system that frees descriptors when the process has too many open files for one more.

internal import StrataBase

/// A wrapper that retries opens of another file system after some descriptors were freed.
struct SparingFileSystem: FileSystem {
  let base: any FileSystem
  /// Closes some files that can be reopened; false if there are none left.
  let giveBack: @Sendable () -> Bool

  private func sparing<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    while true {
      do throws(StoreError) { return try body() } catch {
        guard error.systemCode == SystemErrorCode.tooManyOpenFiles, giveBack() else { throw error }
      }
    }
  }

  func open(_ path: String, _ mode: FileOpenMode) throws(StoreError) -> any File {
    try sparing { () throws(StoreError) in try base.open(path, mode) }
  }
  func contents(ofDirectory path: String) throws(StoreError) -> [String] {
    try sparing { () throws(StoreError) in try base.contents(ofDirectory: path) }
  }
  func createDirectory(_ path: String) throws(StoreError) {
    try sparing { () throws(StoreError) in try base.createDirectory(path) }
  }
  func syncDirectory(_ path: String) throws(StoreError) {
    try sparing { () throws(StoreError) in try base.syncDirectory(path) }
  }
  func kind(of path: String) throws(StoreError) -> FileKind? { try base.kind(of: path) }
  func rename(_ path: String, to newPath: String) throws(StoreError) {
    try base.rename(path, to: newPath)
  }
  func renameNew(_ path: String, to newPath: String) throws(StoreError) {
    try base.renameNew(path, to: newPath)
  }
  func remove(_ path: String) throws(StoreError) { try base.remove(path) }
  func removeFiles(in folder: String, where isMeant: (String) -> Bool) throws(StoreError) {
    try sparing { () throws(StoreError) in try base.removeFiles(in: folder, where: isMeant) }
  }
  func isLink(_ path: String) throws(StoreError) -> Bool { try base.isLink(path) }
  func freshToken() -> UInt64 { base.freshToken() }
  func timeText() -> String { base.timeText() }
  func absolutePath(_ path: String) -> String { base.absolutePath(path) }
  func watch(_ folder: String) -> (any FolderWatch)? { base.watch(folder) }
  func freeSize(at path: String) -> UInt64? { base.freeSize(at: path) }
  func identity(of path: String) throws(StoreError) -> String? { try base.identity(of: path) }
}
