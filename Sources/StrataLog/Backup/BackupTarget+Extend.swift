// Adding blocks to the last segment of a finished backup, in place.

internal import StrataBase

/// While blocks are added, HEAD names the end that the backup had, and says that what follows does not count
/// (`isExtending`). So a crash leaves the backup as it was. Only once the blocks are on disk, another HEAD names the new
/// end.
///
/// A run that was stopped and resumes could still write to the file. So neither the next run nor a writer that opens the
/// folder goes on with it: both replace it by a copy of its part that counts, the writer only if that run may not have
/// ended.
extension BackupTarget {
  /// The end of the finished backup, if blocks may be added after it in place.
  var extensibleEnd: HeadSlot? { isWhole && !isExtended ? head.slot : nil }

  /// Says in HEAD, on disk and in both slots, that what follows the end of the backup does not count.
  func beginExtending() throws(StoreError) {
    guard var slot = extensibleEnd else { return assertionFailure("only a finished backup is extended") }
    slot.isClean = false
    slot.isExtending = true
    try lock.check()
    try head.replaceBoth(slot)
  }

  /// Makes a folder in which an earlier run has begun to add blocks the finished backup that it counts as.
  ///
  /// The copy gets the name first. Until HEAD is written, the durable offset is the end in either file.
  func settleExtension() throws(StoreError) {
    guard isWhole, isExtended, var slot = head.slot else { return }
    let active = try SegmentHandle.open(fileSystem, layout, first: slot.segment, storeID: slot.storeID)
    guard let copy = try SegmentFiles.detach(active, slot, fileSystem, layout, lock) else {
      throw .full(path: layout.root)
    }
    defer { copy.close() }
    do throws(StoreError) {
      try lock.check()
      try fileSystem.rename(copy.path, to: layout.segment(slot.segment))
    } catch {
      try? fileSystem.remove(copy.path)
      throw error
    }
    try fileSystem.syncDirectory(layout.log)
    slot.isExtending = false
    slot.isClean = true
    // This run may have been stopped, and another one may have gone on, while the folder was synced.
    try lock.check()
    try head.replaceBoth(slot)
    lastSize = slot.durable.offset
    isExtended = false
  }

  /// Cuts off what was added, and writes the HEAD that was there before. Where that fails, HEAD still says what counts.
  func endExtending(_ file: any File, restoring slot: HeadSlot) {
    do throws(StoreError) {
      try lock.check()
      try file.truncate(to: Int64(clamping: slot.durable.offset))
      try file.sync()
      try lock.check()
      try head.replaceBoth(slot)
    } catch {}
  }
}
