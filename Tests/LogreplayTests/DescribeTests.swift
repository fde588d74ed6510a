// What there is in a store: `info --describe`, `info --types`, and `log --where`.

import Foundation
import Strata
import Testing

struct DescribeTests {
  @Test func `info lists the fields of a table with their types and most common values`() async throws {
    let folder = try await SampleFolder.list()
    #expect(
      try await folder.answer("info", "--describe", "-o", "json")
        == #"{"schema":1,"table":"incident","items":3,"sequence":8,"fields":["#
        + #"{"field":"impact.level","rows":1,"types":{"string":1},"different":1,"values":[{"value":"High","rows":1}]},"#
        + #"{"field":"n","rows":3,"types":{"integer":3},"different":3,"#
        + #""values":[{"value":1,"rows":1},{"value":4,"rows":1},{"value":30,"rows":1}]},"#
        + #"{"field":"status","rows":2,"types":{"string":2},"different":1,"values":[{"value":"Closed","rows":2}]}]}"#
        + "\n")
    #expect(
      try await folder.answer("info", "--describe", "--table", "incident")
        == """
        incident  3 items at seq 8
          field         rows  types    values
          impact.level     1  string   1 different: High
          n                3  integer  3 different: 1, 4, 30
          status           2  string   1 different: Closed 2

        """)
  }

  @Test func `info lists the types of events with the first and the last of each`() async throws {
    let folder = try await SampleFolder.list()
    #expect(
      try await folder.answer("info", "--types", "-o", "json")
        == #"{"schema":1,"sequence":8,"types":[{"type":"$delete","events":1,"first":6,"#
        + #""firstTime":"2026-01-01T00:00:04.000000000Z","last":6,"lastTime":"2026-01-01T00:00:04.000000000Z"},"#
        + #"{"type":"$merge","events":1,"first":5,"firstTime":"2026-01-01T00:00:03.000000000Z","last":5,"#
        + #""lastTime":"2026-01-01T00:00:03.000000000Z"},{"type":"$put","events":5,"first":1,"#
        + #""firstTime":"2026-01-01T00:00:01.000000000Z","last":7,"lastTime":"2026-01-01T00:00:04.000000000Z"}]}"#
        + "\n")
    let all = try await folder.answer("info", "--types", "--all").split(separator: "\n")
    #expect(all.count == 4 && all[0].hasPrefix("type     events  first"), "\(all)")
    #expect(all[3].hasPrefix("$put          6      1") && all[3].contains("  8  "), "\(all)")
  }

  @Test(arguments: [
    (["info", "--describe", "--types"], "leave one of them out"),
    (["info", "--table", "incident"], "add --describe"),
    (["log", "--where", "priority > 2"], "write payload.priority for a field of the payload"),
    (["log", "--where", "$section == 1"], "compare one of these"),
    (["log", "--where", "type =="], "--where"),
    (["log", "--row", "incident/a", "--where", "type == 'x'"], "say which are shown"),
  ])
  func `A mistake in what is asked is said, with what to write`(arguments: [String], said: String)
    async throws
  {
    let folder = try await SampleFolder.list()
    let outcome = try await LogreplayProcess([arguments[0], folder.store] + arguments.dropFirst()).wait()
    #expect(outcome.code == 64 && outcome.errors.contains(said), "\(outcome)")
  }

  @Test(arguments: [
    ("payload.status == 'Closed'", [3]), ("type == '$merge' || payload.n > 3", [3]),
    ("metadata.client == 'web' && metadata.attempt > 1", [5]), ("type beginsWith 'op'", [4, 6]),
    ("stream == 'ticket/42' && $id == '42'", [4, 5]), ("$revision > 5 && $time < @'2021-01-01'", [6]),
    ("payload == null", [5, 7]), ("payload.title contains 'größer'", [4]), ("version == 2", [3, 5]),
  ])
  func `log shows the events whose type, stream, metadata and payload pass a filter`(
    filter: String, sequences: [Int]
  ) async throws {
    let folder = try await SampleFolder.sample()
    let outcome = try await LogreplayProcess.run("log", folder.store, "--where", filter, "-o", "jsonl")
    let found = outcome.output.split(separator: "\n").compactMap { line in
      line.firstMatch(of: /"sequence":([0-9]+)/).flatMap { Int($0.1) }
    }
    #expect(found == sequences, "\(outcome)")
    let newest = try await LogreplayProcess.run(
      "log", folder.store, "--where", filter, "-r", "-n", "1", "-o", "jsonl")
    #expect(newest.output.contains("\"sequence\":\(found.last ?? 0),"), "\(newest)")
  }
}
