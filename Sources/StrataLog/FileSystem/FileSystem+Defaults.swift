// Defaults for file systems without links, a working directory or change notifications.

internal import StrataBase

extension FileSystem {
  /// For a file system whose new names are one step in any case.
  package func renameFenced(_ path: String, to newPath: String) throws(StoreError) {
    try renameNew(path, to: newPath)
  }

  /// For a file system without change notifications.
  package func watch(_ folder: String) -> (any FolderWatch)? { nil }

  /// For a file system without a limit.
  package func freeSize(at path: String) -> UInt64? { nil }

  /// For a file system without identities.
  package func identity(of path: String) throws(StoreError) -> String? { nil }

  /// For a file system without links.
  package func isLink(_ path: String) throws(StoreError) -> Bool { false }

  /// A random number out of 2⁶⁴, so that a repetition is practically impossible.
  package func freshToken() -> UInt64 { .random(in: 0 ... .max) }

  /// The time of the system's clock.
  package func timeText() -> String { systemTimeText() }

  /// For a file system without a working directory.
  package func absolutePath(_ path: String) -> String { path }

  /// For a file system without links.
  package func removeFiles(
    in folder: String, where isMeant: (String) -> Bool
  ) throws(StoreError) {
    guard try kind(of: folder) == .directory else { return }
    for name in try contents(ofDirectory: folder) where isMeant(name) {
      let path = "\(folder)/\(name)"
      guard try kind(of: path) != .directory else { continue }
      do throws(StoreError) { try remove(path) } catch  where error.systemCode == SystemErrorCode.notFound {
        // Another thread or process has removed it since the folder was listed.
      }
    }
  }
}

extension File {
  /// For a file system without permissions.
  package func takePermissions(of other: any File) {}

  /// For a file system that has its bytes in memory.
  package func willRead(at offset: Int64, count: Int) {}
}
