// The error of reading JSON: a reason, and the position as an editor shows it.

/// An error in JSON text.
public struct JSONError: Error, Hashable, Sendable {
  /// Why the text was refused.
  package enum Reason: Hashable, Sendable {
    /// The text ends inside a value. The value may be complete if more text is read.
    case truncated
    /// A byte is not allowed at this position.
    case unexpectedByte(UInt8)
    /// More text follows the value, which must be the only one.
    case trailingBytes
    /// A string contains a control character that is not escaped.
    case controlCharacter(UInt8)
    /// A backslash is not followed by a valid escape.
    case invalidEscape
    /// An escape is half of a surrogate pair, which is not a character.
    case loneSurrogate
    /// A string is not UTF-8.
    case notUTF8
    /// A number is malformed: a leading zero, or a point or exponent without digits.
    case invalidNumber
    /// A number with a fraction or exponent is beyond the range of a double.
    case numberOutOfRange
    /// An integer is longer than 4,096 bytes.
    case tooLong
    /// The value is nested deeper than 128 levels.
    case tooDeep
    /// The value takes more bytes in CBOR than there is room for.
    case tooLarge(limit: Int)
    /// An object has the same key twice.
    case duplicateKey(String)
  }

  package var reason: Reason
  /// The line, from 1. Lines end with a line feed.
  public var line: Int
  /// The column in the line, from 1, in characters (Unicode scalars), not bytes.
  public var column: Int
  /// The offset in bytes from the first one.
  package var offset: Int

  package init(_ reason: Reason, line: Int, column: Int, offset: Int) {
    self.reason = reason
    self.line = line
    self.column = column
    self.offset = offset
  }

  /// Creates an error from an offset, and computes its line and column. O(offset).
  init(_ reason: Reason, at offset: Int, in text: UnsafeBufferPointer<UInt8>) {
    var line = 1
    var column = 1
    for byte in text.prefix(offset) {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    self.init(reason, line: line, column: column, offset: offset)
  }
}

extension JSONError: CustomStringConvertible {
  public var description: String { "JSON at line \(line), column \(column): \(explanation)" }

  /// The reason as a sentence, without the position.
  package var explanation: String {
    switch reason {
    case .truncated: "the text ends inside a value"
    case .unexpectedByte(let byte): "unexpected \(Self.name(of: byte))"
    case .trailingBytes: "more text after the value"
    case .controlCharacter(let byte): "\(Self.name(of: byte)) inside a string must be escaped"
    case .invalidEscape: "not an escape"
    case .loneSurrogate: "half of a surrogate pair"
    case .notUTF8: "a string that is not UTF-8"
    case .invalidNumber: "not a number"
    case .numberOutOfRange: "a number that a double cannot hold"
    case .tooLong: "an integer of more than \(CodecLimits.integerByteCountMax) bytes"
    case .tooDeep: "nested deeper than \(CodecLimits.depthMax)"
    case .tooLarge(let limit): "the value takes more than \(limit) bytes"
    case .duplicateKey(let key): "the key \(String(reflecting: key)) occurs twice"
    }
  }

  private static func name(of byte: UInt8) -> String {
    if byte > 0x20 && byte < 0x7F { return "'\(Character(UnicodeScalar(byte)))'" }
    let digits = String(byte, radix: 16, uppercase: true)
    return "byte 0x" + (digits.utf8.count < 2 ? "0" : "") + digits
  }
}
