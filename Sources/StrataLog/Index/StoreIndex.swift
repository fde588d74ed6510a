// Streams and append ids of the whole log: the active segment's in memory, each closed one's in a file.

/// The derived indexes. Everything in them comes from the log, and a closed segment's file counts only while
/// the store, the range and the chain that it names are those of the segment.
package final class StoreIndex: Sendable {
  private let source: LogSource
  /// A writer keeps index files for closed segments; a reader writes nothing.
  private let isWriter: Bool
  /// Index files are written before the next append, and not by a thread of their own.
  private let isInStep: Bool
  /// The segment that grows. In a writer the committer is ahead of the visible mark by the group at hand.
  private let active: Lock<SegmentIndex>
  private let closed: Lock<ClosedIndexCache>
  private let indexing: Lock<DedicatedThread?>

  /// - Parameter bytesMax: of the indexes of closed segments, how much is kept in memory.
  package init(_ source: LogSource, isWriter: Bool, isInStep: Bool = false, bytesMax: Int? = nil) {
    self.source = source
    self.isWriter = isWriter
    self.isInStep = isInStep
    active = Lock(SegmentIndex(firstSequence: source.tail.mark.segment))
    closed = Lock(ClosedIndexCache(bytesMax: bytesMax ?? ClosedIndexCache.bytesMaxDefault))
    indexing = Lock(nil)
  }

  // MARK: The active segment

  /// Takes in what the log has and the active index misses, up to the visible mark. A writer calls it once,
  /// at open; a reader before every look-up.
  package func catchUp() throws(LogError) {
    let mark = source.tail.mark
    try active.withLock { index throws(LogError) in
      if index.firstSequence != mark.segment {
        guard !isWriter else { return }
        index = SegmentIndex(firstSequence: mark.segment)
      }
      guard index.nextSequence <= mark.sequence else { return }
      try fill(index)
    }
  }

  private func fill(_ index: SegmentIndex) throws(LogError) {
    var cursor = LogCursor(source, after: index.nextSequence - 1)
    while index.nextSequence <= source.tail.mark.sequence, let block = try cursor.next() {
      try add(block, to: index)
    }
  }

  private func add(_ block: DecodedBlock, to index: SegmentIndex) throws(LogError) {
    do throws(ContentProblem) { try index.add(block) } catch {
      throw error.logError(
        in: StoreLayout.segmentName(block.header.segment), at: block.header.ownOffset,
        first: block.header.firstSequence, last: block.header.nextSequence - 1)
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
      defer { index = SegmentIndex(firstSequence: next) }
      return ClosedIndex(
        firstSequence: index.firstSequence, lastSequence: next - 1, content: .memory(index))
    }
    closed.withLock { $0[full.firstSequence] = full }
    let identity = identity(of: full.firstSequence, last: next - 1, chain: chain)
    if isInStep { return write(full, identity: identity) }
    let previous = indexing.withLock { $0 }
    previous?.join()
    let thread = try? DedicatedThread(name: "strata-index") { [self] in write(full, identity: identity) }
    indexing.withLock { $0 = thread }
  }

  private func write(_ index: ClosedIndex, identity: IndexIdentity) {
    guard case .memory(let tables) = index.content else { return }
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
  func resume(at mark: VisibleMark, publish: () -> Void) throws(LogError) {
    let ahead = LogSource(catalog: source.catalog, tail: VisibleTail(mark))
    try active.withLock { index throws(LogError) in
      let next = index.firstSequence == mark.segment ? index : SegmentIndex(firstSequence: mark.segment)
      var cursor = LogCursor(ahead, after: next.nextSequence - 1)
      while next.nextSequence <= mark.sequence, let block = try cursor.next() { try add(block, to: next) }
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

  /// The index of a closed segment: from memory, from its file, or by one pass over the segment.
  package func closedIndex(_ first: UInt64) throws(LogError) -> ClosedIndex {
    if let index = closed.withLock({ $0[first] }) { return index }
    guard let behind = source.catalog.first(behind: first) else {
      throw .invalid(what: "the active segment has no closed index")
    }
    let next = try source.catalog.segment(first: behind).header
    let identity = identity(of: first, last: next.previousLast, chain: next.previousChain)
    let path = source.catalog.layout.index(first)
    var index: ClosedIndex
    if let file = IndexFile.open(source.catalog.fileSystem, path: path, expecting: identity) {
      index = ClosedIndex(firstSequence: first, lastSequence: identity.lastSequence, content: .file(file))
    } else {
      index = try rebuild(first, identity: identity)
      if isWriter { write(index, identity: identity) }
      index = closed.withLock { $0[first] } ?? index
    }
    closed.withLock { $0[first] = index }
    return index
  }

  private func rebuild(_ first: UInt64, identity: IndexIdentity) throws(LogError) -> ClosedIndex {
    let tables = SegmentIndex(firstSequence: first)
    var cursor = LogCursor(source, after: first - 1)
    while tables.nextSequence <= identity.lastSequence, let block = try cursor.next() {
      try add(block, to: tables)
    }
    guard cursor.chain == identity.chain, tables.nextSequence == identity.lastSequence + 1 else {
      throw .corrupt(
        Finding(
          .stale, file: StoreLayout.segmentName(first), offset: 0, first: first, last: identity.lastSequence,
          what: "the segment does not end with the chain that the next one names"))
    }
    return ClosedIndex(firstSequence: first, lastSequence: identity.lastSequence, content: .memory(tables))
  }

  /// Calls the body with the index of each closed segment, newest first, until it returns true.
  private func searchClosed(
    before active: UInt64, _ body: (ClosedIndex) throws(LogError) -> Bool
  ) throws(LogError) {
    for first in source.catalog.names.reversed() where first < active {
      if try asking(first, body) { return }
    }
  }

  /// Calls the body with the index of one closed segment; once more where its file turns out to be damaged.
  private func asking<Result>(
    _ first: UInt64, _ body: (ClosedIndex) throws(LogError) -> Result
  ) throws(LogError) -> Result {
    do throws(LogError) {
      return try body(try closedIndex(first))
    } catch .corrupt(let finding) where finding.class == .index {
      return try body(try replaced(first))
    }
  }

  /// A damaged index file is dropped and built again from the log.
  private func replaced(_ first: UInt64) throws(LogError) -> ClosedIndex {
    closed.withLock { $0[first] = nil }
    let next = try source.catalog.segment(first: source.catalog.first(behind: first) ?? first).header
    let identity = identity(of: first, last: next.previousLast, chain: next.previousChain)
    let index = try rebuild(first, identity: identity)
    closed.withLock { $0[first] = index }
    if isWriter { write(index, identity: identity) }
    return index
  }

  // MARK: Look-ups

  /// The revision of a stream before a segment: how many events it holds in the closed ones.
  func closedRevision(
    of stream: UnsafeRawBufferPointer, before active: UInt64
  ) throws(LogError) -> UInt64 {
    var revision: UInt64 = 0
    try searchClosed(before: active) { index throws(LogError) in
      guard let extent = try index.extent(of: stream) else { return false }
      revision = extent.revision
      return true
    }
    return revision
  }

  /// The first sequence of the append with an id in the closed segments, or nil.
  func closedFirst(ofID id: UnsafeRawBufferPointer, before active: UInt64) throws(LogError) -> UInt64? {
    var first: UInt64?
    try searchClosed(before: active) { index throws(LogError) in
      first = try index.first(ofID: id)
      return first != nil
    }
    return first
  }

  /// The parts of a stream that hold revisions behind `revision`, oldest first, up to the visible mark: for
  /// each segment that has any, the revision before it and the sequences in it. What is behind the first
  /// `limit` of such revisions is left out, except where it is in one segment with some of these.
  package func parts(
    of stream: [UInt8], after revision: UInt64, limit: Int = .max
  ) throws(LogError) -> [StreamPlaces] {
    if !isWriter { try catchUp() }
    let visible = source.tail.mark.sequence
    return try stream.lendBytes { (name) throws(LogError) in
      let (index, newest) = active.withLock { ($0, $0.extent(of: name, through: visible)) }
      // How much each segment holds, down to the one that holds the first revision wanted.
      var found: [(first: UInt64, extent: StreamExtent)] = []
      if let newest { found.append((index.firstSequence, newest)) }
      if newest.map({ $0.base > revision }) ?? true {
        try searchClosed(before: index.firstSequence) { closed throws(LogError) in
          guard let extent = try closed.extent(of: name) else { return false }
          found.append((closed.firstSequence, extent))
          return extent.base <= revision
        }
      }
      var parts: [StreamPlaces] = []
      var left = UInt64(max(0, limit))
      for (first, extent) in found.reversed() where left > 0 && extent.revision > revision {
        // Alone with the index that was asked before: if its segment was closed since, it has not changed.
        let part =
          first == index.firstSequence
          ? active.withLock { _ in index.places(of: name, through: visible) }
          : try asking(first) { closed throws(LogError) in try closed.places(of: name) }
        guard let part else { continue }
        parts.append(part)
        left -= min(left, part.revision - min(part.revision, max(part.base, revision)))
      }
      return parts
    }
  }

  /// How many visible events a stream holds. O(segments behind its last event), whatever it holds.
  package func revision(of stream: [UInt8]) throws(LogError) -> UInt64 {
    if !isWriter { try catchUp() }
    let visible = source.tail.mark.sequence
    return try stream.lendBytes { (name) throws(LogError) in
      let (activeFirst, newest) = active.withLock {
        ($0.firstSequence, $0.extent(of: name, through: visible))
      }
      if let newest { return newest.revision }
      return try closedRevision(of: name, before: activeFirst)
    }
  }

  /// The first sequence of the visible append with an id, or nil.
  package func first(ofID id: [UInt8]) throws(LogError) -> UInt64? {
    if !isWriter { try catchUp() }
    let visible = source.tail.mark.sequence
    return try id.lendBytes { bytes throws(LogError) in
      let (activeFirst, first) = active.withLock { ($0.firstSequence, $0.first(ofID: bytes)) }
      if let first { return first <= visible ? first : nil }
      return try closedFirst(ofID: bytes, before: activeFirst)
    }
  }

  /// The append ids that begin with `prefix`, at most `limit` of them, in no order.
  package func ids(prefix: [UInt8], limit: Int) throws(LogError) -> [[UInt8]] {
    var found: [[UInt8]] = []
    try forEachID(prefix: prefix) { id in
      guard found.count < limit else { return false }
      found.append(Array(id))
      return found.count < limit
    }
    return found
  }

  /// Calls the body once with every append id that begins with `prefix`, in no order, until it returns false.
  /// The body asks this index nothing. O(n log n) in the ids of the active segment, whatever the prefix; holds
  /// the matching ids of one closed segment at a time.
  package func forEachID(prefix: [UInt8], _ body: (UnsafeRawBufferPointer) -> Bool) throws(LogError) {
    if !isWriter { try catchUp() }
    var goesOn = true
    let activeFirst = active.withLock { index -> UInt64 in
      index.forEachID { id, _ in
        if goesOn, id.starts(with: prefix) { goesOn = body(id) }
      }
      return index.firstSequence
    }
    guard goesOn else { return }
    try searchClosed(before: activeFirst) { index throws(LogError) in
      // Gathered first, because a damaged file is read again from its beginning.
      var found: [[UInt8]] = []
      try index.forEachID(prefix: prefix) { found.append(Array($0)) }
      return !found.allSatisfy { id in id.withUnsafeBytes { body($0) } }
    }
  }
}
