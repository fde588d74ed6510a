// The changes of events that are in no run yet.

internal import StrataBase
internal import StrataLog

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
    var key: [UInt8]
    var first: Int
    var last: Int
  }

  let begin: UInt64
  /// The commit time, the number of appends and that of failures at `begin`.
  let time: Int64?
  let appends: UInt64
  let failures: UInt64
  private var versions: [Version] = []
  private var rows: [Row] = []
  private var places: [[UInt8]: Int] = [:]
  private var bytes: [UInt8] = []
  private var events: [(event: RunEvent, versions: Range<Int>)] = []
  private var tables: [UInt32: RunTable] = [:]
  private var listed: [ProjectionFailures.Failure] = []
  private(set) var counts = RunCounts()

  init(begin: UInt64, time: Int64?, appends: UInt64, failures: UInt64) {
    self.begin = begin
    self.time = time
    self.appends = appends
    self.failures = failures
  }

  var changeCount: Int { versions.count }
  var byteCount: Int { bytes.count + rows.count * 64 + events.count * 32 }
  var eventCount: Int { events.count }
  /// The last event that was added.
  var end: UInt64 { events.last?.event.sequence ?? begin }
  /// Whether a run may end here.
  var isAtEndOfAppend: Bool { events.last?.event.endsAppend ?? false }

  /// Notes a table that the next changes are of.
  mutating func note(_ table: RunTable) { tables[table.number] = table }

  func knows(table: UInt32) -> Bool { tables[table] != nil }

  /// Adds a change of the event that is ended next.
  mutating func add(
    _ version: RunVersion, table: UInt32, id: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer
  ) {
    assert(tables[table] != nil, "a change is of a table that was not noted")
    let key = RunKey.make(table, id)
    let start = bytes.count
    bytes.append(contentsOf: content)
    let number = versions.count
    if let row = places[key] {
      versions[rows[row].last].next = number
      rows[row].last = number
      versions.append(Version(version: version, row: row, bytes: start..<bytes.count))
    } else {
      places[key] = rows.count
      versions.append(Version(version: version, row: rows.count, bytes: start..<bytes.count))
      rows.append(Row(key: key, first: number, last: number))
    }
  }

  /// Ends an event whose changes were added.
  mutating func end(_ event: RunEvent, failure: ProjectionFailures.Failure?) {
    events.append((event, (events.last?.versions.upperBound ?? 0)..<versions.count))
    if event.endsAppend { counts.appends += 1 }
    if event.hasFailed { counts.failures += 1 }
    counts.changes = UInt64(versions.count)
    if let failure { listed.append(failure) }
  }

  /// Writes all events as a delta.
  ///
  /// - Parameters:
  ///   - owners: whose keys it is to have.
  ///   - before: lends what a row was at the begin.
  func write(
    to output: RunOutput, _ limits: RunLimits, _ owners: [KeyOwner],
    _ before: (_ key: [UInt8], (RunVersion?, UnsafeRawBufferPointer) -> Void) -> Void
  ) throws(StoreError) -> WrittenRun {
    let makings = owners.map { KeyMaking($0, begin: begin, isBase: false) }
    var writer = RunWriter(
      output, begin: begin, time: time, appends: appends, failures: failures, isBase: false, limits)
    let order = rows.indices.sorted { a, b in
      rows[a].key.withUnsafeBytes { a in rows[b].key.withUnsafeBytes { a.order($0) < 0 } }
    }
    var numbers = [UInt32](repeating: 0, count: rows.count)
    for row in order {
      let key = rows[row].key
      try key.lendBytes { key throws(StoreError) in try writer.beginRow(key) }
      if !makings.isEmpty {
        let table = tables[key.withUnsafeBytes { RunKey.table($0) }]?.name ?? ""
        before(key) { version, bytes in
          key.withUnsafeBytes { key in
            for making in makings { making.begin(key, of: table, version, bytes) }
          }
        }
      }
      var next: Int? = rows[row].first
      while let place = next {
        let version = versions[place]
        try bytes.lendBytes { bytes throws(StoreError) in
          let bytes = UnsafeRawBufferPointer(rebasing: bytes[version.bytes])
          try writer.add(version.version, bytes)
          for making in makings { making.add(version.version, bytes) }
        }
        next = version.next
      }
      numbers[row] = writer.endRow()
    }
    try writer.endRows()
    for making in makings { try writer.add(making) }
    for (event, range) in events {
      try writer.add(event, versions[range].map { numbers[$0.row] })
    }
    return try writer.finish(tables.values.sorted { $0.number < $1.number }, listed)
  }
}
