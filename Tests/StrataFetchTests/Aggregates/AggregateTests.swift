// Aggregates in requests, snapshots and updates.

internal import Foundation
internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataFetch
@testable internal import StrataLists
internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

private struct Sale: Codable, Identifiable, Sendable {
  var id: Int
  var shop: String
  var amount: Double?
  var pieces = 1
  var sold = Date(timeIntervalSinceReferenceDate: 0)
  var note: String?
}

private struct SaleLedger: Projection {
  static let name = "ledger"
  static let version = 1
  static let sales = TableKey<Sale>("sale")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard let sale = try event.decode(Sale.self) else { return }
    tables[Self.sales, "\(sale.id)"] = sale.pieces == 0 ? nil : sale
  }
}

extension Sale: DomainEvent { static let eventType = "sale" }

@Suite struct AggregateTests {
  private static let request = ListRequest(Sale.self).sectioned(by: \.shop).sorted(by: \.sold)
    .aggregated(
      .count, .sum(of: \.amount), .average(of: \.pieces), .maximum(of: \.sold), .first(by: \.amount))

  private static func store(_ sales: [Sale]) async throws -> (EventStore, DocumentCollection<Sale>) {
    let store = EventStore.inMemory()
    let collection = store.collection("sale", of: Sale.self)
    for sale in sales { try await collection.put(sale) }
    return (store, collection)
  }

  private static func day(_ number: Int) -> Date {
    Date(timeIntervalSinceReferenceDate: 86_400.5 * Double(number))
  }

  private static let sales = [
    Sale(id: 1, shop: "A", amount: 0.1, pieces: 1, sold: day(3)),
    Sale(id: 2, shop: "A", amount: 0.2, pieces: 2, sold: day(1)),
    Sale(id: 3, shop: "A", amount: nil, pieces: 4, sold: day(2)),
    Sale(id: 4, shop: "B", amount: .infinity, pieces: 1, sold: day(9)),
  ]

  @Test
  func `R66 sections and the whole list carry the aggregates of their rows, as types of properties`()
    async throws
  {
    let (_, sales) = try await Self.store(Self.sales)
    let list = FetchController(Self.request, from: sales)
    let snapshot = try await list.performFetch()
    let (a, b) = (snapshot.sections[0].aggregates, snapshot.sections[1].aggregates)
    #expect(a[.count]?.value == 3 && b[.count]?.value == 1 && snapshot.aggregates[.count]?.value == 4)
    #expect(a[.sum(of: \.amount)]?.value == .double(0.3))
    #expect(a[.sum(of: \.amount)]?.read(as: Double.self) == 0.3)
    #expect(b[.sum(of: \.amount)]?.value == 0 && b[.sum(of: \.amount)]?.notFiniteCount == 1)
    #expect(a[.average(of: \.pieces)]?.read() == 7 / 3.0)
    #expect(snapshot.aggregates[.average(of: \.pieces)]?.value == .double(2))
    #expect(a[.maximum(of: \.sold)]?.read(as: Date.self) == Self.day(3))
    #expect(snapshot.aggregates[.maximum(of: \.sold)]?.read(as: Date.self) == Self.day(9))
    #expect(a[.first(by: \.amount)]?.value == "1" && b[.first(by: \.amount)]?.value == "4")
    #expect(snapshot.aggregates(inSection: "A")[.count]?.value == 3)
    #expect(snapshot.aggregates(inSection: "none")[.count]?.value == 0)
    #expect(snapshot.aggregates(inSection: "none")[.maximum(of: \.sold)]?.value == .null)
    #expect(snapshot.aggregates(inSection: "none")[.maximum(of: \.sold)]?.read(as: Date.self) == nil)
    // What was not requested.
    #expect(a[.minimum(of: \.sold)] == nil && a[.sum(of: \.pieces)] == nil)
  }

  @Test func `R66 a change of an aggregate alone is an update of its section, and no item's operation`()
    async throws
  {
    let (_, sales) = try await Self.store(Self.sales)
    let request = Self.request.limited(perSection: 1)
    let list = FetchController(request, from: sales)
    var updates = list.updates.makeAsyncIterator()
    let first = try #require(try await updates.next()).after
    #expect(first.itemIdentifiers == [2, 4])
    // Of all rows of the section, also of those that the limit hides.
    #expect(first.aggregates(inSectionAt: 0)[.sum(of: \.amount)]?.value == .double(0.3))
    try await sales.update(1) { $0.amount = 5 }
    let hidden = try #require(try await updates.next())
    #expect(hidden.changes.count == 1)
    #expect(hidden.changes.sectionUpdates == [.init(section: "A", from: 0, to: 0, count: 3)])
    #expect(hidden.after.aggregates(inSectionAt: 0)[.sum(of: \.amount)]?.value == .double(5.2))
    #expect(hidden.before?.aggregates(inSectionAt: 0)[.sum(of: \.amount)]?.value == .double(0.3))
    // The same of a row that is shown is an update of its item too.
    try await sales.update(4) { $0.amount = 1 }
    let shown = try #require(try await updates.next())
    #expect(shown.changes.count == 2)
    #expect(shown.changes.updates.map(\.id) == [4] && shown.changes.sectionUpdates.map(\.section) == ["B"])
    // A field of which there is no aggregate changes none.
    try await sales.update(4) { $0.note = "paid" }
    let other = try #require(try await updates.next())
    #expect(other.changes.count == 1 && other.changes.updates.map(\.changedFields) == [["note"]])
  }

  @Test func `R22 other aggregates are another request, and one difference with every section`() async throws
  {
    let (_, sales) = try await Self.store(Self.sales)
    let plain = ListRequest(Sale.self).sectioned(by: \.shop)
    #expect(plain.aggregated(.count) != plain && plain.aggregated(.count) == plain.aggregated([.count]))
    #expect(plain.aggregated(.count, .count) == plain.aggregated(.count))
    #expect(plain.aggregated(.sum(of: \.amount)) != plain.aggregated(.sum(of: \.pieces)))
    #expect(ListRequest(Sale.self).aggregated(.count).sectioned(by: \.shop) == plain.aggregated(.count))
    let list = FetchController(plain, from: sales)
    var updates = list.updates.makeAsyncIterator()
    _ = try await updates.next()
    let snapshot = try await list.apply(plain.aggregated(.sum(of: \.pieces)))
    #expect(snapshot.aggregates[.sum(of: \.pieces)]?.value == 8)
    let update = try #require(try await updates.next())
    #expect(update.reason == .reconfigured && update.changes.count == 2)
    #expect(update.changes.sectionUpdates.map(\.section) == ["A", "B"])
  }

  @Test func `R67 the aggregates of a projection's table are those of its rows, now and at any past point`()
    async throws
  {
    let store = EventStore.inMemory()
    for sale in Self.sales { try await store.append([sale], to: "till/1") }
    try await store.append([Sale(id: 1, shop: "A", pieces: 0)], to: "till/1")
    let list = FetchController(Self.request, from: store.table(SaleLedger.sales, of: SaleLedger()))
    let now = try await list.performFetch()
    #expect(now.aggregates(inSection: "A")[.sum(of: \.amount)]?.value == .double(0.2))
    #expect(now.aggregates(inSection: "A")[.maximum(of: \.sold)]?.read(as: Date.self) == Self.day(2))
    #expect(now.aggregates(inSection: "A")[.first(by: \.amount)]?.value == "2")
    for (sequence, sum) in [(1, 0.1), (2, 0.3), (3, 0.3), (4, 0.3), (5, 0.2)] {
      let past = try await list.snapshot(at: .sequence(UInt64(sequence)))
      #expect(past.aggregates[.sum(of: \.amount)]?.value == .double(sum))
    }
    let scrubber = try list.scrubber()
    let move = try await scrubber.move(to: .sequence(4))
    #expect(move.after.aggregates(inSection: "A")[.sum(of: \.amount)]?.value == .double(0.3))
    #expect(move.changes.sectionUpdates.map(\.section) == ["A"])
  }

  @Test func `an aggregate is text that reads back, and other text is refused with what to write`() throws {
    let texts = [
      "count", "count:a", "sum:a.b", "avg:`a:b`", "min:$time", "max:$revision", "first:a", "last:$id",
    ]
    for text in texts {
      #expect(try ListAggregate<DocumentRow>(text).description == text)
    }
    #expect(try ListAggregate<DocumentRow>("sum:a") == .sum(ofField: FieldPath("a")))
    for text in ["", "sum", "sum:", "total:a", "sum:a:b", "Sum:a", ":a", "first"] {
      #expect(throws: ListError.self) { try ListAggregate<DocumentRow>(text) }
    }
    let section = ListRequest(DocumentRow.self).aggregated(.sum(ofField: .section))
    #expect(throws: ListError.self) {
      try section.compiled { (row) throws(RowProblem) in try DocumentRow(row) }
    }
  }

  @Test func `a mistyped field of an aggregate is one that no row has`() async throws {
    let (store, _) = try await Self.store(Self.sales)
    let request = ListRequest(DocumentRow.self)
      .aggregated(.sum(ofField: try FieldPath("amount")), .sum(ofField: try FieldPath("amuont")))
    let snapshot = try await FetchController(request, from: store.documents("sale")).performFetch()
    #expect(snapshot.missingFields.map(\.description) == ["amuont"])
  }

  @Test func `texts that are longer than keys are ordered by their beginnings`() async throws {
    let store = EventStore.inMemory()
    let long = String(repeating: "x", count: 40_000)
    for (id, text) in [("a", long + "b"), ("b", long + "a"), ("c", "w")] {
      _ = try store.appendBlocking([NewEvent(DocumentEvent.put, in: "t/\(id)", ["n": .string(text)])])
    }
    let path = try FieldPath("n")
    let list = FetchController(
      ListRequest(DocumentRow.self).aggregated(.last(byField: path), .maximum(ofField: path)),
      from: store.documents("t"))
    let snapshot = try await list.performFetch()
    #expect(snapshot.aggregates[.last(byField: path)]?.value == "b")
    guard case .string(let text)? = snapshot.aggregates[.maximum(ofField: path)]?.value else {
      Issue.record("no text")
      return
    }
    #expect(long.hasPrefix(text) && text.utf8.count > 31_000)
    _ = try store.appendBlocking([NewEvent(DocumentEvent.delete, in: "t/b", .null)])
    #expect(try await list.performFetch().aggregates[.last(byField: path)]?.value == "a")
  }

  @Test func `one change among many rows reads no others`() async throws {
    let store = EventStore.inMemory()
    let count = 20_000
    let events = (0..<count).map { id in
      NewEvent(
        DocumentEvent.put, in: "sale/\(id)",
        [
          "id": .int(Int64(id)), "shop": .string("\(id % 200)"), "amount": .double(Double(id) / 7),
          "pieces": .int(Int64(id % 10)),
          "sold": .string(Timestamp(nanoseconds: Int64(id) * 1_000_000_000).description),
        ])
    }
    for begin in stride(from: 0, to: count, by: 5_000) {
      _ = try store.appendBlocking(Array(events[begin..<begin + 5_000]))
    }
    let sales = store.collection("sale", of: Sale.self)
    let list = FetchController(Self.request, from: sales)
    var updates = list.updates.makeAsyncIterator()
    #expect(try await updates.next()?.after.numberOfItems == count)
    let decoded = list.statistics.rowsDecoded
    // The newest sale of its shop: the greatest value is another one afterwards.
    try await sales.delete(count - 1)
    let update = try #require(try await updates.next())
    #expect(update.changes.deletions.count == 1 && update.changes.sectionUpdates.map(\.section) == ["199"])
    let sold = update.after.aggregates(inSection: "199")[.maximum(of: \.sold)]?.read(as: Date.self)
    #expect(sold == Date(timeIntervalSince1970: Double(count - 1 - 200)))
    // Another window is another request, with the same aggregates.
    try await list.setWindow(.first(10))
    #expect(try await updates.next()?.after.aggregates[.count]?.value == .int(Int64(count - 1)))
    #expect(list.statistics.rowsDecoded - decoded < 20)
  }
}
