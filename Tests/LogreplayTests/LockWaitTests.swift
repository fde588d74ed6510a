// `--wait`: commands that write wait for the process that has the store.

import Foundation
import Glibc
import Strata
import StrataLog
import Testing

@Suite struct LockWaitTests {
  private static let own = "process \(ProcessInfo.processInfo.processIdentifier) since 20"

  /// The commands that write, with what they need besides the store.
  private static func commands(_ folder: SampleFolder) throws -> [[String]] {
    let lines = folder.file("lines.jsonl")
    try Data("{\"id\":\"1\",\"x\":1}\n".utf8).write(to: URL(fileURLWithPath: lines))
    return [
      ["seal", folder.store], ["erase", folder.store, "--sequence", "1", "--reason", "test", "--yes"],
      ["import", folder.store, lines, "--table", "t", "--id", "id"],
    ]
  }

  @Test func `a LOCK that a program has that is no writer names no writer that has ended`() async throws {
    let folder = try SampleFolder()
    let command = try Self.commands(folder)[2]
    #expect(try await LogreplayProcess(command).wait().code == 0)
    let text = try String(contentsOfFile: "\(folder.store)/LOCK", encoding: .utf8)
    #expect(Int32(text.prefix { $0 != "\n" }) ?? 0 > 0)
    let file = Glibc.open("\(folder.store)/LOCK", O_RDWR)
    defer { close(file) }
    try #require(flock(file, LOCK_EX | LOCK_NB) == 0)
    let outcome = try await LogreplayProcess(command).wait()
    #expect(
      outcome.code == 75 && outcome.errors.contains("open for writing in another process"), "\(outcome)")
    #expect(try String(contentsOfFile: "\(folder.store)/LOCK", encoding: .utf8) == text)
  }

  @Test func `a store that stays locked is refused with the process that has it, after the time`()
    async throws
  {
    let folder = try await SampleFolder.sample()
    let store = try await folder.open()
    for command in try Self.commands(folder) {
      for wait in [[], ["--wait", "0s"], ["--wait", "50ms"], ["--wait", "0.05"]] {
        let outcome = try await LogreplayProcess(command + wait).wait()
        #expect(
          outcome.code == 75 && outcome.errors.contains("open for writing in \(Self.own)"), "\(command)")
        let waits = wait.last == "50ms" || wait.last == "0.05"
        #expect(
          outcome.errors.contains("waiting for it up to \(wait.last ?? "")") == waits, "\(outcome.errors)")
      }
    }
    try await store.close()
  }

  @Test func `a command that waits goes on when the store is closed`() async throws {
    let folder = try await SampleFolder.sample()
    for command in try Self.commands(folder) {
      let store = try await folder.open()
      let process = try LogreplayProcess(command + ["--wait", "4m"])
      let note = await process.readErrorLine()
      #expect(note.contains(Self.own) && note.contains("waiting for it up to 4m"), "\(note)")
      try await store.append([NewEvent("meanwhile", in: "other/1", [:])])
      try await store.close()
      let outcome = try await process.wait()
      #expect(outcome.code == 0, "\(command): \(outcome.errors)")
    }
    let store = try await EventStore.open(at: folder.store, .readOnly)
    #expect(try await store.events(in: "other/1").count == 3)
  }

  @Test(arguments: ["soon", "-1s", "1 fortnight", "nan"])
  func `a wait that is no length of time is a wrong call, before anything is done`(wait: String) async throws
  {
    let folder = try await SampleFolder.sample()
    for command in try Self.commands(folder) {
      let outcome = try await LogreplayProcess(command + ["--wait=\(wait)"]).wait()
      #expect(outcome.code == 64 && outcome.errors.contains("is not a length of time"), "\(outcome.errors)")
    }
    let store = try await EventStore.open(at: folder.store, .readOnly)
    #expect(store.head.sequence == 7)
  }
}
