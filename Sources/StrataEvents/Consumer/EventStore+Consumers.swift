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
  /// its position. O(events of the log).
  public func consumers() async throws(StoreError) -> [ConsumerStatus] {
    // On a separate thread: it may read the whole log, and the shared threads serve all reads.
    let result = await machine.thread("strata-consumers").result { [self] () throws(StoreError) in
      try consumersBlocking()
    }
    return try result.get()
  }

  /// Returns what `consumers()` returns, and blocks the calling thread.
  package func consumersBlocking() throws(StoreError) -> [ConsumerStatus] {
    try log.refresh()
    let begin = log.mark.logBegin - 1
    // The last event of each consumer.
    var events: [String: RecordedEvent] = [:]
    try forEachEvent(of: .category(StreamName.consumerCategory), after: begin) { view, sequence, time in
      let event = RecordedEvent(view, sequence: sequence, time: time)
      events[event.stream.id] = event
    }
    var counts: [LagCount] = []
    for (name, event) in events {
      guard let state = try ConsumerState(event) else { continue }
      let status = ConsumerStatus(name, state, savedAt: event.time, lag: 0)
      counts.append(LagCount(status: status, start: max(begin, state.position?.sequence ?? begin)))
    }
    counts.sort { $0.start < $1.start }
    guard let first = counts.first else { return [] }
    // The positions ascend, so one pass counts the events after all of them.
    var (sum, place): (UInt64, Int) = (0, 0)
    try forEachEvent(of: .all, after: first.start) { _, sequence, _ in
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

  /// Calls the body with each selected event after a sequence. Blocks.
  private func forEachEvent(
    of selection: EventSelection, after start: UInt64, _ body: (borrowing EventView, UInt64, Int64) -> Void
  ) throws(StoreError) {
    var cursor = log.cursor(after: start)
    while case let next = cursor.nextSequence, let block = try cursor.next() {
      do throws(ContentProblem) {
        try block.forEachEvent { event, append, sequence throws(ContentProblem) in
          guard sequence >= next, selection.contains(event, sequence: sequence, time: append.commitTime)
          else { return }
          body(event, sequence, append.commitTime)
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
