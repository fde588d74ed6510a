// What the command says of itself, and of words that it does not know.

import Foundation
import Strata
import Testing

struct HelpTests {
  @Test(arguments: [
    (["lgo", "x"], "did you mean log?"), (["verfy", "x"], "did you mean verify?"),
    (["help", "shwo"], "did you mean show?"), (["bogus"], "there are append, at, backup, bisect,"),
  ])
  func `a mistyped command is an error that names the nearest one`(
    arguments: [String], hint: String
  ) async throws {
    let outcome = try await LogreplayProcess(arguments).wait()
    #expect(outcome.code == 64 && outcome.output.isEmpty, "\(outcome)")
    #expect(outcome.errors.contains("there is no command '\(arguments[arguments[0] == "help" ? 1 : 0])'"))
    #expect(outcome.errors.contains(hint), "\(outcome.errors)")
  }

  @Test func `the command says its version, and how a shell completes it`() async throws {
    let version = try await LogreplayProcess.run("--version")
    #expect(version.code == 0 && version.output.contains("store format 1.0"), "\(version)")
    let help = try await LogreplayProcess.run("help")
    #expect(help.code == 0 && help.output.contains("--generate-completion-script"), "\(help)")
    let script = try await LogreplayProcess.run("--generate-completion-script", "bash")
    #expect(script.code == 0 && script.output.contains("_logreplay"))
  }

  @Test(arguments: ["at", "diff", "count", "bisect", "log", "show", "follow", "replay"])
  func `the help of a command that takes points ends with their grammar`(command: String) async throws {
    for arguments in [["help", command], [command, "--help"], [command, "x", "-h"]] {
      let help = try await LogreplayProcess(arguments).wait()
      #expect(help.code == 0 && help.errors.isEmpty, "\(help)")
      #expect(help.output.contains("USAGE: logreplay \(command)") && help.output.contains("OPTIONS:"))
      let grammar = try #require(help.output.range(of: "\nPOINTS:"))
      #expect(help.output[..<grammar.lowerBound].contains("OPTIONS:"))
      #expect(help.output[grammar.upperBound...].contains("id:APPEND"))
      #expect(!help.output.contains("mark:"))
    }
    #expect(!(try await LogreplayProcess.run("help", "info").output.contains("POINTS:")))
  }

  @Test(arguments: ["at", "diff", "follow"])
  func `the help of a list says what holds for limits and nulls`(command: String) async throws {
    let help = try await LogreplayProcess.run("help", command).output.split { $0.isWhitespace }
      .joined(separator: " ")
    #expect(help.contains("0 shows only sections and counts, in `at` alone"), "\(help)")
    #expect(help.contains("Null and missing values come first, with :desc too"), "\(help)")
  }

  @Test func `no error offers a point that does not exist yet`() async throws {
    let folder = try await SampleFolder.sample()
    let outcome = try await LogreplayProcess.run("at", folder.store, "bogus")
    #expect(outcome.code == 64 && outcome.errors.contains("head~N") && !outcome.errors.contains("mark:"))
  }

  @Test func `a time zone that the system does not know is said on standard error`() async throws {
    let folder = try await SampleFolder.sample()
    for zone in ["Europe/Berln", ":Nowhere", "XX"] {
      let outcome = try await LogreplayProcess.run("show", folder.store, "1", zone: zone)
      #expect(
        outcome.code == 0 && outcome.errors.contains("there is no time zone \(zone) (TZ)"), "\(outcome)")
      #expect(outcome.errors.split(separator: "\n").count == 1)
      let utc = try await LogreplayProcess.run("show", folder.store, "1", "--utc", zone: zone)
      #expect(utc.code == 0 && utc.errors.isEmpty, "\(utc)")
    }
    for zone in ["UTC", "", "UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "<+0330>-3:30"] {
      let outcome = try await LogreplayProcess.run("show", folder.store, "1", zone: zone)
      #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(zone): \(outcome)")
    }
  }
}
