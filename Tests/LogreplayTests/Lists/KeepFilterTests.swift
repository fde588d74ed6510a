// `keep --where` with times, and `keep` over a definition that it cannot read.

import Foundation
import Strata
import StrataDocuments
import Testing

struct KeepFilterTests {
  private func keep(_ folder: SampleFolder, _ filter: String) async throws -> (code: Int32, errors: String) {
    let outcome = try await LogreplayProcess.run(
      "keep", folder.store, "v", "--table", "incident", "--where", filter)
    return (outcome.code, outcome.errors)
  }

  @Test func `a relative time is kept as the moment that it names, and keep says so`() async throws {
    let folder = try await SampleFolder.list()
    for text in ["1h ago", "-7d", "now", "today", "yesterday"] {
      let (code, errors) = try await keep(folder, "$time < @'\(text)' || $time > @'\(text)'")
      #expect(code == 0, "\(errors)")
      #expect(errors.contains("@'\(text)' is kept as 2"), "\(errors)")
      #expect(errors.contains("Z, and does not follow the clock\n"), "\(errors)")
      // Once, although it occurs twice.
      #expect(errors.split(separator: "\n").count == 1, "\(errors)")
    }
    let shown = try await folder.answer("at", "--view", "v", "-o", "jsonl")
    #expect(shown.split(separator: "\n").count == 3)
  }

  @Test func `a time that is always the same is kept without a word`() async throws {
    let folder = try await SampleFolder.list()
    for text in ["2026-01-01", "2026-01-01T00:00:03Z", "@1767225600"] {
      let (code, errors) = try await keep(folder, "$time > @'\(text)'")
      #expect(code == 0 && errors.isEmpty, "\(errors)")
    }
  }

  @Test func `a definition that this version cannot read is replaced`() async throws {
    let folder = try await SampleFolder.list()
    let store = try await folder.open()
    try await store.append([NewEvent("$put", in: "$view/v", ["table": "incident", "new": 1])])
    try await store.close()
    #expect(try await LogreplayProcess.run("at", folder.store, "--view", "v").code == 65)
    #expect(try await keep(folder, "n > 1").code == 0)
    #expect(try await folder.answer("at", "--view", "v", "-o", "jsonl").split(separator: "\n").count == 2)
  }
}

extension KeepFilterTests {
  @Test func `a kept list whose pattern is no longer taken is named by info, and stops no other`()
    async throws
  {
    let folder = try await SampleFolder.list()
    let store = try await folder.open()
    for (name, filter) in [("old", "status matches '(?=O).*'"), ("good", "status matches 'O.*'")] {
      try await store.append([
        NewEvent(
          "$put", in: StreamName(category: "$view", id: name),
          ["table": "incident", "where": .string(filter)])
      ])
    }
    try await store.close()
    let info = try DocumentValue(json: try await folder.answer("info", "-o", "json"))
    let error: DocumentValue = "the pattern is malformed: look-ahead is not taken"
    #expect(info["refusedLists"] == .array([["table": "incident", "name": "old", "error": error]]))
    let text = try await folder.answer("info")
    #expect(
      text.contains("'old' of incident cannot be shown: the pattern is malformed: look-ahead is not taken"))
    #expect(!text.contains("'good'"))
    #expect(
      try await folder.answer("at", "4", "--view", "good", "-o", "jsonl").split(separator: "\n").count == 2)
    #expect(
      try await folder.answer("at", "4", "--table", "incident", "-o", "jsonl").split(separator: "\n").count
        == 4)
    #expect(try await LogreplayProcess(["checkpoint", folder.store]).wait().code == 0)
    let shown = try await LogreplayProcess(["at", folder.store, "--view", "old"]).wait()
    #expect(shown.code == 64 && shown.errors.contains("look-ahead is not taken"), "\(shown.errors)")
  }

  @Test func `log -g searches by the same patterns, and refuses what they do not have`() async throws {
    let folder = try await SampleFolder.list()
    func found(_ pattern: String) async throws -> Int {
      try await folder.answer("log", "-g", pattern, "-o", "jsonl").split(separator: "\n").count
    }
    #expect(try await found(#""status":"(Open|Closed)""#) == 5)
    #expect(try await found(#""n":\d{2}\b"#) == 1)
    #expect(try await found(#"{"level":"#) == 1)
    #expect(try await found("(x+x+)+y") == 0)
    for (pattern, what) in [
      ("(a)\\1", "at character 4: back references"), ("a(?=b)", "at character 2: look-ahead"),
    ] {
      let outcome = try await LogreplayProcess(["log", folder.store, "-g", pattern]).wait()
      #expect(outcome.code == 64 && outcome.errors.contains(what), "\(outcome.errors)")
    }
  }
}
