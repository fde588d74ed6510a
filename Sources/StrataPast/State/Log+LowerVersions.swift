// Removing what was derived for lower versions of a projection, which this program can no longer use.

internal import StrataBase
internal import StrataLog

extension Log {
  /// Removes the derived files of lower versions of a projection, unless this process uses such a version, too. A higher
  /// version belongs to a newer program, and stays.
  ///
  /// Call it when those of this version are on disk. Another process that is reading the files goes on with them. What
  /// cannot be removed now is removed at the next call. O(folders of the kind). Blocks.
  ///
  /// - Parameter kind: the folder of one kind of derived files.
  func removeLowerVersions(of name: StateName, in kind: String) {
    let fileSystem = source.catalog.fileSystem
    for folder in (try? fileSystem.contents(ofDirectory: kind)) ?? [] where name.isAbove(folder: folder) {
      let path = "\(kind)/\(folder)"
      // An empty folder stays, and need not be made durable each time.
      guard (try? fileSystem.contents(ofDirectory: path).isEmpty) == false,
        derivedSpace?.isUsed(path) == false, (try? checkWrites()) != nil
      else { continue }
      try? layout.removeDerived(in: path, fileSystem)
    }
  }
}
