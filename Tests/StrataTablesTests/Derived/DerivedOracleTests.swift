// A second reader, written from FORMAT.md and the pages of the formats alone and in another language, judges what derived
// files hold.

import Foundation
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// `Tests/Oracle/strata_reader.py`.
private enum Oracle {
  static let python = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    .map { "\($0)/python3" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  /// What the reader says, line by line.
  static func answers(_ arguments: String...) throws -> [DocumentValue] {
    let script = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Oracle/strata_reader.py")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(python))
    process.arguments = [script.path] + arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = Array(output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    return try bytes.split(separator: UInt8(ascii: "\n")).map { try DocumentValue(json: Array($0)) }
  }
}

@Suite(.enabled(if: Oracle.python != nil, "python3 is not installed: nothing independent to compare with"))
struct DerivedOracleTests {
  /// A store in a folder of its own.
  private static func inFolder(
    _ options: StoreOptions, _ body: (EventStore, _ folder: String) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var options = options
    options.durability = .buffered
    try await body(try EventStore.openBlocking(at: folder, options: options), folder)
  }

  @Test(arguments: derivedKinds)
  func `derived files hold what the second reader folds itself`(_ kind: any DerivedKind) async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed(kind.name))
    for round in 0..<6 {
      try await Self.inFolder(kind.options(&random)) { store, folder in
        let projector = store.projector(StateStore.documents)
        // Lists that are saved with the rows.
        let leases = [("key", SectionOrder.key), ("count", .count), ("first", .first)].map {
          projector.lease(StateKeptViewTests.definition($0.0, $0.1), of: "b")
        }
        for folding in StateStore.foldings { kind.begin(store, folding) }
        var events = StateEvents(seed: random.next())
        for part in 0..<3 {
          for _ in 0..<20 { try events.append(to: store) }
          for lease in leases where kind.savesLists {
            _ = try await projector.state(reaching: store.head.sequence, with: lease)
          }
          if part == 1, round % 2 == 0 {
            let first = store.head.sequence / 2
            _ = try store.eraseBlocking(Erasure(sequences: [first...first + 4], because: "asked to"))
          }
          for folding in StateStore.foldings { try kind.write(store, folding) }
        }
        let head = store.head.sequence
        try store.closeBlocking()
        withExtendedLifetime(leases) {}
        let answers = try Oracle.answers(kind.oracleCommand, folder).filter { $0["isNewest"] != .bool(false) }
        #expect(answers.count == StateStore.foldings.count, "round \(round): \(answers)")
        for answer in answers {
          #expect(answer["differs"] == .null, "round \(round): \(answer.json())")
          if case .int(let end)? = answer["end"] { #expect(end == head) }
        }
      }
    }
  }

  /// The keys in a tree, as the second reader prints them.
  private static func keys(_ tree: Tree) -> [String] {
    var keys: [String] = []
    tree.forEach(in: 0..<tree.count) { key, _ in
      keys.append(key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
    }
    return keys
  }

  @Test(arguments: ["key", "greatest"])
  func `the second reader finds the keys of a list as a replay makes them, at every sequence`(
    order: String
  ) async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let sections = try #require(StateKeptViewTests.orders.first { $0.0 == order }).1
    let definition = StateKeptViewTests.definition("list \(order)", sections, calls: .keys)
    try await Self.inFolder(HistoryStore.keyOptions(&random, keepsAll: false)) { store, folder in
      var events = StateEvents(seed: random.next())
      let historian = try #require(store.projector(StateStore.documents).historian)
      for part in 0..<3 {
        for _ in 0..<20 { try events.append(to: store) }
        // Runs that were written without the list get its keys later.
        if part == 1 { historian.keep(definition, of: "b") }
        try historian.recordBlocking(writesRest: part == 2)
      }
      let states = try HistoryStore.replayed(store, StateStore.documents)
      let (begin, end) = (historian.runs()?.begin ?? 0, historian.end)
      try store.closeBlocking()
      let digits = LogPosition.hex(try #require(KeyOwner("b", definition)).number)
      let answers = try Oracle.answers("history-keys", folder, StateName(StateStore.documents)!.folder)
        .filter { $0["owner"] == .string(digits) }
      #expect(end > 20 && answers.count == Int(end - begin))
      var found = 0
      for answer in answers {
        guard case .int(let sequence) = answer["sequence"], let keys = answer["keys"] else {
          Issue.record("\(answer.json())")
          continue
        }
        let view = View(definition, of: states[Int(sequence)]["b"], on: .none)
        var trees: [(KeyOwner.Kind, Tree)] = [(.items, view.items), (.unplaced, view.problems)]
        if definition.holdsValues { trees.append((.values, view.values)) }
        for (kind, tree) in trees {
          let expected = Self.keys(tree)
          found += expected.count
          let answered = keys["\(kind.rawValue)"]
          #expect(answered == DocumentValue.array(expected.map { .string($0) }), "\(kind) at \(sequence)")
        }
      }
      #expect(found > 20, "\(found)")
    }
  }
}
