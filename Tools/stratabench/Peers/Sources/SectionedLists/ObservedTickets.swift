// The list with GRDB: an observation that fetches it again after every change.

internal import GRDB

extension Ticket: FetchableRecord {
  init(row: Row) {
    self.init(id: row[0], product: row[1], time: row[2], title: row[3], isOpen: row[4])
  }
}

/// Ids in list order, and the start of each section.
struct SectionedIDs: Sendable {
  private(set) var ids: [Int] = []
  private(set) var sections: [(product: String, start: Int)] = []

  mutating func append(_ id: Int, in product: String) {
    if sections.last?.product != product { sections.append((product, ids.count)) }
    ids.append(id)
  }

  /// The first id of a section.
  func first(in product: String) -> Int? {
    sections.first { $0.product == product }.map { ids[$0.start] }
  }
}

struct ObservedTickets {
  /// Which columns are fetched of each row.
  enum Columns { case rows, ids }

  private struct List: Sendable {
    var shown = SectionedIDs()
    /// Empty if only ids are fetched.
    var rows: [Ticket] = []
  }

  private let writer: any DatabaseWriter
  private var values: AsyncValueObservation<List>.Iterator
  private var shown: SectionedIDs

  static func version() throws -> String {
    try DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT sqlite_version()") ?? "?" }
  }

  init(_ rows: [Ticket], _ path: String?, _ columns: Columns) async throws {
    if let path {
      writer = try DatabasePool(path: path)
      // After the pool was opened, because that sets it to NORMAL, with which no transaction is synced.
      try await writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    } else {
      writer = try DatabaseQueue()
    }
    try await writer.write { db in
      try db.execute(
        sql: """
          CREATE TABLE ticket (
            id INTEGER PRIMARY KEY, product TEXT NOT NULL, time INTEGER NOT NULL, title TEXT NOT NULL,
            isOpen INTEGER NOT NULL);
          CREATE INDEX ticketInOrder ON ticket (product, time DESC, id);
          """)
      let insert = try db.cachedStatement(sql: "INSERT INTO ticket VALUES (?, ?, ?, ?, ?)")
      for row in rows {
        try insert.execute(arguments: [row.id, row.product, row.time, row.title, row.isOpen])
      }
      try db.execute(sql: "ANALYZE")
    }
    let observation = ValueObservation.trackingConstantRegion { db in
      try columns == .rows ? Self.fetchRows(db) : Self.fetchIDs(db)
    }
    values = observation.values(in: writer).makeAsyncIterator()
    shown = try await values.next()?.shown ?? SectionedIDs()
    precondition(shown.ids.count == rows.count)
  }

  private static func fetchRows(_ db: Database) throws -> List {
    var list = List()
    list.rows = try Ticket.fetchAll(
      db.cachedStatement(
        sql: "SELECT id, product, time, title, isOpen FROM ticket ORDER BY product, time DESC, id"))
    for row in list.rows { list.shown.append(row.id, in: row.product) }
    return list
  }

  private static func fetchIDs(_ db: Database) throws -> List {
    var list = List()
    let rows = try Row.fetchCursor(
      db.cachedStatement(sql: "SELECT id, product FROM ticket ORDER BY product, time DESC, id"))
    while let row = try rows.next() { list.shown.append(row[0], in: row[1]) }
    return list
  }

  mutating func change(_ row: Ticket) async throws -> Step {
    let old = shown.ids
    return try await .measured {
      try await writer.write { db in
        try db.cachedStatement(sql: "UPDATE ticket SET product = ?, time = ? WHERE id = ?")
          .execute(arguments: [row.product, row.time, row.id])
      }
    } list: {
      // If SQLite is built without snapshots, an observation may deliver its first list twice.
      repeat { shown = try await values.next()?.shown ?? shown } while shown.first(in: row.product) != row.id
    } difference: {
      precondition(shown.ids.difference(from: old).count <= 2)
    }
  }
}
