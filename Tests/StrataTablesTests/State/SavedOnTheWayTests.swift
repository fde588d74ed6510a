// Folds of long logs: what they made so far is saved, so it need not be in memory, nor be made again.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct SavedOnTheWayTests {
  private static func options(_ random: inout SeededGenerator) -> StoreOptions {
    var options = StateStore.options()
    options.foldedStepLength = UInt64.random(in: 1...20, using: &random)
    options.unsavedSize = Int.random(in: 0...700, using: &random)
    return options
  }

  /// Appends to a store that saves nothing. Returns the last sequence of each append.
  private static func fill(
    _ disk: SimulatedDisk, _ random: inout SeededGenerator
  ) throws -> Set<UInt64> {
    var options = StateStore.options()
    options.savesStates = false
    let store = try StateStore.open(disk, options: options)
    var events = StateEvents(seed: random.next())
    events.rowCount = [2, 12, 60].randomElement(using: &random)!
    var ends: Set<UInt64> = []
    for _ in 0..<Int.random(in: 5...60, using: &random) {
      try events.append(to: store)
      ends.insert(store.head.sequence)
    }
    try store.closeBlocking()
    return ends
  }

  @Test
  func `a state that was saved while its log was folded is that of the log, after a power cut at any call`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(500)
    var (saved, inside) = (0, 0)
    while runs.next() {
      let disk = SimulatedDisk()
      let appendEnds = try Self.fill(disk, &random)
      let folding = StateStore.foldings.randomElement(using: &random)!
      let options = Self.options(&random)
      let store = try StateStore.open(disk, options: options)
      let expected = try HistoryStore.replayed(store, folding)
      let head = store.head.sequence
      // What a power cut at one of the calls leaves. The process does not go on without a disk.
      let model = [CrashModel.dropAll, .reorder, .garbage, .lossless].randomElement(using: &random)!
      let (seed, cut) = (random.next(), Int.random(in: 1...90, using: &random))
      let (left, cutDisk) = (Lock(cut), Lock<SimulatedDisk?>(nil))
      disk.onOperation { call in
        let isNow =
          call.operation.isChange
          && left.withLock {
            $0 -= 1; return $0 == 0
          }
        if isNow {
          let image = disk.crash(seed: seed, model: model)
          cutDisk.withLock { $0 = image }
        }
        return .proceed
      }
      let folded = try await store.projector(folding).state(reaching: head)
      #expect(folded.sequence == head)
      disk.onOperation(nil)
      // Or the process ends later, without a close.
      let after = cutDisk.withLock { $0 } ?? disk.crash(seed: seed, model: model)
      let again = try StateStore.open(after, options: options)
      if let restored = Checkpoints(again.log, folding)?.restore() {
        let sequence = restored.tables.sequence
        let difference = try StateAnswers(restored.tables, of: again).difference(
          from: StateAnswers(expected[Int(sequence)], of: again))
        #expect(difference == nil, "run \(runs.count), at \(sequence) of \(head)")
        saved += sequence < head ? 1 : 0
        inside += appendEnds.contains(sequence) ? 0 : 1
      }
      let state = try await again.projector(folding).state(reaching: head)
      let difference = try StateAnswers(state, of: again).difference(
        from: StateAnswers(expected[Int(head)], of: again))
      #expect(difference == nil, "run \(runs.count)")
      try again.closeBlocking()
    }
    #expect(saved > runs.count / 3 && inside > 0, "\(saved), \(inside)")
  }
}
