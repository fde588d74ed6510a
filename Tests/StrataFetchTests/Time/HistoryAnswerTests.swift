// What a store with a history says of the past: the same as a store without one says of the same log.

internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataFetch
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct HistoryAnswerTests {
  /// What the tests came across.
  private struct Met {
    var runs = 0
    var bases = 0
    var merged = 0
    /// Lists whose keys the history has from the first event on.
    var lists = 0
    /// Answers that came from a history, and those that also replayed what came after it.
    var answers = 0
    var replays = 0

    mutating func add(_ asked: Asked) {
      answers += asked.fromHistory
      replays += asked.past
    }
  }

  /// How many states of the past were asked for, and what had to be replayed for them.
  private struct Asked {
    /// The last event in the history.
    var end: UInt64
    var states = 0
    var fromHistory = 0
    /// The questions about points after the end of the history.
    var past = 0
    /// The events that a store with a history folds for them, and one without.
    var folded = 0
    var replayed = 0

    /// Notes one question about the states at some points. The state before the first event is in no history, and what
    /// was appended after the end of the history is folded into the last state that it has.
    mutating func note(_ points: UInt64...) {
      let (sequences, last) = (Set(points), points.max() ?? 0)
      states += sequences.count
      fromHistory += sequences.count { $0 > 0 }
      if last > end { past += 1 }
      folded += Int(last - min(last, end))
      replayed += Int(last)
    }

    /// Whether these are the numbers of a store without a history.
    func isReplay(_ statistics: ListStatistics, since before: ListStatistics) -> Bool {
      statistics.pastLists - before.pastLists == states
        && statistics.pastListsFromHistory == before.pastListsFromHistory
        && statistics.pastEventsReplayed - before.pastEventsReplayed == replayed
    }

    /// Whether these are the numbers of a store with a history.
    ///
    /// - Parameter isKept: whether the list is kept. The events after the history may then be in a run in memory.
    func isHistory(_ statistics: ListStatistics, since before: ListStatistics, isKept: Bool) -> Bool {
      let replayed = statistics.pastEventsReplayed - before.pastEventsReplayed
      return statistics.pastLists - before.pastLists == states
        && statistics.pastListsFromHistory - before.pastListsFromHistory == fromHistory
        && (isKept ? replayed <= folded : replayed == folded)
    }
  }

  /// Options of two stores, of which the first keeps a history in tiny runs. Nothing is done in the background, so it
  /// is known which events are in no run.
  private static func options(_ random: inout SeededGenerator) -> [StoreOptions] {
    var options = KeptPastListTests.options(&random)
    options.runLimits.changeCountMax = Int.random(in: 2...9, using: &random)
    options.runLimits.laggingCount = 1
    options.writesInStep = true
    options.savesStates = false
    var other = options
    other.history = .off
    return [options, other]
  }

  /// Brings the history of the documents to the end of the log. Returns the last event in it.
  private static func record(_ store: EventStore, _ met: inout Met) throws -> UInt64 {
    for made in try store.recordHistoriesBlocking() {
      try #require(made.firstSequence == 1 && made.sequence == store.head.sequence)
    }
    let historian = try #require(store.projector(.documents(only: nil)).historian)
    let runs = try #require(historian.runs()).runs
    met.runs += runs.count
    met.bases += runs.count { $0.root.isBase }
    met.merged += try #require(try historian.files.manifest()).runs.count { $0.level > 0 }
    return store.head.sequence
  }

  private static func check(_ met: Met, _ rounds: Int) {
    print(met)
    #expect(met.runs > rounds + rounds / 4 && met.bases > 0 && met.merged > rounds / 4, "\(met)")
    #expect(met.answers > 10 * rounds && met.replays > rounds / 2, "\(met)")
  }

  // MARK: Lists, and why they show an item

  private static let searches = ["row 1", "é", "ROW x", "7", "e", "absent", "ab x"]

  /// A request with filters of several kinds, and windows that may leave items out at both ends.
  private static func request(
    _ random: inout SeededGenerator
  ) throws -> ListRequest<DocumentRow, DocumentValue> {
    func chance(_ sides: Int) -> Bool { Int.random(in: 0..<sides, using: &random) == 0 }
    var model = ModelRequest.random(section: "s", &random)
    model.isFilterText = !chance(3)
    if chance(2) { model.window = WindowTests.windows.randomElement(using: &random)! }
    var request = model.request
    for text in WhyTests.filters where chance(6) { request = request.filtered(parsing: text) }
    if chance(3) {
      request = request.searched(
        for: searches.randomElement(using: &random)!, inFields: try FieldPath("$id"), try FieldPath("s"),
        try FieldPath("k"))
    }
    return chance(4) ? request.reportTouches() : request
  }

  /// All that a list shows, and what it says of some rows.
  private struct Shown: Equatable {
    var list: ModelList
    var sequence: UInt64
    var time: Timestamp?
    var counts: [Int]
    var problems: [ListProblem]
    var missing: [FieldPath]
    var rows: [DocumentRow?]
    var indexes: [ListIndex?]

    init(_ snapshot: ListSnapshot<DocumentRow, DocumentValue>, _ ids: [String]) {
      list = ModelList(snapshot.version)
      (sequence, time) = (snapshot.sequence, snapshot.time)
      counts = [snapshot.totalNumberOfItems, snapshot.totalNumberOfSections, snapshot.numberOfItems]
      (problems, missing) = (snapshot.problems, snapshot.missingFields)
      rows = ids.map { snapshot.row(for: $0) }
      indexes = ids.map { snapshot.index(of: $0) }
    }
  }

  private static func kind(_ outcome: ListExplanation.Outcome) -> String {
    switch outcome {
    case .shown: "shown"
    case .beforeWindow: "before the window"
    case .behindWindow: "after the window"
    case .leftOut: "left out"
    case .problem: "a problem"
    case .deleted: "deleted"
    case .absent: "absent"
    }
  }

  @Test
  func `what a list shows at a point, and why, is the same from a history and from a replay`() async throws {
    var met = Met()
    var (kinds, changed): ([String: Int], Int) = ([:], 0)
    let seeds = SeededGenerator.historySeeds(16, share: 50)
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      var logs: [RandomLog] = []
      let logSeed = random.next()
      for options in Self.options(&random) {
        var random = SeededGenerator(seed: logSeed)
        logs.append(try RandomLog(appends: 24, eventsMax: 6, problems: true, options: options, &random))
      }
      var request = try Self.request(&random)
      if Bool.random(using: &random) { request = request.kept(as: "kept") }
      let lists = logs.map { FetchController(request, from: $0.store.documents("t")) }
      // From the first read on, the history is of what the list is folded from, and has its keys if it is kept.
      for list in lists { _ = try await list.snapshot(at: .sequence(1)) }
      var asked = Asked(end: try Self.record(logs[0].store, &met))
      if logs[0].store.projections.contains(where: { $0.historyLists.contains { $0.firstSequence == 1 } }) {
        met.lists += 1
      }
      let before = lists.map(\.statistics)
      let other = try Self.request(&random)
      // A list that reports touches is folded by itself, and that fold has a history only if it was asked for.
      let hasHistory = request.reportsTouches || !other.reportsTouches
      for step in 0..<7 {
        if step == 4 {
          let appendSeed = random.next()
          for index in logs.indices {
            var random = SeededGenerator(seed: appendSeed)
            for _ in 0..<3 { try logs[index].append(4, problems: true, &random) }
          }
        }
        let sequences = (0..<2).map { _ in UInt64.random(in: 0...logs[0].head, using: &random) }
        let point = LogPoint.sequence(step == 5 ? logs[0].head : sequences[0])
        let sequence = step == 5 ? logs[0].head : sequences[0]
        let ids = logs[0].ids.shuffled(using: &random).prefix(6) + ["nobody"]
        let what = "seed \(seed), \(sequence) and \(sequences[1]) of \(asked.end)"

        var shown: [Shown] = []
        for list in lists { shown.append(Shown(try await list.snapshot(at: point), Array(ids))) }
        try #require(shown[0] == shown[1], "\(what)")
        asked.note(sequence)

        if hasHistory {
          shown = []
          for list in lists {
            shown.append(Shown(try await list.snapshot(at: point, request: other), Array(ids)))
          }
          try #require(shown[0] == shown[1], "\(what)")
          asked.note(sequence)
        }

        var batches: [ListChanges<String, DocumentValue>] = []
        for list in lists {
          batches.append(try await list.changes(from: point, to: .sequence(sequences[1])))
        }
        try #require(batches[0] == batches[1], "\(what)")
        changed += batches[0].count
        asked.note(sequence, sequences[1])

        for id in ids {
          var reasons: [ListExplanation] = []
          for list in lists { reasons.append(try await list.why(id, at: point)) }
          try #require(reasons[0] == reasons[1], "\(what)")
          kinds[Self.kind(reasons[0].outcome), default: 0] += 1
          asked.note(sequence)
        }
      }
      let after = lists.map(\.statistics)
      #expect(
        asked.isHistory(after[0], since: before[0], isKept: request.kept != nil),
        "seed \(seed): \(asked), \(after[0])")
      #expect(asked.isReplay(after[1], since: before[1]), "seed \(seed): \(asked), \(after[1])")
      met.add(asked)
      for log in logs { try await log.store.close() }
    }
    print(kinds)
    Self.check(met, seeds.count)
    #expect(met.lists > seeds.count / 8 && changed > 3 * seeds.count, "\(met), \(changed)")
    #expect(kinds.count == 7 && kinds.values.allSatisfy { $0 > seeds.count / 4 }, "\(kinds)")
  }

  // MARK: Filters without a list, and searches

  @Test
  func `rows of the past that pass a filter or a search are the same from a history and from a replay`()
    async throws
  {
    var met = Met()
    var (taken, left, found) = (0, 0, 0)
    let seeds = SeededGenerator.historySeeds(16, share: 50)
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      let stores = Self.options(&random).map { EventStore.inMemory(clock: .fixed, options: $0) }
      var filters = RandomFilters(random: random.split())
      func append(_ count: Int) async throws {
        for _ in 0..<count {
          let stream = StreamName(category: "t", id: "row \(Int.random(in: 0..<12, using: &random))")
          let isDeletion = Int.random(in: 0..<6, using: &random) == 0
          let event =
            isDeletion
            ? NewEvent(DocumentEvent.delete, in: stream, .null)
            : NewEvent(DocumentEvent.put, in: stream, filters.row().document)
          for store in stores { try await store.append([event]) }
        }
      }
      try await append(60)
      let tables = stores.map { $0.documents("t") }
      for table in tables { _ = try await table.all(at: .sequence(1)) }
      var asked = Asked(end: try Self.record(stores[0], &met))
      for step in 0..<6 {
        if step == 4 { try await append(8) }
        let sequence =
          step == 5 ? stores[0].head.sequence : UInt64.random(in: 0...stores[0].head.sequence, using: &random)
        let point = LogPoint.sequence(sequence)
        let what = "seed \(seed), at \(sequence) of \(asked.end)"
        let all = try await tables[1].all(at: point)
        try #require(try await tables[0].all(at: point) == all, "\(what)")
        for _ in 0..<4 {
          let filter = RowFilter(filters.expression())
          var rows: [[DocumentRow]] = []
          for table in tables { rows.append(try await table.all(where: filter, at: point)) }
          try #require(rows[0] == rows[1], "\(what): \(filter)")
          let expected = all.filter { row in
            let sample = SampleRow(
              id: row.id, revision: row.revision, time: row.time, document: .object(row.fields))
            return NaiveEvaluator(row: sample).holds(filter.expression)
          }
          try #require(rows[0] == expected, "\(what): \(filter)")
          taken += expected.count
          left += all.count - expected.count

          let text = RandomFilters.strings.randomElement(using: &random)!
          let search = ListRequest(DocumentRow.self).sorted(byField: try FieldPath("$id"))
            .searched(
              for: text, inFields: try FieldPath("a"), try FieldPath("d.e"), try FieldPath("tags"))
          var shown: [[[String]]] = []
          for (table, isHistory) in zip(tables, [true, false]) {
            let lists = [ListRequest(DocumentRow.self).sorted(byField: try FieldPath("$id")), search]
              .map { FetchController($0.filtered(by: filter), from: table) }
            var ids: [[String]] = []
            for list in lists {
              ids.append(try await list.snapshot(at: point).itemIdentifiers)
              #expect(list.statistics.pastListsFromHistory == (isHistory && sequence > 0 ? 1 : 0), "\(what)")
            }
            shown.append(ids)
          }
          try #require(shown[0] == shown[1], "\(what): \(filter), and \(text)")
          try #require(shown[0][0] == expected.map(\.id), "\(what): \(filter)")
          found += shown[0][1].count
          for _ in 0..<2 { asked.note(sequence) }
        }
        // `all(where:at:)` counts nothing. This is how it makes the state that it reads.
        for (table, isHistory) in zip(tables, [true, false]) {
          let past = PastReader(table.table.store, table.table.folding)
          _ = try past.fold(at: sequence)
          let counts = past.counts
          #expect(counts.states == 1 && counts.fromHistory == (isHistory && sequence > 0 ? 1 : 0), "\(what)")
          let folded = isHistory ? sequence - min(sequence, asked.end) : sequence
          #expect(counts.foldedEvents == folded, "\(what)")
        }
      }
      met.add(asked)
      for store in stores { try await store.close() }
    }
    Self.check(met, seeds.count)
    #expect(taken > 20 * seeds.count && left > 20 * seeds.count, "\(taken) taken, \(left) left out")
    #expect(found > seeds.count, "\(found)")
  }
}
