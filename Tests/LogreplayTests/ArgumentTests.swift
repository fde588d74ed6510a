// Arguments that a parser would take for something else, and a pager that is not there.

import Foundation
import Strata
import StrataLog
import Testing

struct ArgumentTests {
  @Test(arguments: [
    ["at", "-2h"], ["log", "-r", "-2h"], ["at", "-2h30m", "--utc"], ["show", "-5"], ["at", "--", "-2h"],
  ])
  func `a signed number is no point, and no call for help`(arguments: [String]) async throws {
    let folder = try await SampleFolder.sample()
    let command = [arguments[0], folder.store] + arguments.dropFirst()
    let outcome = try await LogreplayProcess(command).wait()
    #expect(outcome.code == 64 && outcome.output.isEmpty, "\(outcome)")
    let words = try #require(arguments.last { $0.hasPrefix("-") && $0 != "--utc" })
    #expect(outcome.errors.contains("'\(words)' is no point"), "\(outcome.errors)")
    guard !arguments.contains("--") else { return }
    let json = try await LogreplayProcess(command + ["-o", "json"]).wait()
    #expect(try DocumentValue(json: json.errors)["error"]?["code"] == 64)
  }

  @Test func `what is written for a signed number is a point`() async throws {
    let folder = try await SampleFolder.list()
    let outcome = try await LogreplayProcess.run("at", folder.store, "-2h")
    #expect(outcome.errors.contains("'2h ago' or 2h.ago"))
    #expect(try await LogreplayProcess.run("at", folder.store, "2h ago").code == 0)
    #expect(try await LogreplayProcess.run("at", folder.store, "2h.ago").code == 0)
    #expect(try await LogreplayProcess.run("log", folder.store, "--since", "-2h").code == 0)
    #expect(
      try await LogreplayProcess.run("log", folder.store, "--since", "-2h", "-h").output.contains("USAGE"))
  }

  @Test func `an argument that is not UTF-8 is refused, and names no other file`() async throws {
    let folder = try await SampleFolder.sample()
    let other = folder.file("a\u{FFFD}")
    try FileManager.default.moveItem(atPath: folder.store, toPath: other)
    // The shell makes the byte, since arguments of a `Process` are text.
    func run(_ format: String) throws -> ImportProcess {
      try ImportProcess.run(
        "/bin/sh",
        [
          "-c", "exec \"$0\" log \"$(printf '%s/a\\377' \"$1\")\" -o \(format)",
          LogreplayProcess.executable.path,
          folder.path,
        ])
    }
    let text = try run("short")
    #expect(text.code == 64 && text.errors.contains("argument 2 is not UTF-8"), "\(text)")
    let json = try run("json")
    #expect(try json.code == 64 && DocumentValue(json: json.errors)["error"]?["code"] == 64, "\(json)")
    #expect(try await LogreplayProcess.run("log", other).code == 0)
  }

  @Test func `a time before the first whole second of all is shown and found`() async throws {
    let folder = try ImportFolder()
    try folder.write(#"{"id":"a","time":"1677-09-21T00:12:43.9Z"}"# + "\n")
    try await folder.importLines("lines.jsonl", "--time", "time")
    let log = try await LogreplayProcess.run("log", folder.store)
    #expect(log.code == 0 && log.output.contains("1677-09-21 00:12:43.900+00:00"), "\(log)")
    for point in ["1677-09-21 00:12:43.900Z", "9999-12-31", "1677-09-22"] {
      let found = try await LogreplayProcess.run("at", folder.store, point)
      #expect(found.code == 0 && found.output.contains("  a  "), "\(point): \(found)")
    }
    let none = try await LogreplayProcess.run("log", folder.store, "--until", "0001-01-01")
    #expect(none.code == 0 && none.output.isEmpty)
    let all = try await LogreplayProcess.run(
      "log", folder.store, "--since", "0001-01-01", "--until", "9999-12-31")
    #expect(all.code == 0 && all.lines.count == 1)
  }
}

/// Commands that write to a terminal.
struct PagerTests {
  /// The code, what came to the terminal, and what was said beside it.
  private func run(
    _ arguments: [String], pager: String
  ) async throws -> (code: Int32, shown: String, errors: String) {
    let folder = try ImportFolder()
    defer { withExtendedLifetime(folder) {} }
    let errors = try folder.write("", to: "err")
    let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    var (lock, number) = (Int32(0), Int32(0))
    // TIOCSPTLCK and TIOCGPTN, which are macros that Swift does not see.
    try #require(terminal >= 0 && ioctl(terminal, 0x4004_5431, &lock) == 0)
    try #require(ioctl(terminal, 0x8004_5430, &number) == 0)
    let end = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
    try #require(end >= 0)
    let process = Process()
    process.executableURL = LogreplayProcess.executable
    process.arguments = arguments
    process.environment = ["PATH": "/usr/bin:/bin", "PAGER": pager, "TERM": "dumb", "TZ": "UTC"]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(fileDescriptor: end, closeOnDealloc: false)
    process.standardError = FileHandle(forWritingAtPath: errors)
    try process.run()
    close(end)
    return try await IOThreads.shared.run { () throws(any Error) in
      var shown: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      // The end of a terminal that nobody has open any more is an error.
      while true {
        let count = read(terminal, &buffer, buffer.count)
        guard count > 0 else { break }
        shown += buffer[..<count]
      }
      close(terminal)
      process.waitUntilExit()
      let said = try String(contentsOfFile: errors, encoding: .utf8)
      return (process.terminationStatus, String(decoding: shown, as: UTF8.self), said)
    }
  }

  @Test func `a pager that cannot be started is an error, and no lost answer`() async throws {
    let folder = try await SampleFolder.sample()
    for pager in ["/no/such/pager", "/dev/null"] {
      let lost = try await run(["log", folder.store], pager: pager)
      #expect(
        lost.code == 74 && lost.errors.contains("\(pager))") && lost.errors.contains("set PAGER=cat"),
        "\(lost)")
    }
    for pager in ["cat", "cat -u", "head -n 1"] {
      let paged = try await run(["log", folder.store], pager: pager)
      #expect(paged.code == 0 && paged.shown.contains("incident/1"), "\(paged)")
    }
  }
}
