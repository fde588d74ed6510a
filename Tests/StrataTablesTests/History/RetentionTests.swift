// Histories of which only the last part is kept: what is in them is what a replay says, and the rest is replayed.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct RetentionTests {
  /// A store of whose history the front goes, and what a replay says of it.
  private struct Bounded {
    let disk: SimulatedDisk
    let folding: Folding
    var options: StoreOptions
    private(set) var store: EventStore
    private var events: StateEvents

    init(
      _ random: inout SeededGenerator, _ history: StoreHistory? = nil, _ folding: Folding? = nil,
      merges: Bool = true
    ) throws {
      disk = SimulatedDisk()
      options = HistoryStore.keyOptions(&random)
      options.history = history ?? HistoryStore.bounded(&random)
      options.runLimits.laggingCount = 1
      options.savesStates = false
      if !merges { (options.runLimits.mergedCount, options.runLimits.baseChangeCountMin) = (1_000, .max) }
      self.folding = folding ?? StateStore.foldings.randomElement(using: &random)!
      store = try StateStore.open(disk, options: options)
      events = StateEvents(seed: random.next())
      events.rowCount = [2, 5, 12].randomElement(using: &random)!
    }

    var historian: Historian { store.projector(folding).historian! }

    mutating func append(_ count: Int) throws { for _ in 0..<count { try events.append(to: store) } }

    func record() throws -> RunSet? {
      try historian.recordBlocking()
      return historian.runs()
    }

    mutating func restart(_ history: StoreHistory? = nil) throws {
      try store.closeBlocking()
      if let history { options.history = history }
      store = try StateStore.open(disk, options: options)
    }

    /// The own time of each event; the first is that before the log.
    func times() throws -> [Int64] {
      try HistoryStore.replayed(store, folding).map { $0.time ?? .min }
    }

    /// What is wrong with where the runs begin; nil if they have what is to be kept, and no run that may go.
    func misfit(_ set: RunSet) throws -> String? {
      let bounds = options.history.bounds
      let times = try times()
      let (oldest, length) = (
        bounds.nanoseconds.map { times[Int(set.end)] - $0 }, set.runs.reduce(UInt64(0)) { $0 + $1.length }
      )
      if set.begin > 0, !set.runs[0].root.isBase { return "begins with a delta" }
      // The runs from which on the rest could stay: where one is a base, or one that is made pays.
      var (paid, changes, rows): ([Int], UInt64, UInt64) = ([], 0, 0)
      for (index, run) in set.runs.enumerated() {
        if index > 0, run.root.isBase || changes >= rows { paid.append(index) }
        changes += run.root.counts.changes
        rows = run.root.isBase ? run.root.rowCount : max(rows, run.root.rowCount)
      }
      if let bytes = bounds.bytes {
        if length > bytes, !paid.isEmpty { return "\(length) bytes in \(set.runs.count) runs" }
      } else if let oldest, set.begin > 0, times[Int(set.begin) + 1] > oldest {
        return "the state at \(oldest) went"
      }
      if let oldest, let last = paid.last(where: { times[Int(set.runs[$0].root.begin) + 1] <= oldest }) {
        return "the runs before \(last) are older than \(oldest)"
      }
      return nil
    }
  }

  @Test func `of a history whose front goes, every state is that of a replay, and the last part is there`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var (went, made, states, restarts) = (0, 0, 0, 0)
    while runs.next() {
      var past = try Bounded(&random)
      var begin: UInt64 = 0
      for step in 0..<6 {
        try past.append(Int.random(in: 1...12, using: &random))
        let isErased = Int.random(in: 0..<12, using: &random) == 0
        if isErased {
          let first = UInt64.random(in: 1...past.store.head.sequence, using: &random)
          _ = try past.store.eraseBlocking(Erasure(sequences: [first...first], because: "asked to"))
          begin = 0
        } else if Int.random(in: 0..<4, using: &random) == 0 {
          try past.restart()
          restarts += 1
          // It goes on where it was.
          #expect((past.historian.runs()?.begin ?? 0) == begin, "run \(runs.count), step \(step)")
        }
        guard let set = try past.record() else { continue }
        let sequences = step == 5 ? HistoryStore.all(of: set) : HistoryStore.some(of: set, &random)
        let difference = try HistoryStore.difference(set, past.store, past.folding, at: sequences)
        try #require(difference == nil, "run \(runs.count), step \(step)")
        let misfit = try past.misfit(set)
        try #require(misfit == nil, "run \(runs.count), step \(step), \(past.options.history)")
        #expect(set.begin >= begin)
        if set.begin > begin { went += 1 }
        if set.begin > 0 { made += 1 }
        states += Int(set.end - set.begin)
        begin = set.begin
      }
      // No file is left of what went.
      let named = Set((past.historian.runs()?.runs ?? []).map { StoreLayout.runFileName($0.number) })
      let files = past.disk.historyPaths.compactMap { $0.split(separator: "/").last.map(String.init) }
        .filter { $0.hasSuffix(StoreLayout.runSuffix) }
      #expect(Set(files) == named, "run \(runs.count)")
      try past.store.closeBlocking()
    }
    guard runs.count >= 10 else { return }
    #expect(
      went > runs.count / 2 && made > runs.count && states > 10 * runs.count && restarts > runs.count / 4,
      "\(went), \(made), \(states), \(restarts)")
  }

  @Test func `days are counted back from the own time of the last event, whatever one clock said before`()
    throws
  {
    var random = SeededGenerator(seed: 1)
    let past = try Bounded(&random, .last(days: 5), StateStore.documents, merges: false)
    var set: RunSet?
    for number in 1...30 {
      // One append is dated years later, and raises the commit times of all that follow.
      let days = number == 10 ? 5_000 : Int64(number)
      try past.store.appendBlocking(
        [NewEvent(DocumentEvent.put, in: "incident/a", ["n": .int(Int64(number))])],
        time: Timestamp(nanoseconds: days * 86_400 * 1_000_000_000))
      set = try past.record()
    }
    let runs = try #require(set)
    // The last event is of day 30, so the first that stays is of day 25 or before, and not of the days before 11.
    #expect((15...25).contains(runs.begin + 1), "\(runs.begin)")
    #expect(try HistoryStore.difference(runs, past.store, past.folding) == nil)
    try past.store.closeBlocking()
  }

  @Test func `what went is replayed, what is there is read, and the counts say which`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var (read, replayed) = (0, 0)
    while runs.next() {
      var past = try Bounded(&random)
      try past.append(Int.random(in: 20...60, using: &random))
      guard let set = try past.record() else {
        try past.store.closeBlocking()
        continue
      }
      let expected = try HistoryStore.replayed(past.store, past.folding)
      for _ in 0..<10 {
        let sequence = UInt64.random(in: 0...past.store.head.sequence, using: &random)
        let counter = PastCounter()
        let replay = PastPoints(
          past.store, past.folding, to: [.sequence(sequence)], view: nil, counting: counter)
        let state = try #require(try replay.resume(nil)?[0])
        let counts = counter.counts
        let difference = try StateAnswers(state, of: past.store).difference(
          from: StateAnswers(expected[Int(sequence)], of: past.store))
        #expect(difference == nil, "run \(runs.count), at \(sequence)")
        let isRead = sequence > set.begin
        #expect(counts.fromHistory == (isRead ? 1 : 0), "run \(runs.count), at \(sequence)")
        #expect(counts.foldedEvents == (isRead ? sequence - min(sequence, set.end) : sequence))
        if isRead { read += 1 } else { replayed += 1 }
      }
      // Both in one walk: from what went into what is there.
      let points = (0..<4).map { _ in UInt64.random(in: 0...past.store.head.sequence, using: &random) }
      let states = try past.store.statesBlocking(at: points.map { .sequence($0) }, past.folding)
      for (sequence, state) in zip(points, states) {
        let difference = try StateAnswers(state, of: past.store).difference(
          from: StateAnswers(expected[Int(sequence)], of: past.store))
        #expect(difference == nil, "run \(runs.count), at \(sequence) of \(points)")
      }
      #expect(past.historian.firstSequence == set.begin + 1)
      let status = past.store.projections.first { $0.historySequence > 0 }
      #expect(status?.historyFirstSequence == set.begin + 1 && status?.historySequence == set.end)
      try past.store.closeBlocking()
    }
    guard runs.count >= 5 else { return }
    #expect(read > runs.count && replayed > runs.count, "\(read), \(replayed)")
  }

  @Test func `all versions of a row are found, also those that are older than the history`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let disk = SimulatedDisk()
    var options = HistoryStore.keyOptions(&random)
    options.runLimits.changeCountMax = 8
    options.runLimits.laggingCount = 1
    options.history = .last(nanoseconds: 20_000_000_000, bytes: nil)
    let store = try StateStore.open(disk, options: options)
    for number in 0..<120 {
      if number % 30 == 7 {
        try store.appendAny([
          NewEvent(DocumentEvent.delete, in: StreamName(category: "a", id: "2"), payload: EventPayload(.null))
        ])
      }
      try store.put("\(number % 5)", ["n": .int(Int64(number))])
      try store.appendAny([NewEvent("counted", in: "counter/\(number % 3)", .int(Int64(number * 5 + 1)))])
      // It is never changed again, and is in no run but as what lived at its begin.
      if number == 3 { try store.put("still", ["n": 1]) }
      if number == 4 { try store.put("gone", ["n": 1]) }
      if number == 5 {
        try store.appendAny([
          NewEvent(
            DocumentEvent.delete, in: StreamName(category: "a", id: "gone"), payload: EventPayload(.null))
        ])
      }
    }
    let without = StateStore.options()
    let reader = try StateStore.open(disk, .readOnly, options: without)
    let (documents, tallies) = (
      store.documents("a"), store.table(TallyProjection.rows, of: TallyProjection())
    )
    for folding in [StateStore.documents, StateStore.tally] {
      try store.projector(folding).historian!.recordBlocking()
      #expect(store.projector(folding).historian!.firstSequence ?? 0 > 100)
    }
    let ids = ["0", "1", "2", "3", "4", "still", "gone", "none"]
    let counts = [24, 24, 28, 24, 24, 1, 2, 0]
    for (id, count) in zip(ids, counts) {
      #expect(try await documents.history(of: id).count == count, "\(id)")
      #expect(try store.documentHistoryBlocking(id, of: "a").count == count, "\(id)")
      #expect(try await reader.documents("a").history(of: id).count == count, "\(id)")
    }
    let sequences = try await documents.history(of: "2").map(\.sequence)
    #expect(sequences == sequences.sorted() && Set(sequences).count == sequences.count)
    // A reader without a history folds the whole log.
    for number in 0..<3 {
      let (found, expected) = (
        try await tallies.history(of: "\(number)"),
        try await Self.folded(store, "\(number)")
      )
      #expect(found.map(\.sequence) == expected && expected.count > 20, "\(number)")
    }
    try reader.closeBlocking()
    try store.closeBlocking()
  }

  /// The events that changed a row of the tally, by a fold.
  private static func folded(_ store: EventStore, _ id: String) async throws -> [UInt64] {
    var (sequences, last): ([UInt64], HistoryStore.Row?) = ([], nil)
    for state in try HistoryStore.replayed(store, StateStore.tally).dropFirst() {
      let row = HistoryStore.rows(state)["tally"]?[Array(id.utf8)]
      if row != last { sequences.append(state.sequence) }
      last = row
    }
    return sequences
  }

  @Test func `a history that lacks its front is made again for all, and continued for more`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let second: Int64 = 1_000_000_000
    // Without merging there are runs that are all older.
    var past = try Bounded(
      &random, .last(nanoseconds: 15 * second, bytes: nil), StateStore.documents, merges: false)
    try past.append(60)
    let first = try #require(try past.record())
    #expect(first.begin > 0)
    // More is asked for: what there is stays, and grows.
    try past.restart(.last(nanoseconds: 10_000 * second, bytes: nil))
    #expect(past.historian.runs()?.begin == first.begin)
    try past.append(30)
    #expect(try past.record()?.begin == first.begin)
    try past.restart(.continued)
    #expect(try past.record()?.begin == first.begin)
    // Another process reads it meanwhile.
    let reader = try StateStore.open(past.disk, .readOnly, options: StateStore.options())
    #expect(reader.kept(StateStore.documents).reading?.runs()?.begin == first.begin)
    #expect(reader.projections.map(\.historyFirstSequence) == [first.begin + 1])
    // All is asked for.
    try past.restart(.all)
    #expect(past.historian.runs() == nil)
    let whole = try #require(try past.record())
    #expect(whole.begin == 0 && whole.end > 80)
    #expect(try HistoryStore.difference(whole, past.store, past.folding) == nil)
    #expect(reader.kept(StateStore.documents).reading?.runs()?.begin == 0)
    // Less is asked for, of a log to which nothing is added.
    try past.restart(.last(nanoseconds: 15 * second, bytes: nil))
    let less = try #require(try past.record())
    #expect(less.begin > 0 && less.end >= whole.end)
    #expect(try past.misfit(less) == nil)
    try reader.closeBlocking()
    try past.store.closeBlocking()
  }

  @Test func `nothing is kept of no day and of no byte, and of any number of days all is`() throws {
    for nothing in [0, -1, Int.min] {
      #expect(StoreHistory.last(days: nothing) == .off && StoreHistory.last(bytes: nothing) == .off)
      #expect(StoreHistory.last(days: nothing, bytes: 1) == .off)
      #expect(StoreHistory.last(days: 1, bytes: nothing) == .off)
    }
    #expect(StoreHistory.last(days: 1).bounds.nanoseconds == 86_400_000_000_000)
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for history in [
      StoreHistory.last(days: .max), .last(days: 200_000), .last(days: .max, bytes: .max), .last(bytes: .max),
    ] {
      var past = try Bounded(&random, history)
      try past.append(60)
      #expect(try past.record()?.begin == 0, "\(history)")
      try past.store.closeBlocking()
    }
  }

  @Test func `a base that is made at the front has the keys of kept lists`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let definition = StateKeptViewTests.definition("kept", calls: .keys)
    let runs = StateRuns(parts: 2)
    var fronts = 0
    while runs.next() {
      var past = try Bounded(&random, nil, StateStore.documents)
      past.historian.keep(definition, of: "b")
      for _ in 0..<4 {
        try past.append(Int.random(in: 5...15, using: &random))
        guard let set = try past.record() else { continue }
        let states = try HistoryStore.replayed(past.store, past.folding)
        let lists = past.historian.lists
        #expect(lists.map(\.firstSequence) == [set.begin + 1], "run \(runs.count)")
        if set.begin > 0 { fronts += 1 }
        for sequence in [set.begin + 1, set.end] {
          let read = RunPast(past.store, past.folding, view: ("b", definition))
          guard case .done(var state, _) = read.tablesUnread(at: sequence) else {
            Issue.record("run \(runs.count), at \(sequence)")
            continue
          }
          state.withTable("b") { $0.addView(definition) }
          let view = try #require(state["b"].view(definition.identity))
          let expected = View(definition, of: states[Int(sequence)]["b"])
          #expect(
            StateKeptViewTests.content(view) == StateKeptViewTests.content(expected),
            "run \(runs.count), at \(sequence)")
        }
      }
      try past.store.closeBlocking()
    }
    if runs.count > 2 { #expect(fronts > runs.count, "\(fronts)") }
  }
}
