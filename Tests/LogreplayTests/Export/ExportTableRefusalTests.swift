// What an export of tables refuses, by the row's and the field's name, and what it keeps on request.

import Foundation
import Strata
import StrataDocuments
import Testing

@testable import LogreplayShell
@testable import LogreplayTables

struct ExportTableRefusalTests {
  /// A closed store with these documents in the table `t`.
  private static func folder(_ rows: [(id: String, fields: DocumentObject)]) async throws -> SampleFolder {
    let folder = try SampleFolder()
    let store = try await folder.open()
    for row in rows {
      try await store.append([
        NewEvent("$put", in: StreamName(category: "t", id: row.id), .object(row.fields))
      ])
    }
    try await store.close()
    return folder
  }

  /// The first line of the error of an export that must fail, which must leave no file.
  private static func failure(
    _ folder: SampleFolder, _ name: String, _ arguments: String..., code: Int32 = ExitStatus.corrupt,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> String {
    let outcome = try await LogreplayProcess(
      ["export", folder.store, folder.file(name), "--table", "t"] + arguments
    ).wait()
    #expect(outcome.code == code, "\(outcome)", sourceLocation: sourceLocation)
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(left == ["support.strata"], "\(left)", sourceLocation: sourceLocation)
    return outcome.errors
  }

  @Test func `what JSON has no form for is refused by name, and becomes an object on request`() async throws {
    for (value, lack, text) in [
      (.bytes([1, 2, 3]), "bytes", #"{"b64":"AQID"}"#), (.double(.nan), "NaN", #"{"f64":"NaN"}"#),
      (["k": [.double(-.infinity)]], "an infinity", #"{"k":[{"f64":"-Infinity"}]}"#),
      (.tagged(32, DocumentContent("u")), "a tag", #"{"tag":32,"value":"u"}"#),
    ] as [(DocumentValue, String, String)] {
      let folder = try await Self.folder([("a", ["x": 1]), ("b", ["odd": value])])
      let error = try await Self.failure(folder, "t.jsonl")
      #expect(error.contains("the field \"odd\" has \(lack)") && error.contains("(t/b)"), "\(error)")
      let lossy = try await LogreplayProcess.run(
        "export", folder.store, folder.file("t.jsonl"), "--table", "t", "--lossy", "-o", "json")
      #expect(lossy.output.contains("\"inexact\":1}"), "\(lossy)")
      #expect(
        try String(contentsOfFile: folder.file("t.jsonl"), encoding: .utf8)
          == "{\"id\":\"a\",\"x\":1}\n{\"id\":\"b\",\"odd\":\(text)}\n")
    }
  }

  @Test func `a document with another value in the id field is refused, and another field can be the id`()
    async throws
  {
    let folder = try await Self.folder([("a", ["key": "a", "id": 7]), ("8", ["key": 8, "id": 8])])
    for name in ["t.jsonl", "t.csv", "t.sql"] {
      let error = try await Self.failure(folder, name)
      #expect(error.contains("the field \"id\" is not the row's id (t/a)"), "\(error)")
    }
    let outcome = try await LogreplayProcess.run(
      "export", folder.store, "-", "--format", "jsonl", "--table", "t", "--id", "key")
    #expect(outcome.output == "{\"id\":8,\"key\":8}\n{\"id\":7,\"key\":\"a\"}\n", "\(outcome)")
  }

  @Test func `a field that has every id is proposed where documents lack the id field`() async throws {
    let folder = try await Self.folder([("a", ["name": "a", "x": "a"]), ("b", ["name": "b", "x": "a"])])
    let outcome = try await LogreplayProcess.run(
      "export", folder.store, folder.file("t.jsonl"), "--table", "t")
    #expect(
      outcome.errors
        == "2 documents without the id field got it; --id name leaves the documents as they are\n")
  }

  @Test func `names that SQLite does not tell apart or does not have are refused`() async throws {
    for (fields, why) in [
      (["Status": 1, "status": 2], "\"Status\" and \"status\" are one column"),
      (["a\u{0}b": 1], "contains NUL"), (["ID": 1], "are one column"),
    ] as [(DocumentObject, String)] {
      let folder = try await Self.folder([("a", fields)])
      let error = try await Self.failure(folder, "t.sql")
      #expect(error.contains(why), "\(error)")
    }
    var wide = DocumentObject()
    for number in 0..<2000 { wide["c\(number)"] = 1 }
    let folder = try await Self.folder([("a", wide)])
    #expect(try await Self.failure(folder, "t.db").contains("2001 columns, and SQLite takes 2000"))
    let chosen = try await LogreplayProcess.run(
      "export", folder.store, "-", "--format", "csv", "--table", "t", "--fields", "c7,c1999")
    #expect(chosen.output == "id,c7,c1999\na,1,1\n", "\(chosen)")
  }

  @Test func `NaN is refused for SQLite, and is NULL on request`() async throws {
    let folder = try await Self.folder([("a", ["x": .double(.nan), "y": .double(.infinity)])])
    let error = try await Self.failure(folder, "t.db")
    #expect(error.contains("the field \"x\" has NaN") && error.contains("(t/a)"), "\(error)")
    let text = try await LogreplayProcess.run(
      "export", folder.store, "-", "--format", "sql", "--table", "t", "--lossy")
    #expect(text.output.contains("VALUES\n('a',NULL,9e999);"), "\(text)")
  }

  @Test func `an empty table has its header, and a table that is not there is named`() async throws {
    let folder = try await Self.folder([("a", ["x": 1])])
    let empty = try await LogreplayProcess.run(
      "export", folder.store, "-", "0", "--format", "csv", "--table", "t")
    #expect(empty.output == "id\n" && empty.code == 0, "\(empty)")
    let none = try await LogreplayProcess.run("export", folder.store, "-", "--format", "csv", "--table", "u")
    #expect(none.code == ExitStatus.notFound && none.errors.contains("there is no table 'u'"), "\(none)")
  }

  @Test func `options that say nothing about a format are refused`() async throws {
    let folder = try await Self.folder([("a", ["x": 1])])
    for (name, arguments) in [
      ("t.sql", ["--sort", "x"]), ("t.db", ["--limit", "1"]), ("t.csv", ["--changes"]),
      ("t.db", ["--changes"]),
      ("t.jsonl", ["--null", "x"]), ("t.csv", ["--as", "x"]), ("t.xml", []), ("t.db.gz", []),
      ("t.csv", ["0..1"]),
      ("t.csv", ["--null", "a,b"]), ("t.sql", ["--as", "sqlite_x"]), ("t.sql", ["--as", "STRATA_EXPORT"]),
    ] {
      let outcome = try await LogreplayProcess(
        ["export", folder.store, folder.file(name), "--table", "t"] + arguments
      ).wait()
      #expect(outcome.code == ExitStatus.usage, "\(name) \(arguments): \(outcome)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["support.strata"])
  }

  @Test func `sections are a column of CSV and SQL, and lists keep their order`() async throws {
    let folder = try await SampleFolder.list()
    func export(_ format: String, _ words: String...) async throws -> String {
      let outcome = try await LogreplayProcess(
        ["export", folder.store, "-", "--format", format, "--table", "incident"] + words
      ).wait()
      #expect(outcome.code == 0, "\(outcome)")
      return outcome.output
    }
    #expect(
      try await export(
        "csv", "--section-by", "status", "--section-order", "key:desc", "--sort", "n:desc", "--fields", "n")
        == "id,section,n\nd,,4\nc,Closed,30\na,Closed,1\n")
    #expect(
      try await export("jsonl", "--sort", "n:desc", "--fields", "n", "--limit", "1")
        == "{\"id\":\"c\",\"n\":30}\n")
    let text = try await export(
      "sql", "--section-by", "status", "--section-as", "group", "--where", "n > 1", "--fields", "n")
    #expect(
      text.contains(
        """
        CREATE TABLE "incident"(
          "id" TEXT NOT NULL PRIMARY KEY,
          "group" TEXT,
          "n" INTEGER);
        INSERT INTO "incident" VALUES
        ('c','Closed',30),
        ('d',NULL,4);
        """), "\(text)")
  }

  @Test func `texts of CSV that could be another value, null and missing values can be told apart`()
    async throws
  {
    let folder = try await Self.folder([
      ("a", ["e": "", "n": .null, "t": "12", "u": 12, "v": "true", "w": .bool(true)])
    ])
    let outcome = try await LogreplayProcess.run(
      "export", folder.store, "-", "--format", "csv", "--table", "t", "--fields", "e,n,t,u,v,w,m", "--null",
      "null")
    #expect(outcome.output == "id,e,n,t,u,v,w,m\na,\"\",null,\"12\",12,\"true\",true,\n", "\(outcome)")
    #expect(outcome.errors.contains("no row has a field m"))
  }

  @Test(arguments: ["0", "-1.5", "1e3", "true", "false", "NaN", "-Infinity", "[", "{}", "0x1"])
  func `a text for null that is a value is refused, since both would be one`(text: String) async throws {
    let folder = try await Self.folder([("a", ["n": .null, "u": 0])])
    let error = try await Self.failure(folder, "t.csv", "--null=\(text)", code: ExitStatus.usage)
    #expect(error.contains("null would be written as another value is"), "\(error)")
  }

  @Test func `what null is written as is no value of the table`() async throws {
    let folder = try await Self.folder([("a", ["n": .null, "t": "\\N", "u": 0])])
    for text in ["\\N", "NULL", "none", "-"] {
      let outcome = try await LogreplayProcess.run(
        "export", folder.store, "-", "--format", "csv", "--table", "t", "--null=\(text)")
      let quoted = text == "\\N" ? "\"\\N\"" : "\\N"
      #expect(outcome.output == "id,n,t,u\na,\(text),\(quoted),0\n", "\(outcome)")
    }
  }

  @Test func `a carriage return in a field's name is kept in CSV, and in SQLite except before a line feed`()
    async throws
  {
    for (name, isInSQLite) in [
      ("a\rb", true), ("\r", true), ("b\r", true), ("\r\na", false), ("a\r\n", false),
    ] {
      var fields: DocumentObject = ["id": "x"]
      fields[name] = 7
      let folder = try await Self.folder([("x", fields)])
      for form in ["csv", "tsv"] + (isInSQLite ? ["db"] : []) {
        let file = folder.file("t.\(form)")
        let outcome = try await LogreplayProcess.shell(
          #"""
          "$0" export "$1" "$2" --table t; "$0" import "$2.store" "$2" --table t --id id
          "$0" export "$2.store" - --format jsonl --table t > "$2.new"; "$0" export "$1" - --format jsonl --table t > "$2.old"
          cmp "$2.old" "$2.new"
          """#, folder.store, file)
        #expect(outcome.code == 0, "\(name.debugDescription) as \(form): \(outcome)")
      }
      guard !isInSQLite else { continue }
      try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "support.strata" }
        .forEach { try FileManager.default.removeItem(atPath: folder.file($0)) }
      let error = try await Self.failure(folder, "t.db")
      #expect(error.contains("carriage return before a line feed"), "\(error)")
    }
  }
}
