// Power cuts, failing calls and full disks while a state is written: the log goes on, and the next open answers right.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct StateCrashTests {
  /// A store whose process has written one state and goes on; its next checkpoint has much to write.
  private struct Workload {
    let disk: SimulatedDisk
    let store: EventStore
    var events: StateEvents

    /// - Parameter isNew: whether the process that goes on is not the one that wrote the state.
    init(seed: UInt64, isNew: Bool) throws {
      disk = SimulatedDisk()
      events = StateEvents(seed: seed)
      var store = try StateStore.open(disk)
      _ = store.projector(StateStore.tally)
      for _ in 0..<10 { try events.append(to: store) }
      try store.checkpointBlocking()
      if isNew {
        try store.closeBlocking()
        store = try StateStore.open(disk)
        _ = store.projector(StateStore.tally)
      }
      for _ in 0..<6 { try events.append(to: store) }
      self.store = store
    }
  }

  /// The state with which a process begins after a power cut.
  private enum Begin {
    case nothing, before, written
  }

  /// What is right after a fault: the answers, and a state that is written and used again.
  private func check(_ disk: SimulatedDisk, _ what: String, head: UInt64) async throws -> UInt64? {
    var store = try StateStore.open(disk)
    #expect(store.head.sequence == head, "\(what)")
    var begin: UInt64?
    for folding in [StateStore.documents, StateStore.tally] {
      let difference = try await store.difference(of: folding)
      #expect(difference == nil, "\(what)")
      begin = store.projector(folding).checkpoints?.savedSequence
    }
    try store.put("later", ["n": 1])
    try store.checkpointBlocking()
    let head = store.head.sequence
    try store.closeBlocking()
    store = try StateStore.open(disk)
    for folding in [StateStore.documents, StateStore.tally] {
      let difference = try await store.difference(of: folding)
      #expect(difference == nil, "\(what), later")
      #expect(store.projector(folding).checkpoints?.savedSequence == head, "\(what), later")
    }
    try store.closeBlocking()
    return begin
  }

  @Test(arguments: [false, true])
  func `fault 61: after a power cut at any call of a checkpoint the next open answers right`(isNew: Bool)
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(100)
    var begins: [Begin: Int] = [:]
    while runs.isShort {
      let seed = random.next()
      let counted = try Workload(seed: seed, isNew: isNew)
      let count = try counted.disk.changeCount { _ = try counted.store.checkpointBlocking() }
      #expect(count > 15)
      for change in 1...count {
        let work = try Workload(seed: seed, isNew: isNew)
        work.disk.cutPower(atChange: change)
        #expect(throws: StoreError.self) { try work.store.checkpointBlocking() }
        #expect(work.disk.isPoweredOff)
        for (number, model) in [CrashModel.dropAll, .reorder, .reorder, .garbage, .lossless].enumerated() {
          runs.add()
          let what = "seed \(seed), change \(change), crash \(number)"
          let after = work.disk.crash(seed: random.next(), model: model)
          let head = work.store.head.sequence
          let begin = try await check(after, what, head: head)
          // Torn sectors may hold garbage where a page was before.
          #expect(begin != nil || model == .garbage, "\(what), \(model)")
          begins[begin == nil ? .nothing : begin == head ? .written : .before, default: 0] += 1
        }
      }
    }
    #expect(begins[.before, default: 0] > 4 && begins[.written, default: 0] > 4, "\(begins)")
  }

  @Test(arguments: [false, true])
  func `a call that fails during a checkpoint fails the checkpoint alone`(isLasting: Bool) async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed("isLasting \(isLasting)"))
    var failed = 0
    let runs = StateRuns(100)
    while runs.isShort {
      let (seed, isNew) = (random.next(), Bool.random(using: &random))
      let counted = try Workload(seed: seed, isNew: isNew)
      let calls = Lock(0)
      counted.disk.onOperation { call in
        if call.path.hasPrefix(StateStore.layout.states) { calls.withLock { $0 += 1 } }
        return .proceed
      }
      _ = try counted.store.checkpointBlocking()
      for number in 1...calls.withLock({ $0 }) {
        runs.add()
        let code = Bool.random(using: &random) ? SystemErrorCode.inputOutput : SystemErrorCode.noSpace
        let what = "seed \(seed), isNew \(isNew), call \(number) fails with \(code)"
        let work = try Workload(seed: seed, isNew: isNew)
        if try await fail(number, code, isLasting, work, what) { failed += 1 }
      }
    }
    #expect(failed > runs.count / 8, "\(failed) of \(runs.count)")
  }

  /// Makes one call of a checkpoint fail, or that one and all after it. Returns whether the checkpoint failed.
  private func fail(
    _ number: Int, _ code: Int32, _ isLasting: Bool, _ work: Workload, _ what: String
  ) async throws -> Bool {
    var work = work
    let calls = Lock(0)
    // Only what concerns the states fails: a log that cannot be read or written is another matter.
    work.disk.onOperation { call in
      guard call.path.hasPrefix(StateStore.layout.states) else { return .proceed }
      let current = calls.withLock { calls in
        calls += 1
        return calls
      }
      return current == number || isLasting && current > number ? .fail(code) : .proceed
    }
    let hasFailed = (try? work.store.checkpointBlocking()) == nil
    if isLasting {
      try work.events.append(to: work.store)
      #expect(throws: Never.self, "\(what)") { try work.store.closeBlocking() }
      work.disk.onOperation(nil)
    } else {
      work.disk.onOperation(nil)
      try work.events.append(to: work.store)
      let written = try work.store.checkpointBlocking()
      #expect(written.allSatisfy { $0.sequence == work.store.head.sequence }, "\(what)")
      if number % 2 == 0 { try work.store.closeBlocking() }
    }
    let head = work.store.head.sequence
    let after = number % 2 == 0 || isLasting ? work.disk : work.disk.crash(seed: 4, model: .dropAll)
    let begin = try await check(after, what, head: head)
    if !isLasting { #expect(begin == head, "\(what): the state is not used") }
    return hasFailed
  }

  @Test func `a sync that is lost during a checkpoint gives no wrong answer`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(100)
    while runs.isShort {
      let seed = random.next()
      let number = Int.random(in: 1...12, using: &random)
      let isReported = Bool.random(using: &random)
      let work = try Workload(seed: seed, isNew: Bool.random(using: &random))
      work.disk.inject(SimulatedSyncFailure(number: number, keepsData: false, isReported: isReported))
      let isWritten = (try? work.store.checkpointBlocking()) != nil
      if work.disk.hasPendingFailures { continue }
      #expect(isWritten == !isReported)
      let head = work.store.head.sequence
      for model in [CrashModel.dropAll, .reorder, .reorder, .reorder] {
        runs.add()
        let after = work.disk.crash(seed: random.next(), model: model)
        _ = try await check(after, "seed \(seed), sync \(number), \(model)", head: head)
      }
    }
  }

  @Test
  func
    `fault 61: a disk that is full at any byte of a checkpoint keeps the log and the answers`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(100)
    while runs.isShort {
      let (seed, isNew) = (random.next(), Bool.random(using: &random))
      let counted = try Workload(seed: seed, isNew: isNew)
      let room = counted.disk.usedSize
      _ = try counted.store.checkpointBlocking()
      // Less if the checkpoint has removed files.
      let needed = max(4_000, counted.disk.usedSize - room)
      for free in stride(from: Int.random(in: 0..<53, using: &random), to: needed, by: 53) {
        runs.add()
        let what = "seed \(seed), isNew \(isNew), \(free) of \(needed) bytes are free"
        let work = try Workload(seed: seed, isNew: isNew)
        work.disk.capacity = work.disk.usedSize + free
        _ = try? work.store.checkpointBlocking()
        #expect(throws: Never.self, "\(what)") { try work.store.closeBlocking() }
        work.disk.capacity = nil
        let head = work.store.head.sequence
        _ = try await check(work.disk, what, head: head)
      }
    }
  }

  @Test func `a checkpoint that fails leaves the log the room that there was`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(100)
    var failed = 0
    while runs.next() {
      let free = Int.random(in: 0...60_000, using: &random)
      let disk = SimulatedDisk()
      var events = StateEvents(seed: random.next())
      let store = try StateStore.open(disk)
      for _ in 0..<20 { try events.append(to: store) }
      try store.checkpointBlocking()
      for number in 0..<8 {
        let text = String((0..<9_000).map { _ in "abcdefghij".randomElement(using: &random)! })
        try store.put("\(number)", ["t": .string(text)])
      }
      disk.capacity = disk.usedSize + free
      let before = disk.pageFiles().map { disk.contents($0)!.count }
      if (try? store.checkpointBlocking()) != nil {
        #expect(free > 20_000)
      } else {
        failed += 1
        #expect(
          disk.pageFiles().map { disk.contents($0)!.count } == before, "\(free) bytes were free")
      }
      disk.capacity = nil
      try store.closeBlocking()
    }
    #expect(failed > runs.count / 4)
  }
}
