// States on a full disk: they give way to appends, and are written again later.

internal import StrataBase
internal import StrataLog

extension Checkpoints: DerivedFileUser {
  var derivedFolder: String { files.folder }

  /// Closes all page files. What of them is not in memory is folded from the log again when it is needed: once, and for
  /// as long as the tables have it that takes memory.
  /// Before an erasure they stay open: a snapshot that somebody holds cannot be folded from what is left.
  func evict(isErasing: Bool) {
    if !isErasing, let lineage = reader.withLock({ $0 })?.lineage, lineage.isEvictable {
      // Before they are: an erasure that begins now must know.
      for healing in healings.withLock({ $0.compactMap(\.healing) }) { healing.noteFilesGone() }
      lineage.evict()
    }
    state.withLock { state in
      // A state that was being written has ended, or ends without a name.
      if !state.isWriting { state.current = nil }
      state.wasEvicted = state.wasEvicted || state.saved != nil
      state.saved = nil
      state.savedViews = []
    }
  }

  /// What has given way is folded for those that still hold it, and what has not stays open from now on.
  func willErase() {
    reader.withLock { $0 }?.lineage.staysOpen()
    for healing in healings.withLock({ $0.compactMap(\.healing) }) { healing.makeIfFilesGone() }
  }

  /// Whether the state was removed because the log needed the room, and no other one was written since.
  var wasEvicted: Bool { state.withLock { $0.wasEvicted } }

  /// Whether a state may be saved that the program did not ask for: not on a disk that was full a short time ago, and by
  /// a reader not soon after it failed.
  var mayBeSaved: Bool {
    if let space = log.derivedSpace { return space.allowsWriting }
    guard log.savesStates else { return false }
    return state.withLock { $0.lastFailure.map { $0.elapsed >= log.options.fullDiskPause } ?? true }
  }

  /// Runs a body that writes a state, so that an append for which the disk has no room waits until the body has ended.
  func writing<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    if let space = log.derivedSpace { return try space.write(body) }
    guard log.savesStates else { throw .readOnly }
    return try body()
  }
}
