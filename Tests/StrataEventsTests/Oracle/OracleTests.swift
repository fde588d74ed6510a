// A second reader, written from FORMAT.md alone and in another language, judges the first.

import Foundation
import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

/// The reader and the forger in Tests/Oracle.
enum Oracle {
  static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Oracle")

  /// Runs a script with standard input from a file, and gives its standard output.
  static func run(_ script: String, _ arguments: [String], input: String = "") throws -> [UInt8] {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data(input.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: try #require(Python.path))
    process.arguments = [folder.appendingPathComponent(script).path] + arguments
    process.standardInput = try FileHandle(forReadingFrom: file)
    process.standardError = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = Array(output.fileHandleForReading.readDataToEndOfFile())
    process.waitUntilExit()
    return bytes
  }

  static func lines(_ bytes: [UInt8]) throws -> [DocumentValue] {
    try bytes.split(separator: UInt8(ascii: "\n")).map { try DocumentValue(json: Array($0)) }
  }
}

/// A store as a dictionary of files, to be damaged and written to a folder.
struct StoreFiles {
  var files: [String: [UInt8]]

  init(_ fileSystem: any FileSystem, path: String) throws {
    files = [:]
    for folder in ["", "/log"] {
      for name in try fileSystem.contents(ofDirectory: path + folder) {
        let whole = "\(path)\(folder)/\(name)"
        guard try fileSystem.kind(of: whole) == .file else { continue }
        files["\(folder)/\(name)"] = try fileSystem.bytes(of: whole)
      }
    }
  }

  func write(to folder: String) throws {
    try FileManager.default.createDirectory(atPath: "\(folder)/log", withIntermediateDirectories: true)
    for (name, bytes) in files { try Data(bytes).write(to: URL(fileURLWithPath: folder + name)) }
  }

  var segments: [String] { files.keys.filter { $0.hasSuffix(".seg") }.sorted() }
}

extension StoreFiles {
  /// Damages a store in one of the ways in which disks and people do. Says how.
  mutating func damage(
    _ other: StoreFiles, _ olderHead: [UInt8]?, using random: inout StrataSimulation.SeededGenerator
  ) -> String {
    guard let segment = segments.randomElement(using: &random), var bytes = files[segment], !bytes.isEmpty
    else {
      files["/HEAD"] = nil
      return "no HEAD"
    }
    // The headers are large and the blocks small: half of the damage goes to the blocks.
    let low = Bool.random(using: &random) && bytes.count > 4_096 ? 4_096 : 0
    let place = Int.random(in: low..<bytes.count, using: &random)
    let length = Int.random(in: 1...600, using: &random)
    let range = place..<min(place + length, bytes.count)
    switch Int.random(in: 0..<13, using: &random) {
    case 0, 1, 2:
      bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      files[segment] = bytes
      return "bit of byte \(place) of \(segment)"
    case 3, 4:
      files[segment] = Array(bytes[..<place])
      return "\(segment) cut at \(place)"
    case 5:
      bytes.replaceSubrange(range, with: Array(repeating: 0, count: range.count))
      files[segment] = bytes
      return "zeros at \(range) of \(segment)"
    case 6:
      let sectors = bytes.count / 512
      guard sectors > 1 else { return "nothing" }
      let (a, b) = (
        Int.random(in: 0..<sectors, using: &random) * 512, Int.random(in: 0..<sectors, using: &random) * 512
      )
      let first = Array(bytes[a..<a + 512])
      bytes.replaceSubrange(a..<a + 512, with: bytes[b..<b + 512])
      bytes.replaceSubrange(b..<b + 512, with: first)
      files[segment] = bytes
      return "sectors \(a) and \(b) of \(segment) swapped"
    case 7:
      let value: UInt8 = Bool.random(using: &random) ? 0 : .random(in: 0...255, using: &random)
      files[segment] = bytes + Array(repeating: value, count: length)
      return "\(length) bytes of \(value) behind \(segment)"
    case 8:
      files["/HEAD"] = nil
      return "no HEAD"
    case 9:
      files["/HEAD"] = olderHead
      return "an older HEAD"
    case 10:
      files[segment] = nil
      return "no \(segment)"
    case 11:
      files[segment] = other.files[segment] ?? other.files[other.segments[0]]
      return "\(segment) of another store"
    default:
      guard var head = files["/HEAD"] else { return "nothing" }
      let byte = Int.random(in: 0..<head.count, using: &random)
      head[byte] ^= 1
      files["/HEAD"] = head
      return "bit of byte \(byte) of HEAD"
    }
  }
}

@Suite(.serialized) struct OracleTests {
  /// A store as random appends made it: closed, or as a killed process leaves it.
  private static func store(
    seed: UInt64, isClosed: Bool
  ) async throws -> (files: StoreFiles, head: [UInt8]?, path: String, fileSystem: any FileSystem) {
    var subject = try ModelledStore(seed: seed)
    subject.options.segmentSizeTarget = [6_000, 9_000, 1 << 20].randomElement(using: &subject.random)!
    subject.options.sealsInBackground = false
    subject.source.sizeMax = 900
    try subject.reopen()
    for _ in 0..<10 { try await subject.step() }
    let older = try subject.fileSystem.bytes(of: "/store/HEAD")
    for _ in 0..<Int.random(in: 2...25, using: &subject.random) { try await subject.step() }
    if isClosed { try subject.store.closeBlocking() }
    let files = try StoreFiles(subject.fileSystem, path: "/store")
    try subject.store.closeBlocking()
    return (files, older, "/store", subject.fileSystem)
  }

  private static func temporaryFolder() throws -> String {
    let path = NSTemporaryDirectory() + "strata-oracle-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  /// What the check of the log says, in the shape of the oracle's answer.
  private static func check(_ path: String) throws -> DocumentValue {
    var verifier = LogVerifier(PosixFileSystem(), path: path)
    let report: VerifyReport
    do throws(StoreError) { report = try verifier.run() } catch { return .string("error: \(error)") }
    return [
      "ok": .bool(report.isOK),
      "findings": .array(
        report.findings.map {
          [
            "class": .string($0.class.rawValue), "file": .string($0.file), "offset": DocumentValue($0.offset),
            "first": DocumentValue($0.first), "last": DocumentValue($0.last),
          ]
        }),
    ]
  }

  private static func answer(_ line: DocumentValue) -> DocumentValue {
    guard let ok = line["ok"], let findings = line["findings"] else {
      return .string("error: \(line.json())")
    }
    return ["ok": ok, "findings": findings]
  }

  @Test(Python.isNeeded)
  func `a check of a damaged store finds what the second reader finds`() async throws {
    var random = StrataSimulation.SeededGenerator(seed: StrataSimulation.SeededGenerator.testSeed())
    let folder = try Self.temporaryFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var bases: [(files: StoreFiles, head: [UInt8]?, path: String, fileSystem: any FileSystem)] = []
    for number in 0..<10 {
      bases.append(try await Self.store(seed: random.next(), isClosed: number % 2 == 0))
    }
    var copies: [(path: String, what: String)] = []
    for number in 0..<1_000 {
      let place = number % bases.count
      let base = bases[place]
      var files = base.files
      var what: [String] = []
      for _ in 0..<[1, 1, 1, 2].randomElement(using: &random)! {
        what.append(files.damage(bases[(place + 1) % bases.count].files, base.head, using: &random))
      }
      let path = "\(folder)/\(number)"
      try files.write(to: path)
      copies.append((path, what.joined(separator: ", ")))
    }
    let output = try Oracle.run(
      "strata_reader.py", ["verify-many"], input: copies.map { $0.path + "\n" }.joined())
    let theirs = try Oracle.lines(output)
    try #require(theirs.count == copies.count)
    var classes: [String: Int] = [:]
    var disagreements: [String] = []
    for (copy, line) in zip(copies, theirs) {
      let (mine, their) = (try Self.check(copy.path), Self.answer(line))
      if case .array(let findings)? = mine["findings"] {
        for finding in findings {
          if case .string(let name)? = finding["class"] { classes[name, default: 0] += 1 }
        }
        if findings.isEmpty { classes["none", default: 0] += 1 }
      }
      guard mine != their else { continue }
      disagreements.append("\(copy.what)\n  log:    \(mine.json())\n  oracle: \(their.json())")
    }
    print(
      "1000 damaged stores:",
      classes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
    for text in disagreements.prefix(12) { Issue.record("\(text)") }
    #expect(disagreements.isEmpty, "\(disagreements.count) disagreements")
  }

  @Test(Python.isNeeded)
  func `the second reader reads the events that were written`() async throws {
    let seed = StrataSimulation.SeededGenerator.testSeed()
    let folder = try Self.temporaryFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for number in 0..<6 {
      let base = try await Self.store(seed: seed &+ UInt64(number), isClosed: true)
      let path = "\(folder)/\(number)"
      try base.files.write(to: path)
      try await Self.addDocuments(path)
      let theirs = try Oracle.lines(try Oracle.run("strata_reader.py", ["log", path]))
      let mine = try Self.log(path)
      #expect(mine.count == theirs.count)
      for (mine, their) in zip(mine, theirs) { #expect(mine == their, "\(mine.json())\n\(their.json())") }
    }
  }

  @Test(Python.isNeeded)
  func `the second reader finds in each index file the names and ids of its segment, and no other's`()
    async throws
  {
    var random = StrataSimulation.SeededGenerator(seed: StrataSimulation.SeededGenerator.testSeed())
    let folder = try Self.temporaryFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var options = StoreOptions()
    (options.clock, options.durability) = (.fixed, .buffered)
    (options.segmentSizeTarget, options.sealsInBackground) = (12_000, false)
    options.savedIndexEventsMin = 1
    let store = try EventStore.openBlocking(at: folder, options: options)
    for number in 0..<400 {
      let events = (0..<Int.random(in: 1...4, using: &random)).map { _ in
        let bytes = (0..<60).map { _ in UInt8.random(in: 0...255, using: &random) }
        let category = ["s/", "t/", ""].randomElement(using: &random)!
        return NewEvent(
          ["t", "u"].randomElement(using: &random)!,
          in: StreamName("\(category)\(Int.random(in: 0..<30, using: &random))"),
          payload: EventPayload(codec: .bytes, bytes: bytes))
      }
      // The last one has an id: it may be alone in its segment.
      let id = number % 3 == 1 ? nil : "append:\(number)"
      if number == 200 { try store.sealBlocking() }
      try store.appendBlocking(events, id: id)
    }
    let closed = store.log.closedSegments
    try store.closeBlocking()
    let answers = try Oracle.lines(try Oracle.run("strata_reader.py", ["indexes", folder]))
    // The active segment has a saved one.
    let segments = closed + [try #require(store.log.source.catalog.names.last)]
    #expect(answers.count == segments.count && closed.count > 5)
    for (answer, segment) in zip(answers, segments) {
      #expect(
        answer["first"] == DocumentValue(segment.firstSequence) && answer["differs"] == .null,
        "\(answer.json())")
      #expect(answer["streams"] != 0, "\(answer.json())")
    }
    // One append can be alone in its segment, and have no id.
    #expect(answers.filter { $0["ids"] == 0 }.count < 3)
    // The index of one segment is none of another.
    let layout = StoreLayout(root: folder)
    try Data(contentsOf: URL(fileURLWithPath: layout.index(closed[1])))
      .write(to: URL(fileURLWithPath: layout.index(closed[2])))
    let wrong = try Oracle.lines(try Oracle.run("strata_reader.py", ["indexes", folder]))
    #expect(wrong.map { $0["differs"] == .null } == segments.indices.map { $0 != 2 })
  }

  /// Appends payloads of every codec.
  private static func addDocuments(_ path: String) async throws {
    let store = try await EventStore.open(at: path)
    let document: DocumentValue = [
      "a": [1, -1, 2.5, true, .null, "ü\u{1F600}"], "big": DocumentValue(UInt64.max),
      "bytes": .bytes([1, 2, 255]),
      "nested": ["k": ["x": 1e300, "y": .int(.min)]],
    ]
    try await store.append([NewEvent("doc", in: "d/1", document, metadata: ["who": "me", "n": 3])])
    let json = EventPayload(codec: .json, bytes: Array(#"{"b":[1,2.0,null],"a":"é"}"#.utf8))
    let broken = EventPayload(codec: .json, bytes: Array("{".utf8))
    try await store.append(
      [NewEvent("json", in: "d/1", payload: json), NewEvent("broken", in: "d/2", payload: broken)], id: "j",
      time: Timestamp(nanoseconds: -5))
    try await store.close()
  }

  /// The log in the shape of `logreplay log -o jsonl`.
  private static func log(_ path: String) throws -> [DocumentValue] {
    let store = try EventStore.openBlocking(at: path, .readOnly)
    defer { try? store.closeBlocking() }
    var lines: [DocumentValue] = []
    var sequence: UInt64 = 1
    while let append = try store.appendBlocking(holding: sequence) {
      for event in append.events { lines.append(try line(event, of: append)) }
      sequence = append.sequences.upperBound + 1
    }
    return lines
  }

  private static func line(_ event: RecordedEvent, of append: RecordedAppend) throws -> DocumentValue {
    let base64: ([UInt8]) -> DocumentValue = { ["b64": .string(Data($0).base64EncodedString())] }
    var payload = base64(event.payload.bytes)
    if event.payload.codec != .bytes, let document = try? event.document() {
      payload = try DocumentValue(json: document.jsonBytes())
    }
    let codecs: [PayloadCodec: String] = [.cbor: "cbor", .json: "json", .bytes: "bytes"]
    var line: [(String, DocumentValue)] = [
      ("schema", 1), ("sequence", DocumentValue(event.sequence)),
      ("append", [DocumentValue(append.sequences.lowerBound), DocumentValue(append.sequences.upperBound)]),
      ("time", .string(append.time.description)), ("stream", .string(event.stream.text)),
      ("version", DocumentValue(event.revision)), ("type", .string(event.type)),
      ("id", append.id.map { .string($0) } ?? .null), ("metadata", .object(try event.metadata())),
      ("codec", .string(codecs[event.payload.codec]!)), ("payload", payload),
    ]
    if let given = append.givenTime { line.append(("given", .string(given.description))) }
    var object = DocumentObject()
    for (key, value) in line { object[key] = value }
    return .object(object)
  }

  /// True where no reader opens a store: the segment of another version, and with it those before.
  private static func isRefused(_ findings: DocumentValue) -> Bool {
    guard case .array(let findings) = findings else { return false }
    return findings.contains { $0["class"] == "unsupported" && $0["offset"] == 0 }
  }

  /// True where the first finding is in a rewritten segment. What a check says there of its FOOTER and of what its
  /// header promises is nothing that a feed comes by, and a FOOTER that lies under valid checksums may mislead a seek:
  /// then the feed ends with an error, and delivers nothing wrong.
  private static func isRewritten(_ findings: DocumentValue, _ folder: String) throws -> Bool {
    guard case .array(let findings) = findings, case .string(let file)? = findings.first?["file"],
      let segment = FileManager.default.contents(atPath: "\(folder)/\(file)"), segment.count > 124
    else { return false }
    return segment[120..<124].contains { $0 != 0 }
  }

  @Test(Python.isNeeded)
  func `every forged store is judged and read as its recipe says`() throws {
    let folder = try Self.temporaryFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    _ = try Oracle.run("strata_forge.py", ["--all", folder])
    let text = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/expected.json"))
    guard case .object(let expected) = try DocumentValue(json: Array(text)) else { throw StoreError.closed }
    var count = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    where name != "expected.json" {
      count += 1
      let recipe = try #require(expected[name])
      let findings = try #require(recipe["findings"])
      let checked = try Self.check("\(folder)/\(name)")
      #expect(
        checked["findings"] == findings, "\(name)\n  log:    \(checked.json())\n  recipe: \(findings.json())")
      var options = StoreOptions()
      options.readsDamaged = true
      var events = 0
      if let store = try? EventStore.openBlocking(at: "\(folder)/\(name)", .readOnly, options: options) {
        // A feed trusts the checksums; who also computes chains and times stops where the recipe says.
        var cursor = store.log.cursor(after: store.firstSequence - 1)
        while let block = try? cursor.next(), (try? block.verifyContent()) != nil {
          events += Int(block.header.eventCount)
        }
        var delivered = 0
        var feed = store.log.cursor(after: store.firstSequence - 1)
        while let block = try? feed.next(), (try? block.forEachEvent { _, _, _ in }) != nil {
          delivered += Int(block.header.eventCount)
        }
        #expect(delivered >= events, "\(name): the feed ends too early")
        try store.closeBlocking()
      }
      let expected = Self.isRefused(findings) ? 0 : try #require(recipe["events"])
      let isDelivered = expected == DocumentValue(events)
      let isFree = try Self.isRewritten(findings, "\(folder)/\(name)")
      #expect(isDelivered || isFree, "\(name): \(events) events are read")
    }
    print("\(count) forged stores")
    #expect(count > 40)
  }
}
