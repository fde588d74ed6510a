// States that another build of the program saved: used by the version that the projection declares.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// A projection whose code and version can be changed. Its type has the same name in every build.
struct ChangingTally: Projection {
  static let name = "changing"
  static let current = Lock((code: 1, version: 1))
  static var version: Int { current.withLock { $0.version } }
  static let rows = TableKey<TallyProjection.Row>("tally")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    let code = Self.current.withLock { $0.code }
    let id = event.stream.id
    let row = TallyProjection.Row(
      id: id, count: (tables[Self.rows, id]?.count ?? 0) + code, text: event.type)
    // Another number of rows, too.
    tables[Self.rows, id] = code > 1 && id.hasSuffix("3") ? nil : row
  }
}

@Suite(.serialized) struct StateBuildTests {
  private struct Unnamed: Projection {
    static let name = "unnamed"
    static let version = 1

    func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
      tables[ChangingTally.rows, event.stream.id] = TallyProjection.Row(id: "", count: 1, text: event.type)
    }
  }

  private func options(_ usesStatesOfOtherBuilds: Bool = true) -> StoreOptions {
    var options = StateStore.options()
    options.usesStatesOfOtherBuilds = usesStatesOfOtherBuilds
    return options
  }

  /// A closed store with a saved state of a projection.
  private func disk(_ folding: Folding, _ options: StoreOptions) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    var events = StateEvents(seed: 5)
    let store = try StateStore.open(disk, options: options)
    _ = store.projector(folding)
    for _ in 0..<20 { try events.append(to: store) }
    try store.checkpointBlocking()
    try store.closeBlocking()
    return disk
  }

  /// Whether a fold begins with the state on disk.
  private func isUsed(_ disk: SimulatedDisk, _ folding: Folding, _ options: StoreOptions) throws -> Bool {
    let store = try StateStore.open(disk, options: options)
    defer { try? store.closeBlocking() }
    return store.projector(folding).currentFold().state.sequence == store.head.sequence
  }

  /// Makes the state on disk one of another build. Returns whether it was of one build only.
  private func forge(_ disk: SimulatedDisk, _ folding: Folding) throws -> Bool {
    let path = StateStore.stateFile(folding)
    var bytes = try #require(disk.contents(path))
    var isOfOneBuild = false
    for offset in StateSlot.offsets where offset + StateSlot.length <= bytes.count {
      let range = offset..<offset + StateSlot.length
      guard var slot = bytes[range].withUnsafeBytes({ StateSlot(decoding: $0) }) else { continue }
      isOfOneBuild = slot.build != 0
      slot.build ^= 1
      bytes.replaceSubrange(range, with: slot.encoded())
    }
    disk.replace(path, bytes)
    return isOfOneBuild
  }

  @Test
  func `fault 75: a state of a private type, or in a debug build, is used by the build that saved it alone`()
    throws
  {
    let cases: [(Folding, StoreOptions)] = [
      (.own(Unnamed()), options()), (.own(ChangingTally()), options(false)),
    ]
    for (folding, options) in cases {
      let disk = try disk(folding, options)
      #expect(try isUsed(disk, folding, options))
      #expect(try forge(disk, folding))
      #expect(try !isUsed(disk, folding, options))
    }
  }

  @Test(arguments: [EventStore.Access.readWrite, .readOnly])
  func `fault 75: a state of another build is used by its version, and verifying says what its code makes`(
    _ access: EventStore.Access
  ) async throws {
    defer { ChangingTally.current.withLock { $0 = (1, 1) } }
    let folding = Folding.own(ChangingTally())
    let disk = try disk(folding, options())
    // The same build as far as the state says: any may use it.
    ChangingTally.current.withLock { $0 = (2, 1) }
    var store = try StateStore.open(disk, access, options: options())
    #expect(store.projector(folding).currentFold().state.sequence == store.head.sequence)
    #expect(try await !store.verifyTables(of: ChangingTally()))
    ChangingTally.current.withLock { $0 = (1, 1) }
    #expect(try await store.verifyTables(of: ChangingTally()))
    try store.closeBlocking()
    ChangingTally.current.withLock { $0 = (2, 2) }
    store = try StateStore.open(disk, access, options: options())
    let raised = store.projector(Folding.own(ChangingTally()))
    #expect(raised.currentFold().state.sequence == 0)
    #expect(try await store.verifyTables(of: ChangingTally()))
    #expect(try await store.difference(of: Folding.own(ChangingTally())) == nil)
    try store.closeBlocking()
  }

  @Test func `tables are compared with an erasure as they are without the content`() async throws {
    let folding = Folding.own(ChangingTally())
    let store = try StateStore.open(try disk(folding, options()), options: options())
    #expect(try await store.verifyTables(of: ChangingTally()))
    try store.eraseBlocking(Erasure(sequences: [3...3], because: "asked to"))
    #expect(try await store.verifyTables(of: ChangingTally()))
    try store.closeBlocking()
  }
}
