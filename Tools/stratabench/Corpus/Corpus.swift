// The events that the workloads append: documents of a service desk, repeated.

internal import Foundation
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// Documents that are ready to be appended: the stream and the CBOR bytes of each.
struct Corpus: Sendable {
  struct Line: Sendable {
    var stream: [UInt8]
    var payload: [UInt8]
  }

  /// The distinct lines; event n is line n modulo the number of lines.
  let lines: [Line]
  /// Stream and payload of all lines, back to back: a draft is made of them without touching an array for each event.
  private let bytes: [UInt8]
  private let spans: [Span]
  let count: Int
  let isFromFile: Bool

  private struct Span: BitwiseCopyable {
    var offset: Int
    var streamLength: Int
    var payloadLength: Int
  }

  init(path: String?, count: Int) throws {
    self.init(
      lines: try path.map { try Self.read($0) } ?? Self.generate(65_533), count: count,
      isFromFile: path != nil)
  }

  init(lines: [Line], count: Int, isFromFile: Bool = true) {
    self.lines = lines
    self.count = count
    self.isFromFile = isFromFile
    var bytes: [UInt8] = []
    spans = lines.map { line in
      defer { bytes += line.stream + line.payload }
      return Span(offset: bytes.count, streamLength: line.stream.count, payloadLength: line.payload.count)
    }
    self.bytes = bytes
  }

  var payloadBytes: Int {
    let whole = count / lines.count
    let sum = lines.reduce(0) { $0 + $1.payload.count }
    return whole * sum + lines.prefix(count % lines.count).reduce(0) { $0 + $1.payload.count }
  }

  var describe: String {
    "\(lines.count) distinct, \(payloadBytes / max(1, count)) bytes of payload each"
  }

  subscript(number: Int) -> Line { lines[number % lines.count] }

  private static func read(_ path: String) throws -> [Line] {
    var text = try Data(contentsOf: URL(fileURLWithPath: path))
    if text.starts(with: [0x1F, 0x8B]) { text = try unzipped(path) }
    return try text.split(separator: UInt8(ascii: "\n")).map { line in
      let document = try DocumentValue(json: Array(line))
      guard case .string(let id)? = document["incident"] else {
        throw CocoaError(.fileReadCorruptFile)
      }
      return Line(stream: Array("incident/\(id)".utf8), payload: document.cbor())
    }
  }

  private static func unzipped(_ path: String) throws -> Data {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["gzip", "-dc", path]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return data
  }

  /// Documents of the same shape as those of a service desk, generated from a fixed seed.
  private static func generate(_ count: Int) -> [Line] {
    var state: UInt64 = 7
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    let words = ["Accepted", "Queued", "Completed"]
    let details = ["In Progress", "Awaiting Assignment", "Wait - User", "Resolved", "Closed"]
    return (0..<count).map { number in
      let id = "1-\(700_000_000 + next(7554))"
      let time = Timestamp(nanoseconds: 1_270_000_000_000_000_000 + Int64(number) * 1_000_000_000_000)
      let document: DocumentValue = [
        "time": .string(String(time.description.prefix(19)) + "+02:00"), "incident": .string(id),
        "status": .string(words[next(3)]), "substatus": .string(details[next(5)]),
        "impact": .string(["Low", "Medium", "High"][next(3)]), "product": .string("PROD\(next(700))"),
        "group": .string("V\(next(90)) 3rd"), "role": .string("A2_\(next(6))"), "country": .string("Sweden"),
      ]
      return Line(stream: Array("incident/\(id)".utf8), payload: document.cbor())
    }
  }

  /// A draft of the events in a range, made from bytes that are already encoded.
  func draft(_ range: Range<Int>, streams: Int? = nil) -> AppendDraft {
    let draft = AppendDraft(bytesHint: range.count * 320)
    let type = Array(DocumentEvent.put.utf8)
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    type.withUnsafeBytes { type in
      bytes.withUnsafeBytes { bytes in
        spans.withUnsafeBufferPointer { spans in
          for number in range {
            let span = spans[number % spans.count]
            let stream = UnsafeRawBufferPointer(
              rebasing: bytes[span.offset..<span.offset + span.streamLength])
            let begin = span.offset + span.streamLength
            let payload = UnsafeRawBufferPointer(rebasing: bytes[begin..<begin + span.payloadLength])
            func add(to stream: UnsafeRawBufferPointer) {
              draft.add(
                stream: stream, type: type, codec: PayloadCodec.cbor.rawValue, metadata: none,
                payload: payload)
            }
            if let streams {
              Array("incident/\(number % streams)".utf8).withUnsafeBytes(add)
            } else {
              add(to: stream)
            }
          }
        }
      }
    }
    return draft
  }
}
