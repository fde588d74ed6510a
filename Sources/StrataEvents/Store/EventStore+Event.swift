// Reads of single events by their sequences.

internal import StrataBase
public import StrataLog

extension EventStore {
  /// Returns the event that has a sequence, or nil if the log does not have it.
  ///
  /// In a process that writes, an event whose block is in memory is found without another thread. What is kept there is
  /// bounded: see `StoreOptions.pageCacheSize`.
  public func event(at sequence: UInt64) async throws(StoreError) -> RecordedEvent? {
    // A process that only reads has to ask the disk whether another one has replaced the file.
    if !log.isReadOnly, let part = log.partInMemory(holding: sequence) {
      return try RecordedEvent(sequence, in: part)
    }
    let result = await machine.reads.result { [self] () throws(StoreError) -> RecordedEvent? in
      if sequence > log.mark.sequence { try log.refresh() }
      guard let part = try log.part(holding: sequence) else { return nil }
      return try RecordedEvent(sequence, in: part)
    }
    return try result.get()
  }

  /// Calls the body with the event that has a sequence and with its payload, and returns what it returns; nil if the log
  /// does not have the event. Blocks: do not call it on the cooperative pool.
  ///
  /// Nothing of the event is copied. From memory, this takes about 3 µs, and less than one for events that are read often;
  /// otherwise it reads and decodes as little as holds the event.
  ///
  /// - Throws: a `StoreError`, or what the body throws.
  public func withEventBlocking<Result>(
    at sequence: UInt64, _ body: (borrowing BorrowedEvent, _ payload: RawSpan) throws -> Result
  ) throws -> Result? {
    if sequence > log.mark.sequence { try log.refresh() }
    guard let part = try log.part(holding: sequence) else { return nil }
    // The bytes live as long as the part.
    defer { withExtendedLifetime(part) {} }
    let (event, time) = try part.event(sequence)
    return try body(BorrowedEvent(event, sequence: sequence, time: time), event.payload.bytes)
  }
}

extension RecordedEvent {
  /// Copies an event that a part of a block has.
  init(_ sequence: UInt64, in part: EventPart) throws(StoreError) {
    let (event, time) = try part.event(sequence)
    self.init(event, sequence: sequence, time: time)
    withExtendedLifetime(part) {}
  }
}
