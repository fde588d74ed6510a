// A file system that tells a test what is about to be opened, so that others can act in between.

import StrataLog

/// Another file system, and a hook that is called with each path before it is opened.
struct HookedFileSystem: FileSystem {
  let base: any FileSystem
  let willOpen: @Sendable (String) -> Void

  func createDirectory(_ path: String) throws(FileSystemError) { try base.createDirectory(path) }
  func contents(ofDirectory path: String) throws(FileSystemError) -> [String] {
    try base.contents(ofDirectory: path)
  }
  func kind(of path: String) throws(FileSystemError) -> FileKind? { try base.kind(of: path) }
  func open(_ path: String, _ mode: FileOpenMode) throws(FileSystemError) -> any File {
    willOpen(path)
    return try base.open(path, mode)
  }
  func rename(_ path: String, to newPath: String) throws(FileSystemError) {
    try base.rename(path, to: newPath)
  }
  func remove(_ path: String) throws(FileSystemError) { try base.remove(path) }
  func syncDirectory(_ path: String) throws(FileSystemError) { try base.syncDirectory(path) }
}
