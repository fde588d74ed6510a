// Positions by time, and appends by id and by sequence.

internal import StrataBase
public import StrataLog

extension EventStore {
  /// Returns the end of the last append whose own time is not later than `time`; the beginning of the log if all are
  /// later. An append's own time is the one that was given for it, otherwise its commit time: one clock that was ahead
  /// hides nothing that was appended after it.
  ///
  /// Later appends may move the position of a time that is past: one whose clock was behind belongs to it, too.
  public func position(at time: Timestamp) async throws(StoreError) -> LogPosition {
    try await lookingUp { [self] builds throws(StoreError) in
      try log.refresh()
      let last = try positionBlocking(at: time, builds: builds)
      return LogPosition(sequence: last, chain: try log.chain(after: last) ?? 0)
    }
  }

  /// Returns the sequence of that position. Blocks.
  ///
  /// - Parameter builds: whether a missing index of a closed segment is built; if not, `indexMissing` is thrown.
  package func positionBlocking(at time: Timestamp, builds: Bool = true) throws(StoreError) -> UInt64 {
    try log.lastAppend(notAfter: time.nanoseconds, builds: builds)?.last ?? log.mark.logBegin - 1
  }

  /// Returns the append with an id, or nil if there is none.
  public func append(withID id: String) async throws(StoreError) -> RecordedAppend? {
    try await lookingUp { [self] builds throws(StoreError) in
      try log.refresh()
      return try log.index.first(ofID: Array(id.utf8), builds: builds).flatMap { first throws(StoreError) in
        try recordedAppend(holding: first)
      }
    }
  }

  /// Returns the append that holds a sequence, or nil if the log does not have that sequence. Blocks.
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

  /// Returns the append that holds a sequence, or nil if the log does not have that sequence.
  public func append(holding sequence: UInt64) async throws(StoreError) -> RecordedAppend? {
    let result = await machine.reads.result { [self] () throws(StoreError) in
      if sequence > log.mark.sequence { try log.refresh() }
      return try appendBlocking(holding: sequence)
    }
    return try result.get()
  }
}
