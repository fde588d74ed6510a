// The ids of the rows that changed between two points, from the log, from runs and from states: those of replays.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct ChangedIDsTests {
  /// Each row's revision and document.
  private typealias Rows = [[UInt8]: [UInt8]]

  private static func rows(_ table: Table) -> Rows {
    var rows: Rows = [:]
    table.forEachRow { rows[Array($0.id)] = Array("\($0.revision) ".utf8) + Array($0.document) }
    return rows
  }

  /// The rows that differ.
  private static func different(_ old: Rows, _ new: Rows) -> Set<[UInt8]> {
    Set(Set(old.keys).union(new.keys).filter { old[$0] != new[$0] })
  }

  private static func table(_ past: KeptPastTests.Past) -> RowTable<DocumentRow> {
    RowTable(store: past.store, folding: past.folding, name: past.table) { (row) throws(RowProblem) in
      try DocumentRow(row)
    }
  }

  @Test func `the ids that changed between two points are those of the events between them`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var met = (ids: 0, again: 0, beyond: 0)
    let runs = StateRuns(parts: 2)
    while runs.next() {
      var past = try KeptPastTests.Past(&random)
      let end = Int(past.historian.end)
      // Some events that the runs do not have.
      if Bool.random(using: &random) {
        for _ in 0..<3 { try past.events.append(to: past.store) }
      }
      let states = try HistoryStore.replayed(past.store, past.folding).map { Self.rows($0[past.table]) }
      for _ in 0..<6 {
        let points = (0..<2).map { _ in Int.random(in: 0..<states.count, using: &random) }
        let (first, last) = (points.min()!, points.max()!)
        let ids = try await Self.table(past).changedIDs(
          between: .sequence(UInt64(points[0])), and: .sequence(UInt64(points[1])))
        let found = ids.map { Array($0.utf8) }
        #expect(found == Set(found).sorted { $0.isBefore($1) }, "each once, in their order")
        let different = Self.different(states[first], states[last])
        let changed = (first..<last).reduce(into: Set<[UInt8]>()) { ids, sequence in
          ids.formUnion(Self.different(states[sequence], states[sequence + 1]))
        }
        let context = "run \(runs.count), \(points) of \(past.folding), runs to \(end)"
        #expect(different.isSubset(of: found), "\(context)")
        switch past.folding {
        case .documents: #expect(changed.isSubset(of: found) && found.count <= last - first, "\(context)")
        default: #expect(Set(found).isSubset(of: changed) || past.folding.recordsTouches, "\(context)")
        }
        met.ids += ids.count
        met.again += ids.count - different.count
        if last > end { met.beyond += 1 }
      }
      try past.store.closeBlocking()
    }
    #expect(met.ids > 5 * runs.count && met.again > 0 && met.beyond > 0, "\(met)")
  }

  @Test func `ids that a type does not have, and points that a log does not have, are errors`() async throws {
    let store = try StateStore.open(SimulatedDisk())
    for id in ["7", "x"] {
      try store.appendAny([
        NewEvent(DocumentEvent.put, in: StreamName(category: "a", id: id), ["n": 1])
      ])
    }
    struct Numbered: Codable, Identifiable, Sendable { var id: Int }
    let numbers = store.collection("a", of: Numbered.self)
    #expect(try await numbers.changedIDs(between: .beginning, and: .sequence(1)) == [7])
    #expect(try await store.documents("a").changedIDs(between: .head, and: .beginning) == ["7", "x"])
    #expect(try await store.documents("b").changedIDs(between: .head, and: .beginning) == [])
    await #expect(throws: StoreError.undecodable(what: "a/x: its id does not decode as Int")) {
      try await numbers.changedIDs(between: .beginning, and: .head)
    }
    await #expect(throws: StoreError.self) {
      try await numbers.changedIDs(between: .sequence(1), and: .sequence(3))
    }
    try await store.close()
  }
}
