// The states of lower versions of a projection: removed once the new version has one, and nothing else with them.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// The last event of each stream, under a version that each test sets.
private struct DeskProjection: Projection {
  @TaskLocal static var version = 1
  static let name = "desk"

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    tables[TallyProjection.rows, event.stream.text] = TallyProjection.Row(
      id: "", count: Int(event.sequence), text: "")
  }
}

/// A program's newer type beside the older one.
private struct NewDeskProjection: Projection {
  static let name = DeskProjection.name
  static let version = 2

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    try DeskProjection().apply(event, to: &tables)
  }
}

/// A projection whose name looks like the older one with its version.
private struct OtherDeskProjection: Projection {
  static let name = "desk-2"
  static let version = 5

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    try DeskProjection().apply(event, to: &tables)
  }
}

@Suite struct StateVersionTests {
  private static let desk = Folding.own(DeskProjection())
  private static let newDesk = Folding.own(NewDeskProjection())
  private static let otherDesk = Folding.own(OtherDeskProjection())

  /// Opens the store, folds, saves and closes it.
  private func save(_ disk: SimulatedDisk, _ foldings: [Folding]) throws {
    let store = try StateStore.open(disk)
    for folding in foldings { _ = store.projector(folding) }
    for number in 0..<9 { try store.put("\(number)", ["n": .int(Int64(store.head.sequence))]) }
    try store.checkpointBlocking()
    try store.closeBlocking()
  }

  /// The names of the folders that hold files.
  private func folders(_ disk: SimulatedDisk) -> Set<String> {
    Set(disk.statePaths.map { String($0.dropFirst(StateStore.layout.states.count + 1).prefix { $0 != "/" }) })
  }

  @Test func `fault 69: the states of lower versions go with the first of a new version, and no others`()
    throws
  {
    let disk = SimulatedDisk()
    try save(disk, [Self.desk, Self.otherDesk, StateStore.tally])
    let others: Set = [
      "$documents-1", "desk%2d2-5", StateName(StateStore.tally)!.folder, "desk-2", "desk-3", "desk-02",
      "desk-+1", "desk-x", "desk", "desk-", "desk-1-other", "desktop-1", "Desk-1", "desk-3-touches", "des-1",
    ]
    let lower: Set = ["desk-1", "desk-0", "desk--7", "desk-1-touches", "desk--7-touches"]
    for folder in others.union(lower) {
      let path = "\(StateStore.layout.states)/\(folder)"
      if !folders(disk).contains(folder) { disk.add("\(path)/\(StoreLayout.pageFileName(1))", [1, 2, 3]) }
    }
    disk.add("\(StateStore.layout.states)/desk-1/notes.txt", [1])
    #expect(folders(disk) == others.union(lower))
    try save(disk, [Self.newDesk])
    #expect(folders(disk) == others.union(["desk-1"]))
    let left = disk.statePaths.filter { $0.hasPrefix("\(StateStore.layout.states)/desk-1/") }
    #expect(left == ["\(StateStore.layout.states)/desk-1/notes.txt"], "a file that is no state's is removed")
  }

  @Test func `a lower version has no effect on a higher one`() throws {
    let disk = SimulatedDisk()
    try save(disk, [Self.newDesk])
    let files = disk.statePaths.filter { $0.contains("/desk-2/") }
    #expect(files.count >= 2)
    try save(disk, [Self.desk])
    #expect(folders(disk).isSuperset(of: ["desk-1", "desk-2"]))
    #expect(disk.statePaths.filter { $0.contains("/desk-2/") } == files)
    try DeskProjection.$version.withValue(-3) { try save(disk, [Self.desk]) }
    #expect(folders(disk).isSuperset(of: ["desk--3", "desk-1", "desk-2"]))
    try DeskProjection.$version.withValue(3) { try save(disk, [Self.desk]) }
    #expect(folders(disk) == ["$documents-1", "desk-3"])
  }

  @Test func `a program that uses two versions keeps both, and a reader of the lower one goes on`()
    async throws
  {
    let disk = SimulatedDisk()
    try save(disk, [Self.desk, Self.newDesk])
    try save(disk, [Self.newDesk, Self.desk])
    #expect(folders(disk) == ["$documents-1", "desk-1", "desk-2"])
    let reader = try StateStore.open(disk, .readOnly)
    let before = reader.head.sequence
    let fold = reader.projector(Self.desk).currentFold()
    #expect(fold.state.sequence == before)
    try save(disk, [Self.newDesk])
    #expect(folders(disk) == ["$documents-1", "desk-2"])
    // None of its pages but the roots were read before.
    let expected = Fold(reader.log, Self.desk)
    try expected.run(through: before)
    let answers = try StateAnswers(expected.state, of: reader)
    #expect(try StateAnswers(fold.state, of: reader).difference(from: answers) == nil)
    #expect(reader.projector(Self.desk).checkpoints?.faults == StateFaults())
    try reader.closeBlocking()
  }

  @Test func `nothing of a lower version is removed before the new state is on disk, nor without the lock`()
    throws
  {
    let disk = SimulatedDisk()
    try save(disk, [Self.desk])
    let old = disk.statePaths.filter { $0.contains("/desk-1/") }
    let counted = disk.clone()
    func open(_ disk: SimulatedDisk) throws -> EventStore {
      let store = try StateStore.open(disk)
      _ = store.projector(Self.newDesk)
      try store.put("1", ["n": 0])
      return store
    }
    let first = try open(counted)
    let count = try counted.changeCount { _ = try first.checkpointBlocking() }
    var removed = 0
    // The removal may be the last thing that a checkpoint does: projections are saved in any order.
    for change in 1...count + 1 {
      let after = disk.clone()
      let store = try open(after)
      after.cutPower(atChange: change)
      _ = try? store.checkpointBlocking()
      let next = after.crash(seed: 1, model: .dropAll)
      let reader = try StateStore.open(next, .readOnly)
      let isNew = reader.projector(Self.newDesk).currentFold().state.sequence > 0
      try reader.closeBlocking()
      let isOld = next.statePaths.filter { $0.contains("/desk-1/") } == old
      #expect(isOld || isNew, "change \(change) of \(count)")
      if !isOld { removed += 1 }
    }
    #expect(removed > 0)
    let store = try open(disk)
    disk.onOperation { call in
      if call.path == StateStore.stateFile(Self.newDesk), call.operation == .sync {
        disk.onOperation(nil)
        disk.delete(StateStore.layout.lock)
      }
      return .proceed
    }
    _ = try? store.checkpointBlocking()
    #expect(disk.statePaths.filter { $0.contains("/desk-1/") } == old, "another writer may be using them")
  }

  @Test func `a folder is one of a lower version only if its name says so in full`() {
    let names = ["a", "A", "a-1", "a-1-touches", "a/b", "..", "é", "1", String(repeating: "x", count: 200)]
    let versions = [0, 1, -1, 11, .max, .min]
    let all = names.flatMap { name in
      versions.flatMap { version in
        [false, true].map { StateName(name: name, version: version, recordsTouches: $0) }
      }
    }
    for one in all {
      for other in all {
        #expect(
          one.isAbove(folder: other.folder) == (one.name == other.name && one.version > other.version),
          "\(one.folder), \(other.folder)")
      }
    }
  }
}
