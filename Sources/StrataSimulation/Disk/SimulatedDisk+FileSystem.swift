// The simulated disk as a FileSystem.

internal import StrataBase
package import StrataLog

extension SimulatedDisk: FileSystem {
  /// Creates the missing folders, and makes each of them durable in its parent, as the system's file system does.
  package func createDirectory(_ path: String) throws(StoreError) {
    let parts = PathParts(path)
    let firstMissing = try perform(.createDirectory, path) { (state) throws(StoreError) -> Int? in
      if case .success(.folder) = state.image.node(at: parts) { return nil }
      for count in 0...parts.names.count {
        switch state.image.node(at: PathParts(names: parts.names.prefix(count))) {
        case .success(.folder): continue
        case .success(.file):
          let code =
            count == parts.names.count ? SystemErrorCode.alreadyExists : SystemErrorCode.notDirectory
          throw .refused("create folder", path, code: code)
        case .failure: return count
        }
      }
      return nil
    }
    guard let firstMissing else { return }
    for count in firstMissing...parts.names.count {
      let folder = PathParts(names: parts.names.prefix(count))
      try perform(.createDirectory, path) { (state) throws(StoreError) in
        guard case .success(let parent) = state.image.parent(of: folder),
          case .failure = state.image.node(at: folder)
        else { return }
        state.image.addFolder(folder.name, in: parent)
      }
      try syncDirectory(folder.parent!.names.joined(separator: "/"))
    }
  }

  package func contents(ofDirectory path: String) throws(StoreError) -> [String] {
    let names = try perform(.list, path) { (state) throws(StoreError) in
      let folder = try state.folder("list", path)
      return state.image.folders[folder]!.live.keys
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  package func kind(of path: String) throws(StoreError) -> FileKind? {
    try perform(.kind, path) { (state) throws(StoreError) in
      switch state.image.node(at: PathParts(path)) {
      case .success(.file): .file
      case .success(.folder): .directory
      case .failure: nil
      }
    }
  }

  package func open(_ path: String, _ mode: FileOpenMode) throws(StoreError) -> any File {
    let parts = PathParts(path)
    let (inode, owner) = try perform(.open, path) { (state) throws(StoreError) in
      let inode = try state.openInode(path, parts, mode)
      state.lastOwner += 1
      state.openCounts[inode, default: 0] += 1
      return (inode, state.lastOwner)
    }
    return SimulatedFile(disk: self, path: path, mode: mode, inode: inode, owner: owner)
  }

  package func rename(_ path: String, to newPath: String) throws(StoreError) {
    try rename(path, to: newPath, replaces: true)
  }

  package func renameNew(_ path: String, to newPath: String) throws(StoreError) {
    try rename(path, to: newPath, replaces: false)
  }

  private func rename(_ path: String, to newPath: String, replaces: Bool) throws(StoreError) {
    let (from, to) = (PathParts(path), PathParts(newPath))
    try perform(.rename, path) { (state) throws(StoreError) in
      // The system checks both folders first, and then the names in them.
      let parent = try state.get("rename", path, state.image.parent(of: from))
      let newParent = try state.get("rename", path, state.image.parent(of: to))
      let inode = try state.file("rename", path)
      if !replaces, case .success = state.image.node(at: to) {
        throw .refused("rename", path, code: SystemErrorCode.alreadyExists)
      }
      if case .success(.folder) = state.image.node(at: to) {
        throw .refused("rename", path, code: SystemErrorCode.isDirectory)
      }
      state.image.renameFile(inode, from.name, in: parent, to: to.name, in: newParent)
    }
  }

  package func remove(_ path: String) throws(StoreError) {
    let parts = PathParts(path)
    try perform(.remove, path) { (state) throws(StoreError) in
      _ = try state.file("remove", path)
      state.image.removeFile(parts.name, in: try state.get("remove", path, state.image.parent(of: parts)))
    }
  }

  package func syncDirectory(_ path: String) throws(StoreError) {
    try perform(.syncDirectory, path) { (state) throws(StoreError) in
      state.image.syncFolder(try state.folder("open folder", path))
      state.image.removeUnreachableIfMany(open: state.openInodes)
    }
  }
}

extension SimulatedDisk {
  /// The same time always, so that one seed gives one history.
  package func timeText() -> String { "2026-01-01T00:00:00Z" }

  /// Returns consecutive numbers, so that one seed gives one history.
  package func freshToken() -> UInt64 {
    state.withLock { state in
      state.lastToken += 1
      return state.lastToken
    }
  }

  /// Returns what the capacity leaves. It is no call of a store that may fail.
  package func freeSize(at path: String) -> UInt64? {
    capacity.map { UInt64(max(0, $0 - usedSize)) }
  }

  package func identity(of path: String) throws(StoreError) -> String? {
    guard try kind(of: path) != nil else { return nil }
    return "disk \(ObjectIdentifier(self)) \(PathParts(path).names.joined(separator: "/"))"
  }
}

extension SimulatedDisk.State {
  fileprivate func get<Value>(
    _ operation: String, _ path: String, _ result: Result<Value, SimulatedCode>
  ) throws(StoreError) -> Value {
    switch result {
    case .success(let value): return value
    case .failure(let failure): throw .refused(operation, path, code: failure.code)
    }
  }

  fileprivate func file(_ operation: String, _ path: String) throws(StoreError) -> SimulatedImage.Inode {
    switch try get(operation, path, image.node(at: PathParts(path))) {
    case .file(let inode): return inode
    case .folder: throw .refused(operation, path, code: SystemErrorCode.isDirectory)
    }
  }

  fileprivate func folder(_ operation: String, _ path: String) throws(StoreError) -> SimulatedImage.Inode {
    switch try get(operation, path, image.node(at: PathParts(path))) {
    case .folder(let inode): return inode
    case .file: throw .refused(operation, path, code: SystemErrorCode.notDirectory)
    }
  }

  /// Returns the file to open, and creates it if the mode says so.
  fileprivate mutating func openInode(
    _ path: String, _ parts: PathParts, _ mode: FileOpenMode
  ) throws(StoreError) -> SimulatedImage.Inode {
    switch image.node(at: parts) {
    case .success where mode == .createNew:
      throw .refused("open", path, code: SystemErrorCode.alreadyExists)
    case .success(.folder): throw .refused("open", path, code: SystemErrorCode.isDirectory)
    case .success(.file(let inode)): return inode
    case .failure(let failure):
      guard failure.code == SystemErrorCode.notFound, mode == .create || mode == .createNew else {
        throw .refused("open", path, code: failure.code)
      }
      return image.addFile(parts.name, in: try get("open", path, image.parent(of: parts)))
    }
  }
}
