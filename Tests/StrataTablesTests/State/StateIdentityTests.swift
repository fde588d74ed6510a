// Which states are used: only those of the same store, projection and code, and of a log that has what they have.

internal import Foundation
internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// A projection with the name and version of `TallyProjection`, and another type.
private struct OtherTally: Projection {
  static let name = TallyProjection.name
  static let version = TallyProjection.version

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    tables[TallyProjection.last, "one"] = TallyProjection.Row(id: "one", count: 1, text: "")
  }
}

/// The same type with another version.
private struct VersionedTally: Projection {
  static let name = "versioned"
  static let current = Lock(1)
  static var version: Int { current.withLock { $0 } }

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    let version = Self.version
    tables[TallyProjection.rows, "\(version)"] = TallyProjection.Row(id: "", count: version, text: "")
  }
}

/// A projection whose policy changes between two builds.
private struct Undecided: Projection {
  struct Refusal: Error {}

  static let name = "undecided"
  static let version = 1
  static let policy = Lock(ProjectionFailurePolicy.record)
  static var onFailure: ProjectionFailurePolicy { policy.withLock { $0 } }

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard case .int(let number) = try event.payload.document() else { return }
    if number < 0 { throw Refusal() }
    let known = tables[TallyProjection.rows, event.stream.id]?.count ?? 0
    tables[TallyProjection.rows, event.stream.id] = TallyProjection.Row(
      id: "", count: known + Int(number), text: "")
  }
}

private struct Generic<Value> {}

@Suite struct StateIdentityTests {
  @Test func `a type without a name outside its file is named without its address in this run`() {
    struct Local {}
    for type: Any.Type in [Local.self, OtherTally.self, Generic<OtherTally>.self] {
      let name = ProgramImage.name(of: type)
      #expect(String(reflecting: type).contains("$") && !name.contains("$"), "\(name)")
      #expect(name == ProgramImage.name(of: type) && name.contains("(unknown context at +"), "\(name)")
    }
    #expect(ProgramImage.name(of: Local.self) != ProgramImage.name(of: OtherTally.self))
    #expect(ProgramImage.name(of: Int.self) == "Swift.Int")
    let unreadable = "a (unknown context at $) b (unknown context at $1) c"
    #expect(ProgramImage.stable(unreadable) == unreadable)
  }

  @Test func `a projection that halts from now on does not go on with tables that left events out`()
    async throws
  {
    let disk = SimulatedDisk()
    let folding = Folding.own(Undecided())
    for policy in [ProjectionFailurePolicy.record, .halt] {
      Undecided.policy.withLock { $0 = policy }
      let store = try StateStore.open(disk)
      let projector = store.projector(folding)
      let numbers: [Int64] = policy == .record ? [1, -1, 1] : [1]
      for number in numbers {
        try store.appendAny([NewEvent("counted", in: "counter/a", .int(number))])
      }
      for _ in 0..<2 where policy == .halt {
        await #expect {
          try await projector.state(reaching: 4)
        } throws: { error in
          (error as? StoreError)?.what.contains("cannot apply event 2, and halts before it") ?? false
        }
      }
      if policy == .record {
        let state = try await projector.state(reaching: 3)
        #expect(state.failures.count == 1)
        try store.checkpointBlocking()
      }
      try store.closeBlocking()
    }
    Undecided.policy.withLock { $0 = .record }
  }

  private func disk(_ foldings: [Folding] = [StateStore.documents, StateStore.tally]) throws -> SimulatedDisk
  {
    let disk = SimulatedDisk()
    var events = StateEvents(seed: 7)
    let store = try StateStore.open(disk)
    for folding in foldings { _ = store.projector(folding) }
    for _ in 0..<20 { try events.append(to: store) }
    try store.checkpointBlocking()
    try store.closeBlocking()
    return disk
  }

  /// The sequence of the state with which a fold begins; 0 without one. Checks the answers.
  private func begin(_ disk: SimulatedDisk, _ folding: Folding = StateStore.documents) throws -> UInt64 {
    let reader = try StateStore.open(disk, .readOnly)
    defer { try? reader.closeBlocking() }
    let fold = Projector(reader.log, folding).currentFold()
    let begin = fold.state.sequence
    try fold.run(through: .max)
    let expected = try StateAnswers(folding: folding, of: reader)
    #expect(try StateAnswers(fold.state, of: reader).difference(from: expected) == nil)
    return begin
  }

  @Test func `fault 62: a state whose slot says anything else than the log and the code is not used`() throws
  {
    let disk = try disk()
    let head = try begin(disk)
    #expect(head > 0)
    let path = StateStore.stateFile()
    let bytes = try #require(disk.contents(path))
    let slots = StateSlot.offsets.map { offset in
      bytes.count < offset + StateSlot.length
        ? nil : Array(bytes[offset..<offset + StateSlot.length]).withUnsafeBytes { StateSlot(decoding: $0) }
    }
    let place = try #require(slots.firstIndex { $0 != nil })
    let changes: [(String, (inout StateSlot) -> Void)] = [
      ("another store", { $0.storeID = StoreID(low: 1, high: 3) }),
      ("another name, version, or recording of touches", { $0.name ^= 1 }),
      ("another type, or other code of Strata", { $0.fingerprint ^= 1 }),
      ("a sequence before", { $0.sequence -= 1 }),
      ("a sequence that the log does not have", { $0.sequence += 1 }),
      ("a sequence before the log", { $0.sequence = 0 }),
      ("a huge sequence", { $0.sequence = .max }),
      ("another chain", { $0.chain ^= 1 }),
      ("more appends than the log has", { $0.appends += 1 }),
      ("other erasures", { $0.erasures ^= 1 }),
      ("a root elsewhere", { $0.root.address.offset += 1 }),
      ("a root in another file", { $0.root.address.file += 1 }),
      ("a root of another height", { $0.root.height += 1 }),
      ("a root of the greatest height", { $0.root.height = .max }),
      ("a root with another checksum", { $0.root.address.checksum ^= 1 }),
      ("a root with another length", { $0.root.address.length += 1 }),
      ("a huge root", { $0.root.address.length = .max }),
      ("a root with more entries", { $0.root.total += 1 }),
    ]
    for (what, change) in changes {
      var slot = try #require(slots[place])
      change(&slot)
      var new = bytes
      new.replaceSubrange(
        StateSlot.offsets[place]..<StateSlot.offsets[place] + StateSlot.length, with: slot.encoded())
      disk.replace(path, new)
      #expect(try begin(disk) == 0, "\(what)")
    }
    disk.replace(path, bytes)
    #expect(try begin(disk) == head)
  }

  @Test func `the state of another projection in a projection's folder is not used`() throws {
    let disk = try disk(StateStore.foldings)
    let folders = StateStore.foldings.map { StateStore.folder($0) }
    #expect(Set(folders).count == 3)
    let good = Dictionary(uniqueKeysWithValues: disk.statePaths.map { ($0, disk.contents($0)!) })
    for (folding, folder) in zip(StateStore.foldings, folders) {
      #expect(try begin(disk, folding) > 0)
      for other in folders where other != folder {
        for (path, bytes) in good where path.hasPrefix(other + "/") {
          disk.add(folder + path.dropFirst(other.count), bytes)
        }
        #expect(try begin(disk, folding) == 0, "\(other) as \(folder)")
      }
      for (path, bytes) in good where path.hasPrefix(folder + "/") { disk.add(path, bytes) }
      #expect(try begin(disk, folding) > 0)
    }
  }

  @Test
  func `another type with the same name and version begins from the start, and so does another version`()
    throws
  {
    let disk = try disk()
    #expect(try begin(disk, StateStore.tally) > 0)
    #expect(try begin(disk, .own(OtherTally())) == 0)
    let store = try StateStore.open(disk)
    let folding = Folding.own(VersionedTally())
    _ = store.projector(folding)
    try store.checkpointBlocking()
    try store.closeBlocking()
    #expect(try begin(disk, folding) > 0)
    VersionedTally.current.withLock { $0 = 2 }
    #expect(try begin(disk, folding) == 0)
    VersionedTally.current.withLock { $0 = 1 }
    #expect(try begin(disk, folding) > 0)
  }

  @Test func `two types with one name that save in turn never get each other's tables`() async throws {
    let disk = SimulatedDisk()
    var events = StateEvents(seed: 3)
    for _ in 0..<6 {
      let store = try StateStore.open(disk)
      let foldings = [StateStore.tally, .own(OtherTally())]
      for _ in 0..<4 {
        for _ in 0..<3 { try events.append(to: store) }
        for folding in foldings {
          let difference = try await store.difference(of: folding)
          #expect(difference == nil)
        }
        try store.checkpointBlocking()
      }
      try store.closeBlocking()
    }
  }

  @Test func `a state of a log that was cut and went on otherwise is not used`() throws {
    let disk = SimulatedDisk()
    var store = try StateStore.open(disk)
    for number in 0..<10 { try store.put("\(number)", ["n": 1]) }
    try store.closeBlocking()
    let short = disk.paths.map { ($0, disk.contents($0)!) }
    store = try StateStore.open(disk)
    for number in 10..<20 { try store.put("\(number)", ["n": 2]) }
    try store.checkpointBlocking()
    try store.closeBlocking()
    let states = disk.statePaths.map { ($0, disk.contents($0)!) }
    // The store as it was before, with the states of what came after.
    let other = SimulatedDisk()
    for (path, bytes) in short { other.add(path, bytes) }
    for (path, bytes) in states { other.add(path, bytes) }
    #expect(try begin(other) == 0)
    store = try StateStore.open(other)
    for number in 10..<24 { try store.put("\(number)", ["n": 3]) }
    #expect(try begin(other) == 0)
    // What was folded anew can be saved.
    try store.checkpointBlocking()
    #expect(try begin(other) == store.head.sequence)
    try store.closeBlocking()
  }

  @Test func `without savesStates nothing is read or written, and an erasure removes what is there`() throws {
    let disk = try disk()
    let states = disk.statePaths
    var options = StateStore.options()
    options.savesStates = false
    let store = try StateStore.open(disk, options: options)
    try store.put("1", ["n": 1])
    #expect(try store.checkpointBlocking() == [])
    #expect(store.projector(StateStore.documents).checkpoints == nil && disk.statePaths == states)
    try store.eraseBlocking(Erasure(sequences: [1...1], because: "asked to"))
    try store.closeBlocking()
    #expect(disk.statePaths == [])
  }

  @Test
  func
    `fault 65: the folder of states may be deleted under a running process, and its next checkpoint is whole`()
    async throws
  {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("strata-states-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let disk = PosixFileSystem()
    var events = StateEvents(seed: 9)
    var store = try EventStore.open(disk, path: path, .readWrite, options: StateStore.options())
    let folding = StateStore.documents
    for round in 0..<6 {
      for _ in 0..<6 { try events.append(to: store) }
      try store.checkpointBlocking()
      try FileManager.default.removeItem(atPath: "\(path)/derived")
      // Also if nothing has happened since.
      if round % 2 == 0 { try events.append(to: store) }
      let written = try store.checkpointBlocking()
      #expect(written.allSatisfy { $0.byteCount > 0 }, "round \(round)")
      let head = store.head.sequence
      if round == 3 { try FileManager.default.removeItem(atPath: "\(path)/derived/state/$documents-1/STATE") }
      if round == 4 {
        let folder = "\(path)/derived/state/$documents-1"
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(".pages")
        {
          try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
      }
      try store.closeBlocking()
      store = try EventStore.open(disk, path: path, .readWrite, options: StateStore.options())
      let difference = try await store.difference(of: folding)
      #expect(difference == nil)
      // Also the close sees that files are missing.
      #expect(store.projector(folding).checkpoints?.savedSequence == head)
    }
    try store.closeBlocking()
  }

  @Test
  func `page files may be deleted under a running process, and its next checkpoint is whole`() async throws {
    for isNew in [false, true] {
      let disk = SimulatedDisk()
      var events = StateEvents(seed: 10)
      var store = try StateStore.open(disk)
      for number in 0..<40 { try store.put("\(number)", in: "kept", ["t": .string(events.text())]) }
      try store.checkpointBlocking()
      if isNew {
        try store.closeBlocking()
        store = try StateStore.open(disk)
        _ = try await store.difference(of: StateStore.documents)
      }
      for path in disk.pageFiles() { disk.delete(path) }
      try store.put("1", in: "changed", ["n": 1])
      try store.checkpointBlocking()
      let head = store.head.sequence
      #expect(try begin(disk) == head)
      try store.closeBlocking()
    }
  }

  @Test func `page files that another process made under the same numbers are not taken for one's own`()
    async throws
  {
    let disk = SimulatedDisk()
    var events = StateEvents(seed: 11)
    let store = try StateStore.open(disk)
    for number in 0..<40 { try store.put("\(number)", in: "kept", ["t": .string(events.text())]) }
    try store.checkpointBlocking()
    try store.suspendBlocking()
    for path in disk.statePaths { disk.delete(path) }
    let other = try StateStore.open(disk)
    for number in 0..<80 { try other.put("\(number)", in: "more", ["t": .string(events.text())]) }
    try other.checkpointBlocking()
    try other.closeBlocking()
    try store.resumeBlocking()
    try store.put("1", in: "changed", ["n": 1])
    try store.checkpointBlocking()
    let head = store.head.sequence
    #expect(try begin(disk) == head)
    try store.closeBlocking()
  }

  @Test(arguments: ["derived/state", "derived/state/$documents-1"])
  func `no state is written through a link, and an erasure does not pass one over`(name: String) throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("strata-states-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try EventStore.open(
      PosixFileSystem(), path: "\(path)/store", .readWrite, options: StateStore.options())
    try store.put("1", ["n": 1])
    try store.checkpointBlocking()
    try FileManager.default.moveItem(atPath: "\(path)/store/\(name)", toPath: "\(path)/elsewhere")
    try FileManager.default.createSymbolicLink(
      atPath: "\(path)/store/\(name)", withDestinationPath: "\(path)/elsewhere")
    try store.put("1", ["n": 2])
    let linked = StoreError.linked(path: "\(store.log.layout.root)/\(name)")
    #expect(throws: linked) { try store.checkpointBlocking() }
    #expect(throws: linked) {
      try store.eraseBlocking(Erasure(sequences: [1...1], because: "asked to"))
    }
    // Once the link is gone the order is carried out.
    try FileManager.default.removeItem(atPath: "\(path)/store/\(name)")
    try store.eraseBlocking(Erasure(sequences: [1...1], because: "asked to"))
    try store.checkpointBlocking()
    try store.closeBlocking()
  }

  @Test func `folders are named for projections one to one, in names that every file system takes`() {
    let names = [
      "a", "A", "a-1", "a-1-touches", "a/b", "a%2fb", "..", ".", "$documents", "é", "e\u{301}", "a b",
      "STATE",
      String(repeating: "x", count: 200), String(repeating: "x", count: 201),
      String(repeating: "é", count: 99),
    ]
    var folders: Set<String> = []
    for name in names {
      for version in [0, 1, -1, 11, .max, .min] {
        for touches in [false, true] {
          let folder = StateName(name: name, version: version, recordsTouches: touches).folder
          #expect(folders.insert(folder.lowercased()).inserted, "\(folder)")
          #expect(folder.utf8.count < 200 && !folder.contains("/") && !folder.hasPrefix("."))
        }
      }
    }
  }
}
