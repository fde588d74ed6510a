// What a store says of its states and histories, its projections and consumers: an activity for each fault.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// Cannot apply negative numbers, and halts there.
private struct HaltingCount: Projection {
  struct Refusal: Error {}

  static let name = "halting count"
  static let version = 1
  static let onFailure = ProjectionFailurePolicy.halt

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard event.type == "counted", case .int(let number) = try event.payload.document() else { return }
    if number < 0 { throw Refusal() }
  }
}

/// Another type with the name and version of `TallyProjection`.
private struct ImpostorTally: Projection {
  static let name = TallyProjection.name
  static let version = TallyProjection.version

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {}
}

@Suite struct ActivityTests {
  /// What a store has said until it was closed.
  private static func all(of store: EventStore) async throws -> [StoreActivity] {
    try? store.closeBlocking()
    var activities: [StoreActivity] = []
    for await activity in store.activities { activities.append(activity) }
    return activities
  }

  private static func discarded(_ activities: [StoreActivity]) -> [String] {
    activities.compactMap { activity in
      guard case .discarded(let kind, let projection, let why) = activity else { return nil }
      return "\(kind.rawValue) of \(projection ?? "all"): \(why)"
    }
  }

  /// A store with saved states of documents and of the tally.
  private static func filled(_ disk: SimulatedDisk, _ options: StoreOptions = StateStore.options()) throws {
    let store = try StateStore.open(disk, options: options)
    var events = StateEvents(seed: 5)
    for _ in 0..<20 { try events.append(to: store) }
    for folding in [StateStore.documents, StateStore.tally] { _ = store.projector(folding) }
    try store.checkpointBlocking()
    try store.closeBlocking()
  }

  @Test func `a state that is saved, and one that cannot be, are counted and said`() async throws {
    let disk = SimulatedDisk()
    let store = try StateStore.open(disk)
    var events = StateEvents(seed: 4)
    for _ in 0..<10 { try events.append(to: store) }
    _ = store.projector(StateStore.documents)
    let written = try #require(try store.checkpointBlocking().first)
    #expect(store.statistics.savedStateCount == 1 && store.statistics.failedStateCount == 0)
    for _ in 0..<10 { try events.append(to: store) }
    disk.onOperation { call in
      call.operation == .write && call.path.contains("/derived/state/")
        ? .fail(SystemErrorCode.inputOutput) : .proceed
    }
    #expect(throws: StoreError.self) { try store.checkpointBlocking() }
    let failure = try #require(store.projections.first?.saveError)
    disk.onOperation(nil)
    #expect(store.statistics.savedStateCount == 1 && store.statistics.failedStateCount == 1)
    let said = try await Self.all(of: store)
    #expect(
      said.contains(
        .stateSaved(
          projection: "$documents", sequence: written.sequence, byteCount: written.byteCount)))
    #expect(said.contains(.stateFailed(projection: "$documents", error: failure)))
    // The close has saved it.
    #expect(store.statistics.savedStateCount == 2)
  }

  @Test func `a state that other code has made is not used, and the reason is said`() async throws {
    let disk = SimulatedDisk()
    try Self.filled(disk)
    let store = try StateStore.open(disk)
    _ = try await store.projector(.own(ImpostorTally())).state(reaching: .max)
    let said = try await Self.all(of: store)
    #expect(Self.discarded(said) == ["state of \(TallyProjection.name): other code has made it"])
  }

  @Test func `a state with a damaged root is not used, and a damaged page is made again, which is said`()
    async throws
  {
    let disk = SimulatedDisk()
    try Self.filled(disk)
    for path in disk.pageFiles() {
      disk.replace(path, disk.contents(path)!.enumerated().map { $0 < 64 ? $1 : $1 ^ 0x55 })
    }
    let store = try StateStore.open(disk)
    _ = try await store.projector(StateStore.documents).state(reaching: .max)
    let said = Self.discarded(try await Self.all(of: store))
    #expect(said.count == 1 && said[0].hasPrefix("state of $documents: "), "\(said)")

    let other = SimulatedDisk()
    try Self.filled(other)
    let again = try StateStore.open(other)
    let state = try await again.projector(StateStore.documents).state(reaching: .max)
    for path in other.pageFiles() {
      other.replace(path, other.contents(path)!.enumerated().map { $0 < 64 ? $1 : $1 ^ 0x55 })
    }
    #expect(try !StateAnswers(state, of: again).tables.isEmpty)
    let healed = Self.discarded(try await Self.all(of: again))
    #expect(
      healed.first == "state of $documents: pages of it could not be read, and were made from the log")
  }

  @Test func `an erasure says that states and histories are gone`() async throws {
    let store = try StateStore.open(SimulatedDisk())
    try SecretStore.fill(store)
    try store.eraseBlocking(SecretStore.erasure)
    let said = Self.discarded(try await Self.all(of: store))
    #expect(said == ["all of all: content of events was erased"])
    #expect(store.statistics.sealCount > 0)
  }

  @Test func `a full disk says that states have made room for the log`() async throws {
    let disk = SimulatedDisk()
    try Self.filled(disk)
    let store = try StateStore.open(disk)
    disk.capacity = disk.usedSize
    try store.put("1", ["n": 1])
    let said = Self.discarded(try await Self.all(of: store))
    #expect(said.first == "all of all: the disk is full, and the log needs the room")
  }

  @Test func `a damaged history is not used, which is said once`() async throws {
    let disk = SimulatedDisk()
    var options = StateStore.options()
    options.history = .all
    let store = try StateStore.open(disk, options: options)
    var events = StateEvents(seed: 11)
    for _ in 0..<20 { try events.append(to: store) }
    let historian = try #require(store.projector(StateStore.documents).historian)
    try historian.recordBlocking(writesRest: true)
    try store.closeBlocking()
    for path in disk.historyPaths where path.hasSuffix(".run") {
      disk.replace(path, disk.contents(path)!.map { $0 ^ 0x55 })
    }
    let again = try StateStore.open(disk, options: options)
    try again.projector(StateStore.documents).historian?.recordBlocking()
    let said = Self.discarded(try await Self.all(of: again))
    #expect(
      said == [
        "history of $documents: a file of it is damaged, or the log has other events than it was made of"
      ])
  }

  @Test func `a projection that halts says so once for each event, however often it is asked`() async throws {
    let store = try StateStore.open(SimulatedDisk())
    try store.appendAny([NewEvent("counted", in: "counter/a", .int(1))])
    try store.appendAny([NewEvent("counted", in: "counter/a", .int(-1))])
    for _ in 0..<3 {
      await #expect(throws: StoreError.self) {
        try await store.projector(.own(HaltingCount())).state(reaching: store.head.sequence)
      }
    }
    let said = try await Self.all(of: store)
    let halts = said.filter { if case .halted = $0 { true } else { false } }
    #expect(halts.count == 1)
    guard case .halted(.projection, name: HaltingCount.name, sequence: 2, what: _) = try #require(halts.first)
    else { return #expect(Bool(false), "\(halts)") }
  }

  // MARK: Lags

  @Test func `lags are the events that each projection, history, list and consumer has not taken`()
    async throws
  {
    var options = StateStore.options()
    options.history = .all
    let store = try StateStore.open(SimulatedDisk(), options: options)
    #expect(try await store.lags().isEmpty)
    for number in 0..<6 { try store.put("\(number)", ["n": .int(Int64(number))]) }
    var mailing = ConsumerOptions()
    mailing.retryCount = 0
    let consumer = store.consumer("mail", mailing)
    var count = 0
    await #expect(throws: HaltingCount.Refusal.self) {
      try await consumer.run(until: .caughtUp) { append, batch in
        count += 1
        if count == 3 { throw HaltingCount.Refusal() }
        try batch.append(NewEvent("sent", in: "outbox/1", .int(Int64(count))))
      }
    }
    _ = try await store.projector(StateStore.documents).state(reaching: 4)
    let folded = try #require(store.projections.first).sequence
    let head = store.head.sequence
    let lags = try await store.lags()
    #expect(
      lags == [
        StoreLag(.projection, name: "$documents", eventCount: head - folded),
        StoreLag(.history, name: "$documents", eventCount: head),
        StoreLag(.consumer, name: "mail", eventCount: head - 2),
      ])
    let historian = try #require(store.projector(StateStore.documents).historian)
    try historian.recordBlocking(writesRest: true)
    #expect(try await store.lags()[1].eventCount == 0)
    try store.closeBlocking()
  }
}
