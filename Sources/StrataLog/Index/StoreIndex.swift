// The streams, names and append ids of the whole log: the active segment's in memory, each closed one's in a file.

package import StrataBase

/// The derived indexes. Everything in them comes from the log, and a segment's file counts only while it names the
/// store, the range and the chain of that segment.
///
/// A lookup searches the tables of the active segment, then what a saved index covers of that segment, then the closed
/// segments from the newest on, until it finds its key. If the index of one is missing, as after `derived/` was deleted,
/// it reads that segment and builds the index, or throws `indexMissing` if its caller does not allow that: a caller that
/// others wait for has the index built elsewhere. Each index is built by one thread at a time, and other threads that
/// need it wait for that.
package final class StoreIndex: Sendable {
  let source: LogSource
  /// Whether this index belongs to a writer, which keeps index files; a reader writes nothing.
  let isWriter: Bool
  /// Whether index files are written before the next append, and not by a separate thread.
  private let isInStep: Bool
  /// The index of the active segment. In a writer it is ahead of the visible mark by the group being committed.
  let active: Lock<SegmentIndex>
  let closed: Lock<ClosedIndexCache>
  /// The tables of the segment that this writer closed last. The next segment begins without a stream, and each event
  /// that is the first of its stream there would be looked up in a file.
  private let closedLast = Lock<SegmentIndex?>(nil)
  private let indexing: Lock<DedicatedThread?>
  /// The parts whose index is being built or written.
  let underConstruction = Gate<Set<IndexPart>>([])
  /// The block in which an append id was confirmed last: ids are often looked up in the order of the log.
  let confirming = Lock<DecodedBlock?>(nil)
  /// The least own time of each part whose index was asked for it: 24 bytes for each closed segment.
  let leastTimes = Lock<[IndexPart: Int64]>([:])
  /// How many events of the active segment must be without a saved index for a close to save one.
  let savesAfter: Int
  /// The thread for tasks whose lookup builds an index. Such lookups of one store wait for each other, but not for
  /// those of other stores.
  package let threads: IOThreads
  private let machine: StoreMachine

  /// - Parameters:
  ///   - bytesMax: how many bytes of the indexes of closed segments are kept in memory.
  ///   - savesAfter: how many events without a saved index make a close save one.
  package init(
    _ source: LogSource, isWriter: Bool, isInStep: Bool = false, bytesMax: Int? = nil,
    savesAfter: Int = StoreOptions.savedIndexEventsMinDefault, on machine: StoreMachine = .process
  ) {
    self.source = source
    self.isWriter = isWriter
    self.isInStep = isInStep
    self.savesAfter = savesAfter
    active = Lock(SegmentIndex(of: source.tail.mark.segment))
    closed = Lock(ClosedIndexCache(bytesMax: bytesMax ?? ClosedIndexCache.bytesMaxDefault))
    indexing = Lock(nil)
    threads = machine.thread("strata-index")
    self.machine = machine
  }

  // MARK: The active segment

  /// Adds to the active index what it lacks of the log, up to the visible mark: what a saved index does not cover. A
  /// writer calls it once, at open, and checks the chain of all that it adds; a reader calls it before every lookup.
  package func catchUp() throws(StoreError) {
    try active.withLock { index throws(StoreError) in
      let mark = source.tail.mark
      if index.segment != mark.segment {
        guard !isWriter else { return }
        index = SegmentIndex(of: mark.segment)
      }
      guard index.nextSequence <= mark.sequence else { return }
      if index.base == nil, index.eventCount == 0, let base = saved(mark) {
        index = SegmentIndex(of: mark.segment, after: base)
      }
      try fill(index)
      assert(index.nextSequence > mark.sequence, "a full index holds every visible event")
    }
  }

  /// The visible end, which the active index reaches. What another thread makes visible meanwhile may be in the index,
  /// and is not promised: a mark that is read afterwards may be ahead of it.
  func markCaughtUp() throws(StoreError) -> VisibleMark {
    let mark = source.tail.mark
    if !isWriter { try catchUp() }
    return mark
  }

  /// Throws if the active index does not end at a mark: another process changed the segment between two reads of it.
  func checkEnds(with mark: VisibleMark) throws(StoreError) {
    try active.withLock { index throws(StoreError) in try Self.check(index, endsWith: mark) }
  }

  private static func check(_ index: SegmentIndex, endsWith mark: VisibleMark) throws(StoreError) {
    guard index.nextSequence != mark.sequence + 1 else { return }
    let (first, last) = (
      min(index.nextSequence - 1, mark.sequence), max(index.nextSequence - 1, mark.sequence)
    )
    throw .damaged(
      StoreFinding(
        .stale, file: mark.segment.path, offset: mark.visible.offset, first: first + 1,
        last: last, what: "the segment changed between two reads of it"))
  }

  private func fill(_ index: SegmentIndex) throws(StoreError) {
    var cursor = LogCursor(source, after: index.nextSequence - 1)
    while index.nextSequence <= source.tail.mark.sequence, let block = try cursor.next() {
      if isWriter { try verify(block) }
      try add(block, to: index)
    }
  }

  /// Compares the content of a block of the active segment with its header, above all the chain: a writer continues the
  /// last block's chain, and would thereby confirm content that no writer wrote.
  private func verify(_ block: DecodedBlock) throws(StoreError) {
    do throws(ContentProblem) { try block.verifyContent() } catch {
      throw error.storeError(of: block.header)
    }
  }

  private func add(_ block: DecodedBlock, to index: SegmentIndex) throws(StoreError) {
    do throws(ContentProblem) { try index.add(block) } catch {
      throw error.storeError(of: block.header)
    }
  }

  /// Runs the committer's work on the active tables, with exclusive access.
  func withActive<Result, Failure: Error>(
    _ body: (SegmentIndex) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try active.withLock { index throws(Failure) in try body(index) }
  }

  /// Closes the active index with its segment and begins the next. A separate thread writes the file, one at a time, so
  /// that nothing piles up. If a saved index covers the beginning of the segment, that thread reads the segment once.
  func roll(to segment: SegmentName, chain: UInt64) {
    let next = segment.firstSequence
    let full = active.withLock { index in
      assert(index.nextSequence == next, "a closed index ends where the next segment begins")
      defer { index = SegmentIndex(of: segment) }
      return index
    }
    let isKept = full.base == nil && full.allocatedBytes <= Self.closedLastBytesMax
    closedLast.withLock { $0 = isKept ? full : nil }
    let part = IndexPart(segment: full.segment, last: next - 1)
    let identity = identity(of: part, chain: chain)
    if let base = full.base {
      closed.withLock { $0[IndexPart(base)] = nil }
    } else {
      closed.withLock { $0[part] = ClosedIndex(full) }
    }
    let hasAll = full.base == nil
    let write: @Sendable () -> Void = { [self] in
      constructing(part) { hasAll ? writeKept(part, identity: identity) : buildForRoll(part, identity) }
    }
    if isInStep { return write() }
    let previous = indexing.withLock { $0 }
    previous?.join()
    let thread = try? machine.start("strata-index") { write() }
    indexing.withLock { $0 = thread }
  }

  /// Tables that take more bytes are not kept once their file is written.
  private static let closedLastBytesMax = 16 << 20

  /// The revision of a stream before the active tables, if the segment before them was closed last and has the stream.
  @inline(__always)
  func revisionClosedLast(
    of stream: UnsafeRawBufferPointer, hash: UInt64, below tables: SegmentIndex
  ) -> UInt64? {
    closedLast.withLock { last in
      guard let last, last.nextSequence == tables.firstSequence else { return nil }
      return last.revision(of: stream, hash: hash)
    }
  }

  /// A failure loses nothing: the next lookup that needs the index reports it.
  private func buildForRoll(_ part: IndexPart, _ identity: IndexIdentity) {
    _ = try? build(part, identity)
  }

  /// Waits for an index file that is being written.
  func finishWriting() { indexing.withLock { $0 }?.join() }

  /// Adds what another writer appended while this one was suspended, up to a mark that `publish` makes visible: before
  /// that call, readers see at least everything up to the old mark; after it, everything up to the new one.
  func resume(at mark: VisibleMark, publish: () -> Void) throws(StoreError) {
    closedLast.withLock { $0 = nil }
    let ahead = LogSource(catalog: source.catalog, tail: VisibleTail(mark))
    try active.withLock { index throws(StoreError) in
      let next = index.segment == mark.segment ? index : SegmentIndex(of: mark.segment)
      var cursor = LogCursor(ahead, after: next.nextSequence - 1)
      while next.nextSequence <= mark.sequence, let block = try cursor.next() {
        try verify(block)
        try add(block, to: next)
      }
      try Self.check(next, endsWith: mark)
      publish()
      index = next
    }
  }
}
