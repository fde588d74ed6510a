// Erasures: once one is done, no file of the store holds what it erased, whatever happens at the same time.

internal import Dispatch
internal import Foundation
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// Stores with a secret in their log and in the states of two projections.
enum SecretStore {
  static let secret = Array("secret-4711".utf8)
  static let erasure = Erasure(streams: ["person/9", "counter/9"], because: "asked to")

  /// The paths of the files that hold the secret.
  static func holders(_ disk: SimulatedDisk) -> [String] {
    disk.paths.filter { disk.contents($0).map { $0.contains(bytes: secret) } ?? false }
  }

  static func open(_ disk: SimulatedDisk, closeFoldingMax: Duration = .seconds(60)) throws -> EventStore {
    var options = StateStore.options()
    options.segmentSizeTarget = 2_000
    options.closeFoldingMax = closeFoldingMax
    let store = try StateStore.open(disk, options: options)
    for folding in [StateStore.documents, StateStore.tally] { _ = store.projector(folding) }
    return store
  }

  /// Appends events, in the midst of which is the secret.
  ///
  /// - Parameter events: other events that are appended between them.
  static func fill(_ store: EventStore, _ events: StateEvents? = nil) throws {
    var events = events
    for number in 0..<24 {
      try store.put("\(number % 4)", in: "person", ["n": .int(Int64(number)), "t": .string("t\(number)")])
      if number % 3 == 0 { try events?.append(to: store) }
      try store.appendAny([NewEvent("counted", in: "counter/\(number % 3)", .int(Int64(number)))])
      guard number == 11 else { continue }
      let text = DocumentValue.string(String(decoding: secret, as: UTF8.self))
      try store.put("9", in: "person", ["t": text])
      try store.appendAny([NewEvent("counted", in: "counter/9", text)])
    }
  }

  /// A disk with such a store, closed.
  static func disk(_ events: StateEvents? = nil) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let store = try open(disk)
    try fill(store, events)
    try store.checkpointBlocking()
    try store.closeBlocking()
    return disk
  }

  /// Checks that the secret is in no file, now and after a checkpoint, and that the answers are those of the log.
  static func check(_ store: EventStore, _ disk: SimulatedDisk, _ what: String) async throws {
    #expect(holders(disk) == [], "\(what)")
    for folding in [StateStore.documents, StateStore.tally] {
      let difference = try await store.difference(of: folding)
      #expect(difference == nil, "\(what)")
    }
    try store.checkpointBlocking()
    #expect(holders(disk) == [], "\(what), after a checkpoint")
    let head = store.head.sequence
    try store.closeBlocking()
    #expect(holders(disk) == [], "\(what), after a close")
    let again = try open(disk)
    for folding in [StateStore.documents, StateStore.tally] {
      let difference = try await again.difference(of: folding)
      #expect(difference == nil, "\(what), opened again")
      #expect(again.projector(folding).checkpoints?.savedSequence == head, "\(what), opened again")
    }
    try again.closeBlocking()
  }
}

@Suite struct StateErasureTests {
  private typealias Secret = SecretStore

  @Test
  func `fault 63: no file holds what was erased, also not the states of projections that nobody asks for`()
    async throws
  {
    let disk = try Secret.disk()
    for folding in [StateStore.documents, StateStore.tally] {
      let folder = StateStore.folder(folding) + "/"
      #expect(Secret.holders(disk).contains { $0.hasPrefix(folder) })
    }
    // A projection of another program, and a version that this one does not have.
    for folder in ["elsewhere-2", "$documents-9", "elsewhere-2-touches"] {
      disk.add("\(StateStore.layout.states)/\(folder)/\(StoreLayout.stateFile)", Secret.secret)
      disk.add("\(StateStore.layout.states)/\(folder)/\(StoreLayout.pageFileName(7))", Secret.secret)
    }
    let store = try StateStore.open(disk)
    try store.eraseBlocking(Secret.erasure)
    #expect(disk.statePaths == [])
    try await Secret.check(store, disk, "erased")
  }

  @Test func `an erasure that was cut short at any call is finished by the next open, in the states too`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(125)
    var finished = 0
    while runs.isShort {
      let seed = random.next()
      let origin = try Secret.disk(StateEvents(seed: seed))
      let counted = origin.clone()
      var store = try Secret.open(counted)
      for folding in [StateStore.documents, StateStore.tally] { _ = try await store.difference(of: folding) }
      let count = try counted.changeCount { try store.eraseBlocking(Secret.erasure) }
      for change in 1...count {
        let disk = origin.clone()
        store = try Secret.open(disk)
        // The process has folded what it will erase.
        for folding in [StateStore.documents, StateStore.tally] {
          _ = try await store.difference(of: folding)
        }
        disk.cutPower(atChange: change)
        #expect(throws: StoreError.self) { try store.eraseBlocking(Secret.erasure) }
        for model in change % 2 == 0 ? [CrashModel.reorder] : [.dropAll, .lossless] {
          runs.add()
          let after = disk.crash(seed: random.next(), model: model)
          let again = try Secret.open(after)
          let orders = try again.eventsBlocking(in: "$erasures", limit: 9)
          if orders.isEmpty {
            try again.closeBlocking()
            continue
          }
          finished += 1
          try await Secret.check(again, after, "seed \(seed), change \(change) of \(count), \(model)")
        }
      }
    }
    #expect(finished > runs.count / 3)
  }

  @Test func `a state that is being written while events are erased is gone or without them`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(125)
    var kinds: [Bool: Int] = [:]
    while runs.isShort {
      let seed = random.next()
      let origin = try Secret.disk(StateEvents(seed: seed))
      let isContinued = Bool.random(using: &random)
      var number = Int.random(in: -4...0, using: &random)
      while true {
        number += 5
        runs.add()
        let disk = origin.clone()
        let store = try Secret.open(disk)
        if isContinued {
          try store.put("10", in: "person", ["n": 1])
          try store.checkpointBlocking()
        }
        for folding in [StateStore.documents, StateStore.tally] {
          _ = try await store.difference(of: folding)
        }
        try store.put("8", in: "person", ["n": 1])
        // Everything is erased during one of the calls of the checkpoint.
        let erasure = disk.during(call: number) { _ = try store.eraseBlocking(Secret.erasure) }
        let isWritten = (try? store.checkpointBlocking()) != nil
        disk.onOperation(nil)
        #expect(erasure.failure == nil, "call \(number)")
        guard erasure.isDue else {
          try store.closeBlocking()
          break
        }
        kinds[isWritten, default: 0] += 1
        try await Secret.check(store, disk, "seed \(seed), call \(number) of a checkpoint")
      }
      #expect(number > 40)
    }
    #expect(kinds.count == 2, "\(kinds)")
  }

  @Test
  func `a process that was suspended while it wrote a state leaves nothing that another one has erased`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(125)
    while runs.isShort {
      let seed = random.next()
      let origin = try Secret.disk(StateEvents(seed: seed))
      var number = Int.random(in: -2...0, using: &random)
      while try await suspend(origin, atCall: number + 3, "seed \(seed), call \(number + 3)") {
        number += 3
        runs.add()
      }
      #expect(number > 40)
    }
  }

  /// Suspends a process during a call of its checkpoint, while another one erases. False if there is no such call.
  private func suspend(_ origin: SimulatedDisk, atCall number: Int, _ what: String) async throws -> Bool {
    let disk = origin.clone()
    let store = try Secret.open(disk, closeFoldingMax: .zero)
    for folding in [StateStore.documents, StateStore.tally] { _ = try await store.difference(of: folding) }
    try store.put("8", in: "person", ["n": 1])
    let suspension = disk.during(call: number) {
      try store.suspendBlocking()
      let other = try Secret.open(disk)
      try other.eraseBlocking(Secret.erasure)
      try other.checkpointBlocking()
      try other.closeBlocking()
    }
    _ = try? store.checkpointBlocking()
    disk.onOperation(nil)
    #expect(suspension.failure == nil, "\(what)")
    guard suspension.isDue else { return false }
    #expect(Secret.holders(disk) == [], "\(what)")
    try store.resumeBlocking()
    try await Secret.check(store, disk, "\(what) of a checkpoint, resumed")
    return true
  }

  @Test func `a state whose fold began before an erasure is not written after it, however slowly it goes on`()
    async throws
  {
    let disk = SimulatedDisk()
    let store = try Secret.open(disk, closeFoldingMax: .zero)
    try Secret.fill(store)
    let projector = store.projector(StateStore.documents)
    let before = try await projector.state(reaching: store.head.sequence)
    #expect(before["person"].count == 5)
    try store.eraseBlocking(Secret.erasure)
    try Secret.fill(store)
    try store.eraseBlocking(Secret.erasure)
    for number in 0..<10 { try store.put("\(number)", in: "later", ["n": 1]) }
    // Each of these folds one block and saves what was published last.
    var count = 0
    while projector.published.sequence < store.head.sequence {
      count += 1
      _ = try? projector.save()
      #expect(Secret.holders(disk) == [], "save \(count)")
      try #require(count < 2_000)
    }
    #expect(count > 10)
    try await Secret.check(store, disk, "erased twice")
  }

  @Test func `an erasure whose states cannot be removed stays open, and is finished later`() async throws {
    let disk = try Secret.disk()
    var store = try Secret.open(disk)
    disk.onOperation { call in
      let isState = call.path.hasPrefix(StateStore.layout.states)
      return isState && call.operation == .remove ? .fail(SystemErrorCode.inputOutput) : .proceed
    }
    #expect(throws: StoreError.self) { try store.eraseBlocking(Secret.erasure) }
    #expect(!Secret.holders(disk).isEmpty)
    disk.onOperation(nil)
    try store.closeBlocking()
    store = try Secret.open(disk)
    try await Secret.check(store, disk, "opened again")
  }

  @Test func `states from before an erasure that were put back are not used`() async throws {
    let disk = try Secret.disk()
    let old = disk.statePaths.map { ($0, disk.contents($0)!) }
    let store = try Secret.open(disk)
    try store.eraseBlocking(Secret.erasure)
    try store.closeBlocking()
    for (path, bytes) in old { disk.add(path, bytes) }
    for access in [EventStore.Access.readOnly, .readWrite] {
      let store = try StateStore.open(disk, access)
      for folding in [StateStore.documents, StateStore.tally] {
        let difference = try await store.difference(of: folding)
        #expect(difference == nil)
        #expect(store.projector(folding).checkpoints?.savedSequence == nil)
      }
      try store.closeBlocking()
    }
  }

  @Test func `a reader that began with a state has nothing of what its writer then erases`() async throws {
    let disk = try Secret.disk()
    let store = try Secret.open(disk)
    let reader = try StateStore.open(disk, .readOnly)
    for folding in [StateStore.documents, StateStore.tally] {
      let difference = try await reader.difference(of: folding)
      #expect(difference == nil)
      #expect(reader.projector(folding).checkpoints?.savedSequence == reader.head.sequence)
    }
    try store.eraseBlocking(Secret.erasure)
    try store.checkpointBlocking()
    while reader.head.sequence < store.head.sequence {
      await reader.log.tail.wait(beyond: reader.head.sequence)
    }
    for folding in [StateStore.documents, StateStore.tally] {
      let difference = try await reader.difference(of: folding)
      #expect(difference == nil)
    }
    #expect(reader.projector(StateStore.documents).published["person"].count == 4)
    try reader.closeBlocking()
    try await Secret.check(store, disk, "beside a reader")
  }

  @Test func `a backup that was used as a store has nothing of what its source erased, once it is updated`()
    async throws
  {
    let disk = try Secret.disk()
    let source = try Secret.open(disk)
    var backup = LogBackup(of: source.log, to: disk, path: "/backup")
    _ = try backup.run()
    func openBackup() throws -> EventStore {
      let store = try EventStore.open(disk, path: "/backup", .readWrite, options: StateStore.options())
      for folding in [StateStore.documents, StateStore.tally] { _ = store.projector(folding) }
      return store
    }
    var copy = try openBackup()
    try copy.checkpointBlocking()
    try copy.closeBlocking()
    #expect(Secret.holders(disk).contains { $0.hasPrefix("/backup/derived/state/") })
    try source.eraseBlocking(Secret.erasure)
    backup = LogBackup(of: source.log, to: disk, path: "/backup")
    _ = try backup.run()
    #expect(Secret.holders(disk) == [])
    copy = try openBackup()
    for folding in [StateStore.documents, StateStore.tally] {
      let difference = try await copy.difference(of: folding)
      #expect(difference == nil)
    }
    try copy.closeBlocking()
    try await Secret.check(source, disk, "backed up")
  }

  /// Runs a piece of work on another thread.
  private static func start(_ work: @escaping @Sendable () -> Void) -> DispatchSemaphore {
    let end = DispatchSemaphore(value: 0)
    Thread { [end] in
      work()
      end.signal()
    }.start()
    return end
  }

  @Test
  func `fault 63: a checkpoint and an erasure that interleave at any calls leave nothing that was erased`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(125)
    var origin = try Secret.disk()
    while runs.next() {
      let round = runs.count
      if round % 20 == 0 { origin = try Secret.disk(StateEvents(seed: random.next())) }
      let disk = origin.clone()
      let store = try Secret.open(disk)
      for folding in [StateStore.documents, StateStore.tally] { _ = try await store.difference(of: folding) }
      try store.put("8", in: "person", ["n": 1])
      let (first, second) = (Int.random(in: 1...60, using: &random), Int.random(in: 1...160, using: &random))
      let calls = Lock((saver: Optional<Thread>.none, saving: 0, erasing: 0))
      let (paused, mayGoOn, saved) = (
        DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
      )
      disk.onOperation { _ in
        let isSaving = calls.withLock { $0.saver === Thread.current }
        if isSaving {
          let number = calls.withLock { calls in
            calls.saving += 1
            return calls.saving
          }
          if number == first {
            paused.signal()
            mayGoOn.wait()
          }
        } else {
          let number = calls.withLock { calls in
            calls.erasing += 1
            return calls.erasing
          }
          if number == second {
            mayGoOn.signal()
            // Not for ever: the checkpoint may wait for what the erasure holds.
            _ = saved.wait(timeout: .now() + 0.2)
          }
        }
        return .proceed
      }
      let end = Self.start {
        calls.withLock { $0.saver = Thread.current }
        _ = try? store.checkpointBlocking()
        paused.signal()
        saved.signal()
      }
      paused.wait()
      try store.eraseBlocking(Secret.erasure)
      mayGoOn.signal()
      end.wait()
      disk.onOperation(nil)
      try await Secret.check(store, disk, "round \(round): \(first), \(second)")
    }
  }
}
