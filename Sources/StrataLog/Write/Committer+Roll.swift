// The roll: syncs and closes the active segment, and begins the next one.

internal import StrataBase

extension Committer {
  /// Whether the active segment must be closed. One without events never is: the next one would have its name.
  var isRollDue: Bool {
    guard holdsEvents else { return false }
    return state.active.header.isRewritten || state.link.offset >= UInt64(options.segmentSizeTarget)
  }

  private var holdsEvents: Bool { state.link.nextSequence > state.active.header.firstSequence }

  /// Begins a new segment if the active one holds events, so that everything in the log so far can be rewritten. Needs
  /// the turn.
  func rollNow() throws(StoreError) {
    assertHasTurn()
    try checkGoesOn()
    try recoverIfTorn()
    guard holdsEvents, let refusal = try roll() else { return }
    guard case .full = refusal, makeRoom() else { throw refusal }
    if let refusal = try roll() { throw refusal }
  }

  /// Closes the active segment and begins the next. A failure to create the next one is harmless: the active one grows
  /// beyond its target, and the error is returned. Every other error poisons the writer.
  func roll() throws(StoreError) -> StoreError? {
    assert(!state.isTorn && state.recovery == nil, "a segment is closed at the end of its last block")
    let before = state.durable
    try orPoison(.sync) { () throws(StoreError) in try putAway() }
    let header = state.nextHeader(created: options.clock.now())
    let next: SegmentHandle
    do throws(StoreError) {
      next = try SegmentFiles.create(header, after: state.active, fileSystem, layout, state.lock)
    } catch {
      if let reason = reasonToEnd(error, failedToMake: header) { throw poison(reason) }
      // The next append may come much later, and readers of what is on disk wait.
      if state.durable != before { publish() }
      return error
    }
    state.begin(next)
    assert(!holdsEvents, "a segment begins without events")
    source.catalog.add(next)
    try orPoison(.head) { () throws(StoreError) in try writeHead(isClean: false, syncs: true) }
    index.roll(to: header.segment, chain: header.previousChain)
    publish()
    if options.sealsByItself { sealer.add([SegmentName(header.previousFirst)]) }
    return nil
  }

  /// Prepares the active segment for closing: all of it on disk, and nothing after its last block.
  private func putAway() throws(StoreError) {
    if !state.isDurable { try syncHead() }
    try state.active.file.sync()
    // Zeros after the end, written ahead or left by a power cut, would be damage in a closed segment.
    if try state.active.file.size() > Int64(state.link.offset) {
      try state.active.file.truncate(to: Int64(state.link.offset))
      state.preallocation.isCut(to: state.link.offset)
      try state.active.file.sync()
    }
  }

  /// Why the writer cannot go on with the active segment after the next one could not be created; nil if it can.
  private func reasonToEnd(_ error: StoreError, failedToMake header: SegmentHeader) -> StoreError? {
    if error.reason == .poisoned { return error }
    do throws(StoreError) {
      if try fileSystem.kind(of: layout.segment(header.segment)) == nil { return nil }
    } catch let second {
      return second
    }
    return .poisoned("the next segment has its name but could not be opened: \(error.whatAndWhere)")
  }
}
