// `at`: a list at a point, in every layout and with every option.

import Foundation
import Strata
import StrataDocuments
import Testing

@testable import LogreplayEvents
@testable import LogreplayTables

struct AtTests {
  @Test func `at prints exactly what is promised`() async throws {
    let folder = try await SampleFolder.list()
    let output = try await folder.answer(
      "at", "4", "--table", "incident", "--section-by", "status", "--sort", "n:desc", "-o", "json")
    #expect(
      output == #"{"schema":1,"table":"incident","sequence":4,"time":"2026-01-01T00:00:02.000000000Z","#
        + #""chain":"\#(try await folder.chain(4))","count":4,"sections":["#
        + #"{"section":null,"count":1,"items":[{"id":"d","revision":4,"fields":{"n":4}}]},"#
        + #"{"section":"Closed","count":1,"items":["#
        + #"{"id":"c","revision":3,"fields":{"n":3,"note":"x, \"y\"\nz","status":"Closed"}}]},"#
        + #"{"section":"Open","count":2,"items":["#
        + #"{"id":"b","revision":2,"fields":{"n":2,"status":"Open"}},"#
        + #"{"id":"a","revision":1,"fields":{"impact":{"level":"High"},"n":1,"status":"Open"}}]}]}"# + "\n")
  }

  @Test func `without options it is one section, null, in the order of creation`() async throws {
    let folder = try await SampleFolder.list()
    #expect(
      try await folder.answer("at", "--fields", "n", "-o", "json")
        == #"{"schema":1,"table":"incident","sequence":8,"time":"2026-01-01T00:00:05.000000000Z","#
        + #""chain":"\#(try await folder.chain(8))","count":3,"sections":[{"section":null,"count":3,"items":["#
        + #"{"id":"a","revision":5,"fields":{"n":1}},{"id":"c","revision":7,"fields":{"n":30}},"#
        + #"{"id":"d","revision":4,"fields":{"n":4}}]}]}"# + "\n")
    #expect(
      try await folder.answer("at", "0", "-o", "json")
        == #"{"schema":1,"table":"incident","sequence":0,"time":null,"chain":"0000000000000000","count":0,"#
        + #""sections":[{"section":null,"count":0,"items":[]}]}"# + "\n")
    #expect(
      try await folder.answer("at", "0", "-o", "json", "--section-by", "status").hasSuffix(
        #""sections":[]}"# + "\n"))
  }

  @Test func `a line per item as jsonl`() async throws {
    let folder = try await SampleFolder.list()
    let output = try await folder.answer(
      "at", "-o", "jsonl", "--section-by", "status", "--fields", "n,impact.level")
    #expect(
      output == #"{"schema":1,"section":null,"id":"d","revision":4,"fields":{"n":4}}"# + "\n"
        + #"{"schema":1,"section":"Closed","id":"a","revision":5,"fields":{"impact.level":"High","n":1}}"#
        + "\n"
        + #"{"schema":1,"section":"Closed","id":"c","revision":7,"fields":{"n":30}}"# + "\n")
  }

  @Test func `csv quotes what holds commas, quotes and line ends`() async throws {
    let folder = try await SampleFolder.list()
    #expect(
      try await folder.answer("at", "4", "-o", "csv", "--section-by", "status")
        == "section,id,revision,impact,n,note,status\n,d,4,,4,,\n"
        + "Closed,c,3,,3,\"x, \"\"y\"\"\nz\",Closed\n"
        + "Open,a,1,\"{\"\"level\"\":\"\"High\"\"}\",1,,Open\nOpen,b,2,,2,,Open\n")
    #expect(
      try await folder.answer("at", "-o", "csv", "--fields", "n,$time", "--limit", "1")
        == "section,id,revision,n,$time\n,a,5,1,2026-01-01T00:00:03.000000000Z\n")
  }

  @Test func `people see sections with their counts`() async throws {
    let folder = try await SampleFolder.list()
    #expect(
      try await folder.answer("at", "4", "--section-by", "status", "--limit-per-section", "1")
        == "null  1\n  d  n=4\nClosed  1\n  c  n=3 note=\"x, \\\"y\\\"\\nz\"\n"
        + "Open  1 of 2 shown\n  a  impact={\"level\":\"High\"} n=1\n")
    #expect(
      try await folder.answer("at", "4", "--section-by", "status", "--fields", "n,note", "-o", "table")
        == "  id  n  note\nnull  1\n  d   4\nClosed  1\n  c   3  x, \"y\"\\u{a}z\nOpen  2\n  a   1\n  b   2\n"
    )
    #expect(
      try await folder.answer("at", "4", "--section-by", "status", "--limit", "1", "--fields", "n")
        == "null  1\n  d  n=4\nand 2 sections hidden by the limit\n")
    #expect(try await folder.answer("at", "0", "--section-by", "status") == "incident  0\n")
  }

  @Test func `an id that the documents repeat is one column`() async throws {
    let folder = try ImportFolder()
    try folder.write(#"{"id":"a","n":1}"# + "\n" + #"{"id":2,"n":2}"# + "\n")
    try await folder.importLines("lines.jsonl")
    func at(_ arguments: String...) async throws -> String {
      let outcome = try await LogreplayProcess(["at", folder.store] + arguments).wait()
      #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
      return outcome.output
    }
    #expect(try await at("-o", "csv") == "section,id,revision,n\n,a,1,1\n,2,2,2\n")
    #expect(
      try await at("-o", "csv", "--fields", "n,id") == "section,id,revision,n,`id`\n,a,1,1,a\n,2,2,2,2\n")
    #expect(try await at("-o", "table") == "  id  n\nt  2\n  a   1\n  2   2\n")
    let store = try await EventStore.open(at: folder.store)
    try await store.append([NewEvent("$put", in: "t/c", ["id": "other", "revision": 7])])
    try await store.close()
    #expect(
      try await at("-o", "csv")
        == "section,id,revision,`id`,n,`revision`\n,a,1,a,1,\n,2,2,2,2,\n,c,3,other,,7\n")
    #expect(
      try await at("-o", "table", "--fields", "id", "--sort", "$id:desc")
        == "  $id  id\nt  3\n  c    other\n  a    a\n  2    2\n")
  }

  @Test func `the titles of csv do not depend on what the rows hold`() async throws {
    let folder = try await SampleFolder.list()
    let fields = ["at", "--table", "t", "-o", "csv", "--fields", "id,section,revision,n,$id"]
    let store = try await folder.open()
    try await store.append([NewEvent("$put", in: "t/a", ["id": "a", "n": 1])])
    let first = store.head.sequence
    try await store.append([NewEvent("$put", in: "t/a", ["id": "b", "section": "s", "revision": 7])])
    try await store.close()
    let title = "section,id,revision,`id`,`section`,`revision`,n,$id\n"
    func at(_ point: String) async throws -> String {
      let outcome = try await LogreplayProcess([fields[0], folder.store, point] + fields.dropFirst()).wait()
      #expect(outcome.code == 0, "\(outcome)")
      return outcome.output
    }
    #expect(try await at("\(first)") == title + ",a,\(first),a,,,1,a\n")
    #expect(try await at("\(first + 1)") == title + ",a,\(first + 1),b,s,7,,a\n")
  }

  @Test func `the title of a field is not that of another column`() async throws {
    let folder = try await SampleFolder.list()
    let store = try await folder.open()
    try await store.append([
      NewEvent("$put", in: "t/a", ["id": "b", "`id`": 1, "a.b": 2, "$id": 3, "a": ["b": 4], "a b": 5])
    ])
    try await store.close()
    func title(_ fields: String...) async throws -> Substring {
      let arguments = ["at", folder.store, "head", "--table", "t", "-o", "csv"] + fields
      let outcome = try await LogreplayProcess(arguments).wait()
      #expect(outcome.code == 0, "\(outcome)")
      return outcome.output.split(separator: "\n")[0]
    }
    #expect(try await title() == "section,id,revision,`$id`,```id```,a,a b,`a.b`,`id`")
    #expect(try await title("--fields", "a.b,$id") == "section,id,revision,a.b,$id")
    #expect(try await title("--fields", "`a.b`,`$id`") == "section,id,revision,`a.b`,`$id`")
  }

  @Test func `a limit of none in each section leaves the sections and their counts`() async throws {
    let folder = try await SampleFolder.list()
    let counts = ["--section-by", "status", "--limit-per-section", "0"]
    func at(_ arguments: String...) async throws -> String {
      let outcome = try await LogreplayProcess(["at", folder.store, "4"] + counts + arguments).wait()
      #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
      return outcome.output
    }
    #expect(try await at() == "null  0 of 1 shown\nClosed  0 of 1 shown\nOpen  0 of 2 shown\n")
    #expect(try await at("-o", "table") == "null  0 of 1 shown\nClosed  0 of 1 shown\nOpen  0 of 2 shown\n")
    #expect(
      try await at("-o", "json", "--limit", "1").hasSuffix(
        #""count":4,"sections":[{"section":null,"count":1,"items":[]},"#
          + #"{"section":"Closed","count":1,"items":[]},{"section":"Open","count":2,"items":[]}]}"# + "\n"))
    #expect(try await at("-o", "jsonl") == "")
    #expect(try await at("-o", "csv") == "section,id,revision\n")
    let diff = try await LogreplayProcess(["diff", folder.store, "1..4"] + counts).wait()
    #expect(diff.code == 64 && diff.errors.contains("--stat"), "\(diff)")
  }

  /// The ids of each section, as `Open:ba Closed:c`.
  private func shape(_ folder: SampleFolder, _ arguments: String...) async throws -> String {
    let outcome = try await LogreplayProcess(["at", folder.store, "-o", "json"] + arguments).wait()
    #expect(outcome.code == 0, "\(arguments): \(outcome.errors)")
    guard case .array(let sections)? = try DocumentValue(json: outcome.output)["sections"] else { return "" }
    return sections.map { section in
      guard case .array(let items)? = section["items"] else { return "" }
      let ids = items.map { if case .string(let id)? = $0["id"] { id } else { "?" } }
      let name = if case .string(let name)? = section["section"] { name } else { "null" }
      return "\(name):\(ids.joined())"
    }.joined(separator: " ")
  }

  @Test func `every option of a list does what it says`() async throws {
    let folder = try await SampleFolder.list()
    let by = "--section-by"
    #expect(try await shape(folder, "4", "--sort", "n:desc") == "null:dcba")
    #expect(try await shape(folder, "4", "--sort", "status:nullslast") == "null:cabd")
    #expect(try await shape(folder, "4", "--sort", "status", "--sort", "n:desc") == "null:dcba")
    #expect(
      try await shape(folder, "4", "--sort", "note:desc:nullslast:nocase", "--sort", "n") == "null:cabd")
    #expect(try await shape(folder, "4", "--sort", "$id:desc") == "null:dcba")
    #expect(
      try await shape(folder, "4", by, "status", "--section-order", "key:desc") == "null:d Open:ab Closed:c")
    #expect(
      try await shape(folder, "4", by, "status", "--section-order", "count") == "Open:ab null:d Closed:c")
    #expect(
      try await shape(folder, "4", by, "status", "--section-order", "first", "--sort", "n")
        == "Open:ab Closed:c null:d")
    #expect(try await shape(folder, "4", by, "impact.level") == "null:bcd High:a")
    #expect(try await shape(folder, "4", "--limit", "2") == "null:ab")
    #expect(try await shape(folder, "4", by, "status", "--limit", "2") == "null:d Closed:c")
    #expect(try await shape(folder, "4", by, "status", "--limit", "0") == "")
    #expect(
      try await shape(folder, "4", by, "status", "--limit-per-section", "1") == "null:d Closed:c Open:a")
    #expect(try await shape(folder, "4", "--where", "n > 1 && status == 'Open'") == "null:b")
    #expect(try await shape(folder, "4", "--where", "impact.level == 'High'") == "null:a")
    #expect(try await shape(folder, "--table", "$own") == "null:x")
  }

  @Test func `a section that is a time is shown as one`() async throws {
    let folder = try await SampleFolder.list()
    let by = ["--section-by", "$time"]
    func output(_ command: String...) async throws -> String {
      let outcome = try await LogreplayProcess([command[0], folder.store] + command.dropFirst() + by).wait()
      #expect(outcome.code == 0, "\(outcome.errors)")
      return outcome.output
    }
    let time = "2026-01-01T00:00:02.000000000Z"
    #expect(try await shape(folder, "4", by[0], by[1]) == "2026-01-01T00:00:01.000000000Z:a \(time):bcd")
    #expect(try await output("at", "4", "-o", "jsonl").contains(#""section":"\#(time)","id":"b""#))
    #expect(try await output("at", "4", "-o", "csv").contains("\n\(time),b,2,"))
    #expect(try await output("at", "4", "--fields", "n").contains("\n\(time)  3\n"))
    let diff = try await output("diff", "4..7", "-o", "json")
    #expect(diff.contains(#""op":"insertSection","section":"2026-01-01T00:00:03.000000000Z""#), "\(diff)")
    #expect(diff.contains(#""op":"deleteSection","section":"2026-01-01T00:00:01.000000000Z""#), "\(diff)")
    #expect(try await output("diff", "4..7").contains("\n- 2026-01-01T00:00:01.000000000Z  "))
    #expect(try await output("diff", "4..7", "--stat").contains("2026-01-01T00:00:01.000000000Z "))
  }

  @Test func `a time is every append up to it, and a part of an append says so`() async throws {
    let folder = try await SampleFolder.list()
    #expect(try await shape(folder, "2026-01-01T00:00:01Z") == "null:a")
    #expect(try await shape(folder, "2026-01-01 00:00:02", "--utc") == "null:abcd")
    #expect(try await shape(folder, "2025-01-01") == "null:")
    #expect(try await shape(folder, "head~3") == "null:abcd")
    let inside = try await LogreplayProcess.run("at", folder.store, "3", "-o", "json", "--fields", "n")
    #expect(inside.code == 0 && inside.errors == "seq 3 is inside the append 2…4\n")
    #expect(
      inside.output
        == #"{"schema":1,"table":"incident","sequence":3,"time":"2026-01-01T00:00:02.000000000Z","#
        + #""chain":"\#(try await folder.chain(3))","count":3,"partial":true,"sections":["#
        + #"{"section":null,"count":3,"items":[{"id":"a","revision":1,"fields":{"n":1}},"#
        + #"{"id":"b","revision":2,"fields":{"n":2}},{"id":"c","revision":3,"fields":{"n":3}}]}]}"# + "\n")
  }

  @Test func `appends of the same second are all in the state at that second`() async throws {
    let folder = try SampleFolder()
    var options = StoreOptions()
    let second = Timestamp(nanoseconds: 1_800_000_000_000_000_000)
    options.clock = .fixed
    let store = try await EventStore.open(at: folder.store, .readWrite, options: options)
    for id in ["a", "b", "c"] {
      try await store.append(
        [NewEvent("$put", in: StreamName(category: "t", id: id), [:])], time: second)
    }
    try await store.append(
      [NewEvent("$put", in: "t/d", [:])], time: Timestamp(nanoseconds: second.nanoseconds + 1))
    try await store.close()
    #expect(try await shape(folder, "@1800000000") == "null:abc")
    #expect(try await shape(folder, "@1800000000.000000001") == "null:abcd")
    #expect(try await shape(folder, "@1799999999") == "null:")
  }

  @Test func `rows that no list can show are left out and named`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    try await store.append([
      NewEvent("$put", in: "t/a", ["status": ["x"]]), NewEvent("$put", in: "t/b", ["status": "y", "n": [:]]),
      NewEvent("$put", in: "t/c", ["status": "y"]),
    ])
    try await store.close()
    let section = try await LogreplayProcess.run(
      "at", folder.store, "--section-by", "status", "--fields", "n")
    #expect(section.code == 3 && section.output == "y  2\n  b  n={}\n  c\n")
    #expect(
      section.errors.contains("1 row is left out at seq 3")
        && section.errors.contains("  t/a: its field status"))
    let both = try await LogreplayProcess.run(
      "at", folder.store, "--section-by", "status", "--sort", "n", "-o", "json")
    #expect(both.code == 3)
    #expect(try DocumentValue(json: both.output)["count"] == 1)
    #expect(try await LogreplayProcess.run("diff", folder.store, "0..", "--sort", "n").code == 3)
    let filtered = try await LogreplayProcess.run(
      "at", folder.store, "--section-by", "status", "--where", "status == 'y'", "--fields", "$id")
    #expect(filtered.code == 0 && filtered.output == "y  2\n  b  $id=b\n  c  $id=c\n", "\(filtered.errors)")
  }

  @Test func `rows that are left out count more than rows that are shown by a shorter key`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    let long = DocumentValue.string(String(repeating: "m", count: 40_000))
    try await store.append([NewEvent("$put", in: "t/a", ["n": [1]])])
    try await store.append(["b", "c", "d"].map { NewEvent("$put", in: "t/\($0)", ["n": long]) })
    try await store.append([NewEvent("$delete", in: "t/a", .null)])
    func run(_ command: String, _ arguments: String...) async throws -> LogreplayProcess.Outcome {
      try await LogreplayProcess([command, folder.store] + arguments + ["--sort", "n", "--fields", "$id"])
        .wait()
    }
    for points in ["1..head", "2..4"] {
      let diff = try await run("diff", points)
      #expect(diff.code == 3 && diff.errors.contains("1 row is left out at seq"), "\(diff.errors)")
      #expect(diff.errors.contains("t/a: "))
    }
    let shown = try await run("diff", "5..head")
    #expect(shown.code == 0 && shown.errors.contains("3 rows have keys too long"), "\(shown.errors)")
    for command in [["at"], ["follow", "--until-caught-up"]] {
      let outcome = try await LogreplayProcess(
        [command[0], folder.store, "--sort", "n"] + command.dropFirst()
      ).wait()
      #expect(outcome.code == 0 && outcome.errors.contains("3 rows have keys too long"), "\(outcome.errors)")
    }
    // The list stays as it is, and leaves out one more row.
    try await store.append([NewEvent("$put", in: "t/e", ["n": [1]])])
    try await store.close()
    let follow = try await run("follow", "--from", "5", "--until-caught-up")
    #expect(follow.code == 3 && follow.errors.contains("1 row is left out at seq 6"), "\(follow.errors)")
  }

  @Test func `every way to ask for a list that is not there has its code`() async throws {
    let folder = try await SampleFolder.list()
    let at = ["at", folder.store]
    for (arguments, code, next) in [
      (["at", folder.file("none")], 66, "check the path"),
      (at + ["--table", "x"], 66, "the store has incident"),
      (at + ["99"], 66, "the log holds 1…8"), (at + ["bogus"], 64, "give a sequence"),
      (at + ["--sort", "n:up"], 64, "write FIELD"), (at + ["--sort", "1n"], 64, "backquotes"),
      (at + ["--sort", "$section"], 64, "write FIELD"), (at + ["--section-by", "a b"], 64, "backquotes"),
      (at + ["--section-by", "$section"], 64, "give a field"), (at + ["--fields", "a;b"], 64, "comma"),
      (at + ["--section-order", "count"], 64, "--section-by"),
      (at + ["--section-by", "n", "--section-order", "up"], 64, "key:desc"),
      (at + ["--limit", "-1"], 64, "--help"), (at + ["--limit=-1"], 64, "give a count"),
      (at + ["--limit-per-section=-1"], 64, "give a count"), (at + ["--where", "n ="], 64, "literal"),
      (["diff", folder.store], 64, "range"), (["diff", folder.store, "1..2..3"], 64, "two arguments"),
      (["diff", folder.store, "1..", "-o", "patch", "--stat"], 64, "choose one"),
      (["diff", folder.store, "1..", "-o", "csv"], 64, "patch"),
      (["diff", folder.store, "1..99"], 66, "the log holds"),
      (["replay", folder.store, "-o", "csv"], 64, "-o: short, table, json, jsonl\n"),
      (["follow", folder.store, "--table", "incident", "-g", "x"], 64, "--where"),
      (["follow", folder.store, "--table", "x", "--until-caught-up"], 66, "the store has incident"),
    ] as [([String], Int32, String)] {
      let outcome = try await LogreplayProcess(arguments).wait()
      #expect(outcome.code == code, "\(arguments): \(outcome.errors)")
      #expect(outcome.output.isEmpty && outcome.errors.contains(next), "\(arguments): \(outcome.errors)")
    }
    let filter = try await LogreplayProcess.run("at", folder.store, "--where", "n 'x'")
    let lines = filter.errors.split(separator: "\n")
    #expect(filter.code == 64 && lines.count >= 3)
    #expect(
      lines.contains { $0.trimmingCharacters(in: .whitespaces).allSatisfy { $0 == "^" } }, "\(filter.errors)")
  }

  @Test func `a table is named where there are several, and not asked for where there is one`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    try await store.append([NewEvent("opened", in: "ticket/1", .null)])
    let none = try await LogreplayProcess.run("at", folder.store)
    #expect(
      none.code == 66 && none.errors.components(separatedBy: "the store has no table").count == 2,
      "\(none.errors)")
    try await store.append([NewEvent("$put", in: "a/1", [:]), NewEvent("$put", in: "b/1", [:])])
    let several = try await LogreplayProcess.run("at", folder.store)
    #expect(several.code == 64 && several.errors.contains("give one of them: a, b"))
    #expect(try await shape(folder, "--table", "b") == "null:1")
    // Nothing was written to it yet at that point.
    #expect(try await shape(folder, "1", "--table", "b") == "null:")
    try await store.close()
  }

  @Test func `a damaged store shows its lists up to the damage, and says how far that is`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open(segmentSize: 8 << 10)
    for number in 0..<60 {
      try await store.append(
        (1...5).map { place in
          let text = String((0..<60).map { _ in "abcdefghij".randomElement() ?? "a" })
          return NewEvent(
            "$put", in: StreamName(category: "t", id: "\(number * 5 + place)"), ["text": .string(text)])
        })
    }
    try await store.close()
    let log = folder.store + "/log"
    let names = try FileManager.default.contentsOfDirectory(atPath: log).filter { $0.hasSuffix(".seg") }
      .sorted()
    try #require(names.count > 2)
    let url = URL(fileURLWithPath: "\(log)/\(names[1])")
    var bytes = try Data(contentsOf: url)
    bytes[4096 + 200] ^= 0x40
    try bytes.write(to: url)
    let before = try await folder.answer("at", "5", "-o", "csv", "--fields", "$id")
    #expect(before.split(separator: "\n").count == 6)
    // A state behind the damage would be a guess.
    for command in [["at", folder.store, "-o", "json"], ["diff", folder.store, "5..", "--summary"]] {
      let outcome = try await LogreplayProcess(command).wait()
      #expect(outcome.code == 65 && outcome.output.isEmpty && outcome.errors.contains(names[1]))
      #expect(outcome.errors.contains("can be read"), "\(outcome.errors)")
    }
    let info = try await LogreplayProcess.run("info", folder.store, "-o", "json")
    #expect(info.code == 65)
    let value = try DocumentValue(json: info.output)
    #expect(value["tables"] == [] && value["last"] == 300)
  }

  @Test func `two fields that would be shown with one name are refused`() async throws {
    let folder = try await SampleFolder.list()
    let both = try await LogreplayProcess.run("at", folder.store, "--fields", "a.b,`a.b`")
    #expect(both.code == 64 && both.errors.contains("with the name 'a.b'"), "\(both)")
    #expect(try await LogreplayProcess.run("at", folder.store, "--fields", "n,n").code == 0)
  }
}
