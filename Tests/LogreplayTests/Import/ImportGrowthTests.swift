// What an import makes of a source that grew or was corrected since: what is known is a prefix with holes.

import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
@testable import StrataPast
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct ImportGrowthTests {
  private static let seed =
    ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
  /// The number of random sources. The environment variable `RUNS` sets another one.
  private static let runs = ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? 60

  @Test(arguments: [
    [], ["--merge"], ["--time", "at"], ["--time", "at", "--merge"], ["--time", "at", "--clamp-time"],
  ])
  func `fault 115: a line that was skipped and is corrected later is not applied after newer ones`(
    options: [String]
  ) async throws {
    let folder = try ImportFolder()
    let lines = (1...3).map { "{\"id\":1,\"v\":\($0),\"at\":\"2024-01-0\($0)T00:00:00Z\"}\n" }
    let arguments = [folder.file("lines.jsonl"), "--table", "t", "--id", "id"] + options
    try folder.write(lines[0] + lines[1].dropLast(2) + "\n" + lines[2])
    #expect(try await folder.run(arguments + ["--skip-bad"]).skipped == 1)
    try folder.write(lines.joined())
    for more in [[], ["--skip-bad"]] {
      let failure = try await folder.failure(of: arguments + more)
      #expect(failure.code == ExitStatus.corrupt && failure.place.hasSuffix("lines.jsonl:2"))
      #expect(failure.what.contains("line 2 comes before line 3"), "\(failure.what)")
      #expect(failure.next.contains("--apply-late"))
    }
    #expect(try await folder.documents().map { $0["v"] } == [1, 3])
    let report = try await folder.run(arguments + ["--apply-late"])
    #expect(report.late == 1 && report.appended == 1 && report.known == 2)
    #expect(report.short.contains("1 line applied late"))
    #expect(try await folder.documents().map { $0["v"] } == [1, 3, 2])
    // It counts where it was put, and not at the time that it names.
    let last = try #require(try await folder.appends().last)
    #expect(last.givenTime == nil)
    if options.contains("at") {
      #expect(last.time == Timestamp("2024-01-03T00:00:00Z") && report.raised == 1)
    }
    #expect(try await folder.run(arguments).known == 3)
  }

  @Test func `a blank line that is filled later is late, too`() async throws {
    let folder = try ImportFolder()
    try folder.write("{\"id\":1}\n\n{\"id\":3}\n")
    #expect(try await folder.importLines() == ImportReport(read: 2, appended: 2, first: 1, last: 2))
    #expect(try await folder.appends().map(\.line) == [1, 3])
    try folder.write("{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n")
    #expect(try await folder.failure().what.contains("line 2 comes before line 3"))
  }

  @Test(arguments: ["", "\n", " \n", "\t\r\n", "\r\n", "\r\n\r\n", "\n\n \n"])
  func `a line is the same line with any white space at its end, also once more lines follow`(
    ending: String
  ) async throws {
    for later in ["\n", "\r\n", "  \r\n", "\n\n"] {
      let folder = try ImportFolder()
      try folder.write("{\"id\":1}\r\n{\"id\":2}" + ending)
      #expect(try await folder.importLines().appended == 2)
      try folder.write("{\"id\":1}\n{\"id\":2}" + later + "{\"id\":3}")
      let report = try await folder.importLines()
      #expect(
        report == ImportReport(read: 3, appended: 1, known: 2, first: 3, last: 3), "\(later.debugDescription)"
      )
    }
    // White space before and inside of a line is part of it.
    let folder = try ImportFolder()
    try folder.write("{\"id\":1}\n")
    try await folder.importLines()
    for text in [" {\"id\":1}", "{\"id\": 1}"] {
      try folder.write(text)
      #expect(try await folder.failure().what.contains("not the line that was imported"))
    }
  }

  @Test(arguments: [[], ["--time", "at", "--sort-by-time"]])
  func `a line that the store has with a hash of the white space at its end is the same line`(
    options: [String]
  ) async throws {
    let folder = try ImportFolder()
    let source = ImportSourceName("lines.jsonl")
    let lines = (1...3).map { "{\"id\":\($0),\"at\":\"2024-01-0\($0)T00:00:00Z\"}" }
    let endings = ["\r", " \t", ""]
    let store = try await EventStore.open(at: folder.store)
    for (index, (line, ending)) in zip(lines, endings).enumerated() {
      let hash = XXH64.of(Array((line + ending).utf8))
      let id = String(decoding: source.appendID(number: UInt64(index + 1), hash: hash), as: UTF8.self)
      try await store.append(
        [NewEvent("$put", in: "t/\(index + 1)", ["id": .int(Int64(index + 1))])], id: id)
    }
    try await store.close()
    let arguments = [folder.file("lines.jsonl"), "--table", "t", "--id", "id"] + options + ["--apply-late"]
    let mark = "\u{FEFF}"
    try folder.write(mark + zip(lines, endings).map { $0 + $1 + "\n" }.joined() + lines[2])
    let report = try await folder.run(arguments + ["--clamp-time"].filter { _ in !options.isEmpty })
    #expect(report.known == 3 && report.appended == 1)
    // With other white space there, it cannot be told from a line that was changed.
    try folder.write(lines[0] + " \r\n")
    #expect(try await folder.failure(of: arguments).what.contains("line 1 is not the line"))
  }

  @Test func `a line that was imported and is blank now is refused`() async throws {
    let folder = try ImportFolder()
    for ending in ["\n", " \r\n"] {
      try folder.write("{\"id\":1}\n{\"id\":2}\n")
      try await folder.importLines()
      try folder.write("{\"id\":1}\n" + ending + "{\"id\":3}\n")
      let failure = try await folder.failure()
      #expect(failure.code == ExitStatus.corrupt && failure.place.hasSuffix(":2"), "\(failure)")
      #expect(failure.what.contains("line 2 is not the line that was imported"), "\(failure)")
      #expect(try await folder.appends().count == 2)
    }
  }

  /// One line of a source: nothing in it, something that is no document, or a document with a time.
  private enum Line: Equatable {
    case blank, bad
    case good(hour: Int, text: String)

    var text: String {
      switch self {
      case .blank: ""
      case .bad: "{\"id\":"
      case .good(_, let text): text
      }
    }
  }

  @Test
  func `what an import appends is what a list of the lines says, for sources that grow and are corrected`()
    async throws
  {
    var random = SeededGenerator(seed: Self.seed)
    for run in 1...Self.runs {
      let folder = try ImportFolder()
      let sorts = Bool.random(using: &random)
      let isTimed = sorts || Bool.random(using: &random)
      var lines: [Line] = []
      var appended: [Int] = []
      for step in 1...4 {
        grow(&lines, &random)
        let (skips, late) = (Bool.random(using: &random), Int.random(in: 0...3, using: &random) == 0)
        let endings = ["\n", "\r\n", " \n", "\t\r\n"]
        let text = lines.map { $0.text + endings.randomElement(using: &random)! }.joined()
        let isCut = Bool.random(using: &random)
        try folder.write(isCut ? text.replacing(/\s+$/, with: "") : text)
        var options = skips ? ["--skip-bad"] : []
        if late { options.append("--apply-late") }
        if isTimed { options += ["--time", "at", "--clamp-time"] }
        if sorts { options.append("--sort-by-time") }
        let (wanted, fails) = Self.model(lines, after: appended, sorts: sorts, skips: skips, late: late)
        var failure: CommandFailure?
        do {
          _ = try await folder.run([folder.file("lines.jsonl"), "--table", "t", "--id", "id"] + options)
        } catch { failure = error as? CommandFailure }
        let found = try await folder.appends()
        #expect(found.compactMap(\.line) == wanted, "seed \(Self.seed), run \(run), step \(step), \(options)")
        #expect((failure != nil) == fails, "\(failure as Any), seed \(Self.seed), run \(run), step \(step)")
        appended = wanted
      }
    }
  }

  /// What a source should have in the store after an import, in order, and whether the import fails.
  private static func model(
    _ lines: [Line], after appended: [Int], sorts: Bool, skips: Bool, late: Bool
  ) -> (lines: [Int], fails: Bool) {
    func key(_ number: Int) -> [Int] {
      guard sorts, case .good(let hour, _) = lines[number - 1] else { return [number] }
      return [hour, number]
    }
    func isLess(_ a: Int, _ b: Int) -> Bool { key(a).lexicographicallyPrecedes(key(b)) }
    let last = appended.max(by: isLess)
    var result = appended
    let new = (1...max(1, lines.count)).filter {
      $0 <= lines.count && !appended.contains($0) && lines[$0 - 1] != .blank
    }
    let isBad = { (number: Int) in lines[number - 1] == .bad }
    if sorts, !skips, new.contains(where: isBad) { return (result, true) }
    let order = sorts ? new.filter { !isBad($0) }.sorted(by: isLess) : new
    for number in order {
      if isBad(number) {
        if skips { continue }
        return (result, true)
      }
      if let last, isLess(number, last), !late { return (result, true) }
      result.append(number)
    }
    return (result, false)
  }

  /// Adds lines, and now and then corrects one that was blank or bad.
  private func grow(_ lines: inout [Line], _ random: inout SeededGenerator) {
    func good() -> Line {
      let hour = Int.random(in: 10...20, using: &random)
      let id = Int.random(in: 1...3, using: &random)
      let text = "{\"id\":\(id),\"n\":\(random.next() % 1000),\"at\":\"2024-01-01T\(hour):00:00Z\"}"
      return .good(hour: hour, text: text)
    }
    for index in lines.indices where lines[index] == .blank || lines[index] == .bad {
      if Int.random(in: 0...5, using: &random) == 0 { lines[index] = good() }
    }
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      switch Int.random(in: 0...7, using: &random) {
      case 0: lines.append(.blank)
      case 1: lines.append(.bad)
      default: lines.append(good())
      }
    }
  }
}
