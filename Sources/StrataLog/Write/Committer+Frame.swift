// Writes a group: write, sync, check of LOCK, HEAD, and only then visible.

internal import StrataBase

extension Committer {
  /// Writes the frame of a group, and counts it.
  func writeGroup() throws(StoreError) {
    let before = (appends: state.link.appends, sequence: state.link.lastSequence)
    let (events, bytes) = (UInt64(state.frame.eventCount), UInt64(state.frame.output.count))
    let begin = observation.takesSteps ? MonotonicTime.now() : nil
    lastSync = .zero
    try writeFrame()
    let appends = state.link.appends - before.appends
    assert(state.link.lastSequence == before.sequence + events, "a group adds the events that it counts")
    observation.counters.addGroup(appends: appends, events: events, bytes: bytes)
    guard let begin else { return }
    observation.note(
      .commit(appendCount: appends, eventCount: events, byteCount: bytes, sync: lastSync), since: begin)
  }

  /// Writes the frame at the end of the log. On return it is visible, and as durable as the store's options require.
  ///
  /// If the disk is full, states give way, and the write is tried once more. A failed write is undone, and the store
  /// goes on; a failure of a later step poisons the writer.
  func writeFrame() throws(StoreError) {
    let end = state.link.offset + UInt64(state.frame.output.count)
    assert(state.frame.output.count > 0, "a frame to be written holds a block")
    assert(state.frame.link.offset == end, "a frame begins at the end of the log")
    do throws(StoreError) {
      try makingRoom { () throws(StoreError) in
        try state.active.file.write(state.frame.output.bytes, at: Int64(state.link.offset))
      }
    } catch {
      throw takeBack(after: error)
    }
    state.preallocation.follow(groupEnd: end, length: state.frame.output.count, in: state.active.file)
    if options.durability != .buffered {
      try orPoison(.sync) { () throws(StoreError) in try state.active.file.syncData() }
    }
    // The next writer has this group only if it took over the store later, and the group is not acknowledged before
    // that is known.
    try checkLock()
    advance()
    try orPoison(.head) { () throws(StoreError) in
      try writeHead(isClean: false, syncs: options.durability == .paranoid)
    }
    publish()
  }

  /// Runs a step that changes nothing if it fails, and runs it again if the disk was full and states could be removed.
  func makingRoom(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) { try body() } catch {
      guard case .full = error, makeRoom() else { throw error }
      try body()
    }
  }

  /// Removes what is derived and takes room. Needs the turn. Returns whether there was anything.
  func makeRoom(isErasing: Bool = false) -> Bool {
    assertHasTurn()
    guard failure == nil, (try? state.lock.isIntact()) == true else { return false }
    guard derivedSpace.makeRoom(isErasing: isErasing) else { return false }
    observation.note(
      .discarded(.all, projection: nil, why: "the disk is full, and the log needs the room"))
    return true
  }

  /// Undoes a failed write: cuts the file back to the end of the last group, and the store goes on.
  private func takeBack(after error: StoreError) -> StoreError {
    index.withActive { tables in
      tables.undo(state.frame.eventCount)
      tables.undoIDs(decider.idCount)
      assert(tables.nextSequence == state.link.nextSequence, "the tables hold the events of the log")
    }
    do throws(StoreError) {
      try state.active.file.truncate(to: Int64(state.link.offset))
      state.preallocation.isCut(to: state.link.offset)
      try state.active.file.sync()
    } catch let second {
      return poison(
        .poisoned(
          "a write failed: \(error.whatAndWhere); and it could not be undone: \(second.whatAndWhere)"))
    }
    return error
  }

  /// Moves the end of the log past the frame that was written.
  private func advance() {
    let last = state.link.lastSequence
    state.link = state.frame.link
    assert(
      state.link.lastSequence == last + UInt64(state.frame.eventCount), "the sequences of a group are dense")
    for (number, place) in state.frame.places.enumerated() {
      let isLast = number == state.frame.places.count - 1
      let end = isLast ? state.link.offset : state.frame.places[number + 1].offset
      state.active.add(place, end: end)
    }
    if options.durability != .buffered { state.durable = state.link.mark }
    decider.recordGroup()
  }

  func publish() {
    state.assertIsConsistent()
    assert(state.head.slot?.visible == state.link.mark, "HEAD names the end that becomes visible")
    source.tail.publish(state.mark)
  }
}
