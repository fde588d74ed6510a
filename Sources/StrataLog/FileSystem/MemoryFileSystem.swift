// A file system that lasts as long as the process, for event stores in memory.

internal import StrataBase

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Files and folders in memory. Nothing outlives the process, so syncing does nothing.
///
/// Behaves like the machine's own file system, with the same error codes, except that folders cannot be renamed and
/// that there are no permissions. Its memory is freed with the last reference to it and to its open files.
package final class MemoryFileSystem: FileSystem {
  /// A file: one identity, whatever names it has.
  final class Node: Sendable {
    let content = Lock(MemoryContent())
  }

  fileprivate enum Entry {
    case file(Node)
    case folder(names: Set<String>)
  }

  fileprivate struct Tree {
    var entries: [PathParts: Entry] = [PathParts(""): .folder(names: [])]
    var lastOwner: UInt64 = 0
  }
  private let tree = Lock(Tree())

  package init() {}

  package func createDirectory(_ path: String) throws(StoreError) {
    let parts = PathParts(path)
    try tree.withLock { (tree) throws(StoreError) in
      for count in 0...parts.names.count {
        let folder = PathParts(names: parts.names.prefix(count))
        switch tree.entries[folder] {
        case .folder: continue
        case .file:
          throw .refused("create folder", path, code: count == parts.names.count ? EEXIST : ENOTDIR)
        case nil:
          tree.entries[folder] = .folder(names: [])
          tree.addName(of: folder)
        }
      }
    }
  }

  package func contents(ofDirectory path: String) throws(StoreError) -> [String] {
    let names = try tree.withLock { (tree) throws(StoreError) in
      switch tree.entries[PathParts(path)] {
      case .folder(let names): return names
      case .file: throw .refused("list", path, code: ENOTDIR)
      case nil: throw .refused("list", path, code: tree.missingCode(PathParts(path)))
      }
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  package func kind(of path: String) throws(StoreError) -> FileKind? {
    tree.withLock { tree in
      switch tree.entries[PathParts(path)] {
      case .file: .file
      case .folder: .directory
      case nil: nil
      }
    }
  }

  package func open(_ path: String, _ mode: FileOpenMode) throws(StoreError) -> any File {
    let parts = PathParts(path)
    let (node, owner) = try tree.withLock { (tree) throws(StoreError) in
      tree.lastOwner += 1
      switch tree.entries[parts] {
      case .folder:
        throw .refused("open", path, code: mode == .createNew ? EEXIST : EISDIR)
      case .file(let node):
        guard mode != .createNew else { throw .refused("open", path, code: EEXIST) }
        return (node, tree.lastOwner)
      case nil:
        guard mode == .create || mode == .createNew, tree.hasFolder(above: parts) else {
          throw .refused("open", path, code: tree.missingCode(parts))
        }
        let node = Node()
        tree.entries[parts] = .file(node)
        tree.addName(of: parts)
        return (node, tree.lastOwner)
      }
    }
    return MemoryFile(path: path, mode: mode, node: node, owner: owner, fileSystem: self)
  }

  package func rename(_ path: String, to newPath: String) throws(StoreError) {
    try rename(path, to: newPath, replaces: true)
  }

  package func renameNew(_ path: String, to newPath: String) throws(StoreError) {
    try rename(path, to: newPath, replaces: false)
  }

  private func rename(_ path: String, to newPath: String, replaces: Bool) throws(StoreError) {
    let (from, to) = (PathParts(path), PathParts(newPath))
    try tree.withLock { (tree) throws(StoreError) in
      // Both folders are checked before the names in them, in the order that the system uses.
      for parts in [from, to] where !tree.hasFolder(above: parts) {
        throw .refused("rename", path, code: tree.missingCode(parts))
      }
      switch (tree.entries[from], tree.entries[to]) {
      case (nil, _): throw .refused("rename", path, code: ENOENT)
      case (_, .some) where !replaces: throw .refused("rename", path, code: EEXIST)
      case (.folder, _), (_, .folder): throw .refused("rename", path, code: EISDIR)
      case (.file(let node), _):
        guard from != to else { return }
        tree.removeEntry(from)
        tree.entries[to] = .file(node)
        tree.addName(of: to)
      }
    }
  }

  package func remove(_ path: String) throws(StoreError) {
    let parts = PathParts(path)
    try tree.withLock { (tree) throws(StoreError) in
      switch tree.entries[parts] {
      case .file: tree.removeEntry(parts)
      case .folder: throw .refused("remove", path, code: EISDIR)
      case nil: throw .refused("remove", path, code: tree.missingCode(parts))
      }
    }
  }

  package func syncDirectory(_ path: String) throws(StoreError) {
    try tree.withLock { (tree) throws(StoreError) in
      switch tree.entries[PathParts(path)] {
      case .folder: return
      case .file: throw .refused("open folder", path, code: ENOTDIR)
      case nil: throw .refused("open folder", path, code: tree.missingCode(PathParts(path)))
      }
    }
  }

  package func identity(of path: String) throws(StoreError) -> String? {
    guard try kind(of: path) != nil else { return nil }
    return "memory \(ObjectIdentifier(self)) \(PathParts(path).names.joined(separator: "/"))"
  }

  /// Whether this same file has that name now.
  func isFile(_ node: Node, at path: String) -> Bool {
    tree.withLock { tree in
      if case .file(let found) = tree.entries[PathParts(path)] { return found === node }
      return false
    }
  }
}

extension MemoryFileSystem.Tree {
  func hasFolder(above parts: PathParts) -> Bool {
    guard let parent = parts.parent, case .folder = entries[parent] else { return false }
    return true
  }

  /// The error code for a missing path: ENOTDIR if a file is on the way to it.
  func missingCode(_ parts: PathParts) -> Int32 {
    for count in 0..<parts.names.count {
      switch entries[PathParts(names: parts.names.prefix(count))] {
      case .folder: continue
      case .file: return ENOTDIR
      case nil: return ENOENT
      }
    }
    return ENOENT
  }

  mutating func addName(of parts: PathParts) {
    assert(hasFolder(above: parts), "every name is in a folder")
    changeNames(inParentOf: parts) { $0.insert(parts.name) }
  }

  mutating func removeEntry(_ parts: PathParts) {
    assert(entries[parts] != nil, "a removed entry exists")
    entries[parts] = nil
    changeNames(inParentOf: parts) { $0.remove(parts.name) }
  }

  private mutating func changeNames(inParentOf parts: PathParts, _ change: (inout Set<String>) -> Void) {
    guard let parent = parts.parent, case .folder(var names) = entries[parent] else { return }
    entries[parent] = nil  // Otherwise the set would be copied for every change.
    change(&names)
    entries[parent] = .folder(names: names)
  }
}
