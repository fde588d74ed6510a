// Power cuts, failing calls and full disks while a state is written: the log goes on, and the next open answers right.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataTables
internal import StrataTesting
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
    let seed = random.next()
    let counted = try Workload(seed: seed, isNew: isNew)
    let count = try counted.disk.changeCount { _ = try counted.store.checkpointBlocking() }
    #expect(count > 15)
    var begins: [UInt64?: Int] = [:]
    for change in 1...count {
      let work = try Workload(seed: seed, isNew: isNew)
      work.disk.cutPower(atChange: change)
      #expect(throws: StoreError.self) { try work.store.checkpointBlocking() }
      #expect(work.disk.isPoweredOff)
      for (number, model) in [CrashModel.dropAll, .reorder, .reorder, .garbage, .lossless].enumerated() {
        let after = work.disk.crash(seed: random.next(), model: model)
        let begin = try await check(
          after, "seed \(seed), change \(change), crash \(number)", head: work.store.head.sequence)
        // Torn sectors may hold garbage where a page was before.
        #expect(begin != nil || model == .garbage, "seed \(seed), change \(change), \(model)")
        begins[begin, default: 0] += 1
      }
    }
    // Some began with the state before, some with the one that was being written.
    #expect(begins.count >= 2 && begins.allSatisfy { $0.key == nil || $0.value > 4 }, "\(begins)")
  }

  @Test(arguments: [false, true])
  func `a call that fails during a checkpoint fails the checkpoint alone`(isLasting: Bool) async throws {
    var failed = 0
    for isNew in [false, true] {
      let seed: UInt64 = isNew ? 11 : 12
      let counted = try Workload(seed: seed, isNew: isNew)
      let calls = Lock(0)
      counted.disk.onOperation { call in
        if call.path.hasPrefix(StateStore.layout.states) { calls.withLock { $0 += 1 } }
        return .proceed
      }
      _ = try counted.store.checkpointBlocking()
      let count = calls.withLock { $0 }
      for code in [SystemErrorCode.inputOutput, SystemErrorCode.noSpace] {
        for number in 1...count {
          let what = "call \(number) of \(count) fails with \(code)"
          var work = try Workload(seed: seed, isNew: isNew)
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
          do throws(StoreError) { try work.store.checkpointBlocking() } catch { failed += 1 }
          if isLasting {
            try work.events.append(to: work.store)
            #expect(throws: Never.self, "\(what)") { try work.store.closeBlocking() }
            work.disk.onOperation(nil)
          } else {
            work.disk.onOperation(nil)
            try work.events.append(to: work.store)
            let written = try work.store.checkpointBlocking()
            #expect(
              written.allSatisfy { $0.sequence == work.store.head.sequence }, "\(what)")
            if number % 2 == 0 {
              try work.store.closeBlocking()
            }
          }
          let head = work.store.head.sequence
          let after = number % 2 == 0 || isLasting ? work.disk : work.disk.crash(seed: 4, model: .dropAll)
          let begin = try await check(after, what, head: head)
          if !isLasting { #expect(begin == head, "\(what): the state is not used") }
        }
      }
    }
    #expect(failed > 40)
  }

  @Test func `a sync that is lost during a checkpoint gives no wrong answer`() async throws {
    for number in 1...12 {
      for isReported in [false, true] {
        let work = try Workload(seed: 21, isNew: number % 2 == 0)
        work.disk.inject(SimulatedSyncFailure(number: number, keepsData: false, isReported: isReported))
        let isWritten = (try? work.store.checkpointBlocking()) != nil
        if work.disk.hasPendingFailures { continue }
        #expect(isWritten == !isReported)
        let head = work.store.head.sequence
        for seed: UInt64 in 0..<4 {
          let after = work.disk.crash(seed: seed, model: seed == 0 ? .dropAll : .reorder)
          _ = try await check(after, "sync \(number), \(seed)", head: head)
        }
      }
    }
  }

  @Test
  func
    `fault 61: a disk that is full at any byte of a checkpoint keeps the log and the answers`()
    async throws
  {
    let counted = try Workload(seed: 31, isNew: true)
    let room = counted.disk.usedSize
    _ = try counted.store.checkpointBlocking()
    let needed = counted.disk.usedSize - room
    #expect(needed > 2_000)
    for isNew in [false, true] {
      for free in stride(from: 0, to: needed, by: 53) {
        let what = "\(free) of \(needed) bytes are free"
        let work = try Workload(seed: 31, isNew: isNew)
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
    for free in stride(from: 0, through: 60_000, by: 997) {
      let disk = SimulatedDisk()
      var events = StateEvents(seed: 41)
      let store = try StateStore.open(disk)
      for _ in 0..<20 { try events.append(to: store) }
      try store.checkpointBlocking()
      for number in 0..<8 {
        let text = String((0..<9_000).map { _ in "abcdefghij".randomElement()! })
        try store.put("\(number)", ["t": .string(text)])
      }
      disk.capacity = disk.usedSize + free
      let before = disk.pageFiles().map { disk.contents($0)!.count }
      guard (try? store.checkpointBlocking()) == nil else {
        #expect(free > 20_000)
        break
      }
      #expect(disk.pageFiles().map { disk.contents($0)!.count } == before, "\(free) bytes were free")
      disk.capacity = nil
      try store.closeBlocking()
    }
  }
}
