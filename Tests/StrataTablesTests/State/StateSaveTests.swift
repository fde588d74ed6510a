// When states are saved, and what a save leaves that ends early. What holds for all derived files is in DerivedKind.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct StateSaveTests {
  private static let kind = SavedStates()

  private static func text(_ count: Int, seed: UInt64) -> DocumentValue {
    var random = SeededGenerator(seed: seed)
    return .string(String((0..<count).map { _ in "abcdefghij".randomElement(using: &random)! }))
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
      #expect(try Self.kind.ends(store, "seed \(seed)").allSatisfy { $0 == head }, "seed \(seed)")
      try store.closeBlocking()
    }
  }

  // MARK: Full disks

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
      for number in 0..<8 { try store.put("\(number)", ["t": Self.text(9_000, seed: random.next())]) }
      disk.capacity = disk.usedSize + free
      let before = disk.pageFiles().map { disk.contents($0)!.count }
      if (try? store.checkpointBlocking()) != nil {
        #expect(free > 20_000)
      } else {
        failed += 1
        #expect(disk.pageFiles().map { disk.contents($0)!.count } == before, "\(free) bytes were free")
      }
      disk.capacity = nil
      try store.closeBlocking()
    }
    #expect(failed > runs.count / 4)
  }

  /// A disk with a store that has a state, closed.
  private static func disk(pause: Duration = .zero) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let store = try open(disk, pause: pause)
    for number in 0..<20 { try store.put("\(number)", ["t": text(600, seed: UInt64(number))]) }
    try store.checkpointBlocking()
    try store.closeBlocking()
    return disk
  }

  private static func open(_ disk: SimulatedDisk, pause: Duration = .zero) throws -> EventStore {
    var options = StateStore.options()
    options.clock = StoreClock { 1_767_225_600_000_000_000 }
    options.segmentSizeTarget = 1 << 24
    options.fullDiskPause = pause
    return try StateStore.open(disk, options: options)
  }

  @Test func `after a full disk a close saves no state for some time, nor before there is twice the room`()
    throws
  {
    let origin = try Self.disk()
    let bytes = origin.statePaths.reduce(0) { $0 + origin.contents($1)!.count }
    /// Appends on a full disk, and closes the store when that many bytes are free.
    func isSaved(pause: Duration, free: Int?, isForced: Bool = false) throws -> Bool {
      let disk = origin.clone()
      let store = try Self.open(disk, pause: pause)
      _ = store.projector(StateStore.documents).currentFold()
      disk.capacity = disk.usedSize + 100
      try store.put("new", ["t": Self.text(3_000, seed: 77)])
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
    for number in 0..<20 { try store.put("\(number)", ["t": Self.text(1_800, seed: UInt64(number))]) }
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

  // MARK: Erasures

  @Test
  func `a process that was suspended while it wrote a state leaves nothing that another one has erased`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(125)
    while runs.isShort {
      let seed = random.next()
      let origin = try Self.kind.secretDisk(StateEvents(seed: seed))
      var number = Int.random(in: -2...0, using: &random)
      while true {
        number += 3
        runs.add()
        let what = "seed \(seed), call \(number) of a checkpoint"
        let disk = origin.clone()
        var options = Self.kind.secretOptions()
        options.closeFoldingMax = .zero
        let store = try Self.kind.open(disk, .readWrite, options)
        _ = try await Self.kind.difference(store)
        try store.put("8", in: "person", ["n": 1])
        let suspension = disk.during(call: number) {
          try store.suspendBlocking()
          let other = try Self.kind.openSecret(disk)
          try other.eraseBlocking(SecretStore.erasure)
          try other.checkpointBlocking()
          try other.closeBlocking()
        }
        _ = try? store.checkpointBlocking()
        disk.onOperation(nil)
        #expect(suspension.failure == nil, "\(what)")
        guard suspension.isDue else { break }
        #expect(SecretStore.holders(disk) == [], "\(what)")
        try store.resumeBlocking()
        #expect(try await Self.kind.difference(store) == nil, "\(what), resumed")
        try store.checkpointBlocking()
        #expect(SecretStore.holders(disk) == [], "\(what), resumed")
        try store.closeBlocking()
      }
      #expect(number > 40)
    }
  }

  @Test func `a state whose fold began before an erasure is not written after it, however slowly it goes on`()
    async throws
  {
    let disk = SimulatedDisk()
    var options = Self.kind.secretOptions()
    options.closeFoldingMax = .zero
    let store = try Self.kind.open(disk, .readWrite, options)
    try SecretStore.fill(store)
    let projector = store.projector(StateStore.documents)
    let before = try await projector.state(reaching: store.head.sequence)
    #expect(before["person"].count == 5)
    try store.eraseBlocking(SecretStore.erasure)
    try SecretStore.fill(store)
    try store.eraseBlocking(SecretStore.erasure)
    for number in 0..<10 { try store.put("\(number)", in: "later", ["n": 1]) }
    // Each of these folds one block and saves what was published last.
    var count = 0
    while projector.published.sequence < store.head.sequence {
      count += 1
      _ = try? projector.save()
      #expect(SecretStore.holders(disk) == [], "save \(count)")
      try #require(count < 2_000)
    }
    #expect(count > 10)
    #expect(try await Self.kind.difference(store) == nil)
    try store.closeBlocking()
  }
}
