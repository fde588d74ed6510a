// A file system whose notices never come, as on one that another machine writes to.

import StrataBase
import StrataLog

/// Another file system, with a watch that only time ends.
struct SilentFileSystem: FileSystem {
  let base: any FileSystem

  func createDirectory(_ path: String) throws(StoreError) { try base.createDirectory(path) }
  func contents(ofDirectory path: String) throws(StoreError) -> [String] {
    try base.contents(ofDirectory: path)
  }
  func kind(of path: String) throws(StoreError) -> FileKind? { try base.kind(of: path) }
  func open(_ path: String, _ mode: FileOpenMode) throws(StoreError) -> any File {
    try base.open(path, mode)
  }
  func rename(_ path: String, to newPath: String) throws(StoreError) {
    try base.rename(path, to: newPath)
  }
  func renameNew(_ path: String, to newPath: String) throws(StoreError) {
    try base.renameNew(path, to: newPath)
  }
  func remove(_ path: String) throws(StoreError) { try base.remove(path) }
  func syncDirectory(_ path: String) throws(StoreError) { try base.syncDirectory(path) }
  func watch(_ folder: String) -> (any FolderWatch)? { SilentWatch() }
}

private final class SilentWatch: FolderWatch {
  private let isClosed = Gate(false)

  func wait(timeout: Duration) -> FolderNotice {
    isClosed.wait(timeout: timeout) { $0 } ? .closed : .none
  }

  func close() {
    isClosed.withLock { $0 = true }
    isClosed.signalAll()
  }
}
