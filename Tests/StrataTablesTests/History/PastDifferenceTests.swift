// What differs between two past states that nobody has read: it is what differs between those of replays.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct PastDifferenceTests {
  typealias Past = KeptPastTests.Past

  /// A row in two versions of a table.
  struct Change: Equatable {
    var id: [UInt8]
    var old: HistoryStore.Row?
    var new: HistoryStore.Row?
  }

  private static func row(_ row: RowView?) -> HistoryStore.Row? {
    row.map {
      HistoryStore.Row(kind: .document, sequence: $0.revision, created: $0.created, bytes: Array($0.document))
    }
  }

  /// What differs in all tables.
  static func changes(_ old: TableSet, _ new: TableSet) -> [String: [Change]] {
    var changes: [String: [Change]] = [:]
    for name in Set(old.tables.map(\.name)).union(new.tables.map(\.name)) {
      Table.forEachChange(from: old[name], to: new[name]) { change in
        changes[name, default: []].append(
          Change(id: Array(change.id), old: row(change.old), new: row(change.new)))
      }
    }
    return changes
  }

  /// How many places of a state's list and rows were looked at, one by one, beside those of a replay.
  static func looked(
    _ list: (table: String, definition: ViewDefinition), _ state: TableSet, _ replayed: TableSet,
    _ random: inout SeededGenerator
  ) throws -> Int {
    let view = try #require(state[list.table].view(list.definition.identity))
    let expected = View(list.definition, of: replayed[list.table])
    // Keys that there are, in any order, and others beside them.
    var keys: [[UInt8]] = []
    expected.items.forEach(in: 0..<expected.items.count) { key, _ in keys.append(Array(key)) }
    let areAllItems = Bool.random(using: &random)
    keys.shuffle(using: &random)
    keys = Array(keys.prefix(Int.random(in: 0...40, using: &random)))
    if !areAllItems {
      keys += keys.prefix(5).map { $0 + [0] } + keys.prefix(5).map { Array($0.dropLast()) } + [[], [0xFF]]
    }
    var bytes: [UInt8] = []
    let ranges = keys.map { key in
      bytes += key
      return bytes.count - key.count..<bytes.count
    }
    let ranks = bytes.withUnsafeBytes { view.ranks(of: ranges, in: $0) }
    let others = bytes.withUnsafeBytes { expected.items.ranks(of: ranges, in: $0) }
    #expect(ranks.ranks == others.ranks && ranks.areAllFound == others.areAllFound)
    for key in keys.prefix(3) {
      #expect(key.withUnsafeBytes { view.rank(of: $0) } == key.withUnsafeBytes { expected.rank(of: $0) })
    }
    expected.sections.forEach(in: 0..<expected.sections.count) { section, _ in
      #expect(view.start(of: section) == expected.start(of: section))
    }
    let ids = HistoryStore.rows(replayed).flatMap { table, rows in rows.keys.map { (table, $0) } }
    for (table, id) in ids.shuffled(using: &random).prefix(20) {
      for id in [id, id + [0x30]] {
        let known = id.withUnsafeBytes { id in state[table].withRow(id) { row($0) } }
        #expect(known == id.withUnsafeBytes { id in replayed[table].withRow(id) { row($0) } })
      }
    }
    return ranges.count + ids.count
  }

  @Test func `what differs between any two states that were not read is what differs between replayed ones`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var met = (changes: 0, backwards: 0, looked: 0, grown: 0)
    let runs = StateRuns()
    while runs.next() {
      var past = try Past(&random)
      let folding = past.folding
      var replayed = try HistoryStore.replayed(past.store, folding)
      var kept: [TableSet] = []
      for number in 0..<8 {
        // Runs are written and merged between the two, and what a state has is still there.
        if Int.random(in: 0..<4, using: &random) == 0 {
          for _ in 0..<Int.random(in: 1...6, using: &random) { try past.events.append(to: past.store) }
          try past.historian.recordBlocking(writesRest: true)
          replayed = try HistoryStore.replayed(past.store, folding)
          met.grown += 1
        }
        let set = try #require(past.historian.runs())
        var state = try past.unread(UInt64.random(in: set.begin + 1...set.end, using: &random))
        if Int.random(in: 0..<3, using: &random) == 0 {
          // Events are folded into it, as after the end of the runs.
          let fold = Fold(past.store.log, folding, from: state)
          try fold.run(through: min(past.store.head.sequence, state.sequence + 5))
          state = fold.state
        }
        met.looked += try Self.looked(past.view, state, replayed[Int(state.sequence)], &random)
        if let other = kept.randomElement(using: &random) {
          let changes = Self.changes(other, state)
          let expected = Self.changes(replayed[Int(other.sequence)], replayed[Int(state.sequence)])
          try #require(
            changes == expected, "run \(runs.count), \(number), \(other.sequence) to \(state.sequence)")
          met.changes += changes.values.reduce(0) { $0 + $1.count }
          if other.sequence > state.sequence { met.backwards += 1 }
        }
        kept.append(state)
      }
      try past.store.closeBlocking()
    }
    #expect(
      met.changes > 10 * runs.count && met.backwards > runs.count && met.looked > 50 * runs.count
        && met.grown > runs.count, "\(met)")
  }

  /// A store whose history has a list of 3,000 rows, each of which was changed three times.
  private struct Large {
    let store: EventStore
    let definition = StateKeptViewTests.definition("kept", calls: .keys)

    /// - Parameter factor: what an event's number is multiplied by for its place in the list; 1 for the order of events.
    init(keyCountMax: Int = 32, factor: Int = 1) throws {
      var options = StateStore.options()
      options.runLimits.keyCountMax = keyCountMax
      options.history = .all
      options.runLimits.changeCountMax = 300
      options.runLimits.baseChangeCountMin = 2_000
      store = try StateStore.open(SimulatedDisk(), options: options)
      let historian = try #require(store.projector(StateStore.documents).historian)
      historian.keep(definition, of: "a")
      for first in stride(from: 0, to: 9_000, by: 100) {
        try store.appendAny(
          (first..<first + 100).map { number in
            let stream = StreamName(category: "a", id: "row \(number * 7 % 3_000)")
            let document = EventPayload(["n": .int(Int64(number * factor % 9_000))])
            return NewEvent(DocumentEvent.put, in: stream, payload: document)
          })
      }
      try historian.recordBlocking(writesRest: true)
    }

    func unread(_ sequence: UInt64) throws -> TableSet {
      let past = RunPast(store, StateStore.documents, view: ("a", definition))
      guard case .done(var state, _) = past.tablesUnread(at: sequence) else {
        throw StoreError.invalid(what: "the runs lack the keys at \(sequence)")
      }
      state.withTable("a") { $0.addView(definition) }
      return state
    }
  }

  @Test func `what differs is known without a page of either state`() throws {
    let large = try Large()
    let definition = large.definition
    for (first, last) in [(6_000, 6_010), (8_990, 4_000), (3_100, 9_000)] as [(UInt64, UInt64)] {
      let (old, new) = (try large.unread(first), try large.unread(last))
      let trees = old["a"].trees + new["a"].trees
      let before = Tree.statistics(of: trees)
      var ids: Set<[UInt8]> = []
      Table.forEachChange(from: old["a"], to: new["a"]) { change in
        ids.insert(Array(change.id))
        #expect(change.old != nil && change.new != nil)
      }
      #expect(ids.count == min(3_000, Int(max(first, last) - min(first, last))))
      for id in ids.prefix(100) { id.withUnsafeBytes { id in new["a"].withRow(id) { #expect($0 != nil) } } }
      let view = try #require(new["a"].view(definition.identity))
      #expect([0xFF].withUnsafeBytes { view.rank(of: $0) } == 3_000)
      var shown: [[UInt8]] = []
      view.forEachItem(in: 1_500..<1_520) { shown.append(Array($0.id)) }
      #expect(shown.count == 20 && Set(shown).count == 20)
      let after = Tree.statistics(of: trees)
      #expect(after.pages == before.pages && after.unreadPages == before.unreadPages)
      // The roots of rows and items.
      #expect(before.unreadPages == 4)
      // After some looks, items are read from pages.
      for rank in 0..<20 { view.withItem(at: rank * 100) { _ in } }
      #expect(Tree.statistics(of: trees).pages > before.pages)
    }
    try large.store.closeBlocking()
  }

  @Test func `ranks that several threads count are those of a replayed list`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let large = try Large()
    for sequence in [UInt64(1_000), 4_321, 9_000] {
      let view = try #require(large.unread(sequence)["a"].view(large.definition.identity))
      let replayed = try large.store.statesBlocking(at: [.sequence(sequence)], StateStore.documents)[0]
      let items = View(large.definition, of: replayed["a"]).items
      var keys: [[UInt8]] = []
      items.forEach(in: 0..<items.count) { key, _ in keys.append(Array(key)) }
      for hasOthers in [false, true] {
        if hasOthers { keys += keys.shuffled(using: &random).prefix(500).map { $0 + [0] } }
        keys.shuffle(using: &random)
        var bytes: [UInt8] = []
        let ranges = keys.map { key in
          bytes += key
          return bytes.count - key.count..<bytes.count
        }
        let known = try #require(view.knownItems)
        // Without the pages of a tree.
        let ranks = try #require(bytes.withUnsafeBytes { known.ranks(of: ranges, in: $0) })
        let expected = bytes.withUnsafeBytes { items.ranks(of: ranges, in: $0) }
        #expect(ranks.ranks == expected.ranks && ranks.areAllFound == !hasOthers)
      }
    }
    try large.store.closeBlocking()
  }

  @Test(arguments: [1, 4_999])
  func `the first items of a section are found after many that are gone`(factor: Int) throws {
    // So small pages that a walk ends among the items, too. Items of several runs take turns if events are in any order.
    let large = try Large(keyCountMax: 4, factor: factor)
    for sequence in [UInt64(20), 2_999, 3_500, 6_000, 8_999, 9_000] {
      let replayed = try large.store.statesBlocking(at: [.sequence(sequence)], StateStore.documents)[0]
      let expected = View(large.definition, of: replayed["a"])
      var starts: [Int] = []
      expected.sections.forEach(in: 0..<expected.sections.count) { section, _ in
        starts.append(expected.start(of: section))
      }
      for (start, count) in starts.flatMap({ start in [1, 5, 20, 200].map { (start, $0) } }) {
        // After some looks at one view, items are read from pages of its tree.
        let view = try #require(large.unread(sequence)["a"].view(large.definition.identity))
        let ranks = start..<min(start + count, expected.items.count)
        var (found, others): ([[UInt8]], [[UInt8]]) = ([], [])
        try #require(view.knownItems?.items(in: ranks)).forEach { found.append(Array($0.bytes)) }
        expected.forEachItem(in: ranks) { others.append(Array($0.bytes)) }
        #expect(found == others, "\(ranks) at \(sequence)")
      }
    }
    try large.store.closeBlocking()
  }

  @Test func `after an erasure, what differs from a state of before it is what was erased, too`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var changed = 0
    let runs = StateRuns(parts: 2, isLight: true)
    while runs.next() {
      let past = try Past(&random, appends: 10...40)
      let before = try HistoryStore.replayed(past.store, past.folding)
      let end = past.historian.end
      let begin = try #require(past.historian.runs()).begin
      let sequences = (0..<4).map { _ in UInt64.random(in: begin + 1...end, using: &random) }
      let old = try sequences.map { try past.unread($0) }
      let first = UInt64.random(in: 1...end, using: &random)
      _ = try past.store.eraseBlocking(
        Erasure(sequences: [first...min(first + 3, end)], because: "asked to"))
      try past.historian.recordBlocking(writesRest: true)
      let after = try HistoryStore.replayed(past.store, past.folding)
      for state in old {
        let set = try #require(past.historian.runs())
        let sequence = UInt64.random(in: set.begin + 1...set.end, using: &random)
        let changes = try Self.changes(state, past.unread(sequence))
        try #require(
          changes == Self.changes(before[Int(state.sequence)], after[Int(sequence)]),
          "run \(runs.count), erased \(first), \(state.sequence) to \(sequence)")
        // Without the erasure, something else would differ.
        if changes != Self.changes(before[Int(state.sequence)], before[min(Int(sequence), before.count - 1)])
        {
          changed += 1
        }
      }
      try past.store.closeBlocking()
    }
    #expect(changed > runs.count / 4, "\(changed)")
  }

  @Test func `what differs is found from the log where the runs have lost it`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2, isLight: true)
    var lost = 0
    while runs.next() {
      let past = try Past(&random)
      let states = try HistoryStore.replayed(past.store, past.folding)
      let set = try #require(past.historian.runs())
      let pair = (0..<2).map { _ in UInt64.random(in: set.begin + 1...set.end, using: &random) }
      let (old, new) = (try past.unread(pair[0]), try past.unread(pair[1]))
      for path in past.disk.historyPaths where path.hasSuffix(".run") {
        let bytes = past.disk.contents(path)!
        if Int.random(in: 0..<3, using: &random) > 0 {
          past.disk.replace(
            path, bytes.prefix(RunFile.headerLength) + bytes.dropFirst(RunFile.headerLength).map { ~$0 })
        } else {
          past.disk.flipBit(path, Int.random(in: 0..<8 * bytes.count, using: &random))
        }
      }
      try #require(
        Self.changes(old, new) == Self.changes(states[Int(pair[0])], states[Int(pair[1])]),
        "run \(runs.count), \(pair)")
      _ = try Self.looked(past.view, new, states[Int(pair[1])], &random)
      if past.historian.state.withLock({ $0.isDamaged }) { lost += 1 }
      try past.store.closeBlocking()
    }
    #expect(lost >= runs.count / 8, "\(lost)")
  }
}
