// Names that nothing has: they are named on standard error, and the answer stays the answer that it is.

import Foundation
import Strata
import Testing

struct UnknownNameTests {
  /// What a command about the sample says beside its answer; it must end well.
  private func notes(_ folder: SampleFolder, _ arguments: [String]) async throws -> String {
    let outcome = try await LogreplayProcess([arguments[0], folder.store] + arguments.dropFirst()).wait()
    #expect(outcome.code == 0, "\(arguments): \(outcome.errors)")
    return outcome.errors
  }

  @Test(arguments: [
    (["at", "--where", "sttus == 'Open'"], "no row has a field sttus; did you mean status?"),
    (["at", "--where", "Status == 'Open'", "-o", "json"], "no row has a field Status; did you mean status?"),
    (["at", "--sort", "stats:desc"], "no row has a field stats; did you mean status?"),
    (["at", "--section-by", "statsu"], "no row has a field statsu; did you mean status?"),
    (["at", "--fields", "n,statis", "--limit", "1"], "no row has a field statis; did you mean status?"),
    (["at", "--where", "impact.levl == 'x'"], "no row has a field impact.levl; did you mean impact.level?"),
    (
      ["at", "4", "--sort", "zzzz"],
      "no row has a field zzzz; there are impact, impact.level, n, note, status"
    ),
    (["diff", "1..4", "--where", "sttus == 'Open'"], "no row has a field sttus; did you mean status?"),
    (["follow", "--until-caught-up", "--sort", "sttus"], "no row has a field sttus; did you mean status?"),
  ])
  func `a field that no row has is named, with the names that are near`(
    arguments: [String], note: String
  ) async throws {
    let notes = try await notes(try await .list(), arguments)
    #expect(notes.split(separator: "\n").filter { $0.contains("no row has") }.count == 1, "\(notes)")
    #expect(notes.contains("logreplay: warning: \(note)\n"), "\(notes)")
  }

  @Test(arguments: [
    ("status == Open", "no row has a field Open; write 'Open' in quotes"),
    ("Open == status", "no row has a field Open; write 'Open' in quotes"),
    ("status != O.K", "no row has a field O.K; write 'O.K' in quotes"),
    ("status contains[c] `it's`", "no row has a field `it's`; write 'it\\'s' in quotes"),
  ])
  func `a bare word beside a field is to be written in quotes`(filter: String, note: String) async throws {
    let notes = try await notes(try await .list(), ["at", "--where", filter])
    #expect(notes == "logreplay: warning: \(note)\n")
  }

  @Test func `both names of a comparison that nothing has are named`() async throws {
    let notes = try await notes(try await .list(), ["at", "--where", "sttus == Open && n > 0"])
    #expect(
      notes == "logreplay: warning: no row has a field Open; write 'Open' in quotes\n"
        + "logreplay: warning: no row has a field sttus; did you mean status?\n")
  }

  @Test(arguments: [
    ["at", "0", "--where", "sttus == 1"], ["at", "--where", "status == 'None'"],
    ["at", "4", "--sort", "note", "--limit", "1"], ["at", "--where", "impact == null", "--fields", "n"],
    ["diff", "4..7", "--fields", "note"], ["at", "--sort", "$time", "--section-by", "$revision"],
    ["log", "5..7", "--type", "$merge"], ["log", "4..4"], ["log", "--stream", "incident/*", "-n", "0"],
    ["log", "--stream", "incident/?", "--type", "$put", "--meta", "a=b"],
  ])
  func `what some row or event has is not named, however empty the answer is`(
    arguments: [String]
  ) async throws {
    #expect(try await notes(try await .list(), arguments) == "")
  }

  @Test(arguments: [
    (["--type", "$putt"], "no event has the type $putt; did you mean $put?"),
    (["--type", "zzzz"], "no event has the type zzzz; there are $delete, $merge, $put"),
    (["--type", "z*", "-r"], "no event has a type that matches z*; there are $delete, $merge, $put"),
    (["--stream", "incidnt/*"], "no event is in a stream that matches incidnt/*; did you mean incident/*?"),
    (["--stream", "incident"], "no event is in the stream incident; did you mean incident/*?"),
    (["--stream", "incident/aa"], "no event is in the stream incident/aa; did you mean incident/a?"),
    (["--stream", "zzzz"], "no event is in the stream zzzz; there are $own/*, incident/*"),
    (["4..2"], "4 is after 2, so the range holds no events; write 2..4"),
    (
      ["head", "first", "-o", "json"],
      "head is after first, so the range holds no events; write first..head"
    ),
  ])
  func `a log that is empty for a name or a range says so`(arguments: [String], note: String) async throws {
    let notes = try await notes(try await .list(), ["log"] + arguments)
    #expect(notes.hasSuffix("logreplay: warning: \(note)\n"), "\(notes)")
  }
}
