// All names of the log, in order and with their counts, and where the events of a name may be.

internal import StrataBase

extension StoreIndex {
  /// The names of a kind, ascending by their bytes, each with the number of its visible events.
  ///
  /// To list all, call it again after the last name until fewer than `limit` come back. Every count is exact at the time
  /// of its call. O(segments × limit), and reads a chunk or more of each segment's index.
  ///
  /// - Parameters:
  ///   - prefix: what the names begin with.
  ///   - name: the names that are not after this one are left out.
  ///   - builds: if false, `indexMissing` is thrown instead of building the index of a segment.
  package func names(
    _ kind: IndexedKind, prefix: [UInt8] = [], after name: [UInt8]? = nil, limit: Int, builds: Bool = true
  ) throws(StoreError) -> [IndexedName] {
    let visible = try markCaughtUp().sequence
    let page = NamePage(prefix: prefix, after: name, limit: max(0, limit))
    let (tables, newest) = active.withLock { tables in
      (tables, kind.tags.map { tables.names($0, page, through: visible) })
    }
    var found = newest.reduce([]) { page.merge($0, $1) }
    // A merge of two lists, each with the first names of its own, has the first names of both.
    for part in parts(below: tables) {
      let names = try asking(part, builds: builds) { index throws(StoreError) in
        var names: [IndexedName] = []
        for tag in kind.tags { names = page.merge(names, try index.names(tag, page)) }
        return names
      }
      found = page.merge(found, names)
    }
    return Array(found.prefix(page.limit))
  }

  /// Streams as `names` lists them.
  package func streams(
    prefix: [UInt8] = [], after name: [UInt8]? = nil, limit: Int, builds: Bool = true
  ) throws(StoreError) -> [IndexedName] {
    try names(.stream, prefix: prefix, after: name, limit: limit, builds: builds)
  }

  /// Categories as `names` lists them. A stream without an id counts for the category of its name.
  package func categories(
    prefix: [UInt8] = [], after name: [UInt8]? = nil, limit: Int, builds: Bool = true
  ) throws(StoreError) -> [IndexedName] {
    try names(.category, prefix: prefix, after: name, limit: limit, builds: builds)
  }

  /// Types as `names` lists them.
  package func types(
    prefix: [UInt8] = [], after name: [UInt8]? = nil, limit: Int, builds: Bool = true
  ) throws(StoreError) -> [IndexedName] {
    try names(.type, prefix: prefix, after: name, limit: limit, builds: builds)
  }

  /// Where visible events of any of these names may be, from after a sequence to the end of one part of the log.
  ///
  /// To go through the log, call it again after `through`, until that is the visible end. Other events may be in the
  /// ranges too: a reader looks at each. A stream's ranges hold its events and no others.
  ///
  /// - Returns: ascending ranges after `sequence`, and the sequence up to which they are all. If there is nothing after
  ///   `sequence`, no ranges and `sequence`.
  package func places(
    of names: [[UInt8]], _ kind: IndexedKind, after sequence: UInt64, builds: Bool = true
  ) throws(StoreError) -> (ranges: [ClosedRange<UInt64>], through: UInt64) {
    let mark = try markCaughtUp()
    let keys = Set(names).flatMap { IndexKey.keys(of: $0, kind) }
    let begin = max(sequence, mark.logBegin - 1)
    guard begin < mark.sequence else { return ([], sequence) }
    let (tables, inTables) = active.withLock { tables -> (SegmentIndex, SequenceRanges?) in
      guard begin >= tables.firstSequence - 1 else { return (tables, nil) }
      assert(tables.nextSequence > mark.sequence, "the tables hold what they are asked for")
      return (tables, .union(keys.map { tables.ranges(of: $0, after: begin, through: mark.sequence) }))
    }
    if let inTables { return (inTables.ranges, mark.sequence) }
    guard let part = parts(below: tables).last(where: { $0.last > begin }) else {
      throw .invalid(what: "no segment holds the event after \(begin)")
    }
    let ranges = try asking(part, builds: builds) { index throws(StoreError) in
      var parts: [SequenceRanges] = []
      for key in keys { parts.append(try index.ranges(of: key, after: begin)) }
      return SequenceRanges.union(parts)
    }
    return (ranges.ranges, part.last)
  }
}
