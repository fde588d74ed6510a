// How much disk space a store's indexes and saved states use.

internal import StrataBase

extension StoreLayout {
  /// The total size in bytes of all files in `derived/` and the folders in it; 0 if it is missing. A file that cannot be
  /// opened, such as one that a writer removes in the meantime, counts as 0. O(files).
  package func derivedBytes(_ fileSystem: any FileSystem) throws(StoreError) -> UInt64 {
    try Self.bytes(of: derived, fileSystem, depth: Self.derivedDepth)
  }

  /// `derived/state/NAME-VERSION` is below it.
  private static let derivedDepth = 2

  private static func bytes(
    of folder: String, _ fileSystem: any FileSystem, depth: Int
  ) throws(StoreError) -> UInt64 {
    guard try fileSystem.kind(of: folder) == .directory else { return 0 }
    var sum: UInt64 = 0
    for name in try fileSystem.contents(ofDirectory: folder) {
      let path = "\(folder)/\(name)"
      if depth > 0, try fileSystem.kind(of: path) == .directory {
        sum = sum.addingSaturated(try bytes(of: path, fileSystem, depth: depth - 1))
      }
      // A file that cannot be opened is none of this store's.
      guard let file = try? fileSystem.open(path, .read) else { continue }
      defer { file.close() }
      sum = sum.addingSaturated(UInt64(max(0, (try? file.size()) ?? 0)))
    }
    return sum
  }
}
