// A full disk: derived files give way to appends, and are written again when there is room.

internal import Dispatch
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct DerivedFullDiskTests {
  private static func options(_ kind: any DerivedKind) -> StoreOptions {
    var options = kind.options()
    // Stands still, so that an append has the same length whenever it is made.
    options.clock = StoreClock { 1_767_225_600_000_000_000 }
    options.segmentSizeTarget = 1 << 24
    options.fullDiskPause = .zero
    return options
  }

  private static func open(_ kind: any DerivedKind, _ disk: SimulatedDisk) throws -> EventStore {
    try kind.open(disk, .readWrite, options(kind))
  }

  private static func text(_ count: Int, seed: UInt64) -> DocumentValue {
    var random = SeededGenerator(seed: seed)
    let bytes = (0..<count).map { _ in UInt8.random(in: 0x21...0x7E, using: &random) }
    return .string(String(decoding: bytes, as: UTF8.self))
  }

  private static func putMany(_ store: EventStore, _ length: Int = 600) throws {
    for number in 0..<20 { try store.put("\(number)", ["t": text(length, seed: UInt64(number))]) }
  }

  /// Appends 3,000 bytes that do not compress: more than half as much as the smallest derived file has.
  private static func put(_ store: EventStore, seed: UInt64 = 77) throws {
    try store.put("new", ["t": text(3_000, seed: seed)])
  }

  /// A disk with a store whose derived files have more bytes than `put` appends, and so have those of another program,
  /// which nobody has open.
  ///
  /// - Parameter events: events that are appended before and after a write of an earlier process.
  private static func disk(_ kind: any DerivedKind, _ events: StateEvents? = nil) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    var store = try open(kind, disk)
    if var events {
      for _ in 0..<9 { try events.append(to: store) }
      try store.closeBlocking()
      store = try open(kind, disk)
      for _ in 0..<9 { try events.append(to: store) }
    }
    try putMany(store)
    try kind.write(store)
    try store.closeBlocking()
    disk.add("\(kind.root)/elsewhere-3/\(kind.dataFile(4))", [UInt8](repeating: 7, count: 9_000))
    return disk
  }

  /// Whatever happened, the answers are those of the log, and all that was acknowledged is in it.
  ///
  /// - Parameter end: of what is on disk; 0 for nothing.
  private func check(
    _ kind: any DerivedKind, _ disk: SimulatedDisk, head: UInt64, end: UInt64, _ what: String
  ) async throws {
    let ends = try await kind.check(disk, what, head: head, Self.options(kind))
    #expect(ends.allSatisfy { $0 == end }, "\(what): \(ends), not \(end)")
    #expect(try disk.findings(inStore: StateStore.path) == [], "\(what)")
  }

  @Test(arguments: derivedKinds, [false, true])
  func
    `fault 71, 82: at every number of free bytes an append succeeds, and derived files go only if it needs their room`(
      _ kind: any DerivedKind, isAlsoRead: Bool
    ) async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed("\(kind.name), isAlsoRead \(isAlsoRead)"))
    let runs = StateRuns(150, parts: 2)
    while runs.isShort {
      let seed = random.next()
      let origin = try Self.disk(kind, StateEvents(seed: seed))
      let counted = origin.clone()
      let store = try Self.open(kind, counted)
      let before = counted.usedSize
      try Self.put(store)
      let length = counted.usedSize - before
      #expect(length > 3_000)
      let first = Int.random(in: 0..<37, using: &random)
      for free in 0..<length + 3 where free % 37 == first || free > length - 3 {
        runs.add()
        let what = "seed \(seed), \(free) of \(length) bytes are free"
        let disk = origin.clone()
        let store = try Self.open(kind, disk)
        if isAlsoRead { #expect(try await kind.difference(store) == nil) }
        let files = kind.paths(disk)
        disk.capacity = disk.usedSize + free
        try Self.put(store)
        #expect(kind.paths(disk) == (free < length ? [] : files), "\(what)")
        #expect(try await kind.difference(store) == nil, "\(what)")
        let head = store.head.sequence
        // Nothing that was acknowledged depends on the disk from here on.
        let after = disk.crash(seed: UInt64(free), model: .dropAll)
        after.capacity = nil
        try await check(
          kind, after, head: head, end: free < length ? 0 : head - 1, "\(what), after a power cut")
        disk.capacity = nil
        try kind.write(store)
        try store.closeBlocking()
        try await check(kind, disk, head: head, end: head, "\(what), written with room")
      }
    }
  }

  /// A reader beside the writer has all of it from disk, and it is the log's.
  private func checkByReader(_ kind: any DerivedKind, _ disk: SimulatedDisk) async throws {
    let reader = try kind.open(disk, .readOnly, Self.options(kind))
    #expect(try kind.ends(reader, "a reader").allSatisfy { $0 == reader.head.sequence })
    #expect(try await kind.difference(reader) == nil)
    try reader.closeBlocking()
  }

  @Test(arguments: derivedKinds)
  func `what a process wrote itself gives way too, and what it writes next is whole`(
    _ kind: any DerivedKind
  ) async throws {
    let disk = SimulatedDisk()
    let store = try Self.open(kind, disk)
    try Self.putMany(store)
    try kind.write(store)
    for round in 0..<3 as Range<UInt64> {
      #expect(!kind.paths(disk).isEmpty)
      disk.capacity = disk.usedSize + 1_000
      try Self.put(store, seed: round)
      #expect(kind.paths(disk).isEmpty, "round \(round)")
      // There is room for the log still, and not for all that is derived.
      disk.capacity = disk.usedSize + 6_000
      try? kind.write(store)
      #expect(try await kind.difference(store) == nil)
      disk.capacity = nil
      try kind.write(store)
      let openCount = disk.openFileCount
      try await checkByReader(kind, disk)
      // What a reader has open takes room, and its threads may end after it.
      #expect(disk.closes(to: openCount))
    }
    try store.closeBlocking()
  }

  @Test(arguments: derivedKinds)
  func `an append for which there is no room even so is refused as before, and the store goes on`(
    _ kind: any DerivedKind
  ) async throws {
    let disk = try Self.disk(kind)
    let store = try Self.open(kind, disk)
    let head = store.head.sequence
    disk.capacity = disk.usedSize + 10
    for _ in 0..<3 {
      #expect {
        try store.put("huge", ["t": Self.text(90_000, seed: 1)])
      } throws: { error in
        if case .full? = error as? StoreError { true } else { false }
      }
    }
    #expect(kind.paths(disk) == [] && store.head.sequence == head)
    try Self.put(store)
    disk.capacity = nil
    let after = disk.crash(seed: 1, model: .dropAll)
    try await check(kind, after, head: head + 1, end: 0, "a smaller one was accepted")
    try store.closeBlocking()
  }

  @Test(arguments: derivedKinds)
  func `what is being written ends when an append needs its room`(_ kind: any DerivedKind) async throws {
    for round in 0..<6 {
      let disk = try Self.disk(kind)
      var options = Self.options(kind)
      options.writesInStep = false
      options.preallocationStep = 0
      let store = try kind.open(disk, .readWrite, options)
      try Self.putMany(store, 900)
      let begun = DispatchSemaphore(value: 0)
      let calls = Lock(0)
      disk.onOperation { call in
        guard call.path.hasPrefix(kind.folder(StateStore.documents)), call.operation == .write else {
          return .proceed
        }
        let number = calls.withLock { calls in
          calls += 1
          return calls
        }
        if number == 1 + round % 3 {
          begun.signal()
          // The append waits for this thread, which goes on by itself after a while.
          pauseThread(nanoseconds: 100_000_000)
        }
        return .proceed
      }
      let end = DispatchSemaphore(value: 0)
      let thread = try store.log.options.machine.start("test-write") {
        try? kind.write(store)
        begun.signal()
        end.signal()
      }
      begun.wait()
      disk.capacity = disk.usedSize + 100
      try Self.put(store)
      #expect(!disk.paths.contains { $0.contains("/elsewhere-3/") }, "round \(round)")
      end.wait()
      withExtendedLifetime(thread) {}
      disk.onOperation(nil)
      disk.capacity = nil
      #expect(try await kind.difference(store) == nil)
      try kind.write(store)
      let head = store.head.sequence
      try store.closeBlocking()
      try await check(kind, disk, head: head, end: head, "round \(round)")
    }
  }

  @Test(arguments: derivedKinds)
  func `an erasure that lacks room removes derived files first, as it would in the end`(
    _ kind: any DerivedKind
  ) async throws {
    let disk = try Self.disk(kind)
    let store = try Self.open(kind, disk)
    disk.capacity = disk.namedSize + 4_000
    try store.eraseBlocking(Erasure(sequences: [3...3], because: "asked to"))
    #expect(kind.paths(disk) == [])
    #expect(try store.eventsBlocking(in: "a/2", limit: 9).map(\.state) == [.erased])
    let head = store.head.sequence
    disk.capacity = nil
    let after = disk.crash(seed: 1, model: .dropAll)
    try await check(kind, after, head: head, end: 0, "erased")
    try store.closeBlocking()
  }

  @Test(arguments: derivedKinds, [false, true])
  func `a snapshot that is held outlives a full disk and an erasure, in whichever order they come`(
    _ kind: any DerivedKind, isErasedFirst: Bool
  ) async throws {
    let disk = try Self.disk(kind)
    let store = try Self.open(kind, disk)
    let expected = try StateAnswers(folding: StateStore.documents, of: store)
    // Of its pages only the roots are in memory.
    let held = try await kind.state(store, StateStore.documents)
    #expect(held.sequence == store.head.sequence)
    func erase() throws { try store.eraseBlocking(Erasure(streams: ["a/3"], because: "asked to")) }
    if isErasedFirst { try erase() }
    disk.capacity = disk.namedSize + 100
    // After the erasure there is nothing that could give way.
    _ = try? Self.put(store)
    #expect(kind.paths(disk) == [])
    disk.capacity = nil
    if !isErasedFirst { try erase() }
    #expect(expected.tables[0].rows.count == 20)
    #expect(try StateAnswers(held, of: store).tables == expected.tables)
    #expect(try await kind.difference(store) == nil)
    try store.closeBlocking()
  }

  @Test(arguments: derivedKinds)
  func `if derived files cannot be removed the append is refused, and the next one tries again`(
    _ kind: any DerivedKind
  ) throws {
    let disk = try Self.disk(kind)
    let store = try Self.open(kind, disk)
    disk.capacity = disk.namedSize + 100
    disk.onOperation { call in
      call.operation == .remove && call.path.hasPrefix(kind.root)
        ? .fail(SystemErrorCode.inputOutput) : .proceed
    }
    #expect(throws: StoreError.self) { try Self.put(store) }
    disk.onOperation(nil)
    try Self.put(store)
    #expect(kind.paths(disk) == [])
  }

  @Test(arguments: derivedKinds)
  func `fault 61, 82: a disk that is full at any byte of a write keeps the log, appends and answers`(
    _ kind: any DerivedKind
  ) async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed(kind.name))
    let runs = StateRuns(250)
    var (stopped, gone, written) = (0, 0, 0)
    while runs.isShort {
      let (seed, isNew) = (random.next(), Bool.random(using: &random))
      var options = kind.options(&random)
      options.fullDiskPause = .zero
      // A new segment may need more room than all that is derived.
      options.segmentSizeTarget = 1 << 24
      let counted = try DerivedWork(kind, seed: seed, isNew: isNew, options)
      let most = Lock(counted.disk.usedSize)
      counted.disk.onOperation { [disk = counted.disk] _ in
        let used = disk.usedSize
        most.withLock { $0 = max($0, used) }
        return .proceed
      }
      let before = counted.disk.usedSize
      try kind.write(counted.store)
      counted.disk.onOperation(nil)
      let needed = max(4_000, most.withLock { $0 } - before)
      let step = max(53, needed / 20)
      for free in stride(from: Int.random(in: 0..<step, using: &random), to: needed + 2 * step, by: step) {
        runs.add()
        let what = "seed \(seed), isNew \(isNew), \(free) of \(needed) bytes are free"
        let work = try DerivedWork(kind, seed: seed, isNew: isNew, options)
        work.disk.capacity = work.disk.usedSize + free
        if (try? kind.write(work.store)) == nil { stopped += 1 } else { written += 1 }
        // Smaller than anything that is derived.
        for number in 0..<3 { try work.store.put("\(number)", in: "b", ["n": .int(Int64(number))]) }
        if kind.paths(work.disk).isEmpty { gone += 1 }
        #expect(try await kind.difference(work.store) == nil, "\(what)")
        let head = work.store.head.sequence
        #expect(throws: Never.self, "\(what)") { try work.store.closeBlocking() }
        work.disk.capacity = nil
        _ = try await kind.check(work.disk, what, head: head, options)
      }
    }
    #expect(stopped > runs.count / 8 && gone > 0 && written > 0, "\(stopped), \(gone), \(written)")
  }
}
