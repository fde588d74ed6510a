// Laws of importing comma separated values: which text is what, and what is said of a file that is something else.

import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
@testable import StrataPast
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct ImportCSVTests {
  /// Imports a text as CSV into a new store, and returns its documents.
  private func documents(_ text: String, _ more: String...) async throws -> [DocumentValue] {
    let folder = try ImportFolder()
    try await folder.run([try folder.write(text, to: "a.csv"), "--table", "t", "--id", "id"] + more)
    return try await folder.documents()
  }

  private func failure(_ text: String, _ more: String...) async throws -> CommandFailure {
    try await failure(Array(text.utf8), more)
  }

  private func failure(_ bytes: [UInt8], _ more: [String] = []) async throws -> CommandFailure {
    let folder = try ImportFolder()
    let failure = try await folder.failure(
      of: [try folder.write(bytes, to: "a.csv"), "--table", "t", "--id", "id"] + more)
    #expect(
      !FileManager.default.fileExists(atPath: folder.store), "a failure before the first row leaves a store")
    return failure
  }

  @Test func `a field is a number only if that is how the number is printed`() async throws {
    let numbers: [(String, DocumentValue)] = [
      ("0", 0), ("-7", -7), ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
      ("18446744073709551615", .uint(.max)),
      ("123456789012345678901", DocumentValue(DocumentInteger("123456789012345678901")!)), ("1.5", 1.5),
      ("-0.25", -0.25), ("0.00001", 0.00001), ("0.1", 0.1), ("3.141592653589793", .double(.pi)),
    ]
    let texts = [
      "007", "00", "+5", "-0", "1.0", "1.50", "1e3", "1E3", ".5", "5.", "-", "0x10", " 1", "1 ", "NaN",
      "inf",
      "0.1000000000000000055511151231257827", "12.", "1_000", "1.5.2", "2026-11-20", "١",
    ]
    let rows = numbers.map { "a,\($0.0),\"\($0.0)\"\n" } + texts.map { "b,\($0),\"\($0)\"\n" }
    let documents = try await documents("id,v,quoted\n" + rows.joined())
    let expected = numbers.map(\.1) + texts.map { .string($0) }
    #expect(documents.map { $0["v"] } == expected)
    // In quotes it is a text.
    #expect(documents.map { $0["quoted"] } == (numbers.map(\.0) + texts).map { .string($0) })
  }

  @Test func `quotes, empty fields, line ends, a byte order mark and blank lines are what RFC 4180 says`()
    async throws
  {
    let expected: [DocumentValue] = [
      ["id": "1", "a b": "x,\"y\"\nz", "c": .null], ["id": "2", "a b": "", "c": " s "],
      ["id": "3", "a b": .null, "c": .null],
    ]
    let lines = ["id,a b,c", "1,\"x,\"\"y\"\"\nz\",", "2,\"\", s ", "3,,"]
    for (end, begin, last) in [("\n", "", "\n"), ("\r\n", "\u{FEFF}", ""), ("\n\n", "\n\n", "\n\n\n")] {
      #expect(try await documents(begin + lines.joined(separator: end) + last) == expected)
    }
  }

  @Test func `a row is an append of its own, and a second run appends only what came`() async throws {
    let folder = try ImportFolder()
    func run() async throws -> ImportReport {
      try await folder.run([folder.file("a.csv"), "--table", "t", "--id", "id"])
    }
    try folder.write("id,v\n1,\"a\nb\"\n\n2,x\n", to: "a.csv")
    #expect(try await run() == ImportReport(unit: "rows", read: 2, appended: 2, first: 1, last: 2))
    #expect(folder.tables.withLock { $0.map(\.short) } == ["t: 2 put"])
    #expect(try await folder.appends().map(\.line) == [1, 2])
    try folder.write("id,v\r\n1,\"a\nb\"\r\n2,x\r\n3,y\r\n", to: "a.csv")
    #expect(try await run() == ImportReport(unit: "rows", read: 3, appended: 1, known: 2, first: 3, last: 3))
    // A row that was changed is refused with its line, and so is one that has other names.
    try folder.write("id,v\n1,\"a\nb\"\n2,y\n3,y\n", to: "a.csv")
    let changed = try await folder.failure(of: [folder.file("a.csv"), "--table", "t", "--id", "id"])
    #expect(changed.what.contains("row 2 is not the row") && changed.place.hasSuffix("a.csv:4"), "\(changed)")
    try folder.write("id,w\n1,\"a\nb\"\n2,x\n", to: "a.csv")
    let renamed = try await folder.failure(of: [folder.file("a.csv"), "--table", "t", "--id", "id"])
    #expect(renamed.what.contains("row 1 is not the row"), "\(renamed)")
    #expect(try await folder.appends().count == 3)
  }

  @Test func `a bad row is named with its line and column, and only that row is skipped`() async throws {
    for (row, place, why) in [
      ("2", "3:1", "1 field, but the header has 2"), ("2,b,c", "3:1", "3 fields, but the header has 2"),
      ("2,b\"c", "3:4", "a quote in a field that does not begin with one"),
      ("2,\"b\" c", "3:6", "text after the quote"), ("2,a\rb", "3:4", "a carriage return"),
      ("\"2\n\",\"b\"c", "4:6", "text after the quote"), (",x", "3:1", "neither a string nor an integer"),
      ("\"\",x", "3:1", "is empty"),
    ] {
      let text = "id,v\n1,a\n\(row)\n3,c\n"
      let folder = try ImportFolder()
      try folder.write(text, to: "a.csv")
      let failure = try await folder.failure(of: [folder.file("a.csv"), "--table", "t", "--id", "id"])
      #expect(failure.code == ExitStatus.corrupt && failure.place.hasSuffix("a.csv:\(place)"), "\(failure)")
      #expect(failure.what.contains(why), "\(failure)")
      let report = try await folder.run([folder.file("a.csv"), "--table", "t", "--id", "id", "--skip-bad"])
      #expect(report.skipped == 1 && report.known == 1 && report.appended == 1, "\(row): \(report)")
      #expect(try await folder.documents().map { $0["id"] } == ["1", "3"])
    }
    let open = try await failure("id,v\n1,\"a\n2,b\n")
    #expect(open.what.contains("line 2, column 3") && open.what.contains("not closed"), "\(open)")
  }

  @Test func `a text in another encoding or with another separator is named, with what to do`() async throws {
    let latin = try await failure(Array("id,v\n1,caf".utf8) + [0xE9, 0x0A])
    #expect(
      latin.place.hasSuffix(":2:6") && latin.what.contains("0xE9") && latin.what.contains("iconv"), "\(latin)"
    )
    for bytes in [[0xFF, 0xFE, 0x69, 0x00], [0xFE, 0xFF, 0x00, 0x69]] as [[UInt8]] {
      let wide = try await failure(bytes)
      #expect(wide.what.contains("UTF-16") && wide.next.contains("iconv -f UTF-16"), "\(wide)")
    }
    for (text, option) in [
      ("id;v\n1;a\n", "--separator ';'"), ("id\tv\n1\ta\n", "--format tsv"),
      ("id|v\n1|a\n", "--separator '|'"),
    ] {
      let other = try await failure(text)
      #expect(other.what.contains("line 1") && other.next.contains(option), "\(other)")
    }
    #expect(try await documents("id;v\n1;\"a;b\"\n", "--separator", ";") == [["id": "1", "v": "a;b"]])
    #expect(try await documents("id\tv\n1\ta,b\n", "--format", "tsv") == [["id": "1", "v": "a,b"]])
    #expect(try await failure("id,a,a\n").what.contains("\"a\" twice"))
    #expect(try await failure("id,,a\n").what.contains("no name for field 2"))
    #expect(try await failure("x,y\n").next.contains("\"x\", \"y\""))
    #expect(try await failure("").what.contains("no header"))
  }

  @Test func `types say what a field is, and a text that is none of it is a bad row`() async throws {
    let types = ["--types", "i:int,r:real,b:bool", "--types", "j:json,t:time,s:text,`a,b:c`:int"]
    func row(_ text: String) async throws -> DocumentValue? {
      let folder = try ImportFolder()
      try folder.write("id,i,r,b,j,t,s,\"a,b:c\"\nx,\(text)\n", to: "a.csv")
      try await folder.run(
        [folder.file("a.csv"), "--table", "t", "--id", "id", "--time-zone", "+01:00"] + types)
      return try await folder.documents().first
    }
    #expect(
      try await row("+007,1,T,\"{\"\"a\"\":[1]}\",2026-01-01 10:00:00,1,0")
        == [
          "id": "x", "i": 7, "r": 1.0, "b": true, "j": ["a": [1]], "t": "2026-01-01T09:00:00.000000000Z",
          "s": "1",
          "a,b:c": 0,
        ])
    #expect(
      try await row("\"\",-Infinity,0,null,2026-01-01T10:00:00Z,\"\",")
        == [
          "id": "x", "i": .null, "r": .double(-.infinity), "b": false, "j": .null,
          "t": "2026-01-01T10:00:00Z",
          "s": "", "a,b:c": .null,
        ])
    for (text, why) in [
      ("x,1,1,1,,,1", "\"x\" is not an integer"), ("1,1e400,1,1,,,1", "a double cannot hold"),
      ("1,1.0.0,1,1,,,1", "not a number"), ("1,1,maybe,1,,,1", "not true or false"),
      ("1,1,1,{,,,1", "not JSON"),
      ("1,1,1,1,noon,,1", "not a time"), ("1,0.123456789012345678,1,1,,,1", "a double cannot hold"),
      ("1.5,1,1,1,,,1", "not an integer"),
    ] {
      let error = await #expect(throws: CommandFailure.self) { _ = try await row(text) }
      #expect(error?.what.contains(why) == true, "\(text): \(error as Any)")
    }
  }

  @Test func `options that do not fit the format are refused`() async throws {
    for (more, why) in [
      (["--types", "v:number"], "not NAME:TYPE"), (["--types", "x:int"], "no field \"x\""),
      (["--types", "v:int,v:real"], "two types"), (["--separator", "\""], "not a separator"),
      (["--separator", ", "], "not a separator"),
      (["--format", "jsonl", "--separator", ";"], "apply only to csv"),
      (["--from-table", "x"], "only to sqlite"),
    ] {
      let failure = try await failure(Array("id,v\n1,2\n".utf8), more)
      #expect(failure.code == ExitStatus.usage && failure.what.contains(why), "\(failure)")
    }
  }
}
