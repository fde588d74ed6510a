// A table of a SQLite database: its columns, and the query that gives its rows with their types.

internal import LogreplayShell

/// What is known of a table before its rows are read.
struct ImportSQLiteTable {
  let path: String
  let name: String
  let keys: ImportColumnKeys
  let encoding: ImportSQLiteText.Encoding

  init(_ path: String, table: String) throws(CommandFailure) {
    self.path = path
    name = table
    let text = SQLText.literal(table)
    let lines = try ImportSQLiteProgram.lines(
      path,
      "SELECT encoding FROM pragma_encoding; "
        + "SELECT hex(name) FROM pragma_table_xinfo(\(text)) WHERE hidden <> 1 ORDER BY cid")
    encoding = ImportSQLiteText.Encoding(rawValue: lines.first ?? "") ?? .utf8
    var names: [String] = []
    for line in lines.dropFirst() {
      guard let name = encoding.text(hex: line.utf8) else {
        throw CommandFailure(
          ExitStatus.corrupt, "a column's name is not text", at: path,
          next: "rename it: ALTER TABLE … RENAME COLUMN …")
      }
      names.append(name)
    }
    keys = ImportColumnKeys(names)
    guard !names.isEmpty else { throw try Self.missing(path, table, encoding) }
  }

  private static func missing(
    _ path: String, _ table: String, _ encoding: ImportSQLiteText.Encoding
  ) throws(CommandFailure) -> CommandFailure {
    let lines = try ImportSQLiteProgram.lines(
      path,
      "SELECT hex(name) FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite~_%' "
        + "ESCAPE '~' ORDER BY name")
    let names = lines.compactMap { encoding.text(hex: $0.utf8) }
    return CommandFailure(
      ExitStatus.notFound, "the database has no table \(String(reflecting: table))", at: path,
      next: names.isEmpty
        ? "it has none" : "name one with --from-table: there are \(names.joined(separator: ", "))")
  }

  /// Throws if a column that has to be there is not, or if it holds a value twice that would be two rows' id.
  func check(_ fields: ImportFieldRules) throws(CommandFailure) {
    var named = fields.mapping?.fields.map { ("--mapping", $0) } ?? [("--id", fields.id)]
    if let time = fields.time { named.append(("--time", time)) }
    for field in fields.metadata.fields { named.append(("--meta", field)) }
    for (option, field) in named where keys.position(of: field) == nil {
      throw CommandFailure(
        ExitStatus.notFound,
        "the table \(String(reflecting: name)) has no column \(String(reflecting: field.text))", at: option,
        next: "there are \(keys.listed)")
    }
    guard fields.mapping?.identity ?? .rows == .rows, let id = keys.position(of: fields.id) else { return }
    let column = SQLText.name(keys.names[id])
    let twice = try ImportSQLiteProgram.lines(
      path,
      "SELECT count(*) || ' ' || quote(min(\(column))) FROM \(SQLText.name(name)) WHERE \(column) IS NOT NULL "
        + "GROUP BY CAST(\(column) AS TEXT) HAVING count(*) > 1 LIMIT 1")
    guard let first = twice.first, let space = first.firstIndex(of: " ") else { return }
    throw CommandFailure(
      ExitStatus.corrupt,
      "\(first[..<space]) rows of the table \(String(reflecting: name)) have the id "
        + "\(first[first.index(after: space)...])",
      at: path, next: "name with --id a column whose values are all different")
  }

  /// The rows, with the type of each value: `n`, `i` and digits, `r` and the bytes of a double, `t` or `b` and bytes.
  var query: String {
    let columns = keys.names.map { name in
      let column = SQLText.name(name)
      return
        "CASE typeof(\(column)) WHEN 'integer' THEN 'i' || \(column) WHEN 'text' THEN 't' || hex(\(column)) "
        + "WHEN 'null' THEN 'n' WHEN 'real' THEN 'r' || hex(ieee754_to_blob(\(column))) ELSE 'b' || hex(\(column)) END"
    }
    return "SELECT " + columns.joined(separator: ", ") + " FROM " + SQLText.name(name)
  }
}
