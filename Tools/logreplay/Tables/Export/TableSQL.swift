// A table as SQL text: its definition, and statements that put and delete rows.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataTables

/// Writes statements for the columns of a table, in the SQL of SQLite.
///
/// The id is the primary key. A column has a type where all its values have that type, so that SQLite converts none of
/// them. Rows are gathered to statements of many rows, and `flush` writes what is gathered.
struct TableSQL {
  /// The most columns of a table of SQLite, unless it was built otherwise.
  static let columnCountMax = 2000
  /// The bytes and the rows after which a statement ends.
  private static let statementSize = 128 << 10
  private static let statementRowsMax = 400

  let columns: ExportColumns
  /// The name of the table in SQL.
  let name: String
  let isLossy: Bool
  /// The rows with a value that was replaced by NULL.
  private(set) var inexactCount: UInt64 = 0
  private let verb: String
  private var rows: [UInt8] = []
  private var rowCount = 0
  private var ids: [UInt8] = []
  private var idCount = 0
  private var scratch: [UInt8] = []

  /// - Parameter replaces: whether a row that is there is replaced by one with its id. Otherwise that is an error.
  init(_ columns: ExportColumns, name: String, replaces: Bool, isLossy: Bool) throws(CommandFailure) {
    (self.columns, self.name, self.isLossy) = (columns, name, isLossy)
    verb = replaces ? "INSERT OR REPLACE" : "INSERT"
    try Self.check(name: name)
  }

  // MARK: Names

  /// Throws if a name cannot be that of a table.
  static func check(name: String) throws(CommandFailure) {
    let lower = name.asciiLowercased
    let why: String? =
      name.isEmpty
      ? "is empty"
      : name.utf8.contains(0)
        ? "contains NUL"
        : SQLText.losesBytes(name: name)
          ? "has a carriage return before a line feed, which sqlite3 drops"
          : lower.hasPrefix("sqlite_")
            ? "begins with sqlite_, which SQLite keeps for itself"
            : lower.hasPrefix(SQLiteMark.table)
              ? "begins with \(SQLiteMark.table), as that in which exports are noted" : nil
    guard let why else { return }
    throw CommandFailure(
      ExitStatus.usage, "the name \(String(reflecting: name)) cannot be that of a table: it \(why)",
      next: "give the table another name with --as")
  }

  /// Throws if the columns cannot be those of a table: SQLite has a limit for their number, does not tell upper from
  /// lower case in ASCII, and has no NUL in names; its program drops a carriage return before a line feed.
  func checkColumns() throws(CommandFailure) {
    let next = "choose fields with --fields, or export JSON lines"
    guard columns.names.count <= Self.columnCountMax else {
      throw CommandFailure(
        ExitStatus.corrupt,
        "the table has \(columns.names.count) columns, and SQLite takes \(Self.columnCountMax)",
        at: columns.table,
        next: next)
    }
    var known: [[UInt8]: String] = [:]
    for name in columns.names {
      guard !name.utf8.contains(0) else {
        throw CommandFailure(
          ExitStatus.corrupt,
          "the field \(String(reflecting: name)) contains NUL, which no column's name has",
          at: columns.table, next: next)
      }
      guard !SQLText.losesBytes(name: name) else {
        throw CommandFailure(
          ExitStatus.corrupt,
          "the field \(String(reflecting: name)) has a carriage return before a line feed, and the program sqlite3 "
            + "would drop it",
          at: columns.table, next: next)
      }
      if let other = known.updateValue(name, forKey: Array(name.asciiLowercased.utf8)) {
        throw CommandFailure(
          ExitStatus.corrupt,
          "the fields \(String(reflecting: other)) and \(String(reflecting: name)) are one column to SQLite",
          at: columns.table, next: next)
      }
    }
  }

  /// The type that each column is declared with; empty for none.
  var types: [String] { columns.kinds.map(\.declaredType) }

  // MARK: Definition

  /// `CREATE TABLE`, with the given types.
  func definition(_ types: [String], of name: String? = nil) -> String {
    var text = "CREATE TABLE \(SQLText.name(name ?? self.name))("
    for (index, column) in columns.names.enumerated() {
      text += (index > 0 ? ",\n  " : "\n  ") + SQLText.name(column)
      if !types[index].isEmpty { text += " " + types[index] }
      if index == columns.idColumn { text += " NOT NULL PRIMARY KEY" }
    }
    return text + ");\n"
  }

  /// Statements that give a table the columns that it lacks, and take the types from those that now have other values.
  ///
  /// - Parameters:
  ///   - old: the types of the first columns, with which the table was defined.
  ///   - new: what `types` of all columns were decided to be.
  func redefinition(from old: [String], to new: [String]) -> String {
    guard !zip(old, new).contains(where: { $0.0 != $0.1 }) else {
      // The rows are copied, since SQLite changes no type of a column.
      let copy = SQLiteMark.table + "_copy"
      let list = columns.names[..<old.count].map { SQLText.name($0) }.joined(separator: ",")
      return definition(new, of: copy)
        + "INSERT INTO \(copy)(\(list)) SELECT \(list) FROM \(SQLText.name(name));\n"
        + "DROP TABLE \(SQLText.name(name));\nALTER TABLE \(copy) RENAME TO \(SQLText.name(name));\n"
    }
    return columns.names.indices.dropFirst(old.count).map { index in
      let type = new[index].isEmpty ? "" : " " + new[index]
      return "ALTER TABLE \(SQLText.name(name)) ADD COLUMN \(SQLText.name(columns.names[index]))\(type);\n"
    }.joined()
  }

  // MARK: Rows

  /// The values of a row in parentheses.
  ///
  /// - Parameter counts: whether this is a row to be written. Otherwise nothing is refused or counted.
  mutating func values(
    of row: RowView, section: DocumentValue, counts: Bool = true
  ) throws(CommandFailure) -> [UInt8] {
    try columns.read(row, section: section)
    var values: [UInt8] = [UInt8(ascii: "(")]
    var isInexact = false
    for (index, cell) in columns.cells.enumerated() {
      if index > 0 { values.append(UInt8(ascii: ",")) }
      guard !SQLText.append(cell, scratch: &scratch, to: &values) else { continue }
      guard isLossy || !counts else {
        throw ExportProblem.inexact(
          "NaN", row, of: columns.table, field: columns.names[index], format: "SQLite", instead: "NULL")
      }
      isInexact = true
      values += "NULL".utf8
    }
    values.append(UInt8(ascii: ")"))
    if isInexact, counts { inexactCount += 1 }
    return values
  }

  /// Adds a row with these values.
  mutating func put(_ values: [UInt8], to bytes: inout [UInt8]) {
    rows += (rowCount == 0 ? "\(verb) INTO \(SQLText.name(name)) VALUES\n" : ",\n").utf8
    rows += values
    rowCount += 1
    if rows.count > Self.statementSize || rowCount == Self.statementRowsMax { flush(to: &bytes) }
  }

  /// The id of the row that was read last, as SQL has it.
  mutating func lastID() -> [UInt8] {
    var id: [UInt8] = []
    _ = SQLText.append(columns.cells[columns.idColumn], scratch: &scratch, to: &id)
    return id
  }

  /// Deletes the row with an id.
  mutating func delete(id: [UInt8], to bytes: inout [UInt8]) {
    if idCount > 0 { ids += ",\n".utf8 }
    ids += id
    idCount += 1
    if ids.count > Self.statementSize || idCount == Self.statementRowsMax { flushDeletes(to: &bytes) }
  }

  /// Writes what is gathered. A row may have got an id of another type, so that what it was is deleted first.
  mutating func flush(to bytes: inout [UInt8]) {
    flushDeletes(to: &bytes)
    guard rowCount > 0 else { return }
    bytes += rows
    bytes += ";\n".utf8
    rows.removeAll(keepingCapacity: true)
    rowCount = 0
  }

  private mutating func flushDeletes(to bytes: inout [UInt8]) {
    guard idCount > 0 else { return }
    bytes +=
      "DELETE FROM \(SQLText.name(name)) WHERE \(SQLText.name(columns.names[columns.idColumn])) IN (".utf8
    bytes += ids
    bytes += ");\n".utf8
    ids.removeAll(keepingCapacity: true)
    idCount = 0
  }
}

extension String {
  /// With the letters of ASCII in lower case, as SQLite compares names.
  fileprivate var asciiLowercased: String {
    String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}
