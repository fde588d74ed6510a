// How much disk a store's indexes take.

internal import StrataBase
internal import StrataLog

extension StoreLayout {
  /// The bytes of all files in `derived/`; 0 where it is missing. A file that cannot be opened, as one that a writer
  /// takes away meanwhile, counts nothing. O(files).
  func derivedBytes(_ fileSystem: any FileSystem) throws(StoreError) -> UInt64 {
    guard try fileSystem.kind(of: derived) == .directory else { return 0 }
    var sum: UInt64 = 0
    for name in try fileSystem.contents(ofDirectory: derived) {
      // What cannot be opened is no index of this store's.
      guard let file = try? fileSystem.open("\(derived)/\(name)", .read) else { continue }
      defer { file.close() }
      sum = sum.addingSaturated(UInt64(max(0, (try? file.size()) ?? 0)))
    }
    return sum
  }
}
