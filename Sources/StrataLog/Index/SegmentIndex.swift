// The indexes of one segment in memory: its streams with their categories, its types, and the ids of its appends.

internal import StrataBase

/// Streams, types and append ids of one segment, or of its events after those that a saved index covers. The active
/// segment's index grows with every group; a closed segment's is kept until its file is written, and no longer changes.
/// Not thread-safe: its owner holds a lock, or it is no longer changed.
package final class SegmentIndex {
  package let segment: SegmentName
  /// What the index of the events before these is of, if the segment has events before these.
  package let base: IndexIdentity?
  // Not checked at run time for overlapping accesses: every append makes a dozen, and no method calls back into another.
  /// Streams: `base` is the revision before this index; each event links to the previous one of its stream.
  @exclusivity(unchecked) var streams: KeyTable
  /// Append ids: `base` is the first sequence of the append.
  @exclusivity(unchecked) var ids: KeyTable
  /// The categories of streams with an id, and how many events each has.
  @exclusivity(unchecked) var categories: KeyTable
  /// The category of each stream, `KeyTable.none` for one without an id.
  @exclusivity(unchecked) private var categoryOfStream: GrowingArray<UInt32>
  /// How many streams have no id.
  @exclusivity(unchecked) private(set) var bareCount = 0
  @exclusivity(unchecked) var types: KeyTable
  /// The type of each event.
  @exclusivity(unchecked) private var typeOfEvent: GrowingArray<UInt32>
  @exclusivity(unchecked) private var lastType: KeyTable.EntryIndex?
  /// The own times of appends. Of a group that is being written they are added once it is.
  private(set) var times: AppendTimes
  /// The streams in the order of their names, for as many as there were when they were sorted. Threads that look
  /// things up in tables that no longer change may do so at the same time.
  private let sortedStreams = Lock<[KeyTable.EntryIndex]>([])

  /// - Parameters:
  ///   - base: what a saved index covers of the segment, if any.
  ///   - countMax: the most events, names, ids, and bytes of each that the tables hold.
  package init(
    of segment: SegmentName, after base: IndexIdentity? = nil, countMax: Int = KeyTable.countMax
  ) {
    assert(base.map { $0.firstSequence == segment.firstSequence } ?? true, "a base is of the same segment")
    self.segment = segment
    self.base = base
    streams = KeyTable(keyCapacity: 64, eventCapacity: 256, countMax: countMax)
    ids = KeyTable(keyCapacity: 16, eventCapacity: 1, countMax: countMax)
    categories = KeyTable(keyCapacity: 16, eventCapacity: 1, countMax: countMax)
    types = KeyTable(keyCapacity: 16, eventCapacity: 1, countMax: countMax)
    categoryOfStream = GrowingArray(capacity: 64)
    typeOfEvent = GrowingArray(capacity: 256)
    times = AppendTimes(from: base.map { $0.lastSequence + 1 } ?? segment.firstSequence)
  }

  deinit {
    categoryOfStream.deallocate()
    typeOfEvent.deallocate()
  }

  /// The sequence of the first event that these tables hold or will hold.
  package var firstSequence: UInt64 { base.map { $0.lastSequence + 1 } ?? segment.firstSequence }

  /// Whether there is room for one more event, and for an append id.
  @inline(__always)
  private func hasRoom(for stream: UnsafeRawBufferPointer, _ type: UnsafeRawBufferPointer) -> Bool {
    streams.hasRoom(forKeyOf: stream.count) && ids.hasRoom(forKeyOf: FormatLimits.appendIDLengthMax)
      && types.hasRoom(forKeyOf: type.count)
  }

  /// The bytes that the tables have allocated.
  package var allocatedBytes: Int {
    streams.allocatedBytes + ids.allocatedBytes + categories.allocatedBytes + types.allocatedBytes
      + 4 * (categoryOfStream.capacity + typeOfEvent.capacity) + times.allocatedBytes
  }

  /// The number of events in these tables.
  package var eventCount: Int { Int(streams.eventCount) }

  /// The sequence that the next event gets.
  package var nextSequence: UInt64 { firstSequence + UInt64(streams.eventCount) }

  /// Adds the events of a block that follow those already in the index. The block may begin before them, since another
  /// file of the segment may be divided into other blocks. A revision that does not continue its stream is corruption,
  /// and then no event of the block is added.
  ///
  /// - Parameter last: the last sequence that is added.
  package func add(_ block: DecodedBlock, through last: UInt64 = .max) throws(ContentProblem) {
    let next = nextSequence
    guard block.header.nextSequence > next else { return }
    guard block.header.firstSequence <= next else {
      throw .damaged("the block does not continue the index at \(next)")
    }
    let ended: [AppendTimes.Entry]
    do throws(ContentProblem) { ended = try addEvents(of: block, from: next, through: last) } catch {
      undo(Int(nextSequence - next))
      throw error
    }
    addTimes(ended)
    assert(
      nextSequence == min(block.header.nextSequence, last &+ 1) || last == .max, "a block is added whole")
    assert(
      last < .max || nextSequence == block.header.nextSequence, "an index holds all events of its blocks")
  }

  /// Returns the times of the appends whose events were added.
  private func addEvents(
    of block: DecodedBlock, from next: UInt64, through last: UInt64
  ) throws(ContentProblem) -> [AppendTimes.Entry] {
    var lastAppend: UnsafeRawPointer?
    var appends: [AppendTimes.Entry] = []
    try block.forEachEvent { event, append, sequence throws(ContentProblem) in
      guard sequence >= next, sequence <= last else { return }
      guard hasRoom(for: event.stream, event.type) else {
        throw .unsupported("a segment with more events or names than 32 bits can count")
      }
      if append.head.baseAddress != lastAppend {
        lastAppend = append.head.baseAddress
        if append.id.count > 0 { addID(append.id, first: sequence) }
        appends.append(AppendTimes.Entry(time: append.ownTime, eventCount: 0, contentLength: 0))
      }
      appends[appends.count - 1].eventCount += 1
      appends[appends.count - 1].contentLength += min(event.contentLength, AppendTimes.contentLengthMax)
      guard event.revision > 0 else { throw .damaged("event \(sequence) has revision 0") }
      let hash = XXH64.of(event.stream)
      let entry =
        streams.find(event.stream, hash: hash)
        ?? insert(event.stream, hash: hash, base: event.revision - 1)
      guard add(to: entry, type: event.type) == event.revision else {
        let name = String(decoding: event.stream, as: UTF8.self)
        throw .damaged(
          "event \(sequence) has revision \(event.revision) in \(name), which does not continue it")
      }
    }
    return appends
  }

  /// Adds the times of the appends after those whose times are there.
  func addTimes(_ appends: [AppendTimes.Entry]) {
    for append in appends { times.add(append) }
    assert(times.nextSequence <= nextSequence, "a time is that of events in the tables")
  }

  /// Adds the id of an append that is in the log.
  package func addID(_ id: UnsafeRawBufferPointer, first: UInt64) {
    let hash = XXH64.of(id)
    if ids.find(id, hash: hash) == nil { addNewID(id, hash: hash, first: first) }
  }

  /// Adds an id that the tables do not have, with its hash.
  func addNewID(_ id: UnsafeRawBufferPointer, hash: UInt64, first: UInt64) {
    assert((1...FormatLimits.appendIDLengthMax).contains(id.count), "an id has 1 to 64 bytes")
    assert(first >= firstSequence, "an id is added to the index of its append's segment")
    _ = ids.insert(id, hash: hash, base: first)
  }

  /// Assigns the next sequence to a stream and returns the event's revision. Calls `base` for the stream's revision
  /// before this index if the stream is new here.
  @inline(__always)
  package func append(
    to stream: UnsafeRawBufferPointer, hash: UInt64, type: UnsafeRawBufferPointer,
    base: () throws(StoreError) -> UInt64
  ) throws(StoreError) -> UInt64 {
    assert(hash == XXH64.of(stream), "a stream is looked up by its own hash")
    guard hasRoom(for: stream, type) else {
      throw .invalid(what: "the index of the active segment is full; seal the store to begin a new segment")
    }
    if let entry = streams.find(stream, hash: hash) { return add(to: entry, type: type) }
    return add(to: insert(stream, hash: hash, base: try base()), type: type)
  }

  /// Asks the processor for what `append` to some of the next streams will read, if an append has many.
  @inline(__always)
  func prefetch(_ marks: DraftMarks, before number: Int) {
    let distance = 4
    for stage in 0..<3 {
      let ahead = number + (3 - stage) * distance
      if ahead < marks.count { streams.prefetch(marks[ahead].streamHash, stage: stage) }
    }
  }

  /// Removes the last events, whose group could not be written.
  package func undo(_ count: Int) {
    precondition(count >= 0 && count <= eventCount, "no more events are removed than there are")
    for _ in 0..<count {
      let event = streams.eventCount - 1
      types.uncount(KeyTable.EntryIndex(rawValue: typeOfEvent.start[Int(event)]))
      typeOfEvent.count -= 1
      let category = categoryOfStream.start[Int(streams.entry(ofEvent: event).rawValue)]
      if category != KeyTable.none { categories.uncount(KeyTable.EntryIndex(rawValue: category)) }
      streams.undo(1)
    }
    assert(typeOfEvent.count == eventCount, "each event has a type")
  }

  /// Removes the ids that were added last, whose group could not be written. O(ids).
  func undoIDs(_ count: Int) { ids.removeLast(count) }

  private func insert(_ stream: UnsafeRawBufferPointer, hash: UInt64, base: UInt64) -> KeyTable.EntryIndex {
    if let length = stream.categoryLength {
      let category = categories.findOrInsert(UnsafeRawBufferPointer(rebasing: stream[..<length]))
      categoryOfStream.append(category.rawValue)
    } else {
      categoryOfStream.append(KeyTable.none)
      bareCount += 1
    }
    let entry = streams.insert(stream, hash: hash, base: base)
    assert(streams.entryCount == categoryOfStream.count, "each stream has a category, or none")
    return entry
  }

  @inline(__always)
  private func add(to entry: KeyTable.EntryIndex, type: UnsafeRawBufferPointer) -> UInt64 {
    let typeEntry: KeyTable.EntryIndex
    if let lastType, types.key(of: lastType).hasSameBytes(as: type) {
      typeEntry = lastType
    } else {
      typeEntry = types.findOrInsert(type)
      lastType = typeEntry
    }
    types.count(typeEntry)
    typeOfEvent.append(typeEntry.rawValue)
    let category = categoryOfStream.start[Int(entry.rawValue)]
    if category != KeyTable.none { categories.count(KeyTable.EntryIndex(rawValue: category)) }
    return streams.append(to: entry)
  }

  @inline(__always)
  func type(ofEvent event: UInt32) -> UInt32 { typeOfEvent.start[Int(event)] }

  @inline(__always)
  func category(ofEvent event: UInt32) -> UInt32 {
    categoryOfStream.start[Int(streams.entry(ofEvent: event).rawValue)]
  }

  /// The streams in the order of their names, those without events included. O(n log n) after a new stream, otherwise
  /// O(1).
  func streamsByName() -> [KeyTable.EntryIndex] {
    let known = sortedStreams.withLock { $0 }
    if known.count == streams.entryCount { return known }
    let sorted = streams.entriesSortedByKey()
    sortedStreams.withLock { $0 = sorted }
    return sorted
  }
}

extension KeyTable {
  /// The entry of a key, which is added if there is none.
  mutating func findOrInsert(_ key: UnsafeRawBufferPointer) -> EntryIndex {
    let hash = XXH64.of(key)
    return find(key, hash: hash) ?? insert(key, hash: hash, base: 0)
  }
}

extension UnsafeRawBufferPointer {
  /// The length of a stream's category, the part before the first `/`; nil if the name has none, and so no id.
  var categoryLength: Int? { firstIndex(of: UInt8(ascii: "/")) }
}
