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
