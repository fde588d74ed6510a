// A file system that has files closed where the process has too many open for one more.

internal import StrataBase

/// Another file system, whose opens are tried again once something gave descriptors back.
struct SparingFileSystem: FileSystem {
  let base: any FileSystem
  /// Closes some files that can be opened again; false where there is none left.
  let giveBack: @Sendable () -> Bool

  private func sparing<Result>(
    _ body: () throws(FileSystemError) -> Result
  ) throws(FileSystemError) -> Result {
    while true {
      do throws(FileSystemError) { return try body() } catch {
        guard error.code == SystemErrorCode.tooManyOpenFiles, giveBack() else { throw error }
      }
    }
  }

  func open(_ path: String, _ mode: FileOpenMode) throws(FileSystemError) -> any File {
    try sparing { () throws(FileSystemError) in try base.open(path, mode) }
  }
  func contents(ofDirectory path: String) throws(FileSystemError) -> [String] {
    try sparing { () throws(FileSystemError) in try base.contents(ofDirectory: path) }
  }
  func createDirectory(_ path: String) throws(FileSystemError) {
    try sparing { () throws(FileSystemError) in try base.createDirectory(path) }
  }
  func syncDirectory(_ path: String) throws(FileSystemError) {
    try sparing { () throws(FileSystemError) in try base.syncDirectory(path) }
  }
  func kind(of path: String) throws(FileSystemError) -> FileKind? { try base.kind(of: path) }
  func rename(_ path: String, to newPath: String) throws(FileSystemError) {
    try base.rename(path, to: newPath)
  }
  func renameNew(_ path: String, to newPath: String) throws(FileSystemError) {
    try base.renameNew(path, to: newPath)
  }
  func remove(_ path: String) throws(FileSystemError) { try base.remove(path) }
  func removeFiles(in folder: String, where isMeant: (String) -> Bool) throws(FileSystemError) {
    try sparing { () throws(FileSystemError) in try base.removeFiles(in: folder, where: isMeant) }
  }
  func isLink(_ path: String) throws(FileSystemError) -> Bool { try base.isLink(path) }
  func freshToken() -> UInt64 { base.freshToken() }
  func absolutePath(_ path: String) -> String { base.absolutePath(path) }
  func watch(_ folder: String) -> (any FolderWatch)? { base.watch(folder) }
  func identity(of path: String) throws(FileSystemError) -> String? { try base.identity(of: path) }
}
