// Other programs that say what a text is: python3, grep.

internal import Foundation
internal import Testing

/// Programs of the machine to compare with.
enum Programs {
  static func path(_ name: String) -> String? {
    ["/usr/bin/", "/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + name }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// What a program prints. It has a folder of its own, with these files.
  static func run(_ program: String, _ arguments: [String], files: [String: String] = [:]) throws -> String {
    let folder = try TemporaryFolder()
    for (name, content) in files {
      try Data(content.utf8).write(to: URL(fileURLWithPath: folder.file(name)))
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.environment = ["LC_ALL": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONUTF8": "1"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: bytes, as: UTF8.self)
  }
}
