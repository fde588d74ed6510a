// Derived files of a projection whose version was raised: the new version has its own, and those of lower ones go.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// Counts the events of each stream, under a version that each test sets.
private struct DeskProjection: Projection {
  @TaskLocal static var version = 1
  static let name = "desk"

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    try Self.count(event, by: 1, &tables)
  }

  static func count(_ event: RecordedEvent, by step: Int, _ tables: inout ProjectionTables) throws {
    let id = event.stream.text
    let known = tables[TallyProjection.rows, id]?.count ?? 0
    tables[TallyProjection.rows, id] = TallyProjection.Row(id: id, count: known + step, text: "")
  }
}

/// A program's newer type beside the older one, which makes other rows of the same events.
private struct NewDeskProjection: Projection {
  static let name = DeskProjection.name
  static let version = 2

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    try DeskProjection.count(event, by: 100, &tables)
  }
}

/// A projection whose name looks like the older one with its version.
private struct OtherDeskProjection: Projection {
  static let name = "desk-2"
  static let version = 5

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    try DeskProjection.count(event, by: 1, &tables)
  }
}

@Suite struct DerivedVersionTests {
  private static let desk = Folding.own(DeskProjection())
  private static let newDesk = Folding.own(NewDeskProjection())
  private static let otherDesk = Folding.own(OtherDeskProjection())

  /// Opens the store, appends, and writes what is derived for some projections, which is right.
  private func write(_ kind: any DerivedKind, _ disk: SimulatedDisk, _ foldings: [Folding]) async throws {
    let store = try kind.open(disk, foldings: foldings)
    for number in 0..<9 { try store.put("\(number)", ["n": .int(Int64(store.head.sequence))]) }
    for folding in foldings {
      try kind.write(store, folding)
      #expect(try await kind.difference(store, folding) == nil)
      let reading = try kind.read(store, folding, nil)
      #expect(reading.difference == nil && reading.end == store.head.sequence)
    }
    try store.closeBlocking()
  }

  /// The names of the folders that hold files.
  private func folders(_ kind: any DerivedKind, _ disk: SimulatedDisk) -> Set<String> {
    Set(kind.paths(disk).map { String($0.dropFirst(kind.root.count + 1).prefix { $0 != "/" }) })
  }

  private func contents(_ kind: any DerivedKind, _ disk: SimulatedDisk, of folding: Folding) -> [String:
    [UInt8]]
  {
    kind.contents(disk).filter { $0.key.hasPrefix(kind.folder(folding) + "/") }
  }

  @Test(arguments: derivedKinds)
  func `fault 69: files of lower versions go with the first of a new version, and no others`(
    _ kind: any DerivedKind
  ) async throws {
    let disk = SimulatedDisk()
    try await write(kind, disk, [Self.desk, Self.otherDesk, StateStore.tally])
    let others: Set = [
      "desk%2d2-5", StateName(StateStore.tally)!.folder, "desk-2", "desk-3", "desk-02", "desk-+1", "desk-x",
      "desk", "desk-", "desk-1-other", "desktop-1", "Desk-1", "desk-3-touches", "des-1",
    ]
    let lower: Set = ["desk-1", "desk-0", "desk--7", "desk-1-touches", "desk--7-touches"]
    for folder in others.union(lower).subtracting(folders(kind, disk)) {
      disk.add("\(kind.root)/\(folder)/\(kind.dataFile(1))", [1, 2, 3])
    }
    let own = folders(kind, disk).subtracting(others).subtracting(lower)
    disk.add("\(kind.root)/desk-1/notes.txt", [1])
    try await write(kind, disk, [Self.newDesk])
    #expect(folders(kind, disk).subtracting(own).subtracting(["$documents-1"]) == others.union(["desk-1"]))
    let left = kind.paths(disk).filter { $0.hasPrefix("\(kind.root)/desk-1/") }
    #expect(left == ["\(kind.root)/desk-1/notes.txt"], "a file that is not derived is removed")
  }

  @Test(arguments: derivedKinds)
  func `fault 69: a lower version leaves the files of a higher one alone, and has its own`(
    _ kind: any DerivedKind
  ) async throws {
    let disk = SimulatedDisk()
    try await write(kind, disk, [Self.newDesk])
    let files = contents(kind, disk, of: Self.newDesk)
    #expect(files.count >= 2)
    try await write(kind, disk, [Self.desk])
    #expect(folders(kind, disk).isSuperset(of: ["desk-1", "desk-2"]))
    #expect(contents(kind, disk, of: Self.newDesk) == files)
    try await DeskProjection.$version.withValue(-3) { try await write(kind, disk, [Self.desk]) }
    #expect(folders(kind, disk).isSuperset(of: ["desk--3", "desk-1", "desk-2"]))
    #expect(contents(kind, disk, of: Self.newDesk) == files)
    try await DeskProjection.$version.withValue(3) { try await write(kind, disk, [Self.desk]) }
    #expect(folders(kind, disk).subtracting(["$documents-1"]) == ["desk-3"])
  }

  @Test(arguments: derivedKinds)
  func `fault 69: a program that uses two versions keeps both, and a reader of the lower one goes on`(
    _ kind: any DerivedKind
  ) async throws {
    let disk = SimulatedDisk()
    try await write(kind, disk, [Self.desk, Self.newDesk])
    try await write(kind, disk, [Self.newDesk, Self.desk])
    #expect(folders(kind, disk).subtracting(["$documents-1"]) == ["desk-1", "desk-2"])
    let reader = try kind.open(disk, .readOnly, foldings: [Self.desk])
    // Of its pages only the roots are in memory.
    let held = try await kind.state(reader, Self.desk)
    #expect(held.sequence == reader.head.sequence)
    try await write(kind, disk, [Self.newDesk])
    #expect(folders(kind, disk).subtracting(["$documents-1"]) == ["desk-2"])
    let expected = Fold(reader.log, Self.desk)
    try expected.run(through: held.sequence)
    let answers = try StateAnswers(expected.state, of: reader)
    #expect(try StateAnswers(held, of: reader).difference(from: answers) == nil)
    #expect(reader.projector(Self.desk).checkpoints?.faults ?? StateFaults() == StateFaults())
    try reader.closeBlocking()
  }

  @Test(arguments: derivedKinds)
  func `fault 69: nothing of a lower version is removed before the new one is on disk, nor without the lock`(
    _ kind: any DerivedKind
  ) async throws {
    let disk = SimulatedDisk()
    try await write(kind, disk, [Self.desk])
    let old = contents(kind, disk, of: Self.desk)
    func open(_ disk: SimulatedDisk) throws -> EventStore {
      let store = try kind.open(disk, foldings: [Self.newDesk])
      try store.put("1", ["n": 0])
      return store
    }
    let counted = disk.clone()
    let first = try open(counted)
    let count = try counted.changeCount { try kind.write(first, Self.newDesk) }
    var removed = 0
    for change in 1...count + 1 {
      let after = disk.clone()
      let store = try open(after)
      after.cutPower(atChange: change)
      try? kind.write(store, Self.newDesk)
      let next = after.crash(seed: 1, model: .dropAll)
      let reader = try kind.open(next, .readOnly, foldings: [Self.newDesk])
      let isNew = try kind.read(reader, Self.newDesk, nil).end > 0
      try reader.closeBlocking()
      // Files that were removed before may be there again.
      let isOld =
        contents(kind, next, of: Self.desk).merging(old) { $1 } == contents(kind, next, of: Self.desk)
      #expect(isOld || isNew, "change \(change) of \(count)")
      if !isOld { removed += 1 }
    }
    #expect(removed > 0)
    let store = try open(disk)
    let head = "\(kind.folder(Self.newDesk))/\(kind.headFile)"
    let isGone = Lock(false)
    disk.onOperation { call in
      // What follows this is the removal.
      guard call.path.hasPrefix(head), [.sync, .rename].contains(call.operation),
        isGone.withLock({ gone in
          defer { gone = true }
          return !gone
        })
      else { return .proceed }
      disk.delete(StateStore.layout.lock)
      return .proceed
    }
    try? kind.write(store, Self.newDesk)
    disk.onOperation(nil)
    #expect(isGone.withLock { $0 })
    #expect(contents(kind, disk, of: Self.desk) == old, "another writer may be using them")
    try? store.closeBlocking()
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
