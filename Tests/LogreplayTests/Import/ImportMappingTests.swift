// Mappings: what their members make of records of every format, and which mappings are refused.

import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct ImportMappingTests {
  private func run(
    _ folder: ImportFolder, _ mapping: String, _ file: String, _ more: String...
  ) async throws -> ImportReport {
    try folder.write(mapping, to: "m.json")
    return try await folder.run([folder.file(file), "--mapping", folder.file("m.json")] + more)
  }

  private func failure(
    _ folder: ImportFolder, _ mapping: String, _ file: String = "lines.jsonl", _ more: String...
  ) async throws -> CommandFailure {
    try folder.write(mapping, to: "m.json")
    return try await folder.failure(of: [folder.file(file), "--mapping", folder.file("m.json")] + more)
  }

  @Test func `one mapping makes rows of tables, events and nothing of records, each with its own time`()
    async throws
  {
    let folder = try ImportFolder()
    try folder.write(
      """
      {"kind":"row","t":"user","key":{"id":7},"doc":{"name":"Ada"},"at":1,"by":"me"}
      {"kind":"row","t":"user","key":{"id":"8"},"doc":{"name":"Bo"},"at":2}
      {"kind":"row","t":"city","key":{"id":7},"doc":{"name":"Cairo"},"at":3,"part":true}
      {"kind":"row","t":"user","key":{"id":7},"at":4,"gone":true}
      {"kind":"note","of":"user","n":7,"what":"called","data":"{\\"m\\":[1,2.5]}","at":5}
      {"kind":"raw","of":"user","n":8,"data":"AP8=","at":"6"}
      {"kind":"noise"}
      """)
    let mapping = """
      {"mapping":1,"about":"a test","append-id":{"fields":["kind","at"]},"rules":[
        {"when":"kind == 'noise'","skip":true},
        {"when":"kind == 'row'","table":"t","id":"key.id","merge-when":"part == true","deleted":"gone",
         "document":"doc","time":"at","time-format":"s",
         "metadata":{"by":{"field":"by","optional":true},"batch":{"value":[1,"x"]}}},
        {"when":"kind == 'raw'","stream":{"fields":["of","n"],"separator":"/"},"type":{"value":"raw"},
         "document":{"field":"data","as":"base64"},"time":"at","time-format":"s"},
        {"stream":{"fields":["of","n"],"separator":"/"},"type":"what","document":{"field":"data","as":"json"},
         "time":"at","time-format":"s"}]}
      """
    let report = try await run(folder, mapping, "lines.jsonl")
    #expect(report.read == 7 && report.appended == 6 && report.passed == 1 && report.known == 0)
    #expect(
      folder.tables.withLock { $0.map(\.short) } == ["user: 2 put, 1 deleted", "city: 1 merged"])
    let appends = try await folder.appends()
    #expect(
      appends.map { $0.events[0].stream.text }
        == ["user/7", "user/8", "city/7", "user/7", "user/7", "user/8"])
    #expect(
      appends.map { $0.events[0].type } == ["$put", "$put", "$merge", "$delete", "called", "raw"])
    #expect(appends.map(\.ownTime.nanoseconds) == (1...6).map { $0 * 1_000_000_000 })
    #expect(
      appends.map(\.id) == ["row:1", "row:2", "row:3", "row:4", "note:5", "raw:6"])
    #expect(try appends[0].events[0].metadata() == ["by": "me", "batch": [1, "x"]])
    #expect(try appends[1].events[0].metadata() == ["batch": [1, "x"]])
    #expect(try appends[4].events[0].document() == ["m": [1, 2.5]])
    #expect(appends[5].events[0].payload == EventPayload(codec: .bytes, bytes: [0, 0xFF]))
    // Known by its own id, though every time is earlier than the store's last one.
    let again = try await run(folder, mapping, "lines.jsonl")
    #expect(again.appended == 0 && again.known == 6 && again.passed == 1 && folder.tables.withLock(\.isEmpty))
    // The same id with other content is not passed over.
    try folder.write(
      "{\"kind\":\"note\",\"of\":\"user\",\"n\":7,\"what\":\"met\",\"data\":\"1\",\"at\":5}", to: "b")
    let reused = try await failure(folder, mapping, "b")
    #expect(reused.code == 65 && reused.what.contains("line 1 of"), "\(reused)")
  }

  @Test func `a mapping reads the records of every format, and ids and names stay text`() async throws {
    let mapping = """
      {"mapping":1,"append-id":"n","stream":{"fields":[{"value":"order"},"n"],"separator":"/"},"type":"w",
       "time":"at","time-zone":"utc"}
      """
    let time = "2026-01-01 10:00:00"
    let inputs = [
      ("a.jsonl", "{\"n\":\"1.5\",\"w\":\"x\",\"at\":\"\(time)\"}\n"),
      ("a.json", "[\n {\"n\":\"1.5\",\n\"w\":\"x\",\"at\":\"\(time)\"}]"),
      ("a.csv", "n,w,at\n1.5,x,\(time)\n"), ("a.tsv", "w\tn\tat\nx\t1.5\t\(time)\n"),
    ]
    for (name, text) in inputs {
      let folder = try ImportFolder()
      try folder.write(text, to: name)
      #expect(try await run(folder, mapping, name).appended == 1, "\(name)")
      #expect(try await run(folder, mapping, name).known == 1, "\(name)")
      let append = try #require(try await folder.appends().first)
      #expect(append.events[0].stream.text == "order/1.5" && append.id == "1.5", "\(name)")
      #expect(append.ownTime == Timestamp("2026-01-01T10:00:00Z"))
    }
    guard importHasPython, FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3") else { return }
    let folder = try ImportFolder()
    _ = try importPython(
      """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1])
      db.execute("CREATE TABLE o (n TEXT, w TEXT, at TEXT)")
      db.execute("INSERT INTO o VALUES ('1.5', 'x', '\(time)')")
      db.commit()
      """, folder.file("a.db"))
    #expect(try await run(folder, mapping, "a.db", "--from-table", "o").appended == 1)
    #expect(try await run(folder, mapping, "a.db", "--from-table", "o").known == 1)
    let unnamed = try await failure(folder, mapping, "a.db")
    #expect(unnamed.code == 64 && unnamed.next.contains("--from-table"), "\(unnamed)")
    let unknown = try await failure(
      folder, "{\"mapping\":1,\"table\":{\"value\":\"o\"},\"id\":\"n\"}", "a.db")
    #expect(unknown.code == 64 && unknown.next.contains("append-id"), "\(unknown)")
    let missing = try await failure(
      folder, mapping.replacing("\"w\"", with: "\"nowhere\""), "a.db", "--from-table", "o")
    #expect(missing.code == 66 && missing.what.contains("nowhere"), "\(missing)")
  }

  @Test func `what is compared is appended where it differs, also if it becomes what it was again`()
    async throws
  {
    let mapping =
      "{\"mapping\":1,\"compare\":true,\"table\":{\"value\":\"t\"},\"id\":\"id\",\"deleted\":\"gone\"}"
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let folder = try ImportFolder()
    var model: [Int: Int] = [:]
    for round in 0..<6 {
      var appended: UInt64 = 0
      let before = model
      var changed = Set<Int>()
      let lines = (0..<Int.random(in: 1...40, using: &random)).map { _ -> String in
        let (id, value) = (Int.random(in: 0..<6, using: &random), Int.random(in: 0..<3, using: &random))
        let isGone = Int.random(in: 0..<4, using: &random) == 0
        if changed.contains(id) || before[id] != (isGone ? nil : value) {
          changed.insert(id)
          appended += 1
        }
        model[id] = isGone ? nil : value
        return "{\"id\":\(id),\"v\":\(value),\"gone\":\(isGone)}\n"
      }
      try folder.write(lines.joined())
      let report = try await run(folder, mapping, "lines.jsonl")
      #expect(report.appended == appended, "seed \(seed), round \(round)")
      let rows = try await LogreplayProcess.run("at", folder.store, "head", "--table", "t", "-o", "jsonl")
      let found = try rows.lines.map { line -> String in
        let fields = try DocumentValue(json: line)["fields"]
        return "\(fields?["id"]?.json() ?? "")=\(fields?["v"]?.json() ?? "")"
      }
      #expect(Set(found) == Set(model.map { "\($0)=\($1)" }), "seed \(seed), round \(round)")
    }
  }

  @Test(arguments: [
    ("[1]", "the mapping is not an object", ""), ("{\"a\"", "line 1, column 5", ""),
    ("{}", "\"mapping\" is missing", ""), ("{\"mapping\":2}", "is not 1", "mapping"),
    ("{\"mapping\":1,\"ids\":\"id\"}", "\"id\" is missing", ""),
    ("{\"mapping\":1,\"id\":\"id\",\"tabel\":\"t\"}", "no member \"tabel\"", "tabel"),
    ("{\"mapping\":1,\"id\":\"id\",\"merge\":1}", "merge is neither true nor false", "merge"),
    ("{\"mapping\":1,\"id\":5}", "neither a field nor an object", "id"),
    ("{\"mapping\":1,\"id\":{}}", "nothing says what the value is", "id"),
    ("{\"mapping\":1,\"id\":{\"field\":\"a\",\"value\":1}}", "no member \"field\"", "id.field"),
    ("{\"mapping\":1,\"id\":{\"field\":\"a\",\"as\":\"xml\"}}", "is not read as \"xml\"", "id.as"),
    (
      "{\"mapping\":1,\"id\":{\"fields\":[\"a\",\"b\"],\"separator\":\"\"}}", "nothing cannot separate",
      "id.separator"
    ),
    ("{\"mapping\":1,\"id\":\"a..b\"}", "'a..b' is not a field", "id"),
    ("{\"mapping\":1,\"id\":{\"field\":\"a\",\"optional\":true}}", "the id cannot be missing", "id"),
    ("{\"mapping\":1,\"id\":\"id\",\"delete-when\":\"a ==\"}", "the expression has an error", "delete-when"),
    ("{\"mapping\":1,\"id\":\"id\",\"delete-when\":\"$time > 1\"}", "no $time", "delete-when"),
    ("{\"mapping\":1,\"id\":\"id\",\"time-format\":\"s\"}", "without a time", ""),
    (
      "{\"mapping\":1,\"id\":\"id\",\"time\":\"a\",\"time-format\":\"h\"}", "not a form of times",
      "time-format"
    ),
    ("{\"mapping\":1,\"id\":\"id\",\"time\":{\"value\":1}}", "the time is not a field", "time"),
    ("{\"mapping\":1,\"id\":\"id\",\"metadata\":{\"a\":[]}}", "neither a field", "metadata.a"),
    ("{\"mapping\":1,\"rules\":[]}", "rules is not an array with something in it", "rules"),
    ("{\"mapping\":1,\"rules\":[{\"skip\":true}]}", "every rule passes records over", ""),
    ("{\"mapping\":1,\"rules\":[{\"skip\":true},{\"id\":3}]}", "neither a field", "rules[1].id"),
    ("{\"mapping\":1,\"rules\":[{\"skip\":true,\"id\":\"x\"}]}", "no member \"id\"", "rules[0].id"),
    ("{\"mapping\":1,\"rules\":[{\"id\":\"x\"}],\"id\":\"y\"}", "no member \"id\"", "id"),
    ("{\"mapping\":1,\"stream\":\"a\"}", "\"type\" is missing", ""),
    ("{\"mapping\":1,\"stream\":\"a\",\"type\":\"b\",\"id\":\"c\"}", "is for rows", "id"),
    ("{\"mapping\":1,\"id\":\"a\",\"table\":\"b\"}", "the table of each row is in the record", "table"),
    ("{\"mapping\":1,\"id\":\"a\",\"compare\":true,\"merge\":true}", "only whole rows", "compare"),
    ("{\"mapping\":1,\"id\":\"a\",\"compare\":true,\"append-id\":\"b\"}", "two ways", "compare"),
  ])
  func `a wrong mapping is refused by name and place, before anything is made`(
    mapping: String, what: String, place: String
  ) async throws {
    let folder = try ImportFolder()
    try folder.write("{\"id\":1}")
    let isEvent = mapping.contains("\"stream\"") || mapping.contains("{\"skip\":true}]")
    let failure =
      isEvent
      ? try await failure(folder, mapping) : try await failure(folder, mapping, "lines.jsonl", "--table", "t")
    #expect(failure.code == 64 && failure.what.contains(what) && !failure.next.isEmpty, "\(failure)")
    #expect(failure.place == folder.file("m.json") + (place.isEmpty ? "" : ": \(place)"), "\(failure)")
    #expect(!FileManager.default.fileExists(atPath: folder.store))
  }

  @Test func `a record that is not what the mapping says is bad, with its line and column`() async throws {
    let rows =
      "{\"mapping\":1,\"id\":\"k.id\",\"table\":{\"value\":\"t\"},\"document\":\"d\",\"deleted\":\"gone\"}"
    let events = """
      {"mapping":1,"append-id":"i","stream":{"field":"s","category-ends":"-"},"type":"y",
       "document":{"field":"d","as":"base64"},"time":"t"}
      """
    let good = "\"i\":\"1\",\"s\":\"a-b\",\"y\":\"z\",\"d\":\"\",\"t\":\"2026-01-01T00:00:00Z\""
    func event(_ from: String, _ to: String) -> String { "{\(good.replacing(from, with: to))}" }
    for (mapping, line, column, what) in [
      (rows, "{\"k\":{},\"d\":{}}", 1, "the field \"k.id\", which is the id, is missing"),
      (rows, "{\"k\":{\"id\":null},\"d\":{}}", 12, "is missing"),
      (rows, "{\"k\":{\"id\":1.5},\"d\":{}}", 12, "neither a text nor an integer"),
      (rows, "{\"k\":{\"id\":\"\"},\"d\":{}}", 12, "the id is empty"),
      (rows, "{\"k\":{\"id\":1},\"d\":[]}", 19, "the document is not an object"),
      (rows, "{\"k\":{\"id\":1}}", 1, "which is the document, is missing"),
      (rows, "{\"k\":{\"id\":1},\"d\":{},\"gone\":\"no\"}", 29, "neither true nor false"),
      (rows, "{\"k\":{\"id\":\"\(String(repeating: "x", count: 1024))\"},\"d\":{}}", 1, "1026 bytes"),
      (events, event("a-b", "a/x-b"), 14, "has a slash in its category"),
      (events, event("a-b", "a/x"), 14, "has a slash in its category"),
      (events, event("a-b", "$a-b"), 1, "begins with a dollar sign"),
      (events, event("\"z\"", "\"$z\""), 1, "begins with a dollar sign"),
      (events, event("\"z\"", "\"\""), 1, "the type has 0 bytes"),
      (events, event("\"d\":\"\"", "\"d\":\"AB==\""), 32, "is not base 64"),
      (events, event("\"i\":\"1\"", "\"i\":\"\""), 6, "the append id is empty"),
      (events, event("2026-01-01T", "2026-01-01"), 39, "is not a time"),
    ] {
      let folder = try ImportFolder()
      try folder.write("\n\(line)\n")
      let failure = try await failure(folder, mapping)
      #expect(failure.code == 65 && failure.what.contains(what), "\(line): \(failure)")
      #expect(failure.place.hasSuffix(":2:\(column)"), "\(line): \(failure.place)")
    }
    let joined = "{\"mapping\":1,\"table\":{\"value\":\"t\"},\"id\":{\"fields\":[\"a\",\"b\"]}}"
    let folder = try ImportFolder()
    try folder.write("{\"a\":\"x\",\"b\":\"y:z\"}\n{\"a\":\"x:y\",\"b\":\"z\"}\n")
    let clash = try await failure(folder, joined)
    #expect(
      clash.what.contains("a part of the id contains \":\"") && clash.place.hasSuffix(":2:6"), "\(clash)")
    #expect(try await folder.appends().map { $0.events[0].stream.text } == ["t/x:y:z"])
    let none = try await failure(
      folder, "{\"mapping\":1,\"rules\":[{\"when\":\"a == 'q'\",\"stream\":\"a\",\"type\":\"b\"}]}")
    #expect(none.what.contains("no rule of the mapping applies"), "\(none)")
  }

  @Test func `options that say what the mapping says are refused`() async throws {
    let folder = try ImportFolder()
    try folder.write("{\"id\":1}")
    let mapping = "{\"mapping\":1,\"table\":{\"value\":\"t\"},\"id\":\"id\",\"append-id\":\"id\"}"
    for more in [
      ["--id", "x"], ["--time", "x"], ["--merge"], ["--meta", "a=b"], ["--source", "s"], ["--apply-late"],
    ] {
      try folder.write(mapping, to: "m.json")
      let failure = try await folder.failure(
        of: [folder.file("lines.jsonl"), "--mapping", folder.file("m.json")] + more)
      #expect(failure.code == 64, "\(more): \(failure)")
    }
    let missing = try await folder.failure(of: [folder.file("lines.jsonl"), "--mapping", "couchbd"])
    #expect(missing.code == 66 && missing.next.contains("couchdb, journald, kurrentdb"), "\(missing)")
    // The table of the command line comes first.
    try await folder.run([folder.file("lines.jsonl"), "--mapping", folder.file("m.json"), "--table", "u"])
    #expect(try await folder.appends().map { $0.events[0].stream.text } == ["u/1"])
  }

  @Test func `texts of one append id have the same bytes, whatever their lengths are`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    var seen: [[UInt8]: [UInt8]] = [:]
    for _ in 0..<2_000 {
      let text = (0..<Int.random(in: 1...80, using: &random)).map { _ in
        ["a", "é", "🙂", "~", "0"].randomElement(using: &random)!
      }.joined()
      let id = ImportAppendID.of(Array(text.utf8))
      #expect((1...64).contains(id.count) && String(validating: id, as: UTF8.self) != nil, "seed \(seed)")
      #expect(
        seen.updateValue(Array(text.utf8), forKey: id) ?? Array(text.utf8) == Array(text.utf8), "seed \(seed)"
      )
      // A text that is the shortened form of another one has another id.
      if id != Array(text.utf8) { #expect(ImportAppendID.of(id) != id, "seed \(seed)") }
    }
  }
}
