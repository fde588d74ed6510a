// Releases a store for a while and takes it back, as an application must that the system stops.

internal import StrataBase

extension Log {
  /// The phases of a log between open and close.
  enum Phase {
    case open
    /// The log is being suspended, resumed or closed.
    case changing
    case suspended
    case closed
  }

  /// Commits what was accepted, syncs, marks the store as closed cleanly and releases the lock; feeds, cursors and
  /// other users of this object wait for `resume`. Appends are refused with `suspended` from now on: a waiting one
  /// might wait forever. A reader stops accessing files. Blocks. A second call does nothing.
  ///
  /// Throws if the store could not be closed cleanly; then it is closed, and what was acknowledged as synced is in it.
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

  /// Whether the log is suspended, or is just being suspended or resumed: another writer may append meanwhile.
  package var isSuspended: Bool { phase.withLock { $0 == .suspended || $0 == .changing } }

  /// Takes the lock again and continues, by the same steps as an open: another writer may have appended in between, and
  /// its events are then visible here. Blocks. Does nothing if the log is not suspended.
  ///
  /// Throws the errors of an open, above all `locked`, and the log stays suspended; `diverged` if the log's history is
  /// not the one from before, in which case feeds end with that error too.
  ///
  /// - Parameter lockTimeout: how long to wait for the lock, if not as long as the options say.
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

  /// Throws if the log is suspended or closed, so that nothing follows new events.
  package func checkOpen() throws(StoreError) {
    switch phase.withLock({ $0 }) {
    case .open, .changing: break
    case .suspended: throw .suspended
    case .closed: throw .closed
    }
  }

  /// Waits until no change is in progress and returns the phase; if it is the wanted one, the change has begun.
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
      // So that an earlier writer that resumes can rename no file from now on.
      try SegmentFiles.removeTemporary(fileSystem, layout)
      part.replace(try ReplicaMark.read(fileSystem, layout))
      let found = try Log.assess(fileSystem, layout, lock)
      try checkGoesOn(found)
      try source.catalog.refresh()
      source.catalog.forgetOpen()
      source.catalog.add(found.active)
      try index.resume(at: found.mark) { [tail] in tail.publish(found.mark) }
      assert(tail.mark == found.mark, "another writer's events are visible before this one goes on")
      let claim = try Log.claim(found, fileSystem, layout, options, lock)
      do throws(StoreError) {
        observation.noteTail(found.recovery)
        committer.reopen(WriterState(found, claim, options, lock))
        sealer.reopen(lock)
        queue.reopen()
        try options.machine.start("strata-commit") { committer.run() }
        if options.sealsByItself { sealer.add(found.unsealed) }
      } catch {
        // LOCK is about to be released, and a rewrite that began meanwhile goes on for a moment.
        sealer.stop()
        sealer.finish()
        queue.end(.suspended, refusingPending: true)
        committer.compressor?.stop()
        committer.end()
        claim.head.close()
        throw error
      }
    } catch {
      lock.release()
      throw error
    }
  }

  /// Throws `diverged` unless the log that was found holds everything that was visible here.
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
      assert(phase == .changing, "only the caller that began a change ends it")
      phase = next
    }
    signalAll()
  }
}
