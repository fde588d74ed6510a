// `replicate`, as a shell sees it.

import Foundation
import StrataSimulation
import Testing

@Suite struct ReplicateTests {
  /// A folder with a store of 60 rows.
  private func sample() async throws -> ImportFolder {
    let folder = try ImportFolder()
    let lines = (1...60).map { "{\"id\":\"T-\($0)\",\"status\":\"s\($0 % 3)\"}\n" }.joined()
    let file = try folder.write(lines, to: "rows.jsonl")
    let made = try await LogreplayProcess.run("import", folder.store, file, "--table", "ticket", "--id", "id")
    #expect(made.code == 0, "\(made)")
    return folder
  }

  @Test
  func `a store is shipped, followed, taken over, and the one before rejoins with its own events apart`()
    async throws
  {
    let folder = try await sample()
    let (store, place, copy) = (folder.store, "file:\(folder.file("place"))", folder.file("copy"))
    func run(_ arguments: String..., code: Int32 = 0) async throws -> LogreplayProcess.Outcome {
      let outcome = try await LogreplayProcess(arguments).wait()
      #expect(outcome.code == code, "\(arguments): \(outcome)")
      return outcome
    }
    _ = try await run("replicate", store, place)
    #expect(try await run("replicate", place, copy).output == "\(copy) has the events up to 60\n")
    let chain = try await run("verify", copy, "-o", "json").output
    #expect(chain.contains("\"events\":60"))
    #expect(
      try await run("info", store).output.contains(
        "copies          the store writes, and is shipped to \(place), which has everything"))
    let refused = try await run("put", copy, "ticket/x", "{}", code: 75)
    #expect(refused.errors.contains("follows"))
    _ = try await run("replicate", copy, "--take-over")
    _ = try await run("put", copy, "ticket/new", "{\"status\":\"new\"}")
    _ = try await run("put", store, "ticket/old", "{\"status\":\"old\"}")
    #expect(try await run("replicate", copy, "--status").output.contains("1 event to come"))
    #expect(try await run("replicate", store, "--status").output.contains("writes there now"))
    let overtaken = try await run("replicate", store, place, code: 68)
    #expect(overtaken.errors.contains("rejoin"))
    _ = try await run("put", store, "ticket/old", "{\"status\":\"older\"}", code: 68)
    _ = try await run("replicate", copy, place)
    let rejoined = try await run("replicate", store, "--rejoin", "-o", "json").output
    #expect(rejoined.contains("\"last\":61") && rejoined.contains("\"part\":\"follower\""), "\(rejoined)")
    let own = try String(contentsOfFile: "\(store).before-rejoin-1.jsonl", encoding: .utf8)
    #expect(own.contains("\"stream\":\"ticket/old\"") && !own.contains("ticket/new"))
    #expect(rejoined.contains("\"formerMember\":"), "\(rejoined)")
    #expect(try await run("replicate", copy, "--status").output.contains("  wrote    up to "))
    _ = try await run("replicate", place, store)
    let ends = [try await run("info", store, "-o", "json"), try await run("info", copy, "-o", "json")].map {
      $0.output.split(separator: "\"chain\":\"").dropFirst().first?.prefix(16)
    }
    #expect(ends[0] == ends[1] && ends[0] != nil)
    #expect(try await run("at", store, "head", "--table", "ticket", "-o", "jsonl").lines.count == 61)
  }

  @Test func `a restore ends at the point, and is refused where there is none`() async throws {
    let folder = try await sample()
    let place = "file:\(folder.file("place"))"
    _ = try await LogreplayProcess.run("replicate", folder.store, place)
    let made = try await LogreplayProcess.run("replicate", place, folder.file("then"), "--until", "30")
    #expect(made.code == 0, "\(made)")
    let then = try await LogreplayProcess.run(
      "at", folder.file("then"), "head", "--table", "ticket", "-o", "jsonl")
    let store = try await LogreplayProcess.run("at", folder.store, "30", "--table", "ticket", "-o", "jsonl")
    #expect(then.output == store.output && then.lines.count == 30)
    for (until, code) in [("61", Int32(66)), ("head~2", 64), ("nonsense", 64)] {
      let refused = try await LogreplayProcess.run("replicate", place, folder.file("none"), "--until", until)
      #expect(
        refused.code == code && !FileManager.default.fileExists(atPath: folder.file("none")), "\(refused)")
    }
    let nothing = try await LogreplayProcess.run(
      "replicate", "file:\(folder.file("empty"))", folder.file("none"))
    #expect(nothing.code == 66, "\(nothing)")
    for url in ["s3://bucket/desk", "nats://localhost/desk"] {
      let refused = try await LogreplayProcess.run("replicate", folder.store, url)
      #expect(refused.code == 69 && refused.errors.contains("file:/path"), "\(refused)")
    }
  }

  @Test func `a damaged object is named, and nothing of it is taken`() async throws {
    let folder = try await sample()
    let place = folder.file("place")
    _ = try await LogreplayProcess.run("replicate", folder.store, "file:\(place)")
    let object = "\(place)/log/00000000000000000001"
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: object)))
    bytes[bytes.count / 2] ^= 0x10
    try Data(bytes).write(to: URL(fileURLWithPath: object))
    let refused = try await LogreplayProcess.run("replicate", "file:\(place)", folder.file("copy"))
    #expect(refused.code == 65 && refused.errors.contains("log/00000000000000000001"), "\(refused)")
    let copy = try await LogreplayProcess.run("info", folder.file("copy"))
    #expect(copy.output.contains("events          none"), "\(copy)")
  }

  @Test func `a store is compared with its copy event by event, with what is erased in one of them`()
    async throws
  {
    let folder = try await sample()
    let place = folder.file("place")
    func verify(code: Int32) async throws -> LogreplayProcess.Outcome {
      let outcome = try await LogreplayProcess.run("verify", folder.store, "--against", "file:\(place)")
      #expect(outcome.code == code, "\(outcome)")
      return outcome
    }
    _ = try await verify(code: 66)
    _ = try await LogreplayProcess.run("replicate", folder.store, "file:\(place)")
    #expect(try await verify(code: 0).output.contains("the same events up to 60"))
    _ = try await LogreplayProcess.run("put", folder.store, "ticket/T-1", "{\"status\":\"new\"}")
    #expect(try await verify(code: 0).output.contains("1 event to come"))
    let erased = try await LogreplayProcess.run(
      "erase", folder.store, "--stream", "ticket/T-2", "--reason", "asked", "--yes")
    #expect(erased.code == 0, "\(erased)")
    #expect(try await verify(code: 68).output.contains("erased here, and not there: 2"))
    _ = try await LogreplayProcess.run("replicate", folder.store, "file:\(place)")
    #expect(try await verify(code: 0).output.contains("the same events up to 63"))
    // Another store's objects, and a changed one.
    let object = "\(place)/log/00000000000000000001"
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: object)))
    bytes[200] ^= 1
    try Data(bytes).write(to: URL(fileURLWithPath: object))
    #expect(try await verify(code: 65).errors.contains("00000000000000000001"))
  }

  @Test func `objects that are lost are named by every command, wherever they are`() async throws {
    let folder = try await sample()
    let place = folder.file("place")
    _ = try await LogreplayProcess.run("replicate", folder.store, "file:\(place)")
    for number in 1...6 {
      _ = try await LogreplayProcess.run("put", folder.store, "ticket/T-\(number)", "{\"status\":\"new\"}")
      _ = try await LogreplayProcess.run("replicate", folder.store, "file:\(place)")
    }
    let copy = folder.file("copy")
    let made = try await LogreplayProcess.run("replicate", "file:\(place)", copy)
    #expect(made.code == 0, "\(made)")
    func object(_ number: Int) -> String { "\(place)/log/0000000000000000000\(number)" }
    for lost in [[3], [4], [4, 5], [2, 3], [6]] {
      for number in lost {
        try FileManager.default.moveItem(atPath: object(number), toPath: "\(folder.path)/o\(number)")
      }
      for arguments in [
        ["verify", folder.store, "--against", "file:\(place)"], ["replicate", folder.store, "file:\(place)"],
        ["replicate", "file:\(place)", folder.file("fresh")], ["replicate", copy, "--take-over"],
        ["replicate", "file:\(place)", folder.file("then"), "--until", "2099-01-01"],
      ] {
        let refused = try await LogreplayProcess(arguments).wait()
        #expect(
          refused.code == 65 && refused.errors.contains("log/0000000000000000000\(lost[0])"),
          "\(arguments): \(refused)")
      }
      for number in lost {
        try FileManager.default.moveItem(atPath: "\(folder.path)/o\(number)", toPath: object(number))
      }
      for made in ["fresh", "then"] { try? FileManager.default.removeItem(atPath: folder.file(made)) }
    }
    // The last one: the writer puts it again, and a copy that had it says that it is lost.
    try FileManager.default.removeItem(atPath: object(7))
    let short = try await LogreplayProcess.run("verify", copy, "--against", "file:\(place)")
    #expect(short.code == 68 && short.errors.contains("has lost 1 event"), "\(short)")
    _ = try await LogreplayProcess.run("replicate", folder.store, "file:\(place)")
    let whole = try await LogreplayProcess.run("verify", copy, "--against", "file:\(place)")
    #expect(whole.code == 0, "\(whole)")
  }

  @Test func `an object with erased content that comes back is erased by the next shipping`() async throws {
    let folder = try await sample()
    let place = folder.file("place")
    let object = "\(place)/log/00000000000000000001"
    _ = try await LogreplayProcess.run("replicate", folder.store, "file:\(place)")
    let old = try Data(contentsOf: URL(fileURLWithPath: object))
    _ = try await LogreplayProcess.run(
      "erase", folder.store, "--stream", "ticket/T-2", "--reason", "asked", "--yes")
    _ = try await LogreplayProcess.run("replicate", folder.store, "file:\(place)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: object)) != old)
    try old.write(to: URL(fileURLWithPath: object))
    let found = try await LogreplayProcess.run("verify", folder.store, "--against", "file:\(place)")
    #expect(found.code == 68, "\(found)")
    _ = try await LogreplayProcess.run("replicate", folder.store, "file:\(place)")
    let again = try await LogreplayProcess.run("verify", folder.store, "--against", "file:\(place)")
    #expect(again.code == 0, "\(again)")
  }

  @Test func `a store's folder is no place for a copy, and a place needs its scheme`() async throws {
    let folder = try await sample()
    for place in [folder.store, "\(folder.store)/inside"] {
      let refused = try await LogreplayProcess.run("replicate", folder.store, "file:\(place)")
      #expect(refused.code == 69 && refused.errors.contains("is a store"), "\(refused)")
    }
    let refused = try await LogreplayProcess.run("replicate", folder.store, folder.file("place"))
    #expect(refused.code == 64 && refused.errors.contains("file:\(folder.file("place"))"), "\(refused)")
  }

  @Test func `the status lists the members, and one that is gone is forgotten`() async throws {
    let folder = try await sample()
    let (place, copy) = ("file:\(folder.file("place"))", folder.file("copy"))
    func run(_ arguments: String..., code: Int32 = 0) async throws -> LogreplayProcess.Outcome {
      let outcome = try await LogreplayProcess(arguments).wait()
      #expect(outcome.code == code, "\(arguments): \(outcome)")
      return outcome
    }
    _ = try await run("replicate", folder.store, place)
    let made = try await run("replicate", place, copy, "-o", "json").output
    let member = try #require(made.split(separator: "\"member\":\"").dropFirst().first?.prefix(36))
    let status = try await run("replicate", place, "--status", "-o", "json").output
    #expect(
      status.contains("\"last\":60") && status.contains("\"member\":\"\(member)\",\"part\":\"follower\""))
    #expect(
      try await run("replicate", folder.store, "--status").output.contains("\(member)  follows  up to 60"))
    _ = try await run(
      "erase", folder.store, "--stream", "ticket/T-2", "--reason", "asked", "--yes")
    let waiting = try await run("replicate", folder.store, place)
    #expect(waiting.errors.contains("has not said") && waiting.errors.contains(member), "\(waiting)")
    _ = try await run("replicate", place, copy)
    #expect(try await run("replicate", folder.store, place).errors.isEmpty)
    _ = try await run("replicate", place, "--forget", String(member), "--dry-run")
    _ = try await run("replicate", folder.store, "--forget", String(member))
    #expect(
      try await run("replicate", copy, "--forget", String(member), code: 66).errors.contains("no member"))
    #expect(try await !run("replicate", place, "--status").output.contains(member))
    _ = try await run("replicate", place, "--take-over", code: 64)
  }

  @Test func `a dry run says what would be done, and changes nothing`() async throws {
    let folder = try await sample()
    let (place, copy) = ("file:\(folder.file("place"))", folder.file("copy"))
    func files() throws -> [String: Data] {
      var files: [String: Data] = [:]
      for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
        files[path] = FileManager.default.contents(atPath: "\(folder.path)/\(path)") ?? Data()
      }
      return files
    }
    func plan(_ arguments: String..., code: Int32 = 0, says text: String) async throws {
      let before = try files()
      let outcome = try await LogreplayProcess(arguments + ["--dry-run"]).wait()
      #expect(outcome.code == code, "\(arguments): \(outcome)")
      #expect((outcome.output + outcome.errors).contains(text), "\(outcome)")
      #expect(try files() == before, "\(arguments)")
    }
    try await plan("replicate", folder.store, place, says: "60 events would be shipped")
    try await plan("replicate", place, copy, code: 66, says: "no store")
    _ = try await LogreplayProcess.run("replicate", folder.store, place)
    _ = try await LogreplayProcess.run("put", folder.store, "ticket/T-1", "{\"status\":\"new\"}")
    try await plan("replicate", folder.store, place, says: "1 event would be shipped")
    try await plan("replicate", place, copy, says: "would take 60 events")
    try await plan("replicate", place, folder.store, code: 64, says: "holds a store that does not follow")
    try await plan("replicate", place, folder.file("then"), "--until", "30", says: "up to 30")
    try await plan("replicate", place, folder.file("then"), "--until", "99", code: 66, says: "99")
    _ = try await LogreplayProcess.run("replicate", place, copy)
    try await plan("replicate", copy, "--take-over", says: "write after sequence 60")
    try await plan("replicate", folder.store, "--take-over", code: 64, says: "does not follow")
    _ = try await LogreplayProcess.run("replicate", copy, "--take-over")
    try await plan("replicate", folder.store, place, code: 68, says: "writes there now")
    try await plan("replicate", folder.store, "--rejoin", says: "1 event that only it has")
  }
}
