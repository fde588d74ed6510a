// What an input is by its beginning: compressed, something to be unpacked first, or what this tool has printed.

import Foundation
import StrataBase
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell

struct ImportInputTests {
  private func arguments(_ file: String) -> [String] { [file, "--table", "t", "--id", "id"] }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/lz4"), "lz4 is not installed"))
  func `frames of lz4 are decompressed, and damage and a cut are named after what was whole`() async throws {
    let folder = try ImportFolder()
    let text = importedLines(1...20_000)
    try folder.write(text, to: "plain")
    for (name, options) in [("a", ["-B4"]), ("b", ["-B7", "-BD", "--no-frame-crc"])] {
      let result = try ImportProcess.run(
        "/usr/bin/lz4", ["-q", "-f"] + options + [folder.file("plain"), folder.file("\(name).jsonl.lz4")])
      #expect(result.code == 0, "\(result)")
    }
    func bytes(_ name: String) throws -> [UInt8] {
      Array(try Data(contentsOf: URL(fileURLWithPath: folder.file("\(name).jsonl.lz4"))))
    }
    let frame = try bytes("a")
    #expect(try await folder.run(arguments(folder.file("a.jsonl.lz4"))).appended == 20_000)
    try folder.write(try bytes("b") + frame, to: "two")
    let two = try await folder.run(arguments(folder.file("two")) + ["--source", "a.jsonl.lz4"])
    #expect(two.known == 20_000 && two.appended == 20_000)
    for (name, bytes) in [
      ("cut", Array(frame.dropLast(9))), ("head", Array(frame[..<20])),
      ("damaged", frame[..<5000] + [frame[5000] ^ 0x55] + frame[5001...]),
    ] {
      let other = try ImportFolder()
      let failure = try await other.failure(of: arguments(try other.write(Array(bytes), to: name)))
      // Damage may be noticed in a line before it is in the frame.
      #expect(
        failure.code == ExitStatus.corrupt && (name == "damaged" || failure.what.contains("lz4")),
        "\(failure)")
      let appends = try await other.appends()
      #expect(appends.map(\.line) == appends.indices.map { $0 + 1 })
    }
    try folder.write(frame + Array("garbage".utf8), to: "more")
    let more = try await folder.run(arguments(folder.file("more")))
    #expect(more.appended == 20_000 && more.isPart)
  }

  @Test func `what is no text is named with the command that unpacks it, and makes no store`() async throws {
    for (bytes, what, command) in [
      (Array("BZh91AY&SY".utf8), "bzip2", "bzip2 -dc"), ([0x28, 0xB5, 0x2F, 0xFD, 0, 0], "zstd", "zstd -dc"),
      ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0], "xz", "xz -dc"),
      ([0x50, 0x4B, 0x03, 0x04, 0], "zip", "unzip -p"),
      ([0xFF, 0xFE, 0x7B, 0x00], "UTF-16", "iconv -f UTF-16"),
      (Array("# v2 git bundle\nx".utf8), "git bundle", "git clone"),
      (Array("PAR1....".utf8), "Parquet", "duckdb"), ([0x02, 0x21, 0x4C, 0x18, 0], "legacy", "lz4 -dc"),
    ] as [([UInt8], String, String)] {
      let folder = try ImportFolder()
      let file = try folder.write(bytes, to: "it's")
      let failure = try await folder.failure(of: arguments(file))
      #expect(failure.code == ExitStatus.usage && failure.what.contains(what), "\(failure)")
      #expect(failure.next.contains(command) && failure.next.contains("it'\\''s'"), "\(failure)")
      #expect(!FileManager.default.fileExists(atPath: folder.store))
      let piped = try ImportProcess.run(
        ImportProcess.command, ["import", folder.store, "-"] + arguments(file).dropFirst(), input: bytes)
      #expect(piped.code == ExitStatus.usage && piped.errors.contains(what), "\(piped)")
      let zipped = try await folder.failure(
        of: arguments(try folder.write(ImportProcess.gzip(bytes), to: "z")))
      #expect(zipped.what.contains(what), "\(zipped)")
    }
  }

  @Test func `what this tool has printed is no rows, unless it is asked for`() async throws {
    let folder = try ImportFolder()
    try await folder.run(arguments(try folder.write("{\"id\":1,\"v\":2}\n")))
    for (command, what) in [
      (["at", folder.store, "-o", "jsonl"], "export"), (["log", folder.store, "-o", "jsonl"], "--events"),
      (["at", folder.store, "-o", "json"], "export"),
      (["diff", folder.store, "0", "head", "-o", "json"], "export"),
    ] {
      let output = try ImportProcess.run(ImportProcess.command, command).output
      let file = try folder.write(output, to: "own.jsonl")
      let failure = try await folder.failure(of: arguments(file))
      #expect(failure.code == ExitStatus.usage && failure.next.contains(what), "\(command): \(failure)")
    }
    let events = try await folder.failure(
      of: arguments(try folder.write("{\"strata\":\"events\"}\n", to: "e")))
    #expect(events.next.contains("--events"))
    let list = try ImportProcess.run(ImportProcess.command, ["at", folder.store, "-o", "jsonl"]).output
    #expect(
      try await folder.run(arguments(try folder.write(list, to: "x")) + ["--format", "jsonl"]).appended == 1)
  }

  @Test func `rows of a slow pipe are appended as they come`() async throws {
    let folder = try ImportFolder()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: ImportProcess.command)
    process.arguments = [
      "import", folder.store, "-", "--format", "csv", "--table", "t", "--id", "id", "--source", "s",
    ]
    let input = Pipe()
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: Data("id,v\n1,a\n".utf8))
    var count = 0
    let deadline = MonotonicTime.now()
    while count == 0, deadline.elapsed < .seconds(20) {
      count = (try? await folder.appends().count) ?? 0
      await Task.yield()
    }
    #expect(count == 1, "the first row waits for what comes after it")
    try input.fileHandleForWriting.write(contentsOf: Data("2,b\n".utf8))
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(try await folder.appends().map(\.line) == [1, 2])
  }
}
