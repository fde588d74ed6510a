// The indexes of one segment in memory: its streams, and the ids of its appends.

internal import StrataBase

/// Streams and append ids of one segment. The active segment's index grows with every group; a closed segment's is kept
/// until its file is written, and no longer changes. Not thread-safe: its owner holds a lock, or it is no longer
/// changed.
package final class SegmentIndex {
  package let segment: SegmentName
  /// Streams: `base` is the revision before this segment; each event links to the previous one of its stream.
  private var streams: KeyTable
  /// Append ids: `base` is the first sequence of the append.
  private var ids: KeyTable

  /// - Parameter countMax: the most events, names, ids, and bytes of each that the tables hold.
  package init(of segment: SegmentName, countMax: Int = KeyTable.countMax) {
    self.segment = segment
    streams = KeyTable(keyCapacity: 64, eventCapacity: 256, countMax: countMax)
    ids = KeyTable(keyCapacity: 16, eventCapacity: 1, countMax: countMax)
  }

  package var firstSequence: UInt64 { segment.firstSequence }

  /// Whether there is room for one more event, and for an append id.
  @inline(__always)
  private func hasRoom(for stream: UnsafeRawBufferPointer) -> Bool {
    streams.hasRoom(forKeyOf: stream.count) && ids.hasRoom(forKeyOf: FormatLimits.appendIDLengthMax)
  }

  /// The bytes that the tables have allocated.
  package var allocatedBytes: Int { streams.allocatedBytes + ids.allocatedBytes }

  /// The sequence that the next event gets.
  package var nextSequence: UInt64 { firstSequence + UInt64(streams.eventCount) }

  /// Adds the events of a block that follow those already in the index. The block may begin before them, since another
  /// file of the segment may be divided into other blocks. A revision that does not continue its stream is corruption,
  /// and then no event of the block is added.
  package func add(_ block: DecodedBlock) throws(ContentProblem) {
    let next = nextSequence
    guard block.header.nextSequence > next else { return }
    guard block.header.firstSequence <= next else {
      throw .damaged("the block does not continue the index at \(next)")
    }
    do throws(ContentProblem) { try addEvents(of: block, from: next) } catch {
      streams.undo(Int(nextSequence - next))
      throw error
    }
    assert(nextSequence == block.header.nextSequence, "an index holds all events of its blocks")
  }

  private func addEvents(of block: DecodedBlock, from next: UInt64) throws(ContentProblem) {
    var lastAppend: UnsafeRawPointer?
    try block.forEachEvent { event, append, sequence throws(ContentProblem) in
      guard sequence >= next else { return }
      guard hasRoom(for: event.stream) else {
        throw .unsupported("a segment with more events or names than 32 bits can count")
      }
      if append.head.baseAddress != lastAppend {
        lastAppend = append.head.baseAddress
        if append.id.count > 0 { addID(append.id, first: sequence) }
      }
      let hash = XXH64.of(event.stream)
      let entry =
        streams.find(event.stream, hash: hash)
        ?? streams.insert(event.stream, hash: hash, base: event.revision &- 1)
      guard event.revision > 0, streams.append(to: entry) == event.revision else {
        let name = String(decoding: event.stream, as: UTF8.self)
        throw .damaged(
          "event \(sequence) has revision \(event.revision) in \(name), which does not continue it")
      }
    }
  }

  /// Adds the id of an append that is in the log.
  package func addID(_ id: UnsafeRawBufferPointer, first: UInt64) {
    assert((1...FormatLimits.appendIDLengthMax).contains(id.count), "an id has 1 to 64 bytes")
    assert(first >= firstSequence, "an id is added to the index of its append's segment")
    let hash = XXH64.of(id)
    if ids.find(id, hash: hash) == nil { _ = ids.insert(id, hash: hash, base: first) }
  }

  /// Assigns the next sequence to a stream and returns the event's revision. Calls `base` for the stream's revision
  /// before this segment if the stream is new here.
  @inline(__always)
  package func append(
    to stream: UnsafeRawBufferPointer, hash: UInt64, base: () throws(StoreError) -> UInt64
  ) throws(StoreError) -> UInt64 {
    assert(hash == XXH64.of(stream), "a stream is looked up by its own hash")
    guard hasRoom(for: stream) else {
      throw .invalid(what: "the index of the active segment is full; seal the store to begin a new segment")
    }
    if let entry = streams.find(stream, hash: hash) { return streams.append(to: entry) }
    let entry = streams.insert(stream, hash: hash, base: try base())
    return streams.append(to: entry)
  }

  /// Removes the last events, whose group could not be written.
  package func undo(_ count: Int) { streams.undo(count) }

  /// The revision of a stream here, or nil if it has no entry.
  package func revision(of stream: UnsafeRawBufferPointer, hash: UInt64) -> UInt64? {
    streams.find(stream, hash: hash).map { streams[$0].revision }
  }

  /// The first sequence of the append with an id, or nil.
  package func first(ofID id: UnsafeRawBufferPointer) -> UInt64? {
    ids.find(id, hash: XXH64.of(id)).map { ids[$0].base }
  }

  /// The sequences of a stream's events in this segment, up to `last`; nil if there are none.
  package func places(of stream: UnsafeRawBufferPointer, through last: UInt64) -> StreamPlaces? {
    guard let entry = streams.find(stream, hash: XXH64.of(stream)) else { return nil }
    return places(of: entry, through: last)
  }

  /// How many events a stream has before this segment and in it, up to `last`; nil if it has none here. O(events of the
  /// stream after `last`).
  package func extent(of stream: UnsafeRawBufferPointer, through last: UInt64) -> StreamExtent? {
    guard let entry = streams.find(stream, hash: XXH64.of(stream)) else { return nil }
    let count = streams.eventCount(of: entry, upTo: bound(through: last))
    guard count > 0 else { return nil }
    return StreamExtent(base: streams[entry].base, count: UInt64(count))
  }

  /// The index of the first event after `last`.
  private func bound(through last: UInt64) -> UInt32 {
    guard last >= firstSequence else { return 0 }
    return UInt32(min(UInt64(streams.eventCount), last - firstSequence + 1))
  }

  private func places(of entry: KeyTable.EntryIndex, through last: UInt64) -> StreamPlaces? {
    let indices = streams.eventIndices(of: entry, upTo: bound(through: last))
    guard !indices.isEmpty else { return nil }
    return StreamPlaces(base: streams[entry].base, sequences: indices.map { firstSequence + UInt64($0) })
  }

  /// Calls the body with every stream's name and sequences, ascending by name.
  package func forEachStream<Failure: Error>(
    _ body: (UnsafeRawBufferPointer, StreamPlaces) throws(Failure) -> Void
  ) throws(Failure) {
    for entry in streams.entriesSortedByKey() {
      guard let places = places(of: entry, through: .max) else { continue }
      try body(streams.key(of: entry), places)
    }
  }

  /// Calls the body with every append id and the first sequence of its append, ascending by id.
  package func forEachID<Failure: Error>(
    _ body: (UnsafeRawBufferPointer, UInt64) throws(Failure) -> Void
  ) throws(Failure) {
    for entry in ids.entriesSortedByKey() {
      try body(ids.key(of: entry), ids[entry].base)
    }
  }
}
