// Making a segment: whole under a temporary name, or not at all.

enum SegmentFiles {
  /// Creates a segment with its header on disk before it has its name, and its name before this returns.
  static func create(
    _ header: SegmentHeader, _ fileSystem: any FileSystem, _ layout: StoreLayout
  ) throws(FileSystemError) -> SegmentHandle {
    let path = layout.segment(header.firstSequence)
    let temporary = path + StoreLayout.temporarySuffix
    let file = try fileSystem.open(temporary, .create)
    do {
      try file.truncate(to: 0)
      try header.encoded().lendBytes { bytes throws(FileSystemError) in try file.write(bytes, at: 0) }
      try file.sync()
    } catch {
      file.close()
      try? fileSystem.remove(temporary)
      throw error
    }
    file.close()
    try fileSystem.rename(temporary, to: path)
    try fileSystem.syncDirectory(layout.log)
    return SegmentHandle(header: header, file: try fileSystem.open(path, .readWrite))
  }

  /// Removes what an interrupted creation left.
  static func removeTemporary(_ fileSystem: any FileSystem, _ layout: StoreLayout) throws(FileSystemError) {
    for folder in [layout.log, layout.derived] {
      guard try fileSystem.kind(of: folder) == .directory else { continue }
      for name in try fileSystem.contents(ofDirectory: folder)
      where name.hasSuffix(StoreLayout.temporarySuffix) {
        try fileSystem.remove("\(folder)/\(name)")
      }
    }
  }
}
