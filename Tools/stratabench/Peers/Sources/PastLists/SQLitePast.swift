// The past with SQLite through GRDB: a table of all versions of all rows, with a covering index for the list.

internal import Foundation
internal import GRDB

struct SQLitePast: PastLibrary {
  static let name = "SQLite"

  static func path(in folder: String) -> String { "\(folder)/sqlite.db" }

  /// The end of a version that is the newest one of its row.
  static let open = Int.max
  /// The rows at a point, given twice.
  private static let exists = "began <= ? AND ended > ?"
  private static let order = "product, time DESC, id"

  private let database: DatabaseQueue

  init(_ folder: String) async throws {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.prepareDatabase { database in
      // As many bytes as Strata keeps in memory: its pages, and those of runs.
      try database.execute(sql: "PRAGMA cache_size = -\(80 << 10)")
    }
    database = try DatabaseQueue(path: Self.path(in: folder), configuration: configuration)
  }

  func ids(_ offsets: Range<Int>, at point: Int) async throws -> [Int] {
    try await numbers(
      """
      SELECT id FROM version INDEXED BY versionInOrder WHERE \(Self.exists)
      ORDER BY \(Self.order) LIMIT ? OFFSET ?
      """, [point, point, offsets.count, offsets.lowerBound])
  }

  func firstRows(_ count: Int, at point: Int) async throws -> [PastRow] {
    try await database.read { database in
      try Self.rows(
        database,
        """
        SELECT id, product, time, note, text FROM version INDEXED BY versionInOrder WHERE \(Self.exists)
        ORDER BY \(Self.order) LIMIT ?
        """, [point, point, count])
    }
  }

  func counts(at point: Int) async throws -> [Int] {
    try await numbers(
      """
      SELECT count(*) FROM version INDEXED BY versionInOrder WHERE \(Self.exists)
      GROUP BY product ORDER BY product
      """, [point, point])
  }

  func rank(of id: Int, at point: Int) async throws -> Int? {
    try await numbers(
      """
      SELECT count(*) FROM version v INDEXED BY versionInOrder,
        (SELECT product, time, id FROM version WHERE id = ? AND \(Self.exists)) item
      WHERE v.began <= ? AND v.ended > ? AND v.product <= item.product
        AND (v.product < item.product OR v.time > item.time OR (v.time = item.time AND v.id < item.id))
      """, [id, point, point, point, point]
    ).first
  }

  func changedIDs(from start: Int, to end: Int) async throws -> [Int] {
    try await changes(from: start, to: end)
  }

  func changes(from start: Int, to end: Int) async throws -> [Int] {
    try await numbers(
      """
      SELECT id FROM version WHERE began > ? AND began <= ?
      UNION SELECT id FROM version WHERE ended > ? AND ended <= ? ORDER BY id
      """, [start, end, start, end])
  }

  func changedRows(from start: Int, to end: Int) async throws -> [Int] {
    let ids = try await changes(from: start, to: end)
    return try await database.read { database in
      let statement = try database.cachedStatement(
        sql: "SELECT id, product, time, note, text FROM version WHERE id = ? AND \(Self.exists)")
      func row(_ id: Int, _ point: Int) throws -> PastRow? {
        try Row.fetchOne(statement, arguments: [id, point, point]).map(Self.row)
      }
      return try ids.flatMap { id in [id, Self.differences(try row(id, start), try row(id, end))] }
    }
  }

  func firstIDsOfAnotherList(_ count: Int, at point: Int) async throws -> [Int] {
    try await numbers(
      "SELECT id FROM version NOT INDEXED WHERE \(Self.exists) ORDER BY note, id LIMIT ?",
      [point, point, count])
  }

  func scrub(through points: [Int], window: Int) async throws -> (times: [Double], ids: [Int]) {
    var (times, ids): ([Double], [Int]) = ([], [])
    for point in points {
      let start = ContinuousClock.now
      ids = try await firstRows(window, at: point).map(\.id)
      times.append(start.secondsSince)
    }
    return (times, ids)
  }

  func close() async throws { try database.close() }

  // MARK: Statements

  private func numbers(_ sql: String, _ arguments: [Int]) async throws -> [Int] {
    try await database.read {
      try Int.fetchAll($0.cachedStatement(sql: sql), arguments: StatementArguments(arguments))
    }
  }

  private static func rows(_ database: Database, _ sql: String, _ arguments: [Int]) throws -> [PastRow] {
    try Row.fetchAll(database.cachedStatement(sql: sql), arguments: StatementArguments(arguments)).map(row)
  }

  private static func row(_ row: Row) -> PastRow {
    PastRow(id: row[0], product: row[1], time: row[2], note: row[3], text: row[4])
  }
}
