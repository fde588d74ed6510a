// How much is written for states in the background, beside what the log grows by.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct StateWritesTests {
  private static let layout = StoreLayout(root: "/store")

  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.sealsInBackground = false
    options.preallocationStep = 0
    options.savedFoldingMin = .zero
    return options
  }

  private static func put(_ numbers: [Int], _ store: EventStore, _ random: inout SeededGenerator) throws {
    try store.appendBlocking(
      numbers.map { number in
        let text = String(
          (0..<60).map { _ in Character(UnicodeScalar(UInt8.random(in: 97...122, using: &random))) })
        return NewEvent(
          DocumentEvent.put, in: StreamName(category: "row", id: "\(number)"),
          .object(["n": .int(Int64(number % 7)), "text": .string(text)]))
      })
  }

  private static func logBytes(_ disk: MemoryFileSystem) throws -> UInt64 {
    try disk.contents(ofDirectory: layout.log).reduce(0) { sum, name in
      let file = try disk.open("\(layout.log)/\(name)", .read)
      defer { file.close() }
      return sum + UInt64(try file.size())
    }
  }

  @Test func `states of rows that change at random take at most eight times what the log grows by`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var (later, waited) = (0, 0)
    let runs = StateRuns(8)
    while runs.next() {
      let disk = MemoryFileSystem()
      // Large enough that the first state writes a part of the pages, and later ones write more.
      let rowCount = Int.random(in: 8_000...20_000, using: &random)
      var store = try EventStore.open(disk, path: "/store", .readWrite, options: Self.options())
      try Self.put(Array(0..<rowCount), store, &random)
      _ = try await store.projector(.documents(only: nil)).state(reaching: store.head.sequence)
      try await store.close()

      store = try EventStore.open(disk, path: "/store", .readWrite, options: Self.options())
      let begin = try Self.logBytes(disk)
      let projector = store.projector(.documents(only: nil))
      let checkpoints = try #require(projector.checkpoints)
      var written: [UInt64] = []
      // Enough for the first state to say something of the next.
      let first = Int(StateWrites.eventCountMin)
      try Self.put((0..<first).map { _ in Int.random(in: 0..<rowCount, using: &random) }, store, &random)
      let count = Int.random(in: 10...100, using: &random)
      for _ in 0..<(2 * rowCount / count) {
        try Self.put((0..<count).map { _ in Int.random(in: 0..<rowCount, using: &random) }, store, &random)
        _ = try await projector.state(reaching: store.head.sequence)
        projector.state.wait { !$0.isSaving }
        let bytes = checkpoints.bytesWritten
        guard bytes != written.last ?? 0 else {
          waited += 1
          continue
        }
        written.append(bytes)
        // The first one is saved as soon as it is due, whatever it takes.
        guard written.count > 1 else { continue }
        later += 1
        let growth = try Self.logBytes(disk) - begin
        #expect(Double(bytes) <= 8.2 * Double(growth), "\(written) bytes beside \(growth) of the log")
      }
      #expect(checkpoints.savedSequence ?? 0 > rowCount, "nothing was saved")
      try await store.close()
    }
    print("\(later) states in proportion to the log, after \(waited) looks")
    #expect(later > 0 && waited > 0)
  }

  @Test func `the next state is expected to take no more than the ones before say`() {
    var writes = StateWrites()
    #expect(writes.expected(forEvents: 100) == 0)
    // Too few events to say more than the size.
    writes.add(12_000, forEvents: 1, keeping: 38_000)
    #expect(writes.expected(forEvents: 1) == 12_000 && writes.expected(forEvents: 1_000) == 12_000)
    writes.add(5_000, forEvents: 1_000, keeping: 45_000)
    #expect(writes.expected(forEvents: 2_000) == 10_000 && writes.expected(forEvents: 1) == 5_000)
    #expect(writes.expected(forEvents: 100_000) == 50_000 && writes.expected(forEvents: .max) == 50_000)
    // Of two bounds the lesser holds.
    writes.add(20_000, forEvents: 10_000, keeping: 30_000)
    #expect(writes.expected(forEvents: 2_000) == 10_000 && writes.expected(forEvents: 20_000) == 40_000)
    // A view that was saved without new events says nothing of events.
    writes.add(70_000, forEvents: 0, keeping: 50_000)
    #expect(writes.bytes == 107_000 && writes.expected(forEvents: 2_000) == 10_000)
    // What a state contradicts no longer holds.
    writes.add(90_000, forEvents: 3_000, keeping: 30_000)
    #expect(writes.expected(forEvents: 2_000) == 90_000 && writes.expected(forEvents: 4_000) == 120_000)
  }
}
