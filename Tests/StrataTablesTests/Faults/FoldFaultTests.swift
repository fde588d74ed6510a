// Faults 36 and 37: folds whose code changed, and folds that reach their state in another way.

internal import Foundation
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataSimulation
internal import Testing

private struct Tally: Codable, Identifiable, Sendable, Equatable {
  var id: String
  var points: Int
}

/// Points by player. The weight of a point is part of the code, which a test changes together with the version.
private struct Scores: Projection {
  static let name = "scores"
  static let code = Lock((version: 1, weight: 1))
  static var version: Int { code.withLock { $0.version } }
  static let tallies = TableKey<Tally>("tally")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    let (id, weight) = (event.stream.id, Self.code.withLock { $0.weight })
    tables[Self.tallies, id] = Tally(id: id, points: (tables[Self.tallies, id]?.points ?? 0) + weight)
  }
}

@Suite struct FoldFaultTests {
  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = 6_000
    options.sealsInBackground = false
    return options
  }

  private static func open(_ fileSystem: any FileSystem) throws -> EventStore {
    try EventStore.open(
      fileSystem, path: "/store", .readWrite, options: options(), storeID: StoreID(low: 1, high: 2))
  }

  /// Writes a fixed history: documents put, merged and deleted, in appends of one to four events.
  private static func fill(_ store: EventStore) throws {
    var random = SeededGenerator(seed: 37)
    for _ in 0..<120 {
      let events = (0..<Int.random(in: 1...4, using: &random)).map { _ -> NewEvent in
        let stream = StreamName(category: "doc", id: "\(Int.random(in: 0..<25, using: &random))")
        let fields: DocumentValue = [
          "n": .int(Int64(Int.random(in: 0..<9, using: &random))),
          "x": .double(Double(Int.random(in: 0..<99, using: &random)) / 7),
          "s": .string(["é", "ü", "zero"].randomElement(using: &random)!),
        ]
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return NewEvent(DocumentEvent.delete, in: stream, payload: EventPayload(.null))
        case 1, 2: return NewEvent(DocumentEvent.merge, in: stream, payload: EventPayload(fields))
        default: return NewEvent(DocumentEvent.put, in: stream, payload: EventPayload(fields))
        }
      }
      let draft = try store.draft(events, id: nil, time: nil, expecting: [:], isOwn: false)
      _ = try store.log.appendBlocking(draft)
    }
  }

  private static func hash(_ store: EventStore, _ stops: [UInt64] = []) throws -> UInt64 {
    let fold = Fold(store.log, .documents(only: nil))
    for stop in stops { try fold.run(through: stop) }
    try fold.run(through: .max)
    return fold.state.stateHash
  }

  /// The state hash of the history, on any machine and in any build.
  private static let expected: UInt64 = 3_884_594_372_557_007_313

  @Test
  func
    `fault 37: a state is the same from the beginning, in steps, after a restart, a seal and on any machine`()
    throws
  {
    let disk = SimulatedDisk()
    let store = try Self.open(disk)
    try Self.fill(store)
    let head = store.log.mark.sequence
    let whole = try Self.hash(store)
    #expect(whole == Self.expected)
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<10 {
      let stops = (0..<6).map { _ in UInt64.random(in: 0...head, using: &random) }.sorted()
      #expect(try Self.hash(store, stops) == Self.expected, "in steps to \(stops)")
    }
    #expect(try store.statesBlocking(at: [.head], .documents(only: nil)).map(\.stateHash) == [Self.expected])
    _ = try store.log.seal()
    #expect(try Self.hash(store) == Self.expected, "sealed")
    try store.closeBlocking()
    // After a crash, and without the derived files.
    let after = disk.crash(seed: 3, model: .lossless)
    for path in after.paths where path.hasPrefix("/store/derived") { after.delete(path) }
    let again = try Self.open(after)
    #expect(try Self.hash(again) == Self.expected, "opened again")
    try again.closeBlocking()
    let elsewhere = try Self.open(MemoryFileSystem())
    try Self.fill(elsewhere)
    #expect(try Self.hash(elsewhere) == Self.expected, "on another file system")
    try elsewhere.closeBlocking()
  }

  // The hashes of Swift's collections differ from process to process.
  @Test func `fault 37: another process, whose dictionaries have another order, comes to the same state`()
    async
  {
    await #expect(processExitsWith: .success) {
      let store = try FoldFaultTests.open(MemoryFileSystem())
      try FoldFaultTests.fill(store)
      try #require(try FoldFaultTests.hash(store) == FoldFaultTests.expected)
    }
  }

  @Test
  func
    `fault 36: a projection whose version changed starts anew, and nothing of the version before is in it`()
    async throws
  {
    let store = EventStore.inMemory(clock: .fixed)
    for number in 0..<20 {
      try await store.append([NewEvent("point", in: StreamName("player/\(number % 3)"), .null)])
    }
    func points() async throws -> Int? {
      try await store.table(Scores.tallies, of: Scores())["0"]?.points
    }
    #expect(try await points() == 7)
    let old = store.projector(.own(Scores()))
    Scores.code.withLock { $0 = (2, 10) }
    #expect(store.projector(.own(Scores())) !== old)
    #expect(try await points() == 70)
    try await store.append([NewEvent("point", in: "player/0", .null)])
    #expect(try await points() == 80)
    // Continuing from a state has the same result as starting from scratch.
    let anew = Fold(store.log, .own(Scores()))
    try anew.run(through: .max)
    let live = try await store.projector(.own(Scores())).state(reaching: 21)
    #expect(anew.state.stateHash == live.stateHash)
    try await store.close()
  }
}
