// What can be wrong with JSON text: the place, in a way that an editor can find, and the reason.

/// Text that is not the JSON that was asked for.
public struct JSONError: Error, Hashable, Sendable {
  /// Why the text was refused.
  public enum Reason: Hashable, Sendable {
    /// The text ends inside a value. More of it may help.
    case truncated
    /// A byte that cannot stand here.
    case unexpectedByte(UInt8)
    /// Something follows the value that should have been the only one.
    case trailingBytes
    /// A control character inside a string; it has to be escaped.
    case controlCharacter(UInt8)
    /// A backslash and something that is no escape.
    case invalidEscape
    /// Half of a surrogate pair: no character.
    case loneSurrogate
    /// A string is not UTF-8.
    case notUTF8
    /// No number: a leading zero, a point or exponent without digits.
    case invalidNumber
    /// A fraction or exponent beyond the range of a double.
    case numberOutOfRange
    /// An integer longer than `CodecLimits.integerByteCountMax`.
    case tooLong
    /// Deeper than `CodecLimits.depthMax`.
    case tooDeep
    /// An object has the same key twice.
    case duplicateKey(String)
  }

  public var reason: Reason
  /// From 1; lines end with a line feed.
  public var line: Int
  /// From 1, in characters (Unicode scalars) of the line, not bytes.
  public var column: Int
  /// In bytes from the first one.
  public var offset: Int

  public init(_ reason: Reason, line: Int, column: Int, offset: Int) {
    self.reason = reason
    self.line = line
    self.column = column
    self.offset = offset
  }

  /// Finds line and column of a place in the text. O(offset).
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

  /// What is wrong, without its place.
  package var explanation: String {
    switch reason {
    case .truncated: "the text ends inside a value"
    case .unexpectedByte(let byte): "unexpected \(Self.name(of: byte))"
    case .trailingBytes: "more text after the value"
    case .controlCharacter(let byte): "\(Self.name(of: byte)) inside a string has to be escaped"
    case .invalidEscape: "not an escape"
    case .loneSurrogate: "half of a surrogate pair"
    case .notUTF8: "a string that is not UTF-8"
    case .invalidNumber: "not a number"
    case .numberOutOfRange: "a number that a double cannot hold"
    case .tooLong: "an integer of more than \(CodecLimits.integerByteCountMax) bytes"
    case .tooDeep: "nested deeper than \(CodecLimits.depthMax)"
    case .duplicateKey(let key): "the key \(String(reflecting: key)) occurs twice"
    }
  }

  private static func name(of byte: UInt8) -> String {
    if byte > 0x20 && byte < 0x7F { return "'\(Character(UnicodeScalar(byte)))'" }
    let digits = String(byte, radix: 16, uppercase: true)
    return "byte 0x" + (digits.utf8.count < 2 ? "0" : "") + digits
  }
}
