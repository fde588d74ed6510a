// States that processes save which only read: those of projections that the writer does not fold.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct StateHomeTests {
  private static let tally = StateStore.tally

  /// The folder of readers, with a `/`.
  private static let folder = "\(StateStore.folder(tally))~/"

  private static func options() -> StoreOptions {
    var options = StateStore.options()
    options.readersSaveStates = true
    return options
  }

  private static func reader(_ disk: SimulatedDisk) throws -> EventStore {
    try StateStore.open(disk, .readOnly, options: options())
  }

  /// A disk with a store whose writer folded no projection.
  private static func disk(seed: UInt64, appends count: Int = 40) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let store = try StateStore.open(disk)
    var events = StateEvents(seed: seed)
    for _ in 0..<count { try events.append(to: store) }
    try store.closeBlocking()
    return disk
  }

  /// The sequence with which a fold of a store begins.
  private static func begin(_ store: EventStore) -> UInt64 {
    Projector(store.log, tally).currentFold().state.sequence
  }

  /// What a state that a store shows has other than the log up to there.
  private static func difference(_ store: EventStore) async throws -> String? {
    let set = try await store.projector(tally).state(reaching: store.head.sequence)
    let fold = Fold(store.log, tally)
    try fold.run(through: set.sequence)
    return try StateAnswers(set, of: store).difference(from: StateAnswers(fold.state, of: store))
  }

  /// Whether no file is open, once the threads that ran for the stores have let go of them.
  private static func isClosed(_ disk: SimulatedDisk) async throws -> Bool {
    let end = MonotonicTime.now().advanced(by: .seconds(60))
    while disk.openFileCount > 0, MonotonicTime.now() < end {
      PageCache.releaseMoved()
      try await Task.sleep(for: .milliseconds(1))
    }
    return disk.openFileCount == 0
  }

  private static func states(_ disk: SimulatedDisk, in folder: String) -> [String] {
    disk.statePaths.filter { $0.hasPrefix(folder) && !$0.hasSuffix(StoreLayout.lockName) }
  }

  @Test func `what a reader folded is there for the next one, until the writer saves its own`() async throws {
    let disk = try Self.disk(seed: 1)
    try await oneAfterTheOther(disk)
    #expect(try await Self.isClosed(disk))
  }

  private func oneAfterTheOther(_ disk: SimulatedDisk) async throws {
    let first = try Self.reader(disk)
    #expect(Self.begin(first) == 0)
    #expect(try await Self.difference(first) == nil)
    let head = first.head.sequence
    try first.closeBlocking()
    #expect(Self.states(disk, in: Self.folder).count == 2)
    #expect(Self.states(disk, in: StateStore.folder(Self.tally) + "/") == [])

    // The next one goes on in the same folder, with what changed.
    let writer = try StateStore.open(disk)
    try writer.put("new", in: "counter", .string("short"))
    let second = try Self.reader(disk)
    #expect(Self.begin(second) == head)
    #expect(try await Self.difference(second) == nil)
    try second.closeBlocking()
    let third = try Self.reader(disk)
    #expect(Self.begin(third) == head + 1)
    let names = try writer.log.source.catalog.fileSystem.contents(ofDirectory: StateStore.layout.states)
    #expect(Set(names) == [StateName(Self.tally)!.readerFolder])

    // The writer begins with what the reader saved, and replaces it.
    #expect(Self.begin(writer) == head + 1)
    #expect(try await Self.difference(writer) == nil)
    try writer.checkpointBlocking()
    #expect(Self.states(disk, in: Self.folder) == [])
    #expect(Self.states(disk, in: StateStore.folder(Self.tally) + "/").count == 2)
    #expect(try await Self.difference(third) == nil)
    try third.closeBlocking()
    try writer.closeBlocking()
    let last = try Self.reader(disk)
    #expect(Self.begin(last) == head + 1)
    try last.closeBlocking()
  }

  @Test func `of readers at the same time one saves, and the next takes over what it saved`() async throws {
    let disk = try Self.disk(seed: 2)
    try await atTheSameTime(disk)
    #expect(try await Self.isClosed(disk))
  }

  private func atTheSameTime(_ disk: SimulatedDisk) async throws {
    let readers = try (0..<3).map { _ in try Self.reader(disk) }
    for (number, reader) in readers.enumerated() {
      #expect(try await Self.difference(reader) == nil)
      let set = try await reader.projector(Self.tally).state(reaching: reader.head.sequence)
      let checkpoints = try #require(reader.projector(Self.tally).checkpoints)
      let erasures = try reader.log.erasures()
      if number == 0 {
        #expect(try checkpoints.write(set, erasures) != nil)
        // Nothing new.
        #expect(try checkpoints.write(set, erasures) == nil)
      } else {
        #expect { try checkpoints.write(set, erasures) } throws: { error in
          (error as? StoreError)?.what.contains("another process that only reads saves the states") ?? false
        }
      }
    }
    #expect(Self.states(disk, in: Self.folder).count == 2)
    let writer = try StateStore.open(disk)
    try writer.put("new", in: "counter", .string("short"))
    // While its lock is held, nobody removes what is there.
    let next = try Self.reader(disk)
    #expect(Self.begin(next) == writer.head.sequence - 1)
    #expect(try await Self.difference(next) == nil)
    try next.closeBlocking()
    try readers[0].closeBlocking()
    #expect(try await Self.difference(readers[1]) == nil)
    let projector = readers[1].projector(Self.tally)
    // It looks for what the writer appended now, and not from time to time.
    try readers[1].log.refresh()
    let set = try await projector.state(reaching: writer.head.sequence)
    #expect(try projector.checkpoints?.write(set, try readers[1].log.erasures()) != nil)
    let last = try Self.reader(disk)
    #expect(Self.begin(last) == writer.head.sequence)
    try last.closeBlocking()
    try readers[1].closeBlocking()
    try readers[2].closeBlocking()
    try writer.closeBlocking()
  }

  @Test func `a reader takes over as soon as the one that saved has ended, and not after a pause`()
    async throws
  {
    let disk = try Self.disk(seed: 5)
    let readers = try (0..<2).map { _ in try Self.reader(disk) }
    for (number, reader) in readers.enumerated() {
      #expect(try await Self.difference(reader) == nil)
      let set = try await reader.projector(Self.tally).state(reaching: reader.head.sequence)
      let checkpoints = try #require(reader.projector(Self.tally).checkpoints)
      let isWritten = (try? checkpoints.write(set, try reader.log.erasures())) != nil
      #expect(isWritten == (number == 0))
      // Others are in its way, and not the disk.
      #expect(checkpoints.mayBeSaved && (checkpoints.failure != nil) == (number == 1))
    }
    let writer = try StateStore.open(disk)
    for number in 0..<9 { try writer.put("\(number)", in: "counter", .string("later")) }
    try readers[0].closeBlocking()
    try readers[1].log.refresh()
    #expect(try await Self.difference(readers[1]) == nil)
    #expect(readers[1].head == writer.head)
    try readers[1].closeBlocking()
    let next = try Self.reader(disk)
    #expect(Self.begin(next) == writer.head.sequence)
    try next.closeBlocking()
    try writer.closeBlocking()
  }

  @Test func `a reader writes nothing where the writer saves the projection`() async throws {
    let disk = try Self.disk(seed: 3)
    let reader = try Self.reader(disk)
    let writer = try StateStore.open(disk)
    #expect(try await Self.difference(writer) == nil)
    #expect(try await Self.difference(reader) == nil)
    try writer.checkpointBlocking()
    try reader.closeBlocking()
    #expect(Self.states(disk, in: Self.folder) == [])
    try writer.closeBlocking()
  }

  @Test func `a reader that cannot write goes on, and says why in the status`() async throws {
    let disk = try Self.disk(seed: 4)
    disk.onOperation { call in call.path.contains("~") && call.operation != .read ? .fail(13) : .proceed }
    let reader = try Self.reader(disk)
    #expect(try await Self.difference(reader) == nil)
    let checkpoints = try #require(reader.projector(Self.tally).checkpoints)
    let set = try await reader.projector(Self.tally).state(reaching: reader.head.sequence)
    #expect(throws: StoreError.self) { try checkpoints.write(set, try reader.log.erasures()) }
    #expect(checkpoints.failure != nil && !checkpoints.mayBeSaved)
    try reader.closeBlocking()
    disk.onOperation(nil)
    #expect(Self.states(disk, in: Self.folder) == [])
    // Where the disk is nearly full, it leaves the room to the log.
    disk.capacity = disk.namedSize + (32 << 20)
    let other = try Self.reader(disk)
    #expect(try await Self.difference(other) == nil)
    try other.closeBlocking()
    #expect(!Self.states(disk, in: Self.folder).contains { $0.hasSuffix(StoreLayout.pagesSuffix) })
    guard case .full? = other.projector(Self.tally).checkpoints?.failure else {
      Issue.record("\(String(describing: other.projector(Self.tally).checkpoints?.failure))")
      return
    }
  }

  @Test func `fault 76: an erasure during any call of a reader that saves leaves nothing of what it erased`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(60)
    var (storeCount, savedCount) = (0, 0)
    while runs.isShort {
      storeCount += 1
      let seed = random.next()
      let origin = SimulatedDisk()
      let first = try StateStore.open(origin)
      try SecretStore.fill(first, StateEvents(seed: seed))
      try first.closeBlocking()
      var number = 0
      var isLast = false
      while !isLast {
        number += 1
        runs.add()
        let what = "seed \(seed), call \(number)"
        let disk = origin.clone()
        isLast = try await erase(disk, atCall: number, what, &savedCount)
        #expect(try await Self.isClosed(disk), "\(what): \(disk.openFileCount) files are open")
      }
      #expect(number > 10)
    }
    // A build without optimisation has few stores, and not in each the tables hold what is erased.
    if storeCount > 5 { #expect(savedCount > 0) }
    print("\(savedCount) of \(storeCount) stores with content to erase in a reader's state")
  }

  /// Erases during a call of a reader that closes. Returns whether there was no such call.
  private func erase(
    _ disk: SimulatedDisk, atCall number: Int, _ what: String, _ savedCount: inout Int
  ) async throws -> Bool {
    let writer = try StateStore.open(disk)
    let reader = try Self.reader(disk)
    #expect(try await Self.difference(reader) == nil)
    let left = Lock(number)
    disk.onOperation { call in
      guard call.path.hasPrefix(StateStore.layout.states) else { return .proceed }
      let isDue = left.withLock { left in
        left -= 1
        return left == 0
      }
      guard isDue else { return .proceed }
      do {
        try writer.eraseBlocking(SecretStore.erasure)
        #expect(SecretStore.holders(disk) == [], "\(what), meanwhile")
      } catch { Issue.record("\(what): \(error)") }
      return .proceed
    }
    try reader.closeBlocking()
    disk.onOperation(nil)
    let isLast = left.withLock { $0 > 0 }
    if isLast {
      // All of it was saved, and is removed now.
      savedCount += SecretStore.holders(disk).contains { $0.hasPrefix(Self.folder) } ? 1 : 0
      try writer.eraseBlocking(SecretStore.erasure)
    }
    #expect(SecretStore.holders(disk) == [], "\(what)")
    let again = try Self.reader(disk)
    #expect(try await Self.difference(again) == nil, "\(what)")
    try again.closeBlocking()
    try writer.closeBlocking()
    #expect(SecretStore.holders(disk) == [], "\(what), afterwards")
    return isLast
  }

  @Test func `the state of a reader is that of the log after any history of writers, readers and lost files`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(60)
    var (begins, opens) = (0, 0)
    while runs.next() {
      let seed = random.next()
      var disk = try Self.disk(seed: seed, appends: 4)
      var events = StateEvents(seed: seed)
      var writer: EventStore?
      var readers: [EventStore] = []
      for step in 0..<Int.random(in: 6...30, using: &random) {
        let what = "seed \(seed), step \(step)"
        switch Int.random(in: 0..<13, using: &random) {
        case 0..<3:
          let store = try writer ?? StateStore.open(disk)
          for _ in 0..<Int.random(in: 1...5, using: &random) { try events.append(to: store) }
          writer = store
        case 3:
          if let writer { #expect(try await Self.difference(writer) == nil, "\(what)") }
        case 4:
          try writer?.closeBlocking()
          writer = nil
        case 5..<7 where readers.count < 4: readers.append(try Self.reader(disk))
        case 7..<9:
          guard let reader = readers.randomElement(using: &random) else { continue }
          opens += 1
          begins += Self.begin(reader) > 0 ? 1 : 0
          #expect(try await Self.difference(reader) == nil, "\(what)")
        case 9..<11 where !readers.isEmpty:
          try readers.remove(at: Int.random(in: 0..<readers.count, using: &random)).closeBlocking()
        case 11:
          if let path = disk.statePaths.randomElement(using: &random) { try disk.remove(path) }
        case 12 where Bool.random(using: &random):
          let after = disk.crash(seed: random.next(), model: .reorder)
          disk.cutPower()
          for reader in readers { try? reader.closeBlocking() }
          try? writer?.closeBlocking()
          (disk, writer, readers) = (after, nil, [])
        default: break
        }
      }
      for reader in readers {
        #expect(try await Self.difference(reader) == nil, "seed \(seed), at the end")
        try reader.closeBlocking()
      }
      try writer?.closeBlocking()
    }
    #expect(begins > opens / 50, "\(begins) of \(opens)")
  }
}
