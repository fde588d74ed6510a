// Tables that an application's projection saved: the tool shows what the library has, where it is known.

import Foundation
import Strata
import StrataDocuments
import StrataEvents
import StrataLog
import StrataPast
import StrataSimulation
import StrataTables
import StrataTesting
import Testing

/// Orders by id, and how many there are of each status.
private struct OrderBoard: Projection {
  struct Order: Codable, Identifiable, Sendable {
    var id: String
    var status: String
    var n: Int
    var tags: [String: Double]?
  }

  struct Total: Codable, Identifiable, Sendable {
    var id: String
    var count: Int
  }

  static let name = "Order Board"
  static let version = 2
  static let orders = TableKey<Order>("order")
  static let totals = TableKey<Total>("total/ü")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard case .int(let n)? = try event.payload.document()["n"] else { return }
    let (id, old) = (event.stream.id, tables[Self.orders, event.stream.id])
    if let old { tables[Self.totals, old.status]?.count -= 1 }
    if event.type == "removed" {
      tables[Self.orders, id] = nil
    } else {
      let order = Order(
        id: id, status: event.type, n: Int(n), tags: n % 3 == 0 ? ["weight": Double(n) / 4] : nil)
      tables[Self.orders, id] = order
      let count = tables[Self.totals, order.status]?.count ?? 0
      tables[Self.totals, order.status] = Total(id: order.status, count: count + 1)
    }
  }
}

/// Another projection with a table of the same name.
private struct OtherBoard: Projection {
  static let name = "other"
  static let version = 1

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    tables[OrderBoard.orders, "all"] = OrderBoard.Order(
      id: "all", status: "seen", n: Int(event.sequence), tags: nil)
  }
}

/// Refuses to take an order twice, with which something is wrong.
private struct OnceBoard: Projection {
  struct Again: Error {}
  static let name = "once"
  static let version = 1

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard case .taken(let n) = try event.decode(OrderEvent.self) else { return }
    guard tables[OrderBoard.orders, event.stream.id] == nil else { throw Again() }
    tables[OrderBoard.orders, event.stream.id] = OrderBoard.Order(
      id: event.stream.id, status: "taken", n: n, tags: nil)
  }
}

private enum OrderEvent: DomainEvent, Equatable {
  case taken(n: Int)
}

struct SavedTableTests {
  private static let board = Folding.own(OrderBoard())

  /// 60 events of 7 orders, in appends of one to three. `$`-events are documents.
  private static func fill(_ store: EventStore, from first: Int = 0, count: Int = 60) async throws {
    var random = SeededGenerator(seed: UInt64(first + 1))
    var (left, hours) = (count, Int64(first))
    while left > 0 {
      let events = (0..<min(left, Int.random(in: 1...3, using: &random))).map { _ in
        let type = ["placed", "paid", "sent", "removed"].randomElement(using: &random) ?? "placed"
        let id = Int.random(in: 0..<7, using: &random)
        return NewEvent(
          type, in: StreamName(category: "cart", id: "o\(id)"),
          ["n": .int(.random(in: 0..<5, using: &random))])
      }
      left -= events.count
      hours += .random(in: 0...3, using: &random)
      let time = Timestamp(nanoseconds: (1_800_000_000 + hours * 3_600) * 1_000_000_000)
      try await store.append(events, time: time)
    }
  }

  /// A closed store whose projection has a history, or only the state of the end.
  private static func sample(history: Bool) async throws -> SampleFolder {
    let folder = try SampleFolder()
    var options = StoreOptions()
    options.clock = .fixed
    options.history = history ? .all : .off
    let store = try await EventStore.open(at: folder.store, options: options)
    try await fill(store)
    _ = try await store.table(OrderBoard.orders, of: OrderBoard()).all()
    try await store.checkpoint()
    if history {
      let made = try await Task.detached { try store.recordHistoriesBlocking() }.value
      #expect(made.contains { $0.projection == OrderBoard.name && $0.sequence == 60 })
    }
    try await store.close()
    return folder
  }

  /// The rows that the library has after an event, as `at -o jsonl` prints them.
  private static func rows(
    _ folder: SampleFolder, _ table: String, at sequence: UInt64
  ) async throws -> [String: DocumentValue] {
    let store = try await EventStore.open(at: folder.store, .readOnly)
    let state = try await store.states(at: [.sequence(sequence)], board)[0]
    var rows: [String: DocumentValue] = [:]
    state[table].forEachRow { row in
      rows[row.idText] = [
        "revision": .int(Int64(row.revision)),
        "fields": (try? DocumentValue(cbor: row.document)) ?? .null,
      ]
    }
    try await store.close()
    return rows
  }

  private static func shown(_ lines: [String]) throws -> [String: DocumentValue] {
    var rows: [String: DocumentValue] = [:]
    for line in lines {
      let row = try DocumentValue(json: line)
      guard case .string(let id)? = row["id"], let revision = row["revision"], let fields = row["fields"]
      else { continue }
      rows[id] = ["revision": revision, "fields": fields]
    }
    return rows
  }

  @Test func `at shows the saved tables, as of the event that they were saved after`() async throws {
    let folder = try await Self.sample(history: false)
    for table in ["order", "total/ü"] {
      let outcome = try await LogreplayProcess.run("at", folder.store, "--table", table, "-o", "jsonl")
      #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
      let rows = try await Self.rows(folder, table, at: 60)
      #expect(try Self.shown(outcome.lines) == rows && !rows.isEmpty)
    }
    // What the program has not seen yet is not there, and is said not to be.
    let store = try await EventStore.open(at: folder.store)
    try await Self.fill(store, from: 60, count: 5)
    try await store.close()
    let later = try await LogreplayProcess.run(
      "at", folder.store, "--table", "order", "--saved-by", "Order Board", "-o", "json")
    #expect(later.code == 0 && later.output.hasPrefix(#"{"schema":1,"table":"order","sequence":60,"#))
    #expect(
      later.errors.contains(
        "the projection Order Board had saved 'order' last at seq 60, before seq 65: this is the table as of seq 60"
      ),
      "\(later.errors)")
    let sections = try await LogreplayProcess.run(
      "at", folder.store, "60", "--table", "total/ü", "--where", "count > 0", "--sort", "count:desc", "-o",
      "jsonl")
    let ids = try sections.lines.map { try DocumentValue(json: $0)["id"] }
    let expected = try await Self.rows(folder, "total/ü", at: 60)
    #expect(Set(ids.map { "\($0 ?? .null)" }).count == ids.count && sections.code == 0)
    #expect(ids.count == expected.values.count { $0["fields"]?["count"] != 0 })
  }

  @Test func `what is not known is an error that says what is, and what to do`() async throws {
    let folder = try await Self.sample(history: false)
    func failure(_ words: String...) async throws -> (code: Int32, errors: String) {
      let outcome = try await LogreplayProcess([words[0], folder.store] + words.dropFirst()).wait()
      #expect(outcome.output.isEmpty)
      return (outcome.code, outcome.errors)
    }
    for words in [["at", "30"], ["diff", "30..60"]] {
      let found = try await failure(words[0], words[1], "--table", "order")
      #expect(found.code == 66)
      #expect(found.errors.contains("the projection Order Board has not saved 'order' at seq 30"), "\(found)")
      #expect(found.errors.contains("it is known at seq 60;") && found.errors.contains("set `history`"))
    }
    let bisected = try await failure("bisect", "--table", "order", "--where", "n == 4")
    #expect(bisected.code == 66 && bisected.errors.contains("has no history of the range"), "\(bisected)")
    let unnamed = try await failure("at")
    #expect(unnamed.code == 64 && unnamed.errors.contains("order, total/ü"), "\(unnamed)")
    let unknown = try await failure("at", "--table", "orders")
    #expect(unknown.code == 66 && unknown.errors.contains("there is no table 'orders'"), "\(unknown)")
    #expect(unknown.errors.contains("the projection Order Board has saved order, total/ü"), "\(unknown)")
    let nobody = try await failure("at", "--table", "order", "--saved-by", "Board")
    #expect(nobody.code == 66 && nobody.errors.contains("there are tables of Order Board"), "\(nobody)")
    let kept = try await failure("keep", "by n", "--table", "order", "--sort", "n")
    #expect(kept.code == 66 && kept.errors.contains("Order Board has saved order, total/ü"), "\(kept)")
    for words in [["keep", "by n"], ["export", "out.csv"]] {
      let refused = try await failure(words[0], words[1], "--table", "order", "--saved-by", "Order Board")
      #expect(refused.code == 64 && refused.errors.contains("--saved-by"), "\(refused)")
    }
    // From nothing to what is saved, everything was inserted.
    let all = try await LogreplayProcess.run(
      "diff", folder.store, "0..60", "--table", "order", "-o", "jsonl")
    #expect(all.code == 0)
    #expect(
      try Self.shown(all.lines).keys.sorted() == (try await Self.rows(folder, "order", at: 60)).keys.sorted())
  }

  @Test func `where a history is kept, every point is as the library has it`() async throws {
    let folder = try await Self.sample(history: true)
    var known: [[String: DocumentValue]] = []
    for sequence in 0...60 as ClosedRange<UInt64> {
      known.append(try await Self.rows(folder, "order", at: sequence))
    }
    for sequence in known.indices {
      let outcome = try await LogreplayProcess.run(
        "at", folder.store, "\(sequence)", "--table", "order", "-o", "jsonl")
      #expect(outcome.code == 0, "\(outcome)")
      #expect(try Self.shown(outcome.lines) == known[sequence], "at \(sequence)")
    }
    for (first, last) in [(0, 60), (7, 31), (31, 7), (59, 60), (12, 12)] {
      let outcome = try await LogreplayProcess.run(
        "diff", folder.store, "\(first)..\(last)", "--table", "order", "-o", "jsonl")
      let (old, new) = (known[first], known[last])
      var expected: [String: String] = [:]
      for (id, row) in new where old[id] != row {
        expected[id] = old[id] == nil ? "insert" : old[id]?["fields"] == row["fields"] ? "revision" : "update"
      }
      for id in old.keys where new[id] == nil { expected[id] = "delete" }
      var found: [String: String] = [:]
      for line in outcome.lines {
        let change = try DocumentValue(json: line)
        guard case .string(let id)? = change["id"], case .string(let op)? = change["op"] else { continue }
        // A row that went and came back moves to the end.
        found[id] = op == "move" ? "update" : op
      }
      #expect(found == expected, "\(first)..\(last)")
    }
    let first = known.firstIndex { $0.values.contains { $0["fields"]?["n"] == 4 } } ?? 0
    let store = try await EventStore.open(at: folder.store, .readOnly)
    let append = try #require(try store.appendBlocking(holding: UInt64(first)))
    try await store.close()
    let bisected = try await LogreplayProcess.run(
      "bisect", folder.store, "--table", "order", "--where", "n == 4", "-o", "json")
    #expect(bisected.code == 0, "\(bisected)")
    #expect(try DocumentValue(json: bisected.output)["first"] == .int(Int64(append.sequences.upperBound)))
  }

  @Test func `count needs the history, and has the rows of the library at each step`() async throws {
    let folder = try await Self.sample(history: true)
    let counted = try await LogreplayProcess.run(
      "count", folder.store, "--table", "order", "--by", "status", "--sum", "n", "--every", "1h", "-v", "-o",
      "json", "--utc")
    #expect(counted.code == 0 && counted.errors.contains("read from what the projection saved"), "\(counted)")
    guard case .array(let steps)? = try DocumentValue(json: counted.output)["steps"], steps.count > 10 else {
      return #expect(Bool(false), "\(counted)")
    }
    for step in steps {
      guard case .int(let sequence)? = step["sequence"], case .array(let groups)? = step["groups"] else {
        return #expect(Bool(false), "\(step)")
      }
      let rows = try await Self.rows(folder, "order", at: UInt64(sequence)).values.compactMap { $0["fields"] }
      var wanted: [String: [Int64]] = [:]
      for row in rows {
        guard case .string(let status)? = row["status"], case .int(let n)? = row["n"] else { continue }
        wanted[status, default: []].append(n)
      }
      #expect(groups.count == wanted.count)
      for group in groups {
        guard case .array(let key)? = group["group"], case .string(let status)? = key.first else { continue }
        let numbers = wanted[status] ?? []
        #expect(group["count"] == .int(Int64(numbers.count)) && group["sum"] == .int(numbers.reduce(0, +)))
      }
    }
    let without = try await Self.sample(history: false)
    let refused = try await LogreplayProcess.run(
      "count", without.store, "..40", "--table", "order", "--every", "1h")
    #expect(refused.code == 66 && refused.errors.contains("set `history`"), "\(refused)")
  }

  @Test func `follow shows what the program saves, as it comes`() async throws {
    let folder = try await Self.sample(history: false)
    let process = try LogreplayProcess([
      "follow", folder.store, "--table", "order", "-o", "jsonl", "--count", "1", "--timeout", "1h",
    ])
    let first = try #require(await process.readLines(1).first)
    #expect(first.hasPrefix(#"{"schema":1,"table":"order","sequence":60,"#))
    let store = try await EventStore.open(at: folder.store)
    try await store.append([NewEvent("placed", in: "cart/new", ["n": 3])])
    #expect(try await store.table(OrderBoard.orders, of: OrderBoard()).all().contains { $0.id == "new" })
    try await store.checkpoint()
    let outcome = try await process.wait()
    #expect(outcome.code == 0, "\(outcome)")
    let diff = try DocumentValue(json: try #require(outcome.lines.first))
    #expect(diff["from"]?["sequence"] == 60 && diff["to"]?["sequence"] == 61)
    guard case .array(let changes)? = diff["changes"] else { return #expect(Bool(false), "\(diff)") }
    #expect(changes.filter { $0["id"] != nil }.compactMap { $0["op"] } == ["insert"], "\(diff)")
    #expect(changes.first?["id"] == "new")
    try await store.close()
  }

  @Test func `documents come first, and --saved-by chooses a projection`() async throws {
    let folder = try SampleFolder()
    let store = try await EventStore.open(at: folder.store)
    try await store.append([NewEvent("placed", in: "cart/a", ["n": 1])])
    _ = try await store.table(OrderBoard.orders, of: OrderBoard()).all()
    _ = try await store.table(OrderBoard.orders, of: OtherBoard()).all()
    try await store.checkpoint()
    let two = try await LogreplayProcess.run("at", folder.store, "--table", "order")
    #expect(two.code == 64 && two.errors.contains("--saved-by: Order Board, other"), "\(two)")
    let other = try await LogreplayProcess.run(
      "at", folder.store, "--table", "order", "--saved-by", "other", "--fields", "status,n")
    #expect(other.output == "order  1\n  all  status=seen n=1\n" && other.code == 0, "\(other)")
    try await store.append([NewEvent("$put", in: "order/document", ["n": 7])])
    try await store.close()
    let documents = try await LogreplayProcess.run("at", folder.store, "--table", "order", "-o", "jsonl")
    #expect(documents.lines.count == 1 && documents.output.contains(#""id":"document""#), "\(documents)")
    let saved = try await LogreplayProcess.run(
      "at", folder.store, "1", "--table", "order", "--saved-by", "Order Board", "-o", "jsonl")
    #expect(saved.output.contains(#""id":"a""#), "\(saved)")
  }

  @Test func `the store of a counterexample has the tables that its projection made`() async throws {
    let folder = try SampleFolder()
    let found = try #require(
      await #expect(throws: Counterexample.self) {
        try await check(
          projection: OnceBoard(), tables: OrderBoard.orders,
          events: .histories(of: OrderEvent.self, in: ["cart/a", "cart/b"]),
          Budget(cases: 100, size: 20, duration: .seconds(3_600)), seed: 1, failures: folder.path,
          name: "once")
      })
    let path = folder.file("once.strata")
    #expect(found.notes.contains { $0.hasSuffix("logreplay at \(path) 2") }, "\(found.notes)")
    let first = try await LogreplayProcess.run("at", path, "1", "-o", "jsonl")
    #expect(first.lines.count == 1 && first.output.contains(#""status":"taken""#), "\(first)")
    // The second event is the one that the projection refuses.
    let changes = try await LogreplayProcess.run("diff", path, "1..2", "--table", "order", "-o", "json")
    #expect(changes.code == 0 && changes.output.contains(#""changes":[]"#), "\(changes)")
  }
}
