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

  /// Returns how far each consumer of the store is, by name. One whose position cannot be read, because it was erased, has
  /// none, and its last error says why. The lag of each counts the events after its position that
  /// it selects by stream, category and type: see ``ConsumerStatus/isLagExact``. O(events after the oldest position ×
  /// consumers).
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
        let (state, isReadable) = ConsumerState.listed(event)
      else { continue }
      let selection = state.selection.map { EventSelection($0) } ?? .all
      let status = ConsumerStatus(
        event.stream.id, state, savedAt: event.time, lag: 0,
        isLagExact: isReadable && state.selection?.hasConditions != true, selectsNothing: selection.isEmpty)
      let start = max(begin, state.position?.sequence ?? begin)
      counts.append(LagCount(status: status, selection: selection, start: start))
    }
    guard let start = counts.map(\.start).min() else { return [] }
    try count(&counts, after: start)
    return counts.map(\.status).sorted { $0.name < $1.name }
  }

  /// The state of each consumer, by name. Blocks.
  func consumerStatesBlocking() throws(StoreError) -> [(name: String, state: ConsumerState)] {
    var states: [(name: String, state: ConsumerState)] = []
    for stream in try consumerStreams() {
      let name = StreamName(stream.text)
      guard let event = try eventsBlocking(in: name, after: stream.count - 1, limit: 1).last,
        let (state, _) = ConsumerState.listed(event)
      else { continue }
      states.append((name.id, state))
    }
    return states
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

  /// Counts for each consumer the events that it is still to receive, in one pass. Blocks.
  private func count(_ counts: inout [LagCount], after start: UInt64) throws(StoreError) {
    var cursor = log.cursor(after: start)
    while case let next = cursor.nextSequence, let block = try cursor.next() {
      do throws(ContentProblem) {
        try block.forEachEvent { event, append, sequence throws(ContentProblem) in
          guard sequence >= next else { return }
          for index in counts.indices where counts[index].start < sequence {
            guard counts[index].selection.contains(event, sequence: sequence, time: append.ownTime) else {
              continue
            }
            counts[index].status.lag += 1
          }
        }
      } catch { throw error.storeError(of: block.header) }
    }
  }
}

/// A consumer whose waiting events are being counted.
private struct LagCount {
  var status: ConsumerStatus
  let selection: EventSelection
  let start: UInt64
}

extension ConsumerStatus {
  init(
    _ name: String, _ state: ConsumerState, savedAt: Timestamp?, lag: UInt64, isLagExact: Bool,
    selectsNothing: Bool
  ) {
    self.init(
      name: name, position: state.position, savedAt: savedAt, lag: lag, isLagExact: isLagExact,
      selectsNothing: selectsNothing, lastError: state.lastError, setAsideCount: state.setAsideCount,
      setAside: state.setAside)
  }
}
