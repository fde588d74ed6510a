// Events out as OCEL and XES, read by Python and by `import`.

import ArgumentParser
import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayTables

/// An event as a process has it.
private struct Step: Equatable {
  var stream: String
  var type: String
  var time: Int64
  var data: DocumentValue
}

@Suite(.enabled(if: importHasPython, "python3 is not installed: nothing independent to compare with"))
struct ExportProcessTests {
  /// Events of a few streams with texts that are easily misread, numbers at the ends of their ranges, and times with all
  /// digits.
  private func sample(
    _ folder: ImportFolder, _ random: inout StrataSimulation.SeededGenerator, isForXML: Bool
  ) async throws -> [Step] {
    func text(_ random: inout StrataSimulation.SeededGenerator) -> String {
      let text = importHostileText(&random)
      guard isForXML else { return text }
      return String(String.UnicodeScalarView(text.unicodeScalars.filter { XMLText.isCharacter($0.value) }))
    }
    let numbers: [DocumentValue] = [
      .int(.max), .int(.min), 0.1, 5e-324, 1.0, .double(1e300), true, false, 0, 1,
    ]
    let cases = (0..<5).map { "c\($0)" + text(&random) }
    var steps: [Step] = []
    var time: Int64 = -3_000_000_000
    for number in 0..<60 {
      time += [0, 1, 1_000, 1_000_000, 86_400_000_000_000].randomElement(using: &random) ?? 0
      var data: DocumentObject = ["n": DocumentValue(number)]
      for index in 0..<Int.random(in: 0...3, using: &random) {
        let isText = Bool.random(using: &random)
        data["k\(index)" + (Bool.random(using: &random) ? "é\"<&" : "")] =
          isText ? .string(text(&random)) : numbers.randomElement(using: &random) ?? .null
      }
      steps.append(
        Step(
          stream: "ticket/" + (cases.randomElement(using: &random) ?? ""),
          type: ["open", "a \"<>&' b", "é", "e\u{301}"].randomElement(using: &random) ?? "", time: time,
          data: .object(data)))
    }
    let lines = steps.map { step -> String in
      let line: DocumentValue = [
        "stream": .string(step.stream), "type": .string(step.type),
        "time": .string(Timestamp(nanoseconds: step.time).description), "data": step.data,
      ]
      return line.json() + "\n"
    }
    try folder.write(lines.joined(), to: "made.jsonl")
    try await folder.run([folder.file("made.jsonl"), "--events"])
    return steps
  }

  private func steps(of store: String, _ folder: ImportFolder) async throws -> [Step] {
    try await folder.appends(of: store).flatMap(\.events).map {
      Step(stream: $0.stream.text, type: $0.type, time: $0.time.nanoseconds, data: try $0.document())
    }
  }

  private func export(_ folder: ImportFolder, _ name: String, _ more: String...) async throws {
    let outcome = try await LogreplayProcess(["export", folder.store, folder.file(name), "--events"] + more)
      .wait()
    #expect(outcome.code == 0, "\(outcome)")
  }

  /// Imports a log into a new store, twice.
  private func copy(_ folder: ImportFolder, _ name: String, _ more: String...) async throws -> [Step] {
    let store = folder.file("copy-\(name)")
    var appended: [UInt64] = []
    for _ in 0..<2 {
      let report = try await ImportCommand.parse([store, folder.file(name)] + more).execute { _ in }
      appended.append(report.appended)
    }
    let found = try await steps(of: store, folder)
    #expect(appended == [UInt64(found.count), 0])
    return found
  }

  /// An event of the same time may be before or after another one: a log has an order of its own.
  private func sorted(_ steps: [Step]) -> [String] {
    steps.map { "\($0.time) \($0.stream) \($0.type) \($0.data.json())" }.sorted()
  }

  @Test func `XES and back is the same events, and what Python reads is the same texts`() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = StrataSimulation.SeededGenerator(seed: seed)
    let folder = try ImportFolder()
    let steps = try await sample(folder, &random, isForXML: true)
    try await export(folder, "log.xes")
    let found = try await copy(folder, "log.xes", "--table", "ticket")
    #expect(sorted(found) == sorted(steps), "seed \(seed)")
    let read = try importPython(
      """
      import json, sys, xml.etree.ElementTree as tree
      x = "{http://www.xes-standard.org/}"
      for trace in tree.parse(sys.argv[1]).getroot().findall(x + "trace"):
          case = trace.find(x + "string").get("value")
          for event in trace.findall(x + "event"):
              fields = {a.get("key"): a.get("value") for a in event}
              print(json.dumps([case, fields["concept:name"], int(fields["n"])]))
      """, folder.file("log.xes"))
    let python = try read.split(separator: "\n").map { try DocumentValue(json: String($0)).json() }.sorted()
    let model = steps.map { step -> String in
      let line: DocumentValue = [
        .string(String(step.stream.dropFirst(7))), .string(step.type), step.data["n"] ?? .null,
      ]
      return line.json()
    }
    #expect(python == model.sorted(), "seed \(seed)")
  }

  @Test func `OCEL and back is the same events, as JSON and as a database whose keys refer to what is there`()
    async throws
  {
    let seed = UInt64.random(in: 0 ... .max)
    var random = StrataSimulation.SeededGenerator(seed: seed)
    let folder = try ImportFolder()
    let steps = try await sample(folder, &random, isForXML: false)
    try await export(folder, "log.json", "--format", "ocel")
    try await export(folder, "log.sqlite", "--format", "ocel-sqlite")
    for name in ["log.json", "log.sqlite"] {
      // Each object is a row, too, which says nothing.
      let found = try await copy(folder, name, "--format", "ocel").filter { $0.type != "$put" }
      let wanted = name == "log.json" ? steps : steps.map { Self.asInDatabase($0, steps) }
      #expect(sorted(found) == sorted(wanted), "\(name), seed \(seed)")
    }
    let read = try importPython(
      """
      import json, sqlite3, sys
      log = json.load(open(sys.argv[1], encoding="utf-8"))
      assert sorted(log) == ["eventTypes", "events", "objectTypes", "objects"]
      objects = {o["id"] for o in log["objects"]}
      assert len(objects) == len(log["objects"])
      assert all(r["objectId"] in objects for e in log["events"] for r in e["relationships"])
      db = sqlite3.connect(sys.argv[2])
      assert db.execute("PRAGMA foreign_key_check").fetchall() == []
      assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
      events = {str(i): t for i, t in db.execute("SELECT ocel_id, ocel_type FROM event")}
      assert events == {e["id"]: e["type"] for e in log["events"]}
      print(len(events), len(objects) == db.execute("SELECT count(*) FROM object").fetchone()[0])
      """, folder.file("log.json"), folder.file("log.sqlite"))
    #expect(read == "60 True\n", "seed \(seed)")
  }

  /// A boolean that is in one column with other values is its name.
  private static func asInDatabase(_ step: Step, _ all: [Step]) -> Step {
    guard case .object(var object) = step.data else { return step }
    for (name, value) in object {
      guard case .bool(let flag) = value else { continue }
      let isMixed = all.contains { other in
        guard other.type.utf8.elementsEqual(step.type.utf8), let value = other.data[name] else {
          return false
        }
        if case .bool = value { return false }
        return true
      }
      if isMixed { object[name] = .string(flag ? "true" : "false") }
    }
    var step = step
    step.data = .object(object)
    return step
  }

  @Test func `a mapping says what is activity, case, time and object, and rows are attributes without one`()
    async throws
  {
    let folder = try ImportFolder()
    try folder.write(
      """
      {"id":"i1","status":"new","group":["g1","g2"],"at":"2026-01-02T00:00:00Z"}
      {"id":"i1","status":"done","group":"g1","at":"2026-01-01T00:00:00Z","deep":{"x":1}}

      """)
    try await folder.importLines()
    try folder.write(
      """
      {"activity":"status","time":"at","objects":[{"type":"t","category":"t"},
       {"type":"group","field":"group","qualifier":"by"}],"attributes":["status"]}
      """, to: "map.json")
    try await export(folder, "log.json", "--format", "ocel", "--mapping", folder.file("map.json"))
    let log = try DocumentValue(json: try String(contentsOfFile: folder.file("log.json"), encoding: .utf8))
    guard case .array(let events)? = log["events"], events.count == 2 else {
      Issue.record("\(log.json())")
      return
    }
    #expect(
      events[0] == [
        "id": "1", "type": "new", "time": "2026-01-02T00:00:00.000Z",
        "attributes": [["name": "status", "value": "new"]],
        "relationships": [
          ["objectId": "t/i1", "qualifier": ""], ["objectId": "group/g1", "qualifier": "by"],
          ["objectId": "group/g2", "qualifier": "by"],
        ],
      ])
    // Without an activity, rows are what the object looks like over time.
    try await export(folder, "rows.json", "--format", "ocel", "--force")
    let rows = try DocumentValue(json: try String(contentsOfFile: folder.file("rows.json"), encoding: .utf8))
    #expect(rows["events"] == [])
    guard case .array(let objects)? = rows["objects"],
      case .array(let changes)? = objects.first?["attributes"]
    else {
      Issue.record("\(rows.json())")
      return
    }
    #expect(
      changes.map { [$0["name"], $0["value"]] } == [
        ["at", "2026-01-02T00:00:00Z"], ["id", "i1"], ["status", "new"], ["at", "2026-01-01T00:00:00Z"],
        ["group", "g1"], ["status", "done"],
      ])
  }

  @Test
  func `what a form does not have is refused with the event, and an unknown member of a mapping by name`()
    async throws
  {
    let folder = try ImportFolder()
    try folder.write(
      """
      {"stream":"a/1","type":"x","data":{"k":"one\\u0001two"}}
      {"stream":"a/1","type":"y","data":{"big":18446744073709551615}}

      """, to: "made.jsonl")
    try await folder.run([folder.file("made.jsonl"), "--events"])
    try folder.write(#"{"activty":"x"}"#, to: "map.json")
    for (arguments, code, words) in [
      (["--format", "xes", "--type", "x"], Int32(65), ["event 1", "\"k\"", "XML"]),
      (["--format", "xes", "--type", "y"], 65, ["event 2", "\"big\"", "64 bits"]),
      (["--format", "ocel"], 65, ["event 2", "\"big\"", "64 bits"]),
      (["--format", "ocel-sqlite"], 65, ["event 2", "\"big\"", "64 bits"]),
      (["--format", "ocel", "--mapping", folder.file("map.json")], 64, ["\"activty\"", "activity, time"]),
      (["--mapping", folder.file("map.json")], 64, ["--mapping applies only"]),
    ] {
      let outcome = try await LogreplayProcess(
        ["export", folder.store, folder.file("out"), "--events"] + arguments
      ).wait()
      #expect(outcome.code == code && words.allSatisfy { outcome.errors.contains($0) }, "\(outcome)")
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
  }
}
