// Lookups by stream and by append id, in the active segment and in the closed ones.

internal import StrataBase

extension StoreIndex {
  /// The revision of a stream before the active tables: how many events it has in what is before them.
  func closedRevision(
    of stream: UnsafeRawBufferPointer, below tables: SegmentIndex, builds: Bool
  ) throws(StoreError) -> UInt64 {
    var revision: UInt64 = 0
    try searchClosed(below: tables, builds: builds) { index throws(StoreError) in
      guard let extent = try index.extent(of: stream) else { return false }
      revision = extent.revision
      return true
    }
    return revision
  }

  /// The first sequence of the append with an id in what one index covers, or nil. A fingerprint proves nothing: the
  /// append in the log has exactly this id.
  func first(ofID id: UnsafeRawBufferPointer, in index: ClosedIndex) throws(StoreError) -> UInt64? {
    let candidates = try index.candidates(forID: id)
    // Tables in memory hold whole ids.
    guard case .file = index.content else { return candidates.first }
    for first in candidates {
      let known = confirming.withLock { $0 }
      let isInKnown =
        known.map { $0.header.firstSequence <= first && first < $0.header.nextSequence } ?? false
      guard let block = isInKnown ? known : try source.block(holding: first) else { continue }
      confirming.withLock { $0 = block }
      do throws(ContentProblem) {
        let found = try block.id(ofAppendAt: first)
        defer { withExtendedLifetime(block) {} }
        if let found, found.hasSameBytes(as: id) { return first }
      } catch {
        throw error.storeError(of: block.header)
      }
    }
    return nil
  }

  /// The parts of a stream that hold revisions after `revision`, oldest first, up to the visible mark: for each segment
  /// that has any, the revision before it and the sequences in it. Of the active segment there may be two. Only the first `limit` such revisions are included,
  /// plus any others in the same segment as one of these.
  package func parts(
    of stream: [UInt8], after revision: UInt64, limit: Int = .max, builds: Bool = true
  ) throws(StoreError) -> [StreamPositions] {
    let visible = try markCaughtUp().sequence
    return try stream.lendBytes { (name) throws(StoreError) in
      let (index, newest) = active.withLock { ($0, $0.extent(of: name, through: visible)) }
      // How many events each segment holds, back to the one with the first revision wanted.
      var found: [(part: IndexPart?, extent: StreamExtent)] = []
      if let newest { found.append((nil, newest)) }
      if newest.map({ $0.base > revision }) ?? true {
        try searchClosed(below: index, builds: builds) { closed throws(StoreError) in
          guard let extent = try closed.extent(of: name) else { return false }
          found.append((closed.part, extent))
          return extent.base <= revision
        }
      }
      var parts: [StreamPositions] = []
      var left = UInt64(max(0, limit))
      for (part, extent) in found.reversed() where left > 0 && extent.revision > revision {
        // Under the lock, but in the index that was searched above: if its segment was closed since, that index has not
        // changed.
        let places =
          if let part {
            try asking(part, builds: builds) { closed throws(StoreError) in try closed.places(of: name) }
          } else { active.withLock { _ in index.places(of: name, through: visible) } }
        guard let places else { continue }
        parts.append(places)
        left -= min(left, places.revision - min(places.revision, max(places.base, revision)))
      }
      assert(
        zip(parts, parts.dropFirst()).allSatisfy { $0.sequences.last ?? 0 < $1.sequences.first ?? .max },
        "the parts of a stream are ordered by segment")
      return parts
    }
  }

  /// How many visible events a stream holds. O(segments after the one with its last event), whatever the stream's
  /// length.
  package func revision(of stream: [UInt8], builds: Bool = true) throws(StoreError) -> UInt64 {
    let visible = try markCaughtUp().sequence
    return try stream.lendBytes { (name) throws(StoreError) in
      let (tables, newest) = active.withLock { ($0, $0.extent(of: name, through: visible)) }
      if let newest { return newest.revision }
      return try closedRevision(of: name, below: tables, builds: builds)
    }
  }

  /// Whether a stream has visible events after a sequence. Asks no index of events that are all before it.
  package func hasEvents(
    of stream: [UInt8], after sequence: UInt64, builds: Bool = true
  ) throws(StoreError) -> Bool {
    try last(of: stream, after: sequence, builds: builds) != nil
  }

  /// The last visible event of a stream, if it is after a sequence. Asks no index of events that are all before that.
  package func last(
    of stream: [UInt8], after sequence: UInt64, builds: Bool = true
  ) throws(StoreError) -> UInt64? {
    let visible = try markCaughtUp().sequence
    return try stream.lendBytes { (name) throws(StoreError) in
      let (tables, newest) = active.withLock { ($0, $0.places(of: name, through: visible)) }
      var last = newest?.sequences.last
      if last == nil {
        try searchClosed(below: tables, after: sequence, builds: builds) { index throws(StoreError) in
          last = try index.places(of: name)?.sequences.last
          return last != nil
        }
      }
      return last.flatMap { $0 > sequence ? $0 : nil }
    }
  }

  /// The first sequence of the visible append with an id, or nil.
  package func first(ofID id: [UInt8], builds: Bool = true) throws(StoreError) -> UInt64? {
    let visible = try markCaughtUp().sequence
    return try id.lendBytes { bytes throws(StoreError) in
      let (tables, first) = active.withLock { ($0, $0.first(ofID: bytes)) }
      if let first { return first <= visible ? first : nil }
      var found: UInt64?
      try searchClosed(below: tables, builds: builds) { index throws(StoreError) in
        found = try self.first(ofID: bytes, in: index)
        return found != nil
      }
      return found
    }
  }

  /// The ids of visible appends that begin with `prefix`, at most `limit` of them, in the order of the log. Reads the
  /// log as `forEachID` does.
  package func ids(prefix: [UInt8], limit: Int) throws(StoreError) -> [[UInt8]] {
    var found: [[UInt8]] = []
    try forEachID(prefix: prefix) { id in
      guard found.count < limit else { return false }
      found.append(Array(id))
      return found.count < limit
    }
    return found
  }

  /// Calls the body with every id that begins with `prefix`, of the visible appends after a sequence, in the order of the
  /// log, until it returns false. Indexes hold fingerprints of ids and not the ids, so this reads the whole log from
  /// there, a block at a time: it is for the beginning of an import, for people and for errors.
  package func forEachID(
    prefix: [UInt8], after sequence: UInt64 = 0, _ body: (UnsafeRawBufferPointer) -> Bool
  ) throws(StoreError) {
    var goesOn = true
    var cursor = LogCursor(source, after: max(sequence, source.tail.mark.logBegin - 1))
    while goesOn, let block = try cursor.next() {
      do throws(ContentProblem) {
        try block.forEachAppend { append, _ throws(ContentProblem) in
          guard goesOn, append.id.count > 0, prefix.withUnsafeBytes({ append.id.begins(with: $0) }) else {
            return
          }
          goesOn = body(append.id)
        }
      } catch {
        throw error.storeError(of: block.header)
      }
    }
  }
}
