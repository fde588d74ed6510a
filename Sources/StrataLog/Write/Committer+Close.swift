// The close: syncs everything to disk, marks HEAD clean if that is true, and releases the lock.

internal import StrataBase

extension Committer {
  /// Closes the store: the last step of the writer, or the last before a suspension.
  func close() {
    assertHasTurn()
    assert(queue.failure != nil, "a queue has ended before its writer")
    sealer.stop()
    do throws(StoreError) { try state.lock.check() } catch { failure = failure ?? error }
    if failure == nil {
      do throws(StoreError) { try putEverythingAway() } catch {
        failure = .poisoned("the store could not be closed cleanly: \(error.whatAndWhere)")
      }
    }
    lookups.finish()
    compressor?.stop()
    index.finishWriting()
    if failure == nil, state.head.slot?.isClean == true { index.save(at: state.mark) }
    sealer.finish()
    state.head.close()
    state.lock.release()
    if failure != nil || queue.failure != .suspended {
      if let failure { queue.changeEnd(to: failure) }
      source.tail.finish(failure ?? .closed)
    }
    end()
  }

  /// Lets those go on who wait for the end. Without a thread, the writer ends with this alone.
  func end() {
    ending.withLock { ending in
      assert(ending == nil, "a writer ends once")
      ending = Ending(failure: failure)
    }
    ending.signalAll()
  }

  private func putEverythingAway() throws(StoreError) {
    if !state.isDurable {
      try syncHead()
      // Readers that wait for durable events get the rest before the end is published.
      publish()
    }
    let end = UInt64(try state.active.file.size())
    let isZero = try state.active.file.isZero(from: state.durable.offset, to: end)
    if !state.isTorn, isZero, end > state.durable.offset {
      try state.active.file.truncate(to: Int64(state.durable.offset))
      try state.active.file.sync()
    }
    // An earlier writer that was stopped and has the same file may still write to it.
    let isClean = !state.isTorn && isZero && state.isSettled
    try writeHead(isClean: isClean, syncs: true)
    assert(state.isDurable && !state.isHeadUnsynced, "everything in a closed store is on disk")
  }
}
