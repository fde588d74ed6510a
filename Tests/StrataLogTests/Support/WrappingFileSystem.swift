import StrataLog

/// A file system that does what another one does, but for what it says itself.
protocol WrappingFileSystem: FileSystem {
  var base: any FileSystem { get }
}

extension WrappingFileSystem {
  func createDirectory(_ path: String) throws(StoreError) { try base.createDirectory(path) }
  func contents(ofDirectory path: String) throws(StoreError) -> [String] {
    try base.contents(ofDirectory: path)
  }
  func kind(of path: String) throws(StoreError) -> FileKind? { try base.kind(of: path) }
  func open(_ path: String, _ mode: FileOpenMode) throws(StoreError) -> any File {
    try base.open(path, mode)
  }
  func rename(_ path: String, to newPath: String) throws(StoreError) { try base.rename(path, to: newPath) }
  func renameNew(_ path: String, to newPath: String) throws(StoreError) {
    try base.renameNew(path, to: newPath)
  }
  func remove(_ path: String) throws(StoreError) { try base.remove(path) }
  func syncDirectory(_ path: String) throws(StoreError) { try base.syncDirectory(path) }
}
