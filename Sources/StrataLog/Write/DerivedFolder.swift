// A folder below `derived/` with files that a projection is saved in.

internal import StrataBase

/// One folder below a folder of `derived/`, such as `derived/state/NAME-VERSION`. Calls block.
package struct DerivedFolder: Sendable {
  package let fileSystem: any FileSystem
  package let path: String
  /// The folders above it: the store's, `derived`, and the one for its kind.
  private let above: [String]

  /// - Parameter parent: the path of the folder for its kind.
  package init(_ fileSystem: any FileSystem, _ layout: StoreLayout, in parent: String, _ name: String) {
    self.fileSystem = fileSystem
    above = [layout.root, layout.derived, parent]
    path = "\(parent)/\(name)"
  }

  /// Creates the folder if it is missing. Throws `linked` for a link: an erasure removes nothing through one.
  package func create() throws(StoreError) {
    for path in above.dropFirst() + [path] where try fileSystem.isLink(path) { throw .linked(path: path) }
    guard try fileSystem.kind(of: path) == nil else { return }
    let isNew = try fileSystem.kind(of: above[2]) == nil
    try fileSystem.createDirectory(path)
    try fileSystem.syncDirectory(above[2])
    guard isNew else { return }
    try fileSystem.syncDirectory(above[1])
    try fileSystem.syncDirectory(above[0])
  }

  package func sync() throws(StoreError) { try fileSystem.syncDirectory(path) }

  /// The numbers that names of files in it stand for; none if there is no such folder.
  package func numbers(_ number: (String) -> UInt32?) throws(StoreError) -> Set<UInt32> {
    guard try fileSystem.kind(of: path) == .directory else { return [] }
    return Set(try fileSystem.contents(ofDirectory: path).compactMap(number))
  }
}
