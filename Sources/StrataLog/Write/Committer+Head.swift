// HEAD, and the work between groups: syncs that are due, and zeros written ahead of the log.

internal import StrataBase

extension Committer {
  /// Writes the end of the log to HEAD. Syncs the file if requested, or if the last sync was long enough ago.
  func writeHead(isClean: Bool, syncs: Bool) throws(StoreError) {
    assert(!isClean || state.isDurable, "the log is on disk when HEAD is marked clean")
    try state.head.write(state.headSlot(isClean: isClean, durability: options.durability))
    state.isHeadUnsynced = true
    if syncs || state.lastHeadSync.elapsed >= options.headSyncInterval { try syncHead() }
  }

  /// Syncs what is buffered, and then HEAD.
  func syncHead() throws(StoreError) {
    if !state.isDurable {
      try state.active.file.syncData()
      state.durable = state.link.mark
      guard let slot = state.head.slot else { return }
      var next = slot
      next.durable = state.durable
      try state.head.write(next)
    }
    try state.head.sync()
    state.isHeadUnsynced = false
    state.lastHeadSync = .now()
  }

  /// How long the committer may sleep before HEAD, or buffered data, must be synced. Nil in step: a sync that the time
  /// makes due would come between any two calls of an append.
  var nextTimeout: Duration? {
    guard state.isHeadUnsynced, failure == nil, !options.writesInStep else { return nil }
    return max(.zero, options.headSyncInterval - state.lastHeadSync.elapsed)
  }

  /// Called when there is nothing to commit: syncs HEAD if that is due. It may not be, because a thread that committed
  /// its own append only makes sure that the committer waits no longer than that. An error poisons the writer, and the
  /// next append gets it.
  func settle() {
    assertHasTurn()
    guard let left = nextTimeout, left == .zero else { return }
    let before = state.durable
    do throws(StoreError) {
      try checkLock()
      try orPoison(.sync) { () throws(StoreError) in try syncHead() }
    } catch { return }
    if state.durable != before { publish() }
  }

  /// Syncs what is buffered, whether that is due or not. Needs the turn.
  func syncBuffered() throws(StoreError) {
    assertHasTurn()
    if let failure { throw failure }
    guard !state.isDurable else { return }
    try checkLock()
    try orPoison(.sync) { () throws(StoreError) in try syncHead() }
    publish()
  }

  /// Records in HEAD, on disk and in both slots, whether an erasure may be unfinished. Needs the turn.
  func setErasing(_ isErasing: Bool) throws(StoreError) {
    assertHasTurn()
    if let failure { throw failure }
    guard state.isErasing != isErasing else { return }
    let before = state.durable
    state.isErasing = isErasing
    try checkLock()
    try orPoison(.head) { () throws(StoreError) in
      for _ in HeadSlot.offsets { try writeHead(isClean: false, syncs: true) }
    }
    if state.durable != before { publish() }
  }

  /// Whether HEAD says that an erasure may be unfinished. Needs the turn.
  var isErasing: Bool { state.isErasing }

  // MARK: Zeros

  var isPreallocationDue: Bool { !options.writesInStep && state.preallocation.isDue(at: state.link.offset) }

  /// Called when there is nothing to commit: writes zeros for later groups, and syncs them. An error poisons the
  /// writer, and the next append gets it.
  func preallocate() {
    assertHasTurn()
    guard failure == nil, !state.isTorn else { return }
    do throws(StoreError) {
      try checkLock()
      let before = state.preallocation.end
      state.preallocation.extend(state.active.file, after: state.link.offset)
      guard state.preallocation.end > before else { return }
      try orPoison(.sync) { () throws(StoreError) in try state.active.file.sync() }
    } catch { return }
  }
}
