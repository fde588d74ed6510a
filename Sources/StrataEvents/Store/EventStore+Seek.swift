// Places in the log by time, by number of appends and by append id.

internal import StrataBase
public import StrataLog

extension EventStore {
  /// The end of the last append whose commit time is not later than `time`; the beginning where all are later.
  public func position(at time: Timestamp) async throws(StoreError) -> LogPosition {
    let result = await machine.reads.result { [log] () throws(StoreError) in
      try log.refresh()
      let last = try log.lastAppend(notAfter: time.nanoseconds)?.last ?? log.mark.logBegin - 1
      return LogPosition(sequence: last, chain: try log.chain(after: last) ?? 0)
    }
    return try result.get()
  }

  /// The sequence of that place, for a thread that may block.
  package func positionBlocking(at time: Timestamp) throws(StoreError) -> UInt64 {
    try log.lastAppend(notAfter: time.nanoseconds)?.last ?? log.mark.logBegin - 1
  }

  /// The append with an id, or nil where there is none.
  public func append(withID id: String) async throws(StoreError) -> RecordedAppend? {
    try await lookingUp { [self] builds throws(StoreError) in
      try log.refresh()
      return try log.index.first(ofID: Array(id.utf8), builds: builds).flatMap { first throws(StoreError) in
        try recordedAppend(holding: first)
      }
    }
  }

  /// The append that holds a sequence, or nil where the log does not have it. Blocks.
  package func appendBlocking(holding sequence: UInt64) throws(StoreError) -> RecordedAppend? {
    try recordedAppend(holding: sequence)
  }

  private func recordedAppend(holding sequence: UInt64) throws(StoreError) -> RecordedAppend? {
    guard let block = try log.block(holding: sequence) else { return nil }
    do throws(ContentProblem) {
      return try RecordedAppend.appends(in: block, after: sequence - 1).first
    } catch {
      throw error.storeError(of: block.header, through: sequence)
    }
  }

  /// The append that holds a sequence, or nil where the log does not have it.
  public func append(holding sequence: UInt64) async throws(StoreError) -> RecordedAppend? {
    let result = await machine.reads.result { [self] () throws(StoreError) in
      if sequence > log.mark.sequence { try log.refresh() }
      return try appendBlocking(holding: sequence)
    }
    return try result.get()
  }
}
