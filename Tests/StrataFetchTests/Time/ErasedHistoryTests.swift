// The past of a kept list after an erasure that a power cut interrupted: nothing of what was erased is in any answer.

internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct ErasedHistoryTests {
  private struct Note: Codable, Identifiable, Sendable, Equatable {
    var id: String
    var owner: String
    var text: String
  }

  private typealias List = FetchController<Note, String>

  private static let secret = "secret-4711"
  private static let erasure = Erasure(streams: ["note/9"], because: "asked to")
  private static let idCount = 12

  private static func open(_ disk: SimulatedDisk, _ options: StoreOptions) throws -> EventStore {
    try EventStore.open(
      disk, path: "/store", .readWrite, options: options, storeID: StoreID(low: 1, high: 2))
  }

  private static func list(_ store: EventStore) -> List {
    FetchController(
      ListRequest(Note.self).sectioned(by: \.owner).sorted(by: \.text).kept(as: "notes"),
      from: store.collection("note", of: Note.self))
  }

  /// Notes that change their owners and texts. Note 9 has the secret in its text, and at times as its owner, which is
  /// the name of a section.
  private static func fill(_ store: EventStore, _ random: inout SeededGenerator) async throws {
    let notes = store.collection("note", of: Note.self)
    for number in 0..<72 {
      let id = Int.random(in: 0..<idCount, using: &random)
      if number % 9 == 5 {
        try await notes.put(
          Note(id: "9", owner: number % 2 == 0 ? secret : "o1", text: "\(secret) \(number)"))
      } else if Int.random(in: 0..<6, using: &random) == 0 {
        try await notes.delete("\(id)")
      } else if id != 9 {
        let text = "text \(Int.random(in: 0..<40, using: &random))"
        try await notes.put(Note(id: "\(id)", owner: "o\(Int.random(in: 0..<4, using: &random))", text: text))
      }
    }
  }

  /// What a list says of some points, and of the changes from each to the next and back.
  private struct Answers: Equatable {
    var texts: [String] = []
    var changes: [ListChanges<String, String>] = []

    var haveSecret: Bool {
      texts.contains { $0.contains(secret) } || changes.contains { "\($0)".contains(secret) }
    }
  }

  private static func answers(_ list: List, at sequences: [UInt64]) async throws -> Answers {
    var answers = Answers()
    let ids = (0..<idCount).map { "\($0)" }
    for sequence in sequences {
      let snapshot = try await list.snapshot(at: .sequence(sequence))
      answers.texts.append("\(sequence): \(ArrayList(snapshot)), \(snapshot.problems)")
      for id in ids {
        let (index, row) = (snapshot.index(of: id), snapshot.row(for: id))
        answers.texts.append("\(id): \(String(describing: index)), \(String(describing: row))")
      }
      answers.texts.append("\(try await list.why("9", at: .sequence(sequence)))")
    }
    for (old, new) in zip(sequences, sequences.dropFirst()) {
      for (start, end) in [(old, new), (new, old)] {
        answers.changes.append(try await list.changes(from: .sequence(start), to: .sequence(end)))
      }
    }
    return answers
  }

  @Test
  func `after an erasure that was cut short at any call, the past of a kept list is that of a replay`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var options = KeptPastListTests.options(&random)
    options.clock = .fixed
    options.segmentSizeTarget = 2_000
    options.preallocationStep = 0
    options.sealsInBackground = false
    options.writesInStep = true
    options.savesStates = false
    options.runLimits.changeCountMax = Int.random(in: 2...9, using: &random)
    options.runLimits.laggingCount = 1
    // Of some sixty changes there are a base, which is never merged, and more runs.
    options.runLimits.baseChangeCountMin = 30
    options.runLimits.mergedVersionCountMax = 0
    var replaying = options
    replaying.history = .off

    let origin = SimulatedDisk()
    var store = try Self.open(origin, options)
    try await Self.fill(store, &random)
    _ = try await Self.list(store).snapshot(at: .sequence(1))
    let runCount = try store.recordHistoriesBlocking().reduce(0) { $0 + $1.runCount }
    #expect(store.projections.contains { $0.historyLists.contains { $0.firstSequence == 1 } })
    try await store.close()

    let counted = origin.clone()
    store = try Self.open(counted, options)
    _ = try await Self.list(store).snapshot(at: .sequence(1))
    let count = try counted.changeCount { _ = try store.eraseBlocking(Self.erasure) }
    try await store.close()
    var (erased, unerased, cuts) = (0, 0, 0)
    for change in 1...count {
      let disk = origin.clone()
      store = try Self.open(disk, options)
      // The process has the runs open that it erases.
      _ = try await Self.list(store).snapshot(at: .sequence(20))
      disk.cutPower(atChange: change)
      // It may make fewer changes than the one that was counted, and then the power is cut after it.
      do throws(StoreError) { _ = try store.eraseBlocking(Self.erasure) } catch { cuts += 1 }
      let after = disk.crash(seed: random.next(), model: change % 2 == 0 ? .reorder : .lossless)
      let other = try Self.open(after.clone(), replaying)
      store = try Self.open(after, options)
      let lists = [Self.list(store), Self.list(other)]
      _ = try await lists[0].snapshot(at: .sequence(1))
      _ = try store.recordHistoriesBlocking()
      let before = lists[0].statistics
      let head = store.head.sequence
      let sequences = (0..<5).map { _ in UInt64.random(in: 1...head, using: &random) } + [head]
      let answers = [
        try await Self.answers(lists[0], at: sequences), try await Self.answers(lists[1], at: sequences),
      ]
      let what = "change \(change) of \(count), \(sequences)"
      try #require(answers[0] == answers[1], "\(what)")
      let statistics = lists[0].statistics
      #expect(
        statistics.pastListsFromHistory - before.pastListsFromHistory
          == statistics.pastLists - before.pastLists, "\(what)")
      #expect(statistics.pastEventsReplayed == before.pastEventsReplayed, "\(what)")
      if try store.eventsBlocking(in: "$erasures", limit: 9).isEmpty {
        if answers[0].haveSecret { unerased += 1 }
      } else {
        erased += 1
        #expect(!answers[0].haveSecret, "\(what)")
      }
      try await store.close()
      try await other.close()
    }
    let met = "\(count) changes, \(cuts) cut: \(erased) erased, \(unerased) not; \(runCount) runs"
    print(met)
    #expect(erased > count / 3 && unerased > 0 && cuts > count / 2 && runCount > 1, "\(met)")
  }
}
