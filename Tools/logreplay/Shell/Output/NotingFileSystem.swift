// The machine's file system for a command that a signal may end: it notes which files are not finished.

internal import StrataLog

/// Files with temporary names are removed if a signal ends the process before they have their own. Used by one thread.
package struct NotingFileSystem: FileSystem {
  private let files = PosixFileSystem()

  package init() {}

  func open(_ path: String, _ mode: FileOpenMode) throws(StoreError) -> any File {
    let isUnfinished = (mode == .create || mode == .createNew) && path.hasSuffix(StoreLayout.temporarySuffix)
    if isUnfinished { UnfinishedFiles.add(path) }
    do throws(StoreError) { return try files.open(path, mode) } catch {
      if isUnfinished { UnfinishedFiles.forget(path) }
      throw error
    }
  }

  func rename(_ path: String, to newPath: String) throws(StoreError) {
    try files.rename(path, to: newPath)
    UnfinishedFiles.forget(path)
  }

  func renameNew(_ path: String, to newPath: String) throws(StoreError) {
    try files.renameNew(path, to: newPath)
    UnfinishedFiles.forget(path)
  }

  func remove(_ path: String) throws(StoreError) {
    try files.remove(path)
    UnfinishedFiles.forget(path)
  }

  func createDirectory(_ path: String) throws(StoreError) { try files.createDirectory(path) }

  func contents(ofDirectory path: String) throws(StoreError) -> [String] {
    try files.contents(ofDirectory: path)
  }

  func kind(of path: String) throws(StoreError) -> FileKind? { try files.kind(of: path) }

  func removeFiles(in folder: String, where isMeant: (String) -> Bool) throws(StoreError) {
    try files.removeFiles(in: folder, where: isMeant)
  }

  func isLink(_ path: String) throws(StoreError) -> Bool { try files.isLink(path) }

  func freshToken() -> UInt64 { files.freshToken() }

  func timeText() -> String { files.timeText() }

  func absolutePath(_ path: String) -> String { files.absolutePath(path) }

  func syncDirectory(_ path: String) throws(StoreError) { try files.syncDirectory(path) }

  func watch(_ folder: String) -> (any FolderWatch)? { files.watch(folder) }

  func freeSize(at path: String) -> UInt64? { files.freeSize(at: path) }

  func identity(of path: String) throws(StoreError) -> String? { try files.identity(of: path) }
}
