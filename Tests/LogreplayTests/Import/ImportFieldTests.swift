// What fields of records say: ids and times in objects, times of other forms, rows to delete, metadata.

import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
@testable import StrataPast
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct ImportFieldTests {
  private func appends(_ text: String, _ more: String...) async throws -> [RecordedAppend] {
    let folder = try ImportFolder()
    try await folder.run([try folder.write(text), "--table", "t"] + more)
    return try await folder.appends()
  }

  @Test func `a path leads into objects, and a field of the whole name comes first`() async throws {
    for (text, path, id) in [
      ("{\"_id\":{\"$oid\":\"x\"}}", "_id.$oid", "x"), ("{\"a.b\":1,\"a\":{\"b\":2}}", "a.b", "1"),
      ("{\"a\":{\"b\":{\"c\":3}}}", "a.b.c", "3"), ("{\"a.b\":1,\"a\":{\"b\":2}}", "`a`.`b`", "2"),
      ("{\"odd name\":{\"x.y\":{\"a`b\":4}}}", "odd name.`x.y`.`a``b`", "4"),
    ] {
      #expect(
        try await appends(text, "--id", path).map { $0.events[0].stream.text } == ["t/\(id)"], "\(path)")
    }
    let folder = try ImportFolder()
    let file = try folder.write("{\"id\":1, \"k\":{\"v\":\"noon\"}}\n")
    for path in ["a..b", ".a", "a.", "`a", "a`b", "``"] {
      let failure = try await folder.failure(of: [file, "--table", "t", "--id", path])
      #expect(failure.code == ExitStatus.usage && failure.what.contains("is not a field"), "\(path)")
    }
    let time = try await folder.failure(of: [file, "--table", "t", "--id", "id", "--time", "k.v"])
    #expect(time.place.hasSuffix(":1:19") && time.what.contains("\"noon\" is not a time"), "\(time)")
    let missing = try await folder.failure(of: [file, "--table", "t", "--id", "k.x"])
    #expect(missing.place.hasSuffix(":1:1") && missing.what.contains("the id field \"k.x\" is missing"))
  }

  @Test func `times since 1970 are exact to the nanosecond, as numbers and as texts`() async throws {
    for (value, form, text) in [
      ("1700000000", "s", "2023-11-14T22:13:20Z"),
      ("\"1700000000.123456789\"", "s", "2023-11-14T22:13:20.123456789Z"),
      ("1700000000.123", "s", "2023-11-14T22:13:20.123Z"),
      ("1700000000123", "ms", "2023-11-14T22:13:20.123Z"),
      ("\"1700000000123456\"", "us", "2023-11-14T22:13:20.123456Z"),
      ("1700000000123456789", "ns", "2023-11-14T22:13:20.123456789Z"), ("-1", "s", "1969-12-31T23:59:59Z"),
      ("-0.5", "s", "1969-12-31T23:59:59.5Z"), ("1e9", "s", "2001-09-09T01:46:40Z"),
      ("0", "ns", "1970-01-01T00:00:00Z"),
      ("1.5e-3", "s", "1970-01-01T00:00:00.0015Z"),
      ("9223372036.854775807", "s", "2262-04-11T23:47:16.854775807Z"),
    ] {
      // A double has fewer digits than the last of these.
      let value = value.count > 18 && !value.hasPrefix("\"") && value.contains(".") ? "\"\(value)\"" : value
      let appends = try await appends(
        "{\"id\":1,\"t\":\(value)}", "--id", "id", "--time", "t", "--time-format", form)
      #expect(appends.first?.ownTime == Timestamp(text), "\(value) \(form)")
    }
    for value in ["\"x\"", "true", "1e30", "\"1.2.3\"", "\"\"", "\"-\"", "99999999999"] {
      let folder = try ImportFolder()
      let failure = try await folder.failure(
        of: [
          try folder.write("{\"id\":1,\"t\":\(value)}"), "--table", "t", "--id", "id", "--time", "t",
          "--time-format",
          "s",
        ])
      #expect(failure.code == ExitStatus.corrupt && failure.place.hasSuffix(":1:13"), "\(value): \(failure)")
    }
  }

  @Test func `times of databases are read as RFC 3339, and those without an offset only with a zone`()
    async throws
  {
    for (text, zone, expected) in [
      ("2026-11-20 18:17:16+00", nil, "2026-11-20T18:17:16Z"),
      ("2026-11-20T18:17:16.25+0130", nil, "2026-11-20T16:47:16.25Z"),
      ("2026-11-20 18:17:16 -0500", nil, "2026-11-20T23:17:16Z"),
      ("2026-11-20 18:17:16.5 UTC", nil, "2026-11-20T18:17:16.5Z"),
      ("2026-11-20 18:17:16", "+02:00", "2026-11-20T16:17:16Z"),
      ("2026-11-20", "utc", "2026-11-20T00:00:00Z"),
      ("2026-11-20T18:17:16Z", "+02:00", "2026-11-20T18:17:16Z"),
      ("1969-12-31 23:59:59.999", "UTC", "1969-12-31T23:59:59.999Z"),
      ("2026-11-20 18:17:16+01", "-0300", "2026-11-20T17:17:16Z"),
    ] as [(String, String?, String)] {
      let zones = zone.map { ["--time-zone", $0] } ?? []
      let folder = try ImportFolder()
      try await folder.run(
        [try folder.write("{\"id\":1,\"t\":\"\(text)\"}"), "--table", "t", "--id", "id", "--time", "t"]
          + zones)
      #expect(try await folder.appends().first?.ownTime == Timestamp(expected), "\(text)")
    }
    for text in [
      "2026-11-20 18:17:16", "2026-11-20", "2026-13-20T00:00:00Z", "2026-11-20T18:17:16+1", "18:17",
    ] {
      let folder = try ImportFolder()
      let failure = try await folder.failure(
        of: [try folder.write("{\"id\":1,\"t\":\"\(text)\"}"), "--table", "t", "--id", "id", "--time", "t"])
      #expect(failure.code == ExitStatus.corrupt && failure.what.contains(text), "\(failure)")
      let lacksOffset = text.hasPrefix("2026-11-20") && !text.contains("T")
      #expect(failure.what.contains("--time-zone") == lacksOffset, "\(failure)")
    }
  }

  @Test func `a record that the filter matches deletes its row, and metadata is of fields and constants`()
    async throws
  {
    let folder = try ImportFolder()
    let file = try folder.write(
      "{\"id\":1,\"by\":{\"name\":\"a\"}}\n{\"id\":1,\"op\":\"delete\"}\n{\"id\":2,\"op\":null}\n")
    let arguments = [file, "--table", "t", "--id", "id", "--delete-when", "op == 'delete' || $id == '7'"]
    try await folder.run(arguments + ["--meta", "by=by.name", "--meta", "note='a=b'", "--meta", "n=[1]"])
    let events = try await folder.appends().map { $0.events[0] }
    #expect(events.map(\.type) == ["$put", "$delete", "$put"])
    #expect(try events[1].document() == .null)
    #expect(
      try events.map { DocumentValue.object(try $0.metadata()) } == [
        ["by": "a", "note": "a=b", "n": [1]], ["note": "a=b", "n": [1]], ["note": "a=b", "n": [1]],
      ])
    #expect(folder.tables.withLock { $0.map(\.short) } == ["t: 2 put, 1 deleted"])
    let constant = try ImportFolder()
    try await constant.run([file, "--table", "t", "--id", "id", "--meta", "note=\"x\""])
    #expect(try await constant.appends().allSatisfy { try $0.events[0].metadata()["note"] == "x" })
    for more in [
      ["--delete-when", "op =="], ["--delete-when", "$revision > 1"], ["--meta", "by"], ["--meta", "=x"],
      ["--meta", "a=b", "--meta", "a=c"], ["--meta", "a="], ["--time-zone", "Mars"], ["--time-format", "m"],
      ["--skip-errors", file],
    ] {
      let failure = try await folder.failure(of: [file, "--table", "t", "--id", "id"] + more)
      #expect(failure.code == ExitStatus.usage, "\(more): \(failure)")
    }
  }

  @Test func `bad records go to a file with their line and why, and the import ends with 3`() async throws {
    let folder = try ImportFolder()
    let long = String(repeating: "x", count: 17 << 20)
    let file = try folder.write(
      Array("{\"id\":1}\n{\"id\":}\n\"\n".utf8) + [0xFF, 0x0A]
        + Array("{\"id\":\"\(long)\"}\n{\"id\":2}\n".utf8), to: "a")
    let result = try ImportProcess.run(
      ImportProcess.command,
      ["import", folder.store, file, "--table", "t", "--id", "id", "--skip-errors", folder.file("bad")])
    #expect(result.code == ExitStatus.skipped, "\(result)")
    let lines = try String(contentsOfFile: folder.file("bad"), encoding: .utf8).split(separator: "\n")
      .map { try DocumentValue(json: String($0)) }
    #expect(lines.map { $0["line"] } == [2, 3, 4, 5])
    #expect(lines.map { $0["column"] } == [7, 2, 1, 1])
    #expect(lines.map { $0["record"] } == ["{\"id\":}", "\"", ["b64": "/w=="], .null])
    #expect(lines[0]["why"] == "unexpected '}'")
    #expect(try await folder.documents() == [["id": 1], ["id": 2]])
    let refused = try await folder.failure(
      of: [file, "--table", "t", "--id", "id", "--skip-errors", folder.file("none/bad")])
    #expect(refused.code == ExitStatus.inputOutput && refused.place.hasSuffix("none/bad"), "\(refused)")
  }
}
