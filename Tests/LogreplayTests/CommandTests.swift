// The commands as processes: what they print, and how they end.

import Foundation
import Strata
import StrataDocuments
import Testing

@testable import LogreplayEvents
@testable import LogreplayTables

struct CommandTests {
  @Test func `info says what a store holds`() async throws {
    let folder = try await SampleFolder.sample()
    let outcome = try await LogreplayProcess.run("info", folder.store, "-o", "json")
    #expect(outcome.code == 0 && outcome.errors.isEmpty)
    let value = try DocumentValue(json: outcome.output)
    let store = try await EventStore.open(at: folder.store, .readOnly)
    #expect(value["uuid"] == .string(store.id))
    #expect(value["chain"] == .string(LogPosition.hex(store.head.chain)))
    #expect(value["first"] == 1 && value["last"] == 7 && value["appends"] == 5 && value["segments"] == 1)
    #expect(value["firstTime"] == "2026-01-01T00:00:01.000000000Z")
    #expect(value["durability"] == "buffered" && value["clean"] == true && value["format"] == "1.0")
    #expect(value["tables"] == [["table": "incident", "items": 2]] && value["checkpoints"] == [])
    guard case .int(let memory)? = value["memoryBytes"] else {
      Issue.record("info does not say what the tables take in memory")
      return
    }
    #expect((100...100_000).contains(memory))
    try await store.close()
  }

  @Test func `info says how far the consumers are`() async throws {
    let folder = try await SampleFolder.sample()
    let store = try await EventStore.open(at: folder.store)
    var options = ConsumerOptions()
    options.retryCount = 0
    struct Refusal: Error {}
    try? await store.consumer("mailer", options).run(until: .caughtUp) { append, _ in
      if append.sequences.contains(3) { throw Refusal() }
    }
    options.onFailure = .setAside
    try await store.consumer("printer", options).run(until: .caughtUp) { append, _ in
      if append.sequences.contains(3) { throw Refusal() }
    }
    let stopped = try #require(try await store.append(holding: 3)).sequences.lowerBound
    let expected = try await store.consumers()
    try await store.close()
    let outcome = try await LogreplayProcess.run("info", folder.store, "-o", "json")
    let consumers = try DocumentValue(json: outcome.output)["consumers"]
    guard case .array(let all)? = consumers, all.count == 2 else {
      Issue.record("there are two consumers, not \(String(describing: consumers))")
      return
    }
    #expect(all.map { $0["name"] } == ["mailer", "printer"])
    #expect(all.map { $0["lag"] } == [.uint(8 - stopped), 0])
    #expect(all[0]["stoppedAt"] == .uint(stopped) && all[0]["error"] == "Refusal()")
    #expect(all.map { $0["setAsideCount"] } == [0, 1] && all.map { $0["isLagExact"] } == [true, true])
    let failure: DocumentValue = ["sequence": .uint(stopped), "error": "Refusal()"]
    #expect(all.map { $0["setAside"] } == [.array([]), .array([failure])])
    #expect(all.map { $0["position"] } == expected.map { .string($0.position?.description ?? "") })
    let text = try await LogreplayProcess.run("info", folder.store).output
    #expect(
      text.contains("stopped at \(stopped): Refusal()")
        && text.contains("printer: 0 events wait, 1 set aside, the first at \(stopped): Refusal()"))
  }

  @Test func `info counts the bytes of the indexes beside those of the log`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open(segmentSize: 8 << 10)
    for number in 1...200 {
      let text = DocumentValue.string(String((0..<40).map { _ in "abcdefghij".randomElement() ?? "a" }))
      try await store.append([NewEvent("t", in: "s/\(number)", text)], id: "id:\(number)")
    }
    try await store.close()
    let derived = folder.store + "/derived"
    var bytes: Int64 = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: derived) {
      bytes += Int64(try Data(contentsOf: URL(fileURLWithPath: "\(derived)/\(name)")).count)
    }
    #expect(bytes > 1000)
    let json = try await LogreplayProcess.run("info", folder.store, "-o", "json")
    #expect(json.code == 0)
    #expect(try DocumentValue(json: json.output)["derivedBytes"] == .int(bytes))
    let text = try await LogreplayProcess.run("info", folder.store)
    #expect(text.code == 0 && text.output.contains("\nderived         \(bytes) bytes"), "\(text.output)")
    try FileManager.default.removeItem(atPath: derived)
    let without = try await LogreplayProcess.run("info", folder.store, "-o", "json")
    #expect(try without.code == 0 && DocumentValue(json: without.output)["derivedBytes"] == 0, "\(without)")
  }

  @Test func `verify expects the chain that info shows, as text and as JSON`() async throws {
    let folder = try await SampleFolder.sample()
    let text = try await LogreplayProcess.run("info", folder.store).lines
    let shown = try #require(text.first { $0.hasPrefix("chain ") }?.split(separator: " ").last)
    #expect(shown.hasPrefix("7@"))
    guard
      case .string(let chain)? =
        try DocumentValue(json: await LogreplayProcess.run("info", folder.store, "-o", "json").output)[
          "chain"]
    else { return #expect(Bool(false), "info has no chain") }
    for expected in [String(shown), chain] {
      let outcome = try await LogreplayProcess.run("verify", folder.store, "--expect-chain", expected)
      #expect(outcome.code == 0, "\(expected): \(outcome)")
    }
    let store = try await folder.open()
    try await store.append([NewEvent("later", in: "ticket/42", [:])])
    try await store.close()
    let at7 = try await LogreplayProcess.run("verify", folder.store, "--expect-chain", String(shown))
    #expect(at7.code == 0, "\(at7)")
    let atEnd = try await LogreplayProcess.run("verify", folder.store, "--expect-chain", chain)
    #expect(atEnd.code == 68 && atEnd.errors.contains("SEQ@\(chain)"), "\(atEnd)")
    #expect(atEnd.output.hasPrefix("another chain: 1 segment"), "\(atEnd)")
    for (expected, isMatch) in [(chain, false), (String(shown), true)] {
      let outcome = try await LogreplayProcess.run(
        "verify", folder.store, "--expect-chain", expected, "-o", "json")
      let json = try DocumentValue(json: outcome.output)
      #expect(json["ok"] == .bool(isMatch) && json["chainMatches"] == .bool(isMatch), "\(outcome)")
    }
    let plain = try await LogreplayProcess.run("verify", folder.store, "-o", "json")
    #expect(try DocumentValue(json: plain.output)["chainMatches"] == nil)
    let none = try await LogreplayProcess.run("verify", folder.store, "--expect-chain", "7@x")
    #expect(none.code == 64 && none.errors.contains("16 hex digits"), "\(none)")
  }

  @Test func `a folder that is no store is not taken for one that was never finished`() async throws {
    let folder = try SampleFolder()
    let path = folder.file("other")
    func make(_ names: String...) throws {
      for name in names {
        try FileManager.default.createDirectory(
          atPath: "\(path)/\(name)", withIntermediateDirectories: true)
      }
    }
    func says(_ command: String) async throws -> String {
      let outcome = try await LogreplayProcess.run(command, path)
      #expect(outcome.code == 66 && outcome.output.isEmpty, "\(outcome)")
      return outcome.errors
    }
    try make("")
    #expect(try await says("info") == "logreplay: no store is there (\(path))\n  check the path\n")
    try make("log")
    #expect(try await says("info").hasPrefix("logreplay: no store is there (\(path))\n"))
    try make("LOCK", "derived", "quarantine")
    #expect(try await says("info").contains("the creation of one was never finished"))
    try make("src")
    #expect(try await says("info").hasPrefix("logreplay: no store is there (\(path))\n"))
  }

  @Test func `a literal and the same as an expression find the same events`() async throws {
    let folder = try await SampleFolder.sample()
    for (literal, expression) in [
      ("größer", "größe[r]"), (#""status":"Closed""#, #""status":"Close[d]""#), (#"\$merge"#, #"[$]merge"#),
      (#"\"x\\"#, #"["]x[\\]"#), ("nothing", "nothin[g]"), ("", "()"), ("import:1", "import.1"),
      (#"\{"b64""#, #"[{]"b64""#), ("[1,1]", "[1],[1]"), (#"\[1,1\]"#, #"[\[]1,1[\]]"#),
    ] {
      let found = try await LogreplayProcess.run("log", folder.store, "-o", "jsonl", "-g", literal)
      let expected = try await LogreplayProcess.run("log", folder.store, "-o", "jsonl", "-g", expression)
      #expect(found.code == 0 && expected.code == 0, "\(literal): \(found) \(expected)")
      if literal != "[1,1]" { #expect(found.output == expected.output, "\(literal)") }
    }
    let closed = try await LogreplayProcess.run("log", folder.store, "-g", #"\$merge"#)
    #expect(closed.lines.count == 1)
  }

  @Test func `log lists what lies after the first point up to the second`() async throws {
    let folder = try await SampleFolder.sample()
    func sequences(_ arguments: String...) async throws -> [Int] {
      let outcome = try await LogreplayProcess(["log", folder.store, "-o", "jsonl"] + arguments).wait()
      #expect(outcome.code == 0, "\(outcome.errors)")
      return try outcome.lines.map { line in
        guard case .int(let number)? = try DocumentValue(json: line)["sequence"] else { return -1 }
        return Int(number)
      }
    }
    #expect(try await sequences() == [1, 2, 3, 4, 5, 6, 7])
    #expect(try await sequences("1..4") == [2, 3, 4])
    #expect(try await sequences("head~2..") == [6, 7])
    #expect(try await sequences("3") == [1, 2, 3])
    #expect(try await sequences("first", "id:oth") == [2, 3, 4, 5])
    #expect(try await sequences("4..2") == [])
    #expect(try await sequences("-n", "2") == [6, 7])
    #expect(try await sequences("-r", "-n", "2") == [7, 6])
    #expect(try await sequences("-r", "2..5") == [5, 4, 3])
    #expect(try await sequences("--count", "3") == [1, 2, 3])
    #expect(try await sequences("--stream", "ticket/*") == [4, 5, 6])
    #expect(try await sequences("--stream", "ticket/42", "--type", "closed", "--type", "$put") == [5])
    #expect(try await sequences("--stream", "incident/*", "-n", "1") == [3])
    #expect(try await sequences("--meta", "client=web", "--meta", "attempt=2") == [5])
    #expect(try await sequences("--meta", "client=x") == [])
    #expect(try await sequences("-g", "gr.*er") == [4])
    let times = try await LogreplayProcess.run("log", folder.store, "-o", "csv").lines.dropFirst().map {
      String($0.split(separator: ",")[3])
    }
    // 6 was given a time in the past: it is one of those until then, and a point then is after it.
    #expect(try await sequences("--since", times[4]) == [5, 7])
    #expect(try await sequences("--until", times[3]) == [1, 2, 3, 4, 6])
    #expect(try await sequences("..\(times[3])") == [1, 2, 3, 4, 5, 6])
    #expect(try await sequences("--since", "-1h", "--until", "2027-01-01", "--utc").count <= 7)
  }

  @Test(arguments: ["18446744073709551615", "cursor:18446744073709551615@0000000000000000"])
  func `the last sequence that there can be is a point that does not exist`(point: String) async throws {
    let folder = try await SampleFolder.sample()
    let outcome = try await LogreplayProcess.run("show", folder.store, point)
    #expect([66, 68].contains(outcome.code), "\(outcome.errors)")
    #expect(outcome.errors.contains("the log holds 1…7"))
  }

  @Test func `a point is echoed, and one inside an append is named`() async throws {
    let folder = try await SampleFolder.sample()
    let inside = try await LogreplayProcess.run("show", folder.store, "3", "-o", "json")
    #expect(inside.errors == "seq 3 is inside the append 2…4\n")
    #expect(try DocumentValue(json: inside.output)["partial"] == true)
    let back = try await LogreplayProcess.run("show", folder.store, "head~3", "-o", "json")
    let time = try DocumentValue(json: back.output)["time"]
    #expect(back.errors.hasPrefix("head~3 → seq 4 (2026-01-01T00:00:0"))
    #expect(time?.description.contains("2026-01-01T00:00:0") == true)
    #expect(try await LogreplayProcess.run("show", folder.store, "now").errors.hasPrefix("now → seq 7 ("))
    let local = try await LogreplayProcess.run("show", folder.store, "1", zone: "Europe/Berlin").output
    #expect(local.contains("01:00:01.000+01:00"))
    #expect(
      try await LogreplayProcess.run("show", folder.store, "1", "--utc", zone: "Europe/Berlin").output
        .contains(
          "+00:00"))
  }

  @Test func `every way to ask for what is not there has its code`() async throws {
    let folder = try await SampleFolder.sample()
    let file = folder.file("file")
    try Data("x".utf8).write(to: URL(fileURLWithPath: file))
    for (arguments, code) in [
      (["info", folder.file("none")], 66), (["info", file], 66), (["verify", folder.file("none")], 66),
      (["dump", file], 66), (["log", folder.store, "99"], 66), (["log", folder.store, "mark:x"], 66),
      (["show", folder.store, "0"], 66), (["show", folder.store, "id:import"], 66),
      (["show", folder.store, "id:none"], 66), (["show", folder.store, "head~9"], 66),
      (["show", folder.store, "cursor:5@0000000000000000"], 68),
      (["verify", folder.store, "--expect-chain", "5@0000000000000000"], 68),
      (["show", folder.store, "bogus"], 64), (["log", folder.store, "1...2"], 64), (["log"], 64),
      (["log", folder.store, "--bogus"], 64), (["bogus"], 64), (["log", folder.store, "-g", "("], 64),
      (["log", folder.store, "--since", "x"], 64), (["log", folder.store, "-f", "-r"], 64),
      (["info", folder.store, "-o", "csv"], 64), (["log", folder.store, "-o", "xml"], 64),
    ] as [([String], Int32)] {
      let plain = try await LogreplayProcess(arguments).wait()
      #expect(plain.code == code, "\(arguments): \(plain.errors)")
      #expect(plain.output.isEmpty || arguments[0] == "verify")
      guard !arguments.contains("-o") else { continue }
      let json = try await LogreplayProcess(arguments + ["-o", "json"]).wait()
      let last = json.errors.split(separator: "\n").last.map(String.init) ?? ""
      #expect(try DocumentValue(json: last)["error"]?["code"] == .int(Int64(code)), "\(arguments)")
    }
    let ambiguous = try await LogreplayProcess.run("show", folder.store, "id:import")
    #expect(ambiguous.errors.contains("id:import:1, id:import:2"))
    #expect(try await LogreplayProcess.run("log", folder.store, "99").errors.contains("the log holds 1…7"))
    #expect(try await LogreplayProcess.run("--help").code == 0)
  }

  @Test func `a closed pipe is success`() async throws {
    let folder = try SampleFolder()
    let store = try await folder.open()
    let text = DocumentValue.string(String(repeating: "x", count: 1000))
    try await store.append((1...1000).map { NewEvent("t", in: "s/\($0)", text) })
    try await store.close()
    let process = try LogreplayProcess(["log", folder.store, "-o", "jsonl"])
    #expect(await process.readLines(1).count == 1)
    try process.stopReading()
    #expect(await process.exitCode() == 0)
  }

  @Test func `dump shows every block with its place and chain`() async throws {
    let folder = try await SampleFolder.sample()
    let outcome = try await LogreplayProcess.run("dump", folder.store, "-o", "jsonl")
    #expect(outcome.code == 0)
    var next: DocumentValue = 4096
    var chain: DocumentValue = "0000000000000000"
    for line in outcome.lines {
      let block = try DocumentValue(json: line)
      #expect(block["offset"] == next && block["chainBefore"] == chain && block["kind"] == "events")
      guard case .int(let offset)? = block["offset"], case .int(let span)? = block["span"] else { break }
      next = .int(offset + span)
      chain = block["chainAfter"] ?? .null
    }
    let one = try await LogreplayProcess.run("dump", folder.store, "--block", "4096", "--hex")
    #expect(one.code == 0 && one.output.contains("00000000  "))
    for (arguments, next) in [
      (["--block", "4097"], "begins at byte 4096"), (["--block", "4100"], "begins at byte 4096"),
      (["--block", "0"], "begins at byte 4096"), (["--block", "99999999"], "to see where its blocks begin"),
      (["--segment", "8"], "the log holds 1…7"),
    ] {
      let missing = try await LogreplayProcess(["dump", folder.store] + arguments).wait()
      #expect(missing.code == 66 && missing.errors.contains(next), "\(arguments): \(missing.errors)")
    }
    #expect(try await LogreplayProcess.run("dump", folder.store, "--segment", "7").code == 0)
    let path = folder.store + "/log/" + SegmentName(1).fileName
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[4096 + 16] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path))
    #expect(try await LogreplayProcess.run("dump", folder.store, "--block", "4096").code == 65)
  }
}
