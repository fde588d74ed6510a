// Files of states that are deleted while a state is written: the answers stay, and the next state is whole.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct StateDeletionTests {
  /// Which files are deleted.
  private enum Kind: CaseIterable {
    case all, pages, some, state
  }

  private static func delete(_ kind: Kind, _ disk: SimulatedDisk, _ random: inout SeededGenerator) {
    for path in disk.statePaths {
      let isState = path.hasSuffix(StoreLayout.stateFile)
      switch kind {
      case .all: disk.delete(path)
      case .pages where !isState: disk.delete(path)
      case .state where isState: disk.delete(path)
      case .some where Bool.random(using: &random): disk.delete(path)
      default: break
      }
    }
  }

  /// A store whose process has a state from disk in memory, and much to write.
  private static func store(_ disk: SimulatedDisk, _ events: inout StateEvents) async throws -> EventStore {
    var store = try StateStore.open(disk)
    _ = store.projector(StateStore.tally)
    for number in 0..<30 { try store.put("\(number)", in: "kept", ["t": .string(events.text())]) }
    for _ in 0..<10 { try events.append(to: store) }
    try store.closeBlocking()
    store = try StateStore.open(disk)
    for folding in [StateStore.documents, StateStore.tally] { _ = try await store.difference(of: folding) }
    // So that page files are given up.
    if Bool.random(using: &events.random) { delete(.some, disk, &events.random) }
    for _ in 0..<4 { try events.append(to: store) }
    return store
  }

  @Test
  func `files of states may be deleted during any call of a checkpoint, and the next state is whole`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(250)
    var (seed, number) = (random.next(), 0)
    while runs.isShort {
      number += Int.random(in: 1...4, using: &random)
      let kind = Kind.allCases.randomElement(using: &random)!
      let what = "seed \(seed), \(kind) during call \(number)"
      let disk = SimulatedDisk()
      var events = StateEvents(seed: seed)
      let store = try await Self.store(disk, &events)
      let (due, calls) = (number, Lock((count: 0, random: random.split())))
      disk.onOperation { _ in
        calls.withLock { calls in
          calls.count += 1
          if calls.count == due { Self.delete(kind, disk, &calls.random) }
        }
        return .proceed
      }
      _ = try? store.checkpointBlocking()
      disk.onOperation(nil)
      guard calls.withLock({ $0.count }) >= due else {
        try store.closeBlocking()
        (seed, number) = (random.next(), 0)
        continue
      }
      runs.add()
      // Also if nothing has happened since.
      if Bool.random(using: &random) { try store.checkpointBlocking() } else { try events.append(to: store) }
      try store.checkpointBlocking()
      try await Self.check(disk, store, "\(what), the next state")
      for _ in 0..<2 { try events.append(to: store) }
      try store.checkpointBlocking()
      try await Self.check(disk, store, "\(what), the one after it")
      try store.closeBlocking()
    }
  }

  /// The answers are those of the log, also in another process, which begins with the state on disk.
  private static func check(
    _ disk: SimulatedDisk, _ store: EventStore, _ what: String
  ) async throws {
    let reader = try StateStore.open(disk, .readOnly)
    for folding in [StateStore.documents, StateStore.tally] {
      for store in [store, reader] {
        let difference = try await store.difference(of: folding)
        #expect(difference == nil, "\(what)")
      }
      let begin = reader.projector(folding).checkpoints?.savedSequence
      #expect(begin == store.head.sequence, "\(what): the state on disk is not used")
      #expect(reader.projector(folding).checkpoints?.faults.count == 0, "\(what)")
    }
    #expect(try StateVerifier(reader.log).run() == [], "\(what)")
    // Nothing is left that no state names.
    for folding in [StateStore.documents, StateStore.tally] {
      let named = store.projector(folding).checkpoints?.state.withLock { $0.files }
      #expect(disk.pageFiles(of: folding).count == named?.count, "\(what): page files are left")
    }
    try reader.closeBlocking()
  }
}
