// Removing the states of lower versions of a projection, which this program can no longer use.

internal import StrataBase
internal import StrataLog

extension Checkpoints {
  /// Removes the files of the states of lower versions of the projection, unless this process uses such a version, too.
  /// A higher version belongs to a newer program, and stays.
  ///
  /// Call it when the state of this version is on disk. Another process that is reading the files goes on with them.
  /// What cannot be removed now is removed after a later checkpoint. O(folders of states). Blocks.
  func removeLowerVersions() {
    let fileSystem = files.fileSystem
    let parent = log.layout.states
    guard let folders = try? fileSystem.contents(ofDirectory: parent) else { return }
    for folder in folders where name.isAbove(folder: folder) {
      let path = "\(parent)/\(folder)"
      guard log.derivedSpace?.isUsed(path) == false, (try? log.checkWrites()) != nil else { continue }
      try? log.layout.removeState(folder, fileSystem)
    }
  }
}
