// The times of lines: refused where they go back, or sorted, kept or raised as the options say.

import Foundation
import StrataBase
import StrataEvents
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct ImportTimeTests {
  /// Lines of one time each, such as `2026-01-05`, with their numbers as ids.
  static func lines(_ times: [String]) -> String {
    times.enumerated().map { "{\"id\":\($0 + 1),\"at\":\"\($1)T00:00:00Z\"}\n" }.joined()
  }

  static func day(_ text: String) -> Timestamp? { Timestamp("\(text)T00:00:00Z") }

  @Test(arguments: [
    (["2026-01-05", "2026-01-04", "2026-01-06"], 2, 1), (["2026-01-05", "2026-01-05", "2026-01-04"], 3, 2),
    (["2026-01-01", "2026-01-03", "2026-01-02"], 3, 2), (["2026-01-04", "2026-01-03", "2026-01-02"], 2, 1),
    (["2026-01-01", "2099-01-01", "2025-12-31"], 3, 1), (["2026-01-01", "2099-01-02", "2099-01-01"], 3, 2),
  ])
  func `fault 112: a line whose time goes back is refused by its number, and the lines before it stay`(
    times: [String], line: Int, other: Int
  ) async throws {
    let folder = try ImportFolder()
    try folder.write(Self.lines(times))
    let failure = try await folder.failure("lines.jsonl", "--time", "at")
    #expect(failure.code == ExitStatus.corrupt && failure.place.hasSuffix("lines.jsonl:\(line)"))
    #expect(failure.what.contains("line \(line), ") && failure.what.contains("line \(other), "), "\(failure)")
    for way in ["--sort-by-time", "--clamp-time", "--time-slack"] { #expect(failure.next.contains(way)) }
    let stayed = line == 2 ? "1 line is in the store" : "\(line - 1) lines are in the store"
    #expect(failure.next.contains(stayed), "\(failure.next)")
    #expect(try await folder.appends().map(\.line) == Array(1..<line))
    // Without times to be compared, the lines are taken in their order.
    #expect(try await folder.importLines("lines.jsonl").appended == 4 - UInt64(line))
  }

  @Test
  func `fault 112: of two inputs in the wrong order the second one is refused, and again when it grows`()
    async throws
  {
    let folder = try ImportFolder()
    try folder.write(Self.lines(["2026-01-05"]), to: "new")
    try folder.write(Self.lines(["2026-01-04", "2026-01-06"]), to: "old")
    try await folder.importLines("new", "--time", "at")
    let failure = try await folder.failure("old", "--time", "at")
    #expect(failure.code == ExitStatus.corrupt && failure.place.hasSuffix("old:1"))
    #expect(failure.what.contains("last one in the store, 2026-01-05"), "\(failure.what)")
    #expect(failure.next.contains("--clamp-time") && failure.next.contains("nothing of this input"))
    #expect(try await folder.importLines("old", "--time", "at", "--clamp-time").raised == 1)
    // A source that the store knows is no exception.
    try folder.write(Self.lines(["2026-01-05", "2026-01-05"]), to: "new")
    #expect(try await folder.failure("new", "--time", "at").place.hasSuffix("new:2"))
  }

  @Test func `a time that is raised is not a time of the append's own, within an input and between two`()
    async throws
  {
    let folder = try ImportFolder()
    try folder.write(
      Self.lines(["2026-01-05", "2026-01-03", "2026-01-05", "2026-01-09", "2026-01-01"]), to: "a")
    #expect(try await folder.importLines("a", "--time", "at", "--clamp-time").raised == 2)
    try folder.write(Self.lines(["2026-01-02", "2026-01-10"]), to: "b")
    let report = try await folder.importLines("b", "--time", "at", "--clamp-time")
    #expect(report.raised == 1 && report.short.contains("1 time raised to the one before"))
    let appends = try await folder.appends()
    let days = ["05", "05", "05", "09", "09", "09", "10"]
    #expect(appends.map(\.time) == days.map { Self.day("2026-01-\($0)") })
    #expect(appends.allSatisfy { $0.givenTime == nil })
  }

  @Test func `a time that goes back by no more than the slack is the append's own`() async throws {
    let folder = try ImportFolder()
    try folder.write(Self.lines(["2026-01-05", "2026-01-03", "2026-01-04", "2026-01-02"]))
    let failure = try await folder.failure("lines.jsonl", "--time", "at", "--time-slack", "2d")
    #expect(failure.place.hasSuffix(":4") && failure.what.contains("more than --time-slack"), "\(failure)")
    let clamping = try await folder.importLines(
      "lines.jsonl", "--time", "at", "--time-slack", "2d", "--clamp-time")
    #expect(clamping.raised == 1 && clamping.known == 3)
    let appends = try await folder.appends()
    try #require(appends.count == 4)
    #expect(appends.map(\.time) == [5, 5, 5, 5].map { Self.day("2026-01-0\($0)") })
    #expect(appends[1].givenTime == Self.day("2026-01-03") && appends[2].givenTime == Self.day("2026-01-04"))
    // The last line was raised to the latest time before it, which is not that of line 3.
    #expect(appends[3].givenTime == nil)
  }

  @Test
  func `a time that is ahead of the clock is named before it is taken, and nothing else is compared with it`()
    async throws
  {
    let folder = try ImportFolder()
    try folder.write(Self.lines(["2024-01-01", "2099-01-01", "2024-01-02", "2024-01-03"]))
    let report = try await folder.importLines("lines.jsonl", "--time", "at")
    #expect(report.appended == 4 && report.ahead == 1 && report.raised == 0)
    #expect(report.short.hasSuffix(", 1 time ahead of the clock"))
    let notes = folder.notes.withLock { $0 }
    #expect(notes.count == 1 && notes[0].contains("lines.jsonl:2, 2099-01-01"), "\(notes)")
    let appends = try await folder.appends()
    #expect(
      appends.map { $0.givenTime ?? $0.time }
        == ["2024-01-01", "2099-01-01", "2024-01-02", "2024-01-03"].map(Self.day))
    // Another input goes on after the last time that is not ahead, and not before it.
    try folder.write(Self.lines(["2024-01-02"]), to: "b")
    #expect(try await folder.failure("b", "--time", "at").what.contains("2024-01-03"))
    try folder.write(Self.lines(["2024-01-04", "2098-01-01"]), to: "c")
    #expect(try await folder.failure("c", "--time", "at").place.hasSuffix("c:2"))
    #expect(try await folder.appends().last?.givenTime == Self.day("2024-01-04"))
    let lines = (1...60).map { "{\"id\":\($0),\"at\":\"2099-02-01T00:00:00Z\"}\n" }.joined()
    try folder.write(lines, to: "d")
    folder.notes.withLock { $0 = [] }
    #expect(try await folder.importLines("d", "--time", "at").ahead == 60)
    #expect(folder.notes.withLock { $0.count } == 21)
  }

  @Test func `a day after the clock is not ahead of it, wherever the clock is`() {
    let day = ImportFutureTime.leadMax
    for now in [0, 1_800_000_000_000_000_000, .max - day, .min + 1] as [Int64] {
      #expect(!ImportFutureTime(now: now).isAhead(now + day))
      if now < .max - day { #expect(ImportFutureTime(now: now).isAhead(now + day + 1)) }
    }
    #expect(!ImportFutureTime(now: .max).isAhead(.max))
  }

  @Test func `a list that is kept and an erasure leave the times of later lines alone`() async throws {
    let folder = try ImportFolder()
    let days = (1...4).map { "2026-01-0\($0)" }
    try folder.write(Self.lines([days[0]]), to: "a")
    try await folder.importLines("a", "--time", "at")
    for arguments in [
      ["keep", folder.store, "v", "--table", "t", "--sort", "id"],
      ["erase", folder.store, "--stream", "t/1", "--reason", "test", "--yes"],
    ] {
      let result = try await LogreplayProcess(arguments).wait()
      #expect(result.code == 0, "\(result.errors)")
    }
    try folder.write(Self.lines(days), to: "a")
    let report = try await folder.importLines("a", "--time", "at")
    #expect(report.raised == 0 && report.appended == 3)
    let appends = try await folder.appends().filter { $0.id != nil }
    #expect(appends.map { $0.givenTime ?? $0.time } == days.map(Self.day))
    // They are still compared with each other.
    try folder.write(Self.lines(["2026-01-03"]), to: "b")
    #expect(try await folder.failure("b", "--time", "at").what.contains("2026-01-04"))
  }

  @Test func `lines are sorted by their times, keep their numbers, and are appended once`() async throws {
    let folder = try ImportFolder()
    let days = ["2026-01-05", "2026-01-03", "2026-01-05", "2026-01-01", "2026-01-03"]
    try folder.write(Self.lines(days))
    let options = ["--time", "at", "--sort-by-time"]
    let arguments = [folder.file("lines.jsonl"), "--table", "t", "--id", "id"] + options
    #expect(try await folder.run(arguments).appended == 5)
    var appends = try await folder.appends()
    #expect(appends.map(\.line) == [4, 2, 5, 1, 3] && appends.allSatisfy { $0.givenTime == nil })
    #expect(try await folder.run(arguments) == ImportReport(read: 5, known: 5))
    // Newer lines are sorted among themselves; one that is older than what is there is refused.
    try folder.write(Self.lines(days + ["2026-01-07", "2026-01-06"]))
    #expect(try await folder.run(arguments).appended == 2)
    try folder.write(Self.lines(days + ["2026-01-07", "2026-01-06", "2026-01-08", "2026-01-02"]))
    let failure = try await folder.failure(of: arguments)
    #expect(failure.what.contains("line 9 comes before line 6"), "\(failure.what)")
    appends = try await folder.appends()
    #expect(appends.map(\.line) == [4, 2, 5, 1, 3, 7, 6])
    #expect(
      try await folder.run(arguments + ["--apply-late"])
        == ImportReport(
          read: 9, appended: 2, known: 7, raised: 1, late: 1, first: 8, last: 9))
    #expect(try await folder.appends().map(\.line) == [4, 2, 5, 1, 3, 7, 6, 9, 8])
  }

  @Test func `a bad line ends a sorted import before anything is appended`() async throws {
    let folder = try ImportFolder()
    try folder.write(Self.lines(["2026-01-05", "2026-01-03"]) + "nonsense\n")
    let failure = try await folder.failure("lines.jsonl", "--time", "at", "--sort-by-time")
    #expect(failure.place.hasSuffix(":3:2") && failure.next.contains("nothing of this input"))
    #expect(try await folder.appends().isEmpty)
    let report = try await folder.importLines("lines.jsonl", "--time", "at", "--sort-by-time", "--skip-bad")
    #expect(report.appended == 2 && report.skipped == 1)
  }

  @Test func `a sorted import that is killed at any time goes on without doubling or losing a line`()
    async throws
  {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let source = try ImportFolder()
    let count = 3000
    let hours = (1...count).map { _ in Int.random(in: 0...5000, using: &random) }
    try source.write(
      hours.enumerated().map { line, hour in
        "{\"id\":\(line % 97),\"at\":\"\(Timestamp(nanoseconds: 1_700_000_000_000_000_000 + Int64(hour) * 3_600_000_000_000))\"}\n"
      }.joined())
    let sorted = (1...count).sorted { (hours[$0 - 1], $0) < (hours[$1 - 1], $1) }
    func arguments(_ store: String) -> [String] {
      [
        "import", store, source.file("lines.jsonl"), "--table", "t", "--id", "id", "--time", "at",
        "--sort-by-time", "-o", "json",
      ]
    }
    let began = MonotonicTime.now()
    try ImportProcess.run(ImportProcess.command, arguments(source.store))
    let whole = UInt64(MonotonicTime.now().nanoseconds - began.nanoseconds)
    #expect(try await source.appends().map(\.line) == sorted)
    for round in 1...5 {
      let folder = try ImportFolder()
      for _ in 1...2 {
        try ImportProcess.kill(
          after: UInt64.random(in: whole / 4...whole, using: &random), arguments(folder.store))
      }
      let result = try ImportProcess.run(ImportProcess.command, arguments(folder.store))
      #expect(result.code == 0, "\(result.errors), seed \(seed), round \(round)")
      #expect(try await folder.appends().map(\.line) == sorted, "seed \(seed), round \(round)")
    }
  }

  @Test(arguments: [["--sort-by-time"], ["--time-slack", "1h"]])
  func `what orders times needs times`(options: [String]) async throws {
    let folder = try ImportFolder()
    try folder.write("{\"id\":1}\n")
    let arguments = [folder.file("lines.jsonl"), "--table", "t", "--id", "id"]
    #expect(try await folder.failure(of: arguments + options).code == ExitStatus.usage)
    let bad = ["--time", "at", "--time-slack", "soon"]
    #expect(try await folder.failure(of: arguments + bad).code == ExitStatus.usage)
    #expect(!FileManager.default.fileExists(atPath: folder.store))
  }

  @Test func `an input that is imported as it grows has the times that it has when it is imported at once`()
    async throws
  {
    let seed =
      ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    let runs = ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? 25
    var random = SeededGenerator(seed: seed)
    for run in 1...runs {
      let days = (1...12).map { _ in
        (Int.random(in: 0...5, using: &random) == 0 ? "2099" : "2024")
          + "-01-\(Int.random(in: 10...28, using: &random))"
      }
      let options = [
        "--time", "at", "--clamp-time", "--time-slack", "\(Int.random(in: 0...9, using: &random))d",
      ]
      var cuts = [12]
      while cuts[0] > 1, cuts.count < 4 { cuts.insert(Int.random(in: 1...cuts[0], using: &random), at: 0) }
      var found: [[Timestamp]] = []
      for cuts in [[12], cuts] {
        let folder = try ImportFolder()
        for cut in cuts {
          try folder.write(Self.lines(Array(days[..<cut])))
          try await folder.run([folder.file("lines.jsonl"), "--table", "t", "--id", "id"] + options)
          guard Int.random(in: 0...3, using: &random) == 0 else { continue }
          // An event of Strata's own, at the time of the command.
          let store = try await EventStore.open(at: folder.store)
          try await store.erase(Erasure(streams: ["t/1"], because: "test"))
          try await store.close()
        }
        found.append(try await folder.appends().filter { $0.id != nil }.map { $0.givenTime ?? $0.time })
      }
      #expect(
        found[0].count == 12 && found[0] == found[1], "seed \(seed), run \(run), \(days), \(options), \(cuts)"
      )
    }
  }

  @Test func `the latest time that a store has is that of a scan of all appends`() async throws {
    let seed =
      ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    for run in 1...20 {
      let folder = try SampleFolder()
      let store = try await folder.open(segmentSize: [8 << 10, 1 << 20].randomElement(using: &random)!)
      var times: [Int64] = []
      let aheadIn = Int.random(in: 2...60, using: &random)
      for number in 0..<150 {
        let isAhead = Int.random(in: 0..<aheadIn, using: &random) == 0
        let time = Timestamp(nanoseconds: .random(in: 0...100, using: &random) + (isAhead ? 1_000 : 0))
        let isOwn = Int.random(in: 0..<10, using: &random) == 0
        try await store.append(
          [NewEvent("$put", in: StreamName(category: isOwn ? "$own" : "t", id: "\(number % 9)"), ["n": 1])],
          time: time)
        if !isOwn { times.append(time.nanoseconds) }
      }
      for limit in [-1, 40, 100, 1_000, 1_050, .max] as [Int64] {
        let found = try store.latestOwnTime { $0 > limit }
        #expect(found == times.filter { $0 <= limit }.max(), "seed \(seed), run \(run), limit \(limit)")
      }
      try await store.close()
    }
  }

  @Test func `the order of times is that of a scan of all times before, for times that jump both ways`() {
    let seed =
      ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    let runs = ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? 500
    var random = SeededGenerator(seed: seed)
    for run in 1...runs {
      let (clock, slack) = (
        Int64(50), Bool.random(using: &random) ? 0 : Int64.random(in: 1...20, using: &random)
      )
      let clamps = Bool.random(using: &random)
      let stored = (0..<Int.random(in: 0...3, using: &random)).map { _ in
        Int64.random(in: 0...100, using: &random)
      }
      let (all, near) = (stored.max(), stored.filter { $0 <= clock }.max())
      var order = ImportTimeOrder(slack: slack, clamps: clamps, latest: all, latestNotAhead: near)
      /// The own times of the appends.
      var own: [Int64] = []
      for line in 1...UInt64(20) {
        let time = Int64.random(in: 0...100, using: &random)
        let isLate = Int.random(in: 0..<8, using: &random) == 0
        let before =
          own.filter { time > clock || $0 <= clock } + [time > clock ? all : near].compactMap { $0 }
        let bar = before.max()
        let decision = order.place(time, line: line, isAhead: time > clock, isLate: isLate)
        switch decision {
        case .kept:
          #expect(bar == nil || time >= bar! - (isLate ? 0 : slack), "seed \(seed), run \(run), line \(line)")
          own.append(time)
        case .raised(let to):
          #expect(
            to == bar && time < to && (isLate || (clamps && time < to - slack)), "seed \(seed), run \(run)")
        case .goesBack(let mark):
          #expect(
            mark.time == bar && time < mark.time - slack && !clamps && !isLate, "seed \(seed), run \(run)")
        }
      }
    }
  }
}
