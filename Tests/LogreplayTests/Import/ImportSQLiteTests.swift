// Tables of SQLite that Python's `sqlite3` wrote, and what it reads in them.

import Foundation
import StrataBase
import StrataDocuments
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

private let hasBoth = importHasPython && importHasSQLite

@Suite(.enabled(if: hasBoth, "python3 or sqlite3 is not installed: nothing independent to compare with"))
struct ImportSQLiteTests {
  /// Runs statements on a database, each with the values that `V(…)` makes of what JSON cannot say.
  private func change(_ folder: ImportFolder, _ statements: String) throws {
    _ = try importPython(
      "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\n\(statements)\ndb.commit()",
      folder.file("a.db"))
  }

  private func arguments(_ folder: ImportFolder, _ more: String...) -> [String] {
    [folder.file("a.db"), "--table", "t", "--id", "id"] + more
  }

  @Test func `every value keeps its type, in a database of any encoding`() async throws {
    for encoding in ["UTF-8", "UTF-16le", "UTF-16be"] {
      let folder = try ImportFolder()
      try change(
        folder,
        """
        db.execute("PRAGMA encoding = '\(encoding)'")
        db.execute('CREATE TABLE t (id, "a ""b"" é", c, d GENERATED ALWAYS AS (id || 1) VIRTUAL)')
        rows = [(1, None, ""), ("x", 9223372036854775807, -9223372036854775808), ("y", 1.0, float("inf")),
                ("z", 0.1, -float("inf")), ("n", "a\\0b", b"\\0\\xff"), ("e", "é🙂\\r\\n'\\"", b""),
                ("d", 5e-324, -0.0), ("t", "1", "1.0")]
        db.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        """)
      let report = try await folder.run(arguments(folder))
      #expect(report.appended == 8 && report.unit == "rows")
      let key = "a \"b\" é"
      #expect(
        try await folder.documents() == [
          ["id": 1, key: .null, "c": "", "d": "11"],
          ["id": "x", key: .int(.max), "c": .int(.min), "d": "x1"],
          ["id": "y", key: 1.0, "c": .double(.infinity), "d": "y1"],
          ["id": "z", key: 0.1, "c": .double(-.infinity), "d": "z1"],
          ["id": "n", key: "a\0b", "c": .bytes([0, 0xFF]), "d": "n1"],
          ["id": "e", key: "é🙂\r\n'\"", "c": .bytes([]), "d": "e1"],
          ["id": "d", key: .double(5e-324), "c": -0.0, "d": "d1"],
          ["id": "t", key: "1", "c": "1.0", "d": "t1"],
        ], "\(encoding)")
    }
  }

  @Test func `a second run appends the rows that differ, and a third nothing`() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let folder = try ImportFolder()
    try change(folder, "db.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, v)')")
    var expected: [Int64: DocumentValue] = [:]
    for round in 0..<4 {
      var values: [String] = []
      var changed = 0
      for id in Set((0..<20).map { _ in Int64.random(in: 0...30, using: &random) }) {
        let text = Bool.random(using: &random) ? importHostileText(&random) : "same"
        if expected[id] != .string(text) { changed += 1 }
        expected[id] = .string(text)
        values.append(
          "(\(id), bytes.fromhex('\(text.utf8.map { String(256 + Int($0), radix: 16).dropFirst() }.joined())').decode())"
        )
      }
      try change(
        folder, "db.executemany('INSERT OR REPLACE INTO t VALUES (?, ?)', [\(values.joined(separator: ","))])"
      )
      let report = try await folder.run(arguments(folder))
      #expect(
        report.appended == UInt64(changed) && report.known == UInt64(expected.count - changed),
        "seed \(seed), round \(round): \(report)")
      #expect(try await folder.run(arguments(folder)).appended == 0, "seed \(seed)")
      var found: [Int64: DocumentValue] = [:]
      for document in try await folder.documents() {
        guard case .int(let id)? = document["id"] else { continue }
        found[id] = document["v"]
      }
      #expect(found == expected, "seed \(seed), round \(round)")
    }
    // A row that is gone stays, and one that is marked goes, once.
    try change(
      folder, "db.execute('DELETE FROM t'); db.execute(\"INSERT INTO t VALUES (99, 'x'), (98, 'gone')\")")
    for deleted in [0, 0] as [UInt64] {
      try await folder.run(arguments(folder, "--delete-when", "v == 'gone'"))
      #expect(folder.tables.withLock { $0.first?.deleted ?? 0 } == deleted)
    }
    try change(folder, "db.execute(\"UPDATE t SET v = 'gone'\")")
    for deleted in [1, 0] as [UInt64] {
      try await folder.run(arguments(folder, "--delete-when", "v == 'gone'"))
      #expect(folder.tables.withLock { $0.first?.deleted ?? 0 } == deleted)
    }
  }

  @Test func `what cannot be imported is named: no table, no column, an id twice, no database, no sqlite3`()
    async throws
  {
    let folder = try ImportFolder()
    try change(
      folder,
      "db.execute('CREATE TABLE \"o\"\"dd\" (id, v)'); db.execute(\"INSERT INTO \\\"o\\\"\\\"dd\\\" VALUES (1, 2), ('1', 3)\")"
    )
    func failure(_ more: String...) async throws -> CommandFailure {
      try await folder.failure(of: arguments(folder) + more)
    }
    let none = try await failure()
    #expect(none.code == ExitStatus.notFound && none.next.contains("o\"dd"), "\(none)")
    let twice = try await failure("--from-table", "o\"dd")
    #expect(twice.code == ExitStatus.corrupt && twice.what.contains("2 rows"), "\(twice)")
    let column = try await failure("--from-table", "o\"dd", "--time", "when")
    #expect(column.what.contains("no column \"when\"") && column.next.contains("\"v\""), "\(column)")
    #expect(try await failure("--format", "csv").what.contains("a database of SQLite"))
    #expect(try await failure("--merge").code == ExitStatus.usage)
    let text = try await folder.failure(
      of: [try folder.write("id\n1\n", to: "x"), "--format", "sqlite", "--table", "t", "--id", "id"])
    #expect(text.what.contains("not a database"))
    let missing = try ImportProcess.run(
      ImportProcess.command, ["import", folder.store] + arguments(folder), environment: ["PATH": folder.path])
    #expect(missing.errors.contains("install the package sqlite3"), "\(missing)")
    // A database that is damaged is no empty one.
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.file("a.db")))
    bytes.replaceSubrange(100..<400, with: Data(repeating: 0xAA, count: 300))
    try bytes.write(to: URL(fileURLWithPath: folder.file("a.db")))
    #expect(try await failure("--from-table", "o\"dd").what.contains("sqlite3 cannot read"))
    #expect(!FileManager.default.fileExists(atPath: folder.store))
  }
}
