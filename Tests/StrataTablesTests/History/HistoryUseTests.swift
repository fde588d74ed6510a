// Reads of the past: with a history they return what they return without one, and replay nothing.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct HistoryUseTests {
  private static func filled(
    _ random: inout SeededGenerator, _ disk: SimulatedDisk, appends: Int = 40
  ) throws -> EventStore {
    var options = HistoryStore.options(&random, keepsAll: false)
    options.savesStates = Bool.random(using: &random)
    let store = try StateStore.open(disk, options: options)
    var events = StateEvents(seed: random.next())
    for _ in 0..<Int.random(in: 3...appends, using: &random) { try events.append(to: store) }
    for folding in StateStore.foldings { try store.projector(folding).historian?.recordBlocking() }
    for _ in 0..<Int.random(in: 0...9, using: &random) { try events.append(to: store) }
    return store
  }

  @Test func `the states at several points are those of a replay, with their views`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var covered = 0
    while runs.next() {
      let store = try Self.filled(&random, SimulatedDisk())
      let folding = StateStore.foldings.randomElement(using: &random)!
      let expected = try HistoryStore.replayed(store, folding)
      let sequences = (0..<Int.random(in: 1...5, using: &random)).map { _ in
        UInt64.random(in: 0...store.head.sequence, using: &random)
      }
      let states = try await store.states(
        at: sequences.map { .sequence($0) }, folding, view: ("a", Self.definition))
      for (sequence, state) in zip(sequences, states) {
        let difference = try StateAnswers(state, of: store).difference(
          from: StateAnswers(expected[Int(sequence)], of: store))
        #expect(difference == nil, "run \(runs.count), at \(sequence) of \(sequences)")
        for table in state.tables { #expect(table.checkInvariants() == nil) }
        let view = try #require(state["a"].view(Self.definition.identity))
        #expect(
          Self.ids(view) == Self.ids(View(Self.definition, of: state["a"])),
          "run \(runs.count), at \(sequence)")
        if store.projector(folding).historian!.runs()?.covers(sequence) ?? false { covered += 1 }
      }
      try store.closeBlocking()
    }
    // Of few histories, all points may be after the end.
    if runs.count >= 20 { #expect(covered > runs.count / 3) }
  }

  private static let definition = ViewDefinition(identity: ViewIdentity("by number"), sectionOrder: .key) {
    (row, writer) throws(RowProblem) in
    guard let document = try? DocumentValue(cbor: row.document), case .int(let number) = document["n"] else {
      throw RowProblem(what: "no number")
    }
    writer.append(Int(number % 3))
    let section = writer.count
    writer.append(Int(number))
    return PlacedLengths(section: section)
  }

  private static func ids(_ view: View) -> [[UInt8]] {
    var ids: [[UInt8]] = []
    view.forEachItem(in: 0..<view.count) { ids.append(Array($0.id)) }
    return ids
  }

  @Test(.onItsOwnThread) func `a row at a point, and its history, are those of the log`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var originCount = 0
    while runs.next() {
      let store = try Self.filled(&random, SimulatedDisk())
      let (states, tallies) = (
        try HistoryStore.replayed(store, StateStore.documents),
        try HistoryStore.replayed(store, StateStore.tally)
      )
      for (table, rowCount) in [("a", 4), ("ünder", 4), ("none", 1)] {
        let documents = store.documents(table)
        for number in 0..<rowCount {
          let id = number % 3 == 0 ? "\(number)" : "some longer id with number \(number)"
          let sequence = UInt64.random(in: 0...store.head.sequence, using: &random)
          let row = try await documents[id, at: .sequence(sequence)]
          #expect(try row == documents.table.row(id, in: states[Int(sequence)]), "run \(runs.count)")
          try Self.check(try await documents.history(of: id), documents.table, id, states)
          let origins = try await documents.fieldOrigins(of: id, at: .sequence(sequence))
          try #expect(origins == Self.origins(documents.table, id, states[...Int(sequence)]))
          originCount += origins.count
        }
      }
      let counters = store.table(TallyProjection.rows, of: TallyProjection())
      for number in 0..<4 {
        let sequence = UInt64.random(in: 0...store.head.sequence, using: &random)
        let row = try await counters["\(number)", at: .sequence(sequence)]
        #expect(try row?.text == counters.table.row("\(number)", in: tallies[Int(sequence)])?.text)
        try Self.check(try await counters.history(of: "\(number)"), counters.table, "\(number)", tallies)
      }
      try store.closeBlocking()
    }
    #expect(originCount > 3 * runs.count, "\(originCount)")
  }

  /// The fields of a row in the last of some states, each with the state from which on it has its value.
  private static func origins(
    _ table: RowTable<DocumentRow>, _ id: String, _ states: ArraySlice<TableSet>
  ) throws -> [FieldOrigin] {
    var origins: [FieldOrigin] = []
    for state in states {
      origins = try (table.row(id, in: state)?.fields ?? [:]).map { name, value in
        let known = origins.first { $0.name.utf8.elementsEqual(name.utf8) && $0.value == value }
        return known
          ?? FieldOrigin(
            name: name, value: value, sequence: state.sequence,
            time: Timestamp(nanoseconds: state.time ?? 0))
      }
    }
    return origins
  }

  /// The history of a row has one version for each state that differs from the one before.
  private static func check<Item>(
    _ history: [RowVersion<Item>], _ table: RowTable<Item>, _ id: String, _ states: [TableSet]
  ) throws {
    var rest = history[...]
    var before: (revision: UInt64, problem: [UInt8])? = (0, [])
    for state in states.dropFirst() {
      let id = Array(id.utf8)
      let problem = id.withUnsafeBytes { id in
        state[table.name].problems.withValue(of: id) { $0.map { Array($0) } ?? [] }
      }
      let now = id.withUnsafeBytes { state[table.name].withRow($0) { ($0?.revision ?? 0, problem) } }
      defer { before = now }
      if let before, before == now { continue }
      let next = rest.popFirst()
      let version = try #require(next)
      #expect(version.sequence == state.sequence && version.time.nanoseconds == state.time)
      #expect((version.item != nil) == (now.0 > 0))
      #expect(problem.isEmpty || version.problem == String(decoding: problem, as: UTF8.self))
    }
    #expect(rest.isEmpty)
  }

  @Test func `a history is kept in the background, and goes on after a restart`() async throws {
    var options = StoreOptions()
    options.history = .all
    options.runLimits.changeCountMax = 20
    options.runLimits.mergedCount = 3
    options.runLimits.baseChangeCountMin = 100
    let disk = SimulatedDisk()
    for round in 1...3 {
      let store = try StateStore.open(disk, options: options)
      for number in 0..<100 { try store.put("\(number % 10)", ["n": .int(Int64(number * round))]) }
      let documents = store.documents("a")
      let least = UInt64(100 * round - 20)
      while store.projections.first?.historySequence ?? 0 <= least {
        #expect(try await documents.all().count == 10)
        try await Task.sleep(for: .milliseconds(1))
      }
      #expect(try await documents.history(of: "3").count == 10 * round)
      #expect(try await documents["3", at: .sequence(14)]?.fields["n"] == 13)
      let replay = PastPoints(store, StateStore.documents, to: [.sequence(least)], view: nil)
      #expect(try replay.resume(nil)?[0].rowCount == 10)
      #expect(replay.bytesRead == 0)
      try await store.close()
      #expect(try await documents["3", at: .sequence(14)]?.fields["n"] == 13)
    }
    // Off, nothing is written, and nothing is read.
    options.history = .off
    let store = try StateStore.open(disk, options: options)
    #expect(store.projector(StateStore.documents).historian == nil)
    #expect(try await store.documents("a").history(of: "3").count == 30)
    try await store.close()
  }

  @Test func `a read of the past makes nothing that folds the newest state, and has a status`()
    async throws
  {
    let disk = SimulatedDisk()
    var options = StateStore.options()
    options.history = .all
    let writer = try StateStore.open(disk, options: options)
    for number in 0..<100 { try writer.put("\(number % 10)", ["n": .int(Int64(number))]) }
    try writer.kept(StateStore.documents).historian!.recordBlocking(writesRest: true)
    let reader = try StateStore.open(disk, .readOnly, options: options)
    for store in [writer, reader] {
      let documents = store.documents("a")
      #expect(try await documents["3", at: .sequence(14)]?.fields["n"] == 13)
      #expect(try await documents.history(of: "3").count == 10)
      #expect(try store.statesBlocking(at: [.sequence(50)], StateStore.documents)[0].rowCount == 10)
      let states = PastStates(
        store, StateStore.documents, view: ("a", StateKeptViewTests.definition(nil)))
      #expect(try states.state(at: 40).rowCount == 10 && states.counts.fromHistory == 1)
      #expect(store.projectors.inUse.count == 1 && store.projectors.inUse[0].projector == nil)
      let status = try #require(store.projections.first)
      #expect(status.name == "$documents" && status.sequence == 0 && status.historySequence == 100)
      #expect(try await documents.all().count == 10)
      #expect(store.projectors.inUse[0].projector != nil && store.projections.count == 1)
    }
    try writer.closeBlocking()
    try reader.closeBlocking()
  }

  @Test func `a reader keeps no history`() throws {
    let disk = SimulatedDisk()
    var options = StateStore.options()
    options.history = .all
    let store = try StateStore.open(disk, options: options)
    try store.put("1", ["n": 1])
    let reader = try StateStore.open(disk, .readOnly, options: options)
    #expect(reader.projector(StateStore.documents).historian == nil)
    try reader.closeBlocking()
    try store.closeBlocking()
    #expect(disk.historyPaths == [])
  }

  @Test func `the versions of a row are found whatever its id begins with`() async throws {
    let store = try StateStore.open(SimulatedDisk())
    // A slash and a combining mark are one character.
    for id in ["\u{301}x", "/", "a/b"] {
      for number in 0..<2 { try store.put(id, ["n": .int(Int64(number))]) }
      let versions = try await store.documents("a").history(of: id)
      #expect(versions.map { $0.item?.fields["n"] } == [0, 1], "\(id)")
    }
    try await store.close()
  }

  @Test func `states and their views are built in the shortest slices, too`() throws {
    var options = StateStore.options()
    options.history = .all
    options.runLimits.changeCountMax = 300
    let store = try StateStore.open(SimulatedDisk(), options: options)
    for first in stride(from: 0, to: 1_500, by: 100) {
      try store.appendAny(
        (first..<first + 100).map { number in
          let stream = StreamName(category: "a", id: "\(number % 700)")
          return NewEvent(DocumentEvent.put, in: stream, payload: EventPayload(["n": .int(Int64(number))]))
        })
    }
    try store.projector(StateStore.documents).historian!.recordBlocking()
    let points: [LogPoint] = [.sequence(650), .sequence(900), .sequence(1_480)]
    let replay = PastPoints(store, StateStore.documents, to: points, view: ("a", Self.definition))
    var states: [TableSet]?
    var count = 0
    while states == nil, count < 1_000 {
      states = try replay.resume(TimeSlice(until: MonotonicTime.now()))
      count += 1
    }
    #expect(states?.map(\.rowCount) == [650, 700, 700] && replay.bytesRead == 0)
    for state in states ?? [] {
      let view = try #require(state["a"].view(Self.definition.identity))
      #expect(Self.ids(view) == Self.ids(View(Self.definition, of: state["a"])))
    }
    try store.closeBlocking()
  }
}
