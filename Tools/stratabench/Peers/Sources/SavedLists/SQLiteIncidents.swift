// The list with SQLite, through GRDB: a table, and an index in the order of the list.
//
// The database has a write-ahead log and `synchronous = FULL`, since Strata's appends are synced too. The index covers
// the numbers of rows of the sections: SQLite counts them by walking through it. Statements are prepared once.

internal import GRDB

extension Incident: FetchableRecord {
  init(row: Row) { self.init(id: row[0], product: row[1], time: row[2], note: row[3], text: row[4]) }
}

struct SQLiteIncidents: SavedIncidents {
  static let library = "SQLite"

  private let database: DatabasePool

  init(_ path: String, access: SavedAccess) async throws {
    var configuration = Configuration()
    configuration.readonly = access == .read
    configuration.prepareDatabase { database in
      try database.execute(sql: "PRAGMA cache_size = -\(pageCacheSize >> 10)")
    }
    database = try DatabasePool(path: path, configuration: configuration)
    guard access == .write else { return }
    // After the pool was opened, because that sets it to NORMAL.
    try await database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    try await database.write {
      try $0.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS incident (
            id INTEGER PRIMARY KEY, product TEXT NOT NULL, time INTEGER NOT NULL, note INTEGER NOT NULL,
            text TEXT NOT NULL)
          """)
    }
  }

  func put(_ rows: [Incident]) async throws {
    try await database.write { database in
      let statement = try database.cachedStatement(
        sql: """
          INSERT INTO incident VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
            product = excluded.product, time = excluded.time, note = excluded.note, text = excluded.text
          """)
      for row in rows {
        try statement.execute(arguments: [row.id, row.product, row.time, row.note, row.text])
      }
    }
  }

  func keepList() async throws {
    try await database.write {
      try $0.execute(
        sql: "CREATE INDEX IF NOT EXISTS incidentInOrder ON incident (product, time DESC, id); ANALYZE")
    }
    _ = try await database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
  }

  func firstPage() async throws -> [Incident] { try await database.read { try Self.firstPage($0) } }

  private static func firstPage(_ database: Database) throws -> [Incident] {
    try Incident.fetchAll(
      database.cachedStatement(
        sql: """
          SELECT id, product, time, note, text FROM incident
          WHERE product = (SELECT min(product) FROM incident) ORDER BY product, time DESC, id LIMIT \(pageLength)
          """))
  }

  func sectionCounts() async throws -> [Int] {
    try await database.read {
      try Int.fetchAll(
        $0.cachedStatement(sql: "SELECT count(*) FROM incident GROUP BY product ORDER BY product"))
    }
  }

  func read(_ ids: [Int]) async throws -> Int {
    try await database.read { database in
      let statement = try database.cachedStatement(
        sql: "SELECT id, product, time, note, text FROM incident WHERE id = ?")
      return try ids.count { try Incident.fetchOne(statement, arguments: [$0]) != nil }
    }
  }

  func changeAndShow(_ row: Incident) async throws -> [Incident] {
    try await put([row])
    return try await firstPage()
  }

  func close() async throws { try database.close() }
}
