// `--aggregate`: what is counted, summed and compared, at a point, between two points and while a list is followed.

import Foundation
import Strata
import StrataDocuments
import Testing

struct AggregateOptionTests {
  @Test func `at shows the aggregates of each section and of the whole list`() async throws {
    let folder = try await SampleFolder.list()
    let output = try await folder.answer(
      "at", "4", "--section-by", "status", "--aggregate", "sum:n", "--aggregate", "max:note", "--aggregate",
      "last:n", "--limit-per-section", "0", "-o", "json")
    #expect(
      output == #"{"schema":1,"table":"incident","sequence":4,"time":"2026-01-01T00:00:02.000000000Z","#
        + #""chain":"\#(try await folder.chain(4))","count":4,"#
        + #""aggregates":{"sum:n":10,"max:note":"x, \"y\"\nz","last:n":"d"},"sections":["#
        + #"{"section":null,"count":1,"aggregates":{"sum:n":4,"max:note":null,"last:n":"d"},"items":[]},"#
        + #"{"section":"Closed","count":1,"aggregates":{"sum:n":3,"max:note":"x, \"y\"\nz","last:n":"c"},"items":[]},"#
        + #"{"section":"Open","count":2,"aggregates":{"sum:n":3,"max:note":null,"last:n":"b"},"items":[]}]}"#
        + "\n")
    #expect(
      try await folder.answer(
        "at", "4", "--section-by", "status", "--aggregate", "avg:n", "--aggregate", "sum:status", "--limit",
        "1",
        "--fields", "n")
        == "null  1  avg:n=4.0  sum:status=0\n  d  n=4\n"
        + "all sections  4  avg:n=2.5  sum:status=0 (without 3 of other kinds)\n"
        + "and 2 sections hidden by the limit\n")
    // Without sections, and what is left out as JSON.
    #expect(
      try await folder.answer(
        "at", "4", "--aggregate", "sum:status", "--aggregate", "count:note", "-o", "json"
      )
      .contains(
        #""aggregates":{"sum:status":0,"count:note":1},"aggregatesLeftOut":{"sum:status":{"otherKinds":3}},"#
          + #""sections":[{"section":null,"count":4,"aggregates":{"sum:status":0,"count:note":1},"#))
    #expect(
      try await folder.answer("at", "4", "--aggregate", "max:$time", "--limit", "0")
        == "incident  0 of 4 shown  max:$time=2026-01-01T00:00:02.000000000Z\n")
  }

  @Test func `diff has the old and the new value of each aggregate that changed`() async throws {
    let folder = try await SampleFolder.list()
    let arguments = ["--section-by", "status", "--aggregate", "sum:n", "--aggregate", "count:n"]
    let json = try await LogreplayProcess(["diff", folder.store, "4..7", "-o", "json"] + arguments).wait()
    #expect(json.code == 0 && json.errors.isEmpty)
    let diff = try DocumentValue(json: json.output)
    #expect(diff["from"]?["aggregates"] == ["sum:n": 10, "count:n": 4])
    #expect(diff["to"]?["aggregates"] == ["sum:n": 35, "count:n": 3])
    #expect(
      json.output.contains(
        #"{"op":"updateSection","section":"Closed","to":1,"count":2,"aggregates":{"sum:n":[3,31],"count:n":[1,2]}}"#
      ))
    let back = try await LogreplayProcess(["diff", folder.store, "7..4", "-o", "json"] + arguments).wait()
    #expect(
      back.output.contains(
        #"{"op":"insertSection","section":"Open","to":2,"count":2,"aggregates":{"sum:n":3,"count:n":2}}"#))
    let text = try await LogreplayProcess(["diff", folder.store, "6..7", "--fields", "n"] + arguments).wait()
    #expect(text.output.contains("Closed  2  sum:n: 4 → 31\n  ~ c  n: 3 → 30\n"), "\(text)")
    // A change of an aggregate alone, of a row that the limit hides.
    let hidden = try await LogreplayProcess(
      ["diff", folder.store, "6..7", "--limit-per-section", "1", "--stat", "--exit-code"] + arguments
    ).wait()
    #expect(hidden.code == 1 && hidden.output.contains("2  sum:n: 4 → 31\n"), "\(hidden)")
  }

  @Test func `follow has them in the list, and in what each append changes`() async throws {
    let folder = try await SampleFolder.list()
    let outcome = try await LogreplayProcess.run(
      "follow", folder.store, "--table", "incident", "--aggregate", "sum:n", "--from", "4",
      "--until-caught-up", "-o", "jsonl")
    #expect(outcome.code == 0 && outcome.errors.isEmpty)
    let lines = try outcome.lines.map { try DocumentValue(json: $0) }
    #expect(
      lines.map { $0["aggregates"] ?? $0["to"]?["aggregates"] } == [
        ["sum:n": 10], ["sum:n": 10], ["sum:n": 35],
      ])
  }

  @Test(arguments: ["", "sum", "total:n", "sum:", "sum:a b", "max:$section"])
  func `an aggregate that is none is refused before the store is opened`(text: String) async throws {
    for command in [["at"], ["diff", "1..2"], ["follow"]] {
      let outcome = try await LogreplayProcess(
        [command[0], "/nowhere"] + command[1...] + ["--aggregate", text]
      ).wait()
      #expect(outcome.code == 64 && outcome.errors.contains("--aggregate"), "\(outcome)")
    }
  }

  @Test func `formats with a line for each row refuse aggregates`() async throws {
    let folder = try await SampleFolder.list()
    for format in ["csv", "jsonl"] {
      let outcome = try await LogreplayProcess.run(
        "at", folder.store, "--aggregate", "count", "-o", format)
      #expect(outcome.code == 64 && outcome.errors.contains("json"), "\(outcome)")
    }
    let missing = try await LogreplayProcess.run(
      "at", folder.store, "--table", "incident", "--aggregate", "sum:nn")
    #expect(missing.code == 0 && missing.errors.contains("no row has a field nn"), "\(missing)")
  }
}
