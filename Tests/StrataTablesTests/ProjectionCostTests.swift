// The cost of an event whose projection writes very many rows.

internal import StrataEvents
@testable internal import StrataTables
internal import Testing

@Suite struct ProjectionCostTests {
  private struct Row: Codable, Sendable { var number: Int }

  private static let rows = TableKey<Row>("row")

  /// The address of the list of changes in memory.
  private func address(of tables: ProjectionTables) -> UnsafeRawPointer? {
    tables.undo.withUnsafeBytes { $0.baseAddress }
  }

  @Test
  func `An event that writes n rows copies neither what it wrote nor the tables at each of them`() {
    var tables = ProjectionTables(TableSet(), stamp: Stamp(sequence: 1, time: 0), scratch: FoldScratch())
    for number in 0..<2_000 { tables[Self.rows, "\(number)"] = Row(number: number) }
    var (addresses, roots) = (Set<UnsafeRawPointer>(), 0)
    var (address, root) = (address(of: tables), tables.set["row"].rows.root.map { ObjectIdentifier($0) })
    for number in 0..<2_000 {
      // The same length, so that no page has to be rebuilt for lack of space.
      tables[Self.rows, "\(number)"] = Row(number: number ^ 1)
      let (nextAddress, nextRoot) = (
        self.address(of: tables), tables.set["row"].rows.root.map { ObjectIdentifier($0) }
      )
      if let nextAddress, nextAddress != address { addresses.insert(nextAddress) }
      if nextRoot != root { roots += 1 }
      (address, root) = (nextAddress, nextRoot)
    }
    #expect(tables.undo.count == 4_000)
    // The list of changes grows geometrically, and the root of a tree is written in place.
    #expect(addresses.count <= 2, "the list of changes was copied to \(addresses.count) addresses")
    #expect(roots <= 20, "the tree had \(roots) roots")
    tables.rollBack()
    #expect(tables.set["row"].count == 0)
  }

  @Test
  func `Removals copy nothing either`() {
    var tables = ProjectionTables(TableSet(), stamp: Stamp(sequence: 1, time: 0), scratch: FoldScratch())
    for number in 0..<1_000 { tables[Self.rows, "\(number)"] = Row(number: number) }
    var moves = 0
    var last = address(of: tables)
    for number in 0..<1_000 {
      tables[Self.rows, "\(number)"] = nil
      if address(of: tables) != last { moves += 1 }
      last = address(of: tables)
    }
    #expect(tables.set["row"].count == 0 && moves <= 2)
  }
}
