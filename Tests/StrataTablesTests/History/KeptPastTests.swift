// Past states of kept lists, read from the keys that runs hold: they are those of a replay.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct KeptPastTests {
  /// The orders of sections whose keys a history holds.
  static let orders = StateKeptViewTests.orders.map(\.1).filter { order in
    switch order {
    case .ranked, .compared: false
    default: true
    }
  }

  /// A store with random events, and runs that have the keys of a kept list.
  struct Past {
    let disk = SimulatedDisk()
    let store: EventStore
    let folding: Folding
    let table: String
    let definition: ViewDefinition
    let historian: Historian
    var events: StateEvents

    /// - Parameter changeCountMax: nil for runs of a few changes.
    init(
      _ random: inout SeededGenerator, appends: ClosedRange<Int> = 3...60, changeCountMax: Int? = nil
    ) throws {
      var options = HistoryStore.keyOptions(&random, keepsAll: false)
      if let changeCountMax { options.runLimits.changeCountMax = changeCountMax }
      store = try StateStore.open(disk, options: options)
      folding = StateStore.foldings.randomElement(using: &random)!
      if case .own = folding { table = "tally" } else { table = "b" }
      definition = StateKeptViewTests.definition(
        "kept", KeptPastTests.orders.randomElement(using: &random)!,
        calls: [ProgramCalls.none, .keys].randomElement(using: &random)!)
      historian = try #require(store.projector(folding).historian)
      events = StateEvents(seed: random.next())
      events.rowCount = [2, 12, 40, 150].randomElement(using: &random)!
      // The list is asked for before there are runs, between them, or after all of them.
      let count = Int.random(in: appends, using: &random)
      let begin = Int.random(in: 0...count, using: &random)
      for number in 0...count {
        if number == begin { historian.keep(definition, of: table) }
        try events.append(to: store)
        if Int.random(in: 0..<4, using: &random) == 0 { try historian.recordBlocking() }
      }
      try historian.recordBlocking(writesRest: true)
    }

    var view: (table: String, definition: ViewDefinition) { (table, definition) }

    /// The state at a sequence, with the list, of which nothing was read yet.
    func unread(_ sequence: UInt64) throws -> TableSet {
      try #require(
        try KeptPastTests.unread(sequence, store, folding, view), "the runs lack the keys at \(sequence)")
    }

    /// The first difference from a state of a replay.
    func difference(_ state: TableSet, from replayed: TableSet) throws -> String? {
      try KeptPastTests.difference(state, from: replayed, store, view)
    }
  }

  /// The state at a sequence, with a list, of which nothing was read yet; nil if the runs lack its keys.
  static func unread(
    _ sequence: UInt64, _ store: EventStore, _ folding: Folding,
    _ view: (table: String, definition: ViewDefinition)
  ) throws -> TableSet? {
    let past = RunPast(store, folding, view: view)
    past.extend(through: sequence)
    guard case .done(var state, _) = past.tablesUnread(at: sequence) else { return nil }
    #expect(state[view.table].savedViews.count == (state.contains(view.table) ? 1 : 0))
    state.withTable(view.table) { $0.addView(view.definition) }
    return state
  }

  /// The first difference of such a state from one of a replay.
  static func difference(
    _ state: TableSet, from replayed: TableSet, _ store: EventStore,
    _ list: (table: String, definition: ViewDefinition)
  ) throws -> String? {
    let (table, definition) = list
    let difference = try StateAnswers(state, of: store).difference(from: StateAnswers(replayed, of: store))
    if let difference { return difference }
    let view = try #require(state[table].view(definition.identity))
    let expected = View(definition, of: replayed[table])
    if let difference = readItems(of: view, expected).difference { return difference }
    guard StateKeptViewTests.content(view) == StateKeptViewTests.content(expected) else {
      return "the list: \(StateKeptViewTests.content(view)), \(StateKeptViewTests.content(expected))"
    }
    if definition.holdsValues, !view.values.hasSameEntries(as: expected.values) { return "the values" }
    for table in state.tables { if let sentence = table.checkInvariants() { return sentence } }
    return view.checkInvariants()
  }

  /// Reads items at some ranks without their tree. Returns how many times they were known, and the first difference.
  static func readItems(of view: View, _ expected: View) -> (count: Int, difference: String?) {
    guard let known = view.knownItems, expected.count > 0, view.count == expected.count else {
      return (0, nil)
    }
    func lines(_ lend: ((ItemKey) -> Void) -> Void) -> [[[UInt8]]] {
      var lines: [[[UInt8]]] = []
      lend { lines.append([Array($0.bytes), Array($0.section), Array($0.id)]) }
      return lines
    }
    let count = view.count
    let third = count / 3
    var readCount = 0
    for ranks in [0..<1, third..<min(third + 3, count), count - 1..<count, third..<count] {
      let expectedLines = lines { body in expected.forEachItem(in: ranks, body) }
      guard known.section(at: ranks.lowerBound) == expectedLines[0][1] else {
        return (readCount, "the section at \(ranks.lowerBound) of \(count)")
      }
      guard let items = known.items(in: ranks) else { continue }
      readCount += 1
      guard lines({ items.forEach($0) }) == expectedLines else {
        return (readCount, "the items \(ranks) of \(count)")
      }
      let isThere = expectedLines[0][0].withUnsafeBytes { view.contains($0) }
      let isOther = (expectedLines[0][0] + [0]).withUnsafeBytes { view.contains($0) }
      guard isThere, !isOther else { return (readCount, "whether the item \(ranks.lowerBound) is there") }
    }
    return (readCount, nil)
  }

  @Test func `a kept list at every sequence is that of a replay`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var met = HistoryStore.Met()
    var (sections, problems, directReads) = (0, 0, 0)
    let runs = StateRuns()
    while runs.next() {
      let past = try Past(&random)
      let states = try HistoryStore.replayed(past.store, past.folding)
      let set = try #require(past.historian.runs())
      #expect(set.runs.allSatisfy { $0.keys.count == 2 })
      for sequence in set.begin + 1...set.end {
        let state = try past.unread(sequence)
        let view = try #require(state[past.table].view(past.definition.identity))
        (sections, problems) = (sections + view.sectionCount, problems + view.problems.count)
        let expected = View(past.definition, of: states[Int(sequence)][past.table])
        directReads += Self.readItems(of: view, expected).count
        let difference = try past.difference(state, from: states[Int(sequence)])
        #expect(difference == nil, "run \(runs.count), at \(sequence) of \(set.end)")
        if difference != nil { return }
      }
      met.add(set)
      try past.store.closeBlocking()
    }
    #expect(
      met.states > 5 * runs.count && met.bases > 0 && met.merged > runs.count / 4, "\(met)")
    #expect(
      sections > met.states && problems > 0 && directReads > met.states,
      "\(sections), \(problems), \(directReads)")
  }

  @Test func `fault 84: pages of a past list that runs have lost are made from the log`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(60, isLight: true)
    var lost = 0
    while runs.next() {
      let past = try Past(&random)
      let states = try HistoryStore.replayed(past.store, past.folding)
      let set = try #require(past.historian.runs())
      let sequence = UInt64.random(in: set.begin + 1...set.end, using: &random)
      let state = try past.unread(sequence)
      for path in past.disk.historyPaths where path.hasSuffix(".run") {
        let bytes = past.disk.contents(path)!
        past.disk.replace(
          path, bytes.prefix(RunFile.headerLength) + bytes.dropFirst(RunFile.headerLength).map { ~$0 })
      }
      let difference = try past.difference(state, from: states[Int(sequence)])
      #expect(difference == nil, "run \(runs.count), at \(sequence) of \(set.end)")
      // What was read before is still in memory.
      if past.historian.state.withLock({ $0.isDamaged }) {
        lost += 1
        try past.historian.recordBlocking(writesRest: true)
        // Of a history that is made again, another part may be kept.
        if try #require(past.historian.runs()).covers(sequence) {
          let again = try past.difference(past.unread(sequence), from: states[Int(sequence)])
          #expect(again == nil, "run \(runs.count), at \(sequence) of \(set.end)")
        }
      }
      try past.store.closeBlocking()
    }
    #expect(lost >= runs.count / 8, "\(lost)")
  }
}

extension Tree {
  func hasSameEntries(as other: Tree) -> Bool {
    func entries(_ tree: Tree) -> [[[UInt8]]] {
      var entries: [[[UInt8]]] = []
      tree.forEach(in: 0..<tree.count) { key, value in entries.append([Array(key), Array(value)]) }
      return entries
    }
    return entries(self) == entries(other)
  }
}
