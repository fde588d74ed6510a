// Points by time where clocks were ahead or behind, and times of clocks that are shown twice or skipped.

import Foundation
import LogreplayPoints
import Strata
import StrataDocuments
import StrataEvents
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell

struct PointTimeTests {
  /// A store of one row for each time, which is the one that the append is given.
  private func store(_ times: [String]) async throws -> SampleFolder {
    let folder = try SampleFolder()
    let store = try await folder.open()
    for (number, time) in times.enumerated() {
      let id = String(UnicodeScalar(UInt8(97 + number)))
      try await store.append(
        [NewEvent("$put", in: StreamName(category: "t", id: id), ["n": .int(Int64(number))])],
        time: Timestamp(time + "T00:00:00Z"))
    }
    try await store.close()
    return folder
  }

  private func ids(_ outcome: LogreplayProcess.Outcome) throws -> String {
    try outcome.lines.map { try DocumentValue(json: $0) }.map { "\($0["id"]?.json() ?? "")" }.joined()
      .replacingOccurrences(of: "\"", with: "")
  }

  private func at(_ folder: SampleFolder, _ point: String) async throws -> (ids: String, said: String) {
    let outcome = try await LogreplayProcess.run("at", folder.store, point, "-o", "jsonl")
    #expect(outcome.code == 0, "\(outcome.errors)")
    return (try ids(outcome), outcome.errors)
  }

  @Test func `a time that is ahead hides nothing, and what a point passes over is said with it`() async throws
  {
    let folder = try await store(["2024-01-01", "2099-01-01", "2024-01-02", "2024-01-03"])
    let early = try await at(folder, "2024-01-02")
    #expect(early.ids == "abc")
    #expect(
      early.said == "2024-01-02 → seq 3 (2024-01-02T00:00:00.000Z); "
        + "1 append before it is dated later: seq 2 (2099-01-01T00:00:00.000Z)\n")
    #expect(try await at(folder, "2024-02-01").ids == "abcd")
    let first = try await at(folder, "2024-01-01")
    #expect(first.ids == "a" && !first.said.contains(";"), "\(first.said)")
    #expect(try await at(folder, "2100-01-01").ids == "abcd")
    let log = try await LogreplayProcess.run(
      "log", folder.store, "--since", "2024-01-02", "--until", "2024-02-01", "-o", "jsonl")
    #expect(log.lines.count == 2 && log.lines.allSatisfy { $0.contains("\"given\":\"2024-01-0") })
    let row = try await LogreplayProcess.run("log", folder.store, "--row", "t/b", "--until", "2024-02-01")
    #expect(row.code == 0 && row.output.isEmpty, "\(row.output)")
    let diff = try await LogreplayProcess.run("diff", folder.store, "2024-01-01..2024-02-01", "--summary")
    #expect(diff.output == "3 inserted, 0 deleted, 0 moved, 0 updated; 1 → 4 items\n", "\(diff.errors)")
    let filtered = try await LogreplayProcess.run(
      "at", folder.store, "--where", "$time > @'2024-01-01' && $time < @'2024-02-01'", "-o", "jsonl")
    #expect(try ids(filtered) == "cd")
    let info = try await LogreplayProcess.run("info", folder.store)
    #expect(
      info.lines.contains { $0.hasPrefix("to ") && $0.contains("2024-01-03 00:00:00") }, "\(info.output)")
    #expect(info.output.contains("1 append before the last is dated later: seq 2 (2099-01-01T00:00:00.000Z)"))
  }

  @Test func `what a point passes over is counted, and the first of it is named`() async throws {
    let folder = try await store(["2024-01-01", "2024-03-01", "2024-03-02", "2024-01-02"])
    let found = try await at(folder, "2024-02-01")
    #expect(found.ids == "abcd")
    #expect(
      found.said.contains(
        "2 appends before it are dated later, the first is seq 2 (2024-03-01T00:00:00.000Z)"),
      "\(found.said)")
  }

  @Test(arguments: 0..<4)
  func `a point by time in a history of git is the commit that git finds`(round: Int) async throws {
    var random = StrataSimulation.SeededGenerator(seed: SeededGenerator.testSeed() &+ UInt64(round))
    let folder = try ImportFolder()
    let sample = try ImportGitSample(folder)
    var seconds = 1_700_000_000
    var times: [Int] = []
    for number in 0..<40 {
      seconds += Int.random(in: -400...500, using: &random)
      // The first commit is before all others, so that each time has an answer.
      times.append(number == 0 ? 1_600_000_000 : seconds)
      sample.commit("\(number)", [.file([0x61], "\(number)")], at: times[number])
    }
    try sample.finish()
    try await folder.run([sample.path])
    let store = try await EventStore.open(at: folder.store, .readOnly)
    for time in times + times.map({ $0 - 1 }).dropFirst() {
      let commit = try sample.git(["rev-list", "-1", "--first-parent", "--before=\(time)", "HEAD"])
      let position = try await store.position(at: Timestamp(nanoseconds: Int64(time) * 1_000_000_000))
      let append = try await store.append(holding: position.sequence)
      #expect(append?.id == commit.trimmingCharacters(in: .whitespacesAndNewlines), "at \(time)")
    }
    try await store.close()
  }

  // MARK: Clocks that are changed

  private static let zone = "CET-1CEST,M3.5.0,M10.5.0/3"

  @Test(arguments: [
    ("2026-10-25 02:30", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "is shown twice"),
    ("2026-03-29 02:30", "2026-03-29T01:30:00Z", "2026-03-29T00:30:00Z", "is skipped"),
  ])
  func `a local time that is two moments or none is read as one, and both are named`(
    text: String, taken: String, other: String, what: String
  ) async throws {
    let folder = try await store(["2024-01-01"])
    let outcome = try await LogreplayProcess.run("at", folder.store, text, zone: Self.zone)
    #expect(outcome.code == 0)
    let note = outcome.errors.split(separator: "\n").first { $0.contains("warning") } ?? ""
    #expect(note.contains("'\(text)' \(what) by the clocks of the zone: it is read as \(taken)"), "\(note)")
    #expect(note.contains(other) && note.hasSuffix("write an offset to choose"), "\(note)")
    for clear in [
      text + "+01:00", "2026-10-25 01:59:59", "2026-10-25 03:00", "2026-03-29 01:59", "2026-03-29 03:00",
    ] {
      let outcome = try await LogreplayProcess.run("at", folder.store, clear, zone: Self.zone)
      #expect(outcome.code == 0 && !outcome.errors.contains("warning"), "\(clear): \(outcome.errors)")
    }
    let filter = try await LogreplayProcess.run(
      "at", folder.store, "--where", "$time < @'\(text)'", zone: Self.zone)
    #expect(filter.errors.components(separatedBy: "is read as").count == 2, "\(filter.errors)")
  }

  @Test func `a leap second of clocks is one where it is the last second of a day in UTC`() {
    let east = TimeText(now: 0, zone: .fixed(3_600))
    let last: Int64 = 1_483_228_799_999_999_999
    #expect(east.nanoseconds("2017-01-01 00:59:60") == last)
    #expect(east.nanoseconds("2016-12-31T23:59:60.5Z") == last)
    #expect(east.nanoseconds("2016-12-31 23:59:60") == nil)
    #expect(east.nanoseconds("2017-01-01 00:58:60") == nil)
    #expect(east.nanoseconds("2017-01-01T00:59:60+02:00") == nil)
    #expect(east.nanoseconds("2017-01-01 00:59:61") == nil)
  }
}
