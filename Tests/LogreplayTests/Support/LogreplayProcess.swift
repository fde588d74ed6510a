// The built command as a process of its own.

import Foundation
import StrataBase
import Testing

/// Runs the `logreplay` that was built beside these tests. Waiting for it is done on threads of its own: tests
/// that blocked the cooperative pool would hold up the writers that they wait for.
final class LogreplayProcess: @unchecked Sendable {
  // Sendable because one test has it, and calls one method after the other.
  private static let threads = IOThreads(name: "logreplay-tests", threadCountMax: 16)

  /// What a run that has ended left.
  struct Outcome: Sendable {
    var code: Int32
    var output: String
    var errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  /// The executable stands beside the test bundle.
  static let executable: URL = {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    let folder = bundle?.deletingLastPathComponent() ?? Bundle.main.bundleURL
    return folder.appendingPathComponent("logreplay")
  }()

  /// What a process hears is inherited: under `nohup`, no command here would be ended by SIGHUP.
  private static let hearsHangups: Void = { _ = signal(SIGHUP, SIG_DFL) }()

  private let process = Process()
  private let output = Pipe()
  private let errors = Pipe()

  /// Starts the command, or another program, in UTC unless a zone is given.
  init(
    _ arguments: [String], zone: String = "UTC", environment: [String: String] = [:],
    program: URL = LogreplayProcess.executable
  ) throws {
    process.executableURL = program
    process.arguments = arguments
    // What a sanitizer is told holds for the command too: that its leaks at `exit` are none, say. So does which mutant
    // is active.
    let passedOn = ProcessInfo.processInfo.environment.filter {
      ["ASAN_OPTIONS", "STRATA_MUTANT"].contains($0.key)
    }
    process.environment = passedOn.merging(["TZ": zone, "PATH": "/usr/bin:/bin"]) { $1 }
      .merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    // The child has its own ends; with ours open, nobody would ever see that it is gone.
    try output.fileHandleForWriting.close()
    try errors.fileHandleForWriting.close()
  }

  /// Runs the command to its end.
  static func run(_ arguments: String..., zone: String = "UTC") async throws -> Outcome {
    try await LogreplayProcess(arguments, zone: zone).wait()
  }

  /// Runs lines of a shell to their end. `$0` is the command, and what is given is `$1` and so on.
  static func shell(_ lines: String, _ arguments: String...) async throws -> Outcome {
    hearsHangups
    let arguments = ["-euc", lines, executable.path] + arguments
    return try await LogreplayProcess(arguments, program: URL(fileURLWithPath: "/bin/sh")).wait()
  }

  /// Waits for the end and takes what was not read yet. The two pipes are read at the same time, because a
  /// full one holds the command up.
  func wait() async throws -> Outcome {
    try await Self.threads.run { () throws(any Error) in try self.waitBlocking() }
  }

  private func waitBlocking() throws -> Outcome {
    let handle = errors.fileHandleForReading
    let rest = Lock([UInt8]())
    let reader = try DedicatedThread(name: "errors") {
      let bytes = [UInt8](handle.readDataToEndOfFile())
      rest.withLock { $0 = bytes }
    }
    let bytes = [UInt8](output.fileHandleForReading.readDataToEndOfFile())
    reader.join()
    return Outcome(
      code: process.waitForEnd(), output: String(decoding: bytes, as: UTF8.self),
      errors: String(decoding: rest.withLock { $0 }, as: UTF8.self))
  }

  /// The next lines of the output; fewer only at its end.
  func readLines(_ count: Int) async -> [String] {
    await Self.threads.run { self.readLinesBlocking(count) }
  }

  /// The next line of what the command says on standard error; empty at the end.
  func readErrorLine() async -> String {
    await Self.threads.run { Self.readLinesBlocking(1, of: self.errors).first ?? "" }
  }

  private func readLinesBlocking(_ count: Int) -> [String] { Self.readLinesBlocking(count, of: output) }

  private static func readLinesBlocking(_ count: Int, of pipe: Pipe) -> [String] {
    var bytes: [UInt8] = []
    var seen = 0
    while seen < count {
      let byte = pipe.fileHandleForReading.readData(ofLength: 1)
      guard let byte = byte.first else { break }
      bytes.append(byte)
      if byte == UInt8(ascii: "\n") { seen += 1 }
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// Closes the reading end, as `head` does when it has enough.
  func stopReading() throws { try output.fileHandleForReading.close() }

  func interrupt() { process.interrupt() }

  /// The code of a command whose output is of no interest any more.
  func exitCode() async -> Int32 {
    await Self.threads.run { [process] in process.waitForEnd() }
  }
}
