// Commands that write to a terminal, and the pager before it.

import Foundation
import StrataBase
import Testing

struct PagerTests {
  /// The code, what came to the terminal, and what was said beside it.
  private func run(
    _ arguments: [String], pager: String
  ) async throws -> (code: Int32, shown: String, errors: String) {
    let folder = try ImportFolder()
    defer { withExtendedLifetime(folder) {} }
    let errors = try folder.write("", to: "err")
    let terminal = try #require(PseudoTerminal())
    let process = Process()
    process.executableURL = LogreplayProcess.executable
    process.arguments = arguments
    process.environment = ["PATH": "/usr/bin:/bin", "PAGER": pager, "TERM": "dumb", "TZ": "UTC"]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle(fileDescriptor: terminal.program, closeOnDealloc: false)
    process.standardError = FileHandle(forWritingAtPath: errors)
    try process.run()
    terminal.closeProgram()
    return try await IOThreads(name: "test", threadCountMax: 1).run { () throws(any Error) in
      var shown: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      // The end of a terminal that nobody has open any more is an error.
      while true {
        let count = read(terminal.reader, &buffer, buffer.count)
        guard count > 0 else { break }
        shown += buffer[..<count]
      }
      process.waitUntilExit()
      let said = try String(contentsOfFile: errors, encoding: .utf8)
      return (process.terminationStatus, String(decoding: shown, as: UTF8.self), said)
    }
  }

  @Test(PseudoTerminal.isNeeded)
  func `a pager that cannot be started is an error, and no lost answer`() async throws {
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
