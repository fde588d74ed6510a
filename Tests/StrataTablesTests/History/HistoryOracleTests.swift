// A second reader, written from FORMAT.md alone and in another language, judges what histories hold.

import Foundation
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct HistoryOracleTests {
  private static let python = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/python3" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  /// What the reader says of each history.
  private static func answers(_ path: String) throws -> [DocumentValue] {
    let script = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Oracle/strata_reader.py")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(python))
    process.arguments = [script.path, "histories", path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = Array(output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    return try bytes.split(separator: UInt8(ascii: "\n")).map { try DocumentValue(json: Array($0)) }
  }

  @Test(.enabled(if: python != nil, "python3 is not installed: nothing independent to compare with"))
  func `histories hold what the second reader folds itself, at every sequence`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for round in 0..<6 {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
      defer { try? FileManager.default.removeItem(atPath: folder) }
      var options = HistoryStore.options(&random)
      options.durability = .buffered
      let store = try EventStore.openBlocking(at: folder, options: options)
      var events = StateEvents(seed: random.next())
      for part in 0..<3 {
        for _ in 0..<20 { try events.append(to: store) }
        if part == 1, round % 2 == 0 {
          let first = store.head.sequence / 2
          _ = try store.eraseBlocking(Erasure(sequences: [first...first + 4], because: "asked to"))
        }
        for folding in StateStore.foldings { try store.projector(folding).historian!.recordBlocking() }
      }
      try store.closeBlocking()
      let answers = try Self.answers(folder)
      #expect(answers.count == 3)
      for answer in answers {
        #expect(answer["differs"] == .null, "round \(round): \(answer.json())")
        guard case .int(let end) = answer["end"] else { continue }
        #expect(end > 20)
      }
    }
  }
}
