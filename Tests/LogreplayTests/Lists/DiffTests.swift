// `diff`: what changed in a list between two points, in every layout.

import Foundation
import Strata
import StrataDocuments
import Testing

@testable import LogreplayEvents

struct DiffTests {
  private let list = ["--section-by", "status", "--sort", "n:desc"]

  private func run(_ folder: SampleFolder, _ arguments: String...) async throws -> LogreplayProcess.Outcome {
    try await LogreplayProcess(["diff", folder.store] + list + arguments).wait()
  }

  private func ends(_ folder: SampleFolder, _ old: UInt64, _ new: UInt64) async throws -> String {
    let points = [
      4:
        #""sequence":4,"time":"2026-01-01T00:00:02.000000000Z","chain":"\#(try await folder.chain(4))","count":4"#,
      7:
        #""sequence":7,"time":"2026-01-01T00:00:04.000000000Z","chain":"\#(try await folder.chain(7))","count":3"#,
    ]
    return #"{"schema":1,"table":"incident","from":{\#(points[Int(old)]!)},"to":{\#(points[Int(new)]!)},"#
  }

  @Test func `diff prints exactly what is promised`() async throws {
    let folder = try await SampleFolder.list()
    let forward = try await run(folder, "4..7", "-o", "json")
    #expect(forward.code == 0 && forward.errors.isEmpty)
    #expect(
      forward.output == (try await ends(folder, 4, 7)) + #""changes":["#
        + #"{"op":"delete","id":"b","from":[2,0]},{"op":"deleteSection","section":"Open","from":2},"#
        + #"{"op":"move","id":"a","from":[2,1],"to":[1,1],"revision":[1,5],"#
        + #""fields":{"status":{"old":"Open","new":"Closed"}}},"#
        + #"{"op":"update","id":"c","from":[1,0],"to":[1,0],"revision":[3,7],"#
        + #""fields":{"n":{"old":3,"new":30},"note":{"old":"x, \"y\"\nz"}}},"#
        + #"{"op":"updateSection","section":"Closed","to":1,"count":2}]}"# + "\n")
    let backward = try await run(folder, "7", "4", "-o", "json")
    #expect(
      backward.output == (try await ends(folder, 7, 4)) + #""changes":["#
        + #"{"op":"insertSection","section":"Open","to":2,"count":2},"#
        + #"{"op":"insert","id":"b","to":[2,0],"revision":2,"fields":{"n":2,"status":"Open"}},"#
        + #"{"op":"move","id":"a","from":[1,1],"to":[2,1],"revision":[5,1],"#
        + #""fields":{"status":{"old":"Closed","new":"Open"}}},"#
        + #"{"op":"update","id":"c","from":[1,0],"to":[1,0],"revision":[7,3],"#
        + #""fields":{"n":{"old":30,"new":3},"note":{"new":"x, \"y\"\nz"}}},"#
        + #"{"op":"updateSection","section":"Closed","to":1,"count":1}]}"# + "\n")
    #expect(try await run(folder, "4..7", "-R", "-o", "json").output == backward.output)
  }

  @Test func `every form of a range is the same difference`() async throws {
    let folder = try await SampleFolder.list()
    let whole = try await run(folder, "0..8", "-o", "jsonl")
    #expect(whole.lines.count == 5 && whole.lines.allSatisfy { $0.hasPrefix(#"{"schema":1,"op":"insert"#) })
    for range in [["..8"], ["0.."], ["0..head"], ["0", "head"], ["8"]] {
      let outcome = try await LogreplayProcess(["diff", folder.store, "-o", "jsonl"] + list + range).wait()
      #expect(outcome.output == whole.output, "\(range): \(outcome.errors)")
    }
  }

  @Test func `only fields that are shown are compared, and revisions always`() async throws {
    let folder = try await SampleFolder.list()
    let lines = try await run(folder, "4..7", "-o", "jsonl", "--fields", "status").lines
    #expect(
      lines[3] == #"{"schema":1,"op":"update","id":"c","from":[1,0],"to":[1,0],"revision":[3,7],"fields":{}}"#
    )
    let text = try await run(folder, "4..7", "--fields", "status").lines
    #expect(text[2] == "  ~ c  revision 3 → 7")
  }

  @Test func `people see what came, went, moved and changed by section`() async throws {
    let folder = try await SampleFolder.list()
    #expect(
      try await run(folder, "4..7").output
        == "incident  seq 4 → 7  (2026-01-01 00:00:02.000+00:00 → 2026-01-01 00:00:04.000+00:00)\n"
        + "Closed  1 → 2\n  ~ c  n: 3 → 30, -note: \"x, \\\"y\\\"\\nz\"\n"
        + "  > a  [2,1] → [1,1]  status: Open → Closed\n"
        + "- Open  2 → 0\n  - b  n=2\n")
    #expect(
      try await run(folder, "4..7", "-o", "patch").output
        == "--- incident/c  revision 3  Closed [1,0]\n+++ incident/c  revision 7  Closed [1,0]\n"
        + "-n: 3\n+n: 30\n-note: \"x, \\\"y\\\"\\nz\"\n"
        + "--- incident/a  revision 1  Open [2,1]\n+++ incident/a  revision 5  Closed [1,1]\n"
        + "-status: \"Open\"\n+status: \"Closed\"\n"
        + "--- incident/b  revision 2  Open [2,0]\n+++ /dev/null\n-n: 2\n-status: \"Open\"\n")
    #expect(
      try await run(folder, "4..7", "--stat").output
        == "Closed  +0  -0  >1  ~1  1 → 2\nOpen    +0  -1  >0  ~0  2 → 0\n"
        + "0 inserted, 1 deleted, 1 moved, 1 updated; 4 → 3 items\n")
    #expect(
      try await run(folder, "4..7", "--summary").output
        == "0 inserted, 1 deleted, 1 moved, 1 updated; 4 → 3 items\n")
    let stat = try await run(folder, "4..7", "--stat", "-o", "json").output
    #expect(
      stat == (try await ends(folder, 4, 7)) + #""inserted":0,"deleted":1,"moved":1,"updated":1,"sections":["#
        + #"{"section":"Closed","inserted":0,"deleted":0,"moved":1,"updated":1,"count":[1,2]},"#
        + #"{"section":"Open","inserted":0,"deleted":1,"moved":0,"updated":0,"count":[2,0]}]}"# + "\n")
  }

  @Test func `an exit code says whether anything changed`() async throws {
    let folder = try await SampleFolder.list()
    #expect(try await run(folder, "4..7", "--exit-code").code == 1)
    let none = try await run(folder, "7..8", "--exit-code", "-o", "json")
    #expect(none.code == 0 && none.output.hasSuffix(#""changes":[]}"# + "\n"))
    #expect(try await run(folder, "4..4", "--exit-code").code == 0)
    #expect(try await run(folder, "4..7", "--exit-code", "--where", "$id == 'd'").code == 0)
  }

  @Test func `a point inside an append is partial on its side`() async throws {
    let folder = try await SampleFolder.list()
    let outcome = try await run(folder, "3..7", "-o", "json")
    let value = try DocumentValue(json: outcome.output)
    #expect(outcome.errors == "seq 3 is inside the append 2…4\n")
    #expect(value["from"]?["partial"] == true && value["to"]?["partial"] == nil)
  }

  @Test func `a limit shows what came into the window and what left it`() async throws {
    let folder = try await SampleFolder.list()
    let outcome = try await LogreplayProcess(
      ["diff", folder.store, "4..7", "--sort", "n", "--limit", "2", "--fields", "n", "-o", "jsonl"]
    ).wait()
    #expect(
      outcome.lines == [
        #"{"schema":1,"op":"delete","id":"b","from":[0,1]}"#,
        #"{"schema":1,"op":"insert","id":"d","to":[0,1],"revision":4,"fields":{"n":4}}"#,
        #"{"schema":1,"op":"update","id":"a","from":[0,0],"to":[0,0],"revision":[1,5],"fields":{}}"#,
        #"{"schema":1,"op":"updateSection","section":null,"to":0,"count":3}"#,
      ])
  }

  @Test func `what is put in stands in the order of its new places, moved or new`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    func put(_ id: String, _ section: String, _ n: Int64) -> NewEvent {
      NewEvent("$put", in: StreamName(category: "t", id: id), ["s": .string(section), "n": .int(n)])
    }
    try await store.append([put("a1", "A", 1), put("a3", "A", 3), put("b1", "B", 1)])
    try await store.append([
      put("b2", "B", 2), put("a3", "B", 3), put("b3", "B", 4), put("c1", "C", 1), put("c2", "C", 2),
    ])
    try await store.close()
    let output = try await folder.answer(
      "diff", "3..8", "--section-by", "s", "--sort", "n", "--section-order", "count", "--fields", "n", "-o",
      "jsonl")
    #expect(
      output.split(separator: "\n").map { $0.dropFirst(#"{"schema":1,"op":""#.count) } == [
        #"insertSection","section":"C","to":1,"count":2}"#,
        #"moveSection","section":"A","from":0,"to":2}"#,
        #"insert","id":"b2","to":[0,1],"revision":4,"fields":{"n":2}}"#,
        #"move","id":"a3","from":[0,1],"to":[0,2],"revision":[2,5],"fields":{}}"#,
        #"insert","id":"b3","to":[0,3],"revision":6,"fields":{"n":4}}"#,
        #"insert","id":"c1","to":[1,0],"revision":7,"fields":{"n":1}}"#,
        #"insert","id":"c2","to":[1,1],"revision":8,"fields":{"n":2}}"#,
        #"updateSection","section":"B","to":0,"count":4}"#,
        #"updateSection","section":"A","to":2,"count":1}"#,
      ])
  }

  @Test
  func `R27 The JSON is complete by item, also where sections come and go`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    func put(_ id: String, _ section: String, _ n: Int64) -> NewEvent {
      NewEvent("$put", in: StreamName(category: "t", id: id), ["s": .string(section), "n": .int(n)])
    }
    // B goes: b is deleted with it, b2 leaves it for C, which comes with c.
    try await store.append([put("a", "A", 1), put("b", "B", 1), put("b2", "B", 2)])
    try await store.append([NewEvent("$delete", in: "t/b", .null), put("b2", "C", 2), put("c", "C", 1)])
    try await store.close()
    let output = try await folder.answer(
      "diff", "3..6", "--section-by", "s", "--sort", "n", "--fields", "n", "-o", "jsonl")
    #expect(
      output.split(separator: "\n").map { $0.dropFirst(#"{"schema":1,"op":""#.count) } == [
        #"delete","id":"b","from":[1,0]}"#,
        #"deleteSection","section":"B","from":1}"#,
        #"insertSection","section":"C","to":1,"count":2}"#,
        #"insert","id":"c","to":[1,0],"revision":6,"fields":{"n":1}}"#,
        #"move","id":"b2","from":[1,1],"to":[1,1],"revision":[3,5],"fields":{}}"#,
      ])
  }
}
