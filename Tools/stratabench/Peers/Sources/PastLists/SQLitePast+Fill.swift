// How the database of a shape is written.

internal import GRDB

extension SQLitePast {
  /// Writes the versions of all rows, ten thousand in a transaction, and then the indexes, which is faster than keeping
  /// them meanwhile.
  static func fill(_ shape: PastShape, in folder: String) async throws {
    let database = try DatabaseQueue(path: path(in: folder))
    try await database.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
    }
    try await database.write {
      try $0.execute(
        sql: """
          CREATE TABLE version (
            began INTEGER PRIMARY KEY, ended INTEGER NOT NULL, id INTEGER NOT NULL, product TEXT NOT NULL,
            time INTEGER NOT NULL, note INTEGER NOT NULL, text TEXT NOT NULL)
          """)
    }
    try await append(shape, to: database)
    try await database.writeWithoutTransaction {
      try $0.execute(
        sql: """
          CREATE INDEX versionInOrder ON version (product, time DESC, id, began, ended);
          CREATE INDEX versionOfRow ON version (id, began, ended);
          CREATE INDEX versionByEnd ON version (ended, id);
          ANALYZE;
          PRAGMA wal_checkpoint(TRUNCATE);
          PRAGMA journal_mode = DELETE;
          """)
    }
    try database.close()
  }

  private static func append(_ shape: PastShape, to database: DatabaseQueue) async throws {
    let progress = PastProgress("written", of: shape.eventCount)
    /// The newest version of each row that was made.
    var newest: [Int] = []
    var changes = PastChanges(shape)
    for start in stride(from: 1, through: shape.eventCount, by: 10_000) {
      (newest, changes) = try await database.write { [newest, changes] database in
        var (newest, changes) = (newest, changes)
        let insert = try database.cachedStatement(sql: "INSERT INTO version VALUES (?, ?, ?, ?, ?, ?, ?)")
        let end = try database.cachedStatement(sql: "UPDATE version SET ended = ? WHERE began = ?")
        for event in start..<start + 10_000 {
          guard let change = changes.next() else { break }
          let row = PastRow(number: change.number, change.version)
          if change.number < newest.count {
            try end.execute(arguments: [event, newest[change.number]])
            newest[change.number] = event
          } else {
            newest.append(event)
          }
          try insert.execute(arguments: [event, open, row.id, row.product, row.time, row.note, row.text])
        }
        return (newest, changes)
      }
      progress.reached(min(start + 9_999, shape.eventCount))
    }
  }
}
