// Following a list while another process, this one, writes; and what a replay says of the tables.

import Foundation
import Strata
import StrataDocuments
import Testing

@Suite
struct FollowListTests {
  @Test func `the list comes first, then what each append changes in it`() async throws {
    let folder = try await SampleFolder.list()
    let process = try LogreplayProcess([
      "follow", folder.store, "--table", "incident", "--section-by", "status", "--fields", "status",
      "-o", "jsonl", "--count", "2", "--timeout", "1h",
    ])
    let first = try #require(await process.readLines(1).first)
    #expect(
      first.hasPrefix(#"{"schema":1,"table":"incident","sequence":8,"#) && first.contains(#""sections":["#))
    let store = try await folder.open()
    // Another table, and a row that is what it was: nothing of this list.
    try await store.append([NewEvent("$put", in: "$own/y", [:])])
    try await store.append([NewEvent("$put", in: "incident/d", ["n": 4])])
    try await store.append([NewEvent("$put", in: "incident/e", ["status": "New"])])
    try await store.append([
      NewEvent("$delete", in: "incident/e", .null),
      NewEvent("$merge", in: "incident/d", ["status": "Closed"]),
    ])
    let outcome = try await process.wait()
    #expect(outcome.code == 0 && outcome.errors.isEmpty)
    let diffs = try outcome.lines.map { try DocumentValue(json: $0) }
    try #require(diffs.count == 2)
    #expect(diffs[0]["from"]?["sequence"] == 8 && diffs[0]["to"]?["sequence"] == 11)
    #expect(diffs[1]["from"] == diffs[0]["to"] && diffs[1]["to"]?["sequence"] == 13)
    let end = store.head
    #expect(diffs[1]["to"]?["chain"] == .string(LogPosition.hex(end.chain)))
    #expect(
      diffs[0]["changes"] == [
        ["op": "insertSection", "section": "New", "to": 2, "count": 1],
        ["op": "insert", "id": "e", "to": [2, 0], "revision": 11, "fields": ["status": "New"]],
      ])
    #expect(
      diffs[1]["changes"] == [
        ["op": "delete", "id": "e", "from": [2, 0]], ["op": "deleteSection", "section": "New", "from": 2],
        ["op": "deleteSection", "section": .null, "from": 0],
        [
          "op": "move", "id": "d", "from": [0, 0], "to": [0, 2], "revision": [4, 13],
          "fields": ["status": ["new": "Closed"]],
        ],
        ["op": "updateSection", "section": "Closed", "to": 0, "count": 3],
      ])
    try await store.close()
  }

  @Test func `catching up from a point is one diff for each append that changes the list`() async throws {
    let folder = try await SampleFolder.list()
    let outcome = try await LogreplayProcess.run(
      "follow", folder.store, "--table", "incident", "--from", "0", "--until-caught-up", "-o", "jsonl")
    #expect(outcome.code == 0 && outcome.lines.count == 5)
    let ends = try outcome.lines.dropFirst().map { try DocumentValue(json: $0)["to"]?["sequence"] }
    #expect(ends == [1, 4, 5, 7])
    let text = try await LogreplayProcess.run(
      "follow", folder.store, "--sort", "n", "--fields", "n", "--from", "5", "--until-caught-up")
    #expect(
      text.output == "incident  4\n  a  n=1\n  b  n=2\n  c  n=3\n  d  n=4\n"
        + "incident  seq 5 → 7  (2026-01-01 00:00:03.000+00:00 → 2026-01-01 00:00:04.000+00:00)\n"
        + "items  4 → 3\n  - b  n=2\n  > c  [0,2] → [0,2]  n: 3 → 30\n")
    let late = try await LogreplayProcess.run(
      "follow", folder.store, "--table", "incident", "--timeout", "200ms", "-o", "jsonl")
    #expect(late.code == 124 && late.lines.count == 1)
  }

  @Test func `a cursor file goes on with the list where the last run ended`() async throws {
    let folder = try await SampleFolder.list()
    let cursor = folder.file("cursor")
    for (first, last) in [(8, 8), (8, 9)] {
      let outcome = try await LogreplayProcess.run(
        "follow", folder.store, "--table", "incident", "--until-caught-up", "--cursor-file", cursor, "-o",
        "jsonl")
      #expect(outcome.code == 0, "\(outcome.errors)")
      let values = try outcome.lines.map { try DocumentValue(json: $0) }
      #expect(values.first?["sequence"] == .int(Int64(first)))
      #expect(values.count == 1 + last - first)
      let store = try await folder.open()
      let text = try String(contentsOfFile: cursor, encoding: .utf8)
      #expect(LogPosition(text.trimmingCharacters(in: .newlines)) == store.head)
      try await store.append([NewEvent("$put", in: "incident/z", ["n": .int(Int64(first + last))])])
      try await store.close()
    }
  }

  @Test func `a table that is not there yet is an empty list, and what comes into it`() async throws {
    for hasEvents in [false, true] {
      let folder = hasEvents ? try await SampleFolder.list() : try SampleFolder()
      if !hasEvents { try await folder.open().close() }
      let process = try LogreplayProcess([
        "follow", folder.store, "--table", "new", "--fields", "n", "-o", "jsonl", "--count", "1", "--timeout",
        "1h",
      ])
      let first = try DocumentValue(json: try #require(await process.readLines(1).first))
      #expect(first["table"] == "new" && first["count"] == 0)
      let store = try await folder.open()
      try await store.append([NewEvent("$put", in: "new/a", ["n": 1])])
      let outcome = try await process.wait()
      let there = hasEvents ? "the store has incident" : "$put, $merge and $delete events create tables"
      #expect(
        outcome.code == 0
          && outcome.errors.hasPrefix("logreplay: warning: there is no table 'new' yet; \(there)"),
        "\(outcome)")
      let changes = try DocumentValue(json: outcome.output)["changes"]
      #expect(
        changes == [
          [
            "op": "insert", "id": "a", "to": [0, 0], "revision": .int(Int64(store.head.sequence)),
            "fields": ["n": 1],
          ],
          ["op": "updateSection", "section": .null, "to": 0, "count": 1],
        ])
      try await store.close()
      for command in [["at"], ["diff", "0.."], ["follow", "--until-caught-up"]] {
        let words = [command[0], folder.store] + command.dropFirst() + ["--table", "none"]
        #expect(try await LogreplayProcess(words).wait().code == 66, "\(command)")
      }
    }
  }

  @Test(arguments: [["--table", "incident", "--sort", "n"], ["--remove"]])
  func `following a kept list ends once it is changed or removed`(change: [String]) async throws {
    let folder = try await SampleFolder.list()
    func keep(_ name: String, _ words: [String]) async throws {
      let outcome = try await LogreplayProcess(["keep", folder.store, name] + words).wait()
      #expect(outcome.code == 0, "\(outcome)")
    }
    // Definitions before the one that is followed do not end it.
    try await keep("v", ["--table", "incident"])
    try await keep("v", ["--remove"])
    try await keep("v", ["--table", "incident", "--sort", "n:desc"])
    let process = try LogreplayProcess([
      "follow", folder.store, "--view", "v", "--from", "8", "-o", "jsonl", "--timeout", "1h",
    ])
    #expect(await process.readLines(1).count == 1)
    try await keep("other", ["--table", "incident"])
    let store = try await folder.open()
    try await store.append([NewEvent("$merge", in: "incident/a", ["n": 9])])
    try await store.close()
    #expect(await process.readLines(1).count == 1)
    try await keep("v", change)
    let outcome = try await process.wait()
    #expect(outcome.code == 66 && outcome.output.isEmpty, "\(outcome)")
    #expect(
      outcome.errors.contains("the kept list 'v' is no longer the one that is shown"), "\(outcome.errors)")
    #expect(outcome.errors.contains(change == ["--remove"] ? "removed" : "changed"), "\(outcome.errors)")
  }

  @Test func `a replay has the hash of the state and nothing of the way there`() async throws {
    let folder = try await SampleFolder.list()
    let outcome = try await LogreplayProcess.run("replay", folder.store, "-o", "json")
    let value = try DocumentValue(json: outcome.output)
    #expect(outcome.output.hasPrefix(#"{"schema":1,"sequence":8,"#))
    #expect(value["events"] == 8 && value["partial"] == nil)
    #expect(value["tables"] == [["table": "$own", "items": 1], ["table": "incident", "items": 3]])
    guard case .string(let hash)? = value["hash"], case .double? = value["seconds"] else {
      Issue.record("no hash or no seconds: \(outcome.output)")
      return
    }
    #expect(hash.count == 16 && UInt64(hash, radix: 16) != nil)
    let again = try await LogreplayProcess.run("replay", folder.store, "8", "-o", "json")
    #expect(try DocumentValue(json: again.output)["hash"] == .string(hash))
    let other = try await LogreplayProcess.run("replay", folder.store, "7", "-o", "json")
    #expect(try DocumentValue(json: other.output)["hash"] != .string(hash))
    let partial = try await LogreplayProcess.run("replay", folder.store, "3", "-o", "json")
    #expect(try DocumentValue(json: partial.output)["partial"] == true)
    let none = try await LogreplayProcess.run("replay", folder.store, "0", "-o", "json")
    #expect(try DocumentValue(json: none.output)["hash"] == "0000000000000000")
    #expect(try await LogreplayProcess.run("replay", folder.store).output.contains("state hash  \(hash)"))
  }

  @Test func `info counts the tables, and those of the system where they are asked for`() async throws {
    let folder = try await SampleFolder.list()
    let info = try DocumentValue(json: try await folder.answer("info", "-o", "json"))
    #expect(info["tables"] == [["table": "incident", "items": 3]])
    let all = try DocumentValue(json: try await folder.answer("info", "--all", "-o", "json"))
    #expect(all["tables"] == [["table": "$own", "items": 1], ["table": "incident", "items": 3]])
    #expect(try await folder.answer("info").contains("tables          incident (3 items)\n"))
  }
}
