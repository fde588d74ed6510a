// What the inspector shows of a list, beside what the commands print.

import Foundation
import Strata
import StrataDocuments
import StrataEvents
import StrataSimulation
import Testing

@testable import LogreplayInspect

struct InspectListTests {
  private static let options = ["--table", "incident", "--section-by", "status", "--sort", "n:desc"]

  @Test func `at every sequence, the windows together are the list that the command prints`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed("inspected lists"))
    let folder = try await SampleFolder.random(&random, appends: 25)
    let client = try InspectClient(folder)
    let head = try client.get("store")["head"]!["sequence"]!.number
    // In no order, as a slider moves.
    for sequence in (0...head).shuffled(using: &random).prefix(20) {
      let isSectioned = Bool.random(using: &random)
      let words = isSectioned ? Self.options : ["--table", "incident", "--where", "n > 1"]
      let printed = try DocumentValue(
        json: try await LogreplayProcess(["at", folder.store, "\(sequence)", "-o", "json"] + words).wait()
          .output)
      let lines = printed.lines(sectioned: isSectioned)
      let step = Int.random(in: 1...9, using: &random)
      var shown: [String] = []
      for offset in stride(from: 0, through: lines.count, by: step) {
        let answer =
          isSectioned
          ? try client.get(
            "list",
            [
              "table": "incident", "section": "status", "sort": "n:desc", "at": "\(sequence)",
              "offset": "\(offset)",
              "count": "\(step)",
            ])
          : try client.get(
            "list",
            [
              "table": "incident", "where": "n > 1", "at": "\(sequence)", "offset": "\(offset)",
              "count": "\(step)",
            ])
        let list = try #require(answer["list"])
        shown += list.windowLines
        #expect(list["count"] == printed["count"] && list["chain"] == printed["chain"])
        #expect(list["lines"]?.number == lines.count && list["offset"]?.number == offset)
      }
      #expect(shown == lines, "at \(sequence)")
    }
  }

  /// A difference as `diff` prints it: a deletion without the row that was deleted.
  private static func withoutDeletedRows(_ diff: DocumentValue) -> DocumentValue {
    guard case .object(var whole) = diff, case .array(let changes)? = whole["changes"] else { return diff }
    whole["changes"] = .array(
      changes.map { change in
        guard change["op"] == "delete", case .object(var deletion) = change else { return change }
        (deletion["revision"], deletion["fields"]) = (nil, nil)
        return .object(deletion)
      })
    return .object(whole)
  }

  @Test func `the changes between two lists are those that diff prints, with the rows that were deleted`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed("inspected changes"))
    let folder = try await SampleFolder.random(&random, appends: 25)
    let client = try InspectClient(folder)
    let head = try client.get("store")["head"]!["sequence"]!.number
    var deletedCount = 0
    for _ in 0..<8 {
      let from = Int.random(in: 0...head, using: &random)
      let to = Int.random(in: 0...head, using: &random)
      let printed = try await LogreplayProcess(
        ["diff", folder.store, "\(from)", "\(to)", "-o", "json"] + Self.options
      ).wait().output
      let answer = try client.get(
        "list",
        ["table": "incident", "section": "status", "sort": "n:desc", "at": "\(to)", "since": "\(from)"])
      let diff = try #require(answer["list"]?["changes"]?["diff"])
      #expect(Self.withoutDeletedRows(diff) == (try DocumentValue(json: printed)), "\(from) \(to)")
      // In the other direction they are inserted.
      let back = try DocumentValue(
        json: try await LogreplayProcess(
          ["diff", folder.store, "\(to)", "\(from)", "-o", "json"] + Self.options
        ).wait().output)
      for change in diff["changes"]?.list ?? [] where change["op"] == "delete" {
        let inserted = back["changes"]?.list.first { $0["op"] == "insert" && $0["id"] == change["id"] }
        #expect(change["fields"] == inserted?["fields"] && change["revision"] == inserted?["revision"])
        deletedCount += inserted == nil ? 0 : 1
      }
      let compared = try client.get(
        "diff",
        [
          "table": "incident", "section": "status", "sort": "n:desc", "from": "\(from)", "to": "\(to)",
          "count": "3",
        ])
      let all = diff["changes"]!.list
      #expect(compared["changes"]?.number == all.count)
      #expect(compared["diff"]?["changes"]?.list == Array(all.prefix(3)))
    }
    #expect(deletedCount > 0)
  }

  @Test func `steps lead from one append that changes the list to the next, and back`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed("inspected steps"))
    let folder = try await SampleFolder.random(&random, appends: 60)
    let client = try InspectClient(folder)
    func list(_ at: Int, _ step: String) throws -> (Int, String, [String]) {
      let answer = try client.get(
        "list", ["table": "other", "section": "status", "at": "\(at)", "step": step, "count": "100"])
      let list = try #require(answer["list"])
      return (list["sequence"]!.number, answer["step"]!.string, list.windowLines)
    }
    // Every append, and whether the list is another one after it.
    var ends: [(sequence: Int, lines: [String])] = [(0, [])]
    while true {
      let (sequence, ending, lines) = try list(ends[ends.count - 1].sequence, "append")
      guard ending == "found" else { break }
      ends.append((sequence, lines))
    }
    #expect(ends.count == 61)
    // A row that is put again with the same fields has another revision, and is no change of the list.
    func content(_ lines: [String]) -> [String] {
      lines.map {
        $0.split(separator: " ").enumerated().filter { $0.offset != 1 }.map(\.element).joined(separator: " ")
      }
    }
    let changing = (1..<ends.count).filter { content(ends[$0].lines) != content(ends[$0 - 1].lines) }
    #expect(changing.count > 3)
    var at = 0
    for index in changing {
      let (sequence, ending, lines) = try list(at, "next")
      #expect(sequence == ends[index].sequence && ending == "found" && lines == ends[index].lines)
      at = sequence
    }
    #expect(try list(at, "next").1 == "end")
    at = ends[ends.count - 1].sequence
    for index in changing.reversed() {
      let (sequence, ending, lines) = try list(at, "previous")
      #expect(sequence == ends[index - 1].sequence && ending == "found" && lines == ends[index - 1].lines)
      at = sequence
    }
    #expect(try list(at, "previous").1 == "end")
    #expect(try list(ends[5].sequence, "back").0 == ends[4].sequence)
  }

  @Test func `a mistake in the list or the point says what is wrong, and where`() async throws {
    let client = try InspectClient(try await SampleFolder.list())
    let (status, filter) = try client.failure("list", ["table": "incident", "where": "status == "])
    #expect(
      status == 400 && filter["where"] == "--where" && filter["next"]!.string.contains("^"), "\(filter)")
    for (parameters, code, part) in [
      (["table": "incident", "sort": "n:sideways"], 400, "sideways"),
      (["table": "nothing", "at": "99"], 404, "99"),
      (["view": "nothing"], 404, "nothing"), (["table": "incident", "at": "the day before"], 400, "point"),
      (["table": "incident", "section": "$section"], 400, "$section"),
    ] as [(KeyValuePairs<String, String>, Int, String)] {
      let (status, error) = try client.failure("list", parameters)
      #expect(status == code && error.json().contains(part), "\(parameters): \(error)")
    }
  }

  @Test func `values that are long, hostile or odd come as text, and a line stays short`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    let script = "<script>alert(1)</script>\u{202E}\u{0}\"'&"
    let long = String(repeating: "ä", count: 100_000)
    try await store.append([
      NewEvent(
        "$put", in: StreamName(category: "page", id: script),
        ["html": .string(script), "long": .string(long), "list": .array([.string(long)]), "big": .uint(.max)])
    ])
    try await store.close()
    let client = try InspectClient(folder)
    let (_, text) = try client.text("list", ["table": "page"])
    #expect(text.utf8.count < 4000)
    let line = try #require(DocumentValue(json: text)["list"]?["window"]?.list.first)
    #expect(line["id"] == .string(script) && line["fields"]?["html"] == .string(script))
    #expect(line["fields"]?["big"] == .uint(.max))
    #expect(line["cut"] == ["list", "long"] && long.hasPrefix(line["fields"]!["long"]!.string.dropLast()))
    let row = try client.get("row", ["table": "page", "id": script])
    #expect(row["fields"]?["long"]?["value"] == .string(long))
  }

  @Test func `changes that are too long for an answer are counted, and the first of them shown`() async throws
  {
    let folder = try SampleFolder()
    let store = try await folder.open()
    let long = DocumentValue.string(String(repeating: "x", count: 100_000))
    for part in 0..<4 {
      try await store.append(
        (0..<30).map {
          NewEvent("$put", in: StreamName(category: "page", id: "\(part)-\($0)"), ["text": long])
        })
    }
    try await store.close()
    let client = try InspectClient(folder)
    let list = try #require(try client.get("list", ["table": "page", "since": "0"])["list"])
    #expect(list["changes"]?["inserted"] == 120 && list["changes"]?["diff"] == nil)
    let diff = try client.get("diff", ["table": "page", "from": "0", "to": "head"])
    let shown = try #require(diff["diff"]?["changes"]?.list.count)
    #expect(
      diff["changes"]?.number ?? 0 >= 120 && diff["shown"]?.number == shown && (20...80).contains(shown))
  }

  @Test func `a list follows what another store appends, and the feed says so`() async throws {
    let folder = try await SampleFolder.list()
    let store = try await folder.open()
    let client = try InspectClient(folder)
    #expect(try client.get("list", ["table": "incident"])["list"]?["count"] == 3)
    var feed = try #require(client.inspector.feed()).makeAsyncIterator()
    _ = await feed.next()
    try await store.append([NewEvent("$put", in: "incident/z", ["n": 9])])
    var told = ""
    while !told.contains("\"sequence\":9"), let piece = await feed.next() {
      told = String(decoding: piece, as: UTF8.self)
    }
    #expect(told.hasPrefix("event: head\ndata: {"))
    let answer = try client.get("list", ["table": "incident", "since": "8"])
    #expect(answer["list"]?["count"] == 4 && answer["list"]?["changes"]?["inserted"] == 1)
    try await store.close()
  }
}
