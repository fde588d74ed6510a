// Streams and append ids of the whole log: the active segment's in memory, each closed one's in a file.

package import StrataBase

/// The derived indexes. Everything in them comes from the log, and a closed segment's file counts only while
/// the store, the range and the chain that it names are those of the segment.
///
/// A look-up goes through the closed segments from the newest on, until it finds what it looks for. Where it comes to
/// one whose index is not there, as after `derived/` was deleted, it reads that segment and builds the index, or throws
/// `indexMissing` where its caller does not let it: a caller whom others wait for has the index built elsewhere. Each
/// is built by one thread at a time, and others who need it wait for that.
package final class StoreIndex: Sendable {
  let source: LogSource
  /// A writer keeps index files for closed segments; a reader writes nothing.
  let isWriter: Bool
  /// Index files are written before the next append, and not by a thread of their own.
  private let isInStep: Bool
  /// The segment that grows. In a writer the committer is ahead of the visible mark by the group at hand.
  let active: Lock<SegmentIndex>
  private let closed: Lock<ClosedIndexCache>
  private let indexing: Lock<DedicatedThread?>
  /// Segments whose index is built or written just now.
  private let underConstruction = Gate<Set<UInt64>>([])
  /// For tasks whose look-up builds an index. Such look-ups of one store wait for each other, and no other store does.
  package let threads: IOThreads
  private let machine: StoreMachine

  /// - Parameter bytesMax: of the indexes of closed segments, how much is kept in memory.
  package init(
    _ source: LogSource, isWriter: Bool, isInStep: Bool = false, bytesMax: Int? = nil,
    on machine: StoreMachine = .process
  ) {
    self.source = source
    self.isWriter = isWriter
    self.isInStep = isInStep
    active = Lock(SegmentIndex(firstSequence: source.tail.mark.segment))
    closed = Lock(ClosedIndexCache(bytesMax: bytesMax ?? ClosedIndexCache.bytesMaxDefault))
    indexing = Lock(nil)
    threads = machine.thread("strata-index")
    self.machine = machine
  }

  // MARK: The active segment

  /// Takes in what the log has and the active index misses, up to the visible mark. A writer calls it once,
  /// at open, and checks the chain of all of it; a reader calls it before every look-up.
  package func catchUp() throws(StoreError) {
    try active.withLock { index throws(StoreError) in
      let mark = source.tail.mark
      if index.firstSequence != mark.segment {
        guard !isWriter else { return }
        index = SegmentIndex(firstSequence: mark.segment)
      }
      guard index.nextSequence <= mark.sequence else { return }
      try fill(index)
      assert(index.nextSequence > mark.sequence, "a full index holds all that is visible")
    }
  }

  /// Throws where the active index does not end with a mark: somebody changed the segment between two looks at it.
  func checkEnds(with mark: VisibleMark) throws(StoreError) {
    try active.withLock { index throws(StoreError) in try Self.check(index, endsWith: mark) }
  }

  private static func check(_ index: SegmentIndex, endsWith mark: VisibleMark) throws(StoreError) {
    guard index.nextSequence != mark.sequence + 1 else { return }
    let (first, last) = (
      min(index.nextSequence - 1, mark.sequence), max(index.nextSequence - 1, mark.sequence)
    )
    throw .damaged(
      Finding(
        .stale, file: StoreLayout.segmentName(mark.segment), offset: mark.visible.offset, first: first + 1,
        last: last, what: "the segment is not the one that was looked at a moment before"))
  }

  private func fill(_ index: SegmentIndex) throws(StoreError) {
    var cursor = LogCursor(source, after: index.nextSequence - 1)
    while index.nextSequence <= source.tail.mark.sequence, let block = try cursor.next() {
      if isWriter { try verify(block) }
      try add(block, to: index)
    }
  }

  /// Compares what a block of the active segment holds with its header, the chain above all: a writer goes on from the
  /// last block's, and its word would make good what no writer wrote.
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

  /// The committer's work on the active tables, alone for its duration.
  func withActive<Result, Failure: Error>(
    _ body: (SegmentIndex) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try active.withLock { index throws(Failure) in try body(index) }
  }

  /// Closes the active index with its segment and begins the next. The file is written by a thread of its
  /// own; one at a time, so that nothing piles up.
  func roll(to next: UInt64, chain: UInt64) {
    let full = active.withLock { index -> ClosedIndex in
      assert(index.nextSequence == next, "an index is closed where the next segment begins")
      defer { index = SegmentIndex(firstSequence: next) }
      return ClosedIndex(
        firstSequence: index.firstSequence, lastSequence: next - 1, content: .memory(index))
    }
    closed.withLock { $0[full.firstSequence] = full }
    let identity = identity(of: full.firstSequence, last: next - 1, chain: chain)
    if isInStep { return write(full, identity: identity) }
    let previous = indexing.withLock { $0 }
    previous?.join()
    let thread = try? machine.start("strata-index") { [self] in
      constructing(full.firstSequence) { write(full, identity: identity) }
    }
    indexing.withLock { $0 = thread }
  }

  private func write(_ index: ClosedIndex, identity: IndexIdentity) {
    guard case .memory(let tables) = index.content else { return }
    assert(
      identity.firstSequence == tables.firstSequence && identity.lastSequence == tables.nextSequence - 1,
      "an index file holds the sequences that it names")
    let path = source.catalog.layout.index(index.firstSequence)
    let fileSystem = source.catalog.fileSystem
    // A derived file that cannot be written is no loss: the tables answer now, and a later open rebuilds it.
    guard (try? ClosedIndex.write(tables, identity: identity, fileSystem, path: path)) != nil,
      let file = IndexFile.open(fileSystem, path: path, expecting: identity)
    else { return }
    let written = ClosedIndex(
      firstSequence: index.firstSequence, lastSequence: index.lastSequence, content: .file(file))
    closed.withLock { $0[index.firstSequence] = written }
  }

  /// Waits for an index file that is being written.
  func finishWriting() { indexing.withLock { $0 }?.join() }

  /// Takes in what another writer appended while this one was suspended, up to a mark that is published in between:
  /// before it, this index holds no less than the old mark; behind it, all of the new one.
  func resume(at mark: VisibleMark, publish: () -> Void) throws(StoreError) {
    let ahead = LogSource(catalog: source.catalog, tail: VisibleTail(mark))
    try active.withLock { index throws(StoreError) in
      let next = index.firstSequence == mark.segment ? index : SegmentIndex(firstSequence: mark.segment)
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

  /// Bytes of the indexes of closed segments that are in memory, and of how many.
  package var closedInMemory: (byteCount: Int, count: Int) { closed.withLock { ($0.byteCount, $0.count) } }

  private func identity(of first: UInt64, last: UInt64, chain: UInt64) -> IndexIdentity {
    IndexIdentity(
      store: source.catalog.storeID, firstSequence: first, lastSequence: last, chain: chain)
  }

  /// What the index of a closed segment must be of: the next segment says it.
  private func identity(of first: UInt64) throws(StoreError) -> IndexIdentity {
    guard let behind = source.catalog.first(behind: first) else {
      throw .invalid(what: "the active segment has no closed index")
    }
    let next = try source.catalog.segment(first: behind).header
    return identity(of: first, last: next.previousLast, chain: next.previousChain)
  }

  /// The index of a closed segment: from memory, from its file, or by one pass over the segment.
  ///
  /// - Parameter builds: where it is false, `indexMissing` is thrown instead of making that pass.
  package func closedIndex(_ first: UInt64, builds: Bool = true) throws(StoreError) -> ClosedIndex {
    if let index = closed.withLock({ $0[first] }) { return index }
    let identity = try identity(of: first)
    if let index = kept(first, identity) { return index }
    guard builds else { throw .indexMissing(segment: first) }
    return try constructing(first) { () throws(StoreError) in
      // Another thread may have built it while this one waited.
      if let index = closed.withLock({ $0[first] }) ?? kept(first, identity) { return index }
      return try build(first, identity)
    }
  }

  /// The index that is kept in a file.
  private func kept(_ first: UInt64, _ identity: IndexIdentity) -> ClosedIndex? {
    let path = source.catalog.layout.index(first)
    guard let file = IndexFile.open(source.catalog.fileSystem, path: path, expecting: identity) else {
      return nil
    }
    let index = ClosedIndex(
      firstSequence: first, lastSequence: identity.lastSequence, content: .file(file))
    closed.withLock { $0[first] = index }
    return index
  }

  /// Builds an index from the log, and keeps it in a file where this is a writer's.
  private func build(_ first: UInt64, _ identity: IndexIdentity) throws(StoreError) -> ClosedIndex {
    let index = try rebuild(first, identity: identity)
    closed.withLock { $0[first] = index }
    if isWriter { write(index, identity: identity) }
    return closed.withLock { $0[first] } ?? index
  }

  /// Runs the body while no other thread builds or writes the same index.
  private func constructing<Result, Failure: Error>(
    _ first: UInt64, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    underConstruction.wait { $0.insert(first).inserted }
    defer {
      underConstruction.withLock { building in
        let removed = building.remove(first)
        assert(removed != nil, "one thread at a time builds an index")
      }
      underConstruction.signalAll()
    }
    return try body()
  }

  private func rebuild(_ first: UInt64, identity: IndexIdentity) throws(StoreError) -> ClosedIndex {
    let tables = SegmentIndex(firstSequence: first)
    var cursor = LogCursor(source, after: first - 1)
    while tables.nextSequence <= identity.lastSequence, let block = try cursor.next() {
      try add(block, to: tables)
    }
    guard cursor.chain == identity.chain, tables.nextSequence == identity.lastSequence + 1 else {
      throw .damaged(
        Finding(
          .stale, file: StoreLayout.segmentName(first), offset: 0, first: first, last: identity.lastSequence,
          what: "the segment does not end with the chain that the next one names"))
    }
    return ClosedIndex(firstSequence: first, lastSequence: identity.lastSequence, content: .memory(tables))
  }

  /// Calls the body with the index of each closed segment, newest first, until it returns true.
  func searchClosed(
    before active: UInt64, builds: Bool, _ body: (ClosedIndex) throws(StoreError) -> Bool
  ) throws(StoreError) {
    for first in source.catalog.names.reversed() where first < active {
      if try asking(first, builds: builds, body) { return }
    }
  }

  /// Calls the body with the index of one closed segment; once more where its file turns out to be damaged.
  func asking<Result>(
    _ first: UInt64, builds: Bool, _ body: (ClosedIndex) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    do throws(StoreError) {
      return try body(try closedIndex(first, builds: builds))
    } catch .damaged(let finding) where finding.class == .index {
      return try body(try replaced(first, builds: builds))
    }
  }

  /// A damaged index file is dropped and built again from the log.
  private func replaced(_ first: UInt64, builds: Bool) throws(StoreError) -> ClosedIndex {
    closed.withLock { $0[first] = nil }
    let identity = try identity(of: first)
    guard builds else {
      if isWriter { try? source.catalog.fileSystem.remove(source.catalog.layout.index(first)) }
      throw .indexMissing(segment: first)
    }
    return try constructing(first) { () throws(StoreError) in try build(first, identity) }
  }

  /// The segments before the active one, newest first, and which of some streams the active one does not hold.
  func closedAndUnknown(of streams: Set<[UInt8]>) -> (closed: [UInt64], unknown: Set<[UInt8]>) {
    active.withLock { index in
      let unknown = streams.filter { stream in
        stream.withUnsafeBytes { index.revision(of: $0, hash: XXH64.of($0)) } == nil
      }
      return (source.catalog.names.filter { $0 < index.firstSequence }.reversed(), unknown)
    }
  }
}
