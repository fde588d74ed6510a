// What the first group does about a torn tail: it is kept in quarantine, cut off, and noted in the log.

internal import StrataBase

extension Committer {
  /// Cuts off a torn tail and writes the RECOVERY block. If that block cannot be written, the next call tries again.
  func recoverIfTorn() throws(StoreError) {
    if state.isTorn { state.recovery = try cutTail() }
    guard let note = state.recovery else { return }
    assert(note.cutOffset == state.link.offset, "the RECOVERY block begins where the tail was cut off")
    state.frame.begin(at: state.link, syncedThrough: state.durable.offset, lengthMax: 0)
    state.frame.addControl(kind: BlockKind.recovery, payload: note.encoded(), time: note.time)
    state.frame.finish()
    assert(state.frame.eventCount == 0, "a recovery uses no sequence")
    try writeFrame()
    state.recovery = nil
  }

  /// Keeps the torn tail in quarantine and cuts it off. An error before the cut leaves everything as it was.
  private func cutTail() throws(StoreError) -> RecoveryNote {
    let note = try Quarantine.keepTail(
      of: state.active.file, segment: state.active.header.segment, at: state.link.offset,
      epoch: state.epoch, time: max(options.clock.now(), FormatLimits.noTime + 1), fileSystem, layout)
    try state.active.file.truncate(to: Int64(state.link.offset))
    state.isTorn = false
    state.preallocation.isCut(to: state.link.offset)
    try orPoison(.sync) { () throws(StoreError) in try state.active.file.sync() }
    observation.noteCut(
      TailRecovery(
        file: state.active.header.segment.path, offset: note.cutOffset, byteCount: note.cutLength,
        keptPath: note.path))
    return note
  }
}
