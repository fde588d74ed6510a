// What an import says or leaves at its edges: numbers, ids, gzip data with more after it, and a store that stays empty.

import Foundation
import StrataBase
import StrataEvents
@testable import StrataPast
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell

struct ImportRemainderTests {
  @Test func `a number that a double cannot hold is bad, whether it is too large or has too many digits`()
    async throws
  {
    let folder = try ImportFolder()
    for number in ["1e999", "0.123456789012345678", "1e-400"] {
      try folder.write("{\"id\":1,\"v\":[\(number)]}\n")
      let failure = try await folder.failure()
      #expect(failure.code == ExitStatus.corrupt && failure.place.hasSuffix("lines.jsonl:1:14"), "\(failure)")
      #expect(failure.what.contains("a number that a double cannot hold"), "\(failure.what)")
    }
    try folder.write("{\"id\":1,\"v\":0.123456789012345678}\n{\"id\":2,\"v\":1.5}\n")
    let report = try await folder.importLines("lines.jsonl", "--round-numbers")
    #expect(report.rounded == 1 && report.appended == 2)
    #expect(report.short.hasSuffix("1 line with a rounded number"))
    #expect(try await folder.documents().map { $0["v"] } == [.double(0.123456789012345678), 1.5])
    try folder.write("{\"id\":1,\"v\":1e999}\n", to: "b")
    #expect(try await folder.failure("b", "--round-numbers").code == ExitStatus.corrupt)
  }

  @Test func `an integer and its text as ids of one table are noted once, with a line of each`() async throws
  {
    let folder = try ImportFolder()
    func notes(_ text: String, _ name: String) async throws -> [String] {
      folder.notes.withLock { $0 = [] }
      try folder.write(text, to: name)
      try await folder.importLines(name)
      return folder.notes.withLock { $0 }
    }
    let mixed = try await notes(
      "{\"id\":\"a\"}\n{\"id\":1}\n{\"id\":2}\n{\"id\":\"2\"}\n{\"id\":\"1\"}\n", "a")
    try #require(mixed.count == 1)
    #expect(
      mixed[0].contains("line 4 is the text \"2\"") && mixed[0].contains("line 3 is the integer 2"),
      "\(mixed)")
    // What the store has counts as well: the last document of row 1 has a text.
    let stored = try await notes("{\"id\":1}\n", "b")
    #expect(stored.count == 1 && stored[0].contains("the store has the text \"1\""), "\(stored)")
    for (text, name) in [
      ("{\"id\":7}\n{\"id\":8}\n", "c"), ("{\"id\":\"x\"}\n{\"id\":5}\n{\"id\":\"05\"}\n", "d"),
      ("{\"id\":\"-0\"}\n{\"id\":99999999999999999999}\n", "e"),
      ("{\"id\":\"70\"}\n{\"id\":71}\n{\"id\":\"70\"}\n{\"id\":71}\n", "g"),
    ] {
      #expect(try await notes(text, name).isEmpty)
    }
    #expect(
      try await notes("{\"id\":99999999999999999999}\n{\"id\":\"99999999999999999999\"}\n", "f").count == 1)
  }

  @Test func `what follows gzip data is left out and said, and all that was compressed is there`()
    async throws
  {
    let folder = try ImportFolder()
    let zipped = try ImportProcess.gzip(Array("{\"id\":1}\n{\"id\":2}".utf8))
    for (index, more) in [Array("garbage".utf8), [0x1F, 0x8C, 0, 0, 0, 0, 0, 0, 0, 0, 0]].enumerated() {
      try folder.write(zipped + more, to: "g\(index)")
      let report = try await folder.importLines("g\(index)")
      #expect(report.appended == 2 && report.isPart)
      #expect(folder.notes.withLock { $0.last }?.contains("what follows its gzip data") == true)
      let again = try ImportProcess.run(
        ImportProcess.command,
        ["import", folder.store, folder.file("g\(index)"), "--table", "t", "--id", "id"])
      #expect(again.code == ExitStatus.skipped && again.output.contains("2 known"), "\(again)")
    }
    // Zeros, to which a tape fills up, are nothing; a second part that is damaged is damage.
    try folder.write(zipped + [UInt8](repeating: 0, count: 700), to: "zeros")
    #expect(try await folder.importLines("zeros").isPart == false)
    try folder.write(zipped + zipped.dropLast(3), to: "part")
    #expect(try await folder.failure("part").code == ExitStatus.corrupt)
  }

  @Test(arguments: [
    ("nonsense\n", [String]()), ("{\"id\":1,\"at\":\"x\"}\n", ["--time", "at"]),
    ("{\"id\":1,\"at\":\"2026-01-01T00:00:00Z\"}\n{\"id\":2}\n", ["--time", "at", "--sort-by-time"]),
  ])
  func `an import that fails before its first append leaves no store, and none of its folders`(
    text: String, options: [String]
  ) async throws {
    let folder = try ImportFolder()
    let path = try folder.write(text)
    let arguments = [path, "--table", "t", "--id", "id"] + options
    #expect(try await folder.failure(of: arguments).next.contains("nothing of this input is in the store"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["lines.jsonl"])
    // A store that was there stays, and so does one that has what came before the failure.
    try await EventStore.open(at: folder.store).close()
    _ = try await folder.failure(of: arguments)
    #expect(FileManager.default.fileExists(atPath: folder.store + "/HEAD"))
    try FileManager.default.removeItem(atPath: folder.store)
    try folder.write("{\"id\":0,\"at\":\"2026-01-01T00:00:00Z\"}\n" + text)
    if !options.contains("--sort-by-time") {
      #expect(try await folder.failure(of: arguments).next.contains("1 line is in the store"))
      #expect(try await folder.appends().count == 1)
    }
  }

  @Test func `an empty store is removed only by who made it, and with nothing of others in its folder`()
    async throws
  {
    let folder = try ImportFolder()
    func exists(_ name: String = "") -> Bool { FileManager.default.fileExists(atPath: folder.store + name) }
    let new = try await EventStore.open(at: folder.store)
    for name in ["store/notes.txt", "store/mine"] {
      try folder.write("precious", to: name)
      new.removeEmpty()
      #expect(exists("/HEAD") && FileManager.default.fileExists(atPath: folder.file(name)))
      try FileManager.default.removeItem(atPath: folder.file(name))
    }
    try await new.close()
    // Opened again, it is a store that was there before.
    let old = try await EventStore.open(at: folder.store)
    old.removeEmpty()
    try await old.close()
    #expect(exists("/HEAD"))
    try FileManager.default.removeItem(atPath: folder.store)
    try await EventStore.open(at: folder.store).removeEmpty()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }

  @Test func `an import that waits makes the store itself if the one it waits for removes it`() async throws {
    let folder = try ImportFolder()
    let path = try folder.write("{\"id\":1}\n")
    let store = try await EventStore.open(at: folder.store)
    let waiting = try LogreplayProcess([
      "import", folder.store, path, "--table", "t", "--id", "id", "--wait", "4m",
    ])
    #expect(await waiting.readErrorLine().contains("waiting for it up to 4m"))
    store.removeEmpty()
    let outcome = try await waiting.wait()
    #expect(outcome.code == 0 && outcome.output.contains("1 appended"), "\(outcome)")
    #expect(try await folder.appends().count == 1)
  }

  @Test func `numbers of things are followed by the right form of their names`() {
    var report = ImportReport(
      read: 1, appended: 1, skipped: 0, raised: 1, ahead: 1, late: 1, rounded: 1, first: 1, last: 1)
    let one = "1 line read, 1 appended as sequence 1, 0 known, 0 skipped, 1 time raised to the one before, "
    #expect(
      report.short == one + "1 time ahead of the clock, 1 line applied late, 1 line with a rounded number")
    report.read = 0
    report.raised = 2
    #expect(report.short.hasPrefix("0 lines read, ") && report.short.contains("2 times raised"))
    #expect((counted(1, "byte"), counted(2, "byte"), counted(0, "byte")) == ("1 byte", "2 bytes", "0 bytes"))
  }
}
