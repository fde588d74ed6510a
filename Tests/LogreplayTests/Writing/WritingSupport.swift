// What the tests of `put`, `merge`, `delete`, `append` and `write` share.

import ArgumentParser
import Foundation
import StrataDocuments
import StrataEvents
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

extension ImportFolder {
  /// Runs one of the commands that append one event, in this process. Values that begin with a minus sign are values.
  @discardableResult
  func single(_ command: String, _ values: [String], _ options: String...) throws -> WriteReceipt {
    let arguments = options + ["--", store] + values
    switch command {
    case "put": return try PutCommand.parse(arguments).execute()
    case "merge": return try MergeCommand.parse(arguments).execute()
    case "delete": return try DeleteCommand.parse(arguments).execute()
    default: return try AppendCommand.parse(arguments).execute()
    }
  }

  /// Writes lines in this process.
  @discardableResult
  func writeLines(_ lines: [String], _ options: String...) throws -> WriteReport {
    try writeText(lines.map { $0 + "\n" }.joined(), options)
  }

  @discardableResult
  func writeText(_ text: String, _ options: [String] = []) throws -> WriteReport {
    try WriteCommand.parse([store, try write(text, to: "lines")] + options).execute()
  }

  /// The failure of a call that must fail.
  func failed(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Any
  ) throws -> CommandFailure {
    do {
      let result = try body()
      Issue.record("nothing failed: \(result)", sourceLocation: sourceLocation)
      throw CancellationError()
    } catch let failure as CommandFailure { return failure }
  }

  /// The number of events of the store; 0 if there is no store.
  func head() throws -> UInt64 {
    guard FileManager.default.fileExists(atPath: "\(store)/HEAD") else { return 0 }
    let store = try EventStore.openBlocking(at: self.store, .readOnly)
    defer { try? store.closeBlocking() }
    return store.head.sequence
  }
}

/// The seed of a test, which the environment may give.
func testSeed() -> UInt64 {
  ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
}
