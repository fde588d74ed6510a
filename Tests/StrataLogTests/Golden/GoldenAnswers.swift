// What the second reader found in a kept store, and in its corrupt twins.

import Foundation
import StrataLog
import StrataSimulation

/// Tests/Golden/1.0/NAME.json.
struct GoldenAnswers: Decodable {
  struct Place: Decodable, Equatable, CustomStringConvertible {
    var `class`: String
    var file: String
    var offset: UInt64
    var first: UInt64
    var last: UInt64

    init(_ finding: StoreFinding) {
      `class` = finding.class.rawValue
      file = finding.file
      offset = finding.offset
      first = finding.first
      last = finding.last
    }

    var description: String { "\(self.class) \(file)@\(offset) \(first)…\(last)" }
  }

  struct Event: Decodable, Equatable {
    var sequence: UInt64
    var append: [UInt64]
    var time: Int64
    var given: Int64?
    var id: String?
    var kind: UInt8
    var revision: UInt64
    var stream: String
    var type: String
    var codec: UInt64?
    var chain: String
    var metadata: String?
    var payload: String?
  }

  struct Twin: Decodable {
    var edits: [Edit]
    var findings: [Place]
    /// Events before the first damage.
    var events: Int
  }

  /// `["flip", path, bit]` and its like.
  struct Edit: Decodable, CustomStringConvertible {
    var kind: String
    var path: String
    var numbers: [Int] = []
    var text = ""

    init(from decoder: any Decoder) throws {
      var values = try decoder.unkeyedContainer()
      kind = try values.decode(String.self)
      path = try values.decode(String.self)
      while !values.isAtEnd {
        if let number = try? values.decode(Int.self) {
          numbers.append(number)
        } else {
          text = try values.decode(String.self)
        }
      }
    }

    var description: String { "\(kind) \(path) \(numbers) \(text)" }

    func apply(to files: inout [String: [UInt8]]) {
      var bytes = files[path] ?? []
      switch kind {
      case "flip": bytes[numbers[0] / 8] ^= 1 << UInt8(numbers[0] % 8)
      case "cut": bytes = Array(bytes.prefix(numbers[0]))
      case "zero": for index in numbers[0]..<numbers[1] { bytes[index] = 0 }
      case "append": bytes += Self.bytes(text)
      case "remove":
        files[path] = nil
        return
      case "copy":
        files[text] = bytes
        return
      case "swap":
        let other = files[text]
        files[text] = bytes
        bytes = other ?? []
      default: preconditionFailure("no such edit: \(kind)")
      }
      files[path] = bytes
    }

    private static func bytes(_ digits: String) -> [UInt8] {
      let digits = Array(digits.utf8)
      return stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
      }
    }
  }

  var findings: [Place]
  var sequence: UInt64?
  var chain: String?
  var events: [Event]
  var twins: [Twin]

  static func named(_ name: String) throws -> GoldenAnswers {
    let url = GoldenText.folder.appendingPathComponent("\(name).json")
    return try JSONDecoder().decode(GoldenAnswers.self, from: try Data(contentsOf: url))
  }
}

extension GoldenAnswers.Event {
  /// An event as it is delivered. Where its content is not there, metadata and payload are nil.
  init(_ event: EventView, of append: AppendView, first: UInt64, sequence: UInt64, chain: UInt64) {
    func hex(_ bytes: UnsafeRawBufferPointer) -> String {
      bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
    let isWhole = event.kind == EventKind.event
    self.sequence = sequence
    self.append = [first, first + UInt64(append.eventCount) - 1]
    time = append.commitTime
    given = append.given
    id = append.flags & AppendFlag.id != 0 ? hex(append.id) : nil
    kind = event.kind
    revision = event.revision
    stream = String(decoding: event.stream, as: UTF8.self)
    type = String(decoding: event.type, as: UTF8.self)
    codec = isWhole ? event.codec : nil
    self.chain = String(repeating: "0", count: 16 - String(chain, radix: 16).count) + String(chain, radix: 16)
    metadata = isWhole ? hex(event.metadata) : nil
    payload = isWhole ? hex(event.payload) : nil
  }
}
