// Folds whose blocks another thread reads.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct FoldAheadTests {
  private static func options(_ byteCount: Int, _ starter: ThreadStarter = .system) -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = 6_000
    options.sealsInBackground = false
    options.readAhead.eventCountMin = 1
    options.readAhead.processorCountMin = 1
    options.readAhead.byteCount = byteCount
    options.machine = StoreMachine(threads: starter, clock: .fixed)
    return options
  }

  private func fill(_ store: EventStore, _ numbers: Range<Int>) throws {
    for number in numbers {
      try store.appendBlocking([
        NewEvent(
          DocumentEvent.put, in: "person/\(number % 5)",
          .object(["name": .string("n\(number % 5)"), "at": .int(Int64(number))]))
      ])
    }
  }

  /// The sequences of the blocks up to the end, or up to what cannot be read.
  private func blocks(_ next: () throws -> DecodedBlock?) -> (begins: [UInt64], failure: StoreError?) {
    var begins: [UInt64] = []
    do {
      while let block = try next() { begins.append(block.header.firstSequence) }
    } catch {
      return (begins, error as? StoreError)
    }
    return (begins, nil)
  }

  @Test func `Blocks that are read ahead are those of a cursor, through pauses and as the log grows`() throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<40 {
      let options = Self.options(Int.random(in: 1...2_000, using: &random))
      let store = try EventStore.open(SimulatedDisk(), path: "/store", .readWrite, options: options)
      let ahead = store.log.blocksAhead(after: 0)
      var cursor = store.log.cursor(after: 0)
      for _ in 0..<30 {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: try fill(store, 0..<Int.random(in: 1...20, using: &random))
        case 1: ahead.begin(events: 1, options.machine)
        case 2: ahead.pause()
        default:
          for _ in 0..<Int.random(in: 1...12, using: &random) {
            let block = try cursor.next()
            #expect(try ahead.next()?.header.firstSequence == block?.header.firstSequence)
          }
        }
      }
      ahead.pause()
      try store.closeBlocking()
    }
  }

  @Test func `What cannot be read is refused after the blocks before it, each time it is asked for`() throws {
    let disk = SimulatedDisk()
    let options = Self.options(500)
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: options)
    try fill(store, 0..<60)
    // The second segment, and in it the first block.
    let segments = disk.paths.filter { $0.hasPrefix("/store/log/") && $0.hasSuffix(".seg") }
    let path = try #require(segments.dropFirst().first)
    disk.makeUnreadable(path, 4_200..<4_201)
    var cursor = store.log.cursor(after: 0)
    let expected = blocks { try cursor.next() }
    #expect(expected.failure != nil && expected.begins.count > 2)
    let ahead = store.log.blocksAhead(after: 0)
    ahead.begin(events: 60, options.machine)
    let found = blocks { try ahead.next() }
    #expect(found.begins == expected.begins)
    for _ in 0..<3 {
      let again = blocks { try ahead.next() }
      #expect(again.begins.isEmpty && again.failure?.reason == expected.failure?.reason)
      ahead.pause()
      ahead.begin(events: 60, options.machine)
    }
    disk.makeReadable()
    let rest = blocks { try cursor.next() }
    // What failed ahead was before that.
    var later = blocks { try ahead.next() }
    if later.failure != nil { later = blocks { try ahead.next() } }
    #expect(rest.failure == nil && later.failure == nil && later.begins == rest.begins)
    ahead.pause()
    try store.closeBlocking()
  }

  @Test func `Blocks that were read before an erasure do not outlive it in a state`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<20 {
      let disk = SimulatedDisk()
      let options = Self.options(Int.random(in: 1...3_000, using: &random))
      let store = try EventStore.open(disk, path: "/store", .readWrite, options: options)
      try fill(store, 0..<60)
      let fold = Fold(store.log, .documents(only: nil))
      // What was read ahead stays when the fold pauses.
      _ = try fold.run(through: UInt64.random(in: 1...59, using: &random))
      try store.eraseBlocking(Erasure(streams: ["person/3"], because: "asked to"))
      try fill(store, 60..<62)
      try fold.run(through: store.head.sequence)
      let anew = Fold(store.log, .documents(only: nil))
      try anew.run(through: store.head.sequence)
      #expect(fold.state.stateHash == anew.state.stateHash && fold.state["person"].count == 4)
      try store.closeBlocking()
    }
  }

  @Test
  func `fault 63: what is read ahead is not older than the marks of erasures that a state bears`() throws {
    let disk = SimulatedDisk()
    let store = Lock<EventStore?>(nil)
    // An erasure that happens as the other thread begins to read.
    let starter = ThreadStarter { (name, body) throws(FileSystemError) in
      if name == "strata-ahead", let store = store.withLock({ $0.take() }) {
        #expect(throws: Never.self) {
          try store.eraseBlocking(Erasure(streams: ["person/3"], because: "asked to"))
        }
      }
      return try ThreadStarter.system.start(name, body)
    }
    let writer = try EventStore.open(disk, path: "/store", .readWrite, options: Self.options(1, starter))
    try fill(writer, 0..<60)
    store.withLock { $0 = writer }
    let fold = Fold(writer.log, .documents(only: nil), marksErasures: true)
    try fold.run(through: 60)
    let erasures = try writer.log.erasures()
    #expect(store.withLock { $0 } == nil, "the erasure has happened")
    #expect(fold.erasures != nil && fold.erasures != erasures, "the state is not that of after the erasure")
    try writer.closeBlocking()
  }
}
