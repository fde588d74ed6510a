// The index of one closed segment: a file, or tables in memory until there is a file.

internal import StrataBase

/// The index of a closed segment, or of the part of the active one that a saved index covers, from which lookups are
/// answered. Immutable.
package struct ClosedIndex: @unchecked Sendable {
  // Safe to send: a `SegmentIndex` in it is never changed again.
  package enum Content {
    case file(IndexFile)
    case memory(SegmentIndex)
  }

  package let firstSequence: UInt64
  package let lastSequence: UInt64
  package let content: Content

  init(file: IndexFile) {
    firstSequence = file.identity.firstSequence
    lastSequence = file.identity.lastSequence
    content = .file(file)
    assert(firstSequence <= lastSequence, "a closed segment holds events")
  }

  /// - Parameter tables: all events of the segment, or of its beginning; never changed again.
  init(_ tables: SegmentIndex) {
    assert(tables.base == nil && tables.eventCount > 0, "tables hold all events of a segment")
    firstSequence = tables.firstSequence
    lastSequence = tables.nextSequence - 1
    content = .memory(tables)
  }

  package var part: IndexPart { IndexPart(segment: SegmentName(firstSequence), last: lastSequence) }

  /// The sequences of a stream's events in this segment, or nil if it has none here.
  package func places(of stream: UnsafeRawBufferPointer) throws(StoreError) -> StreamPositions? {
    switch content {
    case .memory(let tables):
      return tables.places(of: stream, through: .max)
    case .file(let file):
      guard let value = try value(ofStream: stream, in: file) else { return nil }
      guard
        let places = StreamPositions(
          decoding: value, firstSequence: firstSequence, lastSequence: lastSequence)
      else { throw file.damage(at: 0) }
      return places
    }
  }

  /// How many events a stream has before this segment and in it, or nil if it has none here.
  package func extent(of stream: UnsafeRawBufferPointer) throws(StoreError) -> StreamExtent? {
    switch content {
    case .memory(let tables):
      return tables.extent(of: stream, through: .max)
    case .file(let file):
      guard let value = try value(ofStream: stream, in: file) else { return nil }
      guard let extent = StreamExtent(decoding: value) else { throw file.damage(at: 0) }
      return extent
    }
  }

  /// The first sequences of the appends that may have an id, ascending. Only the log says whether one of them has it.
  package func candidates(forID id: UnsafeRawBufferPointer) throws(StoreError) -> [UInt64] {
    switch content {
    case .memory(let tables): tables.first(ofID: id).map { [$0] } ?? []
    case .file(let file): try file.candidates(forID: XXH64.of(id))
    }
  }

  /// The least own time of the appends.
  var leastTime: Int64 {
    switch content {
    case .memory(let tables): tables.times.least
    case .file(let file): file.leastTime
    }
  }

  /// The appends in spans, with the times of each.
  func timeSpans() throws(StoreError) -> [TimeSpan] {
    switch content {
    case .memory(let tables): return tables.times.spans
    case .file(let file):
      let value = try IndexFormat.timesKey.lendBytes { key throws(StoreError) in
        try file.value(forKey: key, hash: XXH64.of(key))
      }
      guard let value, let spans = [TimeSpan](decoding: value, in: firstSequence...lastSequence) else {
        throw file.damage(at: 0)
      }
      return spans
    }
  }

  /// Where the events of a name after a sequence may be; a stream's are exactly there.
  func ranges(of key: IndexKey, after sequence: UInt64) throws(StoreError) -> SequenceRanges {
    let ranges: SequenceRanges
    switch content {
    case .memory(let tables):
      return tables.ranges(of: key, after: sequence, through: .max)
    case .file(let file):
      let found = try key.name.lendBytes { name throws(StoreError) -> [UInt8]? in
        try value(key.tag, name, in: file)
      }
      guard let value = found else { return SequenceRanges(exactly: []) }
      if key.tag.isStream {
        let places = StreamPositions(
          decoding: value, firstSequence: firstSequence, lastSequence: lastSequence)
        guard let places else { throw file.damage(at: 0) }
        ranges = SequenceRanges(exactly: places.sequences.runs)
      } else {
        guard let places = NamePositions(decoding: value, in: firstSequence...lastSequence) else {
          throw file.damage(at: 0)
        }
        ranges = places.ranges
      }
    }
    return ranges.after(sequence)
  }

  /// The first names with a tag that the page wants, ascending, and how many events each has here.
  func names(_ tag: IndexTag, _ page: NamePage) throws(StoreError) -> [IndexedName] {
    switch content {
    case .memory(let tables):
      return tables.names(tag, page, through: .max)
    case .file(let file):
      guard page.limit > 0 else { return [] }
      var found: [IndexedName] = []
      try file.forEach(from: [tag.rawValue] + page.start) { (key, value) throws(StoreError) in
        let name = UnsafeRawBufferPointer(rebasing: key.dropFirst())
        guard key.first == tag.rawValue, page.prefix.withUnsafeBytes({ name.begins(with: $0) }) else {
          return false
        }
        let count =
          tag.isStream
          ? StreamExtent(decoding: value)?.count
          : NamePositions.count(decoding: value)
        guard let count else { throw file.damage(at: 0) }
        found.append(IndexedName(name: Array(name), count: count))
        return found.count < page.limit
      }
      return found
    }
  }

  private func value(
    ofStream stream: UnsafeRawBufferPointer, in file: IndexFile
  ) throws(StoreError) -> [UInt8]? {
    try value(stream.categoryLength == nil ? .bareStream : .stream, stream, in: file)
  }

  private func value(
    _ tag: IndexTag, _ name: UnsafeRawBufferPointer, in file: IndexFile
  ) throws(StoreError) -> [UInt8]? {
    var key = RawBuffer(capacity: name.count + 1)
    key.append(byte: tag.rawValue)
    key.append(name)
    return try file.value(forKey: key.bytes, hash: XXH64.of(key.bytes))
  }

  /// The hash of the key that a stream has in an index file.
  static func keyHash(ofStream name: UnsafeRawBufferPointer) -> UInt64 {
    let tag = name.categoryLength == nil ? IndexTag.bareStream : .stream
    return withUnsafeTemporaryAllocation(byteCount: name.count + 1, alignment: 1) { key in
      key[0] = tag.rawValue
      UnsafeMutableRawBufferPointer(rebasing: key.dropFirst()).copyMemory(from: name)
      return XXH64.of(UnsafeRawBufferPointer(key))
    }
  }

  /// Writes tables as an index file, under a temporary name first. Replaces an existing file. If writing fails, nothing
  /// of the file stays.
  ///
  /// - Parameter syncs: if false, a power cut may leave a file of which a part is missing, which its checksums tell.
  package static func write(
    _ index: SegmentIndex, identity: IndexIdentity, _ fileSystem: any FileSystem, path: String,
    syncs: Bool = true
  ) throws(StoreError) {
    let temporary = path + StoreLayout.temporarySuffix
    do throws(StoreError) {
      try write(index, identity: identity, to: try fileSystem.open(temporary, .create), syncs: syncs)
      try fileSystem.rename(temporary, to: path)
    } catch {
      // Half an index is useless, and on a full disk it takes space that the log needs.
      try? fileSystem.remove(temporary)
      throw error
    }
  }

  private static func write(
    _ index: SegmentIndex, identity: IndexIdentity, to file: any File, syncs: Bool
  ) throws(StoreError) {
    defer { file.close() }
    var writer = IndexFileWriter(file: file, identity: identity)
    var key = RawBuffer(capacity: 256)
    var value = RawBuffer(capacity: 256)
    index.times.spans.encode(to: &value)
    try IndexFormat.timesKey.lendBytes { times throws(StoreError) in
      try writer.add(key: times, value: value.bytes)
    }
    let events = index.groupedByStream()
    for tag in IndexTag.allCases {
      if tag.isStream {
        try index.forEachStream(isBare: tag == .bareStream, events) { name, base, inside throws(StoreError) in
          key.begin(tag, name)
          value.removeAll()
          StreamPositions.encode(base: base, inside, to: &value)
          try writer.add(key: key.bytes, value: value.bytes)
        }
      } else {
        try index.forEachName(tag) { name, places throws(StoreError) in
          key.begin(tag, name)
          value.removeAll()
          places.encode(to: &value, firstSequence: index.firstSequence)
          try writer.add(key: key.bytes, value: value.bytes)
        }
      }
    }
    try writer.finish(ids: index.idPlaces, leastTime: index.times.least)
    if syncs { try file.sync() }
  }
}

extension RawBuffer {
  fileprivate mutating func begin(_ tag: IndexTag, _ name: UnsafeRawBufferPointer) {
    removeAll()
    append(byte: tag.rawValue)
    append(name)
  }
}
