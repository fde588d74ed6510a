// A file system that tells a test what is about to be opened, so that others can act in between.

import StrataBase
import StrataLog

/// Another file system, hooks that are called with each path before it is opened and before something gets it as its
/// name, and one that lists folders.
struct HookedFileSystem: WrappingFileSystem {
  let base: any FileSystem
  let willOpen: @Sendable (String) -> Void
  var willRename: @Sendable (String) -> Void = { _ in }
  var list: (@Sendable (String) throws(StoreError) -> [String])?

  init(base: any FileSystem, _ willOpen: @escaping @Sendable (String) -> Void) {
    self.base = base
    self.willOpen = willOpen
  }

  func contents(ofDirectory path: String) throws(StoreError) -> [String] {
    guard let list else { return try base.contents(ofDirectory: path) }
    return try list(path)
  }
  func open(_ path: String, _ mode: FileOpenMode) throws(StoreError) -> any File {
    willOpen(path)
    return try base.open(path, mode)
  }
  func rename(_ path: String, to newPath: String) throws(StoreError) {
    willRename(newPath)
    try base.rename(path, to: newPath)
  }
}
