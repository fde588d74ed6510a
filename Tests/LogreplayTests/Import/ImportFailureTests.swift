// What cannot be imported is named: file, line, column, why; and everything before it stays.

import ArgumentParser
import Foundation
import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct ImportFailureTests {
  @Test(arguments: [
    ("nonsense", 2, "unexpected 'o'"), ("{\"id\":1", 8, "ends inside"), ("[1]", 1, "not an object"),
    ("  7", 3, "not an object"),
    ("{\"a\":1}", 1, "\"id\" is missing"), ("{\"id\":\"\"}", 7, "empty"),
    ("{\"x\":[{\"id\":2}],\"id\" : 1.5}", 24, "neither a string"),
    ("{\"é\":1,\"id\":null}", 13, "neither a string"), ("{\"id\":1,\"id\":2}", 9, "occurs twice"),
    ("{\"id\":1,\"n\":{\"a\":1,\"\\u0061\":2}}", 20, "occurs twice"), ("{\"id\":1} {}", 10, "more text"),
    ("{\"id\":1,\"at\":\"yesterday\"}", 14, "not a time"),
    ("{\"id\":1,\"at\":\"2026-01-01T00:00:00\"}", 14, "not a time"),
    ("{\"id\":1,\"at\":\"1500-01-01T00:00:00Z\"}", 14, "not a time"), ("{\"id\":1}", 1, "\"at\" is missing"),
    ("{\"id\":1e999}", 7, "double"), ("{\"id\":1,\"n\":[0.1,0.123456789012345678]}", 18, "double"),
  ])
  func `a bad line is named with its column, and what came before it stays`(
    line: String, column: Int, why: String
  ) async throws {
    let folder = try ImportFolder()
    let good = "{\"id\":1,\"at\":\"2026-01-01T00:00:00Z\"}\n"
    try folder.write(good + good + line + "\n" + good)
    let failure = try await folder.failure("lines.jsonl", "--time", "at")
    #expect(failure.code == ExitStatus.corrupt)
    #expect(failure.place.hasSuffix("lines.jsonl:3:\(column)"), "\(failure.place) \(failure.what)")
    #expect(failure.what.contains("line 3") && failure.what.contains(why), "\(failure.what)")
    #expect(try await folder.appends().count == 2)
    // Passed over, it is counted, and the lines keep their numbers.
    let report = try await folder.importLines("lines.jsonl", "--time", "at", "--skip-bad")
    #expect(report == ImportReport(read: 4, appended: 1, known: 2, skipped: 1, first: 3, last: 3))
    #expect(try await folder.appends().map(\.line) == [1, 2, 4])
    #expect(folder.notes.withLock { $0.count } == 1)
    // Corrected, it is imported behind them if that is asked for.
    try folder.write(good + good + good + good)
    #expect(try await folder.failure("lines.jsonl", "--time", "at").next.contains("--apply-late"))
    #expect(try await folder.importLines("lines.jsonl", "--time", "at", "--apply-late").appended == 1)
    #expect(try await folder.appends().map(\.line) == [1, 2, 4, 3])
  }

  @Test func `a line longer than an append is bad, and is never held whole`() async throws {
    let folder = try ImportFolder()
    let long = "{\"id\":1,\"text\":\"" + String(repeating: "x", count: 20 << 20) + "\"}\n"
    try folder.write("{\"id\":1}\n" + long + "{\"id\":3}\n" + String(long.dropLast()))
    let failure = try await folder.failure()
    #expect(failure.place.hasSuffix(":2:1") && failure.what.contains("appendSizeMax"), "\(failure.what)")
    let report = try await folder.importLines("lines.jsonl", "--skip-bad")
    #expect(report.skipped == 2 && report.appended == 1)
  }

  @Test func `a stream's name that is too long makes a bad line`() async throws {
    let folder = try ImportFolder()
    try folder.write("{\"id\":\"\(String(repeating: "x", count: 1022))\"}\n")
    #expect(try await folder.importLines().appended == 1)
    try folder.write("{\"id\":\"\(String(repeating: "x", count: 1023))\"}\n", to: "b")
    #expect(try await folder.failure("b").place.hasSuffix(":1:7"))
  }

  @Test(arguments: ["", "a/b", "$x"])
  func `a name that no table can have is a matter of usage`(table: String) async throws {
    let folder = try ImportFolder()
    try folder.write("{\"id\":1}\n")
    #expect(
      try await folder.failure(of: [folder.file("lines.jsonl"), "--id", "id", "--table", table]).code
        == ExitStatus.usage)
    #expect(!FileManager.default.fileExists(atPath: folder.store))
  }

  @Test func `what is missing is said before a store is made`() async throws {
    let folder = try ImportFolder()
    try folder.write("{\"id\":1}\n")
    #expect(
      try await folder.failure(of: [folder.file("lines.jsonl"), "--id", "id"]).code == ExitStatus.usage)
    #expect(
      try await folder.failure(of: [folder.file("lines.jsonl"), "--table", "t"]).code == ExitStatus.usage)
    #expect(try await folder.failure("nowhere").code == ExitStatus.notFound)
    #expect(try await folder.failure(of: [folder.path]).code == ExitStatus.notFound)
    #expect(!FileManager.default.fileExists(atPath: folder.store))
  }

  @Test(arguments: [[], ["--format", "jsonl"], ["--format", "git"], ["--ref", "main"]])
  func `a path with nothing there is said before any option is missing`(options: [String]) async throws {
    let folder = try ImportFolder()
    let path = folder.file("nowhere/repository")
    let failure = try await folder.failure(of: [path] + options)
    #expect(failure.code == ExitStatus.notFound && failure.place == path, "\(failure)")
    #expect(failure.what.contains("no such file"), "\(failure.what)")
    #expect(!FileManager.default.fileExists(atPath: folder.store))
  }

  @Test func `a file where the store should be is refused, and so is a store that is open elsewhere`()
    async throws
  {
    let folder = try ImportFolder()
    try folder.write("{\"id\":1}\n")
    try folder.write("x", to: "store")
    #expect(try await folder.failure().code == ExitStatus.cannotCreate)
    try FileManager.default.removeItem(atPath: folder.store)
    let store = try await EventStore.open(at: folder.store)
    let failure = try await folder.failure()
    #expect(failure.code == ExitStatus.locked)
    #expect(failure.what.contains("process \(processID())"))
    try await store.close()
  }

  @Test func `a run refuses everything after the first append that fails, so that there is no gap`()
    async throws
  {
    let disk = SimulatedDisk()
    var options = StoreOptions()
    // However slow the committer is, there are many groups.
    options.groupSizeMax = 4_096
    let store = try EventStore.open(disk, path: "/s", .readWrite, options: options)
    let run = try store.log.run()
    disk.inject(SimulatedFailure(of: [.write], number: 1 + 2 * 5, code: SystemErrorCode.noSpace))
    var handedOver: UInt64 = 0
    for number in 1...UInt64(100_000) {
      let draft = try store.draft(
        [NewEvent("$put", in: "t/\(number)", ["n": .int(Int64(number))])], id: "\(number)", time: nil,
        expecting: [:])
      guard try run.add(draft, label: number) else { break }
      handedOver = number
    }
    let progress = run.drain()
    let failure = try #require(progress.failure)
    guard case .full = failure.error else { throw failure }
    #expect(progress.appended == failure.label - 1)
    #expect(failure.label <= handedOver)
    #expect(store.head.sequence == progress.appended)
    #expect(store.log.mark.sequence == progress.last ?? 0)
    // A new run goes on.
    let second = try store.log.run()
    let draft = try store.draft([NewEvent("$put", in: "t/x", .null)], id: nil, time: nil, expecting: [:])
    #expect(try second.add(draft, label: 1))
    #expect(second.drain().appended == 1)
    try await store.close()
  }

  @Test func `a damaged store is named with its path and the place in it`() async throws {
    let folder = try ImportFolder()
    try folder.write(importedLines(1...50))
    try await folder.importLines()
    let segment = folder.store + "/log/" + SegmentName(1).fileName
    var bytes = try Data(contentsOf: URL(fileURLWithPath: segment))
    bytes[4096 + 200] ^= 0x40
    try bytes.write(to: URL(fileURLWithPath: segment))
    let failure = try await folder.failure()
    #expect(failure.code == ExitStatus.corrupt && failure.place == "\(segment) at byte 4096", "\(failure)")
    let file = try folder.write("x", to: "file")
    for (store, code) in [(file, ExitStatus.cannotCreate), ("", ExitStatus.usage)] {
      let command = try ImportCommand.parse([store, folder.file("lines.jsonl"), "--table", "t", "--id", "id"])
      let none = await #expect(throws: CommandFailure.self) { _ = try await command.execute { _ in } }
      #expect(none?.code == code)
    }
  }

  @Test func `a full disk ends the import with nothing acknowledged lost, and room lets it go on`()
    async throws
  {
    let folder = try ImportFolder()
    let mount = folder.file("small")
    try FileManager.default.createDirectory(atPath: mount, withIntermediateDirectories: true)
    let mounted = try ImportProcess.run(
      "/usr/bin/env", ["mount", "-t", "tmpfs", "-o", "size=1m", "none", mount])
    guard mounted.code == 0 else { return }  // Not allowed here: nothing to test on.
    defer { _ = try? ImportProcess.run("/usr/bin/env", ["umount", mount]) }
    try folder.write(importedLines(1...60_000))
    let arguments = [folder.file("lines.jsonl"), "--table", "t", "--id", "id"]
    func command(_ more: [String]) throws -> ImportCommand {
      try ImportCommand.parse([mount + "/store"] + arguments + more)
    }
    var failure: CommandFailure?
    do { _ = try await command([]).execute { _ in } } catch { failure = error as? CommandFailure }
    #expect(
      failure?.code == ExitStatus.inputOutput && failure?.what.contains("full") == true, "\(failure as Any)")
    let appends = try await folder.appends(of: mount + "/store")
    #expect(appends.map(\.line) == appends.indices.map { $0 + 1 })
    try ImportProcess.run("/usr/bin/env", ["mount", "-o", "remount,size=64m", mount])
    let report = try await command([]).execute { _ in }
    #expect(report.known == UInt64(appends.count) && report.known + report.appended == 60_000)
    #expect(try await folder.appends(of: mount + "/store").map(\.line) == Array(1...60_000))
  }
}
