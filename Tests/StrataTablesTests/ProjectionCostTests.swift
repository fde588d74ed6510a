// The cost of an event whose projection writes very many rows.

internal import StrataEvents
@testable internal import StrataTables
internal import Testing

@Suite struct ProjectionCostTests {
  private struct Row: Codable, Sendable { var number: Int }

  private static let rows = TableKey<Row>("row")

  /// The address of the list of changes in memory.
  private func address(of tables: ProjectionTables) -> UnsafeRawPointer? {
    tables.tables.first.map { UnsafeRawPointer($0.rows.changes.baseAddress!) }
  }

  private let kept = KeptRows()

  private func tables() -> ProjectionTables {
    ProjectionTables(TableSet(), stamp: Stamp(sequence: 1, time: 0), scratch: FoldScratch(), kept: kept)
  }

  /// Ends the event, and puts what it changed into the tables.
  private func end(_ tables: inout ProjectionTables) -> TableSet {
    var set = tables.end()
    set.sequence = 1
    kept.place(into: &set, FoldScratch())
    return set
  }

  @Test
  func `An event that writes n rows copies neither what it wrote nor the tables at each of them`() {
    var tables = tables()
    for number in 0..<2_000 { tables[Self.rows, "\(number)"] = Row(number: number) }
    var addresses = Set<UnsafeRawPointer>()
    var address = address(of: tables)
    for number in 0..<4_000 {
      tables[Self.rows, "\(number)"] = Row(number: number ^ 1)
      let next = self.address(of: tables)
      if let next, next != address { addresses.insert(next) }
      address = next
    }
    // The list of changes holds each row once, and grows geometrically.
    #expect(tables.tables.first?.rows.changes.count == 4_000)
    #expect(addresses.count <= 2, "the list of changes was copied to \(addresses.count) addresses")
    #expect(tables.commit() == nil)
    let set = end(&tables)
    #expect(set["row"].count == 4_000)
  }

  @Test
  func `Removals copy nothing either`() {
    var tables = tables()
    for number in 0..<1_000 { tables[Self.rows, "\(number)"] = Row(number: number) }
    var moves = 0
    var last = address(of: tables)
    for number in 0..<1_000 {
      tables[Self.rows, "\(number)"] = nil
      if address(of: tables) != last { moves += 1 }
      last = address(of: tables)
    }
    #expect(tables.count(of: Self.rows) == 0 && moves <= 2)
    #expect(tables.commit() == nil)
    #expect(end(&tables)["row"].count == 0)
  }
}
