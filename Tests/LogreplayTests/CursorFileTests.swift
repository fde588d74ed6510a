// Cursor files at odd paths: links, empty files, and paths that cannot be written.

import Foundation
import Strata
import Testing

struct CursorFileTests {
  private func log(_ folder: SampleFolder, _ cursor: String) async throws -> LogreplayProcess.Outcome {
    try await LogreplayProcess.run("log", folder.store, "-o", "jsonl", "--cursor-file", cursor)
  }

  private func isLink(_ path: String) throws -> Bool {
    try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType == .typeSymbolicLink
  }

  @Test func `a cursor is written to what a symbolic link points to, and the link stays`() async throws {
    let folder = try await SampleFolder.sample()
    let inner = folder.file("inner")
    try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
    // From a link to another, which is relative to its own folder; the file is not there yet.
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("first"), withDestinationPath: "\(inner)/second")
    try FileManager.default.createSymbolicLink(atPath: "\(inner)/second", withDestinationPath: "cursor")
    #expect(try await log(folder, folder.file("first")).lines.count == 7)
    #expect(try isLink(folder.file("first")) && isLink("\(inner)/second"))
    #expect(try String(contentsOfFile: "\(inner)/cursor", encoding: .utf8).hasPrefix("7@"))
    let again = try await log(folder, folder.file("first"))
    #expect(again.code == 0 && again.output.isEmpty, "\(again)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: inner).sorted() == ["cursor", "second"])
  }

  @Test func `a link that leads back to itself is an error`() async throws {
    let folder = try await SampleFolder.sample()
    let path = folder.file("loop")
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "loop")
    let outcome = try await log(folder, path)
    #expect(outcome.code == 74 && outcome.output.isEmpty && outcome.errors.contains(path), "\(outcome)")
  }

  @Test func `an empty file is no cursor yet`() async throws {
    let folder = try await SampleFolder.sample()
    let path = folder.file("cursor")
    #expect(FileManager.default.createFile(atPath: path, contents: Data()))
    #expect(try await log(folder, path).lines.count == 7)
    #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("7@"))
  }

  @Test(arguments: ["log", "follow"])
  func `a path that cannot be written is an error before anything is printed`(command: String) async throws {
    let folder = try await SampleFolder.sample()
    // The name is as long as names can be, so the file can be read but has no room for a temporary one beside it.
    let path = folder.file(String(repeating: "c", count: 255))
    try "0@0000000000000000\n".write(toFile: path, atomically: false, encoding: .utf8)
    for path in [path, folder.file("none/cursor")] {
      let outcome = try await LogreplayProcess.run(
        command, folder.store, "--until-caught-up", "-o", "jsonl", "--cursor-file", path)
      #expect(outcome.code == 74 && outcome.output.isEmpty && outcome.errors.contains("cursor file"))
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "0@0000000000000000\n")
  }

  @Test(arguments: ["log", "follow"])
  func `an empty path is a usage error`(command: String) async throws {
    let folder = try await SampleFolder.sample()
    let outcome = try await LogreplayProcess.run(
      command, folder.store, "--until-caught-up", "--cursor-file", "")
    #expect(
      outcome.code == 64 && outcome.output.isEmpty && outcome.errors.contains("cursor file is empty"),
      "\(outcome)")
  }
}
