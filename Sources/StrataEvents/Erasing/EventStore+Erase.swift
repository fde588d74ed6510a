// Erasing: append an order to the log, rewrite the segments without the content, append a note that it is done.

internal import StrataBase
public import StrataLog

extension EventStore {
  /// Erases the content of events permanently: payload and metadata.
  ///
  /// Stream, type, revision, time and append id of an event remain, and so do the size of its content and a hash of it.
  /// Without the option `StoreOptions.saltsEvents`, short content can be guessed from the hash.
  ///
  /// The order is appended to the log and synced first. Then each segment that holds such events is rewritten,
  /// `quarantine/` is emptied, all saved tables and all histories of every projection are removed, and a note that the
  /// order is done is appended. If the process crashes in between, the next open for writing finishes the order. Folds
  /// and lists then show the log without the content, which takes a fold from the beginning of the log. Readers in
  /// other processes, backups and other copies must follow by themselves: the order and its notes are in their feeds.
  ///
  /// If a segment cannot be rewritten, because it is damaged or the disk is full, all others are rewritten
  /// nevertheless. A note then says that the order was carried out in part, the order stays open, and the call throws
  /// the first error. The next erasure and the next open for writing try again; calling this again with the same
  /// erasure continues the open order. Orders are independent: this call does not throw errors of earlier orders.
  ///
  /// - Returns: the receipt, once no file of the store holds the content. O(bytes of the segments concerned).
  /// - Throws: `invalid` if the erasure names nothing, or a stream or a sequence that the log does not have; `damaged`,
  ///   `full` and `unavailable` if a segment could not be rewritten and still holds the content.
  @discardableResult
  public func erase(_ erasure: Erasure) async throws(StoreError) -> ErasureReceipt {
    // On a separate thread: erasing takes long, and the shared threads serve all reads.
    let thread = machine.thread("strata-erase")
    let result = await thread.result { [self] () throws(StoreError) in try eraseBlocking(erasure) }
    return try result.get()
  }

  /// Erases as `erase(_:)` does, and blocks the calling thread. Do not call it on the cooperative pool.
  @discardableResult
  package func eraseBlocking(_ erasure: Erasure) throws(StoreError) -> ErasureReceipt {
    try log.checkAppends()
    try check(erasure)
    return try withErasing { () throws(StoreError) in
      var open = try openErasures()
      let order: UInt64
      if let given = try open.order(for: erasure, in: log) {
        order = given
      } else {
        let event = try erasure.event()
        // The flag is on disk before the order is. Without it, every open would search the log for unfinished orders.
        try log.setErasing(true)
        order = try appendToErasures(event)
        open.orders.append(OpenErasure(sequence: order, erasure: erasure))
      }
      let counts = try carryOut(open)
      return ErasureReceipt(sequence: order, eventCount: try counts[order]?.get() ?? 0)
    }
  }

  /// Returns the number of events whose content an erasure would remove now. O(events). Blocks.
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

  /// Whether an erasure names an event whose content is still there. An event that cannot be read may have some. Reads
  /// the blocks of the events that it names, up to the first with content. Blocks.
  package func hasErasableBlocking(_ erasure: Erasure) -> Bool {
    do throws(StoreError) { return try findsErasable(erasure) } catch { return true }
  }

  private func findsErasable(_ erasure: Erasure) throws(StoreError) -> Bool {
    let targets = ErasureTargets(erasure, before: .max)
    for stream in erasure.streams {
      var next: UInt64 = 0
      for part in try log.index.parts(of: Array(stream.text.utf8), after: 0) {
        for sequence in part.sequences where sequence >= next {
          guard let block = try log.block(holding: sequence) else { return true }
          if try targets.haveContent(in: block) { return true }
          next = block.header.nextSequence
        }
      }
    }
    for range in erasure.sequences {
      var cursor = log.cursor(after: max(range.lowerBound, 1) - 1)
      while cursor.nextSequence <= range.upperBound, let block = try cursor.next() {
        if try targets.haveContent(in: block) { return true }
      }
    }
    return false
  }

  private func check(_ erasure: Erasure) throws(StoreError) {
    guard !erasure.streams.isEmpty || !erasure.sequences.isEmpty else {
      throw .invalid(what: "the erasure names neither a stream nor a sequence")
    }
    for stream in erasure.streams {
      // A new error, because the suggestion of the old one, to append less, does not apply here.
      do throws(StoreError) { try stream.check() } catch { throw .invalid(what: error.what) }
      guard stream != ErasureEvent.stream else {
        throw .invalid(what: "the records of erasures, in \(stream), cannot be erased")
      }
      let name = Array(stream.text.utf8)
      let count = try log.index.revision(of: name)
      guard count > 0 else {
        throw .invalid(what: "the log has no stream \(stream) to erase")
      }
    }
    let mark = log.mark
    for range in erasure.sequences where range.lowerBound < mark.logBegin || range.upperBound > mark.sequence
    {
      throw .invalid(
        what:
          "the erasure names sequences \(range.lowerBound)…\(range.upperBound), but the log has "
          + "\(mark.logBegin)…\(mark.sequence)")
    }
  }
}
