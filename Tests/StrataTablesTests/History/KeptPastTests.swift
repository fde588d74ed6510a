// Past states of kept lists, read from the keys that runs hold: they are those of a replay.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
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

    /// - Parameters:
    ///   - appends: nil for some tens of them.
    ///   - changeCountMax: nil for runs of a few changes.
    ///   - hasManySections: whether the list has a section for almost every one of several hundred rows.
    init(
      _ random: inout SeededGenerator, appends: ClosedRange<Int>? = nil, changeCountMax: Int? = nil,
      hasManySections: Bool = false
    ) throws {
      var options = HistoryStore.keyOptions(&random, keepsAll: false)
      if let changeCountMax { options.runLimits.changeCountMax = changeCountMax }
      store = try StateStore.open(disk, options: options)
      folding =
        hasManySections ? StateStore.documents : StateStore.foldings.randomElement(using: &random)!
      if case .own = folding { table = "tally" } else { table = "b" }
      definition = StateKeptViewTests.definition(
        "kept", KeptPastTests.orders.randomElement(using: &random)!,
        modulus: hasManySections ? 1_000 : 4,
        calls: [ProgramCalls.none, .keys].randomElement(using: &random)!,
        declares: Bool.random(using: &random))
      historian = try #require(store.projector(folding).historian)
      events = StateEvents(seed: random.next())
      events.rowCount = hasManySections ? 900 : [2, 12, 40, 150].randomElement(using: &random)!
      if hasManySections { events.numberCount = 1_000 }
      // The list is asked for before there are runs, between them, or after all of them.
      let count =
        appends.map { Int.random(in: $0, using: &random) } ?? HistoryStore.appendCount(&random)
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
    func unread(_ sequence: UInt64, _ counter: PastCounter = PastCounter()) throws -> TableSet {
      try #require(
        try KeptPastTests.unread(sequence, store, folding, view, counter),
        "the runs lack the keys at \(sequence)")
    }

    /// The first difference from a state of a replay.
    ///
    /// - Parameter isWhole: false if runs have lost something, and then count no ranks.
    func difference(_ state: TableSet, from replayed: TableSet, isWhole: Bool = true) throws -> String? {
      try KeptPastTests.difference(state, from: replayed, store, view, isWhole: isWhole)
    }
  }

  /// The state at a sequence, with a list, of which nothing was read yet; nil if the runs lack its keys.
  static func unread(
    _ sequence: UInt64, _ store: EventStore, _ folding: Folding,
    _ view: (table: String, definition: ViewDefinition), _ counter: PastCounter = PastCounter()
  ) throws -> TableSet? {
    let past = RunPast(store, folding, view: view, counter)
    past.look(through: sequence)
    guard past.covers(sequence), case .done(var state, _) = past.tablesUnread(at: sequence) else {
      return nil
    }
    #expect(state[view.table].savedViews.count == (state.contains(view.table) ? 1 : 0))
    state.withTable(view.table) { $0.addView(view.definition) }
    return state
  }

  /// The first difference of such a state from one of a replay.
  static func difference(
    _ state: TableSet, from replayed: TableSet, _ store: EventStore,
    _ list: (table: String, definition: ViewDefinition), isWhole: Bool = true
  ) throws -> String? {
    let (table, definition) = list
    for table in replayed.tables where state.sequence % 8 == 0 {
      var ids: [[UInt8]] = []
      table.forEachRow { ids.append(Array($0.id)) }
      // Also some that are not there.
      state[table.name].willRead(ids + ids.map { $0 + [0x30] })
    }
    let difference = try StateAnswers(state, of: store).difference(from: StateAnswers(replayed, of: store))
    if let difference { return difference }
    let view = try #require(state[table].view(definition.identity))
    let expected = View(definition, of: replayed[table])
    if let difference = readItems(of: view, expected).difference { return difference }
    if isWhole, expected.count > 0, let known = view.knownItems,
      let difference = differenceOfRanks(in: known, expected)
    {
      return difference
    }
    guard StateKeptViewTests.content(view) == StateKeptViewTests.content(expected) else {
      return "the list: \(StateKeptViewTests.content(view)), \(StateKeptViewTests.content(expected))"
    }
    if definition.holdsValues, !view.values.hasSameEntries(as: expected.values) { return "the values" }
    for table in state.tables { if let sentence = table.checkInvariants() { return sentence } }
    return view.checkInvariants()
  }

  /// The first difference of a list at some events, and of what changed from each of them to the next and back, from
  /// replays; nil if there is none. Ranks and rows are looked at one by one, too.
  ///
  /// - Parameter body: called with each state, of which the whole list has been read.
  static func difference(
    of list: (table: String, definition: ViewDefinition), at sequences: [UInt64], _ store: EventStore,
    _ folding: Folding, _ random: inout SeededGenerator, _ body: (TableSet) -> Void = { _ in }
  ) throws -> String? {
    let replayed = try HistoryStore.replayed(store, folding)
    var states: [TableSet] = []
    for sequence in sequences {
      guard let state = try unread(sequence, store, folding, list),
        let looked = try unread(sequence, store, folding, list),
        let other = try unread(sequence, store, folding, list)
      else { return "the runs lack the keys at \(sequence)" }
      if let difference = try difference(state, from: replayed[Int(sequence)], store, list) {
        return "at \(sequence): \(difference)"
      }
      body(state)
      _ = try PastDifferenceTests.looked(list, looked, replayed[Int(sequence)], &random)
      states.append(other)
    }
    let steps = Array(zip(states, states.dropFirst()))
    for (old, new) in steps + steps.map({ ($0.1, $0.0) }) {
      let expected = PastDifferenceTests.changes(replayed[Int(old.sequence)], replayed[Int(new.sequence)])
      guard PastDifferenceTests.changes(old, new) == expected else {
        return "what changed from \(old.sequence) to \(new.sequence)"
      }
    }
    return nil
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
      let exists = expectedLines[0][0].withUnsafeBytes { view.contains($0) }
      let isOther = (expectedLines[0][0] + [0]).withUnsafeBytes { view.contains($0) }
      guard exists, !isOther else { return (readCount, "whether the item \(ranks.lowerBound) is there") }
    }
    return (readCount, nil)
  }

  /// Counts the rank of every item, and of a key after each that is none.
  private static func differenceOfRanks(in known: any CountedItems, _ expected: View) -> String? {
    var (bytes, keys, ranks): ([UInt8], [Range<Int>], [Int]) = ([], [], [])
    expected.items.forEach(in: 0..<expected.count) { key, _ in
      for suffix in [[], [0]] as [[UInt8]] {
        keys.append(bytes.count..<bytes.count + key.count + suffix.count)
        bytes += Array(key) + suffix
        ranks.append((keys.count - 1) / 2 + suffix.count)
      }
    }
    for (keys, isOfItems) in [(keys, false), (keys.indices.filter { $0 % 2 == 0 }.map { keys[$0] }, true)] {
      guard let found = bytes.withUnsafeBytes({ known.ranks(of: keys, in: $0) }) else { return "no ranks" }
      let wanted = isOfItems ? Array(0..<expected.count) : ranks
      guard found.ranks == wanted, found.areAllFound == isOfItems else {
        return "ranks \(found) of \(expected.count) items"
      }
    }
    return nil
  }

  @Test(arguments: [false, true])
  func `a kept list at every sequence is that of a replay`(hasManySections: Bool) throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var met = HistoryStore.Met()
    var (sections, sectionsMax, problems, directReads, rebirths) = (0, 0, 0, 0, 0)
    let counter = PastCounter()
    // Of several hundred sections, a state takes long to compare: a few histories, at every fiftieth sequence.
    let runs = hasManySections ? StateRuns(2) : StateRuns(parts: 2)
    while runs.next() {
      let past = try Past(
        &random, appends: hasManySections ? 800...900 : nil, hasManySections: hasManySections)
      let states = try HistoryStore.replayed(past.store, past.folding)
      let set = try #require(past.historian.runs())
      #expect(set.runs.allSatisfy { $0.keys.count == 2 })
      var (now, gone): (Set<[UInt8]>, Set<[UInt8]>) = ([], [])
      let step: UInt64 = hasManySections ? 50 : 1
      for sequence in stride(from: set.end, to: set.begin, by: -Int(step)) {
        let state = try past.unread(sequence, counter)
        let view = try #require(state[past.table].view(past.definition.identity))
        (sections, problems) = (sections + view.sectionCount, problems + view.problems.count)
        sectionsMax = max(sectionsMax, view.sectionCount)
        let expected = View(past.definition, of: states[Int(sequence)][past.table])
        directReads += Self.readItems(of: view, expected).count
        var items: Set<[UInt8]> = []
        expected.items.forEach(in: 0..<expected.count) { key, _ in items.insert(Array(key)) }
        rebirths += items.subtracting(now).intersection(gone).count
        gone.formUnion(now.subtracting(items))
        now = items
        let difference = try past.difference(state, from: states[Int(sequence)])
        #expect(difference == nil, "run \(runs.count), at \(sequence) of \(set.end)")
        if difference != nil { return }
      }
      met.add(set)
      try past.store.closeBlocking()
    }
    #expect(counter.counts == PastCounts(), "no page is lost, and no event replayed")
    print(
      "kept lists: \(met), sections \(sections), at most \(sectionsMax), problems \(problems), "
        + "direct reads \(directReads), rebirths \(rebirths)")
    guard !hasManySections else { return #expect(sectionsMax > 200, "\(sectionsMax)") }
    #expect(
      met.states > 5 * runs.count && met.bases > 0 && met.merged > runs.count / 8, "\(met)")
    #expect(
      sections > met.states && problems > 0 && directReads > met.states
        && (runs.count < 100 || rebirths > runs.count / 50),
      "\(sections), \(problems), \(directReads), \(rebirths)")
  }

  @Test func `fault 84: pages of a past list that runs have lost are made from the log, and that is counted`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2, isLight: true)
    var (lost, healed) = (0, 0)
    while runs.next() {
      let past = try Past(&random)
      let states = try HistoryStore.replayed(past.store, past.folding)
      let set = try #require(past.historian.runs())
      let sequence = UInt64.random(in: set.begin + 1...set.end, using: &random)
      let counter = PastCounter()
      let state = try past.unread(sequence, counter)
      for path in past.disk.historyPaths where path.hasSuffix(".run") {
        let bytes = past.disk.contents(path)!
        past.disk.replace(
          path, bytes.prefix(RunFile.headerLength) + bytes.dropFirst(RunFile.headerLength).map { ~$0 })
      }
      let difference = try past.difference(state, from: states[Int(sequence)], isWhole: false)
      #expect(difference == nil, "run \(runs.count), at \(sequence) of \(set.end)")
      // What was read before is still in memory.
      let isDamaged = past.historian.state.withLock { $0.isDamaged }
      if counter.counts != PastCounts() {
        healed += 1
        #expect(isDamaged, "run \(runs.count)")
        #expect(counter.counts == PastCounts(foldedEvents: sequence, healed: 1), "run \(runs.count)")
      }
      if isDamaged {
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
    #expect(lost >= runs.count / 8 && healed >= runs.count / 8, "\(lost), \(healed)")
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
