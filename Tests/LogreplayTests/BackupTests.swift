// `backup` as a process: beside a writer, again, interrupted, and refused.

import Foundation
import Strata
import StrataDocuments
import StrataLog
import Testing

struct BackupCommandTests {
  private func numbers(_ outcome: LogreplayProcess.Outcome) throws -> [String: Int64] {
    try #require(outcome.code == 0, "\(outcome.errors)")
    let value = try DocumentValue(json: outcome.output)
    var numbers: [String: Int64] = [:]
    for name in ["first", "last", "segments", "copied", "bytes"] {
      if case .int(let number)? = value[name] { numbers[name] = Int64(number) }
    }
    return numbers
  }

  @Test func `a backup beside a writer is the store, takes in what is new, and passes every check`()
    async throws
  {
    let folder = try SampleFolder()
    let store = try await folder.open(segmentSize: 6_000)
    let target = folder.file("backup")
    func append(_ count: Int) async throws {
      for number in 0..<count {
        try await store.append([
          NewEvent("t", in: "s/\(number)", ["n": .string(String(repeating: "x", count: 90))])
        ])
      }
    }
    try await append(60)
    try await store.suspend()
    try await store.resume()
    let first = try numbers(try await LogreplayProcess.run("backup", folder.store, target, "-o", "json"))
    #expect(first["last"] == 60 && first["first"] == 1 && first["copied"] == first["segments"])
    #expect(try await LogreplayProcess.run("verify", target, "--deep").code == 0)
    let log = try await LogreplayProcess.run("log", target, "-o", "jsonl")
    #expect(try await LogreplayProcess.run("log", folder.store, "-o", "jsonl").output == log.output)
    try await append(30)
    try await store.seal()
    let second = try numbers(try await LogreplayProcess.run("backup", folder.store, target, "-o", "json"))
    #expect(second["last"] == 90 && second["copied"]! > 0)
    #expect(try await LogreplayProcess.run("verify", target, "--deep").code == 0)
    let text = try await LogreplayProcess.run("backup", folder.store, target)
    #expect(text.code == 0 && text.errors.isEmpty)
    #expect(
      text.output == "events 1…90 are in \(target): 0 of \(second["segments"]!) segments copied, 0 bytes\n")
    try await store.close()
  }

  @Test func `a backup that is interrupted is refused or whole, and goes on where it was`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open(segmentSize: 100_000)
    var state: UInt64 = 1
    for number in 0..<300 {
      let bytes = (0..<4_000).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(state >> 56)
      }
      try await store.append([NewEvent("t", in: "s/\(number)", payload: .opaque(bytes))])
    }
    let head = store.head
    try await store.close()
    let target = folder.file("backup")
    for delay in [1, 15, 30, 60, 120] {
      let run = try LogreplayProcess(["backup", folder.store, target])
      try await Task.sleep(for: .milliseconds(delay))
      run.interrupt()
      let code = try await run.wait().code
      #expect([0, 130, -2].contains(code))
      let opened = try? await EventStore.open(at: target, .readOnly)
      #expect(opened == nil || opened?.head == head, "after \(delay) ms a part looks whole")
      if code == 0 { #expect(opened != nil) }
      try await opened?.close()
    }
    let last = try numbers(try await LogreplayProcess.run("backup", folder.store, target, "-o", "json"))
    #expect(last["last"] == 300 && last["segments"]! > 10)
    #expect(try await LogreplayProcess.run("verify", target).code == 0)
    let copy = try await EventStore.open(at: target, .readOnly)
    #expect(copy.head == head)
    try await copy.close()
  }

  @Test func `a backup that cannot be made says why, with the exit code for it`() async throws {
    let folder = try await SampleFolder.sample()
    let other = try await SampleFolder.sample()
    let target = folder.file("backup")
    func expect(_ code: Int32, _ store: String, _ target: String, _ words: String) async throws {
      let outcome = try await LogreplayProcess.run("backup", store, target, "-o", "json")
      #expect(outcome.code == code && outcome.output.isEmpty, "\(outcome)")
      let error = try DocumentValue(json: outcome.errors)["error"]
      #expect(error?["code"] == .int(Int64(code)), "\(outcome.errors)")
      #expect(outcome.errors.contains(words), "\(outcome.errors)")
    }
    try await expect(66, folder.file("nothing"), target, "no store is there")
    try await expect(64, folder.store, folder.store, "into the store itself")
    try await expect(64, folder.store, "", "folder is empty")
    #expect(try await LogreplayProcess.run("backup", folder.store, target).code == 0)
    try await expect(73, other.store, target, "another store")
    try FileManager.default.createDirectory(atPath: folder.file("notes"), withIntermediateDirectories: true)
    #expect(FileManager.default.createFile(atPath: folder.file("notes/a.txt"), contents: Data()))
    try await expect(73, folder.store, folder.file("notes"), "other files")
    let writer = try await EventStore.open(at: target)
    try await expect(75, folder.store, target, "open for writing")
    try await writer.append([NewEvent("t", in: "s/1", .null)])
    try await writer.close()
    try await expect(68, folder.store, target, "does not continue with this store's events")
    let segment = folder.store + "/log/00000000000000000001.seg"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: segment))
    bytes[SegmentHeader.length + 200] ^= 1
    try bytes.write(to: URL(fileURLWithPath: segment))
    try await expect(65, folder.store, folder.file("fresh"), "log/00000000000000000001.seg")
  }

  @Test func `a backup until a point is the store as it was then, and not inside an append`() async throws {
    let folder = try await SampleFolder.sample()
    let target = folder.file("then")
    for arguments in [["--until", "3"], ["--until", "99"]] {
      let refused = try await LogreplayProcess(["backup", folder.store, target] + arguments).wait()
      #expect(refused.code == (arguments[1] == "3" ? 64 : 66), "\(refused)")
      #expect(refused.errors.contains(arguments[1] == "3" ? "inside the append 2…4" : "99"), "\(refused)")
      #expect(!FileManager.default.fileExists(atPath: target))
    }
    for (point, last) in [("first", 1), ("id:import:2", 4), ("head~1", 6)] {
      let outcome = try await LogreplayProcess.run(
        "backup", folder.store, target, "--until", point, "-o", "json")
      #expect(try numbers(outcome)["last"] == Int64(last))
      #expect(try await LogreplayProcess.run("verify", target, "--deep").code == 0)
      let log = try await LogreplayProcess.run("log", target, "-o", "jsonl")
      let own = try await LogreplayProcess.run("log", folder.store, "..\(last)", "-o", "jsonl")
      #expect(log.output == own.output && log.code == 0)
    }
    let shorter = try await LogreplayProcess.run("backup", folder.store, target, "--until", "4")
    #expect(shorter.code == 64 && shorter.errors.contains("up to 6 already"), "\(shorter)")
    #expect(try await LogreplayProcess.run("backup", folder.store, target).code == 0)
    #expect(try await LogreplayProcess.run("compare", folder.store, target, "--exact").code == 0)
  }
}
