// The events of the segment, each linked to the one before it in its stream.

extension KeyTable {
  /// The number of events, which is also the index in the segment that the next one gets.
  package var eventCount: UInt32 { UInt32(events.count) }

  /// Assigns the next event of the segment to an entry, and returns its revision in the stream. O(1) amortised.
  @discardableResult
  package mutating func append(to index: EntryIndex) -> UInt64 {
    precondition(Int(index.rawValue) < entries.count, "no such entry")
    precondition(events.count < countMax, "the table is full")
    let entry = entries.start + Int(index.rawValue)
    let event = UInt32(events.count)
    assert(entry.pointee.last == Self.none || entry.pointee.last < event, "a stream's events ascend")
    events.append(EventLink(previous: entry.pointee.last, entry: index.rawValue))
    entry.pointee.last = event
    entry.pointee.count += 1
    return entry.pointee.revision
  }

  /// Removes the last events, for a group whose write failed. Entries created for them stay, with the counts that they
  /// had before. O(count).
  package mutating func undo(_ count: Int) {
    precondition(count >= 0 && count <= events.count, "no more events are removed than there are")
    for _ in 0..<count {
      let link = events.start[events.count - 1]
      let entry = entries.start + Int(link.entry)
      assert(entry.pointee.last == eventCount - 1, "the last event of the segment is the last of its stream")
      entry.pointee.last = link.previous
      entry.pointee.count -= 1
      events.count -= 1
    }
  }

  /// The indices of an entry's events below a bound, ascending. O(events of the entry).
  ///
  /// - Parameter eventIndex: the bound, which is excluded; `eventCount` for all events.
  package func eventIndices(of index: EntryIndex, upTo eventIndex: UInt32) -> [UInt32] {
    var (event, count) = lastEvent(of: index, upTo: eventIndex)
    // All threads share the storage of an array without capacity, and this initializer would write to it.
    guard count > 0 else { return [] }
    return [UInt32](unsafeUninitializedCapacity: count) { buffer, initialized in
      for place in stride(from: count - 1, through: 0, by: -1) {
        buffer.initializeElement(at: place, to: event)
        event = events.start[Int(event)].previous
      }
      assert(event == Self.none, "a stream holds as many events as its entry counts")
      initialized = count
    }
  }

  /// The indices of an entry's events from `first` on and below a bound, ascending. O(events of the entry from `first`
  /// on).
  func eventIndices(of index: EntryIndex, from first: UInt32, upTo eventIndex: UInt32) -> [UInt32] {
    var indices: [UInt32] = []
    var event = self[index].last
    while event != Self.none, event >= first {
      if event < eventIndex { indices.append(event) }
      event = events.start[Int(event)].previous
    }
    return indices.reversed()
  }

  /// How many events an entry has below a bound. O(events of the entry from the bound on).
  package func eventCount(of index: EntryIndex, upTo eventIndex: UInt32) -> Int {
    lastEvent(of: index, upTo: eventIndex).count
  }

  /// An entry's last event below a bound, and how many events it has up to there.
  private func lastEvent(of index: EntryIndex, upTo eventIndex: UInt32) -> (event: UInt32, count: Int) {
    let entry = self[index]
    var event = entry.last
    var count = Int(entry.count)
    while event != Self.none, event >= eventIndex {
      event = events.start[Int(event)].previous
      count -= 1
    }
    assert((event == Self.none) == (count == 0), "a stream holds as many events as its entry counts")
    return (event, count)
  }

  /// The entry that an event of the segment belongs to.
  package func entry(ofEvent eventIndex: UInt32) -> EntryIndex {
    precondition(eventIndex < eventCount, "no such event")
    return EntryIndex(rawValue: events.start[Int(eventIndex)].entry)
  }

  // MARK: Counting only

  /// Counts an event for an entry without keeping which one it was. A table is used for events or for counts.
  @inline(__always)
  mutating func count(_ index: EntryIndex) {
    assert(events.count == 0, "a table that counts holds no events")
    entries.start[Int(index.rawValue)].count += 1
  }

  /// Takes a counted event back.
  mutating func uncount(_ index: EntryIndex) {
    assert(entries.start[Int(index.rawValue)].count > 0, "what is taken back was counted")
    entries.start[Int(index.rawValue)].count -= 1
  }
}
