// Events in a database of GRDB: the same table and index as those of the program that calls SQLite itself.

internal import Foundation
internal import GRDB

/// A pool with a write-ahead log. Each batch is a transaction, each read one of its own.
struct EventDatabase: Sendable {
  private let pool: DatabasePool

  /// - Parameter isSynced: whether each transaction is on disk when it is committed, which GRDB does not do unless told.
  init(path: String, isSynced: Bool, isIndexed: Bool) throws {
    var configuration = Configuration()
    configuration.prepareDatabase { db in try db.execute(sql: "PRAGMA cache_size = -65536") }
    pool = try DatabasePool(path: path, configuration: configuration)
    // After the pool was opened, because that sets it to NORMAL.
    if isSynced { try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") } }
    try pool.write { db in
      try db.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS event (
            sequence INTEGER PRIMARY KEY, stream TEXT NOT NULL, payload BLOB NOT NULL)
          """)
      if isIndexed { try db.execute(sql: "CREATE INDEX IF NOT EXISTS eventsOfStream ON event (stream)") }
    }
  }

  /// The version of SQLite that it is built with.
  static func sqliteVersion() throws -> String {
    try DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") ?? "?" }
  }

  struct Row: Sendable {
    var stream: String
    var payload: Data
  }

  func append(_ rows: ArraySlice<Row>, first: Int) async throws {
    try await pool.write { db in try Self.insert(rows, first: first, db) }
  }

  private static func insert(_ rows: ArraySlice<Row>, first: Int, _ db: Database) throws {
    let insert = try db.cachedStatement(sql: "INSERT INTO event VALUES (?, ?, ?)")
    for (offset, row) in rows.enumerated() {
      try insert.execute(arguments: [first + offset, row.stream, row.payload])
    }
  }

  func read(_ sequence: Int) throws -> (count: Int, sum: UInt64) {
    try sum("SELECT payload FROM event WHERE sequence = ?", [sequence])
  }

  func readStream(_ stream: String) throws -> (count: Int, sum: UInt64) {
    try sum("SELECT payload FROM event WHERE stream = ? ORDER BY sequence", [stream])
  }

  func scan() throws -> (count: Int, sum: UInt64) {
    try sum("SELECT payload FROM event ORDER BY sequence", [])
  }

  private func sum(_ sql: String, _ arguments: StatementArguments) throws -> (count: Int, sum: UInt64) {
    try pool.read { db in
      var found = (count: 0, sum: UInt64(0))
      let rows = try GRDB.Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
      while let row = try rows.next() {
        found.count += 1
        found.sum &+= try row.withUnsafeData(atIndex: 0) { $0?.withUnsafeBytes(eventSum) ?? 0 }
      }
      return found
    }
  }

  func close() throws {
    try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try pool.close()
  }
}
