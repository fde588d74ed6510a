// The record of a run that names all its other parts.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// What a run is about, and where its parts are.
package struct RunRoot: Equatable, Sendable {
  static let baseFlag: UInt8 = 1
  static let timeFlag: UInt8 = 2
  static let rowsFlag: UInt8 = 4
  static let filterFlag: UInt8 = 8
  static let keysFlag: UInt8 = 16

  /// Whether it also holds what lived at its begin.
  var isBase: Bool
  /// The run is of the events after `begin`, up to `end`.
  var begin: UInt64
  var end: UInt64
  /// The own time, the appends and the failures at `begin`.
  var time: Int64?
  var appends: UInt64
  var failures: UInt64
  /// What the run itself adds.
  var counts = RunCounts()
  var rowCount: UInt64 = 0
  var versionCount: UInt64 = 0
  /// Nil if there is no row.
  var rows: RunTreeRoot?
  /// Every run has an event.
  var changes: RunTreeRoot
  /// Which keys a delta may have; nil for a base.
  var filter: RecordAddress?
  var tables: RecordAddress
  var listedFailures: RecordAddress
  /// The keys of all rows, and of lists; nil if the run has none.
  var keys: RecordAddress?

  func encode(to bytes: inout RawBuffer) {
    var flags: UInt8 = isBase ? Self.baseFlag : 0
    if time != nil { flags |= Self.timeFlag }
    if rows != nil { flags |= Self.rowsFlag }
    if filter != nil { flags |= Self.filterFlag }
    if keys != nil { flags |= Self.keysFlag }
    bytes.append(byte: flags)
    bytes.append(varint: begin)
    bytes.append(varint: end)
    if let time { bytes.append(integer: time) }
    for number in [
      appends, failures, counts.appends, counts.failures, counts.changes, rowCount, versionCount,
    ] {
      bytes.append(varint: number)
    }
    rows?.append(to: &bytes)
    changes.append(to: &bytes)
    filter?.append(to: &bytes)
    tables.append(to: &bytes)
    listedFailures.append(to: &bytes)
    keys?.append(to: &bytes)
  }
}

extension RunRoot {
  init(decoding record: RunRecord) throws(PageDamage) {
    var cursor = record.cursor
    guard let root = RunRoot(&cursor), cursor.remaining == 0 else {
      throw PageDamage("the root of a run is broken")
    }
    self = root
  }

  private init?(_ cursor: inout ByteCursor) {
    guard let flags = cursor.integer(UInt8.self), flags < 32, let begin = cursor.varint(),
      let end = cursor.varint(), begin < end
    else { return nil }
    isBase = flags & Self.baseFlag != 0
    (self.begin, self.end) = (begin, end)
    if flags & Self.timeFlag != 0 {
      guard let time = cursor.integer(Int64.self) else { return nil }
      self.time = time
    }
    guard let appends = cursor.varint(), let failures = cursor.varint(), let ownAppends = cursor.varint(),
      let ownFailures = cursor.varint(), let changes = cursor.varint(), let rowCount = cursor.varint(),
      let versionCount = cursor.varint(), rowCount <= UInt64(UInt32.max)
    else { return nil }
    (self.appends, self.failures) = (appends, failures)
    counts = RunCounts(appends: ownAppends, failures: ownFailures, changes: changes)
    (self.rowCount, self.versionCount) = (rowCount, versionCount)
    if flags & Self.rowsFlag != 0 {
      guard let rows = RunTreeRoot(&cursor) else { return nil }
      self.rows = rows
    }
    guard let changesRoot = RunTreeRoot(&cursor) else { return nil }
    self.changes = changesRoot
    if flags & Self.filterFlag != 0 {
      guard let filter = RecordAddress(&cursor) else { return nil }
      self.filter = filter
    }
    guard let tables = RecordAddress(&cursor), let listed = RecordAddress(&cursor) else { return nil }
    (self.tables, listedFailures) = (tables, listed)
    if flags & Self.keysFlag != 0 {
      guard let keys = RecordAddress(&cursor) else { return nil }
      self.keys = keys
    }
  }
}

// MARK: Tables and failures

extension RunRoot {
  static func encode(_ tables: [RunTable], to bytes: inout RawBuffer) {
    bytes.append(varint: UInt64(tables.count))
    for table in tables {
      bytes.append(varint: UInt64(table.number))
      bytes.append(varint: table.first)
      append(table.name, to: &bytes)
    }
  }

  static func tables(decoding record: RunRecord) throws(PageDamage) -> [RunTable] {
    var cursor = record.cursor
    var tables: [RunTable] = []
    let count = cursor.varint() ?? .max
    while UInt64(tables.count) < count {
      guard let number = cursor.varint().flatMap(UInt32.init(exactly:)), let first = cursor.varint(),
        let name = cursor.lengthPrefixed(), name.isUTF8, tables.last.map({ $0.number < number }) ?? true
      else { throw PageDamage("the tables of a run are broken") }
      tables.append(RunTable(number: number, first: first, name: String(decoding: name, as: UTF8.self)))
    }
    guard cursor.remaining == 0 else { throw PageDamage("the tables of a run are broken") }
    return tables
  }

  static func encode(_ failures: [ProjectionFailures.Failure], to bytes: inout RawBuffer) {
    bytes.append(varint: UInt64(failures.count))
    for failure in failures {
      bytes.append(varint: failure.sequence)
      append(failure.what, to: &bytes)
    }
  }

  static func failures(
    decoding record: RunRecord
  ) throws(PageDamage) -> [ProjectionFailures.Failure] {
    var cursor = record.cursor
    var failures: [ProjectionFailures.Failure] = []
    let count = cursor.varint() ?? .max
    while UInt64(failures.count) < count {
      guard let sequence = cursor.varint(), let what = cursor.lengthPrefixed(), what.isUTF8,
        failures.last.map({ $0.sequence < sequence }) ?? true
      else { throw PageDamage("the failures of a run are broken") }
      failures.append(.init(sequence: sequence, what: String(decoding: what, as: UTF8.self)))
    }
    guard cursor.remaining == 0 else { throw PageDamage("the failures of a run are broken") }
    return failures
  }

  private static func append(_ text: String, to bytes: inout RawBuffer) {
    var text = text
    text.withUTF8 { text in
      bytes.append(varint: UInt64(text.count))
      bytes.append(UnsafeRawBufferPointer(text))
    }
  }
}
