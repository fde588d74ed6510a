// What the tables of one segment know: of a stream, of a name, and all names in their order.

internal import StrataBase

extension SegmentIndex {
  /// The index of the first event after `last`.
  private func bound(through last: UInt64) -> UInt32 {
    guard last >= firstSequence else { return 0 }
    return UInt32(min(UInt64(streams.eventCount), last - firstSequence + 1))
  }

  // MARK: Streams and ids

  /// The revision of a stream here, or nil if it has no entry.
  package func revision(of stream: UnsafeRawBufferPointer, hash: UInt64) -> UInt64? {
    streams.find(stream, hash: hash).map { streams[$0].revision }
  }

  /// The first sequence of the append with an id, or nil.
  package func first(ofID id: UnsafeRawBufferPointer) -> UInt64? { first(ofID: id, hash: XXH64.of(id)) }

  func first(ofID id: UnsafeRawBufferPointer, hash: UInt64) -> UInt64? {
    ids.find(id, hash: hash).map { ids[$0].base }
  }

  /// False if no append here has an id of this hash.
  func mayContain(idHash hash: UInt64) -> Bool { ids.mayContain(hash) }

  /// The sequences of a stream's events in these tables, up to `last`; nil if there are none.
  package func places(of stream: UnsafeRawBufferPointer, through last: UInt64) -> StreamPositions? {
    streams.find(stream, hash: XXH64.of(stream)).flatMap { places(of: $0, through: last) }
  }

  /// How many events a stream has before these tables and in them, up to `last`; nil if it has none here. O(events of
  /// the stream after `last`).
  package func extent(of stream: UnsafeRawBufferPointer, through last: UInt64) -> StreamExtent? {
    guard let entry = streams.find(stream, hash: XXH64.of(stream)) else { return nil }
    let count = streams.eventCount(of: entry, upTo: bound(through: last))
    guard count > 0 else { return nil }
    return StreamExtent(base: streams[entry].base, count: UInt64(count))
  }

  private func places(of entry: KeyTable.EntryIndex, through last: UInt64) -> StreamPositions? {
    let indices = streams.eventIndices(of: entry, upTo: bound(through: last))
    guard !indices.isEmpty else { return nil }
    return StreamPositions(
      base: streams[entry].base, sequences: SequenceList(indices.map { firstSequence + UInt64($0) }))
  }

  // MARK: Names

  /// Where the events of a name after one sequence and up to another may be. O(events in between), for a stream only
  /// its own.
  func ranges(of name: IndexKey, after first: UInt64, through last: UInt64) -> SequenceRanges {
    let (begin, end) = (bound(through: first), bound(through: last))
    var ranges = SequenceRanges(limit: name.tag.isStream ? .max : SequenceRanges.rangesMax)
    guard begin < end, let entry = find(name) else { return ranges }
    switch name.tag {
    case .bareStream, .stream:
      for event in streams.eventIndices(of: entry, from: begin, upTo: end) {
        ranges.add(firstSequence + UInt64(event))
      }
    case .category:
      for event in begin..<end where category(ofEvent: event) == entry.rawValue {
        ranges.add(firstSequence + UInt64(event))
      }
    case .type:
      for event in begin..<end where type(ofEvent: event) == entry.rawValue {
        ranges.add(firstSequence + UInt64(event))
      }
    }
    return ranges
  }

  private func find(_ name: IndexKey) -> KeyTable.EntryIndex? {
    name.name.withUnsafeBytes { bytes in
      let hash = XXH64.of(bytes)
      switch name.tag {
      case .bareStream, .stream: return streams.find(bytes, hash: hash)
      case .category: return categories.find(bytes, hash: hash)
      case .type: return types.find(bytes, hash: hash)
      }
    }
  }

  /// The first names with a tag that the page wants, ascending, and how many events up to `last` each has.
  /// O(names, and events after `last`).
  func names(_ tag: IndexTag, _ page: NamePage, through last: UInt64) -> [IndexedName] {
    if tag == .bareStream, bareCount == 0 { return [] }
    let entries: [KeyTable.EntryIndex]
    let counts: [UInt32]
    switch tag {
    case .bareStream, .stream:
      entries = streamsByName()
      counts = []
    case .category:
      entries = categories.entriesSortedByKey()
      counts = later(than: last, of: categories.entryCount) { category(ofEvent: $0) }
    case .type:
      entries = types.entriesSortedByKey()
      counts = later(than: last, of: types.entryCount) { type(ofEvent: $0) }
    }
    var found: [IndexedName] = []
    for entry in entries.dropFirst(start(of: page, in: entries, tag)) {
      guard found.count < page.limit else { break }
      let name = key(of: entry, tag)
      guard page.prefix.withUnsafeBytes({ name.begins(with: $0) }) else { break }
      let count: UInt64
      if tag.isStream {
        guard (name.categoryLength == nil) == (tag == .bareStream) else { continue }
        count = UInt64(streams.eventCount(of: entry, upTo: bound(through: last)))
      } else {
        let all = tag == .category ? categories[entry].count : types[entry].count
        count = UInt64(all - counts[Int(entry.rawValue)])
      }
      if count > 0 { found.append(IndexedName(name: Array(name), count: count)) }
    }
    return found
  }

  private func key(of entry: KeyTable.EntryIndex, _ tag: IndexTag) -> UnsafeRawBufferPointer {
    switch tag {
    case .bareStream, .stream: streams.key(of: entry)
    case .category: categories.key(of: entry)
    case .type: types.key(of: entry)
    }
  }

  private func start(of page: NamePage, in entries: [KeyTable.EntryIndex], _ tag: IndexTag) -> Int {
    entries.countAhead { !page.isReached(by: key(of: $0, tag)) }
  }

  /// How many events after `last` each name has.
  private func later(than last: UInt64, of count: Int, _ name: (UInt32) -> UInt32) -> [UInt32] {
    var counts = [UInt32](repeating: 0, count: count)
    for event in bound(through: last)..<streams.eventCount {
      let name = name(event)
      if name != KeyTable.none { counts[Int(name)] += 1 }
    }
    return counts
  }

  // MARK: Everything, for a file

  /// Calls the body with the name of every stream, the revision before these tables, and its events as distances from
  /// the first of these tables, ascending by name.
  ///
  /// - Parameter isBare: selects the streams without an id, or those with one.
  func forEachStream<Failure: Error>(
    isBare: Bool, _ events: GroupedEvents,
    _ body: (UnsafeRawBufferPointer, _ base: UInt64, ArraySlice<UInt32>) throws(Failure) -> Void
  ) throws(Failure) {
    guard bareCount > 0 || !isBare else { return }
    for entry in streamsByName() {
      let name = streams.key(of: entry)
      let inside = events[entry]
      guard !inside.isEmpty, (name.categoryLength == nil) == isBare else { continue }
      try body(name, streams[entry].base, inside)
    }
  }

  /// Calls the body with every category of streams with an id, or every type, ascending.
  func forEachName<Failure: Error>(
    _ tag: IndexTag, _ body: (UnsafeRawBufferPointer, NamePositions) throws(Failure) -> Void
  ) throws(Failure) {
    let isCategory = tag == .category
    let events =
      isCategory
      ? grouped(categories.entryCount) { category(ofEvent: $0) }
      : grouped(types.entryCount) { type(ofEvent: $0) }
    for entry in isCategory ? categories.entriesSortedByKey() : types.entriesSortedByKey() {
      let inside = events[entry]
      guard !inside.isEmpty else { continue }
      var ranges = SequenceRanges()
      for event in inside { ranges.add(firstSequence + UInt64(event)) }
      try body(key(of: entry, tag), NamePositions(count: UInt64(inside.count), ranges: ranges))
    }
  }

  /// The events by stream.
  func groupedByStream() -> GroupedEvents {
    grouped(streams.entryCount) { streams.entry(ofEvent: $0).rawValue }
  }

  @inline(__always)
  private func grouped(_ count: Int, _ name: (UInt32) -> UInt32) -> GroupedEvents {
    GroupedEvents(count, events: streams.eventCount, name)
  }

  /// The hash of every append id, and the distance of its append from the first event here.
  var idPlaces: [(hash: UInt64, distance: UInt32)] {
    (0..<ids.entryCount).map { number in
      let entry = ids[KeyTable.EntryIndex(rawValue: UInt32(number))]
      return (entry.hash, UInt32(entry.base - firstSequence))
    }
  }
}

/// Events by the name that each has, ascending within a name: 4 bytes for each event and for each name.
struct GroupedEvents {
  private var starts: [UInt32]
  private var sorted: [UInt32]

  /// - Parameter name: the entry of an event, or `KeyTable.none`.
  @inline(__always)
  fileprivate init(_ count: Int, events: UInt32, _ name: (UInt32) -> UInt32) {
    // Each number is first the beginning of its name, and at the end that of the next name.
    starts = [UInt32](repeating: 0, count: count + 2)
    for event in 0..<events {
      let name = name(event)
      if name != KeyTable.none { starts[Int(name) + 2] += 1 }
    }
    for name in 0..<count { starts[name + 2] += starts[name + 1] }
    sorted = [UInt32](repeating: 0, count: Int(starts[count + 1]))
    for event in 0..<events {
      let name = name(event)
      guard name != KeyTable.none else { continue }
      sorted[Int(starts[Int(name) + 1])] = event
      starts[Int(name) + 1] += 1
    }
  }

  subscript(entry: KeyTable.EntryIndex) -> ArraySlice<UInt32> {
    sorted[Int(starts[Int(entry.rawValue)])..<Int(starts[Int(entry.rawValue) + 1])]
  }
}
