// A second reader, written from FORMAT.md and StateFormat.md alone and in another language, judges what states hold.

import Foundation
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct StateOracleTests {
  private static let python = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/python3" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  /// What the reader says of each slot of each state.
  private static func answers(_ path: String) throws -> [DocumentValue] {
    let script = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Oracle/strata_reader.py")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(python))
    process.arguments = [script.path, "states", path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = Array(output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    return try bytes.split(separator: UInt8(ascii: "\n")).map { try DocumentValue(json: Array($0)) }
  }

  private static func definition(_ name: String, _ order: SectionOrder) -> ViewDefinition {
    ViewDefinition(
      identity: ViewIdentity(name), sectionOrder: order,
      kept: KeptView(name: name, identity: name, program: nil)
    ) { (row, writer) throws(RowProblem) in
      guard let document = try? DocumentValue(cbor: row.document), case .int(let number) = document["n"]
      else { throw RowProblem(what: "no number") }
      if number % 11 == 0 { return nil }
      writer.append(Int(number % 7))
      let section = writer.count
      writer.append(Int(number))
      return PlacedLengths(section: section)
    }
  }

  private static func event(_ random: inout SeededGenerator) -> NewEvent {
    let id = Int.random(in: 0..<400, using: &random)
    let stream = StreamName(category: ["row", "other", "é"].randomElement(using: &random)!, id: "\(id)")
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return NewEvent(DocumentEvent.delete, in: stream, .null)
    case 1: return NewEvent(DocumentEvent.put, in: stream, .int(5))
    case 2, 3: return NewEvent(DocumentEvent.merge, in: stream, ["m": .int(Int64(id % 3))])
    default:
      let length = Int.random(in: 0..<40, using: &random) == 0 ? 3_000 : 20
      let text = String((0..<length).map { _ in "abcdefgh".randomElement(using: &random)! })
      return NewEvent(
        DocumentEvent.put, in: stream,
        ["n": .int(Int64.random(in: 0..<1_000, using: &random)), "text": .string(text)])
    }
  }

  @Test(.enabled(if: python != nil, "python3 is not installed: nothing independent to compare with"))
  func `states hold what the second reader folds itself, and their lists fit their rows`() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for round in 0..<4 {
      let store = try EventStore.openBlocking(at: folder)
      let projector = store.projector(.documents(only: nil))
      // A list that no process of a later round asks for stays as it was saved.
      let leases = [("key", SectionOrder.key), ("count", .count), ("first", .first)].dropLast(round % 3).map {
        projector.lease(Self.definition($0.0, $0.1), of: "row")
      }
      for part in 0..<3 {
        for _ in 0..<60 {
          try store.appendBlocking((0..<5).map { _ in Self.event(&random) })
        }
        for lease in leases { _ = try await projector.state(reaching: store.head.sequence, with: lease) }
        if round == 2, part == 1 {
          let first = store.head.sequence / 2
          _ = try store.eraseBlocking(Erasure(sequences: [first...first + 20], because: "asked to"))
        }
        try store.checkpointBlocking()
      }
      try store.closeBlocking()
      withExtendedLifetime(leases) {}
      let newest = try Self.answers(folder).filter { $0["isNewest"] == .bool(true) }
      #expect(newest.count == 1, "seed \(seed)")
      for answer in newest { #expect(answer["differs"] == .null, "seed \(seed): \(answer.json())") }
    }
  }
}
