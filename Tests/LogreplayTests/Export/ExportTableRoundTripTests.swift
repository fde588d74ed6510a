// Tables out, as readers of other people see them: Python's json, csv and sqlite3.

import Foundation
import Strata
import StrataDocuments
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayTables

@Suite(
  .enabled(
    if: ExportTableSample.python != nil, "python3 is not installed: nothing independent to compare with"))
struct ExportTableRoundTripTests {
  private typealias Sample = ExportTableSample

  @Test func `lines of JSON are the documents at each point, and import makes the same table of them`()
    async throws
  {
    let seed = UInt64.random(in: 0 ... .max)
    var generator = SeededGenerator(seed: seed)
    let (folder, last) = try await Sample.store(appends: 40, isJSON: true, &generator)
    for point in [0, UInt64.random(in: 1..<last, using: &generator), last] {
      let state = try await folder.state(at: point)
      let file = try await folder.export(to: "t.jsonl", String(point), "--force")
      try await Sample.check("lines", file, state)
    }
    let imported = try await LogreplayProcess.run(
      "import", folder.file("again"), folder.file("t.jsonl"), "--table", "t", "--id", "id")
    #expect(imported.code == 0, "\(imported.errors) seed \(seed)")
    let again = try await LogreplayProcess.run(
      "export", folder.file("again"), "-", "--format", "jsonl", "--table", "t")
    let lines = try String(contentsOfFile: folder.file("t.jsonl"), encoding: .utf8)
    #expect(again.output == lines, "seed \(seed)")
  }

  @Test func `CSV and text with tabs are read by another reader as what was in the table`() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var generator = SeededGenerator(seed: seed)
    let (folder, last) = try await Sample.store(appends: 40, isJSON: false, &generator)
    let point = UInt64.random(in: 1...last, using: &generator)
    let state = try await folder.state(at: point)
    try await Sample.check("csv", try await folder.export(to: "t.csv", String(point)), state, ",", "")
    try await Sample.check(
      "csv", try await folder.export(to: "t.tsv", String(point), "--null", "\\N", "--crlf"), state, "\t",
      "\\N")
    // The same bytes, compressed and on standard output.
    let zipped = try await folder.export(to: "t.csv.gz", String(point))
    let piped = try await LogreplayProcess.shell(
      """
      gzip -dc "$1" | cmp - "$2"
      "$0" export "$3" - "$4" --table t --format csv | cmp - "$2"
      """, zipped, folder.file("t.csv"), folder.store, String(point))
    #expect(piped.code == 0, "\(piped.output)\(piped.errors) seed \(seed)")
  }

  @Test(.enabled(if: ExportTableSample.sqlite, "sqlite3 is not installed"))
  func `a file of SQLite has each point's table, and goes from one to another by what differs`() async throws
  {
    let seed = UInt64.random(in: 0 ... .max)
    var generator = SeededGenerator(seed: seed)
    let (folder, last) = try await Sample.store(appends: 60, isJSON: false, &generator)
    for _ in 0..<5 {
      let point = UInt64.random(in: 0...last, using: &generator)
      let state = try await folder.state(at: point)
      try await Sample.check("sqlite", try await folder.export(to: "t.db", String(point)), state)
      let text = try await folder.export(to: "t.sql", String(point), "--force")
      try await Sample.check("sql", state, text)
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!left.contains { $0.hasSuffix(".tmp") || $0.contains("-journal") }, "\(left) seed \(seed)")
  }

  @Test func `changes turn the table of one point into that of another, as lines and as statements`()
    async throws
  {
    let seed = UInt64.random(in: 0 ... .max)
    var generator = SeededGenerator(seed: seed)
    let (folder, last) = try await Sample.store(appends: 50, isJSON: false, &generator)
    for _ in 0..<3 {
      let (from, to) = (
        UInt64.random(in: 0...last, using: &generator), UInt64.random(in: 0...last, using: &generator)
      )
      let (old, new) = (
        try await folder.state(at: from, to: "old.json"), try await folder.state(at: to, to: "new.json")
      )
      let lines = try await folder.export(to: "c.jsonl", "\(from)..\(to)", "--changes", "--lossy", "--force")
      try await Sample.check("changes", lines, old, new)
      let text = try await folder.export(to: "t.sql", String(from), "--force")
      let changes = try await folder.export(to: "c.sql", "\(from)..\(to)", "--changes", "--force")
      try await Sample.check("sql", new, text, changes)
    }
  }

  @Test(.enabled(if: ExportTableSample.sqlite, "sqlite3 is not installed"))
  func `every double is read by SQLite as the same double`() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var generator = SeededGenerator(seed: seed)
    let folder = try SampleFolder()
    var script = ""
    var expected: [String] = []
    for number in 0..<20_000 {
      var value = ExportTableSample.number(&generator)
      // Decimals with few digits are what SQLite reads wrongly now and then.
      if number % 2 == 0 {
        value = Double("\(UInt64.random(in: 0...99_999_999_999, using: &generator))e-\(number % 17)")!
      }
      var bytes: [UInt8] = []
      SQLReal.append(value, to: &bytes)
      script +=
        (number % 500 == 0 ? number == 0 ? "VALUES" : ";\nVALUES" : ",")
        + "(\(String(decoding: bytes, as: UTF8.self)))"
      expected.append(String(value.bitPattern))
    }
    try Data((script + ";\n").utf8).write(to: URL(fileURLWithPath: folder.file("s.sql")))
    let read = """
      import sqlite3, struct, sys
      connection = sqlite3.connect(":memory:")
      for statement in open(sys.argv[1]).read().split(";")[:-1]:
          for (value,) in connection.execute(statement):
              print(struct.unpack("<Q", struct.pack("<d", value))[0])
      """
    let outcome = try await LogreplayProcess(
      ["-c", read, folder.file("s.sql")],
      program: URL(fileURLWithPath: try #require(ExportTableSample.python))
    ).wait()
    #expect(outcome.lines.count == expected.count, "\(outcome.errors)")
    let wrong = zip(outcome.lines, expected).filter { $0.0 != $0.1 }
    #expect(wrong.isEmpty, "\(wrong.prefix(3)) seed \(seed)")
  }
}
