// What a file system does that has no links, no working directory and no notices.

internal import StrataBase

extension FileSystem {
  /// For a file system that tells of nothing.
  package func watch(_ folder: String) -> (any FolderWatch)? { nil }

  /// For a file system that cannot say.
  package func identity(of path: String) throws(StoreError) -> String? { nil }

  /// For a file system without links.
  package func isLink(_ path: String) throws(StoreError) -> Bool { false }

  /// Of so many numbers that none comes twice.
  package func freshToken() -> UInt64 { .random(in: 0 ... .max) }

  /// For a file system without a working directory.
  package func absolutePath(_ path: String) -> String { path }

  /// For a file system without links.
  package func removeFiles(
    in folder: String, where isMeant: (String) -> Bool
  ) throws(StoreError) {
    guard try kind(of: folder) == .directory else { return }
    for name in try contents(ofDirectory: folder) where isMeant(name) {
      if try kind(of: "\(folder)/\(name)") != .directory { try remove("\(folder)/\(name)") }
    }
  }
}

extension File {
  /// For a file system without permissions.
  package func takePermissions(of other: any File) {}
}
