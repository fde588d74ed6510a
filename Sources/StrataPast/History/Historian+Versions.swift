// Removing the histories of lower versions of a projection, which this program can no longer use.

internal import StrataBase
internal import StrataLog

extension Historian {
  /// Removes the files of the histories of lower versions, unless this process uses such a version, too. To be called
  /// when this version has its first run, and at each close that finds runs: what cannot be removed now is removed then.
  /// O(folders of histories). Blocks.
  func removeLowerVersions() {
    let parent = log.layout.histories
    guard let folders = try? files.fileSystem.contents(ofDirectory: parent) else { return }
    for folder in folders where name.isAbove(folder: folder) {
      // An empty folder stays, and need not be made durable at each close.
      guard (try? files.fileSystem.contents(ofDirectory: "\(parent)/\(folder)").isEmpty) == false else {
        continue
      }
      guard log.derivedSpace?.isUsed("\(parent)/\(folder)") == false, (try? log.checkWrites()) != nil else {
        continue
      }
      try? log.layout.removeHistory(folder, files.fileSystem)
    }
  }
}
