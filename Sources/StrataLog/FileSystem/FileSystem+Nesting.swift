// Whether a path is in a folder, whatever links lead there.

extension FileSystem {
  /// Whether a path, which need not exist, is that of a folder or in it.
  ///
  /// - Parameter folder: the `identity` of the folder.
  package func isInside(_ folder: String, _ path: String) throws(StoreError) -> Bool {
    var place = path
    var found = try identity(of: place)
    while found == nil, let above = Self.folder(above: place) {
      place = above
      found = try identity(of: place)
    }
    // Goes up by the file system's own `..`, which no symbolic link can mislead; the root is its own parent. A folder
    // that may not be read is above the store, whose own folders can be read.
    var below: String?
    while let identity = found, identity != below {
      if identity == folder { return true }
      below = identity
      place += "/.."
      found = try? self.identity(of: place)
    }
    return false
  }

  /// The path without its last component; nil if nothing remains.
  private static func folder(above path: String) -> String? {
    let names = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true)
    guard let last = names.last else { return nil }
    let above = String(Substring(path.utf8[..<last.startIndex]))
    return above.isEmpty ? (path == "." ? nil : ".") : above
  }
}
