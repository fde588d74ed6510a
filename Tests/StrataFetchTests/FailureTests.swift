// Events that a list lacks because its projection could not apply them.

internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

private struct Entry: Codable, Identifiable, Sendable, Equatable {
  var id: String
  var text: String
}

private struct Unfit: Error {}

/// Entries of events; those of the type `unfit` cannot be applied.
private struct Journal: Projection {
  static let name = "journal"
  static let version = 1
  static let entries = TableKey<Entry>("entry")
  static let others = TableKey<Entry>("other")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    tables[Self.entries, event.stream.id] = Entry(id: event.stream.id, text: event.type)
    if event.type == "unfit" { throw Unfit() }
  }
}

/// The same, which halts.
private struct StrictJournal: Projection {
  static let name = "strict-journal"
  static let version = 1
  static let onFailure = ProjectionFailurePolicy.halt
  static let entries = TableKey<Entry>("entry")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    if event.type == "unfit" { throw Unfit() }
    tables[Self.entries, event.stream.id] = Entry(id: event.stream.id, text: event.type)
  }
}

@Suite struct FailureTests {
  private static func append(_ types: [String], in store: EventStore) async throws {
    try await store.append(types.enumerated().map { NewEvent($1, in: StreamName("entry/\($0)"), [:]) })
  }

  @Test func `a snapshot has the failures of its moment, now and at every point of the past`() async throws {
    let seed = SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    let store = EventStore.inMemory()
    var failed: [UInt64] = []
    var sequence: UInt64 = 0
    let list = FetchController(ListRequest(Entry.self), from: store.table(Journal.entries, of: Journal()))
    let other = FetchController(ListRequest(Entry.self), from: store.table(Journal.others, of: Journal()))
    for _ in 0..<60 {
      let types = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        Int.random(in: 0..<2, using: &random) == 0 ? "unfit" : "fit"
      }
      try await Self.append(types, in: store)
      for type in types {
        sequence += 1
        if type == "unfit" { failed.append(sequence) }
      }
      let failures = try await list.performFetch().failures
      #expect(failures.count == failed.count && failures.listed.map(\.sequence) == Array(failed.prefix(100)))
    }
    try #require(failed.count > 20, "SEED=\(seed)")
    let scrubber = try list.scrubber()
    for _ in 0..<40 {
      let point = UInt64.random(in: 0...sequence, using: &random)
      let expected = failed.filter { $0 <= point }
      for failures in [
        try await list.snapshot(at: .sequence(point)).failures,
        try await scrubber.move(to: .sequence(point)).after.failures,
        try await other.snapshot(at: .sequence(point)).failures,
      ] {
        #expect(failures.count == expected.count, "at \(point), SEED=\(seed)")
        #expect(failures.listed.map(\.sequence) == Array(expected.prefix(100)), "at \(point), SEED=\(seed)")
        #expect(failures.listed.allSatisfy { $0.what == "Unfit()" })
      }
    }
    #expect(try await store.failures(of: Journal()) == list.performFetch().failures)
  }

  @Test func `a list of documents has no failures, and problems instead`() async throws {
    let store = EventStore.inMemory()
    try await store.append([NewEvent(DocumentEvent.put, in: "entry/1", 5)])
    let snapshot = try await FetchController(
      ListRequest(DocumentRow.self), from: store.documents("entry")
    ).performFetch()
    #expect(snapshot.failures == ProjectionFailures() && snapshot.numberOfProblems == 1)
  }

  @Test func `a list of a projection that halts fails with the event, and past lists before it are there`()
    async throws
  {
    let store = EventStore.inMemory()
    try await Self.append(["fit", "fit", "unfit", "fit"], in: store)
    let list = FetchController(
      ListRequest(Entry.self), from: store.table(StrictJournal.entries, of: StrictJournal()))
    func isHalt(_ error: any Error) -> Bool {
      guard case ListError.store(let error) = error else { return false }
      guard case .unavailable(let unavailability) = error else { return false }
      return error.reason == .halted && unavailability.sequences == 3...3
    }
    await #expect { try await list.performFetch() } throws: { isHalt($0) }
    await #expect { for try await _ in list.updates {} } throws: { isHalt($0) }
    #expect(try await list.snapshot(at: .sequence(2)).itemIdentifiers == ["0", "1"])
    await #expect { try await list.snapshot(at: .sequence(3)) } throws: { isHalt($0) }
    let scrubber = try list.scrubber()
    #expect(try await scrubber.move(to: .sequence(1)).after.numberOfItems == 1)
    await #expect { try await scrubber.move(to: .sequence(4)) } throws: { isHalt($0) }
    #expect(try await scrubber.move(to: .sequence(2)).after.numberOfItems == 2)
  }
}
