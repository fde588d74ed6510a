// Following a store that another process, this one, is writing to.

import Foundation
import Strata
import StrataBase
import StrataDocuments
import StrataSimulation
import Testing

@Suite
struct FollowTests {
  private func sequence(_ line: String) throws -> Int64? {
    guard case .int(let number)? = try DocumentValue(json: line)["sequence"] else { return nil }
    return number
  }

  @Test func `events come as they are appended, across segments and a new writer`() async throws {
    let folder = try SampleFolder()
    var store = try await folder.open(segmentSize: 8 << 10)
    try await store.append([NewEvent("old", in: "s/1", .null)])
    let process = try LogreplayProcess(["log", folder.store, "-f", "-o", "jsonl", "--timeout", "1h"])
    #expect(try await process.readLines(1).map(sequence) == [1])
    for round in 0..<3 {
      for number in 1...60 {
        try await store.append(
          [
            NewEvent("a", in: "s/1", .string("\(round) \(number)")),
            NewEvent("b", in: "s/2", .int(Int64.random(in: 0...9))),
          ])
      }
      let first = Int64(round * 120 + 2)
      #expect(try await process.readLines(120).map(sequence) == (first..<first + 120).map { $0 })
      try await store.close()
      store = try await folder.open(segmentSize: 8 << 10)
    }
    process.interrupt()
    #expect(await process.exitCode() == 130)
    try await store.close()
  }

  @Test func `follow begins at the head, and ends by count`() async throws {
    let folder = try await SampleFolder.sample()
    let cursor = folder.file("cursor")
    let process = try LogreplayProcess(
      ["follow", folder.store, "-o", "jsonl", "--count", "2", "--cursor-file", cursor])
    // The cursor file says that it has begun.
    while !FileManager.default.fileExists(atPath: cursor) {
      try Task.checkCancellation()
      await Task.yield()
    }
    let store = try await folder.open()
    try await store.append([NewEvent("x", in: "s/1", .null), NewEvent("y", in: "s/1", .null)])
    let outcome = try await process.wait()
    #expect(outcome.code == 0)
    #expect(try outcome.lines.map(sequence) == [8, 9])
    let position = LogPosition(
      try String(contentsOfFile: cursor, encoding: .utf8).trimmingCharacters(in: .newlines))
    #expect(position == store.head)
    try await store.close()
  }

  @Test func `a cursor file goes on where the last run ended, without gap or repetition`() async throws {
    let folder = try await SampleFolder.sample()
    let cursor = folder.file("cursor")
    var seen: [Int64?] = []
    for _ in 0..<5 {
      let outcome = try await LogreplayProcess.run(
        "log", folder.store, "-o", "jsonl", "--count", "2", "--cursor-file", cursor)
      #expect(outcome.code == 0)
      seen += try outcome.lines.map(sequence)
    }
    #expect(seen == [1, 2, 3, 4, 5, 6, 7])
    try "7@0123456789abcdef\n".write(toFile: cursor, atomically: true, encoding: .utf8)
    #expect(try await LogreplayProcess.run("log", folder.store, "--cursor-file", cursor).code == 68)
    try "nonsense".write(toFile: cursor, atomically: true, encoding: .utf8)
    #expect(try await LogreplayProcess.run("log", folder.store, "--cursor-file", cursor).code == 65)
  }

  @Test func `time can run out, and catching up is an end`() async throws {
    let folder = try await SampleFolder.sample()
    let late = try await LogreplayProcess.run("follow", folder.store, "--timeout", "200ms", "-o", "jsonl")
    #expect(late.code == 124 && late.output.isEmpty && late.errors.contains(#""code":124"#))
    #expect(late.errors.contains("no event had come after seq 7, the end"), "\(late.errors)")
    let whole = try await LogreplayProcess.run(
      "follow", folder.store, "--from", "0", "--until-caught-up", "-o", "jsonl")
    #expect(whole.code == 0 && whole.lines.count == 7)
    let none = try await LogreplayProcess.run("follow", folder.store, "--until-caught-up")
    #expect(none.code == 0 && none.output.isEmpty)
  }

  @Test func `time runs out in the middle of a long search`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    // Each letter leads to another set of some four thousand states.
    var random = SeededGenerator(seed: 1)
    let letters = (0..<300_000).map { _ in Bool.random(using: &random) ? UInt8(ascii: "a") : UInt8(ascii: "b")
    }
    try await store.append([NewEvent("t", in: "s/1", .string(String(decoding: letters, as: UTF8.self)))])
    try await store.close()
    for format in ["short", "jsonl"] {
      let late = try await LogreplayProcess.run(
        "log", folder.store, "-g", "[ab]*a[ab]{4000}c", "--timeout", "100ms", "-o", format)
      #expect(late.code == 124 && late.output.isEmpty, "\(late.code) \(late.errors)")
      #expect(late.errors.contains("the time was up before the end was reached"))
    }
  }

  @Test func `a reader that goes away ends a follower that has nothing to say`() async throws {
    let folder = try await SampleFolder.sample()
    let process = try LogreplayProcess(["log", folder.store, "-f", "-o", "jsonl"])
    #expect(await process.readLines(7).count == 7)
    try process.stopReading()
    #expect(await process.exitCode() == 0)
  }

  @Test func `a check beside a writer that opens and closes finds nothing`() async throws {
    let folder = try await SampleFolder.sample()
    // Not by cancelling the task: that would be an error of the append at hand.
    let isOver = Lock(false)
    let writer = Task {
      var count = 0
      while !isOver.withLock({ $0 }) {
        let store = try await folder.open(segmentSize: 32 << 10)
        for _ in 0..<5 { try await store.append([NewEvent("x", in: "s/1", .int(Int64(count)))]) }
        count += 1
        try await store.close()
      }
      return count
    }
    for _ in 0..<25 {
      let outcome = try await LogreplayProcess.run("verify", folder.store)
      #expect(outcome.code == 0, "\(outcome.output)\(outcome.errors)")
      let log = try await LogreplayProcess.run("log", folder.store, "-n", "3")
      #expect(log.code == 0 && log.lines.count == 3 && log.errors.isEmpty, "\(log.errors)")
    }
    isOver.withLock { $0 = true }
    #expect(try await writer.value > 0)
  }

  @Test func `a cursor file is replaced only where the list has come further`() async throws {
    let folder = try await SampleFolder.list()
    let cursor = folder.file("cursor")
    let process = try LogreplayProcess(
      ["follow", folder.store, "--table", "incident", "-o", "json", "--cursor-file", cursor])
    func replaced() -> Date? {
      (try? FileManager.default.attributesOfItem(atPath: cursor))?[.modificationDate] as? Date
    }
    while replaced() == nil { try await Task.sleep(for: .milliseconds(1)) }
    let first = replaced()
    try await Task.sleep(for: .milliseconds(1_300))
    #expect(replaced() == first)
    process.interrupt()
    #expect(await process.exitCode() == 130)
  }
}
