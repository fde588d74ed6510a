// Lookups by stream and by append id, in the active segment and in the closed ones.

internal import StrataBase

extension StoreIndex {
  /// The revision of a stream before a segment: how many events it has in the closed segments.
  func closedRevision(
    of stream: UnsafeRawBufferPointer, before active: SegmentName, builds: Bool
  ) throws(StoreError) -> UInt64 {
    var revision: UInt64 = 0
    try searchClosed(before: active, builds: builds) { index throws(StoreError) in
      guard let extent = try index.extent(of: stream) else { return false }
      revision = extent.revision
      return true
    }
    return revision
  }

  /// The first sequence of the append with an id in the closed segments, or nil.
  func closedFirst(
    ofID id: UnsafeRawBufferPointer, before active: SegmentName, builds: Bool
  ) throws(StoreError) -> UInt64? {
    var first: UInt64?
    try searchClosed(before: active, builds: builds) { index throws(StoreError) in
      first = try index.first(ofID: id)
      return first != nil
    }
    return first
  }

  /// The parts of a stream that hold revisions after `revision`, oldest first, up to the visible mark: for each segment
  /// that has any, the revision before it and the sequences in it. Only the first `limit` such revisions are included,
  /// plus any others in the same segment as one of these.
  package func parts(
    of stream: [UInt8], after revision: UInt64, limit: Int = .max, builds: Bool = true
  ) throws(StoreError) -> [StreamPlaces] {
    if !isWriter { try catchUp() }
    let visible = source.tail.mark.sequence
    return try stream.lendBytes { (name) throws(StoreError) in
      let (index, newest) = active.withLock { ($0, $0.extent(of: name, through: visible)) }
      // How many events each segment holds, back to the one with the first revision wanted.
      var found: [(segment: SegmentName, extent: StreamExtent)] = []
      if let newest { found.append((index.segment, newest)) }
      if newest.map({ $0.base > revision }) ?? true {
        try searchClosed(before: index.segment, builds: builds) { closed throws(StoreError) in
          guard let extent = try closed.extent(of: name) else { return false }
          found.append((closed.segment, extent))
          return extent.base <= revision
        }
      }
      var parts: [StreamPlaces] = []
      var left = UInt64(max(0, limit))
      for (segment, extent) in found.reversed() where left > 0 && extent.revision > revision {
        // Under the lock, but in the index that was searched above: if its segment was closed since, that index has not
        // changed.
        let part =
          segment == index.segment
          ? active.withLock { _ in index.places(of: name, through: visible) }
          : try asking(segment, builds: builds) { closed throws(StoreError) in try closed.places(of: name) }
        guard let part else { continue }
        parts.append(part)
        left -= min(left, part.revision - min(part.revision, max(part.base, revision)))
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
    if !isWriter { try catchUp() }
    let visible = source.tail.mark.sequence
    return try stream.lendBytes { (name) throws(StoreError) in
      let (active, newest) = active.withLock {
        ($0.segment, $0.extent(of: name, through: visible))
      }
      if let newest { return newest.revision }
      return try closedRevision(of: name, before: active, builds: builds)
    }
  }

  /// The first sequence of the visible append with an id, or nil.
  package func first(ofID id: [UInt8], builds: Bool = true) throws(StoreError) -> UInt64? {
    if !isWriter { try catchUp() }
    let visible = source.tail.mark.sequence
    return try id.lendBytes { bytes throws(StoreError) in
      let (active, first) = active.withLock { ($0.segment, $0.first(ofID: bytes)) }
      if let first { return first <= visible ? first : nil }
      return try closedFirst(ofID: bytes, before: active, builds: builds)
    }
  }

  /// The append ids that begin with `prefix`, at most `limit` of them, in no particular order.
  package func ids(prefix: [UInt8], limit: Int) throws(StoreError) -> [[UInt8]] {
    var found: [[UInt8]] = []
    try forEachID(prefix: prefix) { id in
      guard found.count < limit else { return false }
      found.append(Array(id))
      return found.count < limit
    }
    return found
  }

  /// Calls the body once with every append id that begins with `prefix`, in no particular order, until it returns
  /// false. The body must not use this index. O(n log n) in the ids of the active segment, whatever the prefix; keeps
  /// the matching ids of one closed segment at a time.
  package func forEachID(prefix: [UInt8], _ body: (UnsafeRawBufferPointer) -> Bool) throws(StoreError) {
    if !isWriter { try catchUp() }
    var goesOn = true
    let active = active.withLock { index -> SegmentName in
      index.forEachID { id, _ in
        if goesOn, id.starts(with: prefix) { goesOn = body(id) }
      }
      return index.segment
    }
    guard goesOn else { return }
    try searchClosed(before: active, builds: true) { index throws(StoreError) in
      // Collected first, because after damage the lookup in a file starts again from its beginning.
      var found: [[UInt8]] = []
      try index.forEachID(prefix: prefix) { found.append(Array($0)) }
      return !found.allSatisfy { id in id.withUnsafeBytes { body($0) } }
    }
  }
}
