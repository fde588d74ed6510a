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

/// Reads events by sequence, a block at a time.
package struct StreamReader {
  private let log: Log
  private var block: DecodedBlock?
  /// The number of blocks read, for tests.
  package private(set) var blocksRead = 0

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
    var rest = sequences
    while let first = rest.first {
      if block == nil || first >= (block?.header.nextSequence ?? 0) {
        block = try log.block(holding: first)
        blocksRead += 1
      }
      guard let block else {
        throw .invalid(what: "the index names sequence \(first), which the log does not have")
      }
      let inside = rest.prefix { $0 < block.header.nextSequence }
      try add(inside, of: block, to: &events)
      rest = rest.dropFirst(inside.count)
    }
  }

  private func add(
    _ sequences: Slice<SequenceList>, of block: DecodedBlock, to events: inout [RecordedEvent]
  ) throws(StoreError) {
    var wanted = sequences[...]
    var found: [RecordedEvent] = []
    do throws(ContentProblem) {
      try block.forEachEvent { event, append, sequence throws(ContentProblem) in
        guard sequence == wanted.first else { return }
        wanted.removeFirst()
        found.append(RecordedEvent(event, sequence: sequence, time: append.ownTime))
      }
    } catch {
      throw error.storeError(of: block.header)
    }
    events += found
  }
}
