// Arguments that a parser would take for something else.

import ArgumentParser
import Foundation
import LogreplayPoints
import Strata
import StrataDocuments
import StrataLog
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables
@testable import logreplay

struct ArgumentTests {
  @Test(arguments: [
    ["at", "-2"], ["at", "-2x", "--utc"], ["show", "-5"], ["at", "--", "-2"],
  ])
  func `a signed number is no point, and no call for help`(arguments: [String]) async throws {
    let folder = try await SampleFolder.sample()
    let command = [arguments[0], folder.store] + arguments.dropFirst()
    let outcome = try await LogreplayProcess(command).wait()
    #expect(outcome.code == 64 && outcome.output.isEmpty, "\(outcome)")
    let words = try #require(arguments.last { $0.hasPrefix("-") && $0 != "--utc" })
    #expect(outcome.errors.contains("'\(words)' is not a point"), "\(outcome.errors)")
    guard !arguments.contains("--") else { return }
    let json = try await LogreplayProcess(command + ["-o", "json"]).wait()
    #expect(try DocumentValue(json: json.errors)["error"]?["code"] == 64)
  }

  @Test(arguments: [
    (["diff", "-5.."], "write head~5..;"), (["at", "-2"], "write head~2;"),
    (["log", "-n", "-1"], "'-1' is no number of lines (-n)"), (["log", "--lines", "-3"], "0 or more"),
  ])
  func `for a signed number the error says what to write`(arguments: [String], words: String) async throws {
    let folder = try await SampleFolder.sample()
    let outcome = try await LogreplayProcess([arguments[0], folder.store] + arguments.dropFirst()).wait()
    #expect(outcome.code == 64 && outcome.errors.contains(words), "\(outcome)")
  }

  @Test func `a check is not ok where the chain that is expected could not be compared`() async throws {
    let folder = try await SampleFolder.sample()
    var verifier = LogVerifier(PosixFileSystem(), path: folder.store, depth: .quick)
    let report = try verifier.run()
    let verdict = try ExpectedChain("0123456789abcdef").verdict(on: folder.store + "/none")
    #expect(report.isOK && (verdict.error as? CommandFailure)?.code == ExitStatus.notFound)
    let json = try DocumentValue(json: report.json(verdict))
    #expect(json["ok"] == false && json["chainMatches"] == nil)
    let people = PeopleText(zone: .utc, isColored: false)
    #expect(report.text(verdict, people: people).hasPrefix("chain not read: "))
  }

  @Test(arguments: [["log", ""], ["diff", ""], ["diff", "5", ""], ["diff", "", "5"]])
  func `an empty point is not the begin or the end of a range`(arguments: [String]) async throws {
    let folder = try await SampleFolder.list()
    let outcome = try await LogreplayProcess([arguments[0], folder.store] + arguments.dropFirst()).wait()
    #expect(outcome.code == 64 && outcome.output.isEmpty, "\(outcome)")
    #expect(outcome.errors.contains("a point is empty"), "\(outcome.errors)")
  }

  @Test func `a filter on the section needs sections`() async throws {
    let folder = try await SampleFolder.list()
    let filter = ["at", folder.store, "--where", "$section == 'New'"]
    let outcome = try await LogreplayProcess(filter).wait()
    #expect(outcome.code == 64 && outcome.errors.contains("--section-by"), "\(outcome)")
    #expect(try await LogreplayProcess(filter + ["--section-by", "status"]).wait().code == 0)
  }

  @Test(arguments: [
    "2012-05-01T10:00Z", "2012-05-01 10:00", "2012-05-01", "2012-05", "-999d", "999d ago", "@1335830400",
    "2012-05-01T12:00:00+02:00",
  ])
  func `a point, since, until and a date in a filter are one grammar of times`(time: String) async throws {
    let folder = try await SampleFolder.list()
    for arguments in [
      ["at", time], ["at", "-9999d..", "--table", "incident"], ["log", "\(time)..head"], ["log", "-r", time],
      ["log", "--since", time], ["log", "--until", time], ["at", "--where", "$time > @'\(time)'"],
      ["diff", time, "head"],
    ] where arguments[1] != "-9999d.." || arguments[0] != "at" {
      let outcome = try await LogreplayProcess([arguments[0], folder.store] + arguments.dropFirst()).wait()
      #expect(outcome.code == 0, "\(arguments): \(outcome.errors)")
    }
    let all = try await LogreplayProcess.run(
      "at", folder.store, "--where", "$time > @'\(time)'", "-o", "jsonl")
    #expect(all.lines.count == 3, "\(all)")
    #expect(
      try await LogreplayProcess.run("log", folder.store, "--since", time, "-o", "jsonl").lines.count == 8)
    #expect(try await LogreplayProcess.run("log", folder.store, "\(time)..", "-o", "jsonl").lines.count == 8)
  }

  @Test func `a date without an offset is of one zone everywhere`() async throws {
    let folder = try await SampleFolder.list()
    // The first append is a second after midnight in UTC, and so before midnight an hour to the west.
    for (zone, count) in [("UTC", 0), ("WEST1", 3)] {
      let before = ["--where", "$time < @'2026-01-01'", "-o", "jsonl"]
      let filter = try await LogreplayProcess(["at", folder.store] + before, zone: zone).wait()
      #expect(filter.lines.count == count, "\(zone): \(filter)")
      let point = try await LogreplayProcess(["at", folder.store, "2026-01-01", "-o", "jsonl"], zone: zone)
        .wait()
      #expect(point.lines.count == count, "\(zone): \(point)")
    }
  }

  @Test func `a length of time with a sign is a point before now`() async throws {
    let folder = try await SampleFolder.list()
    for arguments in [
      ["at", "-2h"], ["at", "-2h30m", "--utc"], ["show", "-r", "-1d"], ["log", "-2h..-1h"],
    ] {
      let words = arguments.filter { $0 != "-r" }
      let outcome = try await LogreplayProcess([words[0], folder.store] + words.dropFirst()).wait()
      #expect(outcome.code == 0 && outcome.errors.contains(".ago → seq 8"), "\(arguments): \(outcome)")
    }
    let behindFlag = try await LogreplayProcess.run("log", folder.store, "-r", "-2h")
    #expect(behindFlag.code == 0 && behindFlag.lines.count == 8, "\(behindFlag)")
    let dashes = try await LogreplayProcess.run("at", folder.store, "--", "-2h")
    #expect(dashes.code == 0 && dashes.errors.hasPrefix("-2h → seq 8"), "\(dashes)")
    #expect(try await LogreplayProcess.run("log", folder.store, "-g", "-2h").code == 0)
    #expect(try await LogreplayProcess.run("at", folder.store, "2h ago").code == 0)
    #expect(try await LogreplayProcess.run("at", folder.store, "2h.ago").code == 0)
    #expect(try await LogreplayProcess.run("log", folder.store, "--since", "-2h").code == 0)
    #expect(
      try await LogreplayProcess.run("log", folder.store, "--since", "-2h", "-h").output.contains("USAGE"))
  }

  @Test(arguments: [
    ["at", "-v"], ["diff", "-v"], ["diff", "--stat"], ["log", "-p", "--row", "incident/a"],
    ["log", "-ojson"],
    ["log", "--row", "incident/a", "-v"], ["at", "--color", "never"],
  ])
  func `a length of time with a sign is a point after any option`(arguments: [String]) async throws {
    let folder = try await SampleFolder.list()
    let outcome = try await LogreplayProcess(
      [arguments[0], folder.store] + arguments.dropFirst() + ["-2h"]
    ).wait()
    #expect(outcome.code == 0 && outcome.errors.hasPrefix("2h.ago → seq 8"), "\(outcome)")
  }

  @Test func `a list is followed from a length of time ago`() async throws {
    let folder = try await SampleFolder.list()
    let outcome = try await LogreplayProcess.run(
      "follow", folder.store, "--until-caught-up", "--from", "-2h")
    #expect(outcome.code == 0 && outcome.errors == "-2h → seq 8 (2026-01-01T00:00:05.000Z)\n", "\(outcome)")
  }

  /// What the parser says of one option or flag of the command line.
  private struct Dump: Decodable {
    struct Name: Decodable {
      var kind: String
      var name: String
    }
    struct Argument: Decodable {
      var kind: String
      var parsingStrategy: String
      var names: [Name]?
    }
    struct Command: Decodable {
      var commandName: String
      var arguments: [Argument]?
      var subcommands: [Command]?
    }
    var command: Command
  }

  @Test func `before a signed time every flag and every option that takes text is known`() async throws {
    let output = try await LogreplayProcess.run("--experimental-dump-help").output
    let dump = try JSONDecoder().decode(Dump.self, from: Data(output.utf8))
    let takingPoints = Logreplay.configuration.subcommands.filter { $0 is any PointCommand.Type }
      .compactMap { $0.configuration.commandName }
    let commands = (dump.command.subcommands ?? []).filter { takingPoints.contains($0.commandName) }
    #expect(commands.count == takingPoints.count && commands.count >= 6)
    func names(_ isMeant: (Dump.Argument) -> Bool) -> Set<String> {
      let names = commands.flatMap { $0.arguments ?? [] }.filter(isMeant).flatMap { $0.names ?? [] }
      return Set(names.map { ($0.kind == "long" ? "--" : "-") + $0.name })
    }
    let flags = names { $0.kind == "flag" }
    #expect(CommandArguments.takesNothing == flags)
    #expect(CommandArguments.takesText == names { $0.parsingStrategy == "unconditional" })
    let options = names { $0.kind == "option" }
    #expect(flags.isDisjoint(with: options), "a name is a flag of one command and an option of another")
    #expect(CommandArguments.takesJoined.isSubset(of: options))
  }

  @Test func `an argument that is not UTF-8 is refused, and names no other file`() async throws {
    let folder = try await SampleFolder.sample()
    let other = folder.file("a\u{FFFD}")
    try FileManager.default.moveItem(atPath: folder.store, toPath: other)
    // The shell makes the byte, since arguments of a `Process` are text.
    func run(_ format: String) throws -> ImportProcess {
      try ImportProcess.run(
        "/bin/sh",
        [
          "-c", "exec \"$0\" log \"$(printf '%s/a\\377' \"$1\")\" -o \(format)",
          LogreplayProcess.executable.path,
          folder.path,
        ])
    }
    let text = try run("short")
    #expect(text.code == 64 && text.errors.contains("argument 2 is not UTF-8"), "\(text)")
    let json = try run("json")
    #expect(try json.code == 64 && DocumentValue(json: json.errors)["error"]?["code"] == 64, "\(json)")
    #expect(try await LogreplayProcess.run("log", other).code == 0)
  }

  @Test func `a time before the first whole second of all is shown and found`() async throws {
    let folder = try ImportFolder()
    try folder.write(#"{"id":"a","time":"1677-09-21T00:12:43.9Z"}"# + "\n")
    try await folder.importLines("lines.jsonl", "--time", "time")
    let log = try await LogreplayProcess.run("log", folder.store)
    #expect(log.code == 0 && log.output.contains("1677-09-21 00:12:43.900+00:00"), "\(log)")
    for point in ["1677-09-21 00:12:43.900Z", "9999-12-31", "1677-09-22"] {
      let found = try await LogreplayProcess.run("at", folder.store, point)
      #expect(found.code == 0 && found.output.contains("  a  "), "\(point): \(found)")
    }
    let none = try await LogreplayProcess.run("log", folder.store, "--until", "0001-01-01")
    #expect(none.code == 0 && none.output.isEmpty)
    let all = try await LogreplayProcess.run(
      "log", folder.store, "--since", "0001-01-01", "--until", "9999-12-31")
    #expect(all.code == 0 && all.lines.count == 1)
  }
}
