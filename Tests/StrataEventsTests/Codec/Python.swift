// An independent implementation to compare with: a python3 script, where there is a python3.

#if canImport(FoundationEssentials)
  import FoundationEssentials
#endif
import Foundation
import Testing

/// Scripts run by the python3 on the search path.
enum Python {
  /// Where python3 is, nil on machines without.
  static let path: String? = (ProcessInfo.processInfo.environment["PATH"] ?? "")
    .split(separator: ":")
    .map { $0 + "/python3" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// The trait of tests that need it.
  static var isNeeded: ConditionTrait {
    .enabled(if: path != nil, "python3 is not installed: nothing independent to compare with")
  }

  /// Runs a script that reads standard input, and gives its standard output.
  static func run(_ script: String, input: [UInt8]) throws -> [UInt8] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let inputFile = folder.appendingPathComponent("input")
    try Data(input).write(to: inputFile)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(path))
    process.arguments = ["-c", script]
    process.standardInput = try FileHandle(forReadingFrom: inputFile)
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = Array(output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return bytes
  }
}
