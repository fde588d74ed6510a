// The write of a group: written, synced, looked at LOCK, said in HEAD, and only then visible.

internal import StrataBase

extension Committer {
  /// Writes the frame behind the end of the log. On return it is as durable as the store was opened for, and visible.
  ///
  /// A failed write is taken back, and the store goes on; what fails later poisons the writer.
  func writeFrame() throws(StoreError) {
    let end = state.link.offset + UInt64(state.frame.output.count)
    assert(state.frame.output.count > 0, "a frame that is written holds a block")
    assert(state.frame.link.offset == end, "a frame goes behind the end of the log")
    do throws(StoreError) {
      try state.active.file.write(state.frame.output.bytes, at: Int64(state.link.offset))
    } catch {
      throw takeBack(after: error)
    }
    state.preallocation.follow(groupEnd: end, length: state.frame.output.count, in: state.active.file)
    if options.durability != .buffered {
      try orPoison(.sync) { () throws(StoreError) in try state.active.file.syncData() }
    }
    // The next writer has this group only if it took the store over later, and nobody is told of it before that is
    // known.
    try checkLock()
    advance()
    try orPoison(.head) { () throws(StoreError) in
      try writeHead(isClean: false, syncs: options.durability == .paranoid)
    }
    publish()
  }

  /// A write failed: the file is cut back to the end of the last group, and the store goes on.
  private func takeBack(after error: StoreError) -> StoreError {
    index.withActive { tables in
      tables.undo(state.frame.eventCount)
      assert(tables.nextSequence == state.link.nextSequence, "the tables hold what is in the log")
    }
    do throws(StoreError) {
      try state.active.file.truncate(to: Int64(state.link.offset))
      state.preallocation.isCut(to: state.link.offset)
      try state.active.file.sync()
    } catch let second {
      return poison(
        .poisoned(
          "a write failed: \(error.whatAndWhere); and it could not be taken back: \(second.whatAndWhere)"))
    }
    return error
  }

  /// The frame is written: the end of the log moves behind it.
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
    decider.recordIDs()
  }

  func publish() {
    state.assertIsConsistent()
    assert(state.head.slot?.visible == state.link.mark, "nothing is visible that HEAD does not say")
    source.tail.publish(state.mark)
  }
}
