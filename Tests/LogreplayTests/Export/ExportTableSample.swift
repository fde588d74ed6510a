// Stores with tables of hostile values, and readers of exports that nobody here wrote: those of Python.

import Foundation
import Strata
import StrataDocuments
import StrataSimulation
import Testing

/// Random tables, and what Python makes of their exports.
enum ExportTableSample {
  static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  static let sqlite = FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3")

  static let ids = [
    "a", "b", "1", "2", "-3", "18446744073709551616", "o'clock", "\"q\"", "x,y", "é", "e\u{301}", "🙂", "A",
    "line\nfeed", "tab\tx", "a\r\nb", "--", "NULL", "a/b", " ", ".x", "x;", "000",
  ]
  static let names = [
    "n", "text", "select", "a,b", "qu\"ote", "näme", "line\nfeed", "rowid", "it's", "$odd", "a.b", " ", "-",
    "x",
  ]

  static func text(_ generator: inout SeededGenerator) -> String {
    let pieces = [
      "a", "'", "\"", "\\", ",", "\n", "\r\n", "\r", "\t", "\u{0}", ";", "é", "🙂", " ", "\u{1}", "--",
      "\n.quit\n",
      "\n;\n", "true", "12", "\u{FEFF}", "[", "x'00'",
    ]
    return (0..<Int.random(in: 0...5, using: &generator)).map { _ in
      pieces[Int.random(in: 0..<pieces.count, using: &generator)]
    }.joined()
  }

  static func number(_ generator: inout SeededGenerator) -> Double {
    switch Int.random(in: 0..<4, using: &generator) {
    case 0:
      let number = Double(bitPattern: .random(in: 0 ... .max, using: &generator))
      return number.isFinite ? number : 0.1
    case 1:
      return [0.0, -0.0, 1, 0.1, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e22, 1e23, -1.5e300]
        .randomElement(
          using: &generator)!
    case 2: return Double(Int.random(in: -1_000_000...1_000_000, using: &generator)) / 1000
    default: return .random(in: -1e6...1e6, using: &generator)
    }
  }

  /// - Parameter isJSON: whether JSON has a form for the value and for all inside of it.
  static func value(depth: Int, isJSON: Bool, _ generator: inout SeededGenerator) -> DocumentValue {
    switch Int.random(in: 0..<(depth > 0 ? 12 : 10), using: &generator) {
    case 0: return .null
    case 1: return .bool(.random(using: &generator))
    case 2: return .int(.random(in: .min ... .max, using: &generator))
    case 3: return .int(.random(in: -5...5, using: &generator))
    case 4: return DocumentValue(UInt64.random(in: .min ... .max, using: &generator))
    case 5: return .bigInt(DocumentInteger("-18446744073709551617")!)
    case 6, 7: return .double(number(&generator))
    case 8 where !isJSON:
      return Bool.random(using: &generator) ? .bytes([0, 39, 255, 10]) : .double(.infinity)
    case 8, 9: return .string(text(&generator))
    case 10:
      return .array(
        DocumentArray(
          (0..<Int.random(in: 0...3, using: &generator)).map { _ in
            value(depth: depth - 1, isJSON: true, &generator)
          }))
    default:
      var object = DocumentObject()
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        object[text(&generator) + "k"] = value(depth: depth - 1, isJSON: true, &generator)
      }
      return .object(object)
    }
  }

  /// A document, which half of the time has its id.
  static func document(_ id: String, isJSON: Bool, _ generator: inout SeededGenerator) -> DocumentObject {
    var object = DocumentObject()
    for _ in 0..<Int.random(in: 0...6, using: &generator) {
      object[names.randomElement(using: &generator)!] = value(depth: 2, isJSON: isJSON, &generator)
    }
    if Bool.random(using: &generator) {
      let number = Int64(id)
      object["id"] = number.map { String($0) == id } == true ? .int(number!) : .string(id)
    }
    return object
  }

  /// A closed store with a table `t` of which rows come, change and go, and with another one.
  ///
  /// - Returns: the folder, and the number of its events.
  static func store(
    appends: Int, isJSON: Bool, _ generator: inout SeededGenerator
  ) async throws -> (folder: SampleFolder, last: UInt64) {
    let folder = try SampleFolder()
    let store = try await folder.open()
    for _ in 0..<appends {
      var events: [NewEvent] = [NewEvent("$put", in: "other/x", ["n": 1])]
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let id = ids.randomElement(using: &generator)!
        let stream = StreamName(category: "t", id: id)
        events.append(
          Int.random(in: 0..<5, using: &generator) == 0
            ? NewEvent("$delete", in: stream, .null)
            : NewEvent("$put", in: stream, .object(document(id, isJSON: isJSON, &generator))))
      }
      try await store.append(events)
    }
    let last = store.head.sequence
    try await store.close()
    return (folder, last)
  }

  /// Runs one of the checks below; it must have no complaint.
  static func check(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let outcome = try await LogreplayProcess(
      ["-c", script] + arguments, program: URL(fileURLWithPath: try #require(python))
    ).wait()
    #expect(
      outcome.code == 0 && outcome.output == "ok\n", "\(arguments): \(outcome.output)\(outcome.errors)",
      sourceLocation: sourceLocation)
  }

  /// Compares exports with what `at -o json` says. A document's id is added where it lacks one.
  private static let script = #"""
    import base64, csv, json, math, sqlite3, struct, sys

    def at(path):
        state = json.load(open(path, encoding="utf-8"))
        rows = {}
        for section in state["sections"]:
            for item in section["items"]:
                rows[item["id"]] = {"id": item["id"], **item["fields"]}
        return rows

    def same(a, b):
        if isinstance(a, float) and isinstance(b, float):
            return struct.pack("<d", a) == struct.pack("<d", b)
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
        if isinstance(a, list) and isinstance(b, list):
            return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
        return type(a) is type(b) and a == b

    def require(condition, *what):
        if not condition:
            print("wrong:", *(repr(w) for w in what))
            sys.exit(0)

    def lines(path):
        found = {}
        for line in open(path, "rb").read().split(b"\n")[:-1]:
            row = json.loads(line.decode("utf-8"))
            require(str(row["id"]) not in found, "twice", row)
            found[str(row["id"])] = row
        return found

    def check_lines(path, state):
        require(same(lines(path), at(state)), lines(path), at(state))

    def is_cell(cell, value, fields, name, null):
        if name not in fields: return cell == ""
        if value is None: return cell == null
        if isinstance(value, bool): return cell == ("true" if value else "false")
        if isinstance(value, str): return cell == value
        if value == {"f64": "Infinity"}: return cell == "Infinity"
        if isinstance(value, float): return same(float(cell), value) and not cell.lstrip("-").isdigit()
        if isinstance(value, int): return cell == str(value)
        return same(json.loads(cell), value)

    def check_csv(path, state, separator, null):
        rows = at(state)
        reader = csv.reader(open(path, encoding="utf-8", newline=""), delimiter=separator, strict=True)
        header = next(reader)
        require(header[0] == "id" and header[1:] == sorted(set(k for r in rows.values() for k in r) - {"id"},
                key=lambda name: name.encode()), header)
        seen = set()
        for record in reader:
            require(len(record) == len(header), record)
            row = rows[record[0]]
            seen.add(record[0])
            for name, cell in zip(header, record):
                require(is_cell(cell, row.get(name), row, name, null), record[0], name, cell, row.get(name))
        require(seen == set(rows), seen)

    def stored(value):
        if isinstance(value, bool): return int(value)
        if isinstance(value, int): return value if -2**63 <= value < 2**63 else str(value)
        if isinstance(value, dict) and list(value) == ["b64"]: return base64.b64decode(value["b64"])
        if value == {"f64": "Infinity"}: return math.inf
        if value == {"f64": "-Infinity"}: return -math.inf
        return value

    def table(connection):
        cursor = connection.execute('select * from "t"')
        names = [column[0] for column in cursor.description]
        require(names[0] == "id", names)
        return {str(row[0]): dict(zip(names, row)) for row in cursor}

    def check_table(connection, state):
        rows = at(state)
        found = table(connection)
        require(found.keys() == rows.keys(), found.keys(), rows.keys())
        for key, row in rows.items():
            for name in row.keys() | found[key].keys():
                value = stored(row.get(name))
                cell = found[key].get(name)
                if isinstance(value, (dict, list)): cell = json.loads(cell)
                require(same(cell, value), key, name, cell, value)
        require(connection.execute("pragma integrity_check").fetchone() == ("ok",))
        mark = connection.execute("select sequence, row_count from strata_export where name = 't'").fetchone()
        require(mark == (json.load(open(state))["sequence"], len(rows)), mark)

    def check_sqlite(path, state):
        check_table(sqlite3.connect(path), state)

    def check_sql(state, *scripts):
        connection = sqlite3.connect(":memory:", isolation_level=None)
        for script in scripts:
            connection.executescript(open(script, encoding="utf-8", newline="").read())
        check_table(connection, state)

    def check_changes(path, old, new):
        rows = at(old)
        for line in open(path, "rb").read().split(b"\n")[:-1]:
            change = json.loads(line.decode("utf-8"))
            before = rows.pop(change["id"], None)
            require(same(before, change["before"]), before, change)
            require((change["after"] is None) == (change["kind"] == "delete"), change)
            require(not same(change["before"], change["after"]), change)
            if change["after"] is not None: rows[change["id"]] = change["after"]
        require(same(rows, at(new)), rows)

    globals()["check_" + sys.argv[1]](*sys.argv[2:])
    print("ok")
    """#
}

extension SampleFolder {
  /// Writes what `at -o json` says of the table `t` at a point to a file, and returns its path.
  func state(at point: UInt64, to name: String = "state.json") async throws -> String {
    let outcome = try await LogreplayProcess.run("at", store, String(point), "--table", "t", "-o", "json")
    #expect(outcome.code == 0, "\(outcome.errors)")
    try Data(outcome.output.utf8).write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }

  /// Exports the table `t`, which must succeed, and returns the file's path.
  @discardableResult
  func export(
    to name: String, _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> String {
    let outcome = try await LogreplayProcess(
      ["export", store, file(name), "--table", "t", "-o", "json"] + arguments
    ).wait()
    #expect(outcome.code == 0, "\(arguments): \(outcome.errors)", sourceLocation: sourceLocation)
    return file(name)
  }
}
