// Random histories: what a state on disk and the rest of the log give is what the log gives from its beginning.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct StateHistoryTests {
  /// A store, and what is known of the states in its folder.
  private struct History {
    var disk = SimulatedDisk()
    var store: EventStore
    var events: StateEvents
    /// By the folder of a projection's state: the sequence that the next open must begin with.
    var saved: [String: UInt64] = [:]
    /// The projections that this process has asked for.
    var used: Set<String> = []
    /// The number of folds that began with a state, and of those that read nothing of the log.
    var restored = (count: 0, wholly: 0)

    init(seed: UInt64) throws {
      events = StateEvents(seed: seed)
      store = try StateStore.open(disk)
    }

    /// Compares every projection with the log, and how it came to its state with what is known.
    mutating func check(_ what: String) async throws {
      guard store.head.sequence > 0 else { return }
      for folding in StateStore.foldings where used.count < 3 || Bool.random(using: &events.random) {
        let folder = StateStore.folder(folding)
        let difference = try await store.difference(of: folding)
        #expect(difference == nil, "\(what): \(folder)")
        guard used.insert(folder).inserted else { continue }
        let projector = store.projector(folding)
        #expect(projector.checkpoints?.savedSequence == saved[folder], "\(what): \(folder)")
        guard let sequence = saved[folder] else { continue }
        restored.count += 1
        guard sequence == store.head.sequence else { continue }
        restored.wholly += 1
        #expect(projector.exclusive.fold?.bytesRead == 0, "\(what): \(folder) was folded again")
      }
    }

    mutating func checkpoint() throws {
      guard store.head.sequence > 0 else { return }
      let made = try store.checkpointBlocking()
      used.insert(StateStore.folder())
      #expect(made.count == used.count && made.allSatisfy { $0.sequence == store.head.sequence })
      for folder in used { saved[folder] = store.head.sequence }
    }

    mutating func erase() throws {
      let last = store.head.sequence
      guard last > 0 else { return }
      let first = UInt64.random(in: 1...last, using: &events.random)
      let erasure = Erasure(sequences: [first...min(last, first + 3)], because: "asked to")
      try store.eraseBlocking(erasure)
      saved = [:]
      #expect(disk.statePaths == [])
    }

    /// Ends the process in one way or another, and begins the next.
    mutating func restart() throws {
      switch Int.random(in: 0..<4, using: &events.random) {
      case 0: disk = disk.crash(seed: events.random.next(), model: .lossless)
      case 1: disk = disk.crash(seed: events.random.next(), model: .reorder)
      default:
        let head = store.head.sequence
        try store.closeBlocking()
        for folder in used { saved[folder] = head }
      }
      used = []
      store = try StateStore.open(disk)
    }
  }

  @Test func `a state from disk and the rest of the log are the state of the whole log, after any history`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var restored = (count: 0, wholly: 0)
    let runs = StateRuns(250)
    while runs.next() {
      let seed = random.next()
      var history = try History(seed: seed)
      history.events.rowCount = runs.count % 8 == 0 ? 60 : 12
      for step in 0..<Int.random(in: 3...24, using: &history.events.random) {
        switch Int.random(in: 0..<16, using: &history.events.random) {
        case 0: try history.restart()
        case 1: try history.store.sealBlocking()
        case 2: try history.erase()
        case 3..<6: try history.checkpoint()
        case 6..<8: try await history.check("seed \(seed), step \(step)")
        default:
          for _ in 0..<Int.random(in: 1...6, using: &history.events.random) {
            try history.events.append(to: history.store)
          }
        }
      }
      for round in 0..<2 {
        try history.restart()
        try await history.check("seed \(seed), round \(round)")
      }
      try history.store.closeBlocking()
      restored.count += history.restored.count
      restored.wholly += history.restored.wholly
    }
    // A test in which no state was ever used would show nothing.
    #expect(restored.count > runs.count && restored.wholly > runs.count / 2, "\(restored)")
  }
}
