// The files of a folder beside its objects: notes, segments and manifests.

internal import StrataBase
internal import StrataLog

extension FolderCarrier {
  private func path(of name: String) -> String { "\(root)/\(name)" }

  /// The folder that a file is in, durable as a name. One that is there may be of a call whose sync failed, so that each
  /// carrier syncs its name once.
  private func makeFolder(of name: String) throws(StoreError) -> String {
    let folder = StoreLayout(root: path(of: name)).parent
    let exists = try fileSystem.kind(of: folder) == .directory
    guard !exists || !durableFolders.withLock({ $0.contains(folder) }) else { return folder }
    if !exists { try fileSystem.createDirectory(folder) }
    try fileSystem.syncDirectory(root)
    durableFolders.withLock { _ = $0.insert(folder) }
    return folder
  }

  public func createFile(_ name: String, _ bytes: [UInt8]) -> CarrierAnswer {
    do throws(StoreError) {
      let folder = try makeFolder(of: name)
      let written = temporary("file")
      do throws(StoreError) {
        try write(bytes, to: written)
        try fileSystem.renameFenced(written, to: path(of: name))
      } catch {
        try? fileSystem.remove(written)
        guard error.systemCode == SystemErrorCode.alreadyExists else { throw error }
        return .stopped(count: 0, .taken)
      }
      try fileSystem.syncDirectory(folder)
      return .stored
    } catch {
      let found = asCarrierError(error)
      return .stopped(count: 0, found.reason == .refused ? .refused(found) : .unknown(found))
    }
  }

  public func replaceFile(_ name: String, _ bytes: [UInt8]) throws(CarrierError) {
    try asCarrierError { () throws(StoreError) in
      let folder = try makeFolder(of: name)
      try replace(path(of: name), with: bytes)
      try fileSystem.syncDirectory(folder)
    }
  }

  public func replaceFile(
    _ name: String, size: Int64,
    from read: (UnsafeMutableRawBufferPointer, _ offset: Int64) throws(CarrierError) -> Void
  ) throws(CarrierError) {
    let written = temporary("large")
    do throws(CarrierError) {
      let folder = try asCarrierError { () throws(StoreError) in try makeFolder(of: name) }
      let file = try asCarrierError { () throws(StoreError) in try fileSystem.open(written, .createNew) }
      defer { file.close() }
      var buffer = [UInt8](repeating: 0, count: Int(min(size, Self.pieceSize)))
      var offset: Int64 = 0
      while offset < size {
        try buffer.lendMutableBytes { whole throws(CarrierError) in
          let piece = UnsafeMutableRawBufferPointer(
            rebasing: whole[..<Int(min(size - offset, Self.pieceSize))])
          try read(piece, offset)
          try asCarrierError { () throws(StoreError) in
            try file.write(UnsafeRawBufferPointer(piece), at: offset)
          }
        }
        offset += min(size - offset, Self.pieceSize)
      }
      try asCarrierError { () throws(StoreError) in
        try file.sync()
        try fileSystem.rename(written, to: path(of: name))
        try fileSystem.syncDirectory(folder)
      }
    } catch {
      try? fileSystem.remove(written)
      throw error
    }
  }

  /// How much of a large file is in memory, in bytes.
  private static let pieceSize: Int64 = 1 << 20

  public func readFile(
    _ name: String, at offset: Int64, into buffer: UnsafeMutableRawBufferPointer
  ) throws(CarrierError) -> Int? {
    try asCarrierError { () throws(StoreError) in
      let file: any File
      do throws(StoreError) { file = try fileSystem.open(path(of: name), .read) } catch {
        guard error.systemCode == SystemErrorCode.notFound else { throw error }
        return nil
      }
      defer { file.close() }
      return try file.read(into: buffer, at: offset)
    }
  }

  public func fileNames(in folder: String) throws(CarrierError) -> [String] {
    try asCarrierError { () throws(StoreError) in
      guard try fileSystem.kind(of: path(of: folder)) == .directory else { return [] }
      return try fileSystem.contents(ofDirectory: path(of: folder))
    }
  }

  public func removeFiles(_ names: [String], in folder: String) throws(CarrierError) {
    let names = Set(names)
    try asCarrierError { () throws(StoreError) in
      guard try fileSystem.kind(of: path(of: folder)) == .directory else { return }
      try fileSystem.removeFiles(in: path(of: folder)) { names.contains($0) }
      try fileSystem.syncDirectory(path(of: folder))
    }
  }
}
