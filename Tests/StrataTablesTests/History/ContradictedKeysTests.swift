// Histories of lists whose keys depend on more than the rows: they lose these keys, and nothing else.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// The time zone that the lists of these tests read besides the rows.
private final class Zone: Sendable {
  private let state = Lock((hours: Int64(0), readCount: 0, interval: 0))

  /// - Parameter interval: the number of reads after which the zone changes by itself; 0 for never.
  init(changingEvery interval: Int) { state.withLock { $0.interval = interval } }

  func change() { state.withLock { $0.hours += 1 } }
  func stay() { state.withLock { $0.interval = 0 } }

  var hours: Int64 {
    state.withLock { state in
      state.readCount += 1
      if state.interval > 0, state.readCount % state.interval == 0 { state.hours += 1 }
      return state.hours
    }
  }

  /// All rows, in sections by the local time of their last change. With an order by values, the values depend on it too.
  func definition(_ order: SectionOrder) -> ViewDefinition {
    ViewDefinition(
      identity: ViewIdentity("local"), sectionOrder: order, calls: .keys,
      kept: KeptView(name: "local", identity: "", fingerprint: 1)
    ) { (row, writer) throws(RowProblem) in
      let local = Int64(row.revision) + self.hours
      writer.append(local % 3)
      let section = writer.count
      writer.append(local % 7)
      let end = writer.count
      if case .extreme = order { writer.append(local % 5) }
      return PlacedLengths(section: section, value: writer.count - end)
    }
  }
}

@Suite struct ContradictedKeysTests {
  private static let table = "b"
  private static let folding = StateStore.documents

  /// What is wrong with the list after an event; nil if it is right, or built from the rows.
  private static func problem(
    _ sequence: UInt64, _ store: EventStore, _ definition: ViewDefinition, _ read: inout Int
  ) throws -> String? {
    let counter = PastCounter()
    guard let state = try KeptPastTests.unread(sequence, store, folding, (table, definition), counter),
      let view = state[table].view(definition.identity)
    else { return nil }
    read += 1
    if let sentence = view.checkInvariants() { return sentence }
    var (shown, rows): (Set<[UInt8]>, Set<[UInt8]>) = ([], [])
    view.forEachItem(in: 0..<view.count) { shown.insert(Array($0.id)) }
    state[table].forEachRow { rows.insert(Array($0.id)) }
    if shown != rows || view.problems.count > 0 { return "\(view.count) items of \(rows.count) rows" }
    if definition.holdsValues, view.values.count != view.count { return "\(view.values.count) values" }
    return counter.counts == PastCounts() ? nil : "a page was made from the log"
  }

  /// The first thing that is wrong at any event, with the list or with the rows.
  private static func problem(
    _ store: EventStore, _ historian: Historian, _ definition: ViewDefinition, _ read: inout Int
  ) throws -> String? {
    guard let set = historian.runs() else { return "no history" }
    if let difference = try HistoryStore.difference(set, store, folding) { return difference }
    for sequence in set.begin + 1..<set.end + 1 {
      if let problem = try problem(sequence, store, definition, &read) { return "at \(sequence): \(problem)" }
    }
    return historian.state.withLock { $0.files } == .sound ? nil : "the history was damaged"
  }

  @Test
  func `fault 108: a list whose code makes other keys of the same rows is all that a history loses`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns()
    var (read, lacking, named, healed) = (0, 0, 0, 0)
    while runs.next() {
      let zone = Zone(changingEvery: [0, 0, 5, 40].randomElement(using: &random)!)
      let order = [SectionOrder.key, .count, StateKeptViewTests.orders.last!.1].randomElement(using: &random)!
      let definition = zone.definition(order)
      let (disk, options) = (SimulatedDisk(), HistoryStore.keyOptions(&random))
      var events = StateEvents(seed: random.next())
      events.rowCount = [3, 12, 40].randomElement(using: &random)!
      var store = try StateStore.open(disk, options: options)
      for process in 0..<Int.random(in: 1...2, using: &random) {
        let historian = try #require(store.projector(Self.folding).historian)
        // The list is asked for before there are runs, between them, or after all of them.
        let begin = Int.random(in: 0...6, using: &random)
        for number in 0..<Int.random(in: 7...12, using: &random) {
          if number == begin { historian.keep(definition, of: Self.table) }
          if Int.random(in: 0..<5, using: &random) == 0 { zone.change() }
          try events.append(to: store)
          if Int.random(in: 0..<3, using: &random) == 0 { try historian.recordBlocking() }
          // What is in no run yet is in memory for a read.
          guard Int.random(in: 0..<6, using: &random) == 0 else { continue }
          let problem = try Self.problem(store.head.sequence, store, definition, &read)
          #expect(problem == nil, "run \(runs.count), process \(process), at the head")
        }
        try historian.recordBlocking(writesRest: true)
        let problem = try Self.problem(store, historian, definition, &read)
        #expect(problem == nil, "run \(runs.count), process \(process)")
        if problem != nil { return }
        let owner = try #require(KeyOwner(Self.table, definition))
        let isWhole = historian.runs()?.runs.allSatisfy { $0.hasKeys(of: owner) } ?? false
        lacking += isWhole ? 0 : 1
        let names = historian.failure.map { "\($0)".contains("the code of the list local over b") }
        #expect(names != false, "run \(runs.count), process \(process)")
        named += names == true ? 1 : 0
        try store.closeBlocking()
        store = try StateStore.open(disk, options: options)
      }
      // With one code from the first event on, the list is in all of it.
      zone.stay()
      let historian = try #require(store.projector(Self.folding).historian)
      historian.noteDamage()
      historian.keep(definition, of: Self.table)
      try historian.recordBlocking(writesRest: true)
      let owner = try #require(KeyOwner(Self.table, definition))
      if let set = historian.runs(), set.runs.allSatisfy({ $0.hasKeys(of: owner) }) { healed += 1 }
      #expect(historian.failure == nil)
      try store.closeBlocking()
    }
    print("contradicted lists: read \(read), lacking \(lacking), named \(named), healed \(healed)")
    #expect(healed == runs.count)
    #expect(read > runs.count && lacking > runs.count / 8 && named > 0, "\(read), \(lacking), \(named)")
  }
}
