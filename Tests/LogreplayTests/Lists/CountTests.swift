// `count`: a table's rows by the values of fields, at the end of each step.

import Foundation
import Strata
import StrataDocuments
import StrataEvents
import StrataSimulation
import Testing

struct CountTests {
  /// Tickets around the night in 2012 in which the clocks of Berlin went forward.
  ///
  /// - Parameter late: whether an append is dated a day earlier than those before it.
  private static func store(late: Bool = true) async throws -> SampleFolder {
    let folder = try SampleFolder()
    let store = try await folder.open()
    func append(_ time: String, _ id: String, _ fields: DocumentValue, type: String = "$put") async throws {
      try await store.append(
        [NewEvent(type, in: StreamName(category: "ticket", id: id), fields)], time: Timestamp(time))
    }
    try await append("2012-03-24T12:00:00Z", "1", ["status": "Open", "cost": 0.1])
    try await append("2012-03-24T22:59:59Z", "2", ["status": "Open", "cost": 0.2])
    // Midnight of the 25th in Berlin, which has 23 hours.
    try await append("2012-03-24T23:00:00Z", "3", ["status": "Open", "cost": 7])
    try await append("2012-03-25T21:59:59Z", "3", ["status": "Closed"], type: "$merge")
    try await append("2012-03-25T22:00:00Z", "2", .null, type: "$delete")
    if late { try await append("2012-03-24T13:00:00Z", "4", ["status": ["odd"], "cost": "much"]) }
    try await append("2012-03-28T10:00:00Z", "4", ["status": "Open", "cost": 1])
    try await store.close()
    return folder
  }

  @Test func `count gives a line for each group of each step, as the clocks of a zone have them`()
    async throws
  {
    let folder = try await Self.store()
    let berlin = ["--every", "1d", "--time-zone", "Europe/Berlin", "-o", "csv"]
    let outcome = try await LogreplayProcess(["count", folder.store, "--by", "status"] + berlin).wait()
    // What came late belongs to all days since its time, with what was appended before it.
    #expect(
      outcome.output == """
        time,status,count
        2012-03-24T00:00:00+01:00,Closed,1
        2012-03-24T00:00:00+01:00,Open,1
        2012-03-25T00:00:00+01:00,Closed,1
        2012-03-25T00:00:00+01:00,Open,1
        2012-03-26T00:00:00+02:00,Closed,1
        2012-03-26T00:00:00+02:00,Open,1
        2012-03-27T00:00:00+02:00,Closed,1
        2012-03-27T00:00:00+02:00,Open,1
        2012-03-28T00:00:00+02:00,Closed,1
        2012-03-28T00:00:00+02:00,Open,2

        """)
    #expect(outcome.code == 3 && outcome.errors.contains("up to 1 rows are in no group"), "\(outcome)")
    let early = try await Self.store(late: false).answer(
      "count", "..5", "--by", "status", "--sum", "cost", "--every", "1d", "--time-zone", "Europe/Berlin",
      "-o", "csv")
    #expect(
      early == """
        time,status,count,sum
        2012-03-24T00:00:00+01:00,Open,2,0.3
        2012-03-25T00:00:00+01:00,Closed,1,7
        2012-03-25T00:00:00+01:00,Open,2,0.3
        2012-03-26T00:00:00+02:00,Closed,1,7
        2012-03-26T00:00:00+02:00,Open,1,0.1

        """)
  }

  /// A store with tickets of several months, of which some are dated earlier than those before them, have odd values, or are
  /// replaced by what is no object.
  private static func months(_ random: inout SeededGenerator) async throws -> SampleFolder {
    let folder = try SampleFolder()
    let store = try await folder.open()
    var time: Int64 = 1_332_000_000
    let values: [DocumentValue] = ["Open", "Closed", .null, 1, 1.0, -0.5, [1], ["in": 1], true]
    for _ in 0..<200 {
      time += Int64.random(in: 0..<90_000, using: &random)
      let early =
        Int.random(in: 0..<9, using: &random) == 0 ? Int64.random(in: 0..<900_000, using: &random) : 0
      let id = StreamName(category: "ticket", id: "\(Int.random(in: 0..<30, using: &random))")
      let fields: DocumentValue = [
        "status": values.randomElement(using: &random) ?? .null,
        "n": .int(.random(in: 0..<4, using: &random)),
      ]
      let event =
        switch Int.random(in: 0..<12, using: &random) {
        case 0: NewEvent("$delete", in: id, .null)
        case 1: NewEvent("$put", in: id, .int(1))
        default: NewEvent("$put", in: id, fields)
        }
      try await store.append([event], time: Timestamp(nanoseconds: (time - early) * 1_000_000_000))
    }
    try await store.close()
    return folder
  }

  @Test func `count reads the sections of a kept list from a history, and prints what a fold gives`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let folder = try await Self.months(&random)
    var asked: [[String]] = []
    for filter in [[], ["--where", "n > 0"]] {
      for range in ["0..head", "40..160", "..171", "2012-04-10..2012-06-01"] {
        for every in ["1d", "1w", "1mo"] {
          asked.append(["--by", "status", "--every", every, "--utc", "-o", "json", range] + filter)
        }
      }
    }
    func answers() async throws -> [(code: Int32, output: String, origin: String)] {
      var answers: [(code: Int32, output: String, origin: String)] = []
      for words in asked {
        let outcome = try await LogreplayProcess(["count", folder.store, "-v"] + words).wait()
        let origin = outcome.errors.split(separator: "\n").first {
          $0.contains("replayed") || $0.contains("history")
        }
        answers.append((outcome.code, outcome.output, String(origin ?? "")))
      }
      return answers
    }
    let folded = try await answers()
    #expect(folded.allSatisfy { $0.origin.hasSuffix("replayed, no history read") })
    for (name, filter) in [("all", []), ("some", ["--where", "n > 0"])] {
      let words = ["keep", folder.store, name, "--section-by", "status"]
      _ = try await LogreplayProcess(words + filter).wait()
    }
    // What `keep` appended belongs to no table that is counted, and is dated as the last event.
    let kept = try await answers()
    let made = try await LogreplayProcess.run("checkpoint", folder.store, "--history")
    #expect(made.code == 0, "\(made)")
    let read = try await answers()
    for (words, (before, after)) in zip(asked, zip(kept, read)) {
      #expect(before.output == after.output && before.code == after.code, "\(words)")
      #expect(after.origin.contains("read from the history"), "\(words): \(after.origin)")
    }
    #expect(zip(asked, zip(folded, kept)).allSatisfy { $0.contains("0..head") || $1.0.output == $1.1.output })
  }

  @Test func `count prints the JSON that is promised, and marks a step that goes on after the range`()
    async throws
  {
    let folder = try await Self.store(late: false)
    let outcome = try await LogreplayProcess(
      ["count", folder.store, "..4", "--sum", "cost", "--every", "1mo", "--utc", "-o", "json"]
    ).wait()
    #expect(
      outcome.output == #"{"schema":1,"table":"ticket","by":[],"sum":"cost","every":"1mo","timeZone":"UTC","#
        + #""from":{"sequence":0,"time":null},"to":{"sequence":4,"time":"2012-03-25T21:59:59.000000000Z"},"#
        + #""steps":[{"time":"2012-03-01T00:00:00.000000000Z","end":"2012-04-01T00:00:00.000000000Z","#
        + #""local":"2012-03-01T00:00:00+00:00","sequence":4,"over":false,"#
        + #""groups":[{"group":[],"count":3,"sum":7.3}]}]}"# + "\n")
    #expect(outcome.code == 0 && outcome.errors.contains("the last step, 2012-03-01, is not over"))
    let lines = try await LogreplayProcess.run(
      "count", folder.store, "..4", "--by", "status", "--every", "1mo", "--utc", "-o", "jsonl")
    #expect(lines.output.hasSuffix(#"{"group":["Closed"],"count":1},{"group":["Open"],"count":2}]}"# + "\n"))
  }

  @Test func `count draws what it counts`() async throws {
    let folder = try await Self.store(late: false)
    let text = try await folder.answer("count", "..5", "--by", "status", "--every", "1d", "--utc")
    #expect(text == "2012-03-24  Open=3\n2012-03-25  Closed=1 Open=1\n")
    let table = try await folder.answer(
      "count", "..5", "--by", "status", "--every", "1d", "--utc", "-o", "table")
    #expect(table == "time        Closed  Open\n2012-03-24             3\n2012-03-25       1     1\n")
    let plot = try await folder.answer(
      "count", "..5", "--by", "status", "--every", "1d", "--utc", "-o", "plot")
    #expect(
      plot.hasPrefix("██ Closed  ▒▒ Open\n2012-03-24  3  ▒▒▒") && plot.split(separator: "\n").count == 3)
    let picture = try await folder.answer(
      "count", "..5", "--by", "status", "--every", "1d", "--utc", "-o", "svg")
    #expect(picture.components(separatedBy: "<polygon ").count == 3)
    #expect(picture.contains("Rows of ticket by status") && picture.contains("prefers-color-scheme: dark"))
  }

  /// Groups are in their own order, whenever they begin, and numbers that no picture has room for are drawn all the same.
  @Test func `count draws groups in their order, and numbers of any length`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    let long = try #require(DocumentInteger("1" + String(repeating: "0", count: 400)))
    let costs: [(String, DocumentValue)] = [("b", .int(1)), ("a", .bigInt(long)), ("c", .double(.nan))]
    for (day, (status, cost)) in costs.enumerated() {
      let fields: DocumentValue = ["status": .string(status), "cost": cost]
      try await store.append(
        [NewEvent("$put", in: StreamName(category: "t", id: status), fields)],
        time: Timestamp("2012-03-0\(day + 1)T12:00:00Z"))
    }
    try await store.close()
    func draw(_ form: String, _ options: String...) async throws -> String {
      try await LogreplayProcess(
        ["count", folder.store, "--by", "status", "--every", "1d", "--utc", "-o", form] + options
      ).wait().output
    }
    let table = try await draw("table")
    #expect(
      table == "time        a  b  c\n2012-03-01     1\n2012-03-02  1  1\n2012-03-03  1  1  1\n")
    let picture = try await draw("svg", "--sum", "cost")
    #expect(!picture.contains("inf") && !picture.contains("nan"), "\(picture)")
    let plot = try await draw("plot", "--sum", "cost")
    #expect(plot.split(separator: "\n").count == 4 && !plot.contains("nan"), "\(plot)")
  }

  @Test(arguments: [
    (["--every", "3d"], 64, "'3d' is not the length of a step"),
    (["--every", "1d", "--time-zone", "Europe/Berln"], 64, "there is no time zone 'Europe/Berln'"),
    (["--every", "1d", "--time-zone", "UTC", "--utc"], 64, "both say in which zone"),
    (["--every", "1d", "--by", "status,$id"], 64, "$id is not a field"),
    (["--every", "1d", "--by", "status;id"], 64, "write fields with a comma"),
    (["--every", "1d", "--by", "status,status"], 64, "status is given twice"),
    (["--every", "1d", "--where", "$section == 1"], 64, "no sections"),
    (["--every", "1d", "4..2"], 64, "4 is not before 2"),
    (["--every", "1h", "1900-01-01.."], 64, "more than 100,000 steps"),
    (["--every", "1d", "--table", "tickt"], 66, "the store has ticket"),
    (["--every", "1mo", "..5", "--by", "statu"], 0, "no row has a field statu; did you mean status?"),
    (["--every", "1mo", "..5", "--where", "status == Open"], 0, "in quotes"),
    (["--every", "1mo", "--sum", "cost", "..6", "--utc"], 3, "up to 1 values of cost are no number"),
  ])
  func `A mistake in what count is asked is said, with what to write`(
    arguments: [String], code: Int32, said: String
  ) async throws {
    let folder = try await Self.store()
    let outcome = try await LogreplayProcess(["count", folder.store] + arguments).wait()
    #expect(outcome.code == code && outcome.errors.contains(said), "\(arguments): \(outcome)")
  }
}
