// Damaged stores: everything before the damage is read, and the code says what it is.

import Foundation
import Strata
import StrataDocuments
import StrataLog
import Testing

struct DamageTests {
  /// A store of several segments, and the paths of their files in order.
  private func segments() async throws -> (SampleFolder, [String]) {
    let folder = try SampleFolder()
    let store = try await folder.open(segmentSize: 8 << 10)
    for number in 1...400 {
      let text = DocumentValue.string(String((0..<40).map { _ in "abcdefghij".randomElement() ?? "a" }))
      try await store.append([NewEvent("t", in: "s/\(number % 7)", text)], id: "id:\(number)")
    }
    try await store.close()
    let log = folder.store + "/log"
    let names = try FileManager.default.contentsOfDirectory(atPath: log).filter { $0.hasSuffix(".seg") }
      .sorted()
    return (folder, names.map { "\(log)/\($0)" })
  }

  private func flip(_ path: String, at offset: Int) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[offset] ^= 0x40
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  @Test func `a whole store of several segments verifies at every depth`() async throws {
    let (folder, files) = try await segments()
    #expect(files.count > 2)
    for depth in [[], ["--quick"], ["--deep"]] {
      let outcome = try await LogreplayProcess(["verify", folder.store, "-o", "json"] + depth).wait()
      #expect(outcome.code == 0)
      #expect(try DocumentValue(json: outcome.output)["ok"] == true)
    }
  }

  @Test
  func `a dump beside a writer that seals what is about to be read is whole, and finds no damage`()
    async throws
  {
    let folder = try SampleFolder()
    let store = try await folder.open(segmentSize: 100 << 10)
    // More than a dump gathers and a pipe holds, so that it waits before it reads the last segment.
    for number in 1...1_500 { try await store.append([NewEvent("t", in: "s/1", .int(Int64(number)))]) }
    let dump = try LogreplayProcess(["dump", folder.store, "-o", "jsonl"])
    let begin = await dump.readLines(1)
    #expect(try await store.seal().segmentCount > 2)
    let rest = try await dump.wait()
    #expect(rest.code == 0, "\(rest.errors)")
    var next: Int64 = 1
    for line in begin + rest.lines {
      let block = try DocumentValue(json: line)
      guard block["kind"] == "events", case .int(let last)? = block["last"] else { continue }
      #expect(block["first"] == .int(next))
      next = last + 1
    }
    #expect(next == 1_501)
    try await store.close()
  }

  @Test func `log prints what stands before the damage, then says what it is`() async throws {
    let (folder, files) = try await segments()
    try flip(files[1], at: 4096 + 200)
    let outcome = try await LogreplayProcess.run("log", folder.store, "-o", "jsonl")
    #expect(outcome.code == 65)
    let first = try #require(SegmentName(fileName: String(files[1].suffix(24)))).firstSequence
    #expect(outcome.lines.count == Int(first) - 1)
    #expect(outcome.errors.contains("\(folder.store)/log/"))
    let verify = try await LogreplayProcess.run("verify", folder.store, "-o", "json")
    #expect(verify.code == 65)
    let findings = try DocumentValue(json: verify.output)["findings"]
    guard case .array(let list)? = findings else { return #expect(findings != nil) }
    #expect(list.count == 1 && list[0]["class"] == "corrupt" && list[0]["offset"] == 4096)
    #expect(list[0]["first"] == .int(Int64(first)) && list[0]["next"] != nil)
    #expect(try await LogreplayProcess.run("dump", folder.store, "-o", "jsonl").code == 65)
  }

  @Test func `a damaged header hides its segment and those after it, not those before`() async throws {
    let (folder, files) = try await segments()
    try flip(files[2], at: 40)
    let first = try #require(SegmentName(fileName: String(files[2].suffix(24)))).firstSequence
    let outcome = try await LogreplayProcess.run("log", folder.store, "-o", "jsonl")
    #expect(outcome.code == 65 && outcome.lines.count == Int(first) - 1)
    try FileManager.default.removeItem(atPath: files[2])
    let missing = try await LogreplayProcess.run("log", folder.store, "-o", "jsonl")
    #expect(missing.code == 65 && missing.lines.count == Int(first) - 1)
    #expect(try await LogreplayProcess.run("info", folder.store).code == 65)
  }

  @Test func `what was asked for before the damage ends well`() async throws {
    let (folder, files) = try await segments()
    try flip(files[1], at: 4096 + 200)
    let outcome = try await LogreplayProcess.run("log", folder.store, "..5", "-o", "jsonl")
    #expect(outcome.code == 0 && outcome.lines.count == 5)
  }

  @Test func `a torn tail is a warning to readers and a code of its own to verify`() async throws {
    let folder = try await SampleFolder.sample()
    let path = folder.store + "/log/" + SegmentName(1).fileName
    // HEAD says "closed cleanly", which a torn tail contradicts; without it the tail is only torn.
    try FileManager.default.removeItem(atPath: folder.store + "/HEAD")
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("STRB unfinished".utf8))
    try handle.close()
    let log = try await LogreplayProcess.run("log", folder.store, "-o", "jsonl")
    #expect(log.code == 0 && log.lines.count == 7 && log.errors.contains("15 bytes"))
    let verify = try await LogreplayProcess.run("verify", folder.store, "-o", "json")
    #expect(verify.code == 2)
    #expect(try DocumentValue(json: verify.output)["ok"] == false)
    #expect(try await LogreplayProcess.run("dump", folder.store).code == 2)
    let info = try DocumentValue(
      json: try await LogreplayProcess.run("info", folder.store, "-o", "json").output)
    #expect(info["clean"] == false && info["tornBytes"] == 15 && info["durability"] == .null)
    let tail = try #require(info["tail"])
    #expect(tail["file"] == .string(SegmentName(1).path) && tail["bytes"] == 15 && tail["kept"] == .null)
    // The next write cuts it off, and a copy is kept.
    #expect(try await LogreplayProcess.run("put", folder.store, "ticket/new", "{}").code == 0)
    let after = try DocumentValue(
      json: try await LogreplayProcess.run("info", folder.store, "-o", "json").output)
    guard case .array(let kept) = after["keptTails"] else { return #expect(after["keptTails"] != nil) }
    #expect(after["tail"] == nil && kept.count == 1 && kept[0]["offset"] == tail["offset"])
    guard case .string(let path) = kept[0]["kept"] else { return #expect(kept[0]["kept"] != nil) }
    let copy = try Data(contentsOf: URL(filePath: "\(folder.store)/\(path)"))
    #expect(copy == Data("STRB unfinished".utf8))
  }

  @Test func `only a deep check looks at derived indexes`() async throws {
    let (folder, files) = try await segments()
    let index = folder.store + "/derived/" + files[0].suffix(24).dropLast(4) + ".idx"
    try flip(index, at: 10)
    #expect(try await LogreplayProcess.run("verify", folder.store).code == 0)
    let deep = try await LogreplayProcess.run("verify", folder.store, "--deep", "-o", "json")
    #expect(deep.code == 2 && deep.output.contains(#""class":"index""#))
    try FileManager.default.removeItem(atPath: index)
    #expect(try await LogreplayProcess.run("verify", folder.store, "--deep").code == 0)
  }
}
