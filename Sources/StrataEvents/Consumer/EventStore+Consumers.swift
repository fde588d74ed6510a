// The consumers of a store.

internal import StrataBase
public import StrataLog

extension EventStore {
  /// Returns the consumer with a name. Nothing is recorded before it has handled something.
  ///
  /// - Parameter name: 1 to 1,000 bytes of UTF-8.
  public func consumer(_ name: String, _ options: ConsumerOptions = ConsumerOptions()) -> Consumer {
    precondition((1...1000).contains(name.utf8.count), "a consumer's name has 1 to 1,000 bytes")
    return Consumer(name: name, store: self, options: options)
  }

  /// Returns how far each consumer of the store is, by name. The lag of each counts all events of the application after
  /// its position. O(consumers), and O(events after the oldest position).
  public func consumers() async throws(StoreError) -> [ConsumerStatus] {
    // On a separate thread: it may read much of the log, and the shared threads serve all reads.
    let result = await machine.thread("strata-consumers").result { [self] () throws(StoreError) in
      try consumersBlocking()
    }
    return try result.get()
  }

  /// Returns what `consumers()` returns, and blocks the calling thread.
  package func consumersBlocking() throws(StoreError) -> [ConsumerStatus] {
    try log.refresh()
    let begin = log.mark.logBegin - 1
    var counts: [LagCount] = []
    for stream in try consumerStreams() {
      // Its last event says where it is.
      guard
        let event = try eventsBlocking(in: StreamName(stream.text), after: stream.count - 1, limit: 1).last,
        let state = try ConsumerState(event)
      else { continue }
      let status = ConsumerStatus(event.stream.id, state, savedAt: event.time, lag: 0)
      counts.append(LagCount(status: status, start: max(begin, state.position?.sequence ?? begin)))
    }
    counts.sort { $0.start < $1.start }
    guard let first = counts.first else { return [] }
    // The positions ascend, so one pass counts the events after all of them.
    var (sum, place): (UInt64, Int) = (0, 0)
    try forEachEvent(after: first.start) { sequence in
      while place < counts.count, counts[place].start < sequence {
        counts[place].countBefore = sum
        place += 1
      }
      sum += 1
    }
    let statuses = counts.enumerated().map { index, count in
      var status = count.status
      status.lag = index < place ? sum - count.countBefore : 0
      return status
    }
    return statuses.sorted { $0.name < $1.name }
  }

  /// The streams of all consumers, deleted ones too. Blocks.
  private func consumerStreams() throws(StoreError) -> [IndexedName] {
    let (prefix, page) = (Array("\(StreamName.consumerCategory)/".utf8), 1000)
    var streams: [IndexedName] = []
    while true {
      let found = try log.index.streams(prefix: prefix, after: streams.last?.name, limit: page)
      streams += found
      if found.count < page { return streams }
    }
  }

  /// Calls the body with the sequence of each event of the application after a sequence. Blocks.
  private func forEachEvent(after start: UInt64, _ body: (UInt64) -> Void) throws(StoreError) {
    var cursor = log.cursor(after: start)
    while case let next = cursor.nextSequence, let block = try cursor.next() {
      do throws(ContentProblem) {
        try block.forEachEvent { event, append, sequence throws(ContentProblem) in
          guard sequence >= next,
            EventSelection.all.contains(event, sequence: sequence, time: append.commitTime)
          else { return }
          body(sequence)
        }
      } catch { throw error.storeError(of: block.header) }
    }
  }
}

/// A consumer whose waiting events are being counted.
private struct LagCount {
  var status: ConsumerStatus
  var start: UInt64
  /// The number of counted events before `start`.
  var countBefore: UInt64 = 0
}

extension ConsumerStatus {
  init(_ name: String, _ state: ConsumerState, savedAt: Timestamp?, lag: UInt64) {
    self.init(
      name: name, position: state.position, savedAt: savedAt, lag: lag, lastError: state.lastError,
      setAsideCount: state.setAsideCount, setAside: state.setAside)
  }
}
