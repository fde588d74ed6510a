// A writer from documents to JSON text: compact for programs, indented for people. Equal documents give equal bytes.

/// The layout of JSON text.
public enum JSONStyle: Hashable, Sendable {
  /// No white space.
  case compact
  /// One line for each member, indented by two spaces, as `"key": value`.
  case pretty
}

extension DocumentValue {
  /// Returns the value as JSON text, in the form that `JSONWriter` describes.
  public func json(_ style: JSONStyle = .compact) -> String {
    String(decoding: jsonBytes(style), as: UTF8.self)
  }

  /// Returns the value as the UTF-8 of JSON text, in the form that `JSONWriter` describes.
  public func jsonBytes(_ style: JSONStyle = .compact) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(256)
    JSONWriter.append(self, style: style, to: &bytes)
    return bytes
  }
}

/// A writer that appends JSON text (RFC 8259) to bytes.
///
/// Keys ascend by their UTF-8 bytes. Text is written as UTF-8; only quotes, backslashes and control characters are
/// escaped. A double is written as the shortest text that reads back as the same double, always with a fraction or an
/// exponent, so that it is read as a double again. A value that was read from JSON is written as JSON for an equal
/// value.
///
/// A value that JSON cannot express is written as an object with a key that names its kind, and reads back as that
/// object:
///
/// | value | text |
/// |---|---|
/// | bytes | `{"b64":"AQID"}` (base 64 with padding, RFC 4648, section 4) |
/// | NaN, infinities | `{"f64":"NaN"}`, `{"f64":"Infinity"}`, `{"f64":"-Infinity"}` |
/// | tagged | `{"tag":32,"value":"https://strata.example"}` |
///
/// All calls cost O(bytes written).
package enum JSONWriter {
  /// Appends a string in quotes.
  package static func append(_ text: String, to bytes: inout [UInt8]) {
    text.withUTF8Bytes { utf8 in
      bytes.append(UInt8(ascii: "\""))
      var plain = 0
      for index in 0..<utf8.count where utf8[index].needsEscape {
        bytes += utf8[plain..<index]
        appendEscape(utf8[index], to: &bytes)
        plain = index + 1
      }
      bytes += utf8[plain...]
      bytes.append(UInt8(ascii: "\""))
    }
  }

  package static func append(_ value: DocumentValue, style: JSONStyle = .compact, to bytes: inout [UInt8]) {
    append(value, style, level: 0, to: &bytes)
  }

  /// The number of levels that are written by calls inside each other, which is faster.
  private static let recursionMax = 32

  private static func append(_ value: DocumentValue, _ style: JSONStyle, level: Int, to bytes: inout [UInt8])
  {
    guard var container = Container(value, style, level: level) else {
      return appendScalar(value, to: &bytes)
    }
    guard level < recursionMax else { return appendDeep(container, to: &bytes) }
    container.begin(&bytes)
    while let member = container.next(&bytes) {
      append(member, container.style, level: level + 1, to: &bytes)
    }
    container.end(&bytes)
  }

  /// Writes a container without recursion, since a program nests as deep as it likes.
  private static func appendDeep(_ first: Container, to bytes: inout [UInt8]) {
    var current = first
    // The containers around the current one.
    var outer: [Container] = []
    current.begin(&bytes)
    while true {
      if let member = current.next(&bytes) {
        guard let inner = Container(member, current.style, level: current.level + 1) else {
          appendScalar(member, to: &bytes)
          continue
        }
        outer.append(current)
        current = inner
        current.begin(&bytes)
      } else {
        current.end(&bytes)
        guard let next = outer.popLast() else { return }
        current = next
      }
    }
  }

  private static func appendScalar(_ value: DocumentValue, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .int(let value): appendInteger(value.magnitude, isNegative: value < 0, to: &bytes)
    case .uint(let value): appendInteger(value, isNegative: false, to: &bytes)
    case .bigInt(let value): bytes += value.description.utf8
    case .double(let value): append(value, to: &bytes)
    case .string(let value): append(value, to: &bytes)
    case .bytes(let value):
      bytes += "{\"b64\":\"".utf8
      Base64.append(value, to: &bytes)
      bytes += "\"}".utf8
    case .array, .object, .tagged: assertionFailure("a container is written member by member")
    }
  }

  /// An array, an object or a tag that is being written.
  private struct Container {
    private enum Members {
      case array(DocumentElements<DocumentValue>)
      case object(DocumentElements<DocumentObject.Entry>)
      case tagged(UInt64, DocumentValue)
    }

    private let members: Members
    private let count: Int
    private var index = 0
    let style: JSONStyle
    let level: Int

    /// Nil for a value without members.
    @inline(__always)
    init?(_ value: DocumentValue, _ style: JSONStyle, level: Int) {
      self.level = level
      switch value {
      case .array(let values): (members, count, self.style) = (.array(values.elements), values.count, style)
      case .object(let object): (members, count, self.style) = (.object(object.entries), object.count, style)
      case .tagged(let tag, let content):
        (members, count, self.style) = (.tagged(tag, content.value), 1, .compact)
      default: return nil
      }
    }

    func begin(_ bytes: inout [UInt8]) {
      switch members {
      case .array: bytes.append(UInt8(ascii: "["))
      case .object: bytes.append(UInt8(ascii: "{"))
      case .tagged(let tag, _): bytes += "{\"tag\":\(tag),\"value\":".utf8
      }
    }

    /// Writes what comes before the next member, and returns that; nil at the end.
    mutating func next(_ bytes: inout [UInt8]) -> DocumentValue? {
      guard index < count else { return nil }
      defer { index += 1 }
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      if style == .pretty { JSONWriter.appendLine(level + 1, to: &bytes) }
      switch members {
      case .array(let values): return values[index]
      case .object(let entries):
        JSONWriter.append(entries[index].key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        if style == .pretty { bytes.append(UInt8(ascii: " ")) }
        return entries[index].value
      case .tagged(_, let value): return value
      }
    }

    func end(_ bytes: inout [UInt8]) {
      if style == .pretty, count > 0 { JSONWriter.appendLine(level, to: &bytes) }
      if case .array = members { bytes.append(UInt8(ascii: "]")) } else { bytes.append(UInt8(ascii: "}")) }
    }
  }

  /// Lines inside of more containers than a document can have are not indented further.
  private static func appendLine(_ level: Int, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\n"))
    bytes += repeatElement(UInt8(ascii: " "), count: 2 * min(level, CodecLimits.depthMax))
  }

  private static func append(_ value: Double, to bytes: inout [UInt8]) {
    guard value.isFinite else {
      let name = value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
      bytes += "{\"f64\":\"\(name)\"}".utf8
      return
    }
    bytes += value.description.utf8
  }

  private static func appendInteger(_ magnitude: UInt64, isNegative: Bool, to bytes: inout [UInt8]) {
    if isNegative { bytes.append(UInt8(ascii: "-")) }
    if magnitude < 10 {
      bytes.append(UInt8(ascii: "0") + UInt8(magnitude))
      return
    }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var rest = magnitude
      var first = 20
      while rest > 0 {
        first -= 1
        digits.initializeElement(at: first, to: UInt8(ascii: "0") + UInt8(rest % 10))
        rest /= 10
      }
      bytes += UnsafeMutableBufferPointer(rebasing: digits[first...])
    }
  }

  private static func appendEscape(_ byte: UInt8, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0C: bytes.append(UInt8(ascii: "f"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    case 0x00..<0x20:
      bytes += byte < 0x10 ? "u000".utf8 : "u001".utf8
      bytes += String(byte & 0x0F, radix: 16).utf8
    default: bytes.append(byte)
    }
  }
}

extension UInt8 {
  @inline(__always)
  fileprivate var needsEscape: Bool { self < 0x20 || self == 0x22 || self == 0x5C }
}
