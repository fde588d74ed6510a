// What a deep check says of states and histories: what is damaged, and what a power cut leaves behind.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct SavedCheckTests {
  private static func options(saves: Bool = true) -> StoreOptions {
    var options = StateStore.options()
    options.segmentSizeTarget = 1 << 20
    options.savesStates = saves
    options.history = saves ? .all : .off
    options.runLimits.changeCountMax = 6
    options.runLimits.laggingCount = 1
    return options
  }

  private static func findings(_ disk: SimulatedDisk) throws -> [StoreFinding] {
    let store = try StateStore.open(disk, .readOnly, options: options(saves: false))
    defer { try? store.closeBlocking() }
    return try StateVerifier(store.log).run() + HistoryVerifier(store.log).run()
  }

  /// A disk with a state and a history of forty events, and the same disk when it had twenty.
  private static func filled(seed: UInt64) throws -> (now: SimulatedDisk, before: SimulatedDisk) {
    let disk = SimulatedDisk()
    var events = StateEvents(seed: seed)
    var before = disk
    for _ in 0..<2 {
      before = disk.clone()
      let store = try StateStore.open(disk, options: options())
      for _ in 0..<20 { try events.append(to: store) }
      let projector = store.projector(StateStore.documents)
      try projector.save(isForced: true)
      try projector.historian?.recordBlocking(writesRest: true)
      try store.closeBlocking()
    }
    return (disk, before)
  }

  @Test(arguments: [false, true])
  func `A state and a history of events that a power cut took are stale, and no damage`(goesOn: Bool) throws {
    let (disk, before) = try Self.filled(seed: goesOn ? 3 : 4)
    #expect(try Self.findings(disk) == [])
    // The log as it was earlier, beside what was saved of it later.
    for path in before.paths where !path.contains("/derived/") && disk.contents(path) != nil {
      disk.replace(path, before.contents(path)!)
    }
    if goesOn {
      let store = try StateStore.open(disk, options: Self.options(saves: false))
      var events = StateEvents(seed: 99)
      for _ in 0..<60 { try events.append(to: store) }
      try store.closeBlocking()
    }
    let found = try Self.findings(disk)
    #expect(found.map(\.class) == [.stale, .stale] && found.allSatisfy(\.isHarmless), "\(found)")
    #expect(found.allSatisfy { $0.last < $0.first && $0.next.hasPrefix("nothing") })
    // The next process that writes puts others in their place.
    let store = try StateStore.open(disk, options: Self.options())
    try store.projector(StateStore.documents).save(isForced: true)
    try store.projector(StateStore.documents).historian?.recordBlocking(writesRest: true)
    try store.closeBlocking()
    #expect(try Self.findings(disk) == [])
  }

  @Test func `What a writer saves after a reader opened the log is of events that the log has`() throws {
    let disk = SimulatedDisk()
    let store = try StateStore.open(disk, options: Self.options())
    var events = StateEvents(seed: 6)
    for _ in 0..<20 { try events.append(to: store) }
    let reader = try StateStore.open(disk, .readOnly, options: Self.options(saves: false))
    for _ in 0..<20 { try events.append(to: store) }
    let projector = store.projector(StateStore.documents)
    try projector.save(isForced: true)
    try projector.historian?.recordBlocking(writesRest: true)
    #expect(disk.historyPaths.count > 1)
    #expect(try StateVerifier(reader.log).run() == [])
    #expect(try HistoryVerifier(reader.log).run() == [])
    try reader.closeBlocking()
    try store.closeBlocking()
  }

  @Test func `what is damaged of a history is named with its file, and a missing file too`() throws {
    let (origin, _) = try Self.filled(seed: 5)
    for path in origin.historyPaths {
      let disk = origin.clone()
      try disk.remove(path)
      let found = try Self.findings(disk)
      #expect(found.count == 1 && found[0].class == .history && !found[0].isHarmless && found[0].isDerived)
      #expect(path.hasSuffix(found[0].file) && found[0].next.contains("delete the folder"))
    }
    let cut = origin.clone()
    for path in cut.historyPaths { cut.replace(path, Array(cut.contents(path)!.dropLast(3))) }
    #expect(try Self.findings(cut).map(\.class) == [.history])
  }

  @Test func `what is damaged of a run is named with the offset of its record`() throws {
    let (disk, _) = try Self.filled(seed: 5)
    let path = try #require(disk.historyPaths.first { !$0.hasSuffix(StoreLayout.manifestFile) })
    var bytes = try #require(disk.contents(path))
    let index = bytes.count / 2
    bytes[index] ^= 1
    disk.replace(path, bytes)
    let found = try Self.findings(disk)
    #expect(found.count == 1 && path.hasSuffix(found[0].file))
    #expect(found.first.map { (1...UInt64(index)).contains($0.offset) } == true, "\(found)")
  }
}
