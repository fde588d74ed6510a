// The kept inputs of a target, from the one file that holds them.

import Foundation
import FuzzTargets

/// Reads `Tests/Fuzz/Corpus/<target>.corpus`, which `Tools/support/corpus` writes: a line `name="bytes"` for each
/// input, with `\\`, `\"` and `\xAB` for what is not printable ASCII.
enum PackedCorpus {
  /// A line that is none of a corpus.
  struct MalformedLine: Error {
    var line: String
  }

  private static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Corpus")

  static func inputs(_ target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
    let data = try Data(contentsOf: folder.appendingPathComponent("\(target.rawValue).corpus"))
    return try Array(data).split(separator: UInt8(ascii: "\n")).map(input)
  }

  static func input(_ line: ArraySlice<UInt8>) throws -> (name: String, bytes: [UInt8]) {
    let quote = UInt8(ascii: "\"")
    let malformed = MalformedLine(line: String(decoding: line, as: UTF8.self))
    guard let equals = line.firstIndex(of: UInt8(ascii: "=")), equals > line.startIndex,
      line[equals...].dropFirst().first == quote, line.count > equals - line.startIndex + 2,
      line.last == quote
    else { throw malformed }
    guard let bytes = unescaped(line[(equals + 2)...].dropLast()) else { throw malformed }
    return (String(decoding: line[..<equals], as: UTF8.self), bytes)
  }

  /// What stands between the quotes; nil where that is not escaped as it has to be.
  private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var rest = text
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\\"):
        switch rest.popFirst() {
        case UInt8(ascii: "x"):
          guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
          else { return nil }
          bytes.append(value)
          rest = rest.dropFirst(2)
        case let plain? where plain == UInt8(ascii: "\\") || plain == UInt8(ascii: "\""): bytes.append(plain)
        default: return nil
        }
      case UInt8(ascii: "\""): return nil
      case 32..<127: bytes.append(byte)
      default: return nil
      }
    }
    return bytes
  }
}
