// Writes one run: its rows, then its changes, then what names them.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// What is known of a run that was written and is durable, but has no entry in the manifest.
struct WrittenRun: Sendable {
  var number: UInt32
  var length: UInt64
  var address: RecordAddress
  var root: RunRoot
}

/// First come all rows with their versions, in order; then the keys; then all events in order, with the numbers of the
/// rows.
struct RunWriter: ~Copyable {
  private let output: RunOutput
  private let isBase: Bool
  private let begin: UInt64
  private let time: Int64?
  private let appends: UInt64
  private let failures: UInt64
  private var rowsWriter: RunRowsWriter
  private var changesWriter: RunChangesWriter
  private var rowsRoot: RunTreeRoot?
  private var keys: [OwnerKeys] = []
  private let limits: RunLimits
  /// The hashes of the keys of a delta, for its filter.
  private var hashes: [UInt64] = []
  private var last: UInt64

  /// - Parameters:
  ///   - time: the own time, the number of appends and that of failures at `begin`.
  init(
    _ output: RunOutput, begin: UInt64, time: Int64?, appends: UInt64, failures: UInt64, isBase: Bool,
    _ limits: RunLimits
  ) {
    self.output = output
    self.isBase = isBase
    self.begin = begin
    self.time = time
    self.appends = appends
    self.failures = failures
    self.limits = limits
    last = begin
    rowsWriter = RunRowsWriter(output, RunOrigin(begin: begin, isBase: isBase), limits)
    changesWriter = RunChangesWriter(output, begin: begin, limits)
  }

  mutating func beginRow(_ key: UnsafeRawBufferPointer) throws(StoreError) {
    if !isBase { hashes.append(XXH64.of(key)) }
    try rowsWriter.begin(key)
  }

  mutating func add(_ version: RunVersion, _ content: UnsafeRawBufferPointer) throws(StoreError) {
    try rowsWriter.add(version, content)
  }

  /// Ends the row, and returns its number.
  mutating func endRow() -> UInt32 {
    rowsWriter.end()
    return UInt32(truncatingIfNeeded: rowsWriter.rowCount - 1)
  }

  mutating func endRows() throws(StoreError) { rowsRoot = try rowsWriter.finish() }

  /// Adds keys that were written to the output.
  mutating func add(_ keys: OwnerKeys) {
    assert(!self.keys.contains { $0.owner == keys.owner }, "a run has the keys of an owner once")
    self.keys.append(keys)
  }

  mutating func add(_ event: RunEvent, _ rows: some Collection<UInt32>) throws(StoreError) {
    assert(event.sequence > last, "the events of a run ascend")
    last = event.sequence
    try changesWriter.add(event, rows)
  }

  /// Ends the run and makes it durable.
  mutating func finish(
    _ tables: [RunTable], _ listed: [ProjectionFailures.Failure]
  ) throws(StoreError) -> WrittenRun {
    assert(isBase == hashes.isEmpty || rowsWriter.rowCount == 0, "only a delta has a filter")
    guard let changes = try changesWriter.finish() else {
      preconditionFailure("a run is written without an event")
    }
    var buffer = RawBuffer(capacity: 1 << 12)
    var filter: RecordAddress?
    if !isBase, !hashes.isEmpty {
      filter = try KeyFilter.make(hashes).lendBytes { bytes throws(StoreError) in try output.append(bytes) }
    }
    RunRoot.encode(tables, to: &buffer)
    let tablesAddress = try output.append(buffer.bytes)
    buffer.removeAll()
    RunRoot.encode(listed, to: &buffer)
    let failuresAddress = try output.append(buffer.bytes)
    buffer.removeAll()
    var keysAddress: RecordAddress?
    if !keys.isEmpty {
      OwnerKeys.encode(keys, to: &buffer)
      keysAddress = try output.append(buffer.bytes)
      buffer.removeAll()
    }
    let root = RunRoot(
      isBase: isBase, begin: begin, end: last, time: time, appends: appends, failures: failures,
      counts: changesWriter.counts, rowCount: rowsWriter.rowCount, versionCount: rowsWriter.versionCount,
      rows: rowsRoot, changes: changes, filter: filter, tables: tablesAddress,
      listedFailures: failuresAddress, keys: keysAddress)
    root.encode(to: &buffer)
    let address = try output.append(buffer.bytes)
    try output.finish()
    return WrittenRun(number: output.number, length: output.length, address: address, root: root)
  }
}
