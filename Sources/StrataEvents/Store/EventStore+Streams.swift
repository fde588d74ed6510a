// Reading one stream: the index gives the sequences of its events, and only the blocks that hold them are read.

internal import StrataBase
public import StrataLog

extension EventStore {
  /// Returns the number of events in a stream; 0 if there is no such stream.
  public func version(of stream: StreamName) async throws(StoreError) -> UInt64 {
    let name = Array(stream.text.utf8)
    return try await lookingUp { [log] builds throws(StoreError) in
      try log.refresh()
      return try log.index.revision(of: name, builds: builds)
    }
  }

  /// Returns the events of a stream after a revision, oldest first, at most `limit` of them.
  ///
  /// Reads only the blocks that hold them.
  public func events(
    in stream: StreamName, after revision: UInt64 = 0, limit: Int = 1000
  ) async throws(StoreError) -> [RecordedEvent] {
    try await lookingUp { [self] builds throws(StoreError) in
      try events(in: stream, after: revision, limit: limit, builds: builds)
    }
  }

  /// Returns the events of a stream before a revision, newest first, at most `limit` of them: without a revision, from
  /// the stream's end backwards.
  ///
  /// Reads only the blocks that hold them.
  public func events(
    in stream: StreamName, before revision: UInt64?, limit: Int = 1000
  ) async throws(StoreError) -> [RecordedEvent] {
    try await lookingUp { [self] builds throws(StoreError) in
      try log.refresh()
      let version = try log.index.revision(of: Array(stream.text.utf8), builds: builds)
      let last = min(version, revision.map { $0 > 0 ? $0 - 1 : 0 } ?? version)
      let count = min(last, UInt64(max(0, limit)))
      return try events(in: stream, after: last - count, limit: Int(clamping: count), builds: builds)
        .reversed()
    }
  }

  /// Returns the events of a stream as `events(in:after:limit:)` does, and blocks the calling thread.
  public func eventsBlocking(
    in stream: StreamName, after revision: UInt64 = 0, limit: Int = 1000
  ) throws(StoreError) -> [RecordedEvent] {
    try events(in: stream, after: revision, limit: limit, builds: true)
  }

  private func events(
    in stream: StreamName, after revision: UInt64, limit: Int, builds: Bool
  ) throws(StoreError) -> [RecordedEvent] {
    try log.refresh()
    var reader = StreamReader(log: log)
    return try reader.events(of: Array(stream.text.utf8), after: revision, limit: limit, builds: builds)
  }

  /// Runs a lookup on the shared I/O threads. If it needs an index that is not built, it runs again on the store's
  /// index thread, which may build the index: that takes as long as reading the segments.
  package func lookingUp<Result: Sendable>(
    _ body: @escaping @Sendable (_ builds: Bool) throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    let found = await machine.reads.result { () throws(StoreError) in try body(false) }
    do throws(StoreError) { return try found.get() } catch {
      guard error.reason == .indexMissing else { throw error }
    }
    let built = await log.index.threads.result { () throws(StoreError) in try body(true) }
    return try built.get()
  }
}

/// Reads events by sequence, from parts of blocks.
package struct StreamReader {
  private let log: Log
  private var part: EventPart?
  /// The number of parts of blocks that were asked for, for tests.
  package private(set) var partsRead = 0

  package init(log: Log) { self.log = log }

  package mutating func events(
    of stream: [UInt8], after revision: UInt64, limit: Int, builds: Bool = true
  ) throws(StoreError) -> [RecordedEvent] {
    var events: [RecordedEvent] = []
    for part in try log.index.parts(of: stream, after: revision, limit: limit, builds: builds) {
      let skipped = revision > part.base ? Int(min(revision - part.base, UInt64(part.sequences.count))) : 0
      let wanted = part.sequences[skipped...].prefix(max(0, limit - events.count))
      try read(wanted, into: &events)
      if events.count >= limit { break }
    }
    return events
  }

  /// Adds the events with these sequences, which ascend.
  private mutating func read(
    _ sequences: Slice<SequenceList>, into events: inout [RecordedEvent]
  ) throws(StoreError) {
    events.reserveCapacity(events.count + sequences.count)
    var hasAsked = false
    for index in sequences.indices {
      let sequence = sequences[index]
      if part.map({ sequence < $0.firstSequence || sequence >= $0.endSequence }) ?? true {
        part = try log.part(holding: sequence) { end in
          sequences[index...].prefix { $0 < end }.last ?? sequence
        }
        partsRead += 1
        // Where the others are is known now: these are sequences of one segment.
        if !hasAsked, let part { log.willRead(sequences[index...].drop { $0 < part.endSequence }) }
        hasAsked = true
      }
      guard let part else {
        throw .invalid(what: "the index names sequence \(sequence), which the log does not have")
      }
      events.append(try RecordedEvent(sequence, in: part))
    }
  }
}
