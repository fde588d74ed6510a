// The first step of the first append to a torn store.

internal import StrataBase

/// Keeps a torn tail before it is cut off.
enum Quarantine {
  /// Copies [X, end) to `quarantine/`, and syncs the copy and the folder. The caller cuts the segment. Repeating it
  /// after a crash in between gives the same result.
  static func keepTail(
    of file: any File, segment: SegmentName, at offset: UInt64, epoch: UInt64, time: Int64,
    _ fileSystem: any FileSystem, _ layout: StoreLayout
  ) throws(StoreError) -> RecoveryNote {
    let size = UInt64(try file.size())
    let name = "\(segment.digits)-\(offset)-\(epoch)\(StoreLayout.tailSuffix)"
    assert(StoreLayout.isTail(name), "an erasure recognises and removes the name of a kept tail")
    let path = "\(layout.quarantine)/\(name)"
    try fileSystem.createDirectory(layout.quarantine)
    guard try !fileSystem.isLink(layout.quarantine) else {
      throw .refused("open folder", layout.quarantine, code: SystemErrorCode.isLink)
    }
    let copy = try fileSystem.open(path, .create)
    defer { copy.close() }
    let checksum: UInt32
    do {
      checksum = try self.copy(file, from: offset, to: size, into: copy)
      try copy.sync()
      try fileSystem.syncDirectory(layout.quarantine)
      try fileSystem.syncDirectory(layout.root)
    } catch {
      // The tail is still in the segment; a partial copy of it is no evidence.
      try? fileSystem.remove(path)
      throw error
    }
    return RecoveryNote(
      cutOffset: offset, cutLength: size - offset, time: time, checksum: checksum,
      reason: RecoveryNote.tornTail, path: "\(StoreLayout.quarantineName)/\(name)")
  }

  private static func copy(
    _ source: any File, from start: UInt64, to end: UInt64, into target: any File
  ) throws(StoreError) -> UInt32 {
    try target.truncate(to: 0)
    var window = SegmentWindow(file: source)
    var offset = start
    var checksum = CRC32C.Running()
    while offset < end {
      let bytes = try window.bytes(at: offset, length: 1 << 20, limit: end)
      guard bytes.count > 0 else { break }
      checksum.add(bytes)
      try target.write(bytes, at: Int64(offset - start))
      offset += UInt64(bytes.count)
    }
    return checksum.value
  }
}
