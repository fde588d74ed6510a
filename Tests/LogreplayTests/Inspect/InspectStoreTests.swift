// What the inspector says of time, events, rows, counts and the store, beside what the commands print.

import Foundation
import Strata
import StrataDocuments
import StrataEvents
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayInspect

struct InspectStoreTests {
  @Test func `a histogram ends each column with the sequence that the point by its time is`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed("inspected histogram"))
    let folder = try await SampleFolder.random(&random, appends: 40)
    let client = try InspectClient(folder)
    let whole = try client.get("histogram", ["columns": "13"])
    let columns = try #require(whole["columns"]?.list)
    #expect(columns.count == 13 && whole["after"] == 0)
    for column in columns {
      let point = try client.get("point", ["at": column["time"]!.string])
      #expect(point["point"]?["sequence"] == column["sequence"])
    }
    #expect(columns.last?["sequence"] == whole["head"]?["sequence"])
    let part = try client.get("histogram", ["after": "10", "through": "30", "columns": "5"])
    #expect(part["after"] == 10 && part["columns"]?.list.last?["sequence"] == 30)
    // The types of all columns together are those of the log.
    var counts: [String: Int] = [:]
    var after = 0
    for column in columns {
      let sequence = column["sequence"]!.number
      let found = try client.get("types", ["after": "\(after)", "through": "\(sequence)"])
      #expect(found["whole"] == true)
      for type in found["types"]!.list { counts[type["type"]!.string, default: 0] += type["events"]!.number }
      after = sequence
    }
    let printed = try DocumentValue(json: try await folder.answer("info", "--types", "-o", "json"))
    for type in printed["types"]!.list { #expect(counts[type["type"]!.string] == type["events"]!.number) }
  }

  @Test func `events that all have one time are one column, and an empty store has none`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    let time = try #require(Timestamp("2026-01-01T00:00:00Z"))
    for number in 0..<3 { try await store.append([NewEvent("x", in: "a/\(number)", .null)], time: time) }
    try await store.close()
    let one = try InspectClient(folder).get("histogram")
    #expect(one["columns"]?.list.map { $0["sequence"]!.number } == [3])
    let empty = try SampleFolder()
    try await empty.open().close()
    let client = try InspectClient(empty)
    #expect(try client.get("histogram")["columns"] == [])
    #expect(try client.get("store")["tables"] == [])
    #expect(try client.get("events")["events"] == [])
    #expect(try client.get("point", ["at": "head"])["point"]?["sequence"] == 0)
    #expect(try client.get("info")["info"]?["appends"] == 0)
  }

  @Test func `events are found as log finds them, the newest first, page by page`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed("inspected events"))
    let folder = try await SampleFolder.random(&random, appends: 40)
    let client = try InspectClient(folder)
    for (name, value, words) in [
      ("type", "$put", ["--type", "$put"]), ("stream", "incident/i1*", ["--stream", "incident/i1*"]),
      ("category", "other", ["--stream", "other/*"]), ("grep", "Queued", ["--grep", "Queued"]),
      ("where", "metadata.by == 'ann'", ["--where", "metadata.by == 'ann'"]),
      ("meta", "by=bob", ["--meta", "by=bob"]),
      ("x", "", []),
    ] {
      let printed = try await LogreplayProcess(["log", folder.store, "-r", "-o", "jsonl"] + words).wait()
        .lines
      var shown: [DocumentValue] = []
      var before: String?
      repeat {
        let answer = try client.get("events", [name: value, "count": "7", "before": before ?? ""])
        shown += answer["events"]!.list
        before = answer["next"].map { "\($0.number)" }
      } while before != nil
      #expect(shown == (try printed.map { try DocumentValue(json: $0) }), "\(name) \(value)")
    }
    let (status, error) = try client.failure("events", ["where": "status == 'x'"])
    #expect(status == 400 && error["where"] == "--where")
    let event = try client.get("event", ["at": "5"])
    let whole = try await LogreplayProcess(["show", folder.store, "5", "-o", "json"]).wait().output
    #expect(event == (try DocumentValue(json: whole)))
    #expect(try client.failure("event", ["at": "0"]).status == 404)
  }

  @Test func `a row has the versions, and counts the numbers, that the commands print`() async throws {
    let folder = try await SampleFolder.list()
    let client = try InspectClient(folder)
    #expect(
      try client.get("row", ["table": "incident", "id": "a"])
        == DocumentValue(json: try await folder.answer("log", "--row", "incident/a", "-p", "-o", "json")))
    #expect(try client.failure("row", ["table": "incident", "id": "none"]).status == 404)
    #expect(try client.failure("row", ["table": "incident"]).status == 400)
    let counts = try await LogreplayProcess(
      ["count", folder.store, "1..6", "--table", "incident", "--by", "status", "--every", "1h", "-o", "json"]
    ).wait()
    var printed = try DocumentValue(json: counts.output)
    var shown = try client.get(
      "counts", ["table": "incident", "by": "status", "every": "1h", "from": "1", "to": "6"])
    // The zone of this process is its own.
    for key in ["timeZone"] { (printed, shown) = (printed.without(key), shown.without(key)) }
    #expect(shown["steps"]?.list.count == printed["steps"]?.list.count)
    #expect(try client.failure("counts", ["table": "incident", "every": "1y"]).status == 400)
    #expect(
      try client.get("fields", ["table": "incident"])
        == DocumentValue(
          json: try await folder.answer("info", "--describe", "--table", "incident", "-o", "json")))
  }

  @Test func `the store's condition is what info and verify print, also of a damaged one`() async throws {
    let folder = try await SampleFolder.list()
    let client = try InspectClient(folder)
    let info = try DocumentValue(json: try await folder.answer("info", "-o", "json"))
    let shown = try #require(try client.get("info")["info"])
    for key in ["uuid", "last", "appends", "chain", "tables", "consumers", "bytes"] {
      #expect(shown[key] == info[key])
    }
    #expect(try Self.report(client)["ok"] == true)
    let log = "\(folder.store)/log"
    let file = try #require(try FileManager.default.contentsOfDirectory(atPath: log).sorted().first)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: "\(log)/\(file)"))
    bytes[4096 + 90] ^= 0x40
    try bytes.write(to: URL(fileURLWithPath: "\(log)/\(file)"))
    let damaged = try InspectClient(folder)
    let store = try damaged.get("store")
    #expect(store["damage"]?["code"] == 65 && store["damage"]?["next"] != nil, "\(store)")
    #expect(try damaged.get("info")["problem"]?["code"] == 65)
    let report = try Self.report(damaged)
    #expect(report["ok"] == false && report["findings"]?.list.first?["class"] == "corrupt", "\(report)")
  }

  private static func report(_ client: InspectClient) throws -> DocumentValue {
    var answer = try client.get("check", ["depth": "full"])
    while answer["running"] == true { answer = try client.get("check") }
    return try #require(answer["report"])
  }

  @Test func `the program is looked for beside the command, in the clone, and in the folders of PATH`() {
    let built = InspectProgramPaths(own: "/a/strata/.build/x/release/logreplay", variable: "/usr/bin::bin:/b")
    #expect(
      built.all == [
        "/a/strata/.build/x/release/logreplay-inspect",
        "/a/strata/Tools/inspect/.build/release/logreplay-inspect",
        "/usr/bin/logreplay-inspect", "/b/logreplay-inspect",
      ])
    #expect(built.package == "/a/strata/Tools/inspect")
    #expect(InspectProgramPaths(own: "/usr/bin/logreplay").package == "Tools/inspect")
  }

  @Test func `a program that is not there is named with the command that builds it`() async throws {
    let outcome = try await LogreplayProcess.run(
      "inspect", try await SampleFolder.list().store, "--no-open", "-o")
    #expect(outcome.code == 64)
    let folder = try SampleFolder()
    try FileManager.default.copyItem(
      atPath: LogreplayProcess.executable.path, toPath: folder.file("logreplay"))
    let missing = try await LogreplayProcess(
      ["inspect", folder.store], program: URL(fileURLWithPath: folder.file("logreplay"))
    ).wait()
    #expect(
      missing.code == 69 && missing.errors.contains("swift build -c release --package-path Tools/inspect"))
    try Data("#!/bin/sh\necho \"$@\"\n".utf8).write(
      to: URL(fileURLWithPath: folder.file("logreplay-inspect")))
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: folder.file("logreplay-inspect"))
    let started = try await LogreplayProcess(
      ["inspect", "my store", "--port", "81", "--no-open"],
      program: URL(fileURLWithPath: folder.file("logreplay"))
    ).wait()
    #expect(started.output == "--port=81 --no-open -- my store\n")
  }
}

extension DocumentValue {
  fileprivate func without(_ key: String) -> DocumentValue {
    guard case .object(let object) = self else { return self }
    var rest = DocumentObject()
    for (name, value) in object where name != key { rest[name] = value }
    return .object(rest)
  }
}
