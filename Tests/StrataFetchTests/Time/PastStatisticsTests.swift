// What a controller counts of lists of the past.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct PastStatisticsTests {
  private static func put(_ numbers: Range<Int>, in store: EventStore) async throws {
    for number in numbers {
      let stream = StreamName(category: "row", id: "\(number % 7)")
      try await store.append([NewEvent("$put", in: stream, ["n": .int(Int64(number))])])
    }
  }

  private static func store(history: StoreHistory) async throws -> EventStore {
    var options = StoreOptions()
    options.writesInStep = true
    options.savesStates = false
    options.history = history
    options.runLimits.changeCountMax = 10
    let store = try EventStore.open(
      SimulatedDisk(), path: "/store", .readWrite, options: options, storeID: StoreID(low: 1, high: 2))
    try await put(0..<25, in: store)
    _ = try store.recordHistoriesBlocking()
    try await put(25..<30, in: store)
    return store
  }

  @Test func `the statistics say whether lists of the past were read from a history or replayed`()
    async throws
  {
    for (history, isRead) in [(StoreHistory.off, false), (.all, true)] {
      let store = try await Self.store(history: history)
      let list = FetchController(ListRequest(DocumentRow.self), from: store.documents("row"))
      #expect(try await list.snapshot(at: .sequence(9)).numberOfItems == 7)
      #expect(list.statistics.pastLists == 1)
      #expect(list.statistics.pastListsFromHistory == (isRead ? 1 : 0))
      #expect(list.statistics.pastEventsReplayed == (isRead ? 0 : 9))
      _ = try await list.changes(from: .sequence(12), to: .sequence(28))
      #expect(list.statistics.pastLists == 3)
      #expect(list.statistics.pastListsFromHistory == (isRead ? 3 : 0))
      #expect(list.statistics.pastEventsReplayed == (isRead ? 3 : 37))
      // A scrubber's lists are counted, too, also the one that it has kept.
      let scrubber = try list.scrubber()
      for point in [9, 26, 9] as [UInt64] { _ = try await scrubber.move(to: .sequence(point)) }
      #expect(list.statistics.pastLists == 6)
      #expect(list.statistics.pastEventsReplayed == (isRead ? list.statistics.pastEventsReplayed : 63))
      try await store.close()
    }
  }
}
