// A disk that is full while a history is written: appends and reads go on, and it is made again when there is room.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct HistoryFullDiskTests {
  private static let folding = StateStore.documents

  private static func options(_ random: inout SeededGenerator) -> StoreOptions {
    var options = HistoryStore.keyOptions(&random)
    options.savesStates = false
    options.fullDiskPause = .zero
    options.runLimits.laggingCount = 1
    return options
  }

  /// Appends small documents, which need less room than any run.
  private static func put(_ count: Int, to store: EventStore, _ random: inout SeededGenerator) throws {
    for _ in 0..<count {
      let number = Int64.random(in: 0..<12, using: &random)
      try store.put("\(Int.random(in: 0..<7, using: &random))", in: "b", ["n": .int(number)])
    }
  }

  @Test
  func
    `fault 82: at any number of free bytes appends and reads go on, and so does the history when there is room`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns()
    var (stopped, gone, written) = (0, 0, 0)
    while runs.isShort {
      let options = Self.options(&random)
      let list = ("b", StateKeptViewTests.definition("kept", calls: .keys))
      let seed = random.next()
      /// A store with a history of its first events, and some that are in no run yet.
      func filled(_ disk: SimulatedDisk) throws -> (store: EventStore, historian: Historian) {
        var random = SeededGenerator(seed: seed)
        let store = try StateStore.open(disk, options: options)
        let historian = try #require(store.projector(Self.folding).historian)
        historian.keep(list.1, of: list.0)
        try Self.put(40, to: store, &random)
        try historian.recordBlocking(writesRest: true)
        try Self.put(15, to: store, &random)
        return (store, historian)
      }
      // What the history takes at most while it goes on.
      let counted = SimulatedDisk()
      let (first, itsHistorian) = try filled(counted)
      let (usedBefore, most) = (counted.usedSize, Lock(counted.usedSize))
      counted.onOperation { [counted] _ in
        let used = counted.usedSize
        most.withLock { $0 = max($0, used) }
        return .proceed
      }
      try itsHistorian.recordBlocking(writesRest: true)
      counted.onOperation(nil)
      let growth = max(1, most.withLock { $0 } - usedBefore)
      try first.closeBlocking()
      for _ in 0..<10 where runs.next() {
        let disk = SimulatedDisk()
        let (store, historian) = try filled(disk)
        let free = Int.random(in: 0...2 * growth, using: &random)
        let what = "run \(runs.count), seed \(seed), \(free) free bytes"
        let end = historian.end
        disk.capacity = disk.usedSize + free
        do { try historian.recordBlocking(writesRest: true) } catch { stopped += 1 }
        if historian.end > end { written += 1 }
        // An append succeeds, and takes the room of the history where it needs it.
        try Self.put(3, to: store, &random)
        if disk.historyPaths.isEmpty { gone += 1 }
        let replayed = try HistoryStore.replayed(store, Self.folding)
        for _ in 0..<3 {
          let sequence = UInt64.random(in: 1...store.head.sequence, using: &random)
          let replay = Replay(store, Self.folding, to: [.sequence(sequence)], view: list)
          let state = try #require(try replay.resume(nil))[0]
          let difference = try KeptPastTests.difference(state, from: replayed[Int(sequence)], store, list)
          #expect(difference == nil, "\(what), at \(sequence)")
        }
        disk.capacity = nil
        try historian.recordBlocking(writesRest: true)
        let made = try #require(historian.runs(), "\(what)")
        #expect(made.firstSequence == 1 && made.end == store.head.sequence, "\(what)")
        #expect(try HistoryStore.difference(made, store, Self.folding) == nil, "\(what)")
        let points = [1, made.end / 2, made.end]
        let difference = try KeptPastTests.difference(of: list, at: points, store, Self.folding, &random)
        #expect(difference == nil, "\(what)")
        try store.closeBlocking()
      }
    }
    print("full disks: \(runs.count), \(stopped) stopped, \(gone) gone, \(written) written")
    #expect(stopped > runs.count / 8 && gone > 0 && written > 0, "\(stopped), \(gone), \(written)")
  }
}
