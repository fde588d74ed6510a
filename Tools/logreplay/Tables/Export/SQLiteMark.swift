// The note in a SQLite file of what was exported to it, so that the next export writes only what differs.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// One row of the table `strata_export`: a table of the file, and the state of a store that it has.
struct SQLiteMark {
  static let table = "strata_export"
  /// Raised if a file of before cannot be updated.
  static let format = 1

  /// The name of the table in the file.
  var name: String
  /// The store's id.
  var store: String
  /// The name of the table in the store.
  var source: String
  var sequence: UInt64
  var chain: String
  var time: String?
  /// What was exported of the table: the id field, the fields, the filters and the sections, as JSON.
  var query: String
  /// The columns with the types that they were defined with; empty for none.
  var columns: [(name: String, type: String)]
  var rowCount: UInt64
}

// MARK: As SQL

extension SQLiteMark {
  static let definition = """
    CREATE TABLE IF NOT EXISTS strata_export(
      name TEXT NOT NULL PRIMARY KEY, format INTEGER NOT NULL, store TEXT NOT NULL, source TEXT NOT NULL,
      sequence INTEGER NOT NULL, chain TEXT NOT NULL, time TEXT, query TEXT NOT NULL, columns TEXT NOT NULL,
      row_count INTEGER NOT NULL);

    """

  /// Puts the note into the table.
  var statement: String {
    let texts = [
      SQLText.literal(name), String(Self.format), SQLText.literal(store), SQLText.literal(source),
      String(sequence), SQLText.literal(chain), time.map { SQLText.literal($0) } ?? "NULL",
      SQLText.literal(query), SQLText.literal(columnsJSON), String(rowCount),
    ]
    return "INSERT OR REPLACE INTO strata_export VALUES(\(texts.joined(separator: ",")));\n"
  }

  private var columnsJSON: String {
    DocumentValue.array(columns.map { .array([.string($0.name), .string($0.type)]) }).json()
  }

  /// Statements that fail unless the file still is in the state that the note says, or has no note. To be run with what
  /// stops at an error.
  var guardStatements: String {
    """
    CREATE TEMP TABLE strata_guard(x CONSTRAINT strata_guard_state CHECK(x IS NOT 0));
    INSERT INTO temp.strata_guard SELECT store=\(SQLText.literal(store)) AND sequence=\(sequence) AND \
    chain=\(SQLText.literal(chain)) FROM strata_export WHERE name=\(SQLText.literal(name));

    """
  }

  /// Statements that fail unless the table has as many rows as it must have: nobody else changed it.
  var countStatements: String {
    """
    CREATE TEMP TABLE strata_guard_rows(x CONSTRAINT strata_guard_rows CHECK(x IS NOT 0));
    INSERT INTO temp.strata_guard_rows SELECT (SELECT count(*) FROM \(SQLText.name(name)))=\(rowCount);

    """
  }
}

// MARK: From a file

extension SQLiteMark {
  /// What a file is to an export.
  enum Found {
    /// It has no table of exports.
    case foreign
    /// It has one, and nothing of that name.
    case absent
    /// It has one, and a table or view of that name which no export made.
    case taken
    /// A later version of the tool made it.
    case newer
    case mark(SQLiteMark)
  }

  /// The note about a table.
  static func read(_ name: String, in file: String) throws -> Found {
    let literal = SQLText.literal(name)
    let known = try SQLiteProgram.rows(
      of:
        "SELECT hex(lower(name)) FROM sqlite_master WHERE lower(name) IN ('strata_export',lower(\(literal)));",
      in: file)
    let own = Array("strata_export".utf8)
    guard known.contains(where: { $0.first == own }) else { return .foreign }
    let formats = try SQLiteProgram.rows(
      of: "SELECT hex(format) FROM strata_export WHERE name=\(literal);", in: file)
    guard let format = formats.first?.first else { return known.count > 1 ? .taken : .absent }
    guard String(decoding: format, as: UTF8.self) == String(Self.format) else { return .newer }
    let rows = try SQLiteProgram.rows(
      of:
        "SELECT hex(store),hex(source),hex(sequence),hex(chain),hex(time),hex(query),hex(columns),hex(row_count) "
        + "FROM strata_export WHERE name=\(literal);", in: file)
    guard let fields = rows.first?.map({ String(decoding: $0, as: UTF8.self) }), fields.count == 8,
      let sequence = UInt64(fields[2]), let count = UInt64(fields[7]),
      case .array(let columns)? = try? DocumentValue(json: fields[6])
    else { return .newer }
    var pairs: [(name: String, type: String)] = []
    for column in columns {
      guard case .array(let pair) = column, pair.count == 2, case .string(let name) = pair[0],
        case .string(let type) = pair[1]
      else { return .newer }
      pairs.append((name: name, type: type))
    }
    return .mark(
      SQLiteMark(
        name: name, store: fields[0], source: fields[1], sequence: sequence, chain: fields[3],
        time: fields[4].isEmpty ? nil : fields[4], query: fields[5], columns: pairs, rowCount: count))
  }
}
