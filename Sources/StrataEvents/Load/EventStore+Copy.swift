// Copies the appends of another store's feed, with the positions of consumers that hold here too.

internal import StrataBase
internal import StrataDocuments
internal import StrataLog

/// What a copy of recorded appends has put on disk.
public struct CopyReceipt: Hashable, Sendable {
  public var loaded = LoadReceipt()
  /// The number of events that were left out: erased ones, and those of Strata's own but for positions of consumers.
  public var leftOutCount: UInt64 = 0
  /// The names of the consumers whose positions were dropped, because this store has other events up to there, ascending.
  /// They have none here, and begin where their options say.
  public var droppedConsumers: [String] = []
}

extension EventStore {
  /// Appends what another store's feed delivers, as `load` does: each append with its events, their metadata, its id and
  /// its own time.
  ///
  /// A feed has positions of consumers only with `includingInternal()`. One is copied if this store has the same events
  /// up to there, which the chain tells. That is so for a feed from the beginning into an empty store, until something is
  /// left out, and as long as neither store salts its events. Every other position is dropped and named: the consumer
  /// would skip or repeat events.
  ///
  /// Left out are events whose content was erased, and Strata's own, such as orders to erase. A backup, or an export
  /// that is imported, keeps those too.
  ///
  /// ```swift
  /// func copy(_ store: EventStore, into other: EventStore) async throws {
  ///   let receipt = try await other.load(copying: store.feed(of: .all.includingInternal(), until: .caughtUp))
  ///   print(receipt.loaded.appendCount, "appends; positions dropped:", receipt.droppedConsumers)
  /// }
  /// ```
  ///
  /// A saved position is compared only when everything before it is in the log, so the load waits at each.
  ///
  /// - Throws: what `load` throws. The index of a `LoadError` is that of the recorded append.
  @discardableResult
  public nonisolated(nonsending) func load<Appends: AsyncSequence>(
    copying appends: Appends, durableEvery: Int? = nil, reached: (LoadReceipt) -> Void = { _ in }
  ) async throws -> CopyReceipt where Appends.Element == RecordedAppend {
    var copy = RecordedCopy()
    copy.receipt.loaded = try await load(appends, durableEvery: durableEvery, reached: reached) {
      load, append in
      let events = try await events(toCopyOf: append, &load, &copy)
      guard !events.isEmpty else {
        load.passOver()
        return true
      }
      return load.submit(blocks: false) { () throws(StoreError) in
        try draft(events, id: append.id, time: append.ownTime, expecting: [:], isOwn: false)
      }
    }
    // What was copied of them is before what was dropped, and would be handled again.
    for name in copy.dropped.intersection(copy.kept) { try await consumer(name).delete() }
    copy.receipt.droppedConsumers = copy.dropped.sorted()
    return copy.receipt
  }

  private nonisolated(nonsending) func events(
    toCopyOf append: RecordedAppend, _ load: inout BulkLoad, _ copy: inout RecordedCopy
  ) async throws -> [NewEvent] {
    var events: [NewEvent] = []
    for event in append.events {
      if event.stream.category == StreamName.consumerCategory, event.state == .whole {
        guard try await hasSame(event, load) else {
          copy.dropped.insert(event.stream.id)
          continue
        }
        copy.kept.insert(event.stream.id)
        copy.dropped.remove(event.stream.id)
      } else if event.state != .whole || event.stream.text.utf8.first == UInt8(ascii: "$") {
        copy.receipt.leftOutCount += 1
        continue
      }
      events.append(
        NewEvent(event.type, in: event.stream, payload: event.payload, metadata: try event.metadata()))
    }
    return events
  }

  /// Whether the position that a consumer's event saves is one of this store.
  private nonisolated(nonsending) func hasSame(_ event: RecordedEvent, _ load: BulkLoad) async throws -> Bool
  {
    guard let state = try? ConsumerState(event) else { return event.type == ConsumerState.deleted }
    guard state.at != nil else { return true }
    guard let position = state.position else { return false }
    await load.run.drained()
    let found = await machine.reads.result { [log] () throws(StoreError) in
      position.sequence > log.mark.sequence ? nil : try log.chain(after: position.sequence)
    }
    return try found.get() == position.chain
  }
}

/// What a copy has found so far.
private struct RecordedCopy {
  var receipt = CopyReceipt()
  /// Consumers of which a position was copied, and those of which the last one was not.
  var kept: Set<String> = []
  var dropped: Set<String> = []
}
