// A reader that opens states while its writer replaces them and removes page files.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct StateReaderTests {
  /// A writer that can save state after state, each in new page files, so that the old ones go.
  private final class Writer: Sendable {
    private struct State {
      var store: EventStore
      var events: StateEvents
    }

    let disk: SimulatedDisk
    private let state: Lock<State>

    init(_ disk: SimulatedDisk, seed: UInt64) throws {
      self.disk = disk
      state = Lock(State(store: try StateStore.open(disk), events: StateEvents(seed: seed)))
    }

    var store: EventStore { state.withLock { $0.store } }

    /// Appends and saves. Rows that are all new leave no page of the files before alive.
    func resume(isNew: Bool) throws {
      var (store, events) = state.withLock { ($0.store, $0.events) }
      if isNew {
        try store.closeBlocking()
        store = try StateStore.open(disk)
      }
      _ = store.projector(StateStore.tally)
      for number in 0..<6 { try store.put("\(number)", ["t": .string(events.text())]) }
      for _ in 0..<3 { try events.append(to: store) }
      try store.checkpointBlocking()
      state.withLock { ($0.store, $0.events) = (store, events) }
    }
  }

  /// A disk with a store that has saved states in two page files.
  private static func disk(seed: UInt64) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let writer = try Writer(disk, seed: seed)
    try writer.resume(isNew: false)
    try writer.resume(isNew: true)
    try writer.store.closeBlocking()
    return disk
  }

  /// Folds a projection of a reader as it is now, and compares it with the log as the reader sees it.
  private func check(_ reader: EventStore, _ folding: Folding, _ what: String) throws -> UInt64 {
    let fold = Projector(reader.log, folding).currentFold()
    let begin = fold.state.sequence
    try fold.run(through: .max)
    let expected = Fold(reader.log, folding)
    try expected.run(through: fold.state.sequence)
    let difference = try StateAnswers(fold.state, of: reader)
      .difference(from: StateAnswers(expected.state, of: reader))
    #expect(difference == nil, "\(what)")
    return begin
  }

  @Test(arguments: [false, true])
  func `a reader whose writer saves another state during any of its calls answers right`(isNew: Bool) throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed("isNew \(isNew)"))
    let runs = StateRuns(170)
    var (begins, walks) = (0, 0)
    while runs.isShort {
      let seed = random.next()
      let origin = try Self.disk(seed: seed)
      var number = 0
      while true {
        number += 1
        runs.add()
        let what = "seed \(seed), call \(number)"
        let disk = origin.clone()
        let (isLast, hasBegun) = try save(disk, atCall: number, isNew: isNew, random.next(), what)
        begins += hasBegun ? 1 : 0
        #expect(disk.isClosed, "\(what): \(disk.openFileCount) files are open")
        if isLast { break }
      }
      #expect(number > 25)
      walks += 1
    }
    #expect(begins + 3 * walks > runs.count, "\(begins) of \(runs.count)")
  }

  /// Folds a state of a reader, whose writer goes on during a call. Returns whether there was no such call, and whether
  /// the fold began with a state.
  private func save(
    _ disk: SimulatedDisk, atCall number: Int, isNew: Bool, _ seed: UInt64, _ what: String
  ) throws -> (isLast: Bool, hasBegun: Bool) {
    let writer = try Writer(disk, seed: seed)
    let reader = try StateStore.open(disk, .readOnly)
    let step = disk.during(call: number) {
      for _ in 0..<number % 3 + 1 { try writer.resume(isNew: isNew) }
    }
    let hasBegun = try check(reader, StateStore.documents, what) > 0
    disk.onOperation(nil)
    #expect(step.failure == nil, "\(what)")
    #expect(try check(reader, StateStore.tally, "\(what), afterwards") > 0)
    try reader.closeBlocking()
    try writer.store.closeBlocking()
    return (!step.isDue, hasBegun)
  }

  @Test func `fault 64: a reader that opens during any call of a checkpoint answers right`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(170)
    while runs.isShort {
      let seed = random.next()
      let disk = try Self.disk(seed: seed)
      let writer = try Writer(disk, seed: seed)
      let calls = Lock((count: 0, begins: 0, isReading: false))
      disk.onOperation { call in
        guard call.path.hasPrefix(StateStore.layout.states) else { return .proceed }
        let isDue = calls.withLock { calls in
          defer { calls.isReading = true }
          return !calls.isReading
        }
        guard isDue else { return .proceed }
        let what = "seed \(seed), \(call.operation) of \(call.path)"
        do {
          let reader = try StateStore.open(disk, .readOnly)
          for folding in [StateStore.documents, StateStore.tally] {
            let begin = try self.check(reader, folding, what)
            calls.withLock { $0.begins += begin > 0 ? 1 : 0 }
          }
          try reader.closeBlocking()
        } catch { Issue.record("\(what): \(error)") }
        calls.withLock { calls in
          calls.count += 1
          calls.isReading = false
        }
        return .proceed
      }
      for round in 0..<6 { try writer.resume(isNew: round % 2 == 1) }
      disk.onOperation(nil)
      let (count, begins, _) = calls.withLock { $0 }
      // A state is there at every moment.
      #expect(count > 200 && begins == 2 * count, "seed \(seed): \(begins) of \(count)")
      try writer.store.closeBlocking()
      runs.add(count)
    }
  }

  @Test func `a reader writes nothing, and its checkpoint is refused`() async throws {
    let disk = try Self.disk(seed: 7)
    let files = disk.paths.map { ($0, disk.contents($0)!) }
    let reader = try StateStore.open(disk, .readOnly)
    for folding in StateStore.foldings {
      let difference = try await reader.difference(of: folding)
      #expect(difference == nil)
    }
    #expect(throws: StoreError.readOnly) { try reader.checkpointBlocking() }
    try reader.closeBlocking()
    #expect(disk.paths == files.map(\.0) && files.allSatisfy { disk.contents($0.0) == $0.1 })
  }

  @Test func `states saved in the background are right, and so are the answers meanwhile`() async throws {
    var options = StateStore.options()
    options.writesInStep = false
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(170)
    while runs.isShort {
      let seed = random.next()
      let disk = SimulatedDisk()
      var events = StateEvents(seed: seed)
      var store = try StateStore.open(disk, options: options)
      for round in 0..<30 {
        runs.add()
        try events.append(to: store)
        let current = store
        try await withThrowingTaskGroup(of: String?.self) { group in
          for folding in [StateStore.documents, StateStore.tally, StateStore.documents] {
            group.addTask { try await current.difference(of: folding) }
          }
          for try await difference in group { #expect(difference == nil, "seed \(seed), round \(round)") }
        }
        if round == 15 {
          try store.closeBlocking()
          store = try StateStore.open(disk, options: options)
        }
      }
      let head = store.head.sequence
      try store.closeBlocking()
      store = try StateStore.open(disk, options: options)
      for folding in [StateStore.documents, StateStore.tally] {
        let difference = try await store.difference(of: folding)
        #expect(difference == nil, "seed \(seed)")
        #expect((store.projector(folding).checkpoints?.savedSequence ?? 0) == head, "seed \(seed)")
      }
      try store.closeBlocking()
    }
  }
}
