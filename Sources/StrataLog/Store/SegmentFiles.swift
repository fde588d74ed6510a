// Creates segment files: whole under a temporary name first, or not at all.

internal import StrataBase

enum SegmentFiles {
  /// Creates a segment. Its header is on disk before it has its name, and its name is on disk before this returns. An
  /// existing segment of that name belongs to another writer, and is left alone.
  ///
  /// - Parameter previous: the segment before it, whose permissions it gets.
  static func create(
    _ header: SegmentHeader, after previous: SegmentHandle? = nil, _ fileSystem: any FileSystem,
    _ layout: StoreLayout, _ lock: StoreLock
  ) throws(StoreError) -> SegmentHandle {
    let path = layout.segment(header.segment)
    assert(
      header.previousFirst == previous?.header.firstSequence ?? 0, "a new segment names the one before it")
    assert(!header.isRewritten, "a new segment holds no block")
    let temporary = lock.temporary(path)
    let identity: String?
    do throws(StoreError) {
      let file = try fileSystem.open(temporary, .createNew)
      defer { file.close() }
      identity = file.identity
      if let previous { file.takePermissions(of: previous.file) }
      try header.encoded().lendBytes { bytes throws(StoreError) in try file.write(bytes, at: 0) }
      try file.sync()
      try lock.check()
    } catch {
      try? fileSystem.remove(temporary)
      throw error
    }
    do throws(StoreError) { try fileSystem.renameNew(temporary, to: path) } catch {
      try? fileSystem.remove(temporary)
      guard error.systemCode == SystemErrorCode.alreadyExists else { throw error }
      throw .poisoned("another writer has created the next segment")
    }
    try fileSystem.syncDirectory(layout.log)
    return SegmentHandle(header: header, file: try reopen(path, identity, fileSystem))
  }

  /// Opens a newly renamed file by its final name, so that messages show that name. Another writer may have given the
  /// name to another file, which this one must not write to.
  static func reopen(
    _ path: String, _ identity: String?, _ fileSystem: any FileSystem
  ) throws(StoreError) -> any File {
    let file = try fileSystem.open(path, .readWrite)
    guard file.identity == identity else {
      file.close()
      throw .refused("open", path, code: SystemErrorCode.staleHandle)
    }
    return file
  }

  /// Copies the active segment to a temporary name, for its next writer: the last writer may still have the file open,
  /// and may write to it whenever it resumes. Nil if there is no room for a copy; then the original file is used.
  ///
  /// - Parameter head: HEAD, which may say that what is after its end does not count.
  static func detach(
    _ active: SegmentHandle, _ head: HeadSlot?, _ fileSystem: any FileSystem, _ layout: StoreLayout,
    _ lock: StoreLock
  ) throws(StoreError) -> (any File)? {
    // Bytes that are in the cache but that the disk refused must not be copied.
    try active.file.sync()
    active.file.dropCache()
    let temporary = lock.temporary(layout.segment(active.header.segment))
    do throws(StoreError) {
      let copy = try fileSystem.open(temporary, .createNew)
      copy.takePermissions(of: active.file)
      var window = SegmentWindow(file: active.file)
      let size = UInt64(try active.file.size())
      let end = head?.length(of: active.header, fileSize: size) ?? size
      var offset: UInt64 = 0
      while offset < end {
        let bytes = try window.bytes(at: offset, length: 1 << 20, limit: end)
        guard bytes.count > 0 else { break }
        try copy.write(bytes, at: Int64(offset))
        offset += UInt64(bytes.count)
      }
      try copy.sync()
      return copy
    } catch {
      try? fileSystem.remove(temporary)
      guard case .full = error else { throw error }
      return nil
    }
  }

  /// Removes the files that an interrupted creation left.
  static func removeTemporary(_ fileSystem: any FileSystem, _ layout: StoreLayout) throws(StoreError) {
    for folder in [layout.log, layout.derived] {
      try fileSystem.removeFiles(in: folder, where: StoreLayout.isTemporary)
    }
  }
}
