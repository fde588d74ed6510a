// What `log` prints, read by somebody else's JSON parser.

import Foundation
import Strata
import StrataDocuments
import StrataSimulation
import Testing

struct PythonTests {
  private static let python = ["/usr/bin/python3", "/usr/local/bin/python3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  /// Reads lines of JSON and writes each again with its payload and metadata as sorted, escaped JSON.
  private static let script = """
    import json, sys
    for line in sys.stdin.buffer:
        event = json.loads(line.decode("utf-8"))
        assert list(event)[:4] == ["schema", "sequence", "append", "time"], event
        print(json.dumps([event["sequence"], event["stream"], event["type"], event["id"], event["append"],
                          event["metadata"], event["payload"]], ensure_ascii=True))
    """

  @Test(.enabled(if: python != nil, "python3 is not installed: nothing independent to compare with"))
  func `every line parses elsewhere and equals what was appended`() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var generator = SeededGenerator(seed: seed)
    let folder = try SampleFolder()
    let store = try await folder.open(segmentSize: 16 << 10)
    var expected: [DocumentValue] = []
    for number in 0..<150 {
      let events = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
        NewEvent(
          Self.text(&generator) + "t", in: StreamName(category: "c", id: Self.text(&generator)),
          Self.value(depth: 3, &generator), metadata: ["m": Self.value(depth: 1, &generator)])
      }
      let id = Bool.random(using: &generator) ? "id \(number)" : nil
      let receipt = try await store.append(store.draft(events, id: id, time: nil, expecting: [:]))
      let bounds: DocumentValue = [
        .int(Int64(receipt.sequences.lowerBound)), .int(Int64(receipt.sequences.upperBound)),
      ]
      for (sequence, event) in zip(receipt.sequences, events) {
        expected.append([
          .int(Int64(sequence)), .string(event.stream.text), .string(event.type),
          id.map { .string($0) } ?? .null,
          bounds, .object(event.metadata), try event.payload.document(),
        ])
      }
    }
    try await store.close()
    let log = try await LogreplayProcess.run("log", folder.store, "-o", "jsonl")
    let lines = try Self.run(log.output).split(separator: "\n").map { try DocumentValue(json: String($0)) }
    #expect(lines == expected, "seed \(seed)")
    let array = try DocumentValue(
      json: try await LogreplayProcess.run("log", folder.store, "-o", "json").output)
    guard case .array(let objects) = array else { return #expect(lines.isEmpty) }
    #expect(
      objects.map { $0["payload"] }
        == expected.map { value in
          if case .array(let fields) = value { fields.last } else { nil }
        })
  }

  private static func run(_ input: String) throws -> String {
    let process = Process()
    let folder = try SampleFolder()
    try Data(input.utf8).write(to: URL(fileURLWithPath: folder.file("input")))
    process.executableURL = URL(fileURLWithPath: try #require(python))
    process.arguments = ["-c", script]
    process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.file("input")))
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func text(_ generator: inout SeededGenerator) -> String {
    let alphabet: [Character] = [
      "a", "\"", "\\", "/", "\n", "\u{1}", "\u{7F}", "é", "🙂", "\u{2028}", "x", "0",
    ]
    return String(
      (0..<Int.random(in: 0...8, using: &generator)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
      })
  }

  /// A random value of what JSON can say.
  private static func value(depth: Int, _ generator: inout SeededGenerator) -> DocumentValue {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &generator) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &generator))
    case 2: return .int(Int64.random(in: .min ... .max, using: &generator))
    case 3: return .double(Double(Int.random(in: -1000...1000, using: &generator)) / 64 * 1e3)
    case 4: return DocumentValue(UInt64.random(in: .min ... .max, using: &generator))
    case 5: return .string(text(&generator))
    case 6:
      return .array(
        (0..<Int.random(in: 0...4, using: &generator)).map { _ in value(depth: depth - 1, &generator) })
    default:
      var object = DocumentObject()
      for _ in 0..<Int.random(in: 0...4, using: &generator) {
        object[text(&generator)] = value(depth: depth - 1, &generator)
      }
      return .object(object)
    }
  }
}
