// Filters with more values than their text has room for.

internal import StrataEvents
internal import StrataFetch
internal import StrataLists
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct FilterSetTests {
  private func row(_ id: String) -> SampleRow {
    var row = SampleRow()
    row.id = id
    return row
  }

  @Test func `a hundred thousand ids select their rows, and one more is refused`() throws {
    let ids = (0..<100_000).map { "row \(7 * $0)" }
    let filter = try RowFilter("$id in \(ids) && a == null")
    let compiled = filter.compiled()
    func takes(_ id: String) -> Bool {
      Array(id.utf8).withUnsafeBytes { id in
        [0xA0].withUnsafeBytes { document in
          compiled.matches(RowView(id: id, revision: 1, created: 1, time: 0, document: document)) { .null }
        }
      }
    }
    for id in ids { #expect(takes(id)) }
    for number in 0..<1_000 where number % 7 != 0 { #expect(!takes("row \(number)")) }
    #expect(!takes("") && !takes("Row 7"))
    #expect(filter.description == "$id in {'row 0', 'row 7', 'row 14', … 100000 values} && a == null")
    #expect(filter == (try RowFilter("$id in \(ids) && a == null")))
    #expect(filter != (try RowFilter("$id in \(Array(ids.dropLast())) && a == null")))
    #expect(try RowFilter("$id in \(Set(ids))") == (try RowFilter("$id in \(Set(ids.reversed()))")))
    let error = #expect(throws: FilterError.self) { try RowFilter("$id in \(ids + ["x"])") }
    #expect(error?.message == "a list of 100001 values is interpolated, and at most 100000 are taken")
  }

  @Test func `values of any type are looked up as they are compared`() throws {
    var filters = RandomFilters(random: SeededGenerator(seed: SeededGenerator.testSeed()))
    let padding = (0..<10_000).map { FilterOperand.value(.string("padding \($0)")) }
    for _ in 0..<500 {
      var comparison = filters.comparison()
      while comparison.comparator != .in { comparison = filters.comparison() }
      guard case .list(let elements) = comparison.right else { continue }
      comparison.right = .set(
        FilterSet(elements + padding.prefix(Bool.random(using: &filters.random) ? 20 : 0)))
      for _ in 0..<4 {
        let row = filters.row()
        let wanted = NaiveEvaluator(row: row).holds(.comparison(comparison))
        #expect(row.matches(RowFilter(.comparison(comparison))) == wanted, "\(comparison) of \(row)")
      }
    }
  }

  @Test func `a filter is text as long as there is room for it`() throws {
    let few = (0..<1_000).map { "value \($0)" }
    let filter = try RowFilter("a in \(few)")
    #expect(try RowFilter(parsing: filter.description) == filter)
    let long = String(repeating: "x", count: 60_000)
    #expect(try RowFilter("a in \(few) || b == \(long)") != filter)
    #expect(throws: FilterError.self) { try RowFilter("a in \(few) || b == \(long + long)") }
    let texts = (0..<3).map { String(repeating: "\($0)", count: 50_000) }
    var row = SampleRow()
    row.document = ["a": .string(texts[2])]
    #expect(row.matches(try RowFilter("a in \(texts)")))
    #expect(!row.matches(try RowFilter("a in \(Array(texts.dropLast()))")))
  }

  @Test func `a list by many ids shows their rows, and is refused where it is kept`() async throws {
    let board = Board()
    try await board.put(
      Ticket(id: "1", title: "a"), Ticket(id: "2", title: "b"), Ticket(id: "3000", title: "c"))
    let ids = (2..<4_000).map { "\($0)" } + (0..<5_000).map { "a longer id \($0)" }
    let request = ListRequest(DocumentRow.self).filtered(by: "$id in \(ids)")
    let list = FetchController(request, from: board.store.documents("ticket"))
    #expect(try await list.performFetch().itemIdentifiers == ["2", "3000"])
    let kept = FetchController(request.kept(as: "some"), from: board.store.documents("ticket"))
    let error = await #expect(throws: ListError.self) { try await kept.performFetch() }
    #expect(error.map { "\($0)" }?.contains("selects by 8998 values") == true, "\(String(describing: error))")
  }
}
