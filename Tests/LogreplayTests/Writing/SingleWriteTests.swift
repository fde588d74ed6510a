// `put`, `merge`, `delete` and `append`: what they append, and what they refuse.

import ArgumentParser
import Foundation
import LogreplayPoints
import StrataDocuments
import StrataEvents
import StrataLog
@testable import StrataPast
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct SingleWriteTests {
  @Test func `each command appends one event, and its receipt says where`() async throws {
    let folder = try ImportFolder()
    let put = try folder.single(
      "put", ["t/a/b", #"{"n":1,"x":{"y":2,"z":3}}"#], "--create", "--meta", "by=\"ann\"")
    #expect(put.outcome.first == 1 && put.version == 1 && !put.outcome.isKnown)
    let merge = try folder.single("merge", ["t/a/b", #"{"n":null,"x":{"y":5}}"#], "--expecting", "1")
    #expect(merge.outcome.last == 2 && merge.version == 2)
    try folder.single("append", ["ticket/42", "-5"], "--type", "opened", "--expecting", "none")
    try folder.single(
      "append", ["ticket/42"], "--type", "closed", "--time", "2020-01-01T00:00:00Z", "--id", "x")
    try folder.single("delete", ["t/a/b"], "--expecting", "exists")
    let appends = try await folder.appends()
    let events = appends.flatMap(\.events)
    #expect(events.map(\.type) == ["$put", "$merge", "opened", "closed", "$delete"])
    #expect(events.map(\.stream.text) == ["t/a/b", "t/a/b", "ticket/42", "ticket/42", "t/a/b"])
    #expect(
      try events.map { try $0.document().json() } == [
        #"{"n":1,"x":{"y":2,"z":3}}"#, #"{"n":null,"x":{"y":5}}"#, "-5", "null", "null",
      ])
    #expect(try events[0].metadata() == ["by": "ann"] && appends[3].id == "x")
    #expect(events[3].time.description == "2020-01-01T00:00:00.000000000Z")
    #expect(appends[3].time > appends[3].givenTime ?? appends[3].time)
  }

  @Test func `a conflict has its own exit code, names the version, and appends nothing`() throws {
    let folder = try ImportFolder()
    try folder.single("put", ["t/a", "{}"], "--create")
    for (expected, isMet) in [
      ("none", false), ("0", false), ("2", false), ("exists", true), ("any", true), ("3", true),
    ] {
      guard !isMet else {
        try folder.single("put", ["t/a", "{}"], "--expecting", expected)
        continue
      }
      let failure = try folder.failed { try folder.single("put", ["t/a", "{}"], "--expecting", expected) }
      #expect(failure.code == 67 && failure.what.contains("t/a is at version 1"), "\(failure)")
      #expect(failure.numbers.map(\.value) == [1])
    }
    #expect(try folder.head() == 4)
    let process = try ImportProcess.run(
      ImportProcess.command, ["delete", folder.store, "t/a", "--expecting", "1", "-o", "json"])
    #expect(
      process.code == 67 && process.output.isEmpty && process.errors.contains(#""version":4}"#), "\(process)")
  }

  @Test func `an append whose id the store has is not appended again, and says so`() throws {
    let folder = try ImportFolder()
    let first = try folder.single(
      "put", ["t/a", #"{"n":1}"#], "--create", "--id", "job-1", "--expecting", "none")
    try folder.single("put", ["t/a", #"{"n":2}"#])
    // Also if the stream has another version by now, and with another time.
    let again = try folder.single(
      "put", ["t/a", #"{"n":1}"#], "--id", "job-1", "--expecting", "none", "--time", "now")
    #expect(again.outcome.isKnown && again.outcome.first == first.outcome.first && again.version == 1)
    #expect(String(decoding: again.json, as: UTF8.self).contains(#""known":true,"id":"job-1""#))
    #expect(again.short(PeopleText(zone: .utc, isColored: false)).contains("nothing was appended"))
    let other = try folder.failed { try folder.single("put", ["t/a", #"{"n":3}"#], "--id", "job-1") }
    #expect(other.code == 65 && other.what.contains("job-1"), "\(other)")
    #expect(try folder.head() == 2)
  }

  @Test func `a store is made only where that is asked for, and not for a write that is refused`() throws {
    let folder = try ImportFolder()
    let missing = try folder.failed { try folder.single("put", ["t/a", "{}"]) }
    #expect(missing.code == 66 && missing.next.contains("--create"), "\(missing)")
    let refused = try folder.failed {
      try folder.single("put", ["t/a", "{}"], "--create", "--expecting", "exists")
    }
    #expect(refused.code == 67, "\(refused)")
    #expect(!FileManager.default.fileExists(atPath: folder.store))
    try folder.single("put", ["t/a", "{}"], "--create")
    try folder.single("put", ["t/a", "{}"], "--create")
    #expect(try folder.head() == 2)
    try folder.write("x", to: "other")
    let other = try folder.failed { try PutCommand.parse(["--create", folder.path, "t/a", "{}"]).execute() }
    #expect(other.code == 73 && other.what.contains("no store"), "\(other)")
  }

  /// A command, its values and options, the exit code, and what the error says.
  private static let refused: [(String, [String], [String], Int32, String)] = [
    ("put", ["t", "{}"], [], 64, "names no row"), ("put", ["/a", "{}"], [], 64, "empty table"),
    ("put", ["t/", "{}"], [], 64, "empty id"), ("put", ["", "{}"], [], 64, "1 to 1024"),
    ("put", ["$erasures/x", "{}"], [], 64, "reserved"), ("delete", ["$consumer/x"], [], 64, "reserved"),
    ("put", ["t/" + String(repeating: "é", count: 512), "{}"], [], 64, "1 to 1024"),
    ("append", ["$x", "1"], ["--type", "a"], 64, "reserved"),
    ("append", ["s"], ["--type", "$put"], 64, "reserved"),
    ("append", ["s"], ["--type", ""], 64, "1 to 255"), ("put", ["t/a", "[]"], [], 65, "not an object"),
    ("put", ["t/a", ""], [], 65, "no document"), ("put", ["t/a", "{"], [], 65, "ends inside"),
    ("put", ["t/a", #"{"a":1,"a":2}"#], [], 65, "twice"),
    ("put", ["t/a", #"{"a":NaN}"#], [], 65, "unexpected 'N'"),
    ("put", ["t/a", #"{"a":1e400}"#], [], 65, "double cannot hold"),
    ("put", ["t/a", #"{"a":0.123456789012345678}"#], [], 65, "--round-numbers"),
    ("put", ["t/a", "{\"a\":\"\u{0}\"}"], [], 65, "must be escaped"),
    ("put", ["t/a", #"{"a":"\ud800"}"#], [], 65, "surrogate"),
    ("put", ["t/a", #"{"a":"# + String(repeating: "[", count: 100_000)], [], 65, "deeper than 128"),
    ("put", ["t/a", #"{"id":"b"}"#], [], 65, "--any-id"), ("put", ["t/1", #"{"id":2}"#], [], 65, "--any-id"),
    ("merge", ["t/a", #"{"id":null}"#], [], 65, "--any-id"),
    ("merge", ["t/a", "3"], [], 65, "not an object"),
    ("put", ["t/a", "{}"], ["--meta", "by=ann"], 64, #"by="ann""#),
    ("put", ["t/a", "{}"], ["--meta", "=1"], 64, "KEY=VALUE"),
    ("put", ["t/a", "{}"], ["--meta", "a=1", "--meta", "a=1"], 64, "twice"),
    ("put", ["t/a", "{}"], ["--id", ""], 64, "1 to 64"),
    ("put", ["t/a", "{}"], ["--expecting=-1"], 64, "not a version"),
    ("put", ["t/a", "{}"], ["--expecting", "18446744073709551616"], 64, "not a version"),
    ("put", ["t/a", "{}"], ["--time", "soon"], 64, "not a time"),
    ("put", ["t/a", "{}"], ["--time", "9999-01-01"], 64, "1677"),
    ("put", ["t/a", "{}"], ["--wait", "x"], 64, "length of time"),
    ("put", ["t/a", "@/nowhere/at/all"], [], 66, "cannot open"), ("put", ["t/a", "@/"], [], 74, "directory"),
  ]

  @Test func `what is wrong is refused with its reason, before a store is made`() throws {
    let folder = try ImportFolder()
    for (command, values, options, code, what) in Self.refused {
      let failure = try folder.failed {
        let arguments = ["--create"] + options + ["--", folder.store] + values
        switch command {
        case "put": return try PutCommand.parse(arguments).execute()
        case "merge": return try MergeCommand.parse(arguments).execute()
        case "delete": return try DeleteCommand.parse(arguments).execute()
        default: return try AppendCommand.parse(arguments).execute()
        }
      }
      let said = "\(failure.what) \(failure.next)"
      #expect(
        failure.code == code && said.contains(what),
        "\(command) \(values.map { $0.prefix(40) }) \(options): \(failure)")
      #expect(failure.text.utf8.count < 1000)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.store))
  }

  @Test func `documents come from files and from standard input, compressed too, and are kept exactly`()
    async throws
  {
    let folder = try ImportFolder()
    let big = #"{"a":9223372036854775808,"b":1.0,"c":-0.0,"d":"x\u0000y","e":123456789012345678901234567890}"#
    let file = try folder.write("\u{FEFF}\n \(big)\n", to: "doc.json")
    try folder.single("put", ["t/1", "@\(file)"], "--create")
    for input in [Array(big.utf8), try ImportProcess.gzip(Array(big.utf8))] {
      let result = try ImportProcess.run(
        ImportProcess.command, ["put", folder.store, "t/2", "-"], input: input)
      #expect(result.code == 0 && result.output.hasPrefix("t/2: $put is sequence"), "\(result)")
    }
    #expect(Set(try await folder.documents().map { $0.json() }) == [big])
    try folder.single(
      "put", ["t/1", #"{"id":"other","n":0.123456789012345678}"#], "--any-id", "--round-numbers")
    let bytes: [UInt8] = Array(#"{"a":""#.utf8) + [0xFF] + Array(#""}"#.utf8)
    let wrong = try ImportProcess.run(ImportProcess.command, ["put", folder.store, "t/2", "-"], input: bytes)
    #expect(
      wrong.code == 65 && wrong.errors.contains("not UTF-8") && wrong.errors.contains("standard input"),
      "\(wrong)")
    let signed = try ImportProcess.run(
      ImportProcess.command, ["append", folder.store, "s", "--type", "x", "-5"])
    #expect(signed.code == 64 && signed.errors.contains("write -- before values"), "\(signed)")
    #expect(try folder.head() == 4)
  }
}
