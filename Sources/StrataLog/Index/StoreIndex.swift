// The streams and append ids of the whole log: the active segment's in memory, each closed one's in a file.

package import StrataBase

/// The derived indexes. Everything in them comes from the log, and a closed segment's file counts only while it names
/// the store, the range and the chain of that segment.
///
/// A lookup searches the closed segments from the newest on, until it finds its key. If the index of one is missing, as
/// after `derived/` was deleted, it reads that segment and builds the index, or throws `indexMissing` if its caller
/// does not allow that: a caller that others wait for has the index built elsewhere. Each index is built by one thread
/// at a time, and other threads that need it wait for that.
package final class StoreIndex: Sendable {
  let source: LogSource
  /// Whether this index belongs to a writer, which keeps index files for closed segments; a reader writes nothing.
  let isWriter: Bool
  /// Whether index files are written before the next append, and not by a separate thread.
  private let isInStep: Bool
  /// The index of the active segment. In a writer it is ahead of the visible mark by the group being committed.
  let active: Lock<SegmentIndex>
  private let closed: Lock<ClosedIndexCache>
  private let indexing: Lock<DedicatedThread?>
  /// The segments whose index is being built or written.
  private let underConstruction = Gate<Set<SegmentName>>([])
  /// The thread for tasks whose lookup builds an index. Such lookups of one store wait for each other, but not for
  /// those of other stores.
  package let threads: IOThreads
  private let machine: StoreMachine

  /// - Parameter bytesMax: how many bytes of the indexes of closed segments are kept in memory.
  package init(
    _ source: LogSource, isWriter: Bool, isInStep: Bool = false, bytesMax: Int? = nil,
    on machine: StoreMachine = .process
  ) {
    self.source = source
    self.isWriter = isWriter
    self.isInStep = isInStep
    active = Lock(SegmentIndex(of: source.tail.mark.segment))
    closed = Lock(ClosedIndexCache(bytesMax: bytesMax ?? ClosedIndexCache.bytesMaxDefault))
    indexing = Lock(nil)
    threads = machine.thread("strata-index")
    self.machine = machine
  }

  // MARK: The active segment

  /// Adds to the active index what it lacks of the log, up to the visible mark. A writer calls it once, at open, and
  /// checks the chain of all of it; a reader calls it before every lookup.
  package func catchUp() throws(StoreError) {
    try active.withLock { index throws(StoreError) in
      let mark = source.tail.mark
      if index.segment != mark.segment {
        guard !isWriter else { return }
        index = SegmentIndex(of: mark.segment)
      }
      guard index.nextSequence <= mark.sequence else { return }
      try fill(index)
      assert(index.nextSequence > mark.sequence, "a full index holds every visible event")
    }
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
  /// that nothing piles up.
  func roll(to segment: SegmentName, chain: UInt64) {
    let next = segment.firstSequence
    let full = active.withLock { index -> ClosedIndex in
      assert(index.nextSequence == next, "a closed index ends where the next segment begins")
      defer { index = SegmentIndex(of: segment) }
      return ClosedIndex(
        firstSequence: index.firstSequence, lastSequence: next - 1, content: .memory(index))
    }
    closed.withLock { $0[full.segment] = full }
    let identity = identity(of: full.segment, last: next - 1, chain: chain)
    if isInStep { return write(full, identity: identity) }
    let previous = indexing.withLock { $0 }
    previous?.join()
    let thread = try? machine.start("strata-index") { [self] in
      constructing(full.segment) { write(full, identity: identity) }
    }
    indexing.withLock { $0 = thread }
  }

  private func write(_ index: ClosedIndex, identity: IndexIdentity) {
    guard case .memory(let tables) = index.content else { return }
    assert(
      identity.firstSequence == tables.firstSequence && identity.lastSequence == tables.nextSequence - 1,
      "an index file holds the sequences that it names")
    let path = source.catalog.layout.index(index.segment)
    let fileSystem = source.catalog.fileSystem
    // A failure to write a derived file loses nothing: the tables answer for now, and a later open rebuilds the file.
    guard (try? ClosedIndex.write(tables, identity: identity, fileSystem, path: path)) != nil,
      let file = IndexFile.open(fileSystem, path: path, expecting: identity)
    else { return }
    let written = ClosedIndex(
      firstSequence: index.firstSequence, lastSequence: index.lastSequence, content: .file(file))
    closed.withLock { $0[index.segment] = written }
  }

  /// Waits for an index file that is being written.
  func finishWriting() { indexing.withLock { $0 }?.join() }

  /// Adds what another writer appended while this one was suspended, up to a mark that `publish` makes visible: before
  /// that call, readers see at least everything up to the old mark; after it, everything up to the new one.
  func resume(at mark: VisibleMark, publish: () -> Void) throws(StoreError) {
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

  // MARK: Closed segments

  /// The bytes of the indexes of closed segments that are in memory, and their number.
  package var closedInMemory: (byteCount: Int, count: Int) { closed.withLock { ($0.byteCount, $0.count) } }

  private func identity(of segment: SegmentName, last: UInt64, chain: UInt64) -> IndexIdentity {
    IndexIdentity(
      store: source.catalog.storeID, firstSequence: segment.firstSequence, lastSequence: last, chain: chain)
  }

  /// The identity that the index of a closed segment must have, from the header of the next segment.
  private func identity(of segment: SegmentName) throws(StoreError) -> IndexIdentity {
    guard let after = source.catalog.name(after: segment) else {
      throw .invalid(what: "the active segment has no closed index")
    }
    let next = try source.catalog.segment(after).header
    return identity(of: segment, last: next.previousLast, chain: next.previousChain)
  }

  /// The index of a closed segment: from memory, from its file, or by one pass over the segment.
  ///
  /// - Parameter builds: if false, `indexMissing` is thrown instead of making that pass.
  package func closedIndex(_ segment: SegmentName, builds: Bool = true) throws(StoreError) -> ClosedIndex {
    if let index = closed.withLock({ $0[segment] }) { return index }
    let identity = try identity(of: segment)
    if let index = kept(segment, identity) { return index }
    guard builds else { throw .indexMissing(segment: segment) }
    return try constructing(segment) { () throws(StoreError) in
      // Another thread may have built it while this one waited.
      if let index = closed.withLock({ $0[segment] }) ?? kept(segment, identity) { return index }
      return try build(segment, identity)
    }
  }

  /// The index from its file, or nil if there is no valid file.
  private func kept(_ segment: SegmentName, _ identity: IndexIdentity) -> ClosedIndex? {
    let path = source.catalog.layout.index(segment)
    guard let file = IndexFile.open(source.catalog.fileSystem, path: path, expecting: identity) else {
      return nil
    }
    let index = ClosedIndex(
      firstSequence: identity.firstSequence, lastSequence: identity.lastSequence, content: .file(file))
    closed.withLock { $0[segment] = index }
    return index
  }

  /// Builds an index from the log, and writes it to a file if this is a writer.
  private func build(_ segment: SegmentName, _ identity: IndexIdentity) throws(StoreError) -> ClosedIndex {
    let index = try rebuild(segment, identity: identity)
    closed.withLock { $0[segment] = index }
    if isWriter { write(index, identity: identity) }
    return closed.withLock { $0[segment] } ?? index
  }

  /// Runs the body while no other thread builds or writes the same index.
  private func constructing<Result, Failure: Error>(
    _ segment: SegmentName, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    underConstruction.wait { $0.insert(segment).inserted }
    defer {
      underConstruction.withLock { building in
        let removed = building.remove(segment)
        assert(removed != nil, "only one thread at a time builds an index")
      }
      underConstruction.signalAll()
    }
    return try body()
  }

  private func rebuild(_ segment: SegmentName, identity: IndexIdentity) throws(StoreError) -> ClosedIndex {
    let tables = SegmentIndex(of: segment)
    var cursor = LogCursor(source, after: segment.lastBefore)
    while tables.nextSequence <= identity.lastSequence, let block = try cursor.next() {
      try add(block, to: tables)
    }
    guard cursor.chain == identity.chain, tables.nextSequence == identity.lastSequence + 1 else {
      throw .damaged(
        StoreFinding(
          .stale, file: segment.path, offset: 0, first: segment.firstSequence, last: identity.lastSequence,
          what: "the segment does not end with the chain that the next one names"))
    }
    return ClosedIndex(
      firstSequence: identity.firstSequence, lastSequence: identity.lastSequence, content: .memory(tables))
  }

  /// Calls the body with the index of each closed segment, newest first, until it returns true.
  func searchClosed(
    before active: SegmentName, builds: Bool, _ body: (ClosedIndex) throws(StoreError) -> Bool
  ) throws(StoreError) {
    for segment in source.catalog.names.reversed() where segment < active {
      if try asking(segment, builds: builds, body) { return }
    }
  }

  /// Calls the body with the index of one closed segment, and once more if its file turns out to be damaged.
  func asking<Result>(
    _ segment: SegmentName, builds: Bool, _ body: (ClosedIndex) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    do throws(StoreError) {
      return try body(try closedIndex(segment, builds: builds))
    } catch .damaged(let finding) where finding.class == .index {
      return try body(try replaced(segment, builds: builds))
    }
  }

  /// Drops a damaged index file and builds the index again from the log.
  private func replaced(_ segment: SegmentName, builds: Bool) throws(StoreError) -> ClosedIndex {
    closed.withLock { $0[segment] = nil }
    let identity = try identity(of: segment)
    guard builds else {
      if isWriter { try? source.catalog.fileSystem.remove(source.catalog.layout.index(segment)) }
      throw .indexMissing(segment: segment)
    }
    return try constructing(segment) { () throws(StoreError) in try build(segment, identity) }
  }

  /// The segments before the active one, newest first, and those of the given streams that the active one does not
  /// contain.
  func closedAndUnknown(of streams: Set<[UInt8]>) -> (closed: [SegmentName], unknown: Set<[UInt8]>) {
    active.withLock { index in
      let unknown = streams.filter { stream in
        stream.withUnsafeBytes { index.revision(of: $0, hash: XXH64.of($0)) } == nil
      }
      return (source.catalog.names.filter { $0 < index.segment }.reversed(), unknown)
    }
  }
}
