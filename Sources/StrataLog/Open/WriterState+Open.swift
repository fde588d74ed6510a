// The state that an open passes to the writer.

internal import StrataBase

extension WriterState {
  /// The state of a writer that continues the log that an open found, with the lock that it holds.
  init(_ found: Log.Found, _ claim: Log.Claim, _ options: StoreOptions, _ lock: StoreLock) {
    let link = found.assessment.link
    let header = found.active.header
    assert(options.problem == nil, "options are checked before a store is opened")
    assert(claim.epoch > link.epoch, "no earlier writer had this epoch")
    assert(found.assessment.fileSize >= link.offset, "the log ends inside its file")
    assert(header.firstSequence >= found.logBegin, "the log begins at or before its active segment")
    self.init(
      lock: lock, head: claim.head, active: found.active, link: link, durable: link.mark,
      preallocation: Preallocation(options, end: found.assessment.fileSize),
      frame: GroupFrame(
        context: .init(
          segment: header.segment, storeID: header.storeID, epoch: claim.epoch,
          blockSizeTarget: options.blockSizeTarget, padsToPages: options.padsGroupsToPages),
        link: link),
      epoch: claim.epoch, logBegin: found.logBegin, isTorn: found.assessment.state == .torn, recovery: nil,
      isErasing: claim.isErasing, isSettled: found.isSettled)
  }
}
