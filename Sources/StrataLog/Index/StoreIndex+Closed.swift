// The indexes of closed segments, and of what a saved index covers of the active one: from memory, a file, or the log.

internal import StrataBase

/// What one index covers: a closed segment, or the beginning of the active one.
package struct IndexPart: Hashable, Comparable, Sendable {
  package let segment: SegmentName
  /// The last sequence.
  package let last: UInt64
  /// What the index is of, for a part of the active segment; the index of a closed one is what the next segment's header
  /// names.
  let base: IndexIdentity?

  init(segment: SegmentName, last: UInt64) {
    assert(last >= segment.firstSequence, "a part holds events")
    self.segment = segment
    self.last = last
    base = nil
  }

  init(_ base: IndexIdentity) {
    segment = SegmentName(base.firstSequence)
    last = base.lastSequence
    self.base = base
  }

  /// Whether both name the same events.
  package static func == (a: IndexPart, b: IndexPart) -> Bool { a.segment == b.segment && a.last == b.last }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(segment)
    hasher.combine(last)
  }

  package static func < (a: IndexPart, b: IndexPart) -> Bool { a.last < b.last }
}

extension StoreIndex {
  /// The bytes of the indexes of closed segments that are in memory, and their number.
  package var closedInMemory: (byteCount: Int, count: Int) { closed.withLock { ($0.byteCount, $0.count) } }

  func identity(of part: IndexPart, chain: UInt64) -> IndexIdentity {
    IndexIdentity(
      store: source.catalog.storeID, firstSequence: part.segment.firstSequence, lastSequence: part.last,
      chain: chain)
  }

  /// The identity that the index of a part must have: for a closed segment from the header of the next one.
  private func identity(of part: IndexPart) throws(StoreError) -> IndexIdentity {
    if let base = part.base { return base }
    guard let after = source.catalog.name(after: part.segment) else {
      throw .invalid(what: "the active segment has no closed index")
    }
    let next = try source.catalog.segment(after).header
    guard next.previousLast == part.last else {
      throw .damaged(
        StoreFinding(
          .stale, file: next.segment.path, offset: 0, first: next.firstSequence, last: part.last,
          what: "the header names another end of the segment before"))
    }
    return identity(of: part, chain: next.previousChain)
  }

  /// The index of a closed segment.
  package func closedIndex(_ segment: SegmentName, builds: Bool = true) throws(StoreError) -> ClosedIndex {
    guard let after = source.catalog.name(after: segment) else {
      throw .invalid(what: "the active segment has no closed index")
    }
    return try closedIndex(IndexPart(segment: segment, last: after.lastBefore), builds: builds)
  }

  /// The index of a part: from memory, from its file, or by one pass over the segment.
  ///
  /// - Parameter builds: if false, `indexMissing` is thrown instead of making that pass.
  func closedIndex(_ part: IndexPart, builds: Bool = true) throws(StoreError) -> ClosedIndex {
    if let index = closed.withLock({ $0[part] }) { return index }
    let identity = try identity(of: part)
    if let index = kept(part, identity) { return index }
    guard builds else { throw .indexMissing(segment: part.segment) }
    return try constructing(part) { () throws(StoreError) in
      // Another thread may have built it while this one waited.
      if let index = closed.withLock({ $0[part] }) ?? kept(part, identity) { return index }
      return try build(part, identity)
    }
  }

  /// The index from its file, or nil if there is no valid file.
  private func kept(_ part: IndexPart, _ identity: IndexIdentity) -> ClosedIndex? {
    let path = source.catalog.layout.index(part.segment)
    guard let file = IndexFile.open(source.catalog.fileSystem, path: path, expecting: identity) else {
      return nil
    }
    let index = ClosedIndex(file: file)
    closed.withLock { $0[part] = index }
    return index
  }

  /// Builds an index from the log, and writes it to a file if this is a writer. What a saved index covers is no segment,
  /// and another index may have the name of its file by now.
  func build(_ part: IndexPart, _ identity: IndexIdentity) throws(StoreError) -> ClosedIndex {
    let index = ClosedIndex(try tables(of: identity))
    closed.withLock { $0[part] = index }
    if isWriter, part.base == nil { writeKept(part, identity: identity) }
    return closed.withLock { $0[part] } ?? index
  }

  /// Writes the tables that are kept for a part to its file, which then takes their place.
  func writeKept(_ part: IndexPart, identity: IndexIdentity) {
    guard case .memory(let tables) = closed.withLock({ $0[part] })?.content else { return }
    assert(
      identity.firstSequence == tables.firstSequence && identity.lastSequence == tables.nextSequence - 1,
      "an index file holds the sequences that it names")
    // A failure to write a derived file loses nothing: the tables answer for now, and a later open rebuilds the file.
    guard let written = written(tables, identity: identity) else { return }
    closed.withLock { $0[part] = written }
  }

  /// Writes tables to the file of their segment, and opens it. Nil if either fails.
  func written(_ tables: SegmentIndex, identity: IndexIdentity, syncs: Bool = true) -> ClosedIndex? {
    let path = source.catalog.layout.index(tables.segment)
    let fileSystem = source.catalog.fileSystem
    let result = Result { () throws(StoreError) in
      try ClosedIndex.write(tables, identity: identity, fileSystem, path: path, syncs: syncs)
    }
    guard case .success = result else { return nil }
    return IndexFile.open(fileSystem, path: path, expecting: identity).map { ClosedIndex(file: $0) }
  }

  /// Runs the body while no other thread builds or writes the same index.
  func constructing<Result, Failure: Error>(
    _ part: IndexPart, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    underConstruction.wait { $0.insert(part).inserted }
    defer {
      underConstruction.withLock { building in
        let removed = building.remove(part)
        assert(removed != nil, "only one thread at a time builds an index")
      }
      underConstruction.signalAll()
    }
    return try body()
  }

  /// The tables of what an identity names, by one pass over the log.
  func tables(of identity: IndexIdentity) throws(StoreError) -> SegmentIndex {
    let segment = SegmentName(identity.firstSequence)
    let tables = SegmentIndex(of: segment)
    var cursor = LogCursor(source, after: segment.lastBefore)
    var chain: UInt64?
    while tables.nextSequence <= identity.lastSequence, let block = try cursor.next() {
      do throws(ContentProblem) {
        try tables.add(block, through: identity.lastSequence)
        // Another file of the segment may have a block in which the range ends.
        if tables.nextSequence > identity.lastSequence {
          chain = try block.chain(after: identity.lastSequence)
        }
      } catch {
        throw error.storeError(of: block.header)
      }
    }
    guard chain == identity.chain, tables.nextSequence == identity.lastSequence + 1 else {
      throw .damaged(
        StoreFinding(
          .stale, file: segment.path, offset: 0, first: segment.firstSequence, last: identity.lastSequence,
          what: "the segment does not end with the chain that the next one names"))
    }
    return tables
  }

  // MARK: One after another

  /// What is before the active tables, newest first: what a saved index covers of their segment, and the closed
  /// segments.
  func parts(below tables: SegmentIndex) -> [IndexPart] {
    var parts: [IndexPart] = []
    if let base = tables.base { parts.append(IndexPart(base)) }
    var after = tables.segment
    for segment in source.catalog.names.reversed() where segment < tables.segment {
      parts.append(IndexPart(segment: segment, last: after.lastBefore))
      after = segment
    }
    assert(zip(parts, parts.dropFirst()).allSatisfy { $0 > $1 }, "the newest part is searched first")
    return parts
  }

  /// Calls the body with the index of each part before the active tables that ends after a sequence, newest first, until
  /// it returns true.
  func searchClosed(
    below tables: SegmentIndex, after sequence: UInt64 = 0, builds: Bool,
    _ body: (ClosedIndex) throws(StoreError) -> Bool
  ) throws(StoreError) {
    for part in parts(below: tables) where part.last > sequence {
      if try asking(part, builds: builds, body) { return }
    }
  }

  /// Calls the body with the index of one part, and once more if its file turns out to be damaged.
  func asking<Result>(
    _ part: IndexPart, builds: Bool, _ body: (ClosedIndex) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    do throws(StoreError) {
      return try body(try closedIndex(part, builds: builds))
    } catch .damaged(let finding) where finding.class == .index {
      return try body(try replaced(part, builds: builds))
    }
  }

  /// Drops a damaged index file and builds the index again from the log.
  private func replaced(_ part: IndexPart, builds: Bool) throws(StoreError) -> ClosedIndex {
    closed.withLock { $0[part] = nil }
    let identity = try identity(of: part)
    guard builds else {
      // What a saved index covers may have another index's file by now.
      if isWriter, part.base == nil {
        try? source.catalog.fileSystem.remove(source.catalog.layout.index(part.segment))
      }
      throw .indexMissing(segment: part.segment)
    }
    return try constructing(part) { () throws(StoreError) in try build(part, identity) }
  }

  /// The parts before the active tables, newest first, and those of the given streams that the tables do not contain.
  func closedAndUnknown(of streams: Set<[UInt8]>) -> (closed: [IndexPart], unknown: Set<[UInt8]>) {
    active.withLock { index in
      let unknown = streams.filter { stream in
        stream.withUnsafeBytes { index.revision(of: $0, hash: XXH64.of($0)) } == nil
      }
      return (parts(below: index), unknown)
    }
  }
}
