// Indexes beside SQLite: the same rows, asked the same questions.

import Foundation
import Strata
import StrataDocuments
import StrataEvents
import StrataSimulation
import Testing

@Suite(.enabled(if: importHasPython, "python3 is not installed: nothing independent to compare with"))
struct IndexOracleTests {
  /// A row whose fields have one type each, or are not there: of those, SQL and filters think alike.
  private struct Row: Codable, Identifiable, Sendable {
    var id: Int
    var product: String?
    var priority: Int?
    var cost: Double?
  }

  /// One question in both languages.
  private struct Question {
    var filter: String
    var sql: String
  }

  private static let indexes: [(name: String, fields: [String])] = [
    ("by product", ["product", "priority"]), ("by priority", ["priority"]), ("by cost", ["cost"]),
  ]

  private static func row(_ id: Int, _ random: inout SeededGenerator) -> Row {
    func isThere() -> Bool { Int.random(in: 0..<6, using: &random) > 0 }
    return Row(
      id: id, product: isThere() ? product(&random) : nil,
      priority: isThere() ? Int.random(in: -3...9, using: &random) : nil,
      cost: isThere() ? cost(&random) : nil)
  }

  private static func product(_ random: inout SeededGenerator) -> String {
    ["", "P", "PROD", "PROD\(Int.random(in: 0..<40, using: &random))", "prod1", "Prüd", "P%", "P_D\(0)"]
      .randomElement(using: &random)!
  }

  private static func cost(_ random: inout SeededGenerator) -> Double {
    [0, -0.5, 1e300, -1e300, 5e-324, Double(Int.random(in: 0..<80, using: &random)) / 8]
      .randomElement(using: &random)!
  }

  private static func part(_ random: inout SeededGenerator) -> Question {
    let comparator = ["==", "<", "<=", ">", ">="].randomElement(using: &random)!
    let sql = comparator == "==" ? "=" : comparator
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      let products = (0..<Int.random(in: 1...4, using: &random)).map { _ in "'\(product(&random))'" }
      let list = products.joined(separator: ", ")
      return Question(filter: "product in {\(list)}", sql: "product IN (\(list))")
    case 1:
      let begin = String(product(&random).prefix(Int.random(in: 1...5, using: &random)))
      return Question(
        filter: "product beginsWith '\(begin)'", sql: "substr(product, 1, \(begin.count)) = '\(begin)'")
    case 2:
      let value = product(&random)
      return Question(filter: "product \(comparator) '\(value)'", sql: "product \(sql) '\(value)'")
    case 3, 4:
      let value = Int.random(in: -4...10, using: &random)
      return Question(filter: "priority \(comparator) \(value)", sql: "priority \(sql) \(value)")
    default:
      let value = cost(&random)
      return Question(filter: "cost \(comparator) \(value)", sql: "cost \(sql) \(value)")
    }
  }

  private static func question(_ random: inout SeededGenerator) -> Question {
    var question = part(&random)
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      let next = part(&random)
      question.filter += " && \(next.filter)"
      question.sql += " AND \(next.sql)"
    }
    if Int.random(in: 0..<8, using: &random) == 0 {
      let next = part(&random)
      question = Question(
        filter: "(\(question.filter)) || \(next.filter)", sql: "(\(question.sql)) OR \(next.sql)")
    }
    return question
  }

  /// The ids that SQLite finds for each question, from rows and conditions in a file of JSON.
  private static let program = """
    import json, sqlite3, sys
    given = json.load(open(sys.argv[1]))
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, product TEXT, priority INTEGER, cost REAL)")
    db.executemany("INSERT INTO t VALUES (?, ?, ?, ?)",
                   [[row.get(name) for name in ("id", "product", "priority", "cost")] for row in given["rows"]])
    print(json.dumps([[id for id, in db.execute("SELECT id FROM t WHERE " + condition + " ORDER BY id")]
                      for condition in given["conditions"]]))
    """

  private struct Given: Encodable {
    var rows: [Row]
    var conditions: [String]
  }

  @Test func `a thousand questions have the answers of SQLite`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let folder = try ImportFolder()
    let store = EventStore.inMemory()
    let rows = store.collection("row", of: Row.self)
    var known: [Int: Row] = [:]
    func change(_ count: Int) async throws {
      for _ in 0..<count {
        let id = Int.random(in: 0..<600, using: &random)
        if Int.random(in: 0..<8, using: &random) == 0 {
          known[id] = nil
          try await rows.delete(id)
        } else {
          known[id] = Self.row(id, &random)
          try await rows.put(known[id]!)
        }
      }
    }
    try await change(500)
    for index in Self.indexes {
      try await rows.index(index.name, on: try index.fields.map { try FieldPath($0) }).ready()
    }
    // Rows that come after the indexes, too.
    try await change(500)
    let questions = (0..<1_000).map { _ in Self.question(&random) }
    let file = folder.file("given.json")
    try JSONEncoder().encode(Given(rows: Array(known.values), conditions: questions.map(\.sql)))
      .write(to: URL(fileURLWithPath: file))
    let answers = try JSONDecoder().decode(
      [[Int]].self, from: Data(importPython(Self.program, file).utf8))
    try #require(answers.count == questions.count)
    var (usedCount, foundCount) = (0, 0)
    for (question, expected) in zip(questions, answers) {
      let filter = try RowFilter(parsing: question.filter)
      let found = try await rows.all(where: filter).map(\.id).sorted()
      #expect(found == expected, "\(question.filter)")
      #expect(try await rows.count(where: filter) == expected.count, "\(question.filter)")
      if try await rows.explain(where: filter).index != nil { usedCount += 1 }
      foundCount += found.count
    }
    #expect(usedCount > 500 && foundCount > 10_000, "\(usedCount) by an index, \(foundCount) rows")
    try await store.close()
  }

  /// Filters beside the SQL that reads like them and finds other rows, and the SQL that finds the same: the table of the
  /// page on questions.
  static let differences: [(filter: String, alike: String, same: String)] = [
    ("product != 'P%'", "product != 'P%'", "product IS NOT 'P%'"),
    ("!(priority < 4)", "NOT (priority < 4)", "(priority < 4) IS NOT TRUE"),
    ("product == null", "product = NULL", "product IS NULL"),
    ("priority in {5, null}", "priority IN (5, NULL)", "priority = 5 OR priority IS NULL"),
    ("product beginsWith 'P_D'", "product LIKE 'P_D%'", "substr(product, 1, 3) = 'P_D'"),
    ("product contains 'B'", "product LIKE '%B%'", "instr(product, 'B') > 0"),
    ("product beginsWith[c] 'ÜB'", "product LIKE 'ÜB%'", "product LIKE 'ÜB%' OR product LIKE 'üB%'"),
    ("priority == '5'", "priority = '5'", "priority = '5' AND typeof(priority) = 'text'"),
    ("priority < 'a'", "priority < 'a'", "priority < 'a' AND typeof(priority) = 'text'"),
    ("flag == 1", "flag = 1", "flag = 1 AND id <> 5"),
  ]

  @Test func `where a filter means something else than SQL that reads alike, the page says what is the same`()
    async throws
  {
    let rows: [DocumentValue] = [
      ["id": 1, "product": "ÜbeR", "priority": 5], ["id": 2, "product": "über", "priority": 3],
      ["id": 3], ["id": 4, "product": "P%", "priority": 7],
      ["id": 5, "product": "P_D0", "priority": 1, "flag": true],
      ["id": 6, "product": "PxD0B", "priority": 4, "flag": 1],
    ]
    let store = EventStore.inMemory()
    for row in rows {
      let id = (row["id"] ?? .null).json()
      try await store.append([NewEvent("$put", in: StreamName(category: "row", id: id), row)])
    }
    let folder = try ImportFolder()
    let file = folder.file("given.json")
    let conditions = Self.differences.flatMap { [$0.alike, $0.same] }
    let given: DocumentValue = ["rows": .array(rows), "conditions": .array(conditions.map { .string($0) })]
    try Data(given.json().utf8).write(to: URL(fileURLWithPath: file))
    let program = Self.program.replacingOccurrences(of: "cost REAL", with: "flag")
      .replacingOccurrences(of: "\"cost\"", with: "\"flag\"")
    let answers = try JSONDecoder().decode([[Int]].self, from: Data(importPython(program, file).utf8))
    try #require(answers.count == conditions.count)
    let page = try String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../../Sources/StrataFetch/StrataFetch.docc/Questions.md"), encoding: .utf8
    )
    for (number, difference) in Self.differences.enumerated() {
      let found = try await store.documents("row").all(where: try RowFilter(parsing: difference.filter))
        .compactMap { Int($0.id) }.sorted()
      #expect(found != answers[2 * number], "\(difference.filter) is no difference")
      #expect(found == answers[2 * number + 1], "\(difference.filter)")
      let line = "| `\(difference.filter)` | `\(difference.alike)` | `\(difference.same)` |"
      #expect(page.contains(line), "the page lacks \(line)")
    }
    try await store.close()
  }
}
