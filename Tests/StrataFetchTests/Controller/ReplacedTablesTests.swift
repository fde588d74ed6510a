// Lists of rows that another build of the program made, and that give way to those of this one.

internal import StrataBase
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataTesting
internal import Testing

/// Counts the events of each stream, in steps that are not part of the version.
private struct SteppedCount: Projection {
  struct Row: Codable, Identifiable, Sendable, Equatable {
    var id: String
    var count: Int
    /// A later row type has it. It is coded only there, as if it were not part of the one before.
    var note = ""

    init(id: String, count: Int) { (self.id, self.count) = (id, count) }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      (id, count) = (try values.decode(String.self, forKey: .id), try values.decode(Int.self, forKey: .count))
      if SteppedCount.hasNote.withLock({ $0 }) { note = try values.decode(String.self, forKey: .note) }
    }

    func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      try values.encode(id, forKey: .id)
      try values.encode(count, forKey: .count)
      if SteppedCount.hasNote.withLock({ $0 }) { try values.encode(note, forKey: .note) }
    }

    private enum CodingKeys: String, CodingKey { case id, count, note }
  }

  static let name = "stepped"
  static let version = 1
  static let rows = TableKey<Row>("rows")
  static let step = Lock(1)
  static let hasNote = Lock(false)
  /// Events up to this sequence are not applied for now.
  static let held = Gate<UInt64>(0)

  static func hold(through sequence: UInt64) {
    held.withLock { $0 = sequence }
    held.signalAll()
  }

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    Self.held.wait(until: { $0 < event.sequence })
    let id = event.stream.id
    let count = tables[Self.rows, id]?.count ?? 0
    tables[Self.rows, id] = Row(id: id, count: count + Self.step.withLock { $0 })
  }
}

@Suite(.serialized) struct ReplacedTablesTests {
  private typealias List = FetchController<SteppedCount.Row, Unsectioned>

  private static let path = "/store"
  /// Held events keep no thread from other tests.
  private static let machine = StoreMachine(threads: .system)

  private static func open(
    _ disk: SimulatedDisk, _ access: EventStore.Access = .readWrite
  ) throws -> EventStore {
    var options = StoreOptions()
    options.machine = machine
    options.writesInStep = true
    options.savedFoldingMin = .zero
    options.closeFoldingMax = .seconds(60)
    options.usesStatesOfOtherBuilds = true
    options.readersSaveStates = false
    return try EventStore.open(
      disk, path: path, access, options: options,
      storeID: access == .readWrite ? StoreID(low: 1, high: 2) : nil)
  }

  private static func append(_ count: Int, to store: EventStore) throws {
    for number in 0..<count {
      try store.appendBlocking([NewEvent("t", in: StreamName(category: "s", id: "\(number % 5)"), ["n": 1])])
    }
  }

  /// A closed store with five rows of four events each, which a build of other code is said to have saved.
  private static func disk() async throws -> SimulatedDisk {
    SteppedCount.step.withLock { $0 = 1 }
    SteppedCount.hasNote.withLock { $0 = false }
    SteppedCount.hold(through: 0)
    let disk = SimulatedDisk()
    let folding = Folding.own(SteppedCount())
    let store = try open(disk)
    _ = store.projector(folding)
    try append(20, to: store)
    try await store.checkpoint()
    try store.closeBlocking()
    let folder = "\(StoreLayout(root: path).states)/\(StateName(folding)!.folder)"
    let file = "\(folder)/\(StoreLayout.stateFile)"
    var bytes = try #require(disk.contents(file))
    for offset in StateSlot.offsets where offset + StateSlot.length <= bytes.count {
      let range = offset..<offset + StateSlot.length
      guard var slot = bytes[range].withUnsafeBytes({ StateSlot(decoding: $0) }) else { continue }
      slot.build = try #require(StateFingerprint(folding)?.build) ^ 1
      bytes.replaceSubrange(range, with: slot.encoded())
    }
    disk.replace(file, bytes)
    SteppedCount.step.withLock { $0 = 100 }
    return disk
  }

  private static func counts(_ snapshot: ListSnapshot<SteppedCount.Row, Unsectioned>?) -> [Int]? {
    snapshot.map { snapshot in snapshot.itemIdentifiers.map { snapshot.row(for: $0)?.count ?? 0 } }
  }

  private static func list(_ store: EventStore) -> List {
    List(ListRequest(SteppedCount.Row.self), from: store.table(SteppedCount.rows, of: SteppedCount()))
  }

  @Test(arguments: [EventStore.Access.readWrite, .readOnly])
  func `A list that is shown has this build's rows as soon as they are made, without an append`(
    _ access: EventStore.Access
  ) async throws {
    let store = try Self.open(try await Self.disk(), access)
    SteppedCount.hold(through: 20)
    let list = Self.list(store)
    var updates = list.updates.makeAsyncIterator()
    let first = try #require(try await updates.next())
    #expect(Self.counts(first.after) == [4, 4, 4, 4, 4])
    SteppedCount.hold(through: 0)
    let second = try #require(try await updates.next())
    #expect(second.reason == .reconfigured && Self.counts(second.before) == [4, 4, 4, 4, 4])
    #expect(Self.counts(second.after) == [400, 400, 400, 400, 400])
    #expect(second.after.sequence == first.after.sequence)
    #expect(Self.counts(list.snapshot) == Self.counts(second.after))
    try store.closeBlocking()
  }

  @Test func `A list that nobody follows has this build's rows, too, when it is fetched again`() async throws
  {
    let store = try Self.open(try await Self.disk())
    SteppedCount.hold(through: 20)
    let (shown, fetched) = (Self.list(store), Self.list(store))
    #expect(Self.counts(try await shown.performFetch()) == [4, 4, 4, 4, 4])
    #expect(Self.counts(try await fetched.performFetch()) == [4, 4, 4, 4, 4])
    SteppedCount.hold(through: 0)
    await waiting { Self.counts(shown.snapshot) == [400, 400, 400, 400, 400] }
    #expect(Self.counts(try await fetched.performFetch()) == [400, 400, 400, 400, 400])
    #expect(store.projections.first?.isVersionNotRaised == true)
    try store.closeBlocking()
  }

  @Test func `A consumer of every commit goes on from this build's rows`() async throws {
    let store = try Self.open(try await Self.disk())
    SteppedCount.hold(through: 20)
    var updates = Self.list(store).updates(.everyCommit).makeAsyncIterator()
    #expect(Self.counts(try await updates.next()?.after) == [4, 4, 4, 4, 4])
    SteppedCount.hold(through: 0)
    let second = try await updates.next()
    #expect(second?.reason == .reconfigured && Self.counts(second?.after) == [400, 400, 400, 400, 400])
    try Self.append(2, to: store)
    #expect(Self.counts(try await updates.next()?.after) == [500, 400, 400, 400, 400])
    #expect(Self.counts(try await updates.next()?.after) == [500, 500, 400, 400, 400])
    try store.closeBlocking()
  }

  @Test func `Joined lists have this build's rows together`() async throws {
    let store = try Self.open(try await Self.disk())
    SteppedCount.hold(through: 20)
    let (all, some) = (Self.list(store), Self.list(store))
    try await some.apply(ListRequest(SteppedCount.Row.self).filtered { $0.id > "2" })
    var joined = JoinedUpdates(all, some).makeAsyncIterator()
    let first = try #require(try await joined.next())
    #expect(Self.counts(first.updates.0.after) == [4, 4, 4, 4, 4])
    SteppedCount.hold(through: 0)
    while let next = try await joined.next() {
      let (all, some) = (Self.counts(next.updates.0.after), Self.counts(next.updates.1.after))
      if all == [400, 400, 400, 400, 400], some == [400, 400] { break }
    }
    try store.closeBlocking()
  }

  @Test func `Where this build makes the same rows a list is told nothing`() async throws {
    let store = try Self.open(try await Self.disk())
    SteppedCount.step.withLock { $0 = 1 }
    SteppedCount.hold(through: 20)
    let list = Self.list(store)
    var updates = list.updates.makeAsyncIterator()
    _ = try await updates.next()
    SteppedCount.hold(through: 0)
    let projector = store.projector(Folding.own(SteppedCount()))
    await waiting { projector.otherBuild == nil }
    try Self.append(1, to: store)
    let second = try #require(try await updates.next())
    #expect(second.reason == .changed && Self.counts(second.after) == [5, 4, 4, 4, 4])
    try store.closeBlocking()
  }

  @Test func `Rows that the new row type cannot read are never shown as problems`() async throws {
    let store = try Self.open(try await Self.disk())
    SteppedCount.hasNote.withLock { $0 = true }
    let list = Self.list(store)
    let first = try await list.performFetch()
    #expect(first.numberOfProblems == 0 && Self.counts(first) == [400, 400, 400, 400, 400])
    #expect(store.projections.first?.isVersionNotRaised == true)
    try Self.append(1, to: store)
    #expect(Self.counts(try await list.performFetch()) == [500, 400, 400, 400, 400])
    try store.closeBlocking()
    SteppedCount.hasNote.withLock { $0 = false }
  }
}
