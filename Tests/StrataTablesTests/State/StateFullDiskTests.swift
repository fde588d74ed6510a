// A full disk: states give way to appends, and are written again when there is room.

import Dispatch
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct StateFullDiskTests {
  private static func options(pause: Duration = .zero) -> StoreOptions {
    var options = StateStore.options()
    // Stands still, so that an append has the same length whenever it is made.
    options.clock = StoreClock { 1_767_225_600_000_000_000 }
    options.segmentSizeTarget = 1 << 24
    options.headSyncInterval = .seconds(3_600)
    options.fullDiskPause = pause
    return options
  }

  private static func open(_ disk: SimulatedDisk, pause: Duration = .zero) throws -> EventStore {
    try StateStore.open(disk, options: options(pause: pause))
  }

  private static func text(_ count: Int, seed: UInt64) -> DocumentValue {
    var random = SeededGenerator(seed: seed)
    let bytes = (0..<count).map { _ in UInt8.random(in: 0x21...0x7E, using: &random) }
    return .string(String(decoding: bytes, as: UTF8.self))
  }

  /// A disk with a store whose state has more bytes than `put` appends, and so has one of another program, which nobody
  /// has open.
  ///
  /// - Parameter events: events that are appended before and after the state of an earlier process.
  private static func disk(_ events: StateEvents? = nil) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    var store = try open(disk)
    if var events {
      for _ in 0..<9 { try events.append(to: store) }
      try store.closeBlocking()
      store = try open(disk)
      for _ in 0..<9 { try events.append(to: store) }
    }
    for number in 0..<20 { try store.put("\(number)", ["t": text(600, seed: UInt64(number))]) }
    try store.checkpointBlocking()
    try store.closeBlocking()
    disk.add(
      "\(StateStore.layout.states)/elsewhere-3/\(StoreLayout.pageFileName(4))",
      [UInt8](repeating: 7, count: 9_000))
    return disk
  }

  private static func put(_ store: EventStore, seed: UInt64 = 77) throws {
    try store.put("new", ["t": text(3_000, seed: seed)])
  }

  /// The bytes that an append takes.
  private static func length(_ disk: SimulatedDisk) throws -> Int {
    let store = try open(disk)
    let before = disk.usedSize
    try put(store)
    return disk.usedSize - before
  }

  /// Whatever happened, the answers are those of the log, and all that was acknowledged is in it.
  private func check(_ disk: SimulatedDisk, head: UInt64, saved: UInt64?, _ what: String) async throws {
    let store = try Self.open(disk)
    #expect(store.head.sequence == head, "\(what)")
    let difference = try await store.difference(of: StateStore.documents)
    #expect(difference == nil, "\(what)")
    #expect(store.projector(StateStore.documents).checkpoints?.savedSequence == saved, "\(what)")
    #expect(try disk.findings(inStore: StateStore.path) == [], "\(what)")
    try store.closeBlocking()
  }

  @Test(arguments: [false, true])
  func
    `fault 71: at every number of free bytes an append succeeds, and states go only if it needs their room`(
      isAlsoRead: Bool
    ) async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed("isAlsoRead \(isAlsoRead)"))
    let runs = StateRuns(150, parts: 2)
    while runs.isShort {
      let seed = random.next()
      let origin = try Self.disk(StateEvents(seed: seed))
      let length = try Self.length(origin.clone())
      #expect(length > 3_000)
      let first = Int.random(in: 0..<37, using: &random)
      for free in 0..<length + 3 where free % 37 == first || free > length - 3 {
        runs.add()
        let what = "seed \(seed), \(free) of \(length) bytes are free"
        let disk = origin.clone()
        let store = try Self.open(disk)
        if isAlsoRead {
          let difference = try await store.difference(of: StateStore.documents)
          #expect(difference == nil)
        }
        let states = disk.statePaths
        disk.capacity = disk.usedSize + free
        try Self.put(store)
        #expect(disk.statePaths == (free < length ? [] : states), "\(what)")
        let difference = try await store.difference(of: StateStore.documents)
        #expect(difference == nil, "\(what)")
        let head = store.head.sequence
        // Nothing that was acknowledged depends on the disk from here on.
        let after = disk.crash(seed: UInt64(free), model: .dropAll)
        after.capacity = nil
        try await check(
          after, head: head, saved: free < length ? nil : head - 1, "\(what), after a power cut")
        disk.capacity = nil
        try store.closeBlocking()
        try await check(disk, head: head, saved: head, "\(what), closed with room")
      }
    }
  }

  /// A reader beside the writer has the newest state from disk, and it is the log's.
  private func checkByReader(_ disk: SimulatedDisk) async throws {
    let reader = try StateStore.open(disk, .readOnly, options: Self.options())
    let difference = try await reader.difference(of: StateStore.documents)
    #expect(difference == nil)
    #expect(reader.projector(StateStore.documents).checkpoints?.savedSequence == reader.head.sequence)
    try reader.closeBlocking()
  }

  @Test func `what a process wrote itself gives way too, and its next state is whole`() async throws {
    let disk = SimulatedDisk()
    let store = try Self.open(disk)
    for number in 0..<20 { try store.put("\(number)", ["t": Self.text(600, seed: UInt64(number))]) }
    try store.checkpointBlocking()
    let projector = store.projector(StateStore.documents)
    for round in 0..<3 as Range<UInt64> {
      #expect(!disk.statePaths.isEmpty && projector.checkpoints?.savedSequence == store.head.sequence)
      disk.capacity = disk.usedSize + 1_000
      try Self.put(store, seed: round)
      #expect(disk.statePaths.isEmpty && projector.checkpoints?.savedSequence == nil, "round \(round)")
      // There is room for the log still, and not for a state.
      disk.capacity = disk.usedSize + 6_000
      let refused = Result { try store.checkpointBlocking() }
      #expect(throws: StoreError.self) { try refused.get() }
      #expect(disk.pageFiles().isEmpty, "a state for which there was no room is left")
      disk.capacity = nil
      let made = try store.checkpointBlocking()
      #expect(made.map(\.sequence) == [store.head.sequence])
      let openCount = disk.openFileCount
      try await checkByReader(disk)
      // What a reader has open takes room, and the thread that compared its states may end after the reader.
      #expect(disk.closes(to: openCount))
    }
    try store.closeBlocking()
  }

  @Test func `an append for which there is no room even so is refused as before, and the store goes on`()
    async throws
  {
    let disk = try Self.disk()
    let store = try Self.open(disk)
    let head = store.head.sequence
    disk.capacity = disk.usedSize + 10
    for _ in 0..<3 {
      #expect {
        try store.put("huge", ["t": Self.text(90_000, seed: 1)])
      } throws: { error in
        if case .full? = error as? StoreError { true } else { false }
      }
    }
    #expect(disk.statePaths == [] && store.head.sequence == head)
    try Self.put(store)
    try store.closeBlocking()
    disk.capacity = nil
    try await check(disk, head: head + 1, saved: nil, "a smaller one was accepted")
  }

  @Test func `after a full disk a close saves no state for some time, nor before there is twice the room`()
    async throws
  {
    let disk = try Self.disk()
    let bytes = disk.statePaths.reduce(0) { $0 + disk.contents($1)!.count }
    /// Appends on a full disk, and closes the store when that many bytes are free.
    func isSaved(pause: Duration, free: Int?, isForced: Bool = false) throws -> Bool {
      let disk = disk.clone()
      let store = try Self.open(disk, pause: pause)
      _ = store.projector(StateStore.documents).currentFold()
      disk.capacity = disk.usedSize + 100
      try Self.put(store)
      #expect(disk.statePaths == [])
      disk.capacity = free.map { disk.usedSize + $0 }
      if isForced { try store.checkpointBlocking() }
      try store.closeBlocking()
      return !disk.pageFiles().isEmpty
    }
    #expect(try !isSaved(pause: .seconds(3_600), free: nil))
    #expect(try isSaved(pause: .seconds(3_600), free: nil, isForced: true))
    #expect(try !isSaved(pause: .zero, free: 2 * bytes - 1))
    #expect(try isSaved(pause: .zero, free: 2 * bytes))
    #expect(try isSaved(pause: .zero, free: nil))
  }

  @Test func `a state for which there was no room is not tried again at the next close`() throws {
    let disk = try Self.disk()
    let store = try Self.open(disk)
    for number in 0..<20 { try store.put("\(number)", ["t": Self.text(900, seed: UInt64(number))]) }
    disk.capacity = disk.namedSize + 9_000
    #expect(throws: StoreError.self) { try store.checkpointBlocking() }
    let before = disk.statePaths
    #expect(!before.isEmpty)
    let writes = Lock(0)
    disk.onOperation { call in
      if call.operation == .write, call.path.hasPrefix(StateStore.layout.states) {
        writes.withLock { $0 += 1 }
      }
      return .proceed
    }
    try store.closeBlocking()
    #expect(writes.withLock { $0 } == 0 && disk.statePaths == before)
  }

  @Test func `a state that is being written ends when an append needs its room`() async throws {
    var isEnded = 0
    for round in 0..<6 {
      let disk = try Self.disk()
      var options = Self.options()
      options.writesInStep = false
      options.preallocationStep = 0
      let store = try StateStore.open(disk, options: options)
      for number in 0..<20 { try store.put("\(number)", ["t": Self.text(900, seed: UInt64(number))]) }
      let (begun, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let calls = Lock(0)
      disk.onOperation { call in
        guard call.path.hasPrefix(StateStore.folder()), call.operation == .write else { return .proceed }
        let number = calls.withLock { calls in
          calls += 1
          return calls
        }
        if number == 1 + round % 3 {
          begun.signal()
          // The append waits for this thread, which goes on by itself after a while.
          _ = mayGoOn.wait(timeout: .now() + 0.1)
        }
        return .proceed
      }
      let end = DispatchSemaphore(value: 0)
      let result = Lock<Result<Int, any Error>?>(nil)
      let thread = try store.log.options.machine.start("test-checkpoint") {
        let made = Result<Int, any Error> { try store.checkpointBlocking().count }
        result.withLock { $0 = made }
        begun.signal()
        end.signal()
      }
      begun.wait()
      disk.capacity = disk.usedSize + 100
      try Self.put(store)
      end.wait()
      withExtendedLifetime(thread) {}
      if case .failure? = result.withLock({ $0 }) { isEnded += 1 }
      disk.onOperation(nil)
      disk.capacity = nil
      let head = store.head.sequence
      let difference = try await store.difference(of: StateStore.documents)
      #expect(difference == nil)
      try store.closeBlocking()
      try await check(disk, head: head, saved: head, "round \(round)")
    }
    #expect(isEnded > 1)
  }

  @Test func `an erasure that lacks room removes the states first, as it would in the end`() async throws {
    let disk = try Self.disk()
    let store = try Self.open(disk)
    disk.capacity = disk.namedSize + 4_000
    try store.eraseBlocking(Erasure(sequences: [3...3], because: "asked to"))
    #expect(disk.statePaths == [])
    let events = try store.eventsBlocking(in: "a/2", limit: 9)
    #expect(events.map(\.state) == [.erased])
    let head = store.head.sequence
    try store.closeBlocking()
    disk.capacity = nil
    try await check(disk, head: head, saved: nil, "erased")
  }

  @Test(arguments: [false, true])
  func `a snapshot that is held outlives a full disk and an erasure, in whichever order they come`(
    isErasedFirst: Bool
  ) async throws {
    let disk = try Self.disk()
    let store = try Self.open(disk)
    let projector = store.projector(StateStore.documents)
    let expected = Fold(store.log, StateStore.documents)
    try expected.run(through: .max)
    // Of its pages only the roots are in memory.
    let held = try await projector.state(reaching: store.head.sequence)
    #expect(projector.checkpoints?.savedSequence == held.sequence)
    func erase() throws { try store.eraseBlocking(Erasure(streams: ["a/3"], because: "asked to")) }
    if isErasedFirst { try erase() }
    disk.capacity = disk.namedSize + 100
    // After the erasure there is no state that could give way.
    _ = try? Self.put(store)
    #expect(disk.statePaths == [])
    disk.capacity = nil
    if !isErasedFirst { try erase() }
    #expect(held["a"].count == 20 && held.stateHash == expected.state.stateHash)
    let difference = try await store.difference(of: StateStore.documents)
    #expect(difference == nil)
    try store.closeBlocking()
  }

  @Test func `if the states cannot be removed the append is refused, and the next one tries again`() throws {
    let disk = try Self.disk()
    let store = try Self.open(disk)
    disk.capacity = disk.namedSize + 100
    disk.onOperation { call in
      call.operation == .remove && call.path.hasPrefix(StateStore.layout.states)
        ? .fail(SystemErrorCode.inputOutput) : .proceed
    }
    #expect(throws: StoreError.self) { try Self.put(store) }
    disk.onOperation(nil)
    try Self.put(store)
    #expect(disk.statePaths == [])
  }
}
