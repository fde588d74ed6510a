// Points of a damaged store: whatever depends on the visible end is answered with the damage, never as if the
// log ended there.

import Foundation
import Strata
import StrataDocuments
import StrataLog
import Testing

struct DamagedPointTests {
  /// A closed store with the table `t` and 60 appends a second apart, each a block, in one segment or in several.
  private func store(segmentSize: Int = 16 << 20) async throws -> SampleFolder {
    let folder = try SampleFolder()
    let store = try await folder.open(segmentSize: segmentSize)
    for number in 1...60 {
      let text = String((0..<200).map { _ in "abcdefghij".randomElement() ?? "a" })
      try await store.append(
        [NewEvent("$put", in: StreamName(category: "t", id: "\(number % 7)"), ["text": .string(text)])],
        id: "import:\(number):x")
    }
    try await store.close()
    return folder
  }

  /// Changes a byte in the block that holds a sequence.
  private func damage(_ folder: SampleFolder, at sequence: Int64) async throws {
    let dump = try await LogreplayProcess.run("dump", folder.store, "-o", "jsonl")
    let blocks = try dump.lines.map { try DocumentValue(json: $0) }
    let block = try #require(blocks.first { $0["first"] == .int(sequence) }, "\(dump.output.prefix(300))")
    guard case .int(let offset)? = block["offset"] else { return }
    let path = folder.store + "/log/" + SegmentName(1).fileName
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[Int(offset) + 200] ^= 0x40
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  /// Runs commands on a store and expects the damage of all of them.
  private func expectDamage(_ folder: SampleFolder, _ commands: [String]) async throws {
    for command in commands {
      var words = command.split(separator: " ").map(String.init)
      words.insert(folder.store, at: 1)
      let outcome = try await LogreplayProcess(words).wait()
      #expect(outcome.code == 65, "\(command): \(outcome.code) \(outcome.errors)")
      #expect(outcome.errors.contains("\(folder.store)/log/"), "\(command): \(outcome.errors)")
      #expect(!outcome.errors.contains("the log holds"), "\(command): \(outcome.errors)")
    }
  }

  @Test func `what depends on the end of a damaged log ends with the damage`() async throws {
    let folder = try await store()
    let chain = try await folder.chain(50)
    try await damage(folder, at: 31)
    try await expectDamage(
      folder,
      [
        "at head", "at now", "at head~1", "at 2026-01-01T00:00:45Z", "at 2026-01-01T00:00:30Z",
        "diff 0..head", "diff head~1..5", "replay head", "show head", "show now", "log -n 1 --count 1",
        "log -r --count 1",
        "log head~1.. --count 1", "log --since 2026-01-01T00:00:45Z --count 1", "log ..head~1",
        "follow --from head~1 --count 1", "follow --table t --from head~1 --count 0", "at id:import:3:",
      ])
    // What stands behind the damage is not known to be missing.
    try await expectDamage(
      folder,
      [
        "at 50", "show 50", "log 50..", "diff 5..50", "at id:import:50:x", "at head~50",
        "at cursor:50@\(chain)", "at 5 --table other", "erase --sequence 50 --reason x",
      ])
  }

  @Test func `what was asked for before the damage is answered as ever`() async throws {
    let folder = try await store()
    let chain = try await folder.chain(20)
    try await damage(folder, at: 31)
    for command in [
      "at 30", "at 0", "at first", "at 2026-01-01T00:00:29Z", "at id:import:30:x", "at cursor:20@\(chain)",
      "diff 3..20", "replay 20", "show 30", "log --count 3", "log ..20 -n 1",
      "log --until 2026-01-01T00:00:29Z",
      "follow --from 5 --count 2", "follow --table t --from 5 --count 2",
    ] {
      var words = command.split(separator: " ").map(String.init)
      words.insert(folder.store, at: 1)
      let outcome = try await LogreplayProcess(words).wait()
      #expect(outcome.code == 0 && !outcome.output.isEmpty, "\(command): \(outcome.code) \(outcome.errors)")
    }
  }

  @Test func `an end by time that passes over appends is that of a whole log, or the damage`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    for time in ["2024-01-01", "2099-01-01", "2024-01-02", "2024-01-05", "2024-01-06"] {
      let text = String((0..<200).map { _ in "abcdefghij".randomElement() ?? "a" })
      try await store.append(
        [NewEvent("$put", in: StreamName(category: "t", id: time), ["text": .string(text)])],
        time: Timestamp("\(time)T00:00:00Z"))
    }
    try await store.close()
    try await damage(folder, at: 5)
    // After the damage there may be another append of these days, as there was one after that of 2099.
    try await expectDamage(
      folder, ["at 2024-01-03", "log --until 2024-01-03", "log --row t/2024-01-01 --until 2024-01-03"])
    let early = try await LogreplayProcess.run("log", folder.store, "--until", "2024-01-01")
    #expect(early.code == 0 && early.lines.count == 1, "\(early)")
  }

  @Test func `a log that is damaged at its first block is not one without tables or events`() async throws {
    let folder = try await store()
    try await damage(folder, at: 1)
    try await expectDamage(
      folder,
      ["at", "at head", "at 0", "diff 0..head", "follow --table t", "follow", "show head", "show first"])
  }

  @Test func `a head in front of a missing segment is not the head`() async throws {
    let folder = try await store(segmentSize: 8 << 10)
    let log = folder.store + "/log"
    let names = try FileManager.default.contentsOfDirectory(atPath: log).filter { $0.hasSuffix(".seg") }
      .sorted()
    try #require(names.count > 2)
    try FileManager.default.removeItem(atPath: "\(log)/\(names[1])")
    try await expectDamage(folder, ["at head", "at now", "show head", "replay head", "at 60"])
  }
}
