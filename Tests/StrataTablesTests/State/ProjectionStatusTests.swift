// What a store says of its projections.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct ProjectionStatusTests {
  private static func store(_ disk: SimulatedDisk) throws -> EventStore {
    var options = StoreOptions()
    options.clock = .fixed
    options.sealsInBackground = false
    return try EventStore.open(disk, path: "/store", .readWrite, options: options)
  }

  private static func put(_ numbers: Range<Int>, _ store: EventStore) throws {
    for number in numbers {
      try store.appendBlocking([
        NewEvent(
          DocumentEvent.put, in: StreamName(category: "row", id: "\(number)"),
          .object(["n": .int(Int64(number)), "text": .string(String(repeating: "x", count: 200))]))
      ])
    }
  }

  @Test func `a store says how far its projections are folded and saved, and what they have read`()
    async throws
  {
    let disk = SimulatedDisk()
    var store = try Self.store(disk)
    #expect(store.projections.isEmpty)
    try Self.put(0..<500, store)
    _ = try await store.documents("row")["3"]
    var status = try #require(store.projections.first)
    #expect(status.name == "$documents" && status.sequence == 500 && status.lag == 0)
    #expect(status.savedSequence == nil && status.savedByteCount == 0 && status.saveError == nil)
    let written = try await store.checkpoint()
    try Self.put(500..<503, store)
    status = try #require(store.projections.first)
    #expect(status.sequence == 500 && status.lag == 3 && status.savedSequence == 500)
    #expect(status.savedByteCount == written.reduce(0) { $0 + $1.byteCount } && status.savedByteCount > 1000)
    try store.closeBlocking()
    store = try Self.store(disk)
    _ = try await store.documents("row")["3"]
    status = try #require(store.projections.first)
    #expect(status.sequence == 503 && status.savedSequence == 500)
    #expect(status.pagesRead > 0 && status.pagesRead < 30 && status.pageByteCount > 1000)
    #expect(status.pagesLost == 0 && status.lastLoss == nil)
    try store.closeBlocking()
  }
}
