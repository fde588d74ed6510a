// The second reader judges the same damaged copies of the kept stores.

import Foundation
import StrataLog
import StrataSimulation
import Testing

@Suite struct GoldenOracleTests {
  private static let python: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "")
    .split(separator: ":").map { $0 + "/python3" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// Every so many of all damages; STRATA_ORACLE_STEP=1 for all of them.
  private static var step: Int {
    ProcessInfo.processInfo.environment["STRATA_ORACLE_STEP"].flatMap { Int($0) } ?? 641
  }

  /// What the second reader finds: nil where it finds no store.
  private func judge(_ lines: String) throws -> [[GoldenAnswers.Place]?] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let input = folder.appendingPathComponent("input")
    try Data(lines.utf8).write(to: input)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(Self.python))
    let tests = GoldenText.folder.deletingLastPathComponent().deletingLastPathComponent()
    process.arguments = [tests.appendingPathComponent("Oracle/check_edits.py").path, GoldenText.folder.path]
    process.standardInput = try FileHandle(forReadingFrom: input)
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    return try data.split(separator: UInt8(ascii: "\n")).map { line in
      let found = try JSONDecoder().decode([Listed]?.self, from: Data(line))
      return found?.map(\.place)
    }
  }

  private struct Listed: Decodable {
    var place: GoldenAnswers.Place

    init(from decoder: any Decoder) throws {
      var values = try decoder.unkeyedContainer()
      place = GoldenAnswers.Place(
        class: try values.decode(String.self), file: try values.decode(String.self),
        offset: try values.decode(UInt64.self), first: try values.decode(UInt64.self),
        last: try values.decode(UInt64.self))
    }
  }

  @Test(
    .enabled(if: python != nil, "python3 is not installed: nothing independent to compare with"),
    arguments: GoldenDamageTests.stores)
  func `the second reader finds in a damaged store what the check finds`(name: String) throws {
    let store = try PlainStore(named: name)
    var lines: [String] = []
    var mine: [[GoldenAnswers.Place]?] = []
    var damages: [GoldenDamage] = []
    var count = 0
    func compare() throws {
      let theirs = try judge(lines.joined(separator: "\n") + "\n")
      try #require(theirs.count == mine.count)
      for (index, their) in theirs.enumerated() where their != mine[index] {
        Issue.record(
          "\(name), \(damages[index]): \(String(describing: mine[index])), the oracle \(String(describing: their))"
        )
      }
      count += mine.count
      (lines, mine, damages) = ([], [], [])
    }
    try GoldenDamage.each(of: store, step: Self.step, underEveryHead: true) { damage in
      var verifier = LogVerifier(try GoldenText.disk(damage.files(of: store)), path: GoldenText.root)
      mine.append(try? verifier.run().findings.map { GoldenAnswers.Place($0) })
      lines.append(damage.json(name))
      damages.append(damage)
      if lines.count == 20_000 { try compare() }
    }
    if !lines.isEmpty { try compare() }
    print("\(name): \(count) damaged copies, judged by both")
    #expect(count > 0)
  }
}
