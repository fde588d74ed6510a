// Giving a store out of hand for a while and taking it back, as an application must whose system stops it.

internal import StrataBase

extension Log {
  /// Where a log is between being opened and being closed.
  enum Phase {
    case open
    /// Somebody suspends, resumes or closes it just now.
    case changing
    case suspended
    case closed
  }

  /// Commits what was accepted, syncs, marks the store as closed cleanly and gives the lock back; feeds, cursors and
  /// whoever holds this object wait for `resume`. Appends are refused with `suspended` from here on: one that waited
  /// could wait for ever. A reader stops looking at files. Blocks. Doing it twice does nothing.
  ///
  /// Throws where the store could not be closed cleanly; then it is closed, and what was acknowledged as synced is
  /// there.
  package func suspend() throws(StoreError) {
    switch begin(from: .open) {
    case .suspended: return
    case .closed: throw .closed
    case .open, .changing: break
    }
    var after = Phase.suspended
    defer { phase.finish(after) }
    switch role {
    case .reader(let watcher): watcher.suspend()
    case .writer(let queue, let committer, _):
      queue.end(.suspended, refusingPending: false)
      guard let failure = committer.ending.wait(for: { $0 }).failure else { return }
      after = .closed
      throw failure
    }
  }

  /// Takes the lock again and goes on, by the same steps as an open: another writer may have appended in between, and
  /// what it appended is then visible here. Blocks. Does nothing where nothing is suspended.
  ///
  /// Throws as an open does, `locked` above all, and the log stays suspended; `diverged` where it is not the one that
  /// was left, which feeds are told too.
  ///
  /// - Parameter lockTimeout: how long it waits for the lock, where that is not what the options say.
  package func resume(lockTimeout: Duration? = nil) throws(StoreError) {
    switch begin(from: .suspended) {
    case .open: return
    case .closed: throw .closed
    case .suspended, .changing: break
    }
    var after = Phase.suspended
    defer { phase.finish(after) }
    do throws(StoreError) {
      switch role {
      case .reader(let watcher): try watcher.resume()
      case .writer(let queue, let committer, let sealer):
        try reopen(queue, committer, sealer, lockTimeout ?? options.lockTimeout)
      }
      after = .open
    } catch {
      if error.isDiverged { source.tail.finish(error) }
      throw error
    }
  }

  /// Throws where nobody looks for what is new.
  func checkOpen() throws(StoreError) {
    switch phase.withLock({ $0 }) {
    case .open, .changing: break
    case .suspended: throw .suspended
    case .closed: throw .closed
    }
  }

  /// The phase that was found, once nobody changes it; where it is the one that is wanted, the change has begun.
  private func begin(from wanted: Phase) -> Phase {
    phase.wait { phase in
      guard phase != .changing else { return nil }
      defer { if phase == wanted { phase = .changing } }
      return phase
    }
  }

  private func reopen(
    _ queue: CommitQueue, _ committer: Committer, _ sealer: Sealer, _ lockTimeout: Duration
  ) throws(StoreError) {
    let fileSystem = source.catalog.fileSystem
    try layout.checkLinks(fileSystem)
    let lock = try StoreLock.acquire(fileSystem, layout, timeout: lockTimeout)
    do throws(StoreError) {
      // So that an earlier writer that goes on names nothing from here on.
      try SegmentFiles.removeTemporary(fileSystem, layout)
      let found = try Log.assess(fileSystem, layout, lock)
      try checkGoesOn(found)
      try source.catalog.refresh()
      source.catalog.forgetOpen()
      source.catalog.add(found.active)
      try index.resume(at: found.mark) { [tail] in tail.publish(found.mark) }
      assert(tail.mark == found.mark, "what another writer appended is visible before this one goes on")
      let claim = try Log.claim(found, fileSystem, layout, options, lock)
      do throws(StoreError) {
        committer.reopen(WriterState(found, claim, options, lock))
        sealer.reopen(lock)
        queue.reopen()
        try options.machine.start("strata-commit") { committer.run() }
        if options.sealsByItself { sealer.add(found.unsealed) }
      } catch {
        // LOCK is about to be given back, and a rewrite that was begun meanwhile goes on for a moment.
        sealer.stop()
        sealer.finish()
        queue.end(.suspended, refusingPending: true)
        claim.head.close()
        throw error
      }
    } catch {
      lock.release()
      throw error
    }
  }

  /// The log that was found holds all that was visible here.
  private func checkGoesOn(_ found: Found) throws(StoreError) {
    let old = mark
    var chain: UInt64?
    if found.chain.storeID == storeID, found.mark.sequence >= old.sequence {
      let fresh = SegmentCatalog(
        fileSystem: source.catalog.fileSystem, layout: layout, storeID: storeID,
        names: found.chain.headers.map(\.segment))
      chain = try LogSource(catalog: fresh, tail: VisibleTail(found.mark)).chain(after: old.sequence)
    }
    guard chain == old.visible.chain else { throw .diverged(sequence: old.sequence) }
  }
}

extension Gate where State == Log.Phase {
  func finish(_ next: Log.Phase) {
    withLock { phase in
      assert(phase == .changing, "a phase is ended by who began the change")
      phase = next
    }
    signalAll()
  }
}
