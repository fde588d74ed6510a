// Erasing: an order in the log, segments rewritten without the content, a note that it is done.

internal import StrataBase
public import StrataLog

extension EventStore {
  /// Takes the content out of events for good: payload and metadata. Stream, type, revision, time and append id of an
  /// event stay, and so do the size of its content and a hash of it, which only `StoreOptions.saltsEvents` keeps from
  /// being guessed.
  ///
  /// The order is in the log and on disk first; then each segment that holds such events is rewritten, `quarantine/` is
  /// emptied, and a note says that it is done. A crash in between is made good by the next open for writing. Folds and
  /// lists show the log as it then is. What readers in other processes, backups and other copies hold is theirs to
  /// follow: all these events are in their feeds.
  ///
  /// A segment that cannot be rewritten, because it is damaged or the disk is full, keeps no other from being: a note then
  /// says that the order was carried out in part, and the first error is thrown. The order stays open. The next erasure
  /// and the next open try again, and the same erasure once more goes on with that order. Orders do not hold up each other:
  /// this call throws nothing that is about an earlier one.
  ///
  /// - Returns: when the content is in no file of the store any more. O(bytes of the segments concerned).
  /// - Throws: `invalid` where nothing is named, or a stream or a sequence that the log does not have; `damaged`,
  ///   `full` and `unavailable` where a segment could not be rewritten, and this one still has its content.
  @discardableResult
  public func erase(_ erasure: Erasure) async throws(StoreError) -> ErasureReceipt {
    // A thread of its own, as for whatever takes long: the shared ones serve everybody who reads.
    let thread = machine.thread("strata-erase")
    let result = await thread.result { [self] () throws(StoreError) in try eraseBlocking(erasure) }
    return try result.get()
  }

  /// The same for a thread that may block. Never on the cooperative pool.
  @discardableResult
  public func eraseBlocking(_ erasure: Erasure) throws(StoreError) -> ErasureReceipt {
    try check(erasure)
    return try withErasing { () throws(StoreError) in
      var open = try openErasures()
      let order: UInt64
      if let given = try open.order(for: erasure, in: log) {
        order = given
      } else {
        let event = try erasure.event()
        // On disk before the order is: without it an open would have to search the whole log for unfinished ones.
        try log.setErasing(true)
        order = try appendToErasures(event)
        open.orders.append(OpenErasure(sequence: order, erasure: erasure))
      }
      let counts = try carryOut(open)
      return ErasureReceipt(sequence: order, eventCount: try counts[order]?.get() ?? 0)
    }
  }

  /// How many events an erasure would take the content out of now. O(events). Blocks.
  package func erasableCountBlocking(_ erasure: Erasure) throws(StoreError) -> UInt64 {
    try check(erasure)
    let targets = ErasureTargets(erasure, before: .max)
    var count: UInt64 = 0
    var cursor = log.cursor(after: log.mark.logBegin - 1)
    while case let next = cursor.nextSequence, let block = try cursor.next() {
      do throws(ContentProblem) {
        try block.forEachEvent { event, _, sequence in
          guard sequence >= next, event.kind != EventKind.erased else { return }
          if targets.contain(event, sequence) { count += 1 }
        }
      } catch {
        throw error.storeError(of: block.header)
      }
    }
    return count
  }

  private func check(_ erasure: Erasure) throws(StoreError) {
    guard !erasure.streams.isEmpty || !erasure.sequences.isEmpty else {
      throw .invalid(what: "the erasure names neither a stream nor a sequence")
    }
    for stream in erasure.streams {
      // Nothing is appended, so that to append less is no advice.
      do throws(StoreError) { try stream.check() } catch { throw .invalid(what: error.what) }
      guard stream != ErasureEvent.stream else {
        throw .invalid(what: "what was erased, and why, is not erased")
      }
      let name = Array(stream.text.utf8)
      let count = try log.index.revision(of: name)
      guard count > 0 else {
        throw .invalid(what: "there is no stream \(stream), so nothing of it can be erased")
      }
    }
    let head = log.mark.sequence
    for range in erasure.sequences where range.lowerBound < 1 || range.upperBound > head {
      throw .invalid(
        what:
          "sequences \(range.lowerBound)…\(range.upperBound) are to be erased, and the log ends at \(head)")
    }
  }
}
