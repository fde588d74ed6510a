// Writes which rows the events of a run changed, in the order of the events.

internal import StrataBase
internal import StrataLog

/// What a run knows of one event besides the rows that it changed.
struct RunEvent: Equatable, Sendable {
  var sequence: UInt64
  /// The own time of its append.
  var time: Int64
  /// Whether it is the last one of its append.
  var endsAppend: Bool
  /// Whether the projection could not apply it.
  var hasFailed: Bool
}

/// What a run counts from its begin.
struct RunCounts: Equatable, Sendable {
  var appends: UInt64 = 0
  var failures: UInt64 = 0
  var changes: UInt64 = 0
}

/// ```
/// page    sequence of the first event, appends, failures and changes before it, its time, then events
/// event   rows × 8 + flags, the distance of its time if it is another one, the numbers of the rows
/// ```
struct RunChangesWriter: ~Copyable {
  static let failedFlag: UInt64 = 1
  static let endsAppendFlag: UInt64 = 2
  static let timeFlag: UInt64 = 4

  private let begin: UInt64
  private let limits: RunLimits
  private let output: RunOutput
  private var tree: RunTreeWriter
  private var page = RawBuffer(capacity: 1 << 13)
  private var position: RunPosition?
  private var time: Int64 = 0
  private(set) var counts = RunCounts()

  init(_ output: RunOutput, begin: UInt64, _ limits: RunLimits) {
    self.output = output
    self.begin = begin
    self.limits = limits
    tree = RunTreeWriter(pageLength: limits.pageLength)
  }

  /// Adds the next event.
  mutating func add(_ event: RunEvent, _ rows: some Collection<UInt32>) throws(StoreError) {
    if page.count >= limits.pageLength { try flush() }
    if position == nil {
      position = RunPosition(sequence: event.sequence, number: counts.changes)
      page.append(varint: event.sequence &- begin)
      page.append(varint: counts.appends)
      page.append(varint: counts.failures)
      page.append(varint: counts.changes)
      page.append(integer: event.time)
      time = event.time
    }
    var flags = UInt64(rows.count) << 3
    if event.hasFailed { flags |= Self.failedFlag }
    if event.endsAppend { flags |= Self.endsAppendFlag }
    if event.time != time { flags |= Self.timeFlag }
    page.append(varint: flags)
    if event.time != time { page.append(varint: ZigZag.encode(event.time &- time)) }
    for row in rows { page.append(varint: UInt64(row)) }
    time = event.time
    counts.changes += UInt64(rows.count)
    if event.endsAppend { counts.appends += 1 }
    if event.hasFailed { counts.failures += 1 }
  }

  mutating func finish() throws(StoreError) -> RunTreeRoot? {
    if position != nil { try flush() }
    return try tree.finish(output)
  }

  private mutating func flush() throws(StoreError) {
    guard let position else { return }
    let address = try output.append(page.bytes)
    try tree.add(position, address, output)
    self.position = nil
    page.removeAll()
  }
}
