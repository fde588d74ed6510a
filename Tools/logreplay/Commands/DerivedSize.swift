// How much disk space a store's indexes use.

internal import StrataBase
internal import StrataLog

extension StoreLayout {
  /// The total size in bytes of all files in `derived/`; 0 if the folder is missing. A file that cannot be opened, such
  /// as one that a writer removes in the meantime, counts as 0. O(files).
  func derivedBytes(_ fileSystem: any FileSystem) throws(StoreError) -> UInt64 {
    guard try fileSystem.kind(of: derived) == .directory else { return 0 }
    var sum: UInt64 = 0
    for name in try fileSystem.contents(ofDirectory: derived) {
      // A file that cannot be opened is not an index of this store.
      guard let file = try? fileSystem.open("\(derived)/\(name)", .read) else { continue }
      defer { file.close() }
      sum = sum.addingSaturated(UInt64(max(0, (try? file.size()) ?? 0)))
    }
    return sum
  }
}
