// What a fold event by event says of the rows that each event changed.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct EventRowsTests {
  /// A row of a table, by the number of the table.
  private struct Named: Hashable {
    var table: Int
    var id: [UInt8]
  }

  /// The rows that differ between two states, or have another problem, in the order of tables and ids.
  private static func changed(from old: TableSet, to new: borrowing TableSet) -> [Named] {
    var all: [Named] = []
    for (number, table) in new.tables.enumerated() {
      var ids: Set<[UInt8]> = []
      let before = old[table.name]
      Tree.forEachDifference(from: before.rows, to: table.rows) { ids.insert(Array($0.key)) }
      Tree.forEachDifference(from: before.problems, to: table.problems) { ids.insert(Array($0.key)) }
      all += ids.sorted { $0.lexicographicallyPrecedes($1) }.map { Named(table: number, id: $0) }
    }
    return all
  }

  @Test func `a fold event by event names the rows that each event changed, and no others`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns()
    var (several, none, problems) = (0, 0, 0)
    while runs.next() {
      let folding = StateStore.foldings.randomElement(using: &random)!
      let store = try StateStore.open(SimulatedDisk(), options: StateStore.options())
      var events = StateEvents(seed: random.next())
      events.rowCount = [2, 12, 40].randomElement(using: &random)!
      for _ in 0..<Int.random(in: 1...16, using: &random) { try events.append(to: store) }
      let fold = Fold(store.log, folding)
      var before = fold.state
      var wrong: UInt64?
      _ = try fold.runByEvent(through: store.head.sequence) { stamp, _, rows, state in
        var named: [Named] = []
        rows.forEach(in: state) { named.append(Named(table: $0, id: Array($1))) }
        if named != Self.changed(from: before, to: state) { wrong = stamp.sequence }
        several += named.count > 1 ? 1 : 0
        none += named.isEmpty ? 1 : 0
        problems += state.tables.contains { $0.problems.count > 0 } ? 1 : 0
        before = copy state
        return wrong == nil
      }
      #expect(wrong == nil, "run \(runs.count), \(folding)")
      try store.closeBlocking()
    }
    print("events that change several rows \(several), none \(none); with problems \(problems)")
    guard runs.count >= 100 else { return }
    #expect(several > runs.count / 4 && none > runs.count / 4 && problems > runs.count / 4)
  }
}
