// What the tests of `import` share: a folder, an import in this process or in one of its own, and a look inside.

import ArgumentParser
import Foundation
import StrataBase
import StrataDocuments
import StrataEvents
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

/// A folder for one test, removed with the last reference.
final class ImportFolder {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "strata-import-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Where the test's store is.
  var store: String { file("store") }

  /// Writes a file and returns its path.
  @discardableResult
  func write(_ text: String, to name: String = "lines.jsonl") throws -> String {
    try write(Array(text.utf8), to: name)
  }

  @discardableResult
  func write(_ bytes: [UInt8], to name: String) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }

  /// Imports a file as the table `t` with the id field `id`, in this process.
  @discardableResult
  func importLines(_ name: String = "lines.jsonl", _ more: String...) async throws -> ImportReport {
    try await run([file(name), "--table", "t", "--id", "id"] + more)
  }

  /// Runs `import` on the test's store in this process. The report is without the counts of tables, which are in `tables`.
  @discardableResult
  func run(_ arguments: [String]) async throws -> ImportReport {
    var report = try await ImportCommand.parse([store] + arguments).execute { [notes] note in
      notes.withLock { $0.append(note) }
    }
    tables.withLock { $0 = report.tables }
    report.tables = []
    return report
  }

  /// What the last import counted for each table.
  let tables = Lock<[ImportTableCounts]>([])

  /// What was noted on standard error.
  let notes = Lock<[String]>([])

  /// The failure of an import that must fail.
  func failure(
    _ name: String = "lines.jsonl", _ more: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> CommandFailure {
    try await failure(of: [file(name), "--table", "t", "--id", "id"] + more, sourceLocation: sourceLocation)
  }

  func failure(
    of arguments: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> CommandFailure {
    do {
      let report = try await run(arguments)
      Issue.record("nothing failed: \(report.short)", sourceLocation: sourceLocation)
      throw CancellationError()
    } catch let failure as CommandFailure {
      return failure
    }
  }

  /// Everything that a store has; nothing if there is no store.
  func appends(of store: String? = nil) async throws -> [RecordedAppend] {
    guard FileManager.default.fileExists(atPath: store ?? self.store) else { return [] }
    let store = try await EventStore.open(at: store ?? self.store, .readOnly)
    var appends: [RecordedAppend] = []
    for try await append in store.feed(until: .caughtUp) { appends.append(append) }
    try await store.close()
    return appends
  }

  /// The payloads of a store's events, in order.
  func documents() async throws -> [DocumentValue] {
    try await appends().flatMap(\.events).map { try $0.document() }
  }
}

/// Lines of JSON with ids that repeat, and times a second apart.
func importedLines(_ numbers: ClosedRange<Int>) -> String {
  numbers.map { number in
    "{\"id\":\"i\(number % 97)\",\"n\":\(number),\"time\":\"2026-01-01T00:\(two(number / 60 % 60)):\(two(number % 60))Z\"}\n"
  }.joined()
}

private func two(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }

extension RecordedAppend {
  /// The line that an append stands for, out of its id.
  var line: Int? { id.flatMap { $0.split(separator: ":").dropLast().last }.flatMap { Int($0) } }
}

/// Runs lines of Python, which get the arguments as `sys.argv[1:]`, and returns what they print.
func importPython(_ script: String, _ arguments: String...) throws -> String {
  let result = try ImportProcess.run("/usr/bin/python3", ["-c", script] + arguments)
  #expect(result.code == 0, "\(result.errors)")
  return result.output
}

/// Whether there is a Python to compare with.
let importHasPython = FileManager.default.isExecutableFile(atPath: "/usr/bin/python3")

/// Whether there is the program that reads and writes files of SQLite.
let importHasSQLite = FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3")

/// Texts that are easily misread: quotes, line ends, separators, numbers that are none.
func importHostileText(_ random: inout SeededGenerator) -> String {
  let whole = [
    "", "007", "1.0", "1e3", "+5", "-0", "NULL", "null", "\\N", "true", " 1", "1 ", "0x10",
    "9223372036854775808",
    "-9223372036854775809", "0.1", "1e400", "NaN", "inf", "\u{FEFF}", "=1+1", "{\"a\":1}", "[1]", "'", "--",
  ]
  if Bool.random(using: &random) { return whole.randomElement(using: &random)! }
  let alphabet: [Character] = [
    "a", "\"", "\\", ",", ";", "\t", "\n", "\r\n", "\u{0}", "\u{1}", "\u{7F}", "é", "🙂", "\u{2028}", "0", ".",
    " ",
    "'", "\u{E9}", "e\u{301}", "\"\u{301}", "'\u{301}",
  ]
  return String(
    (0..<Int.random(in: 1...6, using: &random)).map { _ in alphabet.randomElement(using: &random)! })
}

/// A program in a process of its own.
struct ImportProcess {
  var code: Int32
  var isKilled: Bool
  var output: String
  var errors: String

  /// The command that was built beside these tests.
  static let command: String = {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    return tests.deletingLastPathComponent().appendingPathComponent("logreplay").path
  }()

  /// Runs a program to its end.
  @discardableResult
  static func run(
    _ program: String, _ arguments: [String], input: [UInt8]? = nil, environment: [String: String]? = nil
  ) throws -> ImportProcess {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    if let environment { process.environment = environment }
    let folder = try ImportFolder()
    let (output, errors) = (try folder.write("", to: "out"), try folder.write("", to: "err"))
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: errors)
    let pipe = input.map { _ in Pipe() }
    process.standardInput = pipe ?? FileHandle.nullDevice
    try process.run()
    if let input, let pipe {
      try pipe.fileHandleForWriting.write(contentsOf: Data(input))
      try pipe.fileHandleForWriting.close()
    }
    let code = process.waitForEnd()
    return ImportProcess(
      code: abs(code), isKilled: code < 0,
      output: String(decoding: try Data(contentsOf: URL(fileURLWithPath: output)), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: URL(fileURLWithPath: errors)), as: UTF8.self))
  }

  /// Starts the command, and kills it after so many nanoseconds unless it has ended.
  static func kill(after nanoseconds: UInt64, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: command)
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    pauseThread(nanoseconds: Int(nanoseconds))
    _ = Glibc.kill(process.processIdentifier, SIGKILL)
    _ = process.waitForEnd()
  }

  /// What gzip makes of these bytes.
  static func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
    let folder = try ImportFolder()
    let result = try run("/usr/bin/env", ["gzip", "-k", try folder.write(bytes, to: "x")])
    #expect(result.code == 0, "\(result.errors)")
    return Array(try Data(contentsOf: URL(fileURLWithPath: folder.file("x.gz"))))
  }
}
