// The changes of events that are in no run yet.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Gathers changes in the order of the events, until they are written as a run. Belongs to one thread at a time.
struct PendingRun {
  private struct Version {
    var version: RunVersion
    var row: Int
    var bytes: Range<Int>
    /// The next version of the same row.
    var next: Int?
  }

  private struct Row {
    /// In `keys`.
    var key: Range<Int>
    var first: Int
    var last: Int
    /// Another row whose key has the same hash.
    var other: Int?
  }

  /// The most bytes of documents that the next run is given the room of.
  private static let keptLengthMax = 8 << 20

  private(set) var begin: UInt64
  /// The own time, the number of appends and that of failures at `begin`.
  private var time: Int64?
  private var appends: UInt64
  private var failures: UInt64
  private var versions: [Version] = []
  private var rows: [Row] = []
  private var keys: [UInt8] = []
  /// The last row with a hash.
  private var lastRows: [UInt64: Int] = [:]
  private var bytes: [UInt8] = []
  private var events: [(event: RunEvent, versions: Range<Int>)] = []
  private var tables: [UInt32: RunTable] = [:]
  /// The table that was noted last.
  private var lastTable: UInt32?
  private var listed: [ProjectionFailures.Failure] = []
  private(set) var counts = RunCounts()

  init(begin: UInt64, time: Int64?, appends: UInt64, failures: UInt64) {
    self.begin = begin
    self.time = time
    self.appends = appends
    self.failures = failures
  }

  /// Begins the next run after this one was written, in the same memory.
  mutating func beginNext(begin: UInt64, time: Int64?, appends: UInt64, failures: UInt64) {
    assert(begin == end, "the next run begins where this one ends")
    (self.begin, self.time, self.appends, self.failures) = (begin, time, appends, failures)
    versions.removeAll(keepingCapacity: true)
    rows.removeAll(keepingCapacity: true)
    keys.removeAll(keepingCapacity: true)
    lastRows.removeAll(keepingCapacity: true)
    // One large document is not kept room for.
    bytes.removeAll(keepingCapacity: bytes.capacity <= Self.keptLengthMax)
    events.removeAll(keepingCapacity: true)
    tables.removeAll()
    lastTable = nil
    listed.removeAll()
    counts = RunCounts()
  }

  var changeCount: Int { versions.count }
  var byteCount: Int { bytes.count + rows.count * 64 + events.count * 32 }
  var eventCount: Int { events.count }
  /// The last event that was added.
  var end: UInt64 { events.last?.event.sequence ?? begin }
  /// Whether a run may end here.
  var isAtEndOfAppend: Bool { events.last?.event.endsAppend ?? false }

  /// Notes a table that the next changes are of.
  mutating func note(_ table: RunTable) {
    if lastTable == table.number { return }
    tables[table.number] = table
    lastTable = table.number
  }

  /// Adds a change of the event that is ended next.
  mutating func add(
    _ version: RunVersion, table: UInt32, id: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer
  ) {
    assert(tables[table] != nil, "a change is of a table that was not noted")
    assert(version.sequence > end, "a change is of an event that was ended")
    let start = bytes.count
    bytes.append(contentsOf: content)
    let number = versions.count
    let row = row(table, id, first: number)
    if rows[row].last != number {
      versions[rows[row].last].next = number
      rows[row].last = number
    }
    versions.append(Version(version: version, row: row, bytes: start..<bytes.count))
  }

  /// The row with a key, which is added if there is none.
  private mutating func row(_ table: UInt32, _ id: UnsafeRawBufferPointer, first version: Int) -> Int {
    let start = keys.count
    withUnsafeBytes(of: table.bigEndian) { keys.append(contentsOf: $0) }
    keys.append(contentsOf: id)
    let (hash, found) = keys.withUnsafeBytes { all in
      let key = UnsafeRawBufferPointer(rebasing: all[start...])
      let hash = XXH64.of(key)
      var next = lastRows[hash]
      while let row = next, !UnsafeRawBufferPointer(rebasing: all[rows[row].key]).hasSameBytes(as: key) {
        next = rows[row].other
      }
      return (hash, next)
    }
    if let found {
      keys.removeLast(keys.count - start)
      return found
    }
    rows.append(
      Row(
        key: start..<keys.count, first: version, last: version,
        other: lastRows.updateValue(rows.count, forKey: hash)))
    return rows.count - 1
  }

  /// Ends an event whose changes were added.
  mutating func end(_ event: RunEvent, failure: ProjectionFailures.Failure?) {
    assert(event.sequence > end, "events are ended in order")
    assert(
      versions.last.map { $0.version.sequence <= event.sequence } ?? true, "a change is of a later event")
    events.append((event, (events.last?.versions.upperBound ?? 0)..<versions.count))
    if event.endsAppend { counts.appends += 1 }
    if event.hasFailed { counts.failures += 1 }
    counts.changes = UInt64(versions.count)
    if let failure { listed.append(failure) }
  }

  /// Writes all events as a delta.
  ///
  /// - Parameters:
  ///   - makings: make the keys that it is to have.
  ///   - before: lends what a row was at the begin.
  func write(
    to output: RunOutput, _ limits: RunLimits, _ makings: [KeyMaking],
    _ before: (_ key: UnsafeRawBufferPointer, (RunVersion?, UnsafeRawBufferPointer) -> Void) -> Void
  ) throws(RunFailure) -> WrittenRun {
    assert(isAtEndOfAppend, "a run ends inside an append")
    var writer = RunWriter(
      output, begin: begin, time: time, appends: appends, failures: failures, isBase: false, limits)
    let numbers: [UInt32]
    do throws(StoreError) { numbers = try writeRows(to: &writer, makings, before) } catch {
      throw RunFailure(error)
    }
    for making in makings {
      if let keys = try making.write(.max, to: output, limits) { writer.add(keys) }
    }
    do throws(StoreError) {
      for (event, range) in events {
        try writer.add(event, versions[range].map { numbers[$0.row] })
      }
      return try writer.finish(tables.values.sorted { $0.number < $1.number }, listed)
    } catch { throw RunFailure(error) }
  }

  /// Writes all rows, and gives them to what makes keys. Returns the number of each in the run.
  private func writeRows(
    to writer: inout RunWriter, _ makings: [KeyMaking],
    _ before: (_ key: UnsafeRawBufferPointer, (RunVersion?, UnsafeRawBufferPointer) -> Void) -> Void
  ) throws(StoreError) -> [UInt32] {
    let order = keys.withUnsafeBytes { all in
      rows.indices.sorted { a, b in
        UnsafeRawBufferPointer(rebasing: all[rows[a].key])
          .order(UnsafeRawBufferPointer(rebasing: all[rows[b].key])) < 0
      }
    }
    var numbers = [UInt32](repeating: 0, count: rows.count)
    for row in order {
      try keys.lendBytes { all throws(StoreError) in
        let key = UnsafeRawBufferPointer(rebasing: all[rows[row].key])
        try writer.beginRow(key)
        if !makings.isEmpty {
          let table = tables[RunKey.table(key)]?.name ?? ""
          before(key) { version, bytes in
            for making in makings { making.begin(key, of: table, version, bytes) }
          }
        }
      }
      try bytes.lendBytes { all throws(StoreError) in
        var next: Int? = rows[row].first
        while let index = next {
          let version = versions[index]
          let bytes = UnsafeRawBufferPointer(rebasing: all[version.bytes])
          try writer.add(version.version, bytes)
          for making in makings { making.add(version.version, bytes) }
          next = version.next
        }
      }
      numbers[row] = writer.endRow()
    }
    try writer.endRows()
    return numbers
  }
}
