// `import --sync`: a table that is made equal to dumps, against a model.

import ArgumentParser
import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

@Suite(.serialized)
struct ImportSyncTests {
  /// The rows of the table `t`, as `at` prints them.
  private static func rows(_ folder: ImportFolder) throws -> [String: String] {
    let result = try ImportProcess.run(
      ImportProcess.command, ["at", folder.store, "--table", "t", "-o", "jsonl", "--utc"])
    #expect(result.code == 0, "\(result.errors)")
    var rows: [String: String] = [:]
    for line in result.output.split(separator: "\n") {
      let row = try DocumentValue(json: String(line))
      guard case .string(let id)? = row["id"], let fields = row["fields"] else { continue }
      rows[id] = fields.json()
    }
    return rows
  }

  private static func dump(_ rows: [String: String], using random: inout SeededGenerator) -> String {
    rows.values.shuffled(using: &random).map {
      $0 + ["\n", "\r\n", " \n", "\n\n"].randomElement(using: &random)!
    }
    .joined()
  }

  /// A row, with its members in any order, and white space.
  private static func row(_ id: String, using random: inout SeededGenerator) -> String {
    let value = [
      "1", "1.0", "\"1\"", "null", "[1,2]", "{\"y\":1,\"x\":2}", "18446744073709551616", "\"\\u0000\"",
    ]
    .randomElement(using: &random)!
    var members = ["\"id\":\(DocumentValue.string(id).json())", "\"v\":\(value)"]
    if Int.random(in: 0..<50, using: &random) == 0 {
      members.append("\"long\":\"\(String(repeating: "x", count: 70_000))\"")
    }
    members.shuffle(using: &random)
    return "{ \(members.joined(separator: " , "))}"
  }

  /// The same document as it is printed.
  private static func canonical(_ row: String) throws -> String { try DocumentValue(json: row).json() }

  @Test func `each dump leaves exactly its rows, and appends only what differs`() async throws {
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    let folder = try ImportFolder()
    let ids = (0..<60).map {
      ["\($0)", "a/\($0)", "é\($0)", "long id \($0)", "\u{0}\($0)"].randomElement(using: &random)!
    }
    /// The last dump, and the rows that the table has.
    var wanted: [String: String] = [:]
    var old: [String: String] = [:]
    for round in 0..<8 {
      for id in ids where Int.random(in: 0..<6, using: &random) == 0 {
        wanted[id] = Self.row(id, using: &random)
      }
      for id in ids where Int.random(in: 0..<8, using: &random) == 0 { wanted[id] = nil }
      let head = try folder.head()
      let new = try wanted.mapValues(Self.canonical)
      let added = new.keys.filter { old[$0] == nil }.count
      let changed = new.filter { old[$0.key] != nil && old[$0.key] != $0.value }.count
      let gone = old.keys.filter { new[$0] == nil }.count
      try folder.write(Self.dump(wanted, using: &random))
      if Bool.random(using: &random) {
        let dry = try await folder.sync("--delete-max", "100%", "--dry-run")
        #expect(
          dry.added == UInt64(added) && dry.changed == UInt64(changed) && dry.gone == UInt64(gone),
          "seed \(seed)")
        #expect(try folder.head() == head)
      }
      let report = try await folder.sync("--delete-max", "100%")
      #expect(
        report.added == UInt64(added) && report.changed == UInt64(changed), "seed \(seed), round \(round)")
      #expect(
        report.deleted == UInt64(gone) && report.same == UInt64(new.count - added - changed), "seed \(seed)")
      #expect(try folder.head() == head + UInt64(added + changed + gone), "seed \(seed), round \(round)")
      if try folder.head() > 0 { #expect(try Self.rows(folder) == new, "seed \(seed), round \(round)") }
      old = new
      // The rows may also have been written by something else since.
      if round % 3 == 2, let id = ids.randomElement(using: &random) {
        try folder.single("merge", ["t/\(id)", "{\"other\":\(round)}"], "--create")
        old[id] = "changed elsewhere"
      }
    }
    let events = try await folder.appends()
    #expect(events.allSatisfy { $0.events.count == 1 })
  }

  @Test func `rows that are equal as values append nothing, and 1 and 1.0 are two values`() async throws {
    let folder = try ImportFolder()
    try folder.write(#"{"id":1,"a":{"x":1,"y":2},"n":1}"# + "\n" + #"{"id":2,"n":0.1}"# + "\n")
    #expect(try await folder.sync().added == 2)
    try folder.write(
      #"{"n":0.10000000000000001,"id":2}"# + "\n\n" + #"{"n":1, "a":{"y":2, "x":1},"id":1}"# + "\r\n")
    let same = try await folder.sync()
    #expect(same.same == 2 && same.first == nil)
    try folder.write(#"{"id":1,"a":{"x":1,"y":2},"n":1.0}"# + "\n" + #"{"id":2,"n":0.1}"# + "\n")
    let changed = try await folder.sync()
    #expect(changed.changed == 1 && changed.same == 1)
    #expect(try folder.head() == 3)
  }

  /// Rows, of which the first so many are left out.
  private static func rows(without count: Int, of all: Int = 300) -> String {
    (count..<all).map { "{\"id\":\"\($0)\",\"n\":\($0)}\n" }.joined()
  }

  @Test func `nothing is appended where something says that the dump is not whole`() async throws {
    let folder = try ImportFolder()
    try folder.write(Self.rows(without: 0))
    #expect(try await folder.sync().added == 300)
    let whole = Self.rows(without: 3)
    let guards: [(dump: [UInt8], what: String, options: [String])] = [
      (Array((whole + "{\"id\":\n").utf8), "1 bad line", []),
      (Array((whole + "[]\n{\"no\":1}\n").utf8), "2 bad lines", []),
      (Array((whole + "{\"id\":\"7\",\"n\":0}\n").utf8), "the id '7' is that of line 5 and of line 298", []),
      (Array((whole + "{\"id\":7}\n{\"id\":7}\n").utf8), "and 1 more come twice", []),
      (Array((whole + "{\"id\":7}\n").utf8), "of line 5 and of line 298", ["--skip-bad"]),
      (Array((whole + "{\"id\":\"new\"}").utf8), "without a line feed", []),
      (Array(whole.utf8.dropLast()), "without a line feed", ["--skip-bad"]),
      (Array(whole.utf8.dropLast(5)), "1 bad line", []), ([], "the input is empty", []),
      ([0x0A], "the input is empty", []),
      (Array(Self.rows(without: 11).utf8), "11 rows would be deleted, and at most 10 may be", []),
      (
        Array(Self.rows(without: 3).utf8), "3 rows would be deleted, and at most 2 may be",
        ["--delete-max", "2"]
      ),
      (Array(Self.rows(without: 3).utf8), "at most 2 may be", ["--delete-max", "0.9%"]),
      ([], "300 rows would be deleted, and at most 299", ["--delete-max", "99.9%"]),
      (try ImportProcess.gzip(Array(whole.utf8)) + [1, 2, 3], "no gzip data follows", []),
    ]
    for (dump, what, options) in guards {
      try folder.write(dump, to: "lines.jsonl")
      for more in [[], ["--dry-run"]] {
        let failure = try await folder.syncFailure(options + more)
        #expect(failure.code == 65 && failure.what.contains(what), "\(what): \(failure)")
        #expect(failure.next.hasSuffix("nothing was appended"), "\(failure)")
        #expect(failure.numbers.contains { "\($0.name)" == "gone" }, "\(failure)")
      }
    }
    let gzip = try ImportProcess.gzip(Array(whole.utf8))
    try folder.write(Array(gzip.dropLast(9)), to: "lines.jsonl")
    let cut = try await folder.syncFailure([])
    #expect(
      cut.code == 65 && cut.what.contains("cut short") && cut.next.hasSuffix("nothing was appended"), "\(cut)"
    )
    #expect(try folder.head() == 300)
    try folder.write(Self.rows(without: 10))
    #expect(try await folder.sync().deleted == 10)
    try folder.write(Self.rows(without: 300))
    #expect(try await folder.sync("--delete-max", "290").deleted == 290)
    #expect(try Self.rows(folder).isEmpty)
  }

  @Test func `with bad lines left out, rows are added and changed, and none is deleted`() async throws {
    let folder = try ImportFolder()
    try folder.write(Self.rows(without: 0, of: 20))
    _ = try await folder.sync()
    try folder.write("{\"id\":\"new\"}\nbad\n{\"id\":\"19\",\"n\":0}\n" + Self.rows(without: 2, of: 19))
    let result = try ImportProcess.run(
      ImportProcess.command,
      [
        "import", folder.store, folder.file("lines.jsonl"), "--table", "t", "--id", "id", "--sync",
        "--skip-bad",
      ])
    #expect(
      result.code == 3 && result.output.contains("1 row added, 1 changed, 0 deleted, 17 the same"),
      "\(result)")
    #expect(
      result.output.contains("1 bad, 2 not deleted") && result.errors.contains("lines.jsonl:2:1"), "\(result)"
    )
    #expect(try Self.rows(folder).count == 21)
  }

  @Test func `every format of rows can be a dump, and the end of each is looked at`() async throws {
    let folder = try ImportFolder()
    func sync(_ name: String) async throws -> ImportSyncReport {
      try await ImportCommand.parse([
        folder.store, folder.file(name), "--table", "t", "--id", "id", "--sync", "--delete-max", "1",
      ]).executeSync { _ in }
    }
    try folder.write("v,id\nx,a\n\"y,\"\"z\",b\n", to: "a.csv")
    #expect(try await sync("a.csv").added == 2)
    try folder.write("id\tv\nb\t\"y,\"\"z\"\na\tx\n", to: "a.tsv")
    try folder.write(#"[{"id":"a","v":"x"}, {"v":"y,\"z", "id":"b"}]"#, to: "a.json")
    let database = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
    let rows =
      "c.execute('create table t (v text, id text primary key)'); "
      + "c.executemany('insert into t values (?, ?)', [('y,\"z', 'b'), ('x', 'a')]); c.commit()"
    let made = try ImportProcess.run("/usr/bin/env", ["python3", "-c", database + rows, folder.file("a.db")])
    #expect(made.code == 0, "\(made.errors)")
    for name in ["a.tsv", "a.json", "a.db"] {
      do {
        let report = try await sync(name)
        #expect(report.same == 2 && report.first == nil, "\(name): \(report)")
      } catch let failure as CommandFailure { Issue.record("\(name): \(failure)") }
    }
    let cut = [
      ("b.csv", "v,id\nx,a", "without a line feed"), ("b.tsv", "v\tid\nx\ta\ny", "1 bad row"),
      ("c.csv", "v,id\nx,a\n\"y", "1 bad row"), ("b.json", "[{\"id\":\"a\"}", "ends inside the array"),
    ]
    for (name, text, what) in cut {
      try folder.write(text, to: name)
      do {
        let report = try await sync(name)
        Issue.record("\(name) was taken: \(report)")
      } catch let failure as CommandFailure {
        #expect(failure.code == 65 && failure.what.contains(what), "\(name): \(failure)")
      }
    }
    #expect(try folder.head() == 2)
    try folder.write("v,id\nx,a\n", to: "a.csv")
    #expect(try await sync("a.csv").deleted == 1)
  }

  @Test func `a sync that is killed leaves a prefix, and the next one does the rest`() async throws {
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    let folder = try ImportFolder()
    let dumps = try (0..<2).map { number in
      try folder.write(
        (0..<1500).filter { $0 % 5 != number }.map { "{\"id\":\"\($0)\",\"n\":\($0 % 2 * number)}\n" }
          .joined(), to: "\(number)")
    }
    func arguments(_ store: String, _ dump: String) -> [String] {
      ["import", store, dump, "--table", "t", "--id", "id", "--sync", "--delete-max", "100%"]
    }
    let began = MonotonicTime.now()
    try ImportProcess.run(ImportProcess.command, arguments(folder.file("other"), dumps[0]))
    let whole = UInt64(MonotonicTime.now().nanoseconds - began.nanoseconds)
    var stopped = 0
    for round in 0..<3 {
      let arguments = arguments(folder.store, dumps[round % 2])
      let head = try folder.head()
      for _ in 0..<2 {
        try ImportProcess.kill(after: UInt64.random(in: whole / 4...whole, using: &random), arguments)
      }
      let killed = try folder.head()
      if killed > head { stopped += 1 }
      let kinds = try await folder.appends().dropFirst(Int(head)).flatMap(\.events).map(\.type)
      let puts = kinds.prefix { $0 == "$put" }.count
      #expect(kinds.dropFirst(puts).allSatisfy { $0 == "$delete" }, "seed \(seed): a deletion before a put")
      let result = try ImportProcess.run(ImportProcess.command, arguments + ["-o", "json"])
      #expect(result.code == 0, "seed \(seed): \(result.errors)")
      let rows = try Self.rows(folder)
      #expect(rows.count == 1200, "seed \(seed), round \(round): \(result.output)")
      #expect(rows.allSatisfy { Int($0.key)! % 5 != round % 2 }, "seed \(seed)")
      #expect(try folder.head() >= head + UInt64(round == 0 ? 1200 : 1050), "seed \(seed)")
      let again = try ImportProcess.run(ImportProcess.command, arguments + ["-o", "json"])
      #expect(again.output.contains("\"first\":null"), "seed \(seed): \(again.output)")
    }
    print("syncs that were killed after their first append: \(stopped)")
  }

  @Test func `options that a sync has no use for are refused, and a part is read as it is written`()
    async throws
  {
    let folder = try ImportFolder()
    try folder.write("{\"id\":1}\n")
    for options in [
      ["--merge"], ["--time", "time"], ["--source", "x"], ["--apply-late"], ["--delete-max", "x"],
      ["--delete-max", "-1"],
      ["--delete-max", "101%"], ["--delete-max", "1.00001%"], ["--delete-max", "%"],
    ] {
      let failure = try await folder.syncFailure(
        options.count == 2 ? ["\(options[0])=\(options[1])"] : options)
      #expect(failure.code == 64, "\(options): \(failure)")
    }
    let without = try await folder.failure("lines.jsonl", "--dry-run")
    #expect(without.code == 64 && without.what.contains("--sync"))
    #expect(!FileManager.default.fileExists(atPath: folder.store))
    #expect(ImportSyncDeletions("0.5%") == .part(5000) && ImportSyncDeletions("100%") == .part(1_000_000))
    #expect(ImportSyncDeletions("7") == .rows(7) && ImportSyncDeletions("1.0001%") == .part(10_001))
    #expect(
      [0, 999, 1000, 1_999, 100_000].map { ImportSyncDeletions.standard.countMax(of: $0) } == [
        10, 10, 10, 19, 1000,
      ])
  }

  @Test func `records are sorted by the bytes of their ids, whatever fits into memory`() throws {
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    let folder = try ImportFolder()
    for _ in 0..<60 {
      let sorter = ImportSorter<ImportRowKey>(
        in: folder.path, memoryMax: [1, 200, 2000, 1 << 20].randomElement(using: &random)!,
        fanIn: Int.random(in: 2...4, using: &random))
      var wanted: [(id: [UInt8], number: UInt64, bytes: [UInt8])] = []
      for number in 0..<UInt64.random(in: 0...50, using: &random) {
        let id = (0..<Int.random(in: 0...12, using: &random)).map { _ in
          [0, 1, 0x61, 0xFF].randomElement(using: &random)! as UInt8
        }
        let bytes = [UInt8](
          repeating: UInt8(truncatingIfNeeded: number), count: Int.random(in: 0...90, using: &random))
        wanted.append((id, number, bytes))
        try bytes.lendBytes { bytes throws(CommandFailure) in
          try sorter.add(ImportRowKey(id: id, number: number), bytes)
        }
      }
      wanted.sort { $0.id == $1.id ? $0.number < $1.number : $0.id.lexicographicallyPrecedes($1.id) }
      var found: [(id: [UInt8], number: UInt64, bytes: [UInt8])] = []
      try sorter.forEach { key, bytes in
        found.append((key.name, key.number, Array(bytes)))
        return true
      }
      #expect(found.elementsEqual(wanted) { $0 == $1 }, "seed \(seed)")
    }
  }
}

extension ImportFolder {
  private static let options = ["--table", "t", "--id", "id", "--sync"]

  /// Syncs the table `t` with the lines that were written, in this process.
  func sync(_ more: String...) async throws -> ImportSyncReport {
    try await ImportCommand.parse([store, file("lines.jsonl")] + Self.options + more).executeSync {
      [notes] note in
      notes.withLock { $0.append(note) }
    }
  }

  func syncFailure(_ more: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws
    -> CommandFailure
  {
    do {
      let command = try ImportCommand.parse([store, file("lines.jsonl")] + Self.options + more)
      let report = try await command.executeSync { _ in }
      Issue.record("nothing failed: \(report.short)", sourceLocation: sourceLocation)
      throw CancellationError()
    } catch let failure as CommandFailure { return failure }
  }
}
