// Indexes: they answer as a scan of all rows does, now and at past points, and are used where they help.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct IndexTests {
  /// A store with indexes, and one with the same log and none, which reads all rows.
  private struct Pair {
    var indexed: EventStore
    var scanned: EventStore
    var random: SeededGenerator
    var filters: RandomFilters
    private let ids: [String]
    /// Documents that rows have or had.
    private var documents: [DocumentValue] = []

    init(seed: UInt64, history: Bool) throws {
      random = SeededGenerator(seed: seed)
      filters = RandomFilters(random: SeededGenerator(seed: seed ^ 0xF1))
      var options = history ? .history(&random) : StoreOptions()
      // So that an index is built beside the fold, and joins it later.
      options.viewBuildingMin = 1
      indexed = EventStore.inMemory(clock: .fixed, options: options)
      scanned = EventStore.inMemory(clock: .fixed)
      ids = (0..<160).map { "row \($0)" }
    }

    mutating func append(_ count: Int) throws {
      for _ in 0..<count {
        let stream: StreamName = "t/\(ids.randomElement(using: &random)!)"
        let document = document()
        documents.append(document)
        let event =
          Int.random(in: 0..<6, using: &random) == 0
          ? NewEvent(DocumentEvent.delete, in: stream, .null)
          : NewEvent(DocumentEvent.put, in: stream, document)
        _ = try indexed.appendBlocking([event])
        _ = try scanned.appendBlocking([event])
      }
    }

    /// A random one. Few have a value that is no key: an index whose rows are mostly problems is not used.
    private mutating func document() -> DocumentValue {
      guard case .object(var fields) = filters.row().document else { return .null }
      for name in ["a", "b"] where Int.random(in: 0..<16, using: &random) > 0 {
        switch fields[name] {
        case .array, .object: fields[name] = .string(RandomFilters.strings.randomElement(using: &random)!)
        default: break
        }
      }
      return .object(fields)
    }

    /// A filter of which an index may know something, and other parts.
    mutating func filter() -> RowFilter {
      var parts: [FilterExpression] = []
      for name in ["a", "b"] where Int.random(in: 0..<4, using: &random) > 0 {
        var comparison = filters.comparison()
        comparison.left = .field(FieldPath(names: [name]))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: break
        case 1:
          // What some row has, as an application asks.
          comparison.comparator = .equal
          comparison.right = .value(documents.randomElement(using: &random)?[name] ?? 1)
          comparison.ignoresCase = false
        default:
          comparison.comparator = [.equal, .less, .lessOrEqual, .greater, .greaterOrEqual, .beginsWith]
            .randomElement(using: &random)!
          comparison.right = .value(
            Bool.random(using: &random)
              ? .string(RandomFilters.strings.randomElement(using: &random)!)
              : RandomFilters.numbers.randomElement(using: &random)!)
          comparison.ignoresCase = Int.random(in: 0..<8, using: &random) == 0
        }
        parts.append(.comparison(comparison))
      }
      if parts.isEmpty || Int.random(in: 0..<3, using: &random) == 0 {
        let other = filters.expression(depth: 1)
        if case .and(let inner) = other { parts += inner } else { parts.append(other) }
      }
      return RowFilter(parts.count == 1 ? parts[0] : .and(parts))
    }

    /// Asks both. Returns whether an index was used, and whether rows were found.
    func check(_ filter: RowFilter, at point: LogPoint) async throws -> (isUsed: Bool, isFound: Bool) {
      let (rows, all) = (indexed.documents("t"), scanned.documents("t"))
      let expected = try await all.all(where: filter, at: point).map(\.id)
      let found = try await rows.all(where: filter, at: point).map(\.id)
      #expect(found == expected, "\(filter) at \(point)")
      #expect(try await rows.count(where: filter, at: point) == expected.count, "\(filter) at \(point)")
      #expect(try await rows.first(where: filter, at: point)?.id == expected.first, "\(filter) at \(point)")
      let plan = try await rows.explain(where: filter, at: point)
      #expect(try await all.explain(where: filter, at: point).index == nil)
      #expect(plan.rowsRead >= expected.count)
      return (plan.index != nil, !expected.isEmpty)
    }
  }

  @Test(arguments: 0..<12)
  func `an index answers as a scan does, while it is built, after changes and at past points`(number: Int)
    async throws
  {
    let seed = SeededGenerator.testSeed() &+ UInt64(number) &* 7_919
    var pair = try Pair(seed: seed, history: number.isMultiple(of: 2))
    try pair.append(150)
    let documents = pair.indexed.documents("t")
    var indexes = [try documents.index("by a", on: FieldPath(names: ["a"]))]
    // Not waited for: the first questions are asked while they are built.
    indexes.append(try documents.index("by b and a", on: FieldPath(names: ["b"]), FieldPath(names: ["a"])))
    for _ in 0..<10 { _ = try await pair.check(pair.filter(), at: .head) }
    for index in indexes { try await index.ready() }
    var (used, usedAndFound, past) = (0, 0, 0)
    for _ in 0..<6 {
      try pair.append(30)
      for _ in 0..<40 {
        let (isUsed, isFound) = try await pair.check(pair.filter(), at: .head)
        if isUsed { used += 1 }
        if isUsed && isFound { usedAndFound += 1 }
      }
    }
    if number.isMultiple(of: 2) { _ = try pair.indexed.recordHistoriesBlocking() }
    let head = pair.indexed.head.sequence
    for _ in 0..<60 {
      let point = LogPoint.sequence(UInt64.random(in: 0...head, using: &pair.random))
      if try await pair.check(pair.filter(), at: point).isUsed { past += 1 }
    }
    #expect(used > 12 && usedAndFound > 2, "\(used) and \(usedAndFound) of 240")
    #expect(number.isMultiple(of: 2) ? past > 0 : past == 0, "\(past) of 60")
    try pair.indexed.closeBlocking()
    try pair.scanned.closeBlocking()
  }

  @Test(arguments: 0..<6)
  func `a list with a filter is the same, whether it is built by an index or from all rows`(number: Int)
    async throws
  {
    var pair = try Pair(seed: SeededGenerator.testSeed() &+ UInt64(number) &* 104_729, history: false)
    try pair.append(400)
    let (rows, all) = (pair.indexed.documents("t"), pair.scanned.documents("t"))
    try await rows.index("by a", on: FieldPath(names: ["a"])).ready()
    var limited = 0
    for _ in 0..<40 {
      let filter = pair.filter()
      let request = ListRequest(DocumentRow.self).filtered(by: filter).sorted(
        byField: FieldPath(names: ["b"]))
      let shown = FetchController(request, from: rows)
      let expected = FetchController(request, from: all)
      let (list, model) = (try await shown.performFetch(), try await expected.performFetch())
      #expect(list.itemIdentifiers == model.itemIdentifiers, "\(filter)")
      #expect(list.problems == model.problems && list.numberOfProblems == model.numberOfProblems, "\(filter)")
      if try await rows.explain(where: filter).index != nil { limited += 1 }
      try pair.append(3)
      let (next, nextModel) = (try await shown.performFetch(), try await expected.performFetch())
      #expect(next.itemIdentifiers == nextModel.itemIdentifiers, "\(filter)")
    }
    #expect(limited > 4, "\(limited) of 40")
    try pair.indexed.closeBlocking()
    try pair.scanned.closeBlocking()
  }

  private struct Ticket: Codable, Identifiable, Sendable {
    var id: Int
    var product: String
    var priority: Int
  }

  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.sealsInBackground = false
    return options
  }

  private static func tickets(_ disk: SimulatedDisk) throws -> (EventStore, DocumentCollection<Ticket>) {
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: options())
    return (store, store.collection("ticket", of: Ticket.self))
  }

  @Test func `what an index has exactly is counted without rows, and a process finds it as it was saved`()
    async throws
  {
    let disk = SimulatedDisk()
    let (store, tickets) = try Self.tickets(disk)
    try await tickets.put((0..<500).map { Ticket(id: $0, product: "p\($0 % 50)", priority: $0 % 7) })
    let product = try FieldPath("product")
    try await tickets.index("by product", on: product).ready()
    #expect(try await tickets.count(where: "product == 'p7'") == 10)
    #expect(try await tickets.count(where: "product beginsWith 'p4'") == 110)
    #expect(try await tickets.count(where: "product in {'p1', 'p2', 'p1', 'none'}") == 20)
    let plan = try await tickets.explain(where: "product == 'p7' && priority > 3")
    #expect(plan.index == "by product" && plan.fields == [product])
    #expect(plan.rowsRead == 10 && plan.rowCount == 500)
    #expect("\(plan)" == "reads 10 of 500 rows by the index \"by product\" on product")
    let none = try await tickets.explain(where: "priority > 3")
    #expect("\(none)" == "reads all 500 rows: no index limits them")
    let found = try await tickets.all(where: "product == 'p7' && priority > 3")
    #expect(Set(found.map(\.id)) == Set((0..<10).map { $0 * 50 + 7 }.filter { $0 % 7 > 3 }))
    try store.closeBlocking()

    let (next, again) = try Self.tickets(disk)
    try await again.put([
      Ticket(id: 7, product: "p8", priority: 1), Ticket(id: 900, product: "p7", priority: 1),
    ])
    try await again.delete(57)
    try await again.index("by product", on: product).ready()
    #expect(try await again.count(where: "product == 'p7'") == 9)
    #expect(try await again.first(where: "product == 'p8'")?.id == 108)
    #expect(try await again.explain(where: "product == 'p7'").index == "by product")
    try next.closeBlocking()
  }

  @Test func `rows that make no key are found all the same, and values that are cut are`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    let long = String(repeating: "x", count: 40_000)
    func put(_ id: String, _ value: DocumentValue) throws {
      _ = try store.appendBlocking([NewEvent(DocumentEvent.put, in: "t/\(id)", ["a": value, "b": 1])])
    }
    for number in 0..<60 { try put("n\(number)", .int(Int64(number))) }
    try put("array", .array([.int(3)]))
    try put("long", .string(long))
    try put("longer", .string(long + "y"))
    let documents = store.documents("t")
    let index = try documents.index("by a", on: try FieldPath("a"), try FieldPath("b"))
    try await index.ready()
    #expect(try await index.problems.map(\.id).contains("array"))
    #expect(try await documents.all(where: "a contains 3").map(\.id) == ["array"])
    #expect(try await documents.all(where: "a == \(long)").map(\.id) == ["long"])
    #expect(try await documents.count(where: "a beginsWith 'xxx' && b == 1") == 2)
    #expect(try await documents.count(where: "a > 'w'") == 2)
    #expect(try await documents.count(where: "a >= \(long)") == 2)
    #expect(try await documents.count(where: "a < 5") == 5)
    #expect(try await documents.count(where: "a > 7 && a < 3") == 0)
    #expect(try await documents.count(where: "5 > a && a != 2") == 4)
    #expect(try await documents.explain(where: "a < 5").index == "by a")
    #expect(try await documents.explain(where: "a == \(long)").index == nil)
    try store.closeBlocking()
  }

  @Test func `fields that are none, or are named twice, are refused`() throws {
    let store = EventStore.inMemory(clock: .fixed)
    let documents = store.documents("t")
    #expect(throws: ListError.self) { try documents.index("empty") }
    #expect(throws: ListError.self) { try documents.index("", on: try FieldPath("a")) }
    #expect(throws: ListError.self) { try documents.index("own", on: try FieldPath("$revision")) }
    #expect(throws: ListError.self) {
      try documents.index("twice", on: try FieldPath("a"), try FieldPath("a"))
    }
    try store.closeBlocking()
  }

  @Test func `equal numbers are one value of a list of values, and contradictions leave nothing`() throws {
    func plan(_ text: String, _ names: String...) throws -> IndexPlan? {
      IndexPlan(try RowFilter(parsing: text).expression, fields: names.map { FieldPath(names: [$0]) })
    }
    let values = try #require(try plan("a in {1, 1.0, 2}", "a"))
    #expect(values.ranges.count == 2 && values.isExact && values.fieldCount == 1)
    let both = try #require(try plan("b > 3 && a == 'x' && c == 1", "a", "b"))
    #expect(both.ranges.count == 1 && !both.isExact && both.fieldCount == 2)
    #expect(try #require(try plan("a > 5 && a < 3", "a")).ranges.isEmpty)
    #expect(try plan("a == 'x'", "b", "a") == nil)
    #expect(try plan("a == [c] 'x'", "a") == nil)
    #expect(try plan("a == 1 || a == 2", "a") == nil)
    #expect(try plan("a > null", "a") == nil)
    #expect(try plan("a == @'2026-11-20'", "a") == nil)
  }
}
