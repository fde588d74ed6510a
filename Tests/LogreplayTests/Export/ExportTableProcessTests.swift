// Exports of tables that are killed, that lack room, and whose files somebody else has changed.

import Foundation
import Glibc
import Strata
import StrataBase
import StrataDocuments
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

@Suite(
  .serialized,
  .enabled(
    if: ExportTableSample.sqlite && ExportTableSample.python != nil, "sqlite3 or python3 is not installed"))
struct ExportTableProcessTests {
  private typealias Sample = ExportTableSample

  /// A closed store of which every row changes in the second half of its events.
  private static func store(rows: Int) async throws -> (folder: SampleFolder, half: UInt64, last: UInt64) {
    let folder = try SampleFolder()
    let store = try await folder.open()
    for round in 0..<2 {
      for first in stride(from: 0, to: rows, by: 500) {
        try await store.append(
          (first..<min(first + 500, rows)).map { number in
            NewEvent(
              "$put", in: "t/\(number)",
              ["round": .int(Int64(round)), "text": .string(String(repeating: "x", count: 40))])
          })
      }
    }
    let last = store.head.sequence
    try await store.close()
    return (folder, last / 2, last)
  }

  /// What Python reads of the column `round`: each value with its number of rows.
  private static func rounds(_ path: String) async throws -> String {
    let read = """
      import sqlite3, sys
      connection = sqlite3.connect(sys.argv[1])
      print(connection.execute("pragma integrity_check").fetchone()[0],
            connection.execute("select round, count(*) from t group by 1").fetchall(),
            connection.execute("select sequence from strata_export").fetchall())
      """
    return try await LogreplayProcess(
      ["-c", read, path], program: URL(fileURLWithPath: try #require(Sample.python))
    ).wait().output
  }

  @Test func `a file of SQLite whose update is killed has the old state or the new one`() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let (folder, half, last) = try await Self.store(rows: 3000)
    let path = try await folder.export(to: "t.db", String(half))
    let old = try await Self.rounds(path)
    #expect(old == "ok [(0, 3000)] [(\(half),)]\n")
    let saved = try Data(contentsOf: URL(fileURLWithPath: path))
    let began = MonotonicTime.now()
    try await folder.export(to: "t.db", String(last))
    let whole = UInt64(MonotonicTime.now().nanoseconds - began.nanoseconds)
    let new = try await Self.rounds(path)
    #expect(new == "ok [(1, 3000)] [(\(last),)]\n")
    for _ in 0..<6 {
      try? FileManager.default.removeItem(atPath: path + "-journal")
      try saved.write(to: URL(fileURLWithPath: path))
      let words = ["export", folder.store, path, String(last), "--table", "t"]
      try ImportProcess.kill(after: .random(in: 0...whole, using: &random), words)
      let left = try await Self.rounds(path)
      #expect(left == old || left == new, "\(left) seed \(seed)")
      try await folder.export(to: "t.db", String(last))
      #expect(try await Self.rounds(path) == new, "seed \(seed)")
    }
  }

  @Test func `an export that is killed leaves what had the name`() async throws {
    let (folder, _, last) = try await Self.store(rows: 3000)
    for name in ["t.csv", "t.db"] {
      let path = folder.file(name)
      try Data("old".utf8).write(to: URL(fileURLWithPath: path))
      for part in 1...3 {
        let words = ["export", folder.store, path, String(last), "--table", "t", "--force"]
        try ImportProcess.kill(after: UInt64(part) * 20_000_000, words)
        let content = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(content == Data("old".utf8) || content.count > 100_000)
      }
    }
  }

  @Test func `a full disk leaves nothing of a new file, and the old state in one that is there`() async throws
  {
    let (folder, half, last) = try await Self.store(rows: 12_000)
    let mount = folder.file("small")
    try FileManager.default.createDirectory(atPath: mount, withIntermediateDirectories: true)
    let mounted = try ImportProcess.run(
      "/usr/bin/env", ["mount", "-t", "tmpfs", "-o", "size=1300k", "none", mount])
    guard mounted.code == 0 else { return }  // Not allowed here: nothing to test on.
    defer { _ = try? ImportProcess.run("/usr/bin/env", ["umount", mount]) }
    let path = try await folder.export(to: "small/t.db", String(half))
    for name in ["t.db", "u.db", "u.jsonl", "u.csv"] {
      let outcome = try await LogreplayProcess.run(
        "export", folder.store, "\(mount)/\(name)", String(last), "--table", "t")
      #expect(
        outcome.code == ExitStatus.inputOutput && outcome.errors.contains("disk is full"),
        "\(name): \(outcome)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: mount) == ["t.db"])
    #expect(try await Self.rounds(path) == "ok [(0, 12000)] [(\(half),)]\n")
    try ImportProcess.run("/usr/bin/env", ["mount", "-o", "remount,size=64m", mount])
    try await folder.export(to: "small/t.db", String(last))
    #expect(try await Self.rounds(path) == "ok [(1, 12000)] [(\(last),)]\n")
  }

  @Test func `a reader that has enough ends an export silently`() async throws {
    let (folder, _, _) = try await Self.store(rows: 3000)
    for format in ["jsonl", "csv", "sql"] {
      let outcome = try await LogreplayProcess.shell(
        """
        { "$0" export "$1" - --format "$2" --table t 2>"$1.errors"; echo $? >"$1.code"; } | head -n 2 >/dev/null
        cat "$1.code" "$1.errors"
        """, folder.store, format)
      #expect(outcome.output == "0\n" && outcome.errors.isEmpty, "\(format): \(outcome)")
    }
  }

  @Test func `a file of another store, another table, other fields or other rows is refused by name`()
    async throws
  {
    var generator = SeededGenerator(seed: 1)
    let (folder, last) = try await Sample.store(appends: 20, isJSON: false, &generator)
    let (other, _) = try await Sample.store(appends: 20, isJSON: false, &generator)
    let path = try await folder.export(to: "t.db", String(last / 2))
    func refusal(_ store: String, _ words: String..., file: String = path) async throws -> String {
      let outcome = try await LogreplayProcess(["export", store, file] + words).wait()
      #expect(outcome.code != 0, "\(outcome)")
      return outcome.errors
    }
    #expect(try await refusal(other.store, "--table", "t").contains("the file is of another store"))
    #expect(
      try await refusal(folder.store, "--table", "other", "--as", "t").contains("is of the table \"t\""))
    for words in [["--fields", "n"], ["--where", "n == 1"], ["--section-by", "n"], ["--id", "key"]] {
      let outcome = try await LogreplayProcess(["export", folder.store, path, "--table", "t"] + words).wait()
      #expect(outcome.errors.contains("other fields, sections or filters"), "\(words): \(outcome)")
    }
    // A second table goes beside the first one.
    let added = try await LogreplayProcess.run("export", folder.store, path, "--table", "other")
    #expect(added.code == 0, "\(added)")
    try await Sample.check("sqlite", path, try await folder.state(at: last / 2))
    let touched = try await LogreplayProcess.shell(
      "sqlite3 \"$1\" 'DELETE FROM other; CREATE TABLE mine(x)'", path)
    #expect(touched.code == 0)
    #expect(
      try await refusal(folder.store, "1", "--table", "other").contains("something else has changed it"))
    #expect(try await refusal(folder.store, "--table", "t", "--as", "mine").contains("that no export wrote"))
    let foreign = folder.file("foreign.db")
    _ = try await LogreplayProcess.shell("sqlite3 \"$1\" 'CREATE TABLE t(x)'", foreign)
    #expect(
      try await refusal(folder.store, "--table", "t", file: foreign).contains("not written by an export"))
    try Data("no database at all, but long enough".utf8).write(to: URL(fileURLWithPath: foreign))
    #expect(try await refusal(folder.store, "--table", "t", file: foreign).contains("no database of SQLite"))
    try await Sample.check(
      "sqlite", try await folder.export(to: "t.db", String(last)), try await folder.state(at: last))
  }

  @Test func `a file of another history of the store is refused`() async throws {
    let folder = try await SampleFolder.list()
    let copied = try await LogreplayProcess.shell("cp -r \"$1\" \"$1.copy\"", folder.store)
    #expect(copied.code == 0, "\(copied)")
    for (store, number) in [(folder.store, 7), (folder.store + ".copy", 8)] as [(String, Int64)] {
      let opened = try await EventStore.open(at: store, .readWrite)
      try await opened.append([NewEvent("$put", in: "incident/z", ["n": .int(number)])])
      try await opened.close()
    }
    let path = folder.file("t.db")
    func export(_ store: String, _ words: String...) async throws -> LogreplayProcess.Outcome {
      try await LogreplayProcess(["export", store, path, "--table", "incident"] + words).wait()
    }
    #expect(try await export(folder.store).code == 0)
    let other = try await export(folder.store + ".copy")
    #expect(
      other.code == ExitStatus.cannotCreate && other.errors.contains("which this store does not have"),
      "\(other)")
    #expect(try await export(folder.store + ".copy", "--force").code == 0)
  }

  @Test func `an id that becomes a number, or a text again, stays one row`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    for document in [["id": 1], ["n": 1], ["id": 1, "n": 2], ["id": "1"]] as [DocumentValue] {
      try await store.append([NewEvent("$put", in: "t/1", document), NewEvent("$put", in: "t/x", ["n": 3])])
    }
    try await store.close()
    for point in [2, 4, 6, 8, 2, 8, 4] as [UInt64] {
      let path = try await folder.export(to: "t.db", String(point))
      try await Sample.check("sqlite", path, try await folder.state(at: point))
    }
  }

  @Test func `without the program sqlite3 its package is named, and SQL text needs none`() async throws {
    let folder = try await SampleFolder.list()
    func export(_ name: String) async throws -> LogreplayProcess.Outcome {
      try await LogreplayProcess(
        ["export", folder.store, folder.file(name), "--table", "incident"], environment: ["PATH": folder.path]
      ).wait()
    }
    let outcome = try await export("t.db")
    #expect(
      outcome.code == ExitStatus.inputOutput
        && outcome.errors.contains("/t.db)\n  install the package sqlite3"),
      "\(outcome)")
    #expect(try await export("t.sql").code == 0)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
        "support.strata", "t.sql",
      ])
  }

  @Test func `a table that is too large for memory is folded with a file in the scratch folder`() async throws
  {
    let (folder, _, last) = try await Self.store(rows: 2000)
    var options = StoreOptions()
    options.readersSaveStates = false
    options.pageCacheSize = 0
    options.unsavedSize = 1 << 16
    options.pastFolder = folder.file("scratch")
    try FileManager.default.createDirectory(atPath: folder.file("scratch"), withIntermediateDirectories: true)
    // No file can be made without the folder, and then the rows stay in memory.
    for exists in [true, false] {
      if !exists { try FileManager.default.removeItem(atPath: folder.file("scratch")) }
      let opened = OpenedStore(
        path: folder.store, store: try EventStore.openBlocking(at: folder.store, .readOnly, options: options))
      let state = try TableReplay(opened, table: "t").state(at: ResolvedPoint(sequence: last))
      var count = 0
      state.table.forEachRow { row in if row.revision > last / 2 { count += 1 } }
      #expect(count == 2000)
      let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      }
      #expect(files.contains { $0.contains("/scratch/.strata-past-") } == exists)
      withExtendedLifetime(state) {}
      try opened.store.closeBlocking()
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["support.strata"])
  }
}
